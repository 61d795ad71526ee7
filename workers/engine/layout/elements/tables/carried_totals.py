"""Carried totals: the totals before, in and after the rows of each fragment of a table."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import localcontext
from typing import Final

from workers.engine.tree.elements.tables.totals import (
    add_all,
    initial_values,
    zero_values,
)
from workers.engine.tree.expressions.runtime import ARITHMETIC
from workers.engine.tree.nodes import TableRow
from workers.engine.tree.page_values import FragmentValues, PageValues, Total, TotalValues

# Page values are unknown while widths and heights are measured (the stability rule of page references).
_PLACEHOLDER_PAGE: Final = PageValues(number=99, count=999, index=99, total=999, name="default")


class CarriedTotals:
    """The totals of one table, computed on demand."""

    def __init__(self, totals: Sequence[Total], rows: Sequence[TableRow]) -> None:
        self._totals = totals
        self._rows = rows
        # By the index of the next row.
        self._before: dict[int, TotalValues] = {0: initial_values(totals)}
        self._by_rows: dict[tuple[int, int], tuple[TotalValues, TotalValues, TotalValues]] = {}
        self._whole = self._find_before(len(rows))

    def fragment_values(self, first: int, end: int, page: PageValues) -> FragmentValues:
        """Return the totals for the rows from `first` up to, not including, `end`."""
        known = self._by_rows.get((first, end))
        if known is None:  # each head and foot of a fragment needs them
            before = self._find_before(first)
            here = self._add(zero_values(self._totals), first, end)
            with localcontext(ARITHMETIC):
                after = self._before[end] = add_all(self._totals, before, [here])
            known = self._by_rows[first, end] = before, here, after
        return FragmentValues(*known, self._whole, page)

    def placeholder_values(self) -> FragmentValues:
        """Return the values with which heads and feet are measured."""
        return FragmentValues(
            self._before[0], self._whole, self._whole, self._whole, _PLACEHOLDER_PAGE
        )

    def _find_before(self, index: int) -> TotalValues:
        known = self._before.get(index)
        if known is None:
            nearest = max(before for before in self._before if before < index)
            known = self._before[index] = self._add(self._before[nearest], nearest, index)
        return known

    def _add(self, carried: TotalValues, first: int, end: int) -> TotalValues:
        if not self._totals:
            return ()
        counted = [row.contributions for row in self._rows[first:end]]
        with localcontext(ARITHMETIC):
            return add_all(self._totals, carried, counted)
