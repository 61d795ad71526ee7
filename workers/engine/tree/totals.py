"""Carried totals of a table: declared by `total`, added up while its rows are built (language.md 1.8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from operator import add
from typing import Any, Final

from workers.engine.syntax.nodes import Element
from workers.engine.tree.compiler import Context
from workers.engine.tree.grammar import TOTALS
from workers.engine.tree.nodes import Carried, PieceValues, Total, TotalMode, where_in_loops
from workers.engine.tree.run import LOOP, RUN, Evaluation
from workers.engine.tree.runtime import FAILURES, ONE, ZERO, Scope, describe

IN_ROWS: Final = frozenset({"running"})
IN_PIECES: Final = frozenset({"before", "here", "after", "all"})

# While the rows of a table are built, the scope leads to what they add up to.
LEDGER: Final = "#ledger"

_FROM_ZERO: Final = frozenset({TotalMode.SUM, TotalMode.COUNT})


def add_up(totals: Sequence[Total], carried: Carried, counted: Carried) -> Carried:
    """Add what a row counts to what was carried so far; numbers are exact."""
    return tuple(
        [
            have if value is None else value if have is None else _ADD[total.mode](have, value)
            for total, have, value in zip(totals, carried, counted, strict=True)
        ]
    )


_ADD: Final[Mapping[TotalMode, Callable[[Decimal, Decimal], Decimal]]] = {
    TotalMode.SUM: add,
    TotalMode.COUNT: add,
    TotalMode.LAST: lambda _, value: value,
    TotalMode.MIN: min,
    TotalMode.MAX: max,
}


def declares_totals(root: Element) -> bool:
    """Tell whether a table of the document has a total."""
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if element.tag == "total":
            return True
        waiting += element.elements()
    return False


def starts_of(totals: Sequence[Total]) -> Carried:
    """Give what is carried before the first row."""
    return tuple(total.start for total in totals)


def nothing_of(totals: Sequence[Total]) -> Carried:
    """Give what a piece has counted before its first row, whatever was carried into it."""
    return tuple(ZERO if total.mode in _FROM_ZERO else None for total in totals)


class TotalsCompiler:
    """Compiles the `total`s of one table: their starts in its scope, their values in each row's."""

    def __init__(self, element: Element, context: Context) -> None:
        self.elements = [child for child in element.elements() if child.tag == "total"]
        self.names = [total.attributes.get("name", "") for total in self.elements]
        self.has_counted_rows = False
        self._modes = [TotalMode(context.value(total, "mode")) for total in self.elements]
        self._starts = [
            _number(context, total, total.attributes["start"])
            if "start" in total.attributes
            else None
            for total in self.elements
        ]
        self._check(context)

    def known_in(self, context: Context, members: frozenset[str]) -> Mapping[str, frozenset[str]]:
        """Give the totals known in a part of the table: its own beside those around it."""
        return {**context.totals, **dict.fromkeys(self.names, members)}

    def count(self, context: Context) -> list[Evaluation] | None:
        """Compile what a row counts, where its names are known; None if nothing is to be counted."""
        if not self.elements:
            return None
        self.has_counted_rows = True
        return [
            _number(context, total, total.attributes.get("value", "1")) for total in self.elements
        ]

    def finish(self, context: Context) -> None:
        """Make the totals known after the table; tell those that no row counts for."""
        context.summed.update(self.names)
        if self.elements and not self.has_counted_rows:
            context.findings.error(
                "total-without-rows",
                f'No row counts for the total "{self.names[0]}": rows count that carry for, '
                'and those with count="true"',
                self.elements[0].place,
            )

    def open(self, scope: Scope) -> Ledger | None:
        """Begin adding up, at the starts of this table."""
        if not self.elements:
            return None
        totals = []
        for name, mode, start, element in zip(
            self.names, self._modes, self._starts, self.elements, strict=True
        ):
            first = ZERO if mode in _FROM_ZERO else None
            if start is not None:
                first = start.evaluate(scope)
                if not isinstance(first, Decimal):
                    _tell(scope, element, f'The start of the total "{name}"', first)
                    first = ZERO
            totals.append(Total(name, mode, first))
        return Ledger(tuple(totals), self.elements, scope)

    def _check(self, context: Context) -> None:
        for element, mode in zip(self.elements, self._modes, strict=True):
            if mode is not TotalMode.COUNT and "value" not in element.attributes:
                context.findings.error(
                    "missing-attribute",
                    f'`total` has no `value`, which mode="{mode}" needs: an expression over a row',
                    element.place,
                )
        for position, name in enumerate(self.names):
            if name in self.names[:position]:
                context.findings.error(
                    "duplicate-key",
                    f'The total "{name}" is declared twice in this table',
                    self.elements[position].place,
                )


