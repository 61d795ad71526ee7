"""Keys in devices (PKCS#11): files are signed by SoftHSM, and the key is in no file of ours."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pkcs11
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, pkcs12
from cryptography.hazmat.primitives.serialization import PrivateFormat as Format
from pkcs11 import Attribute
from pkcs11.util.x509 import decode_x509_certificate

from deploy.cli.main import main
from shared import clock
from shared.errors import Unavailable
from shared.signer import SignatureCall, SignatureRefusedError, SignerClient
from tests.certificates import make_pkcs12
from tests.deploy.test_signing import statuses
from tests.signer.test_signer import PDF, outcomes, running_signer

pytestmark = pytest.mark.services
MODULE = "/usr/lib/softhsm/libsofthsm2.so"
PIN = "1234"
KEYS = {
    "contract": ec.generate_private_key(ec.SECP256R1()),
    "seal": rsa.generate_private_key(65537, 2048),
}
SETUP = f'module-path = "{MODULE}"\ncert-label = "{{}}"\ntoken-criteria.label = "Acme"\n'


# SoftHSM makes no digests for signatures of elliptic curves.
SETUPS = {
    "contract": SETUP.format("contract") + "raw-mechanism = true\n",
    "seal": SETUP.format("seal"),
}


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Set up a token with two keys and their certificates; SoftHSM reads its settings once a process."""
    folder = tmp_path_factory.mktemp("softhsm")
    settings, key_file = folder / "softhsm2.conf", folder / "key.pem"
    settings.write_text(f"directories.tokendir = {folder}\nobjectstore.backend = file\n")
    util = ["softhsm2-util", "--token", "Acme", "--pin", PIN]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOFTHSM2_CONF", str(settings))
        made = [
            *util[:1],
            "--init-token",
            "--free",
            "--label",
            "Acme",
            "--pin",
            PIN,
            "--so-pin",
            "5678",
        ]
        subprocess.run(made, check=True, capture_output=True)
        for number, (label, key) in enumerate(KEYS.items(), 1):
            key_file.write_bytes(key.private_bytes(Encoding.PEM, Format.PKCS8, NoEncryption()))
            kept = ["--import", str(key_file), "--label", label, "--id", f"{number:02}"]
            subprocess.run([*util, *kept], check=True, capture_output=True)
            key_file.unlink()
        token = pkcs11.lib(MODULE).get_token(token_label="Acme")
        with token.open(rw=True, user_pin=PIN) as session:
            for label, key in KEYS.items():
                pair = pkcs12.load_key_and_certificates(make_pkcs12(clock.now(), key=key), None)
                assert pair[1] is not None
                found = decode_x509_certificate(pair[1].public_bytes(Encoding.DER))
                kept = {Attribute.TOKEN: True, Attribute.LABEL: label}
                session.create_object({**found, **kept})
        yield


@pytest.fixture
def folder(device: None, tmp_path: Path) -> Path:
    """Return a folder in which two certificates of an account are a device's."""
    for label in KEYS:
        (tmp_path / f"acc_1.{label}.toml").write_text(SETUPS[label])
        (tmp_path / f"acc_1.{label}.password").write_text(f"{PIN}\n")
    return tmp_path


def test_files_are_signed_by_the_keys_of_a_device_at_once(folder):
    with running_signer(folder) as signer:
        client = SignerClient(signer.url, budget_seconds=60)
        calls = [SignatureCall("acc_1", label) for label in (*KEYS, *KEYS)]
        with ThreadPoolExecutor(3) as threads:
            for signed in threads.map(lambda call: client.sign(PDF, call), calls):
                [status] = statuses(signed)
                assert status.bottom_line
        assert outcomes(signer) == {"signed": 4}
        with pytest.raises(SignatureRefusedError, match="it has: contract, seal"):
            client.sign(PDF, SignatureCall("acc_1", "other"))


def test_a_wrong_pin_is_tried_once(folder):
    (folder / "acc_1.seal.password").write_text("9999\n")
    with running_signer(folder) as signer:
        client = SignerClient(signer.url, budget_seconds=60)
        for _ in range(20):  # a device is locked by far fewer
            with pytest.raises(SignatureRefusedError, match="refuses the PIN"):
                client.sign(PDF, SignatureCall("acc_1", "seal"))
        (folder / "acc_1.seal.password").write_text(f"{PIN}\n")
        assert client.sign(PDF, SignatureCall("acc_1", "seal")).startswith(PDF)


def test_a_device_that_fails_is_asked_again(folder):
    (folder / "acc_1.contract.toml").write_text(
        SETUP.format("contract").replace("Acme", "Unplugged")
    )
    with running_signer(folder) as signer:
        client = SignerClient(signer.url, budget_seconds=60)
        with pytest.raises(Unavailable):
            client.sign(PDF, SignatureCall("acc_1", "contract"))
        assert outcomes(signer) == {"failed": 1}


@pytest.mark.parametrize(
    ("setup", "told"),
    [
        ("module-path = 1", "the setup of the device is wrong"),
        ("not toml", "the setup of the device is wrong"),
        (SETUP.format("contract") + "token = 1", "Unexpected key"),
        (SETUP.format("nobody"), "Could not find"),
        (SETUP.format("contract").replace(MODULE, "/no/module.so"), "cannot open shared object"),
    ],
)
def test_the_command_says_what_is_wrong_with_a_device(folder, setup, told, capsys):
    (folder / "a.pdf").write_bytes(PDF)
    (folder / "key.toml").write_text(setup)
    password = folder / "acc_1.contract.password"
    command = ["sign", folder / "a.pdf", "--cert", folder / "key.toml", "--password-file", password]
    assert main(list(map(str, command))) == 1
    assert told in capsys.readouterr().err
    (folder / "key.toml").write_text(SETUPS["contract"])
    assert main(list(map(str, command))) == 0
    [status] = statuses((folder / "a-signed.pdf").read_bytes())
    assert status.bottom_line
