"""Stacks: blocks below each other, with collapsed margins and breaks between and inside them.

Margins. The distance between two blocks is the larger of the two adjoining margins; negative
margins are added (CSS 2.2, 8.3.1). The margins of a first and last child collapse with those of a
parent without border, padding or height. Unlike in CSS, other margins apply between blocks only:
the bottom margin of a last child adds nothing to its box, cell or header, a margin at the top
of an area is dropped unless a forced break precedes it, and a built-in top margin, such as that of
a heading, always at the top of an area, box, cell or header.

Breaks. A stack ends before the first child of which nothing fits, or inside it. `break-after` and
`break-before` of `avoid` move the break up to the nearest place where one is allowed: inside the
block above, so that its last rows or lines go along, else before it. Without such a place the
stack returns None, and at the top of an area the `avoid` is ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from math import inf
from typing import Final, NamedTuple

from workers.engine.diagnostics import Severity
from workers.engine.layout.blocks.boxes import BoxFragment
from workers.engine.layout.blocks.positioning import is_out_of_flow, is_positioned, make_out_of_flow
from workers.engine.layout.context import (
    EPSILON,
    AnyBlock,
    Fragment,
    LayoutContext,
    LayoutProblem,
    PageCanvas,
    Rectangle,
    Region,
    Resume,
    WholeFragment,
    plain_text,
    shorten_value,
)
from workers.engine.tree import nodes
from workers.engine.tree.styles.computed import BoxStyle, BreakStyle, BreakTo
from workers.engine.units import Length, LengthKind

_Stacked = (
    nodes.Container | nodes.ListBlock | nodes.ListItem | nodes.Note | nodes.Contents | nodes.Index
)
_FORCING: Final = frozenset((BreakTo.PAGE, BreakTo.COLUMN, BreakTo.LEFT, BreakTo.RIGHT))


def forced_break_before(block: AnyBlock) -> str:
    """Return the break that a block forces before itself, empty for none."""
    if isinstance(block, nodes.Break):
        return "" if block.need is not None else block.to
    breaks = block.style.breaks
    if breaks.counter_reset is not None and breaks.before is not BreakTo.LEFT:
        return BreakTo.RIGHT.value if breaks.before is BreakTo.RIGHT else BreakTo.PAGE.value
    if breaks.before in _FORCING:
        return breaks.before.value
    children = breaking_children(block)
    return forced_break_before(children[0]) if children else ""


def forced_break_after(block: AnyBlock) -> str:
    """Return the break that a block forces after itself, empty for none."""
    return next((each.after.value for each in _breaks_at(block, -1) if each.after in _FORCING), "")


def avoids_break_after(block: AnyBlock) -> bool:
    """Return whether a block, or its last content, avoids a break after it."""
    return any(each.after is BreakTo.AVOID for each in _breaks_at(block, -1))


def avoids_break_before(block: AnyBlock) -> bool:
    """Return whether a block, or its first content, avoids a break before it."""
    return any(each.before is BreakTo.AVOID for each in _breaks_at(block, 0))


def _breaks_at(block: AnyBlock, end: int) -> Iterator[BreakStyle]:
    """Yield the break styles of a block and of its first or last content, from outside in.

    `end` is 0 for the first or -1 for the last.
    """
    yield block.style.breaks
    while children := breaking_children(block):
        block = children[end]
        yield block.style.breaks


def _page_family_at(block: AnyBlock, end: int) -> str | None:
    """Return the page family of a block's first or last content, None for that of the flow."""
    while children := breaking_children(block):
        block = children[end]
    return block.style.breaks.page


def breaking_children(block: AnyBlock) -> Sequence[AnyBlock]:
    """Return the children whose breaks propagate to a block (CSS Fragmentation 3, 3.1)."""
    if type(block) is nodes.Paragraph:
        return ()
    if type(block) is nodes.Container and block.columns is not None and block.columns.count > 1:
        return ()  # a break inside is a column break
    if type(block) is nodes.Note:
        return ()  # where notes are collected, they are on the surrounding pages
    return stacked_children(block)


