"""`security sign`: when a file is handed to the signer, what is asked, and what is an error."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from tests.engine.einvoices.test_documents import document as invoice
from tests.golden.case import OPTIONS
from workers.engine.diagnostics import AuthoringError, Findings
from workers.engine.merged_pdf import MergedPart
from workers.engine.pipeline import render, validate
from workers.engine.ports import (
    Payload,
    PayloadKind,
    Rendered,
    RenderOptions,
    RenderOutput,
    SignatureRequest,
    SigningRefusedError,
)

SIGNED = '<security sign="contract"/>'
TWO = '<signature name="buyer" label="B"/><signature name="seller" label="S"/>'


@dataclass
class Pen:
    """A signer that writes a line behind the file, or refuses."""

    refusal: str = ""
    requests: list[SignatureRequest] = field(default_factory=list)

    def sign(self, pdf: bytes, request: SignatureRequest) -> bytes:
        self.requests.append(request)
        if self.refusal:
            raise SigningRefusedError(self.refusal)
        return pdf + b"signed"


def payload(security: str = SIGNED, flow: str = "<p>a</p>", attributes: str = "") -> Payload:
    source = f'<document title="T" lang="en" {attributes}>{security}<flow>{flow}</flow></document>'
    return Payload(PayloadKind.XML, source.encode())


def rendered(given: Payload, pen: Pen | None, **options: object) -> Rendered:
    return render(None, given, options=replace(OPTIONS, signer=pen, **options))


def found(given: Payload, options: RenderOptions = OPTIONS) -> Findings:
    return validate(None, given, options=options)


def test_the_finished_file_is_signed_with_the_named_certificate():
    pen = Pen()
    made = rendered(payload(), pen)
    assert made.pdf.endswith(b"%%EOF\nsigned")
    assert made.warnings == ()
    [request] = pen.requests
    assert (request.certificate, request.field) == ("contract", None)


def test_the_certificate_and_the_field_may_come_from_the_data():
    pen = Pen()
    head = '<data><json>{"who": "seller"}</json></data>'
    security = '<security sign="of-{{ who }}" sign-field="{{ who }}"/>'
    rendered(payload(head + security, TWO), pen)
    assert [(one.certificate, one.field) for one in pen.requests] == [("of-seller", "seller")]


def test_a_file_that_is_to_be_signed_is_not_encrypted():
    assert b"/Encrypt" not in rendered(payload(), Pen()).pdf
    assert b"/Encrypt" in rendered(payload("<security/>"), Pen()).pdf


@pytest.mark.parametrize("profile", ["pdf/a-2b", "pdf/a-3a pdf/ua-1"])
def test_an_archive_file_may_be_signed(profile):
    pen = Pen()
    rendered(payload(flow="<h1>T</h1>", attributes=f'profile="{profile}"'), pen)
    assert len(pen.requests) == 1


def test_without_a_signer_the_file_is_written_with_a_warning_at_security():
    [warning] = rendered(payload(), None).warnings
    assert warning.code == "unsigned"
    assert "`pressroom sign`" in warning.message
    assert warning.location.tag_name == "security"


def test_a_draft_is_not_signed():
    pen = Pen()
    assert rendered(payload(), pen, is_draft=True).warnings == ()
    assert pen.requests == []


def test_the_xml_of_an_invoice_is_not_signed_and_its_pdf_is():
    pen = Pen()
    source = invoice().replace("<flow", f"{SIGNED}<flow", 1)
    given = Payload(PayloadKind.XML, source.encode())
    rendered(given, pen, output=RenderOutput.INVOICE)
    assert pen.requests == []
    rendered(given, pen)
    assert len(pen.requests) == 1


def test_a_refusal_is_an_error_at_security():
    with pytest.raises(AuthoringError) as raised:
        rendered(payload(), Pen("there is no such certificate"))
    [error] = raised.value.diagnostics
    assert (error.code, error.message) == ("signature", "there is no such certificate")
    assert error.location.tag_name == "security"


@pytest.mark.parametrize(
    ("security", "flow", "code", "message"),
    [
        ('<security sign="a" print="none"/>', "", "signed-security", "excludes `print`"),
        ('<security sign="a" user-password="b"/>', "", "signed-security", "`user-password`"),
        ('<security sign-field="a"/>', "", "signed-security", "add `sign`"),
        ('<security sign="a/b"/>', "", "wrong-value", "`sign`"),
        ('<security sign="../b"/>', "", "wrong-value", "`sign`"),
        ('<security sign="a" sign-field="x"/>', TWO, "signature", "accepted are: buyer, seller"),
        ('<security sign="a" sign-field="x"/>', "", "signature", 'no signature field "x"'),
        ('<security sign="a"/>', TWO, "signature", "choose one by `sign-field`: buyer, seller"),
        (
            '<security sign="a" sign-field="x"/>',
            '<signature name="x" interactive="false"/>',
            "signature",
            "it has none",
        ),
    ],
)
def test_what_cannot_be_signed_is_found_by_validation_at_security(security, flow, code, message):
    [error] = found(payload(security, flow)).errors
    assert error.code == code
    assert message in error.message
    assert error.location.tag_name == "security"


def test_validation_finds_nothing_wrong_with_a_named_field():
    findings = found(payload('<security sign="a" sign-field="seller"/>', TWO))
    assert list(findings) == []


def test_a_signed_document_is_not_merged_with_others_except_as_a_draft():
    part = MergedPart(None, options=OPTIONS)
    with pytest.raises(AuthoringError, match="A document with `sign` cannot be merged"):
        part.add(payload(), name="a")
    assert MergedPart(None, options=replace(OPTIONS, is_draft=True)).add(payload(), name="a")
