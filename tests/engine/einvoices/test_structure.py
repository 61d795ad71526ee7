"""The structure of received invoices, and what is right though no writer of ours does it."""

from __future__ import annotations

import gzip
import re
from decimal import Decimal
from time import process_time

import pytest

from tests.engine.einvoices import samples
from workers.engine.einvoices.checks import check_invoice
from workers.engine.einvoices.files import read_invoice, write_invoice
from workers.engine.einvoices.profiles import PROFILES, find_profile
from workers.engine.einvoices.records import read_record
from workers.engine.einvoices.terms import Level
from workers.engine.invoice_checks import check_external_invoice
from workers.rules.judging import Judge


def written(profile="en16931", syntax="cii", data=None) -> bytes:
    record, invalid = read_record(samples.full() if data is None else data)
    assert invalid == []
    if PROFILES[profile].level < Level.EN16931:  # which have no rounding
        del record["totals"]["rounding"]
        record["totals"]["due"] = Decimal("200.30")
    return write_invoice(record, PROFILES[profile], syntax)


def rules_of(data: samples.Record, profile: str = "en16931", syntax: str = "cii") -> set[str]:
    """Return the rules that are broken by what would be written."""
    record, _ = read_record(data)
    return {one.rule for one in check_invoice(record, PROFILES[profile], syntax)}


def repeat(content: bytes, tag: str) -> bytes:
    """Return an XML with its first element of a tag twice."""
    (element,) = re.findall(rf"<{tag}[ >].*?</{tag}>".encode(), content, re.DOTALL)[:1]
    return content.replace(element, element + element, 1)


@pytest.mark.parametrize(
    ("syntax", "change", "element"),
    [
        ("ubl", lambda xml: repeat(xml, "cbc:PayableAmount"), "cbc:PayableAmount"),
        ("ubl", lambda xml: repeat(xml, "cbc:IssueDate"), "cbc:IssueDate"),
        ("cii", lambda xml: repeat(xml, "ram:GrandTotalAmount"), "ram:GrandTotalAmount"),
        ("cii", lambda xml: xml.replace(b"ram:ChargeAmount", b"ram:Cost"), "ram:Cost"),
    ],
    ids=["second due", "second date", "second total", "unknown"],
)  # fmt: skip
def test_wrong_structure_is_a_violation_at_its_element(syntax, change, element):
    report = check_external_invoice(change(written(syntax=syntax))).to_report()
    assert report["valid"] is False
    assert report["errors"][0]["rule"] == "schema"
    assert element in report["errors"][0]["element"]


def test_without_rules_the_reader_warns_and_nothing_is_called_valid():
    sound = check_external_invoice(written()).to_report()
    assert (sound["valid"], sound["errors"], sound["warnings"]) == (None, [], [])
    assert "pressroom[rules]" in sound["note"]
    report = check_external_invoice(repeat(written(syntax="ubl"), "cac:Delivery")).to_report()
    assert (report["valid"], report["errors"]) == (None, [])
    assert [(one["rule"], one["path"]) for one in report["warnings"]] == [
        ("cardinality", "/delivery")
    ]


@pytest.mark.parametrize(
    ("element", "path"),
    [("ram:DuePayableAmount", "/totals/due"), ("ram:InvoiceCurrencyCode", "/currency")],
)
def test_a_value_stated_twice_is_an_error_where_the_schema_allows_it(element, path):
    report = check_external_invoice(repeat(written("xrechnung"), element)).to_report()
    assert report["valid"] is False
    assert [(one["rule"], one["path"]) for one in report["errors"]] == [("cardinality", path)]


@pytest.mark.long
def test_ten_thousand_unknown_elements_take_no_longer_than_their_reading():
    line = b"<ram:IncludedSupplyChainTradeLineItem a='1'><ram:X b='1'/></ram:IncludedSupplyChainTradeLineItem>"
    content = written().replace(b"<ram:ApplicableHeaderTradeAgreement>", line * 150_000 + b"<ram:ApplicableHeaderTradeAgreement>", 1)  # fmt: skip
    began = process_time()
    assert len(check_external_invoice(content).verdict.findings) == 50
    assert process_time() - began < 10


@pytest.mark.long
@pytest.mark.parametrize("part", [b"<!---->a", b"<![CDATA[a]]><?b?>"])
def test_a_text_of_many_parts_is_read_in_linear_time(part):
    content = written().replace(b"Thank you", part * (8_000_000 // len(part)), 1)
    assert len(gzip.compress(content)) < 50_000
    began = process_time()
    read_invoice(content)
    assert process_time() - began < 5


# --- right, though refused before ------------------------------------------------------------------------


@pytest.mark.parametrize("syntax", ["cii", "ubl"])
def test_zeros_behind_the_tenth_decimal_are_read(syntax):
    content = written(syntax=syntax).replace(b">89.90<", b">0000089.90000000000000<")
    found = read_invoice(content)
    assert found.deviations == ()
    assert found.record["lines"][0]["price"]["net"] == Decimal("89.9")
    record, invalid = read_record({"totals": {"due": Decimal("1.5000000000000")}})
    assert (record, invalid) == ({"totals": {"due": Decimal("1.5")}}, [])


def test_an_indicator_is_any_form_of_a_boolean():
    content = written(syntax="ubl")
    for word, digit in ((b"true", b"1"), (b"false", b"0")):
        content = content.replace(b"Indicator>" + word, b"Indicator>" + digit)
    found = read_invoice(content)
    assert found.deviations == ()
    assert len(found.record["charges"]) == len(found.record["allowances"]) == 1


def test_a_department_is_a_contact():
    content = written("xrechnung").replace(b"PersonName>", b"DepartmentName>")
    found = read_invoice(content)
    assert found.deviations == ()
    assert found.record["seller"]["contact"]["name"] == "A. Sample"


@pytest.mark.parametrize(
    "further",
    [
        "#conformant#urn:xeinkauf.de:kosit:extension:xrechnung_3.0",
        "#compliant#urn:xeinkauf.de:kosit:xrechnung:cvd_1.0",
    ],
)
def test_the_extension_of_xrechnung_is_xrechnung(further):
    profile = PROFILES["xrechnung"]
    assert find_profile(profile.guideline + further) is profile


def test_the_date_of_vat_is_stated_once():
    content = written("xrechnung")
    assert content.count(b"<ram:TaxPointDate>") == 1
    assert read_invoice(content).record["taxPointDate"].isoformat() == "2026-03-01"


def test_extended_takes_rounded_lines_and_no_wrong_sum():
    data = samples.full()
    data["totals"]["lines"] += Decimal("0.01")
    assert rules_of(data, "extended") == set()
    data["totals"]["lines"] += 5
    assert rules_of(data, "extended") == {"BR-FXEXT-CO-10"}
    data = samples.changed(samples.full(), samples.drop("dueDate", "paymentTerms"))
    assert rules_of(data, "extended") == {"BR-CO-25"}


def test_warnings_of_xrechnung_refuse_what_is_written():
    data = samples.changed(samples.full(), samples.put("seller.contact.phone", "1 2"))
    assert rules_of(data, "xrechnung") == {"BR-DE-27"}


@pytest.mark.parametrize(
    ("encoding", "is_read"), [("utf-16", True), ("iso-8859-1", True), ("cp1006", False)]
)  # expat reads all of them
def test_an_invoice_in_another_encoding_is_read_or_refused(encoding, is_read):
    text = written().decode().replace('encoding="UTF-8"', f'encoding="{encoding}"')
    found = check_external_invoice(text.encode(encoding), Judge())
    assert found.is_valid is is_read