def stacked_children(block: AnyBlock) -> Sequence[AnyBlock]:
    """Return the in-flow children of a block that is a stack."""
    if type(block) is nodes.Paragraph:
        return ()
    if isinstance(block, nodes.Container):
        children = block.children
        if children and (is_out_of_flow(children[0]) or is_out_of_flow(children[-1])):
            return [child for child in children if not is_out_of_flow(child)]
        return children
    if isinstance(block, nodes.ListBlock | nodes.ListItem | nodes.Note):
        return block.children
    return ()


FLOAT_BREAK: Final = "float"  # before a heading that waiting figures must not pass
_ON_SAME_PAGE: Final = frozenset(("", BreakTo.COLUMN.value, "area"))


class PendingNote(NamedTuple):
    """A note called in an earlier area, and its resume position; None is its beginning."""

    call: str
    resume: Resume


class SetAside(NamedTuple):
    """What waits for the next area of a flow: notes, figures that float, and a page break after these."""

    notes: tuple[PendingNote, ...] = ()
    figures: tuple[nodes.Container, ...] = ()
    held_break: str = ""


NOTHING: Final = SetAside()


class StackResume(NamedTuple):
    """A position in a stack: the child, the position in it, and whether a forced break led there.

    That of a flow has what is set aside.
    """

    child: int
    inner: Resume
    is_forced: bool
    aside: SetAside = NOTHING


def aside_of(resume: StackResume | None) -> SetAside:
    """Return what waits at a position of a flow."""
    return NOTHING if resume is None else resume.aside


def set_aside(
    resume: StackResume | None, aside: SetAside, otherwise: StackResume
) -> StackResume | None:
    """Return a position at which something waits; None is `otherwise` then, or stays None."""
    if resume is None and aside == NOTHING:
        return None
    return (resume or otherwise)._replace(aside=aside)


def foot_height_of(fragment: Fragment | None) -> float:
    """Return the height of the lower end of its area that a fragment covers, in points."""
    height: float = getattr(fragment, "foot_height", 0.0)
    return height


class PlacedFragment(NamedTuple):
    """A fragment of child `number`, at `y` points from the top of the stack."""

    number: int
    y: float
    fragment: Fragment
    block: AnyBlock
    has_auto_margin: bool  # margin-top="auto"


# Draws the marker or number beside a first baseline; given the upper left corner of the stack.
DrawLabel = Callable[[PageCanvas, float, float, float | None], None]


