"""The box model: computing the used size of a box, laying out its content and drawing it.

Widths and heights are those of the border box. A fragmented box is open at the break: it has
neither border nor padding there, and its background extends to the edge (CSS Fragmentation 3, 5.4,
`slice`). A box of fixed height is never fragmented.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Final, Protocol

from workers.engine.layout import display
from workers.engine.layout.blocks.shrinking import lay_out_shrunk
from workers.engine.layout.context import (
    EPSILON,
    ContentProblem,
    Fragment,
    LayoutContext,
    LayoutFunction,
    LayoutProblem,
    MeasureFunction,
    PageCanvas,
    Rectangle,
    Region,
    Resume,
    describe_element,
    format_mm,
    plain_text,
)
from workers.engine.layout.pictures import find_picture
from workers.engine.layout.references import PageReferences
from workers.engine.tree.expressions.running_text import remove_isolates
from workers.engine.tree.memo import Kind
from workers.engine.tree.nodes import Container, Paragraph, Source, SourceNode
from workers.engine.tree.styles.computed import BoxStyle, Overflow, Style
from workers.engine.units import Border, BorderStyle, LengthKind, Sides

_HEADINGS: Final = {f"H{level}": level for level in range(1, 7)}


@dataclass(frozen=True, slots=True)
class UsedBox:
    """A box style resolved for one containing width, in points; insets are border plus padding."""

    box: BoxStyle
    x: float  # of the border box, from the containing block's left edge
    width: float
    insets: Sides[float]
    height: float | None
    min_height: float
    max_height: float | None
    is_plain: bool  # the box has no effect on its content

    @property
    def content_width(self) -> float:
        """The width of the content box, in points."""
        return max(self.width - self.insets.left - self.insets.right, 0.0)


_USED_BOXES: Final[Kind[tuple[int, float, bool], UsedBox]] = Kind()


def resolve_box(context: LayoutContext, box: BoxStyle, region: Region) -> UsedBox:
    """Return the used box of a style in a region, remembered by style and width."""
    width, has_fixed_width = region.width, region.has_fixed_width
    key = id(box), width, has_fixed_width
    return context.memo.template.remember(
        _USED_BOXES, key, lambda: _compute_box(box, region), holds=box
    )


def lay_out_box(
    content: LayoutFunction, context: LayoutContext, node: BoxNode, region: Region, resume: Resume
) -> Fragment | None:
    """Lay out a node's content in its box; None when nothing of it fits into `region`."""
    box = node.style.box
    if box.overflow is Overflow.SHRINK:
        return lay_out_shrunk(context, node, region, resume)
    used_box = resolve_box(context, box, region)
    outline = _outline_of(node, context.references)
    is_target = node.id is not None or outline is not None
    if used_box.is_plain and not is_target and not _is_containing_block(node):
        return content(context, node, region, resume)
    fragment = _lay_out_in_box(content, context, node, used_box, region, resume)
    if fragment is not None:
        fragment.outline = outline
        set_background_image(context, fragment)
    return fragment


def set_background_image(context: LayoutContext, fragment: BoxFragment) -> None:
    """Load the background image of a box; failure is a problem of the box."""
    named = fragment.used_box.box.background_image
    if named is None:
        return
    image = find_picture(context, named, fragment.node.source)
    if not isinstance(image, ContentProblem):
        fragment.backdrop = image
    elif fragment.problem is None:
        fragment.problem = LayoutProblem(
            code=image.code,
            message=f"{image.text}, for the background of `{fragment.node.source.location.tag_name}`",
            advice=image.advice,
            chain=context.chain(fragment.node.source),
        )


class BoxNode(SourceNode, Protocol):
    """A node that generates a box."""

    @property
    def style(self) -> Style:
        """The style of the node."""

    @property
    def id(self) -> str | None:
        """The name of its destination, None for none."""


