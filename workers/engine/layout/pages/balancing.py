"""Columns of an area balanced to one height, with the notes of each at the foot of the area."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from workers.engine.layout.blocks.columns import (
    ColumnsFragment,
    FillFunction,
    balance_columns,
)
from workers.engine.layout.blocks.stacks import lay_out_stack
from workers.engine.layout.context import Fragment, Region
from workers.engine.layout.pages.footnotes import FootnoteFiller, FootnoteFragment

_PAGE_BREAKS = frozenset(("page", "left", "right"))


def fill_balanced(
    fill_all: Callable[[FillFunction, Region], ColumnsFragment | None],
    fill: FillFunction,
    region: Region,
    notes: FootnoteFiller | None,
    *,
    may_balance: Callable[[ColumnsFragment], bool] = lambda _: True,
) -> ColumnsFragment | None:
    """Fill the columns of an area; those before the end of the flow or a page break may be balanced.

    `fill_all` fills them one by one by `fill`, which adds notes by `notes`. Columns whose notes continue
    in the next area stay as they are.
    """
    before = () if notes is None else notes.pending
    filled = fill_all(fill, region)
    if filled is None or not filled.layout.is_balanced or not may_balance(filled):
        return filled
    if filled.resume is not None and filled.forced not in _PAGE_BREAKS:
        return filled
    if notes is None:

        def try_without_notes(height: float) -> ColumnsFragment | None:
            room = Region(region.width, height, is_top=False, top=region.top)
            return fill_all(lay_out_stack, room)

        return balance_columns(filled, try_without_notes)
    if notes.pending:
        return filled

    def try_height(height: float) -> ColumnsFragment | None:
        notes.pending = before
        trial = fill_all(partial(notes.fill, most=height), region._replace(is_top=False))
        return None if notes.pending else trial

    best = balance_columns(filled, try_height, _text_height)
    notes.pending = ()
    return best


def _text_height(fragment: Fragment) -> float:
    """Return the height of the text of a column, without its notes."""
    if not isinstance(fragment, FootnoteFragment):
        return fragment.height
    return 0.0 if fragment.body is None else fragment.body.height