@dataclass(slots=True)
class StackFragment:
    """Blocks below each other; `bottom_margin_after` is the bottom margin of the last one.

    That of an item or note has a label, and `left` points beside its blocks.
    """

    placed: list[PlacedFragment]
    height: float
    resume: StackResume | None = None
    forced: str = ""
    bottom_margin_after: float = 0.0
    problem: LayoutProblem | None = None
    label: DrawLabel | None = None
    item: nodes.ListItem | None = None  # whose body the blocks are
    left: float = 0.0

    @property
    def first_baseline(self) -> float | None:
        """The distance from the top to the first baseline, in points, None without text."""
        for _, y, fragment, _, _ in self.placed:
            baseline = fragment.first_baseline
            if baseline is not None:
                return y + baseline
        return None

    @property
    def foot_height(self) -> float:
        """The height of the lower end of the area that the last block covers, in points."""
        return foot_height_of(self.placed[-1].fragment) if self.placed else 0.0

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the label and the blocks."""
        canvas.report(self.problem)
        if self.label is not None and not canvas.is_dry_run:
            self.label(canvas, x, y, self.first_baseline)
        with nullcontext() if self.item is None else canvas.part(self.item, "LBody"):
            for _, offset, fragment, block, _ in self.placed:
                canvas.draw_block(block, fragment, x + self.left, y + offset)

    def find_overflow(self, room: float) -> tuple[nodes.Source, str] | None:
        """Return the first block that reaches below a height, with its first words."""
        for _, y, fragment, block, _ in self.placed:
            if y + fragment.height > room + EPSILON:
                return block.source, _first_words(block)
        return None

    def take(self, count: int) -> StackFragment:
        """Return the first blocks of a stack, at least one, without those below."""
        last = self.placed[count - 1]
        return StackFragment(self.placed[:count], last.y + last.fragment.height)

    def truncate(self, room: float, *, is_cut: bool = False) -> StackFragment | None:
        """Return the blocks that fit into a height; if any is left out, the last one ends in …."""
        kept: list[PlacedFragment] = []
        for number, placed in enumerate(self.placed):
            left = room - placed.y
            is_last = number == len(self.placed) - 1
            fragment = placed.fragment.truncate(left, is_cut=is_cut and is_last)
            if fragment is None:
                if not kept:
                    return None
                last = kept[-1]
                ended = last.fragment.truncate(last.fragment.height, is_cut=True)
                kept[-1] = last._replace(fragment=ended or last.fragment)
                break
            kept.append(placed._replace(fragment=fragment))
            if fragment.height < placed.fragment.height - EPSILON:
                break
        height = kept[-1].y + kept[-1].fragment.height if kept else self.height
        label = self.label, self.item, self.left
        return StackFragment(kept, min(height, self.height), None, "", 0.0, None, *label)


class PlacedBlock(NamedTuple):
    """A fragment of a block at its place; a cell of a grid has a width and height."""

    x: float
    y: float
    fragment: Fragment
    block: AnyBlock
    cell: tuple[float, float] | None = None  # to which positioned boxes in it refer


@dataclass(slots=True)
class RowFragment(WholeFragment):
    """Blocks side by side, each at its place: a row, or rows of a grid.

    `bottom_margin_after` is how far the blocks' bottom margins extend below the row, in points. In a
    row that `is_split` over areas, each block is read to its end before the next one begins.
    """

    placed: list[PlacedBlock]
    height: float
    resume: Resume
    problem: LayoutProblem | None = None
    forced: str = ""
    bottom_margin_after: float = 0.0
    is_split: bool = False

    @property
    def first_baseline(self) -> float | None:
        """The distance from the top to the first baseline of the first block that has one."""
        for _, y, fragment, _, _ in self.placed:
            baseline = fragment.first_baseline
            if baseline is not None:
                return y + baseline
        return None

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the blocks."""
        canvas.report(self.problem)
        outside = canvas.containing_block
        for dx, dy, fragment, block, cell in self.placed:
            if cell is not None:
                canvas.containing_block = Rectangle(x + dx, y + dy, *cell)
            with canvas.part(block, "Div") if self.is_split else nullcontext():
                canvas.draw_block(block, fragment, x + dx, y + dy)
        canvas.containing_block = outside


def lay_out_stack(
    context: LayoutContext,
    blocks: Sequence[AnyBlock],
    region: Region,
    resume: Resume = None,
    *,
    collapses_top: bool = False,
) -> StackFragment | None:
    """Lay out blocks below each other; None when nothing of them fits into `region`.

    `collapses_top` means that the first block's top margin collapses with that of the parent.
    """
    start = resume or StackResume(0, None, False)
    return _StackLayout(context, blocks, region, start, resume is not None, collapses_top).fill()


def top_margin(block: AnyBlock, width: float, *, is_first: bool = False) -> float:
    """Return the collapsed top margin of a block, in points; 0 for `auto`.

    For a block that `is_first` in its container it is what the author states.
    """
    margin = block.style.box.margin.top
    own = 0.0 if is_first and margin.kind is LengthKind.BETWEEN else _points(margin, width)
    if type(block) is nodes.Paragraph:  # most blocks
        return own
    if type(block) is nodes.Row:
        is_open = collapses_child_margins(block.style.box)
        shared = shared_top_margin(block, width, is_first=is_first) if is_open else 0.0
        return collapse_margins(own, shared)
    children = stacked_children(block)
    if children and collapses_child_margins(block.style.box):
        return collapse_margins(own, top_margin(children[0], width, is_first=is_first))
    return own


