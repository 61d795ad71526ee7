"""Areas: the rectangles of a page that flows fill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from workers.engine.layout.blocks.boxes import lay_out_box
from workers.engine.layout.blocks.columns import ColumnsFragment, FillFunction, fill_columns
from workers.engine.layout.blocks.stacks import StackResume, lay_out_stack
from workers.engine.layout.context import Fragment, LayoutContext, Rectangle, Region, Resume
from workers.engine.layout.pages.floats.area_fill import FloatFiller, fill_balanced
from workers.engine.layout.pages.footnotes import FootnoteFiller
from workers.engine.tree.document import Area
from workers.engine.tree.nodes import Block, Container, Role
from workers.engine.tree.styles.computed import Overflow
from workers.engine.units import Length


def resolve_area(area: Area | None, page_area: Rectangle) -> Rectangle:
    """Return the rectangle of an area in the page area, inside its padding; for None the page area.

    A missing offset is that of the page area. The result may be empty or negative.
    """
    if area is None:
        return page_area
    position, padding = area.position, area.padding
    x, width = _resolve_axis(
        position.left and position.left.resolve(page_area.width),
        position.right and position.right.resolve(page_area.width),
        area.width and area.width.resolve(page_area.width),
        page_area.width,
    )
    y, height = _resolve_axis(
        position.top and position.top.resolve(page_area.height),
        position.bottom and position.bottom.resolve(page_area.height),
        area.height and area.height.resolve(page_area.height),
        page_area.height,
    )
    return Rectangle(
        page_area.x + x + padding.left,
        page_area.y + y + padding.top,
        width - padding.left - padding.right,
        height - padding.top - padding.bottom,
    )


def fill_area(
    context: LayoutContext,
    blocks: Sequence[Block],
    area: Area | None,
    rectangle: Rectangle,
    resume: Resume,
    notes: FootnoteFiller | None = None,
    floats: FloatFiller | None = None,
) -> Fragment:
    """Fill an area with blocks from a resume position.

    `notes` adds the footnotes called in it, and `floats` the figures that float.
    """
    width, height = rectangle.width, rectangle.height
    bottom = None if context.area.height == inf else height
    region = Region(width, height, True, bottom, top=0.0)
    fill: FillFunction = lay_out_stack if notes is None else notes.fill
    if floats is not None:
        fill = floats.fill
    if area is None:
        fragment: Fragment | None = fill(context, blocks, region, resume)
    elif area.overflow is not None:
        fragment = _fill_clipped(context, blocks, area, area.overflow, rectangle, resume, notes)
    elif area.columns.count == 1:
        fragment = fill(context, blocks, region, resume)
    elif floats is not None:
        fragment = floats.fill_columns(blocks, area.columns, region, resume)
    else:
        columns = area.columns

        def fill_all(fill: FillFunction, inner: Region) -> ColumnsFragment | None:
            return fill_columns(context, blocks, columns, inner, resume, fill=fill)

        fragment = fill_balanced(fill_all, fill, region, notes)
    assert fragment is not None
    return fragment


def has_room(
    context: LayoutContext, blocks: Sequence[Block], rectangle: Rectangle, resume: Resume
) -> bool:
    """Return whether the next content fits into an area at least in part, without being clipped."""
    region = Region(rectangle.width, rectangle.height, False, rectangle.height, top=0.0)
    return lay_out_stack(context, blocks, region, resume) is not None


def _fill_clipped(
    context: LayoutContext,
    blocks: Sequence[Block],
    area: Area,
    overflow: Overflow,
    rectangle: Rectangle,
    resume: Resume,
    notes: FootnoteFiller | None,
) -> Fragment | None:
    placeless = context._replace(places_floats=False)

    def fill_to(height: float) -> Fragment | None:
        inside = rectangle._replace(height=height)
        return _lay_out_clipped(placeless, blocks, area, overflow, inside, resume)

    if notes is None:
        return fill_to(rectangle.height)
    return notes.fill_clipped(fill_to, rectangle.width, rectangle.height)


def _lay_out_clipped(
    context: LayoutContext,
    blocks: Sequence[Block],
    area: Area,
    overflow: Overflow,
    rectangle: Rectangle,
    resume: Resume,
) -> Fragment | None:
    """Lay out all remaining blocks in a box as high as the area, which reports overflow.

    A block that started in an earlier area cannot shrink here.
    """
    at = resume or StackResume(0, None, False)
    if overflow is Overflow.SHRINK and at.inner is not None:
        overflow = Overflow.ERROR
    box = replace(area.style.box, height=Length(rectangle.height), overflow=overflow)
    style = replace(area.style, box=box)
    rest = tuple(blocks[at.child :])
    wrapper = Container(area.source, Role.SECT, style, rest, columns=area.columns)
    region = Region(rectangle.width, rectangle.height, True, rectangle.height, top=0.0)
    if at.inner is None:
        return context.lay_out(wrapper, region)

    def content(inner: Region, _: Resume) -> Fragment | None:
        from_here = StackResume(0, at.inner, at.is_forced)
        return fill_columns(context, rest, area.columns, inner, from_here, is_bound=True)

    return lay_out_box(context, wrapper, region, None, content)


def _resolve_axis(
    start: float | None, end: float | None, size: float | None, available: float
) -> tuple[float, float]:
    """Return the start and length of an area along one axis."""
    if size is None:
        return start or 0.0, available - (start or 0.0) - (end or 0.0)
    if start is None and end is not None:
        return available - end - size, size
    return start or 0.0, size
