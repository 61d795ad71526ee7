"""Columns of an area balanced to one height, with the notes of each at the foot of the area."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from workers.engine.layout.blocks.columns import ColumnsFragment, balance_columns, fill_columns
from workers.engine.layout.blocks.stacks import lay_out_stack
from workers.engine.layout.context import AnyBlock, Fragment, LayoutContext, Region, Resume
from workers.engine.layout.pages.footnotes import FootnoteFiller, FootnoteFragment, PendingNote

_PAGE_BREAKS = frozenset(("page", "left", "right"))


def balance_area(
    context: LayoutContext,
    blocks: Sequence[AnyBlock],
    region: Region,
    resume: Resume,
    filled: ColumnsFragment,
    notes: tuple[FootnoteFiller, tuple[PendingNote, ...]] | None,
) -> ColumnsFragment:
    """Return the filled columns balanced, if the flow ends in them or a page break follows.

    `notes` fills columns with footnotes, and has those that were pending before. Columns whose notes
    continue in the next area stay as they are.
    """
    columns = filled.layout
    if filled.resume is not None and filled.forced not in _PAGE_BREAKS:
        return filled
    if notes is None:

        def try_without_notes(height: float) -> ColumnsFragment | None:
            room = Region(region.width, height, is_top=False, top=region.top)
            return fill_columns(context, blocks, columns, room, resume, fill=lay_out_stack)

        return balance_columns(filled, try_without_notes)
    filler, before = notes
    if filler.pending:
        return filled

    def try_height(height: float) -> ColumnsFragment | None:
        filler.pending = before
        room = region._replace(is_top=False)
        fill = partial(filler.fill, most=height)
        trial = fill_columns(context, blocks, columns, room, resume, fill=fill)
        return None if filler.pending else trial

    best = balance_columns(filled, try_height, _text_height)
    filler.pending = ()
    return best


def _text_height(fragment: Fragment) -> float:
    """Return the height of the text of a column, without its notes."""
    if not isinstance(fragment, FootnoteFragment):
        return fragment.height
    return 0.0 if fragment.body is None else fragment.body.height
