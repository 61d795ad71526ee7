"""Columns: a stack of blocks that goes on from one column to the next.

A stack fills its columns one after the other. A balanced one is asked again at smaller and smaller
heights, until it just fits: what is drawn then is as high as its tallest column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Final

from workers.engine.layout.context import (
    EPSILON,
    AnyBlock,
    Context,
    Misfit,
    Piece,
    Resume,
    Sheet,
    Space,
)
from workers.engine.layout.frames import draw_border
from workers.engine.layout.stacks import lay_out_stack
from workers.engine.tree.nodes import Columns, Source

# A search for the height at which columns balance ends when it is this near, in points.
_NEAR: Final = 0.5
_MAX_TRIALS: Final = 16


@dataclass(slots=True)
class ColumnsPiece:
    """Columns side by side, each with its distance from the left."""

    look: Columns
    columns: list[tuple[float, Piece]]
    height: float
    resume: Resume
    forced: str = ""
    misfit: Misfit | None = None

    @property
    def first_baseline(self) -> float | None:
        """Give the distance down to the first baseline of the first column."""
        return self.columns[0][1].first_baseline

    def draw(self, sheet: Sheet, x: float, y: float) -> None:
        """Draw the columns, and a rule left of every one but the leftmost."""
        if self.misfit is not None:
            sheet.report(self.misfit)
        leftmost = min(offset for offset, _ in self.columns)
        for offset, piece in self.columns:
            if offset > leftmost and self.look.rule.width:
                middle = x + offset - self.look.gap / 2
                draw_border(
                    sheet.items, self.look.rule, (middle, y), (middle, y + self.height), None
                )
            piece.draw(sheet, x + offset, y)


def lay_out_columns(
    context: Context,
    source: Source,
    blocks: Sequence[AnyBlock],
    columns: Columns,
    space: Space,
    resume: Resume,
    *,
    is_through: bool = False,
) -> ColumnsPiece | None:
    """Lay out blocks in the columns of one element; columns inside it are an error.

    `is_through` is as in `lay_out_stack`, for the first column.
    """
    if context.is_in_columns:  # each depth would search for heights within the search above it
        piece = lay_out_stack(context, blocks, space, resume, is_through=is_through)
        if piece is None:
            return None
        whole = ColumnsPiece(columns, [(0.0, piece)], piece.height, piece.resume, piece.forced)
        return replace(whole, misfit=_refuse_nested(context, source))
    context.is_in_columns = True
    try:
        if space.height == inf and space.foot is not None and not columns.is_balanced:
            given = Space(space.width, space.foot, True, space.foot)
            return fill_columns(context, blocks, columns, given, resume, is_bound=True)
        filled = fill_columns(context, blocks, columns, space, resume, is_through=is_through)
        if filled is None or filled.resume is not None:
            return filled
        if not columns.is_balanced and space.height != inf:
            return filled
        return _balance(context, blocks, columns, space, resume, filled, is_through)
    finally:
        context.is_in_columns = False


def fill_columns(
    context: Context,
    blocks: Sequence[AnyBlock],
    columns: Columns,
    space: Space,
    resume: Resume,
    *,
    is_bound: bool = False,
    is_through: bool = False,
) -> ColumnsPiece | None:
    """Fill columns one after the other; None when nothing stands in the first.

    Bound content has no other place to go: the last column takes all that is left.
    """
    width = max((space.width - columns.gap * (columns.count - 1)) / columns.count, 1.0)
    filled: list[tuple[float, Piece]] = []
    at, forced = resume, ""
    foot = space.foot if columns.count == 1 else None
    for number in range(columns.count):
        is_rest = is_bound and number == columns.count - 1
        given = Space(width, inf if is_rest else space.height, space.is_top, foot)
        piece = lay_out_stack(context, blocks, given, at, is_through=is_through)
        if piece is None:
            forced = ""
            break
        offset = number * (width + columns.gap)
        filled.append((space.width - width - offset if columns.is_rtl else offset, piece))
        at, forced = piece.resume, piece.forced
        if at is None or (forced not in ("", "column") and not is_bound):
            break
    if not filled:
        return None
    height = max(piece.height for _, piece in filled)
    return ColumnsPiece(columns, filled, height, at, forced)


def _balance(
    context: Context,
    blocks: Sequence[AnyBlock],
    columns: Columns,
    space: Space,
    resume: Resume,
    filled: ColumnsPiece,
    is_through: bool,
) -> ColumnsPiece:
    """Find the least height at which everything fits; `filled` does, at the greatest."""
    best, high = filled, filled.height
    low = sum(piece.height for _, piece in filled.columns) / columns.count - _NEAR
    for _ in range(_MAX_TRIALS):
        if high - low <= _NEAR:
            break
        middle = (low + high) / 2
        room = Space(space.width, middle, is_top=False)
        trial = fill_columns(context, blocks, columns, room, resume, is_through=is_through)
        if trial is None or trial.resume is not None or trial.height > middle + EPSILON:
            low = middle
        else:
            best, high = trial, min(trial.height, middle)
    return best


def _refuse_nested(context: Context, source: Source) -> Misfit:
    return Misfit(
        code="nested-columns",
        what=f"The columns of `{source.place.tag_name}` stand inside other columns",
        advice="Use a row or a table inside columns, or end the outer ones before.",
        chain=context.chain(source),
    )
