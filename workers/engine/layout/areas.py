"""Areas: the rectangles of a page that flows are poured into (language.md 1.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workers.engine.layout.columns import fill_columns
from workers.engine.layout.context import Context, Piece, Rectangle, Resume, Space
from workers.engine.layout.frames import lay_out_framed
from workers.engine.layout.stacks import StackResume, lay_out_stack
from workers.engine.tree.nodes import Area, Block, Container, Role
from workers.engine.tree.styles import Overflow
from workers.engine.units import Length


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
        piece = fill_columns(context, blocks, area.columns, space, resume)
    assert piece is not None
    return piece


def takes(context: Context, blocks: Sequence[Block], rectangle: Rectangle, resume: Resume) -> bool:
    """Tell whether anything of what goes on stands in an area, without being cut off or told."""
    space = Space(rectangle.width, rectangle.height, False, rectangle.height)
    return lay_out_stack(context, blocks, space, resume) is not None


def _pour_bound(
    context: Context,
    blocks: Sequence[Block],
    area: Area,
    overflow: Overflow,
    rectangle: Rectangle,
    resume: Resume,
) -> Piece | None:
    """Lay out all that is left in a box as high as the area, which tells what does not fit.

    A block that began in an area before cannot get smaller here.
    """
    at = resume or StackResume(0, None, False)
    if overflow is Overflow.SHRINK and at.inner is not None:
        overflow = Overflow.ERROR
    box = replace(area.style.box, height=Length(rectangle.height), overflow=overflow)
    style = replace(area.style, box=box)
    rest = tuple(blocks[at.child :])
    holder = Container(area.source, Role.SECT, style, rest, columns=area.columns)
    space = Space(rectangle.width, rectangle.height, True, rectangle.height)
    if at.inner is None:
        return context.lay_out(holder, space)

    def content(inner: Space, _: Resume) -> Piece | None:
        from_here = StackResume(0, at.inner, at.is_forced)
        return fill_columns(context, rest, area.columns, inner, from_here, is_bound=True)

    return lay_out_framed(context, holder, space, None, content)


def _span(
    start: float | None, end: float | None, size: float | None, available: float
) -> tuple[float, float]:
    """Give where an area begins and how long it is, along one axis."""
    if size is None:
        return start or 0.0, available - (start or 0.0) - (end or 0.0)
    if start is None and end is not None:
        return available - end - size, size
    return start or 0.0, size
