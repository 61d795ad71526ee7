"""What the pieces of a table carry: the totals before, in and after a run of rows."""

from __future__ import annotations

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
        self._before: dict[int, Carried] = {0: starts_of(totals)}  # by the row they come before
        self._pieces: dict[tuple[int, int], tuple[Carried, Carried, Carried]] = {}
        self._whole = self._find_before(len(rows))

    def piece(self, first: int, end: int, page: PageValues) -> PieceValues:
        """Give the totals of the rows from `first` up to, not including, `end`."""
        known = self._pieces.get((first, end))
        if known is None:  # each head and foot of a piece asks
            before = self._find_before(first)
            here = self._add(nothing_of(self._totals), first, end)
            with localcontext(ARITHMETIC):
                after = self._before[end] = add_up(self._totals, before, here)
            known = self._pieces[first, end] = before, here, after
        return PieceValues(*known, self._whole, page)

    def stand_ins(self) -> PieceValues:
        """Give the values that heads and feet are measured with."""
        return PieceValues(self._before[0], self._whole, self._whole, self._whole, _ANY_PAGE)

    def _find_before(self, index: int) -> Carried:
        known = self._before.get(index)
        if known is None:
            nearest = max(before for before in self._before if before < index)
            known = self._add(self._before[nearest], nearest, index)
            self._before[index] = known
        return known

    def _add(self, carried: Carried, first: int, end: int) -> Carried:
        if not self._totals:
            return ()
        with localcontext(ARITHMETIC):
            for index in range(first, end):
                counted = self._rows[index].counted
                if counted:
                    carried = add_up(self._totals, carried, counted)
        return carried
