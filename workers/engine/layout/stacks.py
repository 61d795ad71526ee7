"""Stacks: blocks below each other, their margins, and where a stack may break.

Margins. Between two blocks stands the larger of the two margins that meet (negative ones are
added, CSS 2, 8.3.1). The margins of a first and last child go through a box that has neither
border, padding nor height. Everywhere else margins stand between things only: a last child's
bottom margin adds nothing to its box, cell or header, and at the top of an area a margin is
dropped unless a forced break led there.

Breaks. A stack ends before the first child of which nothing fits, or inside it. `break-after` or
`break-before` of `avoid` moves the end upwards to the last place where a break is allowed; when
there is none, the stack gives way to its own parent, and at the top of an area the wish is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Final, NamedTuple

from workers.engine.layout.beside import RowPiece
from workers.engine.layout.context import (
    EPSILON,
    AnyBlock,
    Context,
    Piece,
    Resume,
    Sheet,
    Space,
    cut_excerpt,
    words_of,
)
from workers.engine.layout.ellipsis import shorten_piece
from workers.engine.layout.frames import FramedPiece
from workers.engine.layout.positions import is_aside, make_aside
from workers.engine.tree.nodes import (
    Block,
    Break,
    Container,
    ListBlock,
    ListItem,
    Paragraph,
    Row,
    Source,
)
from workers.engine.tree.styles import BoxStyle, BreakTo
from workers.engine.units import Length, LengthKind

_ON_SAME_PAGE: Final = frozenset(("", BreakTo.COLUMN.value, "area"))
_FORCING: Final = frozenset((BreakTo.PAGE, BreakTo.COLUMN, BreakTo.LEFT, BreakTo.RIGHT))


class StackResume(NamedTuple):
    """Where a stack goes on: in which child, where in it, and whether a forced break led there."""

    child: int
    inner: Resume
    is_forced: bool


class _Placed(NamedTuple):
    number: int
    y: float
    piece: Piece
    block: AnyBlock
    is_pushed: bool  # margin-top="auto"


@dataclass(slots=True)
class StackPiece:
    """Blocks below each other, each at its distance from the top; `margin_below` is the last one's."""

    placed: list[_Placed]
    height: float
    resume: StackResume | None = None
    forced: str = ""
    margin_below: float = 0.0

    @property
    def first_baseline(self) -> float | None:
        """Give the distance down to the first line's baseline."""
        for _, y, piece, _, _ in self.placed:
            baseline = piece.first_baseline
            if baseline is not None:
                return y + baseline
        return None

    def draw(self, sheet: Sheet, x: float, y: float) -> None:
        """Draw the blocks."""
        for _, offset, piece, _, _ in self.placed:
            piece.draw(sheet, x, y + offset)

    def crossing(self, room: float) -> tuple[Source, str] | None:
        """Find the first block that crosses a height, with its first words."""
        for _, y, piece, block, _ in self.placed:
            if y + piece.height > room + EPSILON:
                return block.source, _first_words(block)
        return None

    def shorten(self, room: float, *, is_cut: bool = False) -> StackPiece | None:
        """Give the blocks that stand in a height; the last ends in … where others are left out."""
        kept: list[_Placed] = []
        for number, placed in enumerate(self.placed):
            left = room - placed.y
            is_last = number == len(self.placed) - 1
            piece = shorten_piece(placed.piece, left, is_cut=is_cut and is_last)
            if piece is None:
                if not kept:
                    return None
                last = kept[-1]
                ended = shorten_piece(last.piece, last.piece.height, is_cut=True)
                kept[-1] = last._replace(piece=ended or last.piece)
                break
            kept.append(placed._replace(piece=piece))
            if piece.height < placed.piece.height - EPSILON:
                break
        height = kept[-1].y + kept[-1].piece.height if kept else self.height
        return StackPiece(kept, min(height, self.height))


