"""The files of a document that is an electronic invoice: the PDF with the XML, or the XML alone."""

from __future__ import annotations

import io
from dataclasses import replace

import pikepdf
import pytest

from tests.engine.einvoices import samples
from tests.engine.einvoices.official import UBL, find_broken, find_schema_errors
from tests.engine.einvoices.test_documents import FX, document
from tests.engine.finish.archive_rules import find_violations
from tests.golden.case import OPTIONS
from workers.engine.diagnostics import AuthoringError
from workers.engine.einvoices.files import read_invoice
from workers.engine.invoice_checks import check_external_invoice
from workers.engine.pipeline import render
from workers.engine.ports import Payload, PayloadKind, RenderOutput

XML = replace(OPTIONS, output=RenderOutput.INVOICE)


def written(source: str, options=OPTIONS) -> bytes:
    return render(None, Payload(PayloadKind.XML, source.encode()), options=options).pdf


def embedded(pdf: bytes) -> dict[str, bytes]:
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        return {name: file.get_file().read_bytes() for name, file in opened.attachments.items()}


@pytest.mark.parametrize("code", ["380", "381"])
def test_a_pdf_contains_ubl_without_the_marks_of_factur_x(code):
    record = samples.full() | {"typeCode": code}
    pdf = written(document("<p>a</p>", data=record, profile='profile="xrechnung" syntax="ubl"'))
    (name,) = embedded(pdf)
    assert name == "ubl-invoice.xml"
    assert check_external_invoice(pdf).to_report()["profile"] == "xrechnung"
    with pikepdf.open(io.BytesIO(pdf)) as opened, opened.open_metadata() as xmp:
        assert not any(key.startswith(FX) for key in xmp)
    assert find_violations(pdf, 3) == []


@pytest.mark.parametrize("code", ["380", "381"])
def test_ubl_alone_contains_a_pdf_that_contains_no_xml(code):
    own = {"id": "1", "fileName": "invoice.pdf", "mediaType": "application/pdf", "content": "QQ=="}
    record = samples.full() | {"typeCode": code, "documents": [own]}
    source = document("<p>a</p>", data=record, profile='profile="en16931" syntax="ubl"')
    xml = written(source, XML)
    assert find_schema_errors(xml, UBL) == []
    assert find_broken(xml, UBL) == set()
    read = read_invoice(xml)
    assert read is not None
    first, second = read.record["documents"]
    assert (first["fileName"], second["fileName"]) == ("invoice.pdf", "invoice-2.pdf")
    assert first["content"] == b"A"
    assert embedded(second["content"]) == {}
    assert written(source, XML) == xml


def test_cii_alone_is_the_file_of_the_pdf():
    source = document()
    (file,) = embedded(written(source)).values()
    assert written(source, XML) == file


def test_a_draft_has_no_invoice_and_is_checked_all_the_same():
    draft = replace(OPTIONS, is_draft=True)
    assert embedded(written(document(), draft)) == {}
    with pytest.raises(AuthoringError, match="DRAFT mark") as caught:
        written(document(), replace(XML, is_draft=True))
    assert [each.code for each in caught.value.diagnostics] == ["einvoice-draft"]
    with pytest.raises(AuthoringError, match="BR-02"):
        written(document("<p>a</p>", data={}), draft)


def test_a_document_without_an_invoice_has_no_xml():
    with pytest.raises(AuthoringError, match="has no `einvoice`") as caught:
        written("<document><flow><p>a</p></flow></document>", XML)
    assert [each.code for each in caught.value.diagnostics] == ["no-einvoice"]


def test_ubl_written_by_hand_has_no_level_of_factur_x():
    xml = written(document(profile='profile="xrechnung" syntax="ubl"'), XML).decode()
    text = xml.partition("?>")[2]
    source = (
        f'<document profile="pdf/a-3b"><attachment name="xrechnung.xml" relationship="alternative">'
        f"<![CDATA[{text}]]></attachment><flow><p>a</p></flow></document>"
    )
    with pikepdf.open(io.BytesIO(written(source))) as opened, opened.open_metadata() as xmp:
        assert not any(key.startswith(FX) for key in xmp)
