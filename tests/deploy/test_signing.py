"""`pressroom sign` signs PDFs so that pyHanko and poppler find the signature valid."""

from __future__ import annotations

import io
import random
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pikepdf
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.validation import validate_pdf_signature
from pyhanko_certvalidator import ValidationContext

from deploy.cli.main import main
from shared import clock
from tests.certificates import make_pkcs12
from tests.engine.einvoices.test_documents import document, rendered
from tests.engine.finish.accessibility_rules import find_violations as find_accessibility_violations
from tests.engine.finish.archive_rules import find_violations as find_archive_violations
from tests.engine.paint.test_form_fields import made
from workers.engine.invoice_checks import check_external_invoice
from workers.engine.pdf_pages.form_fields import read_form
from workers.rules.judging import Judge
from workers.signer.signing import SignatureOptions, SigningFailedError, open_certificate, sign_pdf

ARCHIVE = 'title="T" lang="en" profile="pdf/a-3a pdf/ua-1"'
TWO = '<signature name="buyer" label="Buyer"/><signature name="seller" label="Seller"/>'


def certificate(**options) -> bytes:
    return make_pkcs12(clock.now(), **options)


@pytest.fixture
def sign(tmp_path: Path, capsys):
    """Return a function that signs a PDF by the command, and returns it or the error."""

    def sign(pdf: bytes, *arguments: str, cert: bytes | None = None) -> bytes | str:
        (tmp_path / "a.pdf").write_bytes(pdf)
        (tmp_path / "c.p12").write_bytes(certificate() if cert is None else cert)
        given = ["sign", str(tmp_path / "a.pdf"), "--cert", str(tmp_path / "c.p12"), *arguments]
        code = main(given)
        printed = capsys.readouterr()
        if code:
            return printed.err
        assert "a-signed.pdf" in printed.out
        return (tmp_path / "a-signed.pdf").read_bytes()

    return sign


def statuses(signed: bytes) -> list:
    """Return what pyHanko finds about each signature, whose certificates are trusted."""
    found = PdfFileReader(io.BytesIO(signed)).embedded_signatures
    return [
        validate_pdf_signature(
            one, ValidationContext(trust_roots=[one.signer_cert], allow_fetching=False)
        )
        for one in found
    ]


def describe_by_poppler(signed: bytes, folder: Path) -> str:
    (folder / "s.pdf").write_bytes(signed)
    command = ["pdfsig", "-nocert", str(folder / "s.pdf")]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize(
    "key", [None, rsa.generate_private_key(65537, 2048)], ids=["elliptic curve", "RSA"]
)
def test_a_signature_is_valid_and_covers_the_file(sign, key):
    pdf = made("<p>a</p>")
    signed = sign(pdf, "--reason", "Approved", "--location", "Ljubljana", cert=certificate(key=key))
    assert signed.startswith(pdf)
    (status,) = statuses(signed)
    assert status.bottom_line
    assert status.coverage.name == "ENTIRE_FILE"
    with pikepdf.open(io.BytesIO(signed)) as opened:
        (field,) = opened.Root.AcroForm.Fields
        assert (field.V.SubFilter, str(field.V.Reason)) == ("/ETSI.CAdES.detached", "Approved")
        assert str(field.V.Location) == "Ljubljana"


@pytest.mark.skipif(shutil.which("pdfsig") is None, reason="poppler is not installed")
def test_poppler_finds_a_signature_valid_and_a_change_of_the_file(sign, tmp_path):
    signed = sign(made("<p>a</p>"))
    shown = describe_by_poppler(signed, tmp_path)
    assert "Signature is Valid." in shown
    assert "ETSI.CAdES.detached" in shown
    assert "Total document signed" in shown
    at = signed.index(b"/Type")
    changed = signed[:at] + b"/Tape" + signed[at + 5 :]
    assert "Signature is Valid." not in describe_by_poppler(changed, tmp_path)


