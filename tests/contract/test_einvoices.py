"""POST /v2/einvoices/check with a real worker behind the queue."""

from __future__ import annotations

import zlib
from io import BytesIO

import pikepdf
import pytest

from tests.engine.einvoices import samples
from workers.engine.einvoices.files import write_invoice
from workers.engine.einvoices.profiles import PROFILES
from workers.engine.einvoices.records import read_record

pytestmark = pytest.mark.usefixtures("upload_worker")

BOMB = b"<!DOCTYPE a [<!ENTITY b 'bb'><!ENTITY c '&b;&b;'>]><Invoice>&c;</Invoice>"


def invoice(profile="en16931", syntax="cii", **changes) -> bytes:
    record, _ = read_record(samples.full())
    return write_invoice(record | changes, PROFILES[profile], syntax)


def in_pdf(content: bytes, name: str = "factur-x.xml") -> bytes:
    pdf = pikepdf.new()
    pdf.add_blank_page()
    stream = pikepdf.Stream(pdf, zlib.compress(content))
    stream.Filter = pikepdf.Name.FlateDecode
    stream.Type = pikepdf.Name.EmbeddedFile
    file = pikepdf.Dictionary(Type=pikepdf.Name.Filespec, F=name, UF=name, EF={"/F": stream})
    pdf.Root.Names = {"/EmbeddedFiles": {"/Names": [pikepdf.String(name), file]}}
    out = BytesIO()
    pdf.save(out)
    return out.getvalue()


def check(caller, content: bytes, media: str = "application/xml"):
    return caller.post("/v2/einvoices/check", data=content, content_type=media)


@pytest.mark.parametrize(
    ("profile", "syntax"), [("en16931", "cii"), ("xrechnung", "ubl"), ("peppol", "ubl")]
)
def test_an_invoice_is_reported_valid_with_its_profile(caller, profile, syntax):
    answer = check(caller, invoice(profile, syntax))
    assert answer.status_code == 200
    found = {"valid": True, "errors": [], "number": "2026-0042"}
    report = dict(answer.json)
    schema, *rules = report.pop("checked_by")
    assert report == found | {"profile": profile, "syntax": syntax}
    assert schema["name"].startswith("Schema of ")
    assert {"name": "EN 16931 business rules", "version": "1.3.16"} in rules


def test_a_broken_rule_has_its_name_and_place(caller):
    totals = read_record(samples.full())[0]["totals"]
    broken = invoice(syntax="ubl", totals=totals | {"withVat": totals["withVat"] + 1})
    report = check(caller, broken).json
    assert not report["valid"]
    (error,) = [each for each in report["errors"] if each["rule"] == "BR-CO-15"]
    assert error["path"] == "/totals/withVat"
    assert error["element"] == "/ubl:Invoice/cac:LegalMonetaryTotal/cbc:TaxInclusiveAmount"
    assert "expected" in error["message"]


def test_the_invoice_of_a_pdf_is_checked(caller):
    answer = check(caller, in_pdf(invoice()), "application/pdf")
    assert (answer.json["valid"], answer.json["file"]) == (True, "factur-x.xml")


@pytest.mark.parametrize(
    ("content", "media", "reason"),
    [
        (b"<a/>", "text/xml", "not a Cross Industry Invoice"),
        (b"<a", "text/xml", "cannot be checked"),
        (BOMB, "text/xml", "cannot be checked"),
        (b"%PDF-1.7 nothing", "application/pdf", "damaged"),
        (in_pdf(b"<a/>", "other.xml"), "application/pdf", "contains no file named"),
        (in_pdf(b" " * (20 * 1024 * 1024 + 1)), "application/pdf", "more than 20,971,520 bytes"),
        (b"", "text/xml", "empty"),
    ],
    ids=["other xml", "cut short", "entities", "damaged pdf", "no invoice", "zip bomb", "empty"],
)
def test_what_is_no_invoice_is_a_400_with_the_reason(caller, content, media, reason):
    answer = check(caller, content, media)
    assert answer.status_code == 400
    assert reason in answer.json["message"]


def test_another_type_a_large_body_and_a_parameter_are_rejected(caller):
    assert check(caller, b"{}", "application/json").status_code == 415
    assert check(caller, b" " * (20 * 1024 * 1024 + 1)).status_code == 413
    assert caller.post("/v2/einvoices/check?a=b", data=b"<a/>").status_code == 400
