"""Invoices in UBL, compared with the official XSD and Schematron; Peppol's rules, each broken once."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from tests.engine.einvoices import samples
from tests.engine.einvoices.official import UBL, find_broken, find_schema_errors
from tests.engine.einvoices.test_rules import read
from workers.engine.einvoices.checks import check_invoice
from workers.engine.einvoices.files import read_invoice, write_invoice
from workers.engine.einvoices.profiles import PROFILES
from workers.engine.einvoices.rules.peppol import IN_XRECHNUNG, LINE_AMOUNT, NUMBER_CHECKS, PEPPOL

CORE = PROFILES["en16931"]


@pytest.mark.parametrize("code", ["380", "384", "381", "81"])
@pytest.mark.parametrize("profile", ["en16931", "xrechnung", "peppol"])
def test_an_invoice_with_every_term_keeps_schema_and_rules_and_is_read_back(profile, code):
    record = read(samples.full()) | {"typeCode": code}
    content = write_invoice(record, PROFILES[profile], "ubl")
    assert find_schema_errors(content, UBL) == []
    assert find_broken(content, UBL) == set()
    found = read_invoice(content)
    assert found.profile is PROFILES[profile]
    assert (found.syntax.root_name == "CreditNote") == (code in ("381", "81"))
    assert found.record == record | {"guideline": PROFILES[profile].guideline}


@pytest.mark.parametrize("category", samples.RATES)
def test_an_invoice_of_each_vat_category_keeps_every_rule(category):
    record = read(samples.plain(category, samples.RATES[category]))
    for code in ("380", "381"):
        content = write_invoice(record | {"typeCode": code}, CORE, "ubl")
        assert find_schema_errors(content, UBL) == []
        assert find_broken(content, UBL) == set()
        assert check_invoice(record, CORE, "ubl") == []


def test_terms_that_depend_on_each_other_are_written_where_ubl_has_them():
    record = read(samples.full())
    record["payment"] = {
        "meansCode": "59",
        "directDebit": {"mandate": "M-1", "creditorId": "DE98ZZZ09999999999", "iban": "DE75512108001245126199"},
    }  # fmt: skip
    del record["orderReference"], record["taxPointDate"], record["payee"]
    record |= {"taxPointDateCode": "29"}
    record["lines"][0]["price"] = {"net": Decimal("89.90"), "gross": Decimal("89.90")}
    for code in ("380", "381"):
        content = write_invoice(record | {"typeCode": code}, CORE, "ubl")
        assert find_schema_errors(content, UBL) == []
        assert find_broken(content, UBL) == set()
        assert b'<cbc:ID schemeID="SEPA">DE98ZZZ09999999999</cbc:ID>' in content
        assert b"<cbc:DescriptionCode>35</cbc:DescriptionCode>" in content
        found = read_invoice(content).record
        assert found["lines"][0]["price"].pop("discount") == 0  # which UBL requires
        assert found == record | {"typeCode": code, "guideline": CORE.guideline}
    card = {"meansCode": "48", "card": {"number": "1234"}}
    content = write_invoice(record | {"payment": card}, CORE, "ubl")
    assert (find_schema_errors(content, UBL), find_broken(content, UBL)) == ([], set())
    account = {"meansCode": "30", "accounts": [{"accountId": "123-4"}]}
    written = write_invoice(record | {"payment": account}, CORE, "ubl")
    assert read_invoice(written).record["payment"] == account
    alone = write_invoice({**record, "payment": {}, "typeCode": "381"}, CORE, "ubl")
    assert (find_schema_errors(alone, UBL), find_broken(alone, UBL)) == ([], set())


def ubl(**changes: object) -> bytes:
    return write_invoice(read(samples.full()) | changes, PROFILES["peppol"], "ubl")


def test_a_foreign_invoice_is_read_with_its_faults():
    sound = ubl()
    coded = ubl(taxPointDateCode="5").replace(b"DescriptionCode>3<", b"DescriptionCode>5<")
    coded = re.sub(rb"<cbc:TaxPointDate>.*?</cbc:TaxPointDate>", b"", coded)
    assert read_invoice(coded).record["taxPointDateCode"] == "5 of UNTDID 2475"
    late = sound.replace(b"<cbc:DueDate>2026-04-01<", b"<cbc:DueDate>2026-04-31<")
    assert read_invoice(late).deviations[0].path == "/dueDate"


# --- Peppol --------------------------------------------------------------------------------------------

PEPPOL_BROKEN = [
    ("R001", samples.drop("processType")),
    ("R007", samples.put("processType", "urn:other")),
    ("R002", lambda record: record["notes"].append({"text": "b"})),
    ("R003", samples.drop("buyerReference", "orderReference")),
    ("R005", samples.put("taxCurrency", "EUR")),
    ("R010", samples.drop("buyer.electronicAddress")),
    ("R020", samples.drop("seller.electronicAddress")),
    ("R040", samples.put("lines.0.allowances.0.percent", 1)),
    ("R041", samples.drop("allowances.0.baseAmount")),
    ("R042", samples.drop("lines.0.charges.0.percent")),
    ("R046", samples.put("lines.0.price.gross", 99)),
    ("R055", samples.put("totals.vatInTaxCurrency", -1)),
    (
        "R061",
        samples.all_of(
            samples.put("payment.meansCode", "59"),
            samples.put("payment.directDebit", {"creditorId": "X"}),
        ),
    ),
    ("R110", samples.put("lines.0.period.start", "2026-01-31")),
    ("R111", samples.put("lines.0.period.end", "2026-03-01")),
    ("R120", samples.put("lines.1.quantity", 2)),
    ("R121", samples.put("lines.0.price.baseQuantity", 0)),
    ("R130", samples.put("lines.0.price.baseUnit", "KGM")),
    ("CL008", samples.put("buyer.electronicAddressScheme", "EM")),
    ("P0100", samples.put("typeCode", "384")),
    *(
        (number, samples.put("vatBreakdown.1.exemptionReasonCode", f"VATEX-EU-{reason}"))
        for number, reason in (
            ("P0104", "G"), ("P0105", "O"), ("P0106", "IC"), ("P0107", "AE"),
            ("P0108", "D"), ("P0109", "F"), ("P0110", "I"), ("P0111", "J"),
        )
    ),
]  # fmt: skip


def rules_of(record, profile="peppol"):
    return {one.rule for one in check_invoice(record, PROFILES[profile], "ubl")}


def test_the_full_invoice_keeps_the_rules_of_peppol():
    assert rules_of(read(samples.full())) == set()


@pytest.mark.parametrize(("number", "change"), PEPPOL_BROKEN)
def test_a_broken_rule_of_peppol_is_found(number, change):
    record = read(samples.changed(samples.full(), change))
    rule = f"PEPPOL-EN16931-{number}"
    assert rule in rules_of(record)
    assert rule not in rules_of(record, "en16931")
    is_shared = rule in IN_XRECHNUNG or rule == LINE_AMOUNT.identifier
    assert (rule in rules_of(record, "xrechnung")) is is_shared


def test_every_rule_of_peppol_is_broken_by_an_example():
    tried = {f"PEPPOL-EN16931-{number}" for number, _ in PEPPOL_BROKEN}
    assert {rule.identifier for rule in (*PEPPOL, LINE_AMOUNT)} - tried == {
        rule for rule, _, _ in NUMBER_CHECKS.values()
    }


def test_german_parties_may_correct_and_have_several_notes():
    record = read(samples.full())
    record |= {"typeCode": "384", "notes": [{"text": "a"}, {"text": "b"}]}
    record["buyer"]["address"]["country"] = "DE"
    assert rules_of(record) == set()


@pytest.mark.parametrize(
    ("scheme", "sound", "wrong"),
    [
        ("0088", "4000001123452", "4000001123453"),
        ("0192", "974760673", "974760674"),
        ("0184", "DK12345674", "DK1234567"),
        ("0184", "12345674", "1234567"),
        ("0208", "0202239951", "0202239952"),
        ("0007", "5560360793", "5560360794"),
        ("0151", "51824753556", "51824753557"),
    ],
)
def test_numbers_of_parties_have_check_digits(scheme, sound, wrong):
    rule, _, _ = NUMBER_CHECKS[scheme]
    for party in ("seller", "buyer"):
        record = read(samples.full())
        record[party] |= {"electronicAddressScheme": scheme, "electronicAddress": sound}
        assert rules_of(record) == set()
        for text in (wrong, "", "x", "٤" * len(sound)):
            record[party]["electronicAddress"] = text
            assert rules_of(record) == {rule}