@dataclass(slots=True)
class BoxFragment:
    """A fragment of a box with its content; `outline` is the entry of a heading."""

    node: BoxNode
    used_box: UsedBox
    content: Fragment
    height: float
    resume: Resume
    is_start: bool
    outline: str | None = None
    problem: LayoutProblem | None = None
    backdrop: display.Drawable | None = None

    @property
    def forced(self) -> str:
        """The forced break that ended the fragment, empty for none."""
        return self.content.forced

    @property
    def first_baseline(self) -> float | None:
        """The distance from the top to the first baseline, in points, None without text."""
        baseline = self.content.first_baseline
        return None if baseline is None else baseline + self._top

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the box and its content."""
        used_box, box = self.used_box, self.used_box.box
        x += used_box.x
        if self.is_start and not canvas.is_artifact:
            self._add_destination(canvas, x, y)
        canvas.report(self.problem)
        turned = box.rotate % 360
        if turned or box.opacity < 1:
            centre = (turned, x + used_box.width / 2, y + self.height / 2) if turned else None
            canvas.items.append(display.Save(rotate=centre, opacity=box.opacity))
        if not canvas.is_dry_run:
            self._draw_box(canvas, x, y)
        before = canvas.containing_block, canvas.is_rotated
        canvas.is_rotated = canvas.is_rotated or bool(turned)
        if _is_containing_block(self.node):
            canvas.containing_block = self._padding_box(x, y)
        self._draw_content(canvas, x, y)
        canvas.containing_block, canvas.is_rotated = before
        if turned or box.opacity < 1:
            canvas.items.append(display.Restore())

    def _add_destination(self, canvas: PageCanvas, x: float, y: float) -> None:
        node = self.node
        if node.id is not None:
            canvas.add_anchor(node.id, x, y)
        if self.outline is not None and isinstance(node, Paragraph):
            owner = None if canvas.structure is None else canvas.structure.current
            level, page = _HEADINGS.get(node.role.value, 1), canvas.index - 1
            canvas.outline.append(display.OutlineEntry(level, self.outline, page, y, owner))

    def _draw_box(self, canvas: PageCanvas, x: float, y: float) -> None:
        area = (x, y, self.used_box.width, self.height)
        draw_box(
            canvas.items,
            self.used_box.box,
            area,
            canvas.add_box(self.node, area),
            is_start=self.is_start,
            is_end=self.resume is None,
            backdrop=self.backdrop,
        )

    def _draw_content(self, canvas: PageCanvas, x: float, y: float) -> None:
        used_box, box = self.used_box, self.used_box.box
        is_clipped = box.overflow is Overflow.HIDDEN
        outside, canvas.overflow = canvas.overflow, _inherited_overflow(used_box, canvas.overflow)
        if is_clipped:
            canvas.items.append(display.Save(clip=self._padding_box(x, y)))
        self.content.draw(canvas, x + used_box.insets.left, y + self._top)
        canvas.overflow = outside
        if is_clipped:
            canvas.items.append(display.Restore())

    def _padding_box(self, x: float, y: float) -> Rectangle:
        border = self.used_box.box.border
        return Rectangle(
            x + border.left.width,
            y + border.top.width,
            self.used_box.width - border.left.width - border.right.width,
            self.height - border.top.width - border.bottom.width,
        )

    def find_overflow(self, room: float) -> tuple[Source, str] | None:
        """Return the first block in the content that reaches below a height."""
        return self.content.find_overflow(room - self._top)

    def truncate(self, room: float, *, is_cut: bool = False) -> BoxFragment | None:
        """Return the box with truncated content; a box of fixed height fits as a whole or not at all."""
        insets = self.used_box.insets
        inner = min(room, self.height) - self._top - insets.bottom
        content = self.content.truncate(inner, is_cut=is_cut)
        is_limited = self.used_box.height is not None or self.used_box.max_height is not None
        if content is None or (is_limited and self.height > room + EPSILON):
            return None
        height = self.height if is_limited else content.height + self._top + insets.bottom
        return replace(self, content=content, height=max(height, self.used_box.min_height))

    @property
    def _top(self) -> float:
        return self.used_box.insets.top if self.is_start else 0.0


def with_own_width(used_box: UsedBox, width: float, region: Region) -> UsedBox:
    """Return a used box with the content's own width, for images and other replaced elements."""
    margin = used_box.box.margin
    left, right = (side.resolve(region.width) or 0.0 for side in (margin.left, margin.right))
    rest = region.width - width - left - right
    if rest > 0 and margin.left.kind is LengthKind.AUTO:
        left += rest / 2 if margin.right.kind is LengthKind.AUTO else rest
    return replace(used_box, x=left, width=width)