def lay_out_stack(
    context: Context,
    blocks: Sequence[AnyBlock],
    space: Space,
    resume: Resume = None,
    *,
    is_through: bool = False,
) -> StackPiece | None:
    """Lay out blocks below each other; None when nothing of them stands in `space`.

    `is_through` says that the first block's top margin stands outside of the box (`margins_of`).
    """
    stack = _Stack(context, blocks, space, resume, is_through=is_through)
    return stack.fill()


def margins_of(block: AnyBlock, width: float) -> tuple[float, float]:
    """Give the top and bottom margins that meet a block's neighbours; 0 for `auto`."""
    return top_margin(block, width), _bottom_margin(block, width)


def top_margin(block: AnyBlock, width: float) -> float:
    """Return the top margin that meets what stands above a block; 0 for `auto`."""
    if isinstance(block, Break):
        return 0.0
    own = _points(block.style.box.margin.top, width)
    if type(block) is Row:
        is_open = lets_margins_through(block.style.box)
        return collapse(own, shared_margin(block, width)) if is_open else own
    children = _stacked(block)
    if children and lets_margins_through(block.style.box):
        return collapse(own, top_margin(children[0], width))
    return own


def in_flow(row: Row) -> list[Block]:
    """Return the blocks of a row that stand side by side."""
    return [c for c in row.children if not isinstance(c, Break) and not is_aside(c)]


def shared_margin(row: Row, width: float) -> float:
    """Return the top margin that all blocks of a row have at least."""
    return min((top_margin(child, width) for child in in_flow(row)), default=0.0)


def margin_below(block: AnyBlock, piece: Piece, width: float) -> float:
    """Return the bottom margin that meets what follows a block.

    How far the blocks of a row reach below it is known once they are laid out.
    """
    if isinstance(block, Break) or not _ends_in_row(block):
        return _bottom_margin(block, width)
    own = _points(block.style.box.margin.bottom, width)
    inner = piece.content if isinstance(piece, FramedPiece) else piece
    if isinstance(inner, RowPiece | StackPiece):
        return collapse(own, inner.margin_below)
    return _bottom_margin(block, width)


def _ends_in_row(block: AnyBlock) -> bool:
    if type(block) is not Row and type(block) is not Container:
        return False
    if not lets_margins_through(block.style.box):
        return False
    if type(block) is Row:
        return True
    children = _stacked(block)
    return bool(children) and _ends_in_row(children[-1])


def _bottom_margin(block: AnyBlock, width: float) -> float:
    if isinstance(block, Break):
        return 0.0
    own = _points(block.style.box.margin.bottom, width)
    children = _stacked(block)
    if children and lets_margins_through(block.style.box):
        return collapse(own, _bottom_margin(children[-1], width))
    return own


def collapse(first: float, second: float) -> float:
    """Give the distance that two margins that meet come to (CSS 2, 8.3.1)."""
    return max(first, second, 0.0) + min(first, second, 0.0)


def lets_margins_through(box: BoxStyle) -> bool:
    """Tell whether children's margins meet the outside: nothing stands between them and it."""
    padding, border = box.padding, box.border
    return not (
        padding.top
        or padding.bottom
        or border.top.width
        or border.bottom.width
        or box.height.kind is LengthKind.POINTS
        or box.max_height is not None
        or box.min_height.value
        or box.rotate
    )


def forced_before(block: AnyBlock) -> str:
    """Name the break that a block forces before itself, empty for none."""
    if isinstance(block, Break):
        return "" if block.need is not None else block.to
    breaks = block.style.breaks
    if breaks.counter_reset is not None and breaks.before is not BreakTo.LEFT:
        return BreakTo.RIGHT.value if breaks.before is BreakTo.RIGHT else BreakTo.PAGE.value
    if breaks.before in _FORCING:
        return breaks.before.value
    children = _children(block)
    return forced_before(children[0]) if children else ""


def family_at_start(block: AnyBlock) -> str | None:
    """Give the family of pages that a block's first content stands on; None is the flow's."""
    if isinstance(block, Break):
        return None
    children = _children(block)
    return family_at_start(children[0]) if children else block.style.breaks.page


