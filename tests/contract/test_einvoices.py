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
    ("profile", "syntax", "pack", "valid"),
    [
        ("en16931", "cii", "Factur-X EN16931", True),
        ("en16931", "ubl", "EN 16931 UBL", True),
        ("peppol", "ubl", "EN 16931 UBL", None),
    ],
)
def test_an_invoice_is_checked_by_the_rule_packs_of_its_profile(
    caller, profile, syntax, pack, valid
):
    answer = check(caller, invoice(profile, syntax))
    assert answer.status_code == 200
    report = dict(answer.json)
    (used,) = report.pop("checked_by")
    assert (used["pack"], used["date"][:4]) == (pack, "2026")
    assert ("no rule pack" in report.pop("note", "")) is (valid is None)
    assert report == {
        "valid": valid,
        "errors": [],
        "warnings": [],
        "number": "2026-0042",
        "profile": profile,
        "specification": PROFILES[profile].guideline,
        "syntax": syntax,
    }


def test_an_invoice_between_french_parties_must_keep_the_rules_of_france(caller):
    record = read_record(samples.full())[0]
    parties = {
        name: {**record[name], "address": {**record[name]["address"], "country": "FR"}}
        for name in ("seller", "buyer")
    }
    report = check(caller, invoice(**parties)).json
    assert report["valid"] is False
    assert {one["pack"] for one in report["checked_by"]} == {"Factur-X EN16931", "BR-FR Flux 2 CII"}
    assert "BR-FR-05_BT-22_PMT" in {one["rule"] for one in report["errors"]}


def test_a_broken_rule_has_its_name_and_place(caller):
    totals = read_record(samples.full())[0]["totals"]
    broken = invoice(syntax="ubl", totals=totals | {"withVat": totals["withVat"] + 1})
    report = check(caller, broken).json
    assert not report["valid"]
    (error,) = [each for each in report["errors"] if each["rule"] == "BR-CO-15"]
    assert (error["element"], error["severity"]) == ("/ubl:Invoice", "error")
    assert "BT-112" in error["message"]


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