def lay_out_children(
    context: LayoutContext,
    node: _Stacked,
    region: Region,
    resume: Resume,
    blocks: Sequence[AnyBlock] | None = None,
) -> StackFragment | None:
    """Lay out the children of a node, or the blocks that stand for them, below each other in its box."""
    given = nodes.child_blocks(node) if blocks is None else blocks
    inside = context.inside(node.source)
    return lay_out_stack(
        inside, given, region, resume, collapses_top=collapses_child_margins(node.style.box)
    )


def is_broken_against_style(block: AnyBlock, fragment: Fragment) -> bool:
    """Return whether a block with `break-inside="avoid"` continues elsewhere without a forced break."""
    is_broken = fragment.resume is not None and not fragment.forced
    return is_broken and block.style.breaks.avoid_inside


def in_flow_children(row: nodes.Row) -> list[nodes.Block]:
    """Return the in-flow blocks of a row."""
    return [c for c in row.children if not isinstance(c, nodes.Break) and not is_positioned(c)]


def shared_top_margin(row: nodes.Row, width: float, *, is_first: bool = False) -> float:
    """Return the least top margin of the blocks of a row, in points."""
    margins = [top_margin(child, width, is_first=is_first) for child in in_flow_children(row)]
    return min(margins, default=0.0)


def bottom_margin_after(block: AnyBlock, fragment: Fragment, width: float) -> float:
    """Return the collapsed bottom margin of a block, in points: its own with that of its content."""
    own = _points(block.style.box.margin.bottom, width)
    if type(block) is not nodes.Row and not stacked_children(block):
        return own
    if not collapses_child_margins(block.style.box):
        return own
    inner = fragment.content if isinstance(fragment, BoxFragment) else fragment
    within: float = getattr(inner, "bottom_margin_after", 0.0)
    return collapse_margins(own, within)


def collapse_margins(first: float, second: float) -> float:
    """Return the distance that two adjoining margins collapse to, in points (CSS 2.2, 8.3.1)."""
    return max(first, second, 0.0) + min(first, second, 0.0)


def collapses_child_margins(box: BoxStyle) -> bool:
    """Return whether the margins of children collapse with those of the box."""
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


def _number(placed: PlacedFragment) -> int:
    return placed.number


def _points(length: Length, width: float) -> float:
    return length.resolve(width) or 0.0


def _has_auto_top_margin(block: AnyBlock) -> bool:
    return block.style.box.margin.top.kind is LengthKind.AUTO


def _first_words(block: AnyBlock) -> str:
    if isinstance(block, nodes.Paragraph):
        return shorten_value(plain_text(block.inlines))
    return next((words for child in breaking_children(block) if (words := _first_words(child))), "")


