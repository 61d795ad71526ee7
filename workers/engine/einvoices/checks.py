"""Validation of an invoice by the business rules of its profile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Context, localcontext
from typing import Final

from workers.engine.einvoices.findings import MAX_VIOLATIONS, RuleViolation
from workers.engine.einvoices.mapping import Record
from workers.engine.einvoices.profiles import PROFILES, InvoiceProfile
from workers.engine.einvoices.rules.codelists import CODES, DECIMALS
from workers.engine.einvoices.rules.of_syntaxes import CII, UBL
from workers.engine.einvoices.rules.peppol import IN_XRECHNUNG, LINE_AMOUNT, PEPPOL
from workers.engine.einvoices.rules.presence import EXTENDED_PRESENCE, PRESENCE
from workers.engine.einvoices.rules.rule import BusinessRule, InvoiceRecord
from workers.engine.einvoices.rules.sums import EXTENDED_SUMS, SUMS
from workers.engine.einvoices.rules.vat import EXTENDED_VAT, VAT
from workers.engine.einvoices.rules.xrechnung import XRECHNUNG
from workers.engine.einvoices.syntaxes import SYNTAX_NAMES

RULES: Final = (*PRESENCE, *SUMS, *DECIMALS, *VAT, *CODES)

# Exact for sums of 20,000 amounts of 28 digits.
_EXACT: Final = Context(prec=60)


def check_invoice(
    record: Record, profile: InvoiceProfile, syntax: str = "cii"
) -> list[RuleViolation]:
    """Return the first 50 rule violations of an invoice."""
    invoice = InvoiceRecord(record, syntax)
    violations: list[RuleViolation] = []
    with localcontext(_EXACT):
        for rule in _RULES_OF[profile.name, syntax]:
            for entry, path in _in_scope(record, rule.scope):
                message = rule.check(entry, invoice)
                if message is None:
                    continue
                member = rule.member.replace(".", "/")
                violations.append(
                    RuleViolation(
                        rule.identifier, f"{path}/{member}", message, severity=rule.severity
                    )
                )
                if len(violations) >= MAX_VIOLATIONS:
                    return violations
    return violations


def list_rules(profile: str, syntax: str) -> tuple[BusinessRule, ...]:
    """Return the rules of a profile in a syntax."""
    own = PROFILES[profile]
    rules = [rule for rule in RULES if rule.level <= own.level]
    if profile.startswith("extended"):
        rules = [rule for rule in rules if rule.is_in_extended]
        rules += (*EXTENDED_PRESENCE, *EXTENDED_SUMS, *EXTENDED_VAT)
    rules += UBL if syntax == "ubl" else CII
    if profile == "xrechnung":
        rules += XRECHNUNG
        rules += (rule for rule in PEPPOL if rule.identifier in IN_XRECHNUNG)
        if syntax == "ubl":
            rules.append(replace(LINE_AMOUNT, severity="warning"))
    if profile == "peppol":
        rules += (*PEPPOL, LINE_AMOUNT)
    return tuple(rules)


def _in_scope(record: Record, scope: str) -> Iterator[tuple[Record, str]]:
    """Yield the records of a scope, each with its path."""
    if not scope:
        yield record, ""
        return
    first, _, rest = scope.partition(".")
    value = record.get(first)
    if isinstance(value, list):
        for index, entry in enumerate(value):
            for inner, path in _in_scope(entry, rest):
                yield inner, f"/{first}/{index}{path}"
    elif value is not None:
        for inner, path in _in_scope(value, rest):
            yield inner, f"/{first}{path}"


_RULES_OF: Final = {
    (name, syntax): list_rules(name, syntax) for name in PROFILES for syntax in SYNTAX_NAMES
}
