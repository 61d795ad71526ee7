"""The signer over HTTP, as workers ask it: whose certificates sign, and what is refused."""

from __future__ import annotations

import http.client
import io
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from prometheus_client import generate_latest
from pyhanko.pdf_utils.reader import PdfFileReader
from structlog.testing import capture_logs

from deploy.embedded.loopback import free_port
from shared import clock
from shared.errors import Unavailable
from shared.limits import MAX_SIGNED_BYTES
from shared.settings import SignerSettings, WrongSetting
from shared.signer import SignatureCall, SignatureRefusedError, SignerClient
from shared.slots import NoSlotError, Slots
from shared.telemetry.log import log_context
from tests.certificates import make_pkcs12
from tests.deploy.test_signing import statuses
from tests.engine.paint.test_form_fields import made
from tests.servers import Server
from tests.waiting import wait_until
from workers.signer.main import make_signer
from workers.signer.server import SignerServer

PDF = made("<p>a</p>")
TWO = made('<signature name="buyer" label="B"/><signature name="seller" label="S"/>')
MINE = SignatureCall("acc_1", "contract")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a certificate of each of two accounts, one with a password."""
    now = clock.now()
    (tmp_path / "acc_1.contract.p12").write_bytes(make_pkcs12(now))
    (tmp_path / "acc_2.seal.p12").write_bytes(make_pkcs12(now, password=b"secret"))
    (tmp_path / "acc_2.seal.password").write_text("secret\n")
    return tmp_path


@contextmanager
def running_signer(folder: Path, **options: object) -> Iterator[SignerServer]:
    settings = SignerSettings(signer_bind="127.0.0.1:0", signer_certificates=str(folder), **options)
    signer = make_signer(settings)
    signer.start()
    try:
        yield signer
    finally:
        signer.stop(patience_seconds=10)


@pytest.fixture
def signer(folder: Path) -> Iterator[SignerServer]:
    with running_signer(folder) as running:
        yield running


@pytest.fixture
def client(signer: SignerServer) -> SignerClient:
    return SignerClient(signer.url, budget_seconds=60)


def outcomes(signer: SignerServer) -> dict[str, float]:
    lines = generate_latest(signer.metrics.registry).decode().splitlines()
    counted = [line for line in lines if line.startswith("pressroom_signatures_total")]
    return {line.split('"')[1]: float(line.split()[-1]) for line in counted if line[-3:] != "0.0"}


def test_a_file_is_signed_with_a_certificate_of_its_account(client, signer):
    with capture_logs() as logs, log_context(job="job_1"):
        signed = client.sign(PDF, MINE)
    assert signed.startswith(PDF)
    [status] = statuses(signed)
    assert status.bottom_line
    assert outcomes(signer) == {"signed": 1}
    [ended] = [line for line in logs if line["event"] == "signing ended"]
    assert (ended["account"], ended["certificate"], ended["outcome"]) == (
        *("acc_1", "contract", "signed"),
    )


def test_a_password_is_read_from_the_file_beside_the_certificate(client):
    [status] = statuses(client.sign(PDF, SignatureCall("acc_2", "seal")))
    assert status.bottom_line


def test_the_named_field_is_signed(client):
    signed = client.sign(TWO, SignatureCall("acc_1", "contract", "seller"))
    [one] = PdfFileReader(io.BytesIO(signed)).embedded_signatures
    assert one.field_name == "seller"


def test_the_log_has_no_text_of_a_document_that_is_refused(client):
    with capture_logs() as logs, pytest.raises(SignatureRefusedError):
        client.sign(PDF, SignatureCall("acc_1", "private-name", "private-field"))
    [ended] = [line for line in logs if line["event"] == "signing ended"]
    assert ended["outcome"] == "refused"
    assert "private" not in str(logs)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (SignatureCall("acc_2", "contract"), 'no certificate "contract"; it has: seal'),
        (SignatureCall("acc_1", "seal"), 'no certificate "seal"; it has: contract'),
        (SignatureCall("acc_3", "contract"), "it has none"),
        (SignatureCall("acc_1.contract", "x"), "is not one"),
        (SignatureCall("", "acc_1.contract"), "is not one"),
        (SignatureCall("*", "contract"), "is not one"),
        (SignatureCall("acc_1", "../acc_2.seal"), "is not one"),
        (SignatureCall("acc_1", ""), "is not one"),
        (SignatureCall("acc_1", "a\x00b"), "is not one"),
        (SignatureCall("acc_1", "contract", "nowhere"), 'the field "nowhere" does not exist'),
    ],
)
def test_other_certificates_and_fields_are_refused_with_the_reason(client, call, message):
    with pytest.raises(SignatureRefusedError, match=message.replace("*", r"\*")):
        client.sign(PDF, call)


def test_a_replaced_certificate_is_used_at_once(client, folder):
    key = ec.generate_private_key(ec.SECP256R1())
    first = client.sign(PDF, MINE)
    (folder / "acc_1.contract.p12").write_bytes(make_pkcs12(clock.now(), key=key))
    second = client.sign(PDF, MINE)
    serials = {
        PdfFileReader(io.BytesIO(signed)).embedded_signatures[0].signer_cert.serial_number
        for signed in (first, second)
    }
    assert len(serials) == 2


@pytest.mark.parametrize(
    ("content", "password", "message"),
    [
        (make_pkcs12(clock.now(), days=(-9, -1)), None, "valid from"),
        (make_pkcs12(clock.now(), password=b"a"), None, "password is wrong"),
        (make_pkcs12(clock.now(), password=b"a"), "b", "password is wrong"),
        (b"nothing", None, "not a PKCS#12 file"),
        (b"x" * 300_000, None, "more than 262,144 bytes"),
    ],
    ids=["expired", "no password", "other password", "other file", "large"],
)
def test_a_certificate_that_cannot_be_used_is_refused(client, folder, content, password, message):
    (folder / "acc_1.bad.p12").write_bytes(content)
    if password:
        (folder / "acc_1.bad.password").write_text(password)
    for _ in range(2):  # the second answer is remembered
        with pytest.raises(SignatureRefusedError, match=message):
            client.sign(PDF, SignatureCall("acc_1", "bad"))


def test_a_certificate_that_ends_soon_is_in_the_log_and_a_metric(client, folder, signer):
    (folder / "acc_1.old.p12").write_bytes(make_pkcs12(clock.now(), days=(-1, 9)))
    with capture_logs() as logs:
        client.sign(PDF, SignatureCall("acc_1", "old"))
    assert "certificate ends soon" in [line["event"] for line in logs]
    ending = b"\npressroom_signer_certificates_ending %d.0"
    assert ending % 1 in generate_latest(signer.metrics.registry)
    (folder / "acc_1.old.p12").unlink()
    assert ending % 0 in generate_latest(signer.metrics.registry)


def test_without_a_time_stamp_the_signer_counts_as_unavailable(folder):
    refusing = Server(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")
    with refusing as server, running_signer(folder, signer_timestamp_url=server.url()) as signer:
        with pytest.raises(Unavailable, match="signer is not available"):
            SignerClient(signer.url, budget_seconds=60).sign(PDF, MINE)
        assert outcomes(signer) == {"unstamped": 1}
    assert len(server.requests) == 1


def test_a_signer_that_is_not_there_is_unavailable():
    with pytest.raises(Unavailable) as raised:
        SignerClient(f"http://127.0.0.1:{free_port()}", budget_seconds=60).sign(PDF, MINE)
    assert raised.value.part == "signer"


@pytest.mark.parametrize(
    "answer",
    [
        b"nothing of HTTP",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\n\r\nabc",
        b"HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 422 Oh\r\nContent-Length: 2\r\n\r\n[]",
    ],
)
def test_an_answer_of_something_else_is_unavailable(answer):
    with Server(answer) as server, pytest.raises(Unavailable):
        SignerClient(server.url(), budget_seconds=60).sign(PDF, MINE)


def test_a_file_that_is_too_large_is_refused_before_it_is_sent():
    with Server(b"") as server:
        with pytest.raises(SignatureRefusedError, match="accepted are 67,108,864"):
            SignerClient(server.url(), budget_seconds=60).sign(b"%" * (MAX_SIGNED_BYTES + 1), MINE)
        assert server.requests == []


@pytest.mark.parametrize(
    ("path", "headers", "message"),
    [
        ("/other?account=a", {}, "No such path"),
        ("/sign?account", {}, "The query is not one"),
        ("/sign?" + "&".join(f"a{n}=b" for n in range(30)), {}, "The query is not one"),
        ("/sign?account=a", {"Content-Type": "text/plain"}, "The Content-Type must be"),
        ("/sign?account=a", {"Content-Length": "-1"}, "The Content-Length is missing"),
        ("/sign?account=a", {"Content-Length": "99999999999"}, "more than 67,108,864 bytes"),
    ],
)
def test_an_invalid_request_is_refused_with_the_reason(signer, path, headers, message):
    parts = urlsplit(signer.url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    given = {"Content-Type": "application/pdf", "Content-Length": "0"} | headers
    connection.request("POST", path, headers=given)
    answer = connection.getresponse()
    assert answer.status == (415 if "Content-Type" in message else 400)
    assert message in json.loads(answer.read())["message"]
    connection.close()


def test_a_caller_that_leaves_its_request_ends_nothing(client, signer):
    parts = urlsplit(signer.url)
    with socket.create_connection((parts.hostname, parts.port)) as caller:
        caller.sendall(b"POST /sign?account=acc_1 HTTP/1.1\r\nContent-Type: application/pdf\r\n")
        caller.sendall(b"Content-Length: 100\r\n\r\n%PDF")
    wait_until(lambda: outcomes(signer), 20)
    assert client.sign(PDF, MINE)


def take_slot(slots, account, *, most=1, patience=0):
    return slots.acquire(account, {("account", account): most}, patience_seconds=patience)


def test_an_account_takes_only_so_many_slots_and_leaves_some_to_others():
    slots = partial(take_slot, Slots(at_once=3), most=2)
    with slots("a"), slots("a"):
        with pytest.raises(NoSlotError), slots("a"):
            pass
        with slots("b"), pytest.raises(NoSlotError), slots("c"):
            pass
        with slots("c"):
            pass
    with slots("a"):
        pass


def test_a_slot_is_waited_for():
    slots = Slots(at_once=1)
    got = threading.Event()

    def wait() -> None:
        with take_slot(slots, "b", patience=60):
            got.set()

    with take_slot(slots, "a"):
        waiting = threading.Thread(target=wait)
        waiting.start()
        assert not got.is_set()
    waiting.join(60)
    assert got.is_set()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"signer_certificates": ""}, "needs a folder"),
        ({"signer_certificates": "/nowhere"}, "needs a folder"),
        ({"signer_timestamp_url": "ftp://example.org"}, "PRESSROOM_SIGNER_TIMESTAMP_URL: "),
        ({"signer_timestamp_url": "https://a:b@example.org"}, "no name or password"),
    ],
)
def test_a_wrong_setting_is_an_error_at_start(folder, options, message):
    with pytest.raises(WrongSetting, match=message):
        make_signer(
            SignerSettings(**{"signer_certificates": str(folder), **options}, signer_bind="a:0")
        )


def test_without_the_extra_the_process_ends_with_one_line(folder):
    program = (
        "import sys; sys.modules['pyhanko'] = None\nfrom workers.signer.main import main\nmain()"
    )
    environment = {"PRESSROOM_SIGNER_CERTIFICATES": str(folder)}
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert (
        ended.stderr
        == "pressroom signer: the signer needs pyHanko: .venv/bin/pip install '.[sign]'\n"
    )
