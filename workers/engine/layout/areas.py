"""Areas: the rectangles of a page that flows are poured into (language.md 1.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from workers.engine.layout.columns import ColumnsPiece, fill_columns
from workers.engine.layout.context import (
    EPSILON,
    Context,
    Misfit,
    Piece,
    Rectangle,
    Resume,
    Sheet,
    Space,
    in_mm,
)
from workers.engine.layout.display import Restore, Save
from workers.engine.layout.frames import find_crossing
from workers.engine.layout.stacks import lay_out_stack
from workers.engine.tree.nodes import Area, Block, Source
from workers.engine.tree.styles import Overflow


@dataclass(slots=True)
class BoundPiece:
    """All that is left of a flow, in an area it must not leave: too high, it is cut or an error."""

    content: ColumnsPiece
    clip: Rectangle | None
    misfit: Misfit | None
    height: float
    resume: Resume = None
    forced: str = ""
    first_baseline: float | None = None

    def draw(self, sheet: Sheet, x: float, y: float) -> None:
        """Draw what is in the area."""
        if self.misfit is not None:
            sheet.report(self.misfit)
        if self.clip is not None:
            sheet.items.append(Save(clip=self.clip))
        self.content.draw(sheet, x, y)
        if self.clip is not None:
            sheet.items.append(Restore())


def find_rectangle(area: Area | None, region: Rectangle) -> Rectangle:
    """Give an area's rectangle in the region, inside its padding; without one, the whole region.

    A side that has no offset is the region's. The result may have no room.
    """
    if area is None:
        return region
    position, padding = area.position, area.padding
    x, width = _span(
        position.left and position.left.resolve(region.width),
        position.right and position.right.resolve(region.width),
        area.width and area.width.resolve(region.width),
        region.width,
    )
    y, height = _span(
        position.top and position.top.resolve(region.height),
        position.bottom and position.bottom.resolve(region.height),
        area.height and area.height.resolve(region.height),
        region.height,
    )
    return Rectangle(
        region.x + x + padding.left,
        region.y + y + padding.top,
        width - padding.left - padding.right,
        height - padding.top - padding.bottom,
    )


def pour(
    context: Context,
    blocks: Sequence[Block],
    area: Area | None,
    rectangle: Rectangle,
    resume: Resume,
) -> Piece:
    """Fill an area with blocks, from where they go on."""
    width, height = rectangle.width, rectangle.height
    space = Space(width, height, True, height)
    if area is None:
        piece: Piece | None = lay_out_stack(context, blocks, space, resume)
    elif area.overflow is not None:
        piece = _pour_bound(context, blocks, area, area.overflow, rectangle, resume)
    elif area.columns.count == 1:
        piece = lay_out_stack(context, blocks, space, resume)
    else:
        filled = fill_columns(context, blocks, area.columns, space, resume)
        assert filled is not None
        piece = replace(filled, rule=area.rule)
    assert piece is not None
    return piece


def _pour_bound(
    context: Context,
    blocks: Sequence[Block],
    area: Area,
    overflow: Overflow,
    rectangle: Rectangle,
    resume: Resume,
) -> BoundPiece:
    space = Space(rectangle.width, rectangle.height, True, rectangle.height)
    filled = fill_columns(context, blocks, area.columns, space, resume, is_bound=True)
    assert filled is not None
    is_hidden = overflow is Overflow.HIDDEN
    misfit = None
    if filled.height > rectangle.height + EPSILON and not is_hidden:
        misfit = _too_full(context, area, filled, rectangle.height)
    content = replace(filled, rule=area.rule, height=min(filled.height, rectangle.height))
    return BoundPiece(content, rectangle if is_hidden else None, misfit, rectangle.height)


def _too_full(context: Context, area: Area, filled: ColumnsPiece, room: float) -> Misfit:
    child = find_crossing(filled.columns[-1][1], room)
    inner: tuple[Source, ...] = () if child is None else (child[0],)
    own = () if area.source is None else (area.source,)
    return Misfit(
        code="content-overflows",
        what=f'Text does not fit: the flow "{area.flow}" needs {in_mm(filled.height)}, '
        f"its area gives {in_mm(room)}",
        advice='Make the area higher, or let the flow go on with overflow="continue".',
        chain=context.chain(*inner, *own),
        excerpt="" if child is None else child[1],
    )


def _span(
    start: float | None, end: float | None, size: float | None, available: float
) -> tuple[float, float]:
    """Give where an area begins and how long it is, along one axis."""
    if size is None:
        return start or 0.0, available - (start or 0.0) - (end or 0.0)
    if start is None and end is not None:
        return available - end - size, size
    return start or 0.0, size
