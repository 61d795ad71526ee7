"""Rules of code lists (BR-CL), of decimal places (BR-DEC), and of the prefix of VAT identifiers (BR-CO-9)."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from workers.engine.einvoices.codes import COUNTRIES, load_codes
from workers.engine.einvoices.mapping import Record
from workers.engine.einvoices.rules.rule import BusinessRule, Condition, InvoiceRecord, find_member

_GREECE: Final = "EL"  # prefix of VAT identifiers (directive 2006/112/EC, article 215)
_EXEMPTIONS: Final = "exemption-reasons"
_TWO_DECIMALS: Final = "two-decimals"  # in place of a list


def _make_rule(line: str) -> BusinessRule:
    identifier, scope, member, form, what = line.split(maxsplit=4)
    scope = scope.removeprefix(".")
    if form == _TWO_DECIMALS:
        message = f"{what} must have at most two decimals"
        return BusinessRule(identifier, scope, member, message, _has_two_decimals(member))
    message = f"{what} must be one of the list of {form.replace('-', ' ')}"
    return BusinessRule(identifier, scope, member, message, _has_code(member, form))


def _has_two_decimals(member: str) -> Condition:
    def holds(entry: Record, _: InvoiceRecord) -> bool:
        value = find_member(entry, member)
        return value is None or value.as_tuple().exponent >= -2

    return holds


def _has_code(member: str, codes: str) -> Condition:
    def holds(entry: Record, _: InvoiceRecord) -> bool:
        value = find_member(entry, member)
        if codes == _EXEMPTIONS and value is not None:
            value = value.upper()  # as the official rule compares it
        return value is None or value in load_codes()[codes]

    return holds


def _require_country_prefix(party: str, number: str) -> BusinessRule:
    def holds(entry: Record, _: InvoiceRecord) -> bool:
        prefix = entry.get("vatId", _GREECE)[:2]
        return prefix == _GREECE or prefix in load_codes()[COUNTRIES]

    message = f"A VAT identifier ({number}) must begin with the code of its country, such as DE"
    return BusinessRule("BR-CO-09", party, "vatId", message, holds)


_LINES: Final = files(__package__).joinpath("forms.txt").read_text("utf-8").splitlines()
_OF_ONE_FORM: Final = [_make_rule(line) for line in _LINES if not line.startswith("#")]
DECIMALS: Final = tuple(rule for rule in _OF_ONE_FORM if rule.identifier.startswith("BR-DEC"))
CODES: Final = (
    _require_country_prefix("seller", "BT-31"),
    _require_country_prefix("taxRepresentative", "BT-63"),
    _require_country_prefix("buyer", "BT-48"),
    *(rule for rule in _OF_ONE_FORM if rule not in DECIMALS),
)
