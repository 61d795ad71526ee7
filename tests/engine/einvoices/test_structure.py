"""The structure of received invoices, and what is right though no writer of ours does it."""

from __future__ import annotations

import gzip
import re
from decimal import Decimal
from time import process_time

import pytest
from lxml import etree

from tests.engine.einvoices import samples
from tests.engine.einvoices.mutants import mutate
from tests.engine.einvoices.official import UBL, find_broken, find_schema_errors
from workers.engine.einvoices.checks import check_invoice
from workers.engine.einvoices.files import read_invoice, write_invoice
from workers.engine.einvoices.profiles import PROFILES, find_profile
from workers.engine.einvoices.records import read_record
from workers.engine.einvoices.terms import Level
from workers.engine.invoice_checks import check_external_invoice


def written(profile="en16931", syntax="cii", data=None) -> bytes:
    record, invalid = read_record(samples.full() if data is None else data)
    assert invalid == []
    if PROFILES[profile].level < Level.EN16931:  # which have no rounding
        del record["totals"]["rounding"]
        record["totals"]["due"] = Decimal("200.30")
    return write_invoice(record, PROFILES[profile], syntax)


def rules_of(content: bytes) -> set[str]:
    return {one.rule for one in read_invoice(content).violations}


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
        (
            "cii",
            lambda xml: xml.replace(b"<ram:LineTotalAmount>", b'<ram:LineTotalAmount currencyID="CHF">'),
            "ram:LineTotalAmount",
        ),
    ],
    ids=["second due", "second date", "second total", "unknown", "currency"],
)  # fmt: skip
def test_wrong_structure_is_a_violation_at_its_element(syntax, change, element):
    report = check_external_invoice(change(written(syntax=syntax))).to_report()
    assert report["valid"] is False
    found = [one for one in report["errors"] if one["rule"] in ("schema", "syntax")]
    assert found
    assert element in found[0]["element"]


def test_a_report_names_the_rules_that_were_applied():
    names = {
        (profile, syntax): [
            (one["name"], one["version"])
            for one in check_external_invoice(written(profile, syntax)).to_report()["checked_by"]
        ]
        for profile, syntax in [("basic", "cii"), ("xrechnung", "ubl")]
    }
    assert names["basic", "cii"] == [
        ("Schema of Factur-X BASIC", "1.09"),
        ("EN 16931 business rules", "1.3.16"),
    ]
    assert names["xrechnung", "ubl"] == [
        ("Schema of UBL Invoice", "2.1"),
        ("EN 16931 business rules", "1.3.16"),
        ("XRechnung business rules", "3.0"),
    ]


# What the Schematron lets pass though it states a term twice, empty or in another currency.
STRICTER = {"cardinality", "syntax", "BR-17", "BR-54", "BR-55", "BR-56", "BR-Z-01", "BR-03", "BR-49"}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(
    ("profile", "syntax", "every"),
    [("en16931", "cii", 3), ("en16931", "ubl", 3), ("basic", "cii", 3), ("extended", "cii", 9)],
)
def test_no_mutant_is_valid_that_the_official_rules_refuse(profile, syntax, every):
    judge = UBL if syntax == "ubl" else profile
    missed, refused = [], []
    for name, content in list(mutate(written(profile, syntax)))[::every]:
        report = check_external_invoice(content)
        if report.reason:  # a profile that is not known has no verdict
            continue
        wrong = find_schema_errors(content, judge) or find_broken(content, judge)
        broken = {one.rule for one in report.violations}
        if wrong and not broken:
            missed.append((name, wrong))
        if not wrong and not broken <= STRICTER:
            refused.append((name, broken))
    if profile == "extended":  # a term that has several forms there, stated twice
        missed = [one for one in missed if "at maximum 1 times" not in str(one)]
    assert missed == []
    assert refused == []


@pytest.mark.long
def test_ten_thousand_unknown_elements_take_no_longer_than_their_reading():
    line = b"<ram:IncludedSupplyChainTradeLineItem a='1'><ram:X b='1'/></ram:IncludedSupplyChainTradeLineItem>"
    content = written().replace(b"<ram:ApplicableHeaderTradeAgreement>", line * 150_000 + b"<ram:ApplicableHeaderTradeAgreement>", 1)  # fmt: skip
    began = process_time()
    assert len(check_external_invoice(content).violations) == 50
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
    assert found.violations == ()
    assert found.record["lines"][0]["price"]["net"] == Decimal("89.9")
    record, invalid = read_record({"totals": {"due": Decimal("1.5000000000000")}})
    assert (record, invalid) == ({"totals": {"due": Decimal("1.5")}}, [])


def test_an_indicator_is_any_form_of_a_boolean():
    content = written(syntax="ubl")
    for word, digit in ((b"true", b"1"), (b"false", b"0")):
        content = content.replace(b"Indicator>" + word, b"Indicator>" + digit)
    found = read_invoice(content)
    assert found.violations == ()
    assert len(found.record["charges"]) == len(found.record["allowances"]) == 1


def test_a_tax_currency_of_the_invoice_itself_is_right_in_ubl():
    data = samples.full() | {"taxCurrency": "EUR"}
    del data["totals"]["vatInTaxCurrency"]
    content = written(syntax="ubl", data=data)
    assert find_broken(content, UBL) == set()
    assert rules_of(content) == set()