def _outline_of(node: BoxNode, references: PageReferences | None) -> str | None:
    """Return the outline entry of a heading with its references resolved, None for other blocks."""
    if not isinstance(node, Paragraph) or node.outline is None:
        return None
    if references is None or node.extra is None or not node.extra.has_references:
        return node.outline
    number = "" if node.extra.label is None else f"{node.extra.label.text} "
    text = remove_isolates(plain_text(references.resolve(node.inlines)))
    return " ".join(f"{number}{text}".split())


def side_edges(box: BoxStyle) -> float:
    """Return the width of the borders and padding at both sides of a box, in points."""
    border, padding = box.border, box.padding
    return border.left.width + padding.left + border.right.width + padding.right


def outer_widths(box: BoxStyle, min_content: float, max_content: float) -> tuple[float, float]:
    """Return the min-content and max-content outer widths of a box from those of its content, in points."""
    stated = box.width.resolve(0.0) if box.width.kind is LengthKind.POINTS else None
    edges = side_edges(box)
    margins = (box.margin.left.resolve(0.0) or 0.0) + (box.margin.right.resolve(0.0) or 0.0)
    least = (box.min_width.resolve(0.0) or 0.0) + margins
    if stated is not None:
        return max(stated + margins, least), max(stated + margins, least)
    return max(min_content + edges + margins, least), max(max_content + edges + margins, least)


def measure_box(
    measure: MeasureFunction, context: LayoutContext, node: BoxNode
) -> tuple[float, float]:
    """Return the min-content and max-content outer widths of a node from the measure of its content."""
    return outer_widths(node.style.box, *measure(context, node))


def draw_box(
    items: list[display.Item],
    box: BoxStyle,
    rectangle: tuple[float, float, float, float],
    owner: display.Owner,
    *,
    is_start: bool = True,
    is_end: bool = True,
    backdrop: display.Drawable | None = None,
) -> None:
    """Draw the backgrounds and borders of a box; an edge at a break has no border."""
    x, y, width, height = rectangle
    radius = min(box.radius, width / 2, height / 2)
    if box.background is not None:
        items.append(display.Fill(x, y, width, height, box.background, owner, radius))
    if backdrop is not None:
        items.append(display.Picture(x, y, width, height, backdrop, None))
    top, right, bottom, left = box.border
    if top is right is bottom is left and top.style is BorderStyle.NONE:
        return
    is_whole = is_start and is_end
    if is_whole and top == right == bottom == left and top.style is not BorderStyle.DOUBLE:
        if top.width and top.style is not BorderStyle.NONE:
            half = top.width / 2
            items.append(
                display.StrokedRectangle(
                    x + half,
                    y + half,
                    width - top.width,
                    height - top.width,
                    top.width,
                    top.color,
                    owner,
                    max(radius - half, 0.0),
                    dash_pattern(top),
                )
            )
        return
    if is_start:
        draw_border(items, top, (x, y + top.width / 2), (x + width, y + top.width / 2), owner)
    if is_end:
        edge = y + height - bottom.width / 2
        draw_border(items, bottom, (x, edge), (x + width, edge), owner)
    draw_border(items, left, (x + left.width / 2, y), (x + left.width / 2, y + height), owner)
    edge = x + width - right.width / 2
    draw_border(items, right, (edge, y), (edge, y + height), owner)


