"""What the pieces of a table carry: the totals before, in and after a run of rows."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from decimal import localcontext
from typing import Final

from workers.engine.tree.nodes import Carried, PageValues, PieceValues, TableRow, Total
from workers.engine.tree.runtime import ARITHMETIC
from workers.engine.tree.totals import add_up, nothing_of, starts_of

# Page values are not known while widths and heights are found (language.md 1.8, stability rule).
_ANY_PAGE: Final = PageValues(number=99, count=999, index=99, total=999, name="default")


class CarriedTotals:
    """The totals of one table, added up as far as they were asked for."""

    def __init__(self, totals: Sequence[Total], rows: Sequence[TableRow]) -> None:
        self._totals = totals
        self._rows = rows
        self._ends = [0]  # where the totals are known, in order
        self._known: list[Carried] = [starts_of(totals)]

    def piece(self, first: int, end: int, page: PageValues) -> PieceValues:
        """Give the totals of the rows from `first` up to, not including, `end`."""
        before, after = self._before(first), self._before(end)
        here = self._add(nothing_of(self._totals), first, end)
        return PieceValues(before, here, after, self._before(len(self._rows)), page)

    def stand_ins(self) -> PieceValues:
        """Give the values that heads and feet are measured with."""
        whole = self._before(len(self._rows))
        return PieceValues(self._known[0], whole, whole, whole, _ANY_PAGE)

    def _before(self, end: int) -> Carried:
        at = bisect_right(self._ends, end) - 1
        if self._ends[at] != end:
            carried = self._add(self._known[at], self._ends[at], end)
            at += 1
            self._ends.insert(at, end)
            self._known.insert(at, carried)
        return self._known[at]

    def _add(self, carried: Carried, first: int, end: int) -> Carried:
        if not self._totals:
            return ()
        with localcontext(ARITHMETIC):
            for index in range(first, end):
                counted = self._rows[index].counted
                if counted:
                    carried = add_up(self._totals, carried, counted)
        return carried
