"""`pressroom verify` says who signed, when and how well; `pressroom sign --trust` makes signatures that last."""

from __future__ import annotations

import asyncio
import io
import json
import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from asn1crypto import keys, tsp
from asn1crypto import x509 as asn1_x509
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.timestamps import DummyTimeStamper
from pyhanko.sign.validation import add_validation_info
from pyhanko_certvalidator import ValidationContext

from deploy.cli.main import main
from shared import clock
from tests.certificates import SIGNER, USAGES
from tests.deploy.test_signing import ARCHIVE, sign
from tests.engine.finish import verapdf
from tests.engine.paint.test_form_fields import made
from tests.servers import Server
from workers.signer.signing import read_certificates

__all__ = ["sign"]  # a fixture

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"


class Authority:
    """A root, a certificate to sign with, a time-stamp authority, and the list of what is revoked, over HTTP."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.revoked: list[int] = []
        self.has_list = True
        self.server = Server(self._answer)
        self._key = rsa.generate_private_key(65537, 2048)
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Root of the tests")])
        self.root = self._issue(self._name, self._key.public_key(), is_root=True)
        (folder / "roots.pem").write_bytes(self.root.public_bytes(Encoding.PEM))
        key = rsa.generate_private_key(65537, 2048)
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, SIGNER)])
        self.certificate = self._issue(name, key.public_key())
        self.pkcs12 = pkcs12.serialize_key_and_certificates(
            b"a", key, self.certificate, [self.root], NoEncryption()
        )
        key = rsa.generate_private_key(65537, 2048)
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Clock")])
        stamps = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING])
        certificate = self._issue(name, key.public_key(), extended=stamps)
        private = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
        self.stamper = DummyTimeStamper(
            asn1_x509.Certificate.load(certificate.public_bytes(Encoding.DER)),
            keys.PrivateKeyInfo.load(private),
        )

    def _issue(
        self,
        name: x509.Name,
        key: rsa.RSAPublicKey,
        *,
        is_root: bool = False,
        extended: x509.ExtendedKeyUsage | None = None,
    ) -> x509.Certificate:
        used = ("key_cert_sign", "crl_sign") if is_root else ("digital_signature",)
        usage = {one: one in used for one in USAGES}
        builder = (
            x509.CertificateBuilder(self._name, name, key, x509.random_serial_number())
            .not_valid_before(clock.now() - timedelta(days=1))
            .not_valid_after(clock.now() + timedelta(days=30))
            .add_extension(x509.BasicConstraints(ca=is_root, path_length=None), critical=True)
            .add_extension(x509.KeyUsage(**usage), critical=True)
        )
        if extended is not None:
            builder = builder.add_extension(extended, critical=True)
        if not is_root:
            place = x509.UniformResourceIdentifier(self.server.url("/list.crl"))
            point = x509.DistributionPoint([place], None, None, None)
            builder = builder.add_extension(x509.CRLDistributionPoints([point]), critical=False)
        return builder.sign(self._key, hashes.SHA256())

    def _answer(self, connection: socket.socket, request: bytes) -> None:
        if request.startswith(b"POST"):
            asked = tsp.TimeStampReq.load(request.partition(b"\r\n\r\n")[2])
            body = asyncio.run(self.stamper.async_request_tsa_response(asked)).dump()
            connection.sendall(HEAD % (b"application/timestamp-reply", len(body)) + body)
        elif self.has_list:
            body = self.list_revoked()
            connection.sendall(HEAD % (b"application/pkix-crl", len(body)) + body)
        else:
            connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")

    def list_revoked(self) -> bytes:
        """Return the list as the server answers it."""
        now = clock.now()
        builder = (
            x509.CertificateRevocationListBuilder()
            .issuer_name(self._name)
            .last_update(now - timedelta(hours=1))
            .next_update(now + timedelta(days=1))
        )
        for serial in self.revoked:
            one = x509.RevokedCertificateBuilder(serial, now - timedelta(hours=2)).build()
            builder = builder.add_revoked_certificate(one)
        return builder.sign(self._key, hashes.SHA256()).public_bytes(Encoding.DER)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Return the arguments of a signature that lasts."""
        return ("--timestamp-url", self.server.url("/tsa"), "--trust", f"{self.folder}/roots.pem")


@pytest.fixture
def authority(tmp_path: Path) -> Iterator[Authority]:
    made = Authority(tmp_path)
    with made.server:
        yield made


