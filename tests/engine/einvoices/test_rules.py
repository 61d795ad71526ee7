"""The rules of EN 16931, compared with the official Schematron: each kept, and each broken."""

from __future__ import annotations

import copy
from decimal import Decimal

import pytest

from tests.engine.einvoices import samples
from tests.engine.einvoices.official import find_broken, find_schema_errors
from workers.engine.einvoices.checks import MAX_VIOLATIONS, RULES, check_invoice
from workers.engine.einvoices.files import read_invoice, write_invoice
from workers.engine.einvoices.profiles import PROFILES, select_terms
from workers.engine.einvoices.records import read_record
from workers.engine.einvoices.rules.xrechnung import XRECHNUNG, is_iban
from workers.engine.einvoices.terms import Level

EN16931 = PROFILES["en16931"]

CASES = [
    *(("full", rule, samples.full(), change) for rule, change in samples.BROKEN),
    *(
        (category, rule, samples.plain(category, samples.RATES[category]), change)
        for rule, category, change in samples.of_categories()
    ),
]


def read(data):
    record, problems = read_record(data)
    assert problems == []
    return record


def rules(record, profile=EN16931):
    return {one.rule for one in check_invoice(record, profile)}


@pytest.mark.parametrize(
    "name",
    [
        *("minimum", "basicwl", "basic", "en16931"),
        pytest.param("extended", marks=pytest.mark.long),  # its Schematron takes seconds to compile
    ],
)
def test_an_invoice_with_every_term_keeps_schema_and_rules_of_each_profile(name):
    profile = PROFILES[name]
    record = read(samples.full())
    if profile.level < Level.EN16931:  # which have no rounding
        del record["totals"]["rounding"]
        record["totals"]["due"] = Decimal("200.30")
    content = write_invoice(record, profile)
    assert find_schema_errors(content, name) == []
    assert find_broken(content, name) == set()
    assert check_invoice(select_terms(record, profile.level), profile) == []


@pytest.mark.parametrize("name", list(PROFILES))
def test_written_xml_is_read_back(name):
    profile = PROFILES[name]
    record = read(samples.full())
    found = read_invoice(write_invoice(record, profile))
    assert found.profile is profile
    assert found.record == {**select_terms(record, profile.level), "guideline": profile.guideline}


@pytest.mark.parametrize("category", samples.RATES)
def test_an_invoice_of_each_vat_category_keeps_every_rule(category):
    record = read(samples.plain(category, samples.RATES[category]))
    content = write_invoice(record, EN16931)
    assert check_invoice(record, EN16931) == []
    assert find_broken(content, "en16931") == set()
    assert find_schema_errors(content, "en16931") == []


def test_every_rule_is_broken_by_an_example():
    for _, rule, data, change in CASES:
        assert rule in rules(read(samples.changed(data, change)))
    tried = {case[1] for case in CASES}
    assert {rule.identifier for rule in RULES} - tried == set()


def test_a_violated_rule_names_its_term_and_the_expected_sum():
    record = read(samples.changed(samples.full(), samples.put("totals.withVat", 236)))
    first, second = check_invoice(record, EN16931)
    assert (first.rule, first.path) == ("BR-CO-15", "/totals/withVat")
    assert "stated 236, expected 236.82" in first.message
    assert second.rule == "BR-CO-16"
    record = read(samples.changed(samples.full(), samples.drop("lines.1.unit")))
    [broken] = check_invoice(record, EN16931)
    assert broken.path == "/lines/1/unit"


@pytest.mark.long
def test_sums_are_exact():
    data = samples.plain("S", 19)
    line = data["lines"][0]
    data["lines"] = [
        {**line, "id": str(n), "netAmount": Decimal("0.01"), "price": {"net": Decimal("0.01")}}
        for n in range(10_999)
    ]
    data["lines"].append({**line, "id": "x", "netAmount": Decimal("99999999999999.99")})
    total = Decimal("100000000000109.98") - 10
    data["totals"] |= {"lines": total + 10, "withoutVat": total}
    record = read(data)
    assert "BR-CO-10" not in rules(record)
    assert "BR-CO-13" not in rules(record)
    record["totals"]["lines"] += Decimal("0.01")
    assert "BR-CO-10" in rules(record)


def test_reported_rules_are_limited():
    data = samples.plain()
    data["lines"] = [{"id": str(n)} for n in range(1000)]
    assert len(check_invoice(read(data), EN16931)) == MAX_VIOLATIONS


# --- XRechnung -------------------------------------------------------------------------------------------


def xrechnung():
    return read(samples.full())


def test_the_full_invoice_keeps_xrechnung():
    assert check_invoice(xrechnung(), PROFILES["xrechnung"]) == []


