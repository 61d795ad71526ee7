"""The box model: what a box's style comes to at a width, and how boxes are drawn around content.

Widths and heights are of the border box. A box that is broken is open at the break: neither border
nor padding stands there, and the background runs to the edge (CSS Fragmentation 3, 5.4, slice).
A box of fixed height is never broken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import Final, Protocol

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
    name_in,
    words_of,
)
from workers.engine.layout.crossings import CrossState
from workers.engine.layout.display import (
    Fill,
    Item,
    Outline,
    OutlineEntry,
    Picture,
    Restore,
    Save,
    Stroke,
)
from workers.engine.layout.ellipsis import shorten_piece
from workers.engine.layout.pictures import find_picture
from workers.engine.layout.problems import Problem
from workers.engine.layout.shrink import lay_out_shrunk
from workers.engine.layout.svg.drawing import Drawable
from workers.engine.tree.nodes import Container, Paragraph, Source
from workers.engine.tree.styles import BoxStyle, Overflow
from workers.engine.units import Border, BorderStyle, LengthKind, Sides

Content = Callable[[Space, Resume], Piece | None]

_HEADINGS: Final = {f"H{level}": level for level in range(1, 7)}


@dataclass(frozen=True, slots=True)
class Frame:
    """A box style at one containing width, in points; insets are border and padding together."""

    box: BoxStyle
    x: float  # of the border box, from the containing block's left edge
    width: float
    insets: Sides[float]
    height: float | None
    min_height: float
    max_height: float | None
    is_plain: bool  # content stands as if there were no box

    @property
    def content_width(self) -> float:
        """Give the width left for content."""
        return max(self.width - self.insets.left - self.insets.right, 0.0)


def frame_of(context: Context, box: BoxStyle, space: Space) -> Frame:
    """Work out a box at a width; kept for the next block of the same style."""
    key = ("frame", id(box), space.width, space.is_track)
    known: Frame | None = context.memory.get(key)
    if known is None or known.box is not box:
        known = context.memory[key] = _work_out_frame(box, space)
    return known


def lay_out_framed(
    context: Context,
    node: FramedNode,
    space: Space,
    resume: Resume,
    content: Content,
) -> Piece | None:
    """Lay out `content` in the box of `node`; None when nothing of it stands in `space`."""
    box = node.style.box
    if box.overflow is Overflow.SHRINK and type(node) in context.layouts:
        return lay_out_shrunk(context, node, space, resume)
    frame = frame_of(context, box, space)
    mark = mark_of(node)
    if mark is not None and mark.outline is not None and context.crossings is not None:
        mark = replace(mark, outline=_outline_of(node, context.crossings))
    if frame.is_plain and mark is None and not _is_box(node):
        return content(space, resume)
    piece = _lay_out_boxed(context, node, frame, space, resume, content)
    if piece is not None and box.background_image is not None:
        set_backdrop(context, piece)
    return piece


def set_backdrop(context: Context, piece: FramedPiece) -> None:
    """Find the background image of a box; one that cannot be had is the box's error."""
    named = piece.frame.box.background_image
    if named is None:
        return
    image = find_picture(context, named, piece.node.source)
    if not isinstance(image, Problem):
        piece.backdrop = image
    elif piece.misfit is None:
        piece.misfit = Misfit(
            code=image.code,
            what=f"{image.text}, for the background of `{piece.node.source.place.tag_name}`",
            advice=image.advice,
            chain=context.chain(piece.node.source),
        )


@dataclass(frozen=True, slots=True)
class Mark:
    """What a block's beginning is known by: an id to point to, an entry of the outline."""

    id: str | None
    level: int
    outline: str | None


class FramedStyle(Protocol):
    """The part of a style that a frame reads."""

    @property
    def box(self) -> BoxStyle:
        """Give the box."""


class FramedNode(Protocol):
    """A node that stands in a box of its own; it may have an `id` and an `outline` too."""

    @property
    def source(self) -> Source:
        """Give where the node comes from."""

    @property
    def style(self) -> FramedStyle:
        """Give its style."""