def draw_border(
    items: list[display.Item],
    border: Border,
    start: tuple[float, float],
    end: tuple[float, float],
    owner: display.Owner,
) -> None:
    """Draw a straight border centred on the line from `start` to `end`."""
    if not border.width or border.style is BorderStyle.NONE:
        return
    if border.style is not BorderStyle.DOUBLE:
        items.append(
            display.Stroke(*start, *end, border.width, border.color, owner, dash_pattern(border))
        )
        return
    third = border.width / 3
    across = (0.0, third) if start[1] == end[1] else (third, 0.0)
    for side in (-1, 1):
        dx, dy = across[0] * side, across[1] * side
        items.append(
            display.Stroke(
                start[0] + dx, start[1] + dy, end[0] + dx, end[1] + dy, third, border.color, owner
            )
        )


def dash_pattern(border: Border) -> tuple[float, ...]:
    """Return the dash array of a border style, in points; empty for solid."""
    if border.style is BorderStyle.DASHED:
        return (3 * border.width, 2 * border.width)
    if border.style is BorderStyle.DOTTED:
        return (border.width, border.width)
    return ()


def _compute_box(box: BoxStyle, region: Region) -> UsedBox:
    margin = box.margin
    left = margin.left.resolve(region.width) or 0.0
    right = margin.right.resolve(region.width) or 0.0
    stated = None if region.has_fixed_width else box.width.resolve(region.width)
    width = region.width - left - right if stated is None else stated
    if box.max_width is not None:
        width = min(width, _default(box.max_width.resolve(region.width), inf))
    width = max(width, box.min_width.resolve(region.width) or 0.0, 0.0)
    rest = region.width - width - left - right
    if rest > 0 and margin.left.kind is LengthKind.AUTO:
        left += rest / 2 if margin.right.kind is LengthKind.AUTO else rest
    insets = Sides(
        *(border.width + padding for border, padding in zip(box.border, box.padding, strict=True))
    )
    height = box.height.resolve(0.0) if box.height.kind is LengthKind.POINTS else None
    min_height = box.min_height.resolve(0.0) or 0.0
    # A percentage of a height that depends on content is ignored (CSS 2.2, 10.7). Headers and
    # footers resolve it against the page in paper.py.
    max_height = None
    if box.max_height is not None and box.max_height.kind is LengthKind.POINTS:
        max_height = box.max_height.value
    if height is not None:
        height = max(min(height, _default(max_height, inf)), min_height)
    is_plain = (
        left == 0.0
        and width == region.width
        and not any(insets)
        and box.background is None
        and box.background_image is None
        and height is None
        and min_height == 0.0
        and max_height is None
        and box.opacity == 1
        and box.rotate % 360 == 0
        and box.overflow in (Overflow.ERROR, Overflow.SHRUNK)
    )
    return UsedBox(box, left, width, insets, height, min_height, max_height, is_plain)


def _lay_out_in_box(
    content: LayoutFunction,
    context: LayoutContext,
    node: BoxNode,
    used_box: UsedBox,
    region: Region,
    resume: Resume,
) -> BoxFragment | None:
    if used_box.height is not None:
        return _lay_out_fixed(content, context, node, used_box, region)
    fragment = _lay_out_growing(content, context, node, used_box, region, resume)
    limit = used_box.max_height
    if fragment is None or limit is None or resume is not None:
        return fragment
    if fragment.resume is None and fragment.height <= limit + EPSILON:
        return fragment
    if fragment.resume is not None and not region.is_top:
        return None  # a box with max-height is never fragmented
    return _lay_out_fixed(content, context, node, used_box, region)


def _lay_out_growing(
    content: LayoutFunction,
    context: LayoutContext,
    node: BoxNode,
    used_box: UsedBox,
    region: Region,
    resume: Resume,
) -> BoxFragment | None:
    is_start = resume is None
    insets = used_box.insets
    top = insets.top if is_start else 0.0
    room = region.height - top - insets.bottom
    if room < 0 and not region.is_top:
        return None
    bottom = None if region.bottom is None else region.bottom - top - insets.bottom
    at = None if region.top is None else region.top + top
    inner = Region(used_box.content_width, room, region.is_top, bottom, top=at)
    fragment = content(context, node, inner, resume)
    if fragment is None:
        return None
    if used_box.box.overflow is Overflow.ELLIPSIS and fragment.resume is None:
        # For lines that are too wide; the height is free.
        fragment = fragment.truncate(inf) or fragment
    height = fragment.height + top
    if fragment.resume is None:
        height = height + insets.bottom
        if is_start:
            height = max(height, used_box.min_height)
    return BoxFragment(node, used_box, fragment, height, fragment.resume, is_start)


