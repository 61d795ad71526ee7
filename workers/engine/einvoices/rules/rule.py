"""The type of business rules, and the sums that they share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from functools import cached_property
from typing import Any, Final

from workers.engine.einvoices.findings import Severity
from workers.engine.einvoices.mapping import Record
from workers.engine.einvoices.terms import Level

ZERO: Final = Decimal(0)
CENT: Final = Decimal("0.01")
_HALF: Final = Decimal("0.005")


@dataclass(frozen=True)
class InvoiceRecord:
    """The record of an invoice with cached sums and its syntax, the input of rules."""

    record: Record
    syntax: str

    def group(self, name: str) -> Record:
        """Return a group of the invoice, empty if it is absent."""
        found: Record = self.record.get(name) or {}
        return found

    def entries(self, name: str) -> list[Record]:
        """Return a list of the invoice, empty if it is absent."""
        found: list[Record] = self.record.get(name) or []
        return found

    def has(self, group: str, *names: str) -> bool:
        """Return whether a group has at least one of some members."""
        return any(self.group(group).get(name) is not None for name in names)

    def total(self, name: str, member: str) -> Decimal:
        """Return the sum of a member over a list."""
        return sum((entry.get(member, ZERO) for entry in self.entries(name)), ZERO)

    @cached_property
    def _amounts(self) -> dict[tuple[str, Decimal | None], list[Decimal]]:
        """The amounts by VAT category and rate, and by category alone: those of allowances are negative."""
        amounts: dict[tuple[str, Decimal | None], list[Decimal]] = {}
        signs = (("lines", "netAmount", 1), ("charges", "amount", 1), ("allowances", "amount", -1))
        for name, member, sign in signs:
            for entry in self.entries(name):
                category, rate = entry.get("vatCategory", ""), entry.get("vatRate")
                for key in {(category, rate), (category, None)}:
                    amounts.setdefault(key, []).append(sign * entry.get(member, ZERO))
        return amounts

    @cached_property
    def _taxable(self) -> dict[tuple[str, Decimal | None], Decimal]:
        return {key: sum(amounts, ZERO) for key, amounts in self._amounts.items()}

    def taxable(self, category: str, rate: Decimal | None = None) -> Decimal:
        """Return the taxable amount of a category, at all rates or at one."""
        return self._taxable.get((category, rate), ZERO)

    def count_taxable(self, category: str, rate: Decimal | None = None) -> int:
        """Return the number of amounts that `taxable` adds up."""
        return len(self._amounts.get((category, rate), ()))

    @cached_property
    def categories(self) -> frozenset[str]:
        """The VAT categories of lines, allowances and charges."""
        return frozenset(category for category, _ in self._amounts)


Condition = Callable[[Record, InvoiceRecord], bool]
ExpectedValue = Callable[[Record, InvoiceRecord], Decimal | None]
Tolerance = Callable[[InvoiceRecord], Decimal]


@dataclass(frozen=True, slots=True)
class BusinessRule:
    """A rule, checked for each record of its scope and reported at a member.

    `scope` is a path of groups, such as `lines.allowances`, empty for the invoice. Profiles below
    `level` do not have the rule. It has either a condition, or the `expected` value of the member,
    which is None if it cannot be computed.
    """

    identifier: str
    scope: str
    member: str
    message: str
    holds: Condition | None = None
    expected: ExpectedValue | None = None
    tolerance: Tolerance | None = None  # of the expected value, none without
    level: Level = Level.MINIMUM
    is_in_extended: bool = True  # EXTENDED relaxes some rules (Factur-X 1.0)
    severity: Severity = "error"  # as in the official files of the rule

    def check(self, entry: Record, invoice: InvoiceRecord) -> str | None:
        """Return the message for a record that violates the rule, None otherwise."""
        if self.holds is not None:
            return None if self.holds(entry, invoice) else self.message
        assert self.expected is not None
        expected = self.expected(entry, invoice)
        stated = find_member(entry, self.member)
        if expected is None:
            return None
        tolerance = ZERO if self.tolerance is None else self.tolerance(invoice)
        if stated is not None and abs(stated - expected) <= tolerance:
            return None
        shown = "nothing" if stated is None else f"{stated:f}"
        return f"{self.message}: stated {shown}, expected {expected:f}"


def find_member(entry: object, path: str) -> Any:
    """Return a member by its dotted path, None if it is absent."""
    for step in path.split("."):
        if not isinstance(entry, dict):
            return None
        entry = entry.get(step)
    return entry


def to_cents(amount: Decimal) -> Decimal:
    """Round to two decimals, half towards positive infinity, as XPath does."""
    return (amount + _HALF).quantize(CENT, ROUND_FLOOR)


def require_member(
    scope: str, member: str, identifier: str, message: str, **more: Any
) -> BusinessRule:
    """Return the rule that requires a member."""

    def holds(entry: Record, _: InvoiceRecord) -> bool:
        return find_member(entry, member) is not None

    return BusinessRule(identifier, scope, member, message, holds, **more)