@dataclass(slots=True)
class FramedPiece:
    """A box around a piece of content."""

    node: FramedNode
    frame: Frame
    content: Piece
    height: float
    resume: Resume
    is_start: bool
    mark: Mark | None
    misfit: Misfit | None = None
    backdrop: Drawable | None = None

    @property
    def forced(self) -> str:
        """Tell which forced break ended the piece."""
        return self.content.forced

    @property
    def first_baseline(self) -> float | None:
        """Give the distance down to the first line's baseline."""
        baseline = self.content.first_baseline
        return None if baseline is None else baseline + self._top

    def draw(self, sheet: Sheet, x: float, y: float) -> None:
        """Draw the box and what is in it."""
        frame, box = self.frame, self.frame.box
        x += frame.x
        if self.mark is not None and self.is_start:
            _draw_mark(sheet, self.mark, x, y)
        if self.misfit is not None:
            sheet.report(self.misfit)
        turned = box.rotate % 360
        if turned or box.opacity < 1:
            centre = (turned, x + frame.width / 2, y + self.height / 2) if turned else None
            sheet.items.append(Save(rotate=centre, opacity=box.opacity))
        owner = sheet.owner(self.node)
        draw_box(
            sheet.items,
            box,
            (x, y, frame.width, self.height),
            owner,
            is_start=self.is_start,
            is_end=self.resume is None,
            backdrop=self.backdrop,
        )
        before = sheet.holder, sheet.is_turned
        sheet.is_turned = sheet.is_turned or bool(turned)
        if _is_box(self.node):
            sheet.holder = self._padding_box(x, y)
        self._draw_content(sheet, x, y)
        sheet.holder, sheet.is_turned = before
        if turned or box.opacity < 1:
            sheet.items.append(Restore())

    def _draw_content(self, sheet: Sheet, x: float, y: float) -> None:
        frame, box = self.frame, self.frame.box
        is_clipped = box.overflow is Overflow.HIDDEN
        outside, sheet.overflow = sheet.overflow, _width_rule(frame, sheet.overflow)
        if is_clipped:
            sheet.items.append(Save(clip=self._padding_box(x, y)))
        self.content.draw(sheet, x + frame.insets.left, y + self._top)
        sheet.overflow = outside
        if is_clipped:
            sheet.items.append(Restore())

    def _padding_box(self, x: float, y: float) -> Rectangle:
        border = self.frame.box.border
        return Rectangle(
            x + border.left.width,
            y + border.top.width,
            self.frame.width - border.left.width - border.right.width,
            self.height - border.top.width - border.bottom.width,
        )

    def crossing(self, room: float) -> tuple[Source, str] | None:
        """Find the first thing inside that crosses a height."""
        return find_crossing(self.content, room - self._top)

    def shorten(self, room: float, *, is_cut: bool = False) -> FramedPiece | None:
        """Give as much of the box as stands in a height; one of fixed height stands whole."""
        insets = self.frame.insets
        inner = min(room, self.height) - self._top - insets.bottom
        content = shorten_piece(self.content, inner, is_cut=is_cut)
        if content is None or (is_limited(self.frame) and self.height > room + EPSILON):
            return None
        height = (
            self.height if is_limited(self.frame) else content.height + self._top + insets.bottom
        )
        return replace(self, content=content, height=max(height, self.frame.min_height))

    @property
    def _top(self) -> float:
        return self.frame.insets.top if self.is_start else 0.0


def with_width(frame: Frame, width: float, space: Space) -> Frame:
    """Give the frame of a thing that has a width of its own, such as an image."""
    margin = frame.box.margin
    left, right = (side.resolve(space.width) or 0.0 for side in (margin.left, margin.right))
    rest = space.width - width - left - right
    if rest > 0 and margin.left.kind is LengthKind.AUTO:
        left += rest / 2 if margin.right.kind is LengthKind.AUTO else rest
    return replace(frame, x=left, width=width)