def family_at_end(block: AnyBlock) -> str | None:
    """Give the family of pages that a block's last content stands on; None is the flow's."""
    if isinstance(block, Break):
        return None
    children = _children(block)
    return family_at_end(children[-1]) if children else block.style.breaks.page


def _forced_after(block: AnyBlock) -> str:
    if isinstance(block, Break):
        return ""
    after = block.style.breaks.after
    if after in _FORCING:
        return after.value
    children = _children(block)
    return _forced_after(children[-1]) if children else ""


def _avoids_after(block: AnyBlock) -> bool:
    if isinstance(block, Break):
        return False
    if block.style.breaks.after is BreakTo.AVOID:
        return True
    children = _children(block)
    return bool(children) and _avoids_after(children[-1])


def _avoids_before(block: AnyBlock) -> bool:
    if isinstance(block, Break):
        return False
    if block.style.breaks.before is BreakTo.AVOID:
        return True
    children = _children(block)
    return bool(children) and _avoids_before(children[0])


def _children(block: AnyBlock) -> Sequence[AnyBlock]:
    """Give the blocks of a stack whose breaks are those of the block they are in."""
    if type(block) is Container and block.columns is not None and block.columns.count > 1:
        return ()  # what breaks inside, breaks a column
    return _stacked(block)


def _stacked(block: AnyBlock) -> Sequence[AnyBlock]:
    """Give the blocks a block is a stack of; what stands out of the flow is not of it."""
    if isinstance(block, Container):
        children = block.children
        if children and (is_aside(children[0]) or is_aside(children[-1])):
            return [child for child in children if not is_aside(child)]
        return children
    if isinstance(block, ListItem):
        return block.children
    if isinstance(block, ListBlock):
        return block.items
    return ()


def _number(placed: _Placed) -> int:
    return placed.number


def _points(length: Length, width: float) -> float:
    return length.resolve(width) or 0.0


def _is_pushed(block: AnyBlock) -> bool:
    return not isinstance(block, Break) and block.style.box.margin.top.kind is LengthKind.AUTO


def _first_words(block: AnyBlock) -> str:
    if isinstance(block, Paragraph):
        return cut_excerpt(words_of(block.inlines))
    return next((words for child in _children(block) if (words := _first_words(child))), "")