@pytest.fixture
def verify(tmp_path: Path, capsys):
    """Return a function that verifies a PDF by the command: its exit code, and what each signature says."""

    def verify(pdf: bytes, *arguments: str) -> tuple[int, list[dict]]:
        (tmp_path / "v.pdf").write_bytes(pdf)
        code = main(["verify", str(tmp_path / "v.pdf"), "--json", *arguments])
        return code, json.loads(capsys.readouterr().out)["signatures"]

    return verify


def test_a_signature_that_lasts_is_verified_without_any_server(sign, verify, authority):
    signed = sign(made("<p>a</p>"), *authority.arguments, cert=authority.pkcs12)
    asked = len(authority.server.requests)
    code, [found] = verify(signed, "--trust", f"{authority.folder}/roots.pem")
    assert len(authority.server.requests) == asked
    assert code == 0
    assert found.pop("signed_at").startswith(f"{clock.now():%Y-}")
    assert found == {
        "field": "Signature1",
        "signer": f"Common Name: {SIGNER}",
        "is_stamped": True,
        "is_intact": True,
        "is_trusted": True,
        "level": "B-LTA",
    }


def test_levels_are_told_apart(sign, verify, authority):
    url = authority.arguments[:2]
    plain = sign(made("<p>a</p>"), cert=authority.pkcs12)
    stamped = sign(made("<p>a</p>"), *url, cert=authority.pkcs12)
    lasting = sign(made("<p>a</p>"), *authority.arguments, cert=authority.pkcs12)
    [one] = PdfFileReader(io.BytesIO(stamped)).embedded_signatures
    context = ValidationContext(
        trust_roots=read_certificates((authority.folder / "roots.pem").read_bytes()),
        crls=[authority.list_revoked()],
        revocation_mode="hard-fail",
    )
    described = add_validation_info(one, context).getvalue()
    files = (plain, stamped, described, lasting)
    assert [verify(one)[1][0]["level"] for one in files] == ["B-B", "B-T", "B-LT", "B-LTA"]
    assert [verify(one)[1][0]["is_stamped"] for one in files] == [False, True, True, True]
    assert verify(plain)[1][0]["is_trusted"] is None


def test_a_changed_file_and_a_stranger_are_told(sign, verify, authority):
    roots = ("--trust", f"{authority.folder}/roots.pem")
    signed = sign(made("<p>a</p>"), cert=authority.pkcs12)
    at = signed.index(b"MediaBox")
    code, [found] = verify(signed[:at] + b"MediaBux" + signed[at + 8 :], *roots)
    assert (code, found["is_intact"]) == (1, False)
    code, [found] = verify(sign(made("<p>a</p>")), *roots)  # by a certificate of its own
    assert (code, found["is_intact"], found["is_trusted"]) == (1, True, False)
    assert verify(made("<p>a</p>")) == (1, [])


def test_people_are_told_the_same_in_lines(sign, tmp_path, capsys):
    (tmp_path / "s.pdf").write_bytes(sign(made("<p>a</p>")))
    assert main(["verify", str(tmp_path / "s.pdf")]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert {"field: Signature1", "level: B-B"} <= set(said.out.splitlines())


@pytest.mark.parametrize("harm", ["revoked", "no list", "no authority"])
def test_a_signature_that_would_not_last_is_not_made(sign, authority, harm):
    arguments = authority.arguments
    if harm == "revoked":
        authority.revoked.append(authority.certificate.serial_number)
    elif harm == "no list":
        authority.has_list = False
    else:
        arguments = arguments[2:]
    said = sign(made("<p>a</p>"), *arguments, cert=authority.pkcs12)
    assert isinstance(said, str)
    assert {"revoked": "revoked", "no list": "not signed", "no authority": "time-stamp server"}[
        harm
    ] in said


def test_what_is_no_certificate_or_no_pdf_is_an_error(tmp_path, capsys):
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7 nothing")
    (tmp_path / "a.pem").write_bytes(b"nothing")
    assert main(["verify", str(tmp_path / "a.pdf")]) == 1
    assert "cannot be read" in capsys.readouterr().err
    assert main(["verify", str(tmp_path / "a.pdf"), "--trust", str(tmp_path / "a.pem")]) == 1
    assert "no certificate" in capsys.readouterr().err


@pytest.mark.services
def test_a_lasting_signature_leaves_an_archive_and_accessible_file_one(sign, authority):
    for standards in ("pdf/a-3a pdf/ua-1", "pdf/a-4 pdf/ua-2"):
        attributes = ARCHIVE.replace("pdf/a-3a pdf/ua-1", standards)
        signed = sign(
            made("<h1>T</h1><p>a</p>", attributes), *authority.arguments, cert=authority.pkcs12
        )
        assert verapdf.judge([(standards, signed)]) == [[]]