def mark_of(node: FramedNode) -> Mark | None:
    """Give what a node's beginning is known by, None for nothing."""
    anchor: str | None = getattr(node, "id", None)
    if isinstance(node, Paragraph) and node.outline is not None:
        return Mark(anchor, _HEADINGS.get(node.role.value, 1), node.outline)
    return Mark(anchor, 0, None) if anchor is not None else None


def _outline_of(node: FramedNode, crossings: CrossState) -> str | None:
    """Return the outline entry of a heading, with what the references in it show."""
    assert isinstance(node, Paragraph)
    if node.extra is None or not node.extra.refers:
        return node.outline
    number = "" if node.extra.label is None else f"{node.extra.label.text} "
    return " ".join(f"{number}{words_of(crossings.resolve(node.inlines))}".split())


def outer_widths(box: BoxStyle, narrowest: float, widest: float) -> tuple[float, float]:
    """Give the outer widths of a box whose content has these, its stated width minded."""
    stated = box.width.resolve(0.0) if box.width.kind is LengthKind.POINTS else None
    edges = sum(
        border.width + padding
        for border, padding in (
            (box.border.left, box.padding.left),
            (box.border.right, box.padding.right),
        )
    )
    margins = (box.margin.left.resolve(0.0) or 0.0) + (box.margin.right.resolve(0.0) or 0.0)
    least = (box.min_width.resolve(0.0) or 0.0) + margins
    if stated is not None:
        return max(stated + margins, least), max(stated + margins, least)
    return max(narrowest + edges + margins, least), max(widest + edges + margins, least)


def draw_box(
    items: list[Item],
    box: BoxStyle,
    rectangle: tuple[float, float, float, float],
    owner: object | None,
    *,
    is_start: bool = True,
    is_end: bool = True,
    backdrop: Drawable | None = None,
) -> None:
    """Draw a box's backgrounds and borders; a side at a break has none."""
    x, y, width, height = rectangle
    radius = min(box.radius, width / 2, height / 2)
    if box.background is not None:
        items.append(Fill(x, y, width, height, box.background, owner, radius))
    if backdrop is not None:
        items.append(Picture(x, y, width, height, backdrop, None))
    top, right, bottom, left = box.border
    if top is right is bottom is left and top.style is BorderStyle.NONE:
        return
    is_whole = is_start and is_end
    if is_whole and top == right == bottom == left and top.style is not BorderStyle.DOUBLE:
        if top.width and top.style is not BorderStyle.NONE:
            half = top.width / 2
            items.append(
                Outline(
                    x + half,
                    y + half,
                    width - top.width,
                    height - top.width,
                    top.width,
                    top.color,
                    owner,
                    max(radius - half, 0.0),
                    dash_of(top),
                )
            )
        return
    if is_start:
        draw_border(items, top, (x, y + top.width / 2), (x + width, y + top.width / 2), owner)
    if is_end:
        foot = y + height - bottom.width / 2
        draw_border(items, bottom, (x, foot), (x + width, foot), owner)
    draw_border(items, left, (x + left.width / 2, y), (x + left.width / 2, y + height), owner)
    edge = x + width - right.width / 2
    draw_border(items, right, (edge, y), (edge, y + height), owner)


def draw_border(
    items: list[Item],
    border: Border,
    start: tuple[float, float],
    end: tuple[float, float],
    owner: object | None,
) -> None:
    """Draw one straight border, its middle on the line from `start` to `end`."""
    if not border.width or border.style is BorderStyle.NONE:
        return
    if border.style is not BorderStyle.DOUBLE:
        items.append(
            Stroke(*start, *end, border.width, border.color, owner, dash_of(border)),
        )
        return
    third = border.width / 3
    across = (0.0, third) if start[1] == end[1] else (third, 0.0)
    for side in (-1, 1):
        dx, dy = across[0] * side, across[1] * side
        items.append(
            Stroke(
                start[0] + dx, start[1] + dy, end[0] + dx, end[1] + dy, third, border.color, owner
            )
        )