def test_igic_of_nothing_is_right_in_ubl():
    content = written(syntax="ubl", data=samples.plain("L", 0))
    assert find_broken(content, UBL) == set()
    assert rules_of(content) == set()
    assert "BR-AF-05" in rules_of(written(data=samples.plain("L", 0)))


def test_the_means_42_may_have_an_account():
    data = samples.changed(samples.full(), samples.put("payment.meansCode", "42"))
    assert rules_of(written("xrechnung", data=data)) == set()


def test_a_department_is_a_contact():
    content = written("xrechnung").replace(b"PersonName>", b"DepartmentName>")
    found = read_invoice(content)
    assert found.violations == ()
    assert found.record["seller"]["contact"]["name"] == "A. Sample"


def test_remittance_information_needs_no_means_in_cii():
    data = samples.full() | {"payment": {"remittanceInformation": "2026-0042"}}
    content = written(data=data)
    assert find_broken(content, "en16931") == set()
    assert rules_of(content) == set()
    assert "BR-49" in rules_of(written(syntax="ubl", data=data))


def test_codes_of_exemptions_may_be_in_small_letters():
    data = samples.plain("K", 0)
    data["vatBreakdown"][0]["exemptionReasonCode"] = "vatex-eu-ic"
    content = written(syntax="ubl", data=data)
    assert find_broken(content, UBL) == set()
    assert rules_of(content) == set()


def test_split_payment_is_a_category():
    data = samples.plain("E", 0)
    for party in ("seller", "buyer"):
        data[party]["address"]["country"] = "IT"
    for entry in (*data["lines"], *data["allowances"], *data["charges"], *data["vatBreakdown"]):
        entry["category" if "category" in entry else "vatCategory"] = "B"
    content = written(syntax="ubl", data=data)
    assert find_broken(content, UBL) == set()
    assert rules_of(content) == set()


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


def test_each_payment_instruction_is_checked():
    content = written("xrechnung")
    tag = "ram:SpecifiedTradeSettlementPaymentMeans"
    debit = f"<{tag}><ram:TypeCode>30</ram:TypeCode></{tag}>".encode()
    broken = content.replace(b"<ram:ApplicableTradeTax>\n        <ram:Calc", debit + b"<ram:ApplicableTradeTax>\n        <ram:Calc", 1)  # fmt: skip
    assert debit in broken
    assert "BR-DE-23" in rules_of(broken)
    assert rules_of(content) == set()


def test_extended_takes_rounded_lines_and_no_wrong_sum():
    data = samples.full()
    data["totals"]["lines"] += Decimal("0.01")
    assert rules_of(written("extended", data=data)) == set()
    data["totals"]["lines"] += 5
    assert rules_of(written("extended", data=data)) == {"BR-FXEXT-CO-10"}
    data = samples.changed(samples.full(), samples.drop("dueDate", "paymentTerms"))
    assert rules_of(written("extended", data=data)) == {"BR-CO-25"}


def test_subtotals_of_extended_are_not_added_up():
    root = etree.fromstring(written("extended"))
    ram = "{urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100}"
    line = next(root.iter(f"{ram}IncludedSupplyChainTradeLineItem"))
    copied = etree.fromstring(etree.tostring(line))
    document = copied.find(f"{ram}AssociatedDocumentLineDocument")
    document.find(f"{ram}LineID").text = "9"
    status = etree.Element(f"{ram}LineStatusReasonCode")
    status.text = "INFORMATION"
    document.insert(1, status)
    line.addnext(copied)
    content = etree.tostring(root)
    assert find_broken(content, "extended") == set()
    assert rules_of(content) == set()


def test_the_date_of_vat_is_stated_once():
    content = written("xrechnung")
    assert content.count(b"<ram:TaxPointDate>") == 1
    assert read_invoice(content).record["taxPointDate"].isoformat() == "2026-03-01"


@pytest.mark.parametrize(("profile", "syntax"), [("xrechnung", "cii"), ("peppol", "ubl")])
def test_an_empty_element_breaks_a_rule_of_peppol(profile, syntax):
    content = re.sub(rb">A drill<", b"> <", written(profile, syntax))
    found = check_external_invoice(content)
    assert [one.rule for one in found.violations] == ["PEPPOL-EN16931-R008"]
    assert found.violations[0].element.endswith("Description")
    assert rules_of(re.sub(rb">A drill<", b"> <", written())) == set()


def test_warnings_of_xrechnung_refuse_only_what_is_written_here():
    data = samples.changed(samples.full(), samples.put("seller.contact.phone", "1 2"))
    assert rules_of(written("xrechnung", data=data)) == set()
    record, _ = read_record(data)
    assert {one.rule for one in check_invoice(record, PROFILES["xrechnung"])} == {"BR-DE-27"}


@pytest.mark.parametrize(
    ("encoding", "rules"),
    [("utf-16", set()), ("iso-8859-1", set()), ("cp1006", {"schema"})],  # expat reads all of them
)
def test_an_invoice_in_another_encoding_is_read_or_refused(encoding, rules):
    text = written().decode().replace('encoding="UTF-8"', f'encoding="{encoding}"')
    assert rules_of(text.encode(encoding)) == rules