def _lay_out_fixed(
    content: LayoutFunction,
    context: LayoutContext,
    node: BoxNode,
    used_box: UsedBox,
    region: Region,
) -> BoxFragment | None:
    stated = used_box.height if used_box.height is not None else used_box.max_height
    assert stated is not None
    if stated > region.height + EPSILON and not region.is_top:
        return None
    insets = used_box.insets
    room = max(stated - insets.top - insets.bottom, 0.0)
    top = None if region.top is None else region.top + insets.top
    inner = Region(used_box.content_width, inf, True, room, top=top)
    fragment = content(context, node, inner, None)
    assert fragment is not None
    is_too_full = fragment.height > room + EPSILON
    overflow = used_box.box.overflow
    if overflow is Overflow.ELLIPSIS:
        shortened = fragment.truncate(room)
        is_too_full = shortened is None
        fragment = shortened or fragment
    framed = BoxFragment(node, used_box, fragment, stated, None, True)
    if is_too_full and overflow is not Overflow.VISIBLE:
        problem = _describe_overflow(context, node, fragment, stated, room)
        framed.problem = problem.as_clipped() if overflow is Overflow.HIDDEN else problem
    elif stated > region.height + EPSILON:
        framed.problem = context.too_tall(node.source, needed=stated, available=region.height)
    return framed


def _describe_overflow(
    context: LayoutContext, node: BoxNode, fragment: Fragment, stated: float, room: float
) -> LayoutProblem:
    """Return the problem of content taller than its box, with the first child that overflows."""
    source = node.source
    need = stated - room + fragment.height
    child = fragment.find_overflow(room)
    tag = source.location.tag_name
    if child is None or child[0].location == source.location:
        name, chain = describe_element(source, context.path), context.chain(source)
        allowed = "its height allows"
    else:
        name = f"`{child[0].location.tag_name}` in `{tag}`"
        chain = (child[0], *context.chain(source))
        allowed = f"the {tag} allows"
    return LayoutProblem(
        code="content-overflows",
        message=f"Text does not fit: {name} needs {format_mm(need)}, {allowed} {format_mm(stated)}",
        advice=_overflow_advice(context, node, tag),
        chain=chain,
        excerpt=child[1] if child else "",
    )


def _overflow_advice(context: LayoutContext, node: BoxNode, tag: str) -> str:
    advice = _ADVICE[node.style.box.overflow]
    if context.memo.find(IN_CELL, node):  # its height is that of the grid's rows
        return advice.replace("the {tag} taller", "grid-auto-rows larger")
    return advice.format(tag=tag)


def _is_containing_block(node: BoxNode) -> bool:
    """Return whether positioned descendants refer to the edges of this box."""
    return type(node) is Container and node.is_box


IN_CELL: Final[Kind[BoxNode, bool]] = Kind()  # the blocks stretched to the cell of their grid
_ADVICE: Final = {
    Overflow.ERROR: 'Make the {tag} taller, or set overflow="shrink".',
    Overflow.SHRUNK: "Make the {tag} taller, its content shorter, or min-font-size smaller.",
    Overflow.ELLIPSIS: "Not even one line fits: make the {tag} taller.",
    Overflow.HIDDEN: "Make the {tag} taller, or its content shorter.",
}


def _inherited_overflow(used_box: UsedBox, outside: Overflow) -> Overflow:
    """Return the overflow that applies to wide content inside a box: its own if it has a width."""
    box = used_box.box
    is_own = box.overflow is not Overflow.ERROR or box.width.kind is not LengthKind.AUTO
    return box.overflow if is_own else outside


def _default(value: float | None, other: float) -> float:
    return other if value is None else value
