"""Figures that float: an area is filled around the figures at its top and bottom.

Figures of earlier areas come first. Then the area is filled, a dry run finds the anchors of figures
in it, and the first of them is placed: the area is filled again, and if the anchor has left it, the
figure waits for the next area with all that follow, so that their order is kept. The section of a
waiting figure ends the text: its next heading waits too, as does a forced page break.

An area that begins with a waiting figure takes at least that one, and no more than `MAX_NEW`
figures of its own text are tried, so that layout ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, NamedTuple

from workers.engine.layout.blocks import stacks
from workers.engine.layout.blocks.columns import (
    ColumnsFragment,
    FillFunction,
    balance_columns,
    fill_columns,
)
from workers.engine.layout.context import (
    EPSILON,
    AnyBlock,
    Fragment,
    LayoutContext,
    LayoutProblem,
    Region,
    Resume,
)
from workers.engine.layout.pages.footnotes import AreaFragment, FootnoteFiller, pending_notes
from workers.engine.tree.nodes import (
    ColumnLayout,
    Container,
    FloatTo,
    ListBlock,
    ListItem,
    Paragraph,
)
from workers.engine.units import mm

_AT_TOP: Final = mm(7)  # a heading above this starts the area, with its own margin

_LEVELS: Final = {f"H{level}": level for level in range(1, 7)}
_NO_LEVEL: Final = 7  # of a figure before the first heading


class FlowFloats(NamedTuple):
    """The figures of a flow that float: their order, and the heading that ends each one's section.

    In columns, `around` are those that span them.
    """

    order: Mapping[AnyBlock, int]
    ends: Mapping[Container, AnyBlock]
    around: PlacedFloats | None = None


NO_FLOATS: Final = FlowFloats({}, {})


def find_floats(blocks: Sequence[AnyBlock]) -> FlowFloats:
    """Return the figures of a flow that float."""
    order: dict[AnyBlock, int] = {}
    ends: dict[Container, AnyBlock] = {}
    open_: list[tuple[Container, int]] = []
    level = _NO_LEVEL
    for block in _walk(blocks):
        if isinstance(block, Container):
            order[block] = len(order)
            if block.floating is not None and block.floating.stays_in_section:
                open_.append((block, level))
            continue
        level = _LEVELS[block.role.value]
        ends.update((figure, block) for figure, own in open_ if own >= level)
        open_ = [(figure, own) for figure, own in open_ if own < level]
    return FlowFloats(order, ends)


def _walk(blocks: Sequence[AnyBlock]) -> Iterator[Container | Paragraph]:
    """Yield the headings and the figures that float, in document order."""
    for block in blocks:
        match block:
            case Container(floating=floating) if floating is not None:
                yield block
            case Container() | ListBlock() | ListItem():
                yield from _walk(block.children)
            case Paragraph() if block.role.value in _LEVELS:
                yield block
            case _:
                pass


@dataclass(frozen=True, slots=True)
class PlacedFloats:
    """The figures placed in one area so far, in two stacks."""

    tops: stacks.StackFragment
    bottoms: stacks.StackFragment
    problems: tuple[LayoutProblem, ...] = ()
    is_alone: bool = False  # figures of `page`, which stand without text

    def __bool__(self) -> bool:
        return bool(self.nodes)

    def takes(self, to: FloatTo) -> bool:
        """Return whether a figure may follow the others without being seen before one of them."""
        if not self:
            return True
        if self.is_alone or to is FloatTo.PAGE:
            return self.is_alone and to is FloatTo.PAGE
        return to is FloatTo.BOTTOM or not self.bottoms.placed

    @property
    def nodes(self) -> list[AnyBlock]:
        """The figures, those at the top first."""
        return [placed.block for placed in (*self.tops.placed, *self.bottoms.placed)]


def edge_of(node: Container) -> FloatTo:
    """Return where a figure floats to."""
    assert node.floating is not None
    return node.floating.to


# --- areas -------------------------------------------------------------------------------


def fill_with_floats(
    context: LayoutContext,
    blocks: Sequence[AnyBlock],
    region: Region,
    resume: Resume,
    *,
    floats: FlowFloats,
    notes: FootnoteFiller | None,
    columns: ColumnLayout | None = None,
) -> Fragment | None:
    """Fill an area, or a column, with blocks and figures; it has several columns if they are given."""
    return _AreaFill(context, blocks, region, resume, floats, notes, columns).fill()


def fill_balanced(
    context: LayoutContext,
    blocks: Sequence[AnyBlock],
    columns: ColumnLayout,
    region: Region,
    resume: Resume,
    fill: FillFunction,
    notes: FootnoteFiller | None,
) -> ColumnsFragment | None:
    """Fill the columns of an area; those before the end of the flow or a page break may be balanced.

    `fill` fills one of them, with notes by `notes`. Columns with figures, or whose figures or notes
    continue in the next area, stay as they are.
    """
    filled = fill_columns(context, blocks, columns, region, resume, fill=fill)
    if filled is None or not filled.layout.is_balanced:
        return filled
    if filled.resume is not None and (
        filled.resume.aside != stacks.NOTHING or filled.forced not in _PAGE_BREAKS
    ):
        return filled
    if _figures_in(filled):
        return filled

    def try_height(height: float) -> ColumnsFragment | None:
        if notes is None:
            room = Region(region.width, height, is_top=False, top=region.top)
            return fill_columns(context, blocks, columns, room, resume)
        room, fill = region._replace(is_top=False), partial(notes.fill, most=height)
        return fill_columns(context, blocks, columns, room, resume, fill=fill)

    return balance_columns(filled, try_height, _text_height)


def _text_height(fragment: Fragment) -> float:
    """Return the height of the text of a column, without its notes."""
    if not isinstance(fragment, AreaFragment):
        return fragment.height
    return 0.0 if fragment.body is None else fragment.body.height


MAX_NEW: Final = 8  # figures of the text of an area that are tried to stand in it
_MIN_TEXT: Final = 0.15  # of an area: if figures leave less, no text is beside them
_MIN_GAP: Final = mm(4)  # between text and figures
_PAGE_BREAKS: Final = frozenset(("page", "left", "right"))
_SECTION_BREAKS: Final = frozenset((*_PAGE_BREAKS, stacks.FLOAT_BREAK))


@dataclass(slots=True)
class _AreaFill:
    """The filling of one area or column; figures may span the `columns` of an area."""

    _context: LayoutContext
    _blocks: Sequence[AnyBlock]
    _region: Region
    _start: stacks.StackResume | None
    _floats: FlowFloats
    _notes: FootnoteFiller | None
    _columns: ColumnLayout | None
    _placed: PlacedFloats = field(init=False)
    # What waits with the figures placed so far, before the text and after it.
    _before: stacks.SetAside = field(init=False)
    _after: stacks.SetAside = field(init=False)

    def __post_init__(self) -> None:
        """Begin without figures."""
        self._placed = PlacedFloats(stacks.StackFragment([], 0.0), stacks.StackFragment([], 0.0))
        self._before = self._after = stacks.aside_of(self._start)

    def fill(self) -> Fragment | None:
        """Return the area with its text and figures, None where nothing of them fits."""
        self._place_waiting()
        if self._is_held() or self._placed.is_alone or self._has_little_room():
            return self._make_fragment(None)
        body = self._fill_text()
        if not self._before.figures:
            body = self._place_new(body)
        if body is not None:
            body = self._place_last(self._let_rest_wait(body))
        if body is not None and not body.height and body.forced == stacks.FLOAT_BREAK:
            self._before = self._after  # no text comes before the figures: they stand here
            self._place_waiting()
        if body is None and not self._placed:
            return None
        return self._make_fragment(body)

    def _accepts(self, node: Container) -> bool:
        """Return whether a figure stands here: across columns, or in one of them."""
        spans = node.floating is not None and node.floating.spans_columns
        return spans if self._columns is not None else not spans or self._floats.around is None

    def _precedes(self, one: AnyBlock, other: AnyBlock) -> bool:
        """Return whether a figure stands before another in the document."""
        order = self._floats.order
        return order.get(one, 0) < order.get(other, 0)

    def _place(self, node: Container, to: FloatTo) -> tuple[PlacedFloats, Fragment]:
        """Return the figures of the area with one more, and the fragment of this, which is never broken."""
        is_below, placed = to is FloatTo.BOTTOM, self._placed
        blocks = [each.block for each in (placed.bottoms if is_below else placed.tops).placed]
        context, region = self._context._replace(places_floats=False), Region(self._region.width)
        stack = stacks.lay_out_stack(context, [*blocks, node], region, collapses_top=True)
        assert stack is not None
        if is_below:
            longer = replace(placed, bottoms=stack)
        else:
            longer = replace(placed, tops=stack, is_alone=to is FloatTo.PAGE)
        return longer, stack.placed[-1].fragment

    # --- figures of earlier areas -------------------------------------------------------------------

    def _place_waiting(self) -> None:
        """Place figures that wait, as many as fit one after the other."""
        while (waiting := self._before.figures) and self._accepts(waiting[0]):
            node = waiting[0]
            if self._is_below_columns(node):
                return
            to = edge_of(node)
            if not self._placed.takes(to):
                return
            placed, fragment = self._place(node, to)
            if placed.tops.height + placed.bottoms.height > self._region.height + EPSILON:
                if self._placed or not self._region.is_top:
                    return
                problem = self._context.too_tall(
                    node.source, needed=fragment.height, available=self._region.height
                )
                placed = replace(placed, problems=(problem,))
            self._placed = placed
            self._before = self._after = self._take(fragment, waiting[1:])

    def _take(self, fragment: Fragment, waiting: tuple[Container, ...]) -> stacks.SetAside:
        """Return what waits before the text once a figure is placed, whose notes are called here."""
        called = () if self._notes is None else pending_notes(self._notes.find_calls(fragment))
        return self._before._replace(notes=(*self._before.notes, *called), figures=waiting)

    def _is_held(self) -> bool:
        """Return whether the text waits for figures; around columns, they are filled with these."""
        return bool(self._before.held_break) and (self._columns is None or not self._before.figures)

    def _has_little_room(self) -> bool:
        if not self._placed or (self._start is not None and self._is_over(self._start)):
            return False
        room = self._region.height - sum(self._heights(self._placed))
        return room < self._region.height * _MIN_TEXT

    # --- figures of this area -----------------------------------------------------------------------

    def _fill_text(self) -> Fragment | None:
        region = self._region
        above, below = self._heights(self._placed)
        height = region.height - above - below
        bottom = None if region.bottom is None else region.bottom - above - below
        is_top = region.is_top and not self._placed
        top = None if region.top is None else region.top + above
        inner = Region(region.width, max(height, 0.0), is_top, bottom, top=top)
        before = self._before
        start = stacks.set_aside(self._start, before, stacks.StackResume(0, None, True))
        body = self._lay_out(inner, start)
        after = before if body is None else stacks.aside_of(body.resume)
        # Figures wait beside a text; columns place them or find others.
        self._after = before._replace(notes=after.notes) if self._columns is None else after
        return body

    def _lay_out(self, region: Region, at: stacks.StackResume | None) -> Fragment | None:
        """Lay out text that ends with the section of a waiting figure."""
        ends = (self._floats.ends.get(node) for node in self._before.figures)
        section_ends = frozenset(end for end in ends if end is not None)
        context, notes = self._context._replace(section_ends=section_ends), self._notes
        if self._columns is None:
            fill = stacks.lay_out_stack if notes is None else notes.fill
            return fill(context, self._blocks, region, at)
        in_column = partial(
            fill_with_floats, floats=self._floats._replace(around=self._placed), notes=notes
        )
        return fill_balanced(context, self._blocks, self._columns, region, at, in_column, notes)

    def _place_new(self, body: Fragment | None) -> Fragment | None:
        """Place figures of this area while their anchors stay in it; return the text around them."""
        for _ in range(MAX_NEW):
            if body is None:
                break
            found = self._context.dry_run(body)
            node = self._find_next(found.floats, body)
            if node is None:
                break
            to = edge_of(node)
            if to is FloatTo.TOP and found.outline and found.outline[0].y < _AT_TOP:
                to = FloatTo.BOTTOM  # a figure above the title would belong to the section before
            if not self._keeps_order(node, to, body):
                break
            trial = self._try(node, to)
            if trial is None:
                break
            body = trial
        return body

    def _try(
        self,
        node: Container,
        to: FloatTo,
        *,
        waiting: tuple[Container, ...] | None = None,
        least: Fragment | None = None,
    ) -> Fragment | None:
        """Place a figure; return the text around it, None where it does not stay.

        `waiting` are the figures that wait then, None for those of before; `least` is a text of which
        nothing may go.
        """
        known = self._placed, self._before, self._after
        self._placed, fragment = self._place(node, to)
        self._before = self._take(fragment, self._before.figures if waiting is None else waiting)
        trial = self._fill_text()
        is_cut = trial is not None and least is not None and self._is_cut(trial, least)
        if trial is None or is_cut or not self._holds(trial, node):
            self._placed, self._before, self._after = known
            return None
        return trial

    def _find_next(self, anchors: Iterable[Container], body: Fragment) -> Container | None:
        """Return the next figure to place: the first deferred one, or the next in the text."""
        new = self._after.figures or self._find_new(anchors, body)
        return new[0] if new and self._accepts(new[0]) else None

    def _find_new(self, anchors: Iterable[Container], body: Fragment) -> list[Container]:
        """Return the figures of a text that are not placed."""
        placed = {*self._placed.nodes, *_figures_in(body)}
        if self._floats.around is not None:
            placed.update(self._floats.around.nodes)
        return [node for node in anchors if node not in placed]

    def _keeps_order(self, node: Container, to: FloatTo, body: Fragment) -> bool:
        if to is FloatTo.PAGE or not self._placed.takes(to):
            return False
        if self._columns is None:
            return not self._is_below_columns(node)
        # Figures in the columns stand below one at the top, and above one at the bottom.
        is_first = not any(self._precedes(one, node) for one in _figures_in(body))
        return to is FloatTo.BOTTOM or is_first

    def _is_below_columns(self, node: Container) -> bool:
        """Return whether an earlier figure stands below the column."""
        if self._floats.around is None:
            return False
        bottoms = self._floats.around.bottoms.placed
        return any(self._precedes(other.block, node) for other in bottoms)

    def _holds(self, trial: Fragment, node: Container) -> bool:
        """Return whether the text has the anchors of its figures, and none before `node` waits."""
        above, below = self._heights(self._placed)
        if above + trial.height + below > self._region.height + EPSILON:
            return False
        if any(self._precedes(other, node) for other in self._after.figures):
            return False
        return set(self._placed.nodes) <= set(self._context.dry_run(trial).floats)

    def _place_last(self, body: Fragment | None) -> Fragment | None:
        """Place figures that wait below text that ends here, instead of alone in the next area."""
        for _ in range(MAX_NEW):
            waiting = self._after.figures
            if body is None or not waiting or not self._ends_here(body):
                break
            node, rest = waiting[0], waiting[1:]
            if not self._accepts(node) or edge_of(node) is FloatTo.PAGE:
                break
            if not self._keeps_order(node, FloatTo.BOTTOM, body):
                break
            # Those around columns are found by filling these again.
            left = rest if self._columns is None else None
            trial = self._try(node, FloatTo.BOTTOM, waiting=left, least=body)
            if trial is None:
                break
            # The section that waited for the figure may go on, with figures of its own.
            body = self._let_rest_wait(trial)
        return body

    def _ends_here(self, body: Fragment) -> bool:
        """Return whether the text of the section, or before a page break, ends in this area."""
        is_over = body.resume is None or self._is_over(body.resume)
        return is_over or bool(self._after.held_break) or body.forced in _SECTION_BREAKS

    @property
    def _over(self) -> stacks.StackResume:
        """The position behind the last block."""
        return stacks.StackResume(len(self._blocks), None, False)

    def _is_over(self, at: stacks.StackResume) -> bool:
        return at.child >= len(self._blocks)

    def _is_cut(self, trial: Fragment, body: Fragment) -> bool:
        """Return whether a trial has less text than there was before."""
        if body.forced == stacks.FLOAT_BREAK:
            return False
        return (trial.resume or self._over)[:3] != (body.resume or self._over)[:3]

    def _let_rest_wait(self, body: Fragment) -> Fragment | None:
        """Defer the figures that are not placed; their sections end the text."""
        new = self._find_new(self._context.dry_run(body).floats, body)
        rest = [node for node in new if node not in self._after.figures]
        if not rest:
            return body
        before, after, waiting = self._before, self._after, (*self._before.figures, *rest)
        self._before = before._replace(figures=waiting)
        shorter = self._fill_text()
        self._before = before
        here = () if shorter is None else self._context.dry_run(shorter).floats
        if not {*self._placed.nodes} & {*self._context.dry_run(body).floats} <= {*here}:
            # A figure that stands here would leave with its anchor, and be drawn twice.
            self._after = after._replace(figures=waiting)
            return body
        kept = {*before.figures, *here}
        self._after = self._after._replace(figures=tuple([n for n in waiting if n in kept]))
        return shorter

    # --- the result ---------------------------------------------------------------------------------

    def _make_fragment(self, body: Fragment | None) -> Fragment:
        after = self._after
        forced = "" if body is None or body.forced == stacks.FLOAT_BREAK else body.forced
        if after.figures and forced in _PAGE_BREAKS:
            after, forced = after._replace(held_break=forced), ""
        elif after.held_break and not after.figures:
            after, forced = after._replace(held_break=""), after.held_break
        rest = (self._start or stacks.StackResume(0, None, False)) if body is None else body.resume
        if rest is not None and self._is_over(rest):
            rest = None
        resume = stacks.set_aside(rest, after, self._over)
        if not self._placed and body is not None and (body.resume, body.forced) == (resume, forced):
            return body
        height = self._region.height if self._placed else (0.0 if body is None else body.height)
        above, below = self._heights(self._placed)
        tops, bottoms = self._placed.tops, self._placed.bottoms
        lower_edge = height - bottoms.height
        if bottoms.placed:
            lower_edge -= stacks.foot_height_of(body)
        floats = [(0.0, each) for each in tops.placed]
        floats += [(lower_edge, each) for each in bottoms.placed]
        # The notes of a text are below the figures around it.
        text = body if isinstance(body, AreaFragment) else AreaFragment(body, height, resume)
        return replace(
            text,
            height=height,
            resume=resume,
            forced=forced,
            problems=(*text.problems, *self._placed.problems),
            floats=floats,
            body_top=above,
            around=above + below,
        )

    def _heights(self, placed: PlacedFloats) -> tuple[float, float]:
        """Return the heights that figures take at the top and at the bottom, with the gap to the text."""
        above, below = placed.tops.height, placed.bottoms.height
        if placed.tops.placed:
            above += max(placed.tops.bottom_margin_after, _MIN_GAP)
        if placed.bottoms.placed:
            first = placed.bottoms.placed[0].block
            below += max(stacks.top_margin(first, self._region.width), _MIN_GAP)
        return above, below


def _figures_in(body: Fragment) -> list[AnyBlock]:
    """Return the figures placed in the columns of a text."""
    columns = body.columns if isinstance(body, ColumnsFragment) else ()
    areas = [area for _, area in columns if isinstance(area, AreaFragment)]
    return [placed.block for area in areas for _, placed in area.floats]