class _Stack:
    """One attempt at filling a space; thrown away with it."""

    def __init__(
        self,
        context: Context,
        blocks: Sequence[AnyBlock],
        space: Space,
        resume: Resume,
        *,
        is_through: bool,
    ) -> None:
        self.context = context
        self.blocks = blocks
        self.space = space
        self.start = resume or StackResume(0, None, False)
        self.is_resumed = resume is not None
        self.is_through = is_through
        self.placed: list[_Placed] = []
        self.aside: list[_Placed] = []  # out of the flow, in no one's way
        self.y = 0.0
        self.bottom = 0.0  # margin of the block placed last

    def fill(self) -> StackPiece | None:
        for index in range(self.start.child, len(self.blocks)):
            block = self.blocks[index]
            if is_aside(block):
                aside = make_aside(self.context, block)
                self.aside.append(_Placed(index, self.y, aside, block, is_pushed=False))
                continue
            forced = self._forced_before(index)
            if forced:
                after = index + 1 if isinstance(block, Break) else index
                return self._piece(StackResume(after, None, True), forced)
            if isinstance(block, Break):
                if self._needs_more(block):
                    return self._piece(StackResume(index + 1, None, False))
                continue
            inner = self.start.inner if index == self.start.child else None
            piece = self._place(index, block, inner)
            if piece is None:
                return self._end_before(index)
            if piece.resume is not None:
                resume = StackResume(index, piece.resume, False)
                return self._piece(resume, piece.forced)
        return self._piece(None)

    def _place(self, index: int, block: AnyBlock, inner: Resume) -> Piece | None:
        gap = self._gap(index, top_margin(block, self.space.width))
        space = self.space
        is_top = space.is_top and not self.placed
        left = space.height - self.y - gap
        foot = None
        if space.foot is not None and index == len(self.blocks) - 1:
            foot = space.foot - self.y - gap
        piece = self.context.lay_out(block, Space(space.width, left, is_top, foot), inner)
        if piece is None:
            return None
        if not is_top and (piece.height > left + EPSILON or self._is_torn(block, piece)):
            return None
        self.y += gap
        is_pushed = inner is None and _is_pushed(block)
        self.placed.append(_Placed(index, self.y, piece, block, is_pushed))
        self.y += piece.height
        self.bottom = margin_below(block, piece, self.space.width)
        return piece

    def _is_torn(self, block: AnyBlock, piece: Piece) -> bool:
        if piece.resume is None or piece.forced or isinstance(block, Break):
            return False
        return block.style.breaks.avoid_inside

    def _gap(self, index: int, top: float) -> float:
        if self.placed:
            return collapse(self.bottom, top)
        if index == self.start.child and self.start.inner is not None:
            return 0.0
        if self.is_resumed:
            return top if self.start.is_forced else 0.0
        return 0.0 if self.is_through else top

    def _forced_before(self, index: int) -> str:
        if not self.placed or self.space.height == inf:
            return ""
        block = self.blocks[index]
        before = self.blocks[index - 1]
        if self.aside and is_aside(before):
            before = self.placed[-1].block
        forced = _forced_after(before) or forced_before(block)
        if forced in _ON_SAME_PAGE and self._changes_family(before, block):
            return "page"
        return forced

    def _changes_family(self, before: AnyBlock, block: AnyBlock) -> bool:
        if not self.context.has_families or isinstance(before, Break) or isinstance(block, Break):
            return False
        return family_at_end(before) != family_at_start(block)

    def _needs_more(self, block: Break) -> bool:
        if block.need is None or not self.placed or self.space.height == inf:
            return False
        return self.space.height - self.y < block.need - EPSILON

    def _end_before(self, index: int) -> StackPiece | None:
        """End the stack before a block, or further up where a break is allowed."""
        first = self.start.child
        end = index
        while end > first and self._avoids_break_at(end):
            end -= 1
        if end == first or not self.placed:
            if not self.space.is_top or not self.placed:
                return None
            end = index
        while self.placed and self.placed[-1].number >= end:
            self.placed.pop()
        if not self.placed and not self.space.is_top:
            return None
        while self.aside and self.aside[-1].number >= end:
            self.aside.pop()
        return self._piece(StackResume(end, None, False))

    def _avoids_break_at(self, index: int) -> bool:
        """Tell whether no break is wanted before a block; what is out of the flow follows the block above."""
        above = index - 1
        while above > self.start.child and is_aside(self.blocks[above]):
            above -= 1
        block = self.blocks[index]
        return is_aside(block) or _avoids_after(self.blocks[above]) or _avoids_before(block)

    def _piece(self, resume: StackResume | None, forced: str = "") -> StackPiece:
        height = self.y
        if resume is not None and self.placed:
            last = self.placed[-1]
            height = last.y + last.piece.height
        if self.space.foot is not None and any(placed.is_pushed for placed in self.placed):
            height = self._push(height, self.space.foot)
        placed = sorted((*self.placed, *self.aside), key=_number) if self.aside else self.placed
        return StackPiece(placed, height, resume, forced, self.bottom)

    def _push(self, height: float, foot: float) -> float:
        """Share what is left above the foot among the blocks whose top margin is `auto`."""
        slack = foot - height
        if slack <= 0:
            return height
        share = slack / sum(placed.is_pushed for placed in self.placed)
        shift = 0.0
        for position, placed in enumerate(self.placed):
            if placed.is_pushed:
                shift += share
            self.placed[position] = placed._replace(y=placed.y + shift)
        return foot