def dash_of(border: Border) -> tuple[float, ...]:
    """Give the dashes of a border's style: as long as three widths, or as one."""
    if border.style is BorderStyle.DASHED:
        return (3 * border.width, 2 * border.width)
    if border.style is BorderStyle.DOTTED:
        return (border.width, border.width)
    return ()


def _work_out_frame(box: BoxStyle, space: Space) -> Frame:
    margin = box.margin
    left = margin.left.resolve(space.width) or 0.0
    right = margin.right.resolve(space.width) or 0.0
    stated = None if space.is_track else box.width.resolve(space.width)
    width = space.width - left - right if stated is None else stated
    if box.max_width is not None:
        width = min(width, _or(box.max_width.resolve(space.width), inf))
    width = max(width, box.min_width.resolve(space.width) or 0.0, 0.0)
    rest = space.width - width - left - right
    if rest > 0 and margin.left.kind is LengthKind.AUTO:
        left += rest / 2 if margin.right.kind is LengthKind.AUTO else rest
    insets = Sides(
        *(border.width + padding for border, padding in zip(box.border, box.padding, strict=True))
    )
    height = box.height.resolve(0.0) if box.height.kind is LengthKind.POINTS else None
    min_height = box.min_height.resolve(0.0) or 0.0
    # Per cent of a height that content decides is none (CSS 2.1, 10.7); headers and footers, whose
    # page has one, are measured against it in furniture.py.
    max_height = None
    if box.max_height is not None and box.max_height.kind is LengthKind.POINTS:
        max_height = box.max_height.value
    if height is not None:
        height = max(min(height, _or(max_height, inf)), min_height)
    is_plain = (
        left == 0.0
        and width == space.width
        and not any(insets)
        and box.background is None
        and box.background_image is None
        and height is None
        and min_height == 0.0
        and max_height is None
        and box.opacity == 1
        and box.rotate % 360 == 0
        and box.overflow in (Overflow.ERROR, Overflow.SPENT)
    )
    return Frame(box, left, width, insets, height, min_height, max_height, is_plain)


def _lay_out_boxed(
    context: Context,
    node: FramedNode,
    frame: Frame,
    space: Space,
    resume: Resume,
    content: Content,
) -> FramedPiece | None:
    if frame.height is not None:
        return _lay_out_fixed(context, node, frame, space, content)
    piece = _lay_out_growing(node, frame, space, resume, content)
    limit = frame.max_height
    if piece is None or limit is None or resume is not None:
        return piece
    if piece.resume is None and piece.height <= limit + EPSILON:
        return piece
    if piece.resume is not None and not space.is_top:
        return None  # a limited height is never broken
    return _lay_out_fixed(context, node, frame, space, content)


def _lay_out_growing(
    node: FramedNode, frame: Frame, space: Space, resume: Resume, content: Content
) -> FramedPiece | None:
    is_start = resume is None
    insets = frame.insets
    top = insets.top if is_start else 0.0
    room = space.height - top - insets.bottom
    if room < 0 and not space.is_top:
        return None
    foot = None if space.foot is None else space.foot - top - insets.bottom
    inner = Space(frame.content_width, room, space.is_top, foot)
    piece = content(inner, resume)
    if piece is None:
        return None
    if frame.box.overflow is Overflow.ELLIPSIS and piece.resume is None:
        piece = shorten_piece(piece, inf) or piece  # too wide lines; the height is free
    height = piece.height + top
    if piece.resume is None:
        height = height + insets.bottom
        if is_start:
            height = max(height, frame.min_height)
    return FramedPiece(node, frame, piece, height, piece.resume, is_start, mark_of(node))


