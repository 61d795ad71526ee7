"""Figures that float: filling the areas of a flow, of one column or several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from workers.engine.layout.blocks.columns import ColumnsFragment, fill_columns
from workers.engine.layout.blocks.stacks import lay_out_stack
from workers.engine.layout.context import AnyBlock, Fragment, LayoutContext, Region, Resume
from workers.engine.layout.pages.balancing import balance_area
from workers.engine.layout.pages.floats.area_fill import AreaFill
from workers.engine.layout.pages.floats.placed import FloatingFragment
from workers.engine.layout.pages.floats.sections import FloatQueue
from workers.engine.layout.pages.floats.state import FloatState
from workers.engine.tree.nodes import ColumnLayout, Container


class FloatFiller:
    """Fills the areas of one flow on one page."""

    def __init__(self, state: FloatState) -> None:
        self._state = state

    @property
    def queue(self) -> FloatQueue:
        """Figures and a page break that the next area starts with."""
        return self._state.queue

    def fill(
        self, _context: LayoutContext, blocks: Sequence[AnyBlock], region: Region, resume: Resume
    ) -> Fragment | None:
        """Fill an area of one column."""
        self._state.begin()
        return self._fill_column(_context, blocks, region, resume, accepts=_accept_all)

    def fill_columns(
        self,
        blocks: Sequence[AnyBlock],
        columns: ColumnLayout,
        region: Region,
        resume: Resume,
    ) -> Fragment | None:
        """Fill an area of several columns, which figures may span."""
        self._state.begin()

        def fill(context: LayoutContext, inner: Region) -> Fragment | None:
            notes = self._state.notes
            before = None if notes is None else (notes, notes.pending)
            column = partial(self._fill_column, accepts=_accept_in_column)
            filled = fill_columns(context, blocks, columns, inner, resume, fill=column)
            if filled is None or not columns.is_balanced or not self._is_text(filled):
                return filled
            return balance_area(context, blocks, inner, resume, filled, before)

        area = AreaFill(
            self._state, blocks, region, resume, fill, _accept_spanning, spans_columns=True
        )
        return area.fill()

    def _is_text(self, filled: ColumnsFragment) -> bool:
        """Return whether no figure is in the columns or waits, though some may around them."""
        parts = (fragment for _, fragment in filled.columns)
        return not self.queue.waiting and not any(isinstance(p, FloatingFragment) for p in parts)

    def _fill_column(
        self,
        _context: LayoutContext,
        blocks: Sequence[AnyBlock],
        region: Region,
        resume: Resume,
        *,
        accepts: Callable[[Container], bool],
    ) -> Fragment | None:
        fill_text = lay_out_stack if self._state.notes is None else self._state.notes.fill

        def fill(context: LayoutContext, inner: Region) -> Fragment | None:
            return fill_text(context, blocks, inner, resume)

        return AreaFill(self._state, blocks, region, resume, fill, accepts).fill()


def _accept_all(_node: Container) -> bool:
    return True


def _accept_spanning(node: Container) -> bool:
    return node.floating is not None and node.floating.spans_columns


def _accept_in_column(node: Container) -> bool:
    return not _accept_spanning(node)