XRECHNUNG_BROKEN = [
    ("BR-DE-1", samples.drop("payment")),
    ("BR-DE-2", samples.drop("seller.contact")),
    ("BR-DE-3", samples.drop("seller.address.city")),
    ("BR-DE-4", samples.drop("seller.address.postCode")),
    ("BR-DE-5", samples.drop("seller.contact.name")),
    ("BR-DE-6", samples.drop("seller.contact.phone")),
    ("BR-DE-7", samples.drop("seller.contact.email")),
    ("BR-DE-8", samples.drop("buyer.address.city")),
    ("BR-DE-9", samples.drop("buyer.address.postCode")),
    ("BR-DE-10", samples.drop("delivery.address.city")),
    ("BR-DE-11", samples.drop("delivery.address.postCode")),
    ("BR-DE-14", samples.drop("vatBreakdown.0.rate")),
    ("BR-DE-15", samples.drop("buyerReference")),
    ("BR-DE-16", samples.drop("seller.vatId", "seller.taxNumber", "taxRepresentative")),
    ("BR-DE-17", samples.put("typeCode", "80")),
    ("BR-DE-18", samples.put("paymentTerms", "#SKONTO#TAGE=14#PROZENT=2#")),
    ("BR-DE-19", samples.put("payment.accounts.0.iban", "DE02120300000000202052")),
    (
        "BR-DE-20",
        samples.all_of(
            samples.put("payment.meansCode", "59"), samples.put("payment.directDebit.iban", "DE0")
        ),
    ),
    ("BR-DE-22", lambda record: record["documents"].append({**record["documents"][0], "id": "2"})),
    ("BR-DE-23", samples.put("payment.card.number", "1234")),
    (
        "BR-DE-26",
        samples.all_of(samples.put("typeCode", "384"), samples.put("precedingInvoices", [])),
    ),
    ("BR-DE-30", samples.put("payment.directDebit", {"iban": "DE02120300000000202051"})),
    ("BR-DE-31", samples.put("payment.directDebit", {"creditorId": "DE98ZZZ09999999999"})),
    ("BR-TMP-2", samples.put("documents.0.url", "example.com/a.pdf")),
    ("BR-DE-27", samples.put("seller.contact.phone", "1 2")),
    ("BR-DE-28", samples.put("seller.contact.email", "a.example.com")),
]


@pytest.mark.parametrize(("rule", "change"), XRECHNUNG_BROKEN)
def test_a_broken_rule_of_xrechnung_is_found(rule, change):
    record = read(samples.changed(samples.full(), change))
    assert rule in rules(record, PROFILES["xrechnung"])
    assert rule not in rules(record, EN16931)


def test_what_xrechnung_only_advises_is_a_warning():
    record = read(samples.changed(samples.full(), samples.put("seller.contact.phone", "1 2")))
    (advice,) = check_invoice(record, PROFILES["xrechnung"])
    assert (advice.rule, advice.severity) == ("BR-DE-27", "warning")


@pytest.mark.parametrize(
    ("terms", "is_right"),
    [
        ("Net 30 days. Order #1", True),
        ("#SKONTO#TAGE=14#PROZENT=2.00#", True),
        ("Thank you.\n#SKONTO#TAGE=7#PROZENT=3.00#\n#SKONTO#TAGE=14#PROZENT=2.00#BASISBETRAG=9.50#", True),
        ("#SKONTO#TAGE=14#PROZENT=2.00#\nNet 30 days", True),
        ("#SKONTO#TAGE=14#PROZENT=2.00# net 30 days", False),
        ("#1 of 2", False),
    ],
)  # fmt: skip
def test_cash_discounts_of_xrechnung_are_lines_of_a_form(terms, is_right):
    record = read(samples.full() | {"paymentTerms": terms})
    assert ("BR-DE-18" not in rules(record, PROFILES["xrechnung"])) is is_right
    content = write_invoice(record, PROFILES["xrechnung"], "ubl")
    assert terms.encode() + b"\n<" * terms.endswith("#") in content


def test_every_rule_of_xrechnung_is_broken_by_an_example():
    assert {rule.identifier for rule in XRECHNUNG} == {rule for rule, _ in XRECHNUNG_BROKEN}


@pytest.mark.parametrize(
    ("text", "is_sound"),
    [
        ("DE02 1203 0000 0000 2020 51", True),
        ("CH9300762011623852957", True),
        ("DE03120300000000202051", False),
        ("DE02", False),
        ("", False),
        ("de02120300000000202051", False),
        ("DE02" + "1" * 1000, False),
    ],
)
def test_ibans_are_known_by_their_check_digits(text, is_sound):
    assert is_iban(text) is is_sound


def test_checking_changes_nothing():
    record = read(samples.full())
    kept = copy.deepcopy(record)
    check_invoice(record, EN16931)
    assert record == kept