class Ledger:
    """What the rows of one table, built one after the other, add up to."""

    __slots__ = ("_elements", "_is_past_bounds", "_outer", "_told", "carried", "totals")

    def __init__(
        self, totals: tuple[Total, ...], elements: Sequence[Element], scope: Scope
    ) -> None:
        self.totals = totals
        self.carried = starts_of(totals)
        self._elements = elements
        self._outer: Mapping[str, Any] = scope[TOTALS]
        self._told: set[int] = set()  # of a loop's turns the first is told
        self._is_past_bounds = False

    def count(self, values: Iterable[Evaluation], scope: Scope) -> Carried:
        """Evaluate what a row counts and add it; gives what it counted."""
        counted = tuple(
            [
                self._read(position, value.evaluate(scope), scope)
                for position, value in enumerate(values)
            ]
        )
        try:
            self.carried = add_up(self.totals, self.carried, counted)
        except FAILURES:
            self.carried = starts_of(self.totals)
            self._tell_bounds(scope)
        return counted

    def running(self) -> dict[str, Any]:
        """Give what `totals` reads in the row just counted."""
        own = {
            total.name: {"running": value}
            for total, value in zip(self.totals, self.carried, strict=True)
        }
        return {**self._outer, **own}

    def close(self, scope: Scope) -> None:
        """Make the whole table's totals readable after it."""
        for total, value in zip(self.totals, self.carried, strict=True):
            scope[RUN].totals[total.name] = {"all": value}

    def _tell_bounds(self, scope: Scope) -> None:
        if not self._is_past_bounds:
            scope[RUN].findings.error(
                "total",
                f"The totals grow too large to be exact{where_in_loops(scope[LOOP])}",
                self._elements[0].place,
            )
        self._is_past_bounds = True

    def _read(self, position: int, value: Any, scope: Scope) -> Decimal | None:
        total, element = self.totals[position], self._elements[position]
        if total.mode is TotalMode.COUNT:
            return ONE if value else ZERO
        if isinstance(value, Decimal) or (value is None and total.mode is not TotalMode.SUM):
            return value
        if position not in self._told:
            self._told.add(position)
            _tell(scope, element, f'The total "{total.name}"', value)
        return ZERO


def piece_record(totals: Sequence[Total], values: PieceValues) -> dict[str, Any]:
    """Give what `totals` reads in a head or foot of one piece."""
    return {
        total.name: {"before": before, "here": here, "after": after, "all": whole}
        for total, before, here, after, whole in zip(
            totals, values.before, values.here, values.after, values.whole, strict=True
        )
    }


def _number(context: Context, total: Element, text: str) -> Evaluation:
    """Compile an expression for a number; one that fails is told, and counts as nothing."""
    evaluation = context.expression(text, total.place)
    evaluation.otherwise = ZERO
    return evaluation


def _tell(scope: Scope, element: Element, what: str, value: Any) -> None:
    hint = "; write (name or 0) where a value may be empty" if value is None else ""
    scope[RUN].findings.error(
        "total",
        f"{what} needs a number, not {describe(value)}{hint}{where_in_loops(scope[LOOP])}",
        element.place,
    )