@dataclass(slots=True)
class _StackLayout:
    """One attempt to fill a region."""

    context: LayoutContext
    blocks: Sequence[AnyBlock]
    region: Region
    start: StackResume
    is_resumed: bool
    collapses_top: bool
    placed: list[PlacedFragment] = field(default_factory=list)
    positioned: list[PlacedFragment] = field(default_factory=list)  # blocks out of the flow
    y: float = 0.0
    last_bottom_margin: float = 0.0  # of the last placed block

    def fill(self) -> StackFragment | None:
        for index in range(self.start.child, len(self.blocks)):
            block = self.blocks[index]
            aside = make_out_of_flow(self.context, block) if is_out_of_flow(block) else None
            if aside is not None:
                self.positioned.append(
                    PlacedFragment(index, self.y, aside, block, has_auto_margin=False)
                )
                continue
            forced = self._forced_before(index)
            if forced:
                after = index + 1 if isinstance(block, nodes.Break) else index
                return self._make_fragment(StackResume(after, None, True), forced)
            if self.context.section_ends and self._ends_section(index):
                return self._end_section(index)
            if isinstance(block, nodes.Break):
                if self._needs_more(block):
                    return self._make_fragment(StackResume(index + 1, None, False))
                continue
            inner = self.start.inner if index == self.start.child else None
            fragment = self._place(index, block, inner)
            if fragment is None:
                return self._end_before(index)
            if fragment.resume is not None:
                resume = StackResume(index, fragment.resume, False)
                return self._make_fragment(resume, fragment.forced)
        return self._make_fragment(None)

    def _place(self, index: int, block: AnyBlock, inner: Resume) -> Fragment | None:
        gap = self._gap(index, block)
        region = self.region
        is_top = region.is_top and not self.placed
        left = region.height - self.y - gap
        bottom = None
        if region.bottom is not None and index == len(self.blocks) - 1:
            bottom = region.bottom - self.y - gap
        top = None if region.top is None else region.top + self.y + gap
        given = Region(region.width, left, is_top, bottom, top=top)
        fragment = self.context.lay_out(block, given, inner)
        if fragment is None:
            return None
        if not is_top and (
            fragment.height > left + EPSILON or is_broken_against_style(block, fragment)
        ):
            return None
        self.y += gap
        has_auto_margin = inner is None and _has_auto_top_margin(block)
        self.placed.append(PlacedFragment(index, self.y, fragment, block, has_auto_margin))
        self.y += fragment.height
        self.last_bottom_margin = bottom_margin_after(block, fragment, self.region.width)
        return fragment

    def _gap(self, index: int, block: AnyBlock) -> float:
        width = self.region.width
        if self.placed:
            return collapse_margins(self.last_bottom_margin, top_margin(block, width))
        is_continued = index == self.start.child and self.start.inner is not None
        is_dropped = not self.start.is_forced if self.is_resumed else self.collapses_top
        return 0.0 if is_continued or is_dropped else top_margin(block, width, is_first=True)

    def _forced_before(self, index: int) -> str:
        if not self.placed or self.region.height == inf:
            return ""
        block = self.blocks[index]
        before = self.blocks[index - 1]
        if self.positioned and is_out_of_flow(before):
            before = self.placed[-1].block
        forced = forced_break_after(before) or forced_break_before(block)
        if forced in _ON_SAME_PAGE and self._changes_family(before, block):
            return "page"
        return forced

    def _changes_family(self, before: AnyBlock, block: AnyBlock) -> bool:
        if (
            not self.context.has_page_families
            or isinstance(before, nodes.Break)
            or isinstance(block, nodes.Break)
        ):
            return False
        return _page_family_at(before, -1) != _page_family_at(block, 0)

    def _needs_more(self, block: nodes.Break) -> bool:
        if block.need is None or not self.placed or self.region.height == inf:
            return False
        return self.region.height - self.y < block.need - EPSILON

    def _end_before(self, index: int) -> StackFragment | None:
        """End the stack before a block, or further up where a break is allowed."""
        first = self.start.child
        end = index
        while end > first and self._avoids_break_at(end):
            shortened = self._shorten(end - 1)
            if shortened is not None:
                return shortened
            end -= 1
        if end == first or not self.placed:
            if not self.region.is_top or not self.placed:
                return None
            end = index
        self._drop_from(end)
        if not self.placed and not self.region.is_top:
            return None
        return self._make_fragment(StackResume(end, None, False))

    def _drop_from(self, index: int) -> None:
        for placed in (self.placed, self.positioned):
            while placed and placed[-1].number >= index:
                placed.pop()

    def _shorten(self, index: int) -> StackFragment | None:
        """End the stack inside a placed block, with the rest of it on the page of what follows it.

        None if it cannot be broken. A paragraph that itself avoids a break after it, such as a
        heading, is not broken.
        """
        last = next((placed for placed in self.placed if placed.number == index), None)
        if last is None or (type(last.block) is nodes.Paragraph and avoids_break_after(last.block)):
            return None
        room = last.fragment.height - 2 * EPSILON
        inner = self.start.inner if index == self.start.child else None
        top = None if self.region.top is None else self.region.top + last.y
        region = Region(self.region.width, room, is_top=False, top=top)
        fragment = self.context.lay_out(last.block, region, inner)
        if fragment is None or fragment.resume is None or fragment.height > room + EPSILON:
            return None
        if is_broken_against_style(last.block, fragment):
            return None
        self._drop_from(index)
        self.placed.append(last._replace(fragment=fragment))
        return self._make_fragment(StackResume(index, fragment.resume, False))

    def _ends_section(self, index: int) -> bool:
        """Return whether a block starts with a heading that waiting figures must not pass."""
        if index == self.start.child and self.start.inner is not None:
            return False
        block, ends = self.blocks[index], self.context.section_ends
        while block not in ends:
            children = stacked_children(block)
            if not children or children[0] is not nodes.child_blocks(block)[0]:
                return False  # what comes before the heading out of flow is not of its section
            block = children[0]
        return True

    def _end_section(self, index: int) -> StackFragment:
        """End the stack before the heading of the next section, with what stays with it."""
        end, first = index, self.start.child
        while end > first and self._avoids_break_at(end):
            end -= 1
        if end == first:
            end = index
        self._drop_from(end)
        return self._make_fragment(StackResume(end, None, True), FLOAT_BREAK)

    def _avoids_break_at(self, index: int) -> bool:
        """Return whether a break before a block is avoided; a block out of the flow stays with the block above."""
        above = index - 1
        while above > self.start.child and is_out_of_flow(self.blocks[above]):
            above -= 1
        block = self.blocks[index]
        return (
            is_out_of_flow(block)
            or avoids_break_after(self.blocks[above])
            or avoids_break_before(block)
        )

    def _make_fragment(self, resume: StackResume | None, forced: str = "") -> StackFragment:
        height = self.y
        if resume is not None and self.placed:
            last = self.placed[-1]
            height = last.y + last.fragment.height
        problem = None
        if self.region.bottom is not None and any(placed.has_auto_margin for placed in self.placed):
            height = self._push_to_bottom(height, self.region.bottom)
            is_moved = self.is_resumed and not self.start.is_forced
            is_end = resume is None or resume.is_forced
            if is_moved and is_end and len(self.placed) == 1:
                problem = self._describe_alone(self.placed[0].block)
        placed = (
            sorted((*self.placed, *self.positioned), key=_number)
            if self.positioned
            else self.placed
        )
        return StackFragment(placed, height, resume, forced, self.last_bottom_margin, problem)

    def _describe_alone(self, block: AnyBlock) -> LayoutProblem:
        """Return the warning about a block that was moved to a page of its own."""
        tag = block.source.location.tag_name
        return LayoutProblem(
            code="alone-on-page",
            message=f'The `{tag}` with margin-top="auto" is alone at the foot of its page, because '
            "there was no room left below the text before it",
            advice='Shorten the text, or keep its end with the block: break-after="avoid".',
            chain=self.context.chain(block.source),
            severity=Severity.WARNING,
        )

    def _push_to_bottom(self, height: float, bottom: float) -> float:
        """Distribute the free space above `bottom` among the `auto` top margins."""
        slack = bottom - height
        if slack <= 0:
            return height
        share = slack / sum(placed.has_auto_margin for placed in self.placed)
        shift = 0.0
        for position, placed in enumerate(self.placed):
            if placed.has_auto_margin:
                shift += share
            self.placed[position] = placed._replace(y=placed.y + shift)
        return bottom