@pytest.mark.parametrize(
    ("flow", "field"), [(f"<h1>T</h1>{TWO}", ("--field", "buyer")), ("<h1>T</h1><p>a</p>", ())]
)
def test_an_archive_and_accessible_file_stays_one(sign, flow, field):
    pdf = made(flow, ARCHIVE)
    assert find_archive_violations(pdf, 3) == []
    signed = sign(pdf, *field)
    assert find_archive_violations(signed, 3, signatures=1) == []
    assert find_accessibility_violations(signed, promises=True) == []
    twice = sign(signed)
    assert find_archive_violations(twice, 3, signatures=2) == []
    assert find_accessibility_violations(twice, promises=True) == []
    fields = {each.name: each.is_signed for each in read_form(signed).fields}
    assert fields == ({"buyer": True, "seller": False} if field else {"Signature1": True})


def test_a_signed_invoice_is_still_one_inside_an_archive_file(sign):
    pdf = rendered(document()).pdf
    signed = sign(pdf)
    assert find_archive_violations(signed, 3, signatures=1) == []
    report = check_external_invoice(signed, Judge())
    assert (report.is_valid, report.file_name) == (True, "factur-x.xml")


def test_a_second_signature_leaves_the_first_valid(sign):
    first = sign(made(TWO), "--field", "buyer")
    both = sign(first)  # the other field is the only empty one
    assert [status.bottom_line for status in statuses(both)] == [True, True]
    third = sign(both)
    names = [one.field_name for one in PdfFileReader(io.BytesIO(third)).embedded_signatures]
    assert names == ["buyer", "seller", "Signature1"]


def test_a_certificate_may_have_a_password(sign, tmp_path):
    locked = certificate(password=b"secret")
    (tmp_path / "p").write_text("secret\n")
    assert statuses(sign(made("<p>a</p>"), "--password-file", str(tmp_path / "p"), cert=locked))
    (tmp_path / "p").write_text("wrong")
    assert "password is wrong" in sign(b"", "--password-file", str(tmp_path / "p"), cert=locked)
    assert "password is wrong" in sign(b"", cert=locked)


@pytest.mark.parametrize(
    ("pdf", "arguments", "message"),
    [
        (b"no pdf", (), "cannot be signed"),
        (b"%PDF-1.7 nothing", (), "cannot be signed"),
        (made(TWO), (), "several fields can be signed; empty signature fields: buyer, seller"),
        (made(TWO), ("--field", "bayer"), 'the field "bayer" does not exist'),
        (made("<p>a</p>"), ("--field", "a"), "empty signature fields: none"),
    ],
    ids=["other file", "damaged", "several", "unknown", "none"],
)
def test_a_pdf_that_cannot_be_signed_is_an_error(sign, pdf, arguments, message):
    assert message in sign(pdf, *arguments)


@pytest.mark.parametrize("seed", range(12))
def test_a_damaged_pdf_is_signed_or_an_error(seed):
    chance = random.Random(seed)
    damaged = bytearray(made(TWO))
    for _ in range(20):
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
    signer = open_certificate(certificate(), None).signer
    with suppress(SigningFailedError):
        sign_pdf(bytes(damaged), signer, SignatureOptions("buyer"), now=clock.now())


def test_an_encrypted_pdf_is_an_error(sign):
    pdf = made("<p>a</p>", around='<security owner-password="secret"/>')
    assert "is encrypted" in sign(pdf)


@pytest.mark.parametrize(
    ("cert", "message"),
    [
        (b"no certificate", "not a PKCS#12 file"),
        (certificate(days=(-9, -1)), "the certificate is valid from"),
        (certificate(days=(2, 9)), "the certificate is valid from"),
        (certificate(usage="key_encipherment"), "not meant for signatures"),
    ],
    ids=["other file", "expired", "not yet valid", "for encryption"],
)
def test_a_certificate_that_cannot_sign_is_an_error(sign, cert, message):
    assert message in sign(made("<p>a</p>"), cert=cert)
