"""Our rules of what is written, held against the official files: over thousands of invoices, and by name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest

from tests.engine.einvoices import samples
from tests.engine.einvoices.record_mutants import mutate
from tests.engine.einvoices.test_rules import CASES
from workers.engine.einvoices import (
    PROFILES,
    InvoiceFacts,
    Level,
    check_invoice,
    choose_packs,
    read_invoice,
    read_record,
    select_terms,
    write_invoice,
)
from workers.engine.einvoices.checks import list_rules
from workers.rules.judging import Judge

# Each profile and syntax, one of how many mutants is judged, and how many these are at least.
COMBINATIONS = [
    ("en16931", "cii", 2, 2000),
    ("en16931", "ubl", 4, 1000),
    ("basic", "cii", 8, 500),
    ("basicwl", "cii", 12, 320),
    ("minimum", "cii", 12, 320),
    ("extended", "cii", 12, 320),
    ("extended-ctc-fr", "cii", 12, 320),
    ("extended-ctc-fr", "ubl", 12, 320),
]
# Those whose packs no package of the lock brings: `make test-long` fetches them.
FETCHED = [("xrechnung", "cii", 12, 320), ("xrechnung", "ubl", 12, 320), ("peppol", "ubl", 12, 320)]
# The rules that differ, by name.
LISTS = {"rule_differences.txt": COMBINATIONS, "rule_differences_fetched.txt": FETCHED}
# What is wrong by the text of EN 16931 and passes the official files: sums of the two Spanish taxes, a
# taxable amount of 0 in EXTENDED; what one syntax needs of files and notes; in EXTENDED-CTC-FR also three decimals, and what category O needs.
STRICTER = {"BR-AF-08", "BR-AG-08", "BT-22", "BR-CL-08", "UBL-DT-06", "UBL-DT-07"}
STRICTER |= {f"BR-FXEXT-{each}-08" for each in ("AE", "E", "G", "IC", "O")}
STRICTER_IN_CTC = {"BR-46", "BR-CL-07", "BR-CO-03", "BR-DEC-19", "BR-DEC-20", "BR-O-09", "BR-O-10"}
# What `rules="official"` alone finds: a sum at its tolerance, which is added up in floating point there;
# in EXTENDED-CTC-FR also sums of category Z without a tolerance, and AE twice.
OFFICIAL = {"BR-FXEXT-CO-11", "BR-FREXT-CO-11", "BR-FREXT-Z-08", "BR-AE-01"}
# Names of elements and types of a syntax that EN 16931 does not use, which nothing here writes.
OF_SYNTAX = ("FX-SCH-", "UBL-", "CII-")
_NAME = re.compile(r"\[([A-Z]+(?:-[A-Z0-9]+)+)\]|(?:name=\"id\">|\bid=\")([A-Z]+(?:-[A-Z0-9]+)+)")


def make_records(profile: str) -> Iterator[tuple[str, samples.Record]]:
    full = samples.full()
    if PROFILES[profile].level < Level.EN16931:  # which have no rounding
        del full["totals"]["rounding"]
        full["totals"]["due"] = Decimal("200.30")
    credit = full | {"typeCode": "381"}
    for data in (full, credit, *(samples.plain(*each) for each in samples.RATES.items())):
        yield "sound", data
        yield from mutate(data)
    for _, rule, data, change in CASES:
        yield rule, samples.changed(data, change)


@cache
def judge(profile: str) -> Judge:
    is_fetched = any(profile == one for one, *_ in FETCHED)
    return Judge(os.environ.get("PRESSROOM_RULES", "") if is_fetched else "")


@pytest.mark.long
@pytest.mark.parametrize(("profile", "syntax", "every", "least"), [*COMBINATIONS, *FETCHED])
def test_no_fatal_rule_is_missed_and_none_is_false(profile, syntax, every, least):
    chosen, is_ctc = PROFILES[profile], profile == "extended-ctc-fr"
    missed, false, count = [], [], 0
    for name, data in list(make_records(profile))[::every]:
        record, wrong = read_record(data)
        if wrong:  # refused before any rule
            continue
        count += 1
        violations = check_invoice(select_terms(record, chosen.level), chosen, syntax)
        broken = {one.rule for one in violations if one.severity == "error"}
        found = read_invoice(write_invoice(record, chosen, syntax))
        verdict = judge(profile).judge(found.content, found.facts)
        assert verdict.note == ""
        fatal = {one.rule for one in verdict.findings if one.severity == "error"}
        if not broken and fatal - (OFFICIAL if profile.startswith("extended") else set()):
            missed.append((name, fatal))
        if not fatal and broken - STRICTER - (STRICTER_IN_CTC if is_ctc else set()):
            false.append((name, broken))
    assert (missed, false) == ([], [])
    assert count >= least


def describe_differences(combinations: list[tuple[str, str, int, int]]) -> str:
    """Return which rules are in an official file and not among ours, or the other way round."""
    lines = []
    for profile, syntax, *_ in combinations:
        root = "Invoice" if syntax == "ubl" else "CrossIndustryInvoice"
        facts = InvoiceFacts(syntax, root, PROFILES[profile].guideline, "")
        (pack,), _ = choose_packs(judge(profile).packs, facts)
        text = "".join(Path(pack.folder, one).read_text() for one in pack.rules)
        official = {first or second for first, second in _NAME.findall(text)}
        official = {one for one in official if not one.startswith((*OF_SYNTAX, "A-Z"))}  # no class
        ours = {rule.identifier for rule in list_rules(profile, syntax)}
        ours = {one for one in ours if not one.startswith(OF_SYNTAX)}
        lines.append(f"{pack.name}: {len(official)} rules, {len(official & ours)} of them ours")
        for title, names in (("official only", official - ours), ("ours only", ours - official)):
            lines.append(f"  {title}: {' '.join(sorted(names)) or 'none'}")
    return "\n".join(lines) + "\n"


def test_more_than_five_thousand_invoices_are_compared():
    assert sum(least for *_, least in COMBINATIONS) > 5_000


@pytest.mark.parametrize("name", [pytest.param(one, marks=pytest.mark.long) if LISTS[one] is FETCHED else one for one in LISTS])  # fmt: skip
def test_rules_that_differ_are_listed_by_name(name):
    """`python -m tests.engine.einvoices.test_agreement` writes the lists; read what changed."""
    assert Path(__file__).with_name(name).read_text() == describe_differences(LISTS[name])


if __name__ == "__main__":
    for each, compared in LISTS.items():
        Path(__file__).with_name(each).write_text(describe_differences(compared))