def _lay_out_fixed(
    context: Context, node: FramedNode, frame: Frame, space: Space, content: Content
) -> FramedPiece | None:
    stated = frame.height if frame.height is not None else frame.max_height
    assert stated is not None
    if stated > space.height + EPSILON and not space.is_top:
        return None
    insets = frame.insets
    room = max(stated - insets.top - insets.bottom, 0.0)
    piece = content(Space(frame.content_width, inf, True, room), None)
    assert piece is not None
    is_too_full = piece.height > room + EPSILON
    overflow = frame.box.overflow
    if overflow is Overflow.ELLIPSIS:
        shortened = shorten_piece(piece, room)
        is_too_full = shortened is None
        piece = shortened or piece
    framed = FramedPiece(node, frame, piece, stated, None, True, mark_of(node))
    if is_too_full and overflow is not Overflow.VISIBLE:
        misfit = _too_full(context, node, piece, stated, room)
        framed.misfit = misfit.as_cut() if overflow is Overflow.HIDDEN else misfit
    elif stated > space.height + EPSILON:
        framed.misfit = context.too_tall(node.source, need=stated, room=space.height)
    return framed


def _too_full(
    context: Context, node: FramedNode, piece: Piece, stated: float, room: float
) -> Misfit:
    """Describe content taller than its box, naming the first child that crosses the edge."""
    source = node.source
    need = stated - room + piece.height
    child = find_crossing(piece, room)
    tag = source.place.tag_name
    if child is None or child[0].place == source.place:
        name, chain = name_in(source, context.path), context.chain(source)
        gives = "its height gives"
    else:
        name = f"`{child[0].place.tag_name}` in `{tag}`"
        chain = (child[0], *context.chain(source))
        gives = f"the {tag} gives"
    return Misfit(
        code="content-overflows",
        what=f"Text does not fit: {name} needs {in_mm(need)}, {gives} {in_mm(stated)}",
        advice=_advise(context, node, tag),
        chain=chain,
        excerpt=child[1] if child else "",
    )


def _advise(context: Context, node: FramedNode, tag: str) -> str:
    if type(node) not in context.layouts:
        return f"Make the {tag} taller, or its content shorter."
    advice = _ADVICE[node.style.box.overflow]
    if (IN_CELL, id(node)) in context.memory:  # as high as the rows of the grid say
        return advice.replace("the {tag} taller", "grid-auto-rows larger")
    return advice.format(tag=tag)


def find_crossing(piece: Piece, room: float) -> tuple[Source, str] | None:
    """Find the first thing in a piece that crosses a height, with its first words.

    A piece that can tell has a method `crossing` (stacks and text do).
    """
    crossing = getattr(piece, "crossing", None)
    if crossing is None:
        return None
    found: tuple[Source, str] | None = crossing(room)
    return found


def _is_box(node: FramedNode) -> bool:
    """Tell whether boxes with a position inside count from this one's edges."""
    return type(node) is Container and node.is_box


# Under this, layout remembers the blocks that were made as high as the cell of their grid.
IN_CELL: Final = "in-cell"
_ADVICE: Final = {
    Overflow.ERROR: 'Make the {tag} taller, or set overflow="shrink".',
    Overflow.SPENT: "Make the {tag} taller, its content shorter, or min-font-size smaller.",
    Overflow.ELLIPSIS: "Not even one line fits: make the {tag} taller.",
    Overflow.HIDDEN: "Make the {tag} taller, or its content shorter.",
}


def is_limited(frame: Frame) -> bool:
    """Tell whether content may be too tall for a box."""
    return frame.height is not None or frame.max_height is not None


def _width_rule(frame: Frame, outside: Overflow) -> Overflow:
    """Give what holds inside a box for things that are too wide: its own rule, if it has a width."""
    box = frame.box
    is_own = box.overflow is not Overflow.ERROR or box.width.kind is not LengthKind.AUTO
    return box.overflow if is_own else outside


def _draw_mark(sheet: Sheet, mark: Mark, x: float, y: float) -> None:
    if sheet.is_furniture:
        return
    if mark.id is not None:
        sheet.anchor(mark.id, x, y)
    if mark.outline is not None:
        sheet.outline.append(OutlineEntry(mark.level, mark.outline, sheet.index - 1, y))


def _or(value: float | None, other: float) -> float:
    return other if value is None else value
