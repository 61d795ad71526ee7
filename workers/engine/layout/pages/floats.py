"""Figures that float: an area is filled around the figures at its top and bottom.

Figures of earlier areas come first. Then the area is filled, a dry run finds the anchors of figures
in it, and the first of them is placed: the area is filled again, and if the anchor has left it, the
figure waits for the next area with all that follow, so that their order is kept. The section of a
waiting figure ends the text: its next heading waits too, as does a forced page break.

An area that begins with a waiting figure takes at least that one, and no more than `MAX_NEW`
figures of its own text are tried, so that layout ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
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
    DryRunCanvas,
    Fragment,
    LayoutContext,
    LayoutProblem,
    PageCanvas,
    Region,
    Resume,
    WholeFragment,
)
from workers.engine.layout.display import LaidOutPage
from workers.engine.layout.pages.footnotes import (
    FootnoteFiller,
    FootnoteFragment,
    PendingNote,
    used_height,
)
from workers.engine.tree.nodes import (
    ColumnLayout,
    Container,
    FloatTo,
    ListBlock,
    ListItem,
    Paragraph,
)
from workers.engine.tree.page_values import PageValues
from workers.engine.units import mm

_AT_TOP: Final = mm(7)  # a heading above this starts the area, with its own margin

_LEVELS: Final = {f"H{level}": level for level in range(1, 7)}
_NO_LEVEL: Final = 7  # of a figure before the first heading


class FlowFloats(NamedTuple):
    """The figures of a flow that float: their order, and the heading that ends each one's section."""

    order: Mapping[Container, int]
    ends: Mapping[Container, AnyBlock]


NO_FLOATS: Final = FlowFloats({}, {})


class FloatQueue(NamedTuple):
    """The figures that wait for the next area, and the page break that waits for them."""

    waiting: tuple[Container, ...] = ()
    held_break: str = ""


EMPTY_QUEUE: Final = FloatQueue()


def find_floats(blocks: Sequence[AnyBlock]) -> FlowFloats:
    """Return the figures of a flow that float."""
    order: dict[Container, int] = {}
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


# --- placed figures ----------------------------------------------------------------------


class PlacedFloat(NamedTuple):
    """A figure at `y` points from the upper or lower edge of its area."""

    node: Container
    fragment: Fragment
    y: float


@dataclass(slots=True)
class FloatingFragment(WholeFragment):
    """The content of an area with figures above and below it; `used_height` is theirs together."""

    floats: Sequence[PlacedFloat]
    body: Fragment | None
    body_top: float
    height: float
    used_height: float
    resume: Resume
    forced: str
    problems: tuple[LayoutProblem, ...] = ()

    @property
    def first_baseline(self) -> float | None:
        """The distance from the top to the first baseline of the content, in points."""
        baseline = None if self.body is None else self.body.first_baseline
        return None if baseline is None else self.body_top + baseline

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the content, then the figures, whose anchors have been drawn by then."""
        for problem in self.problems:
            canvas.report(problem)
        if self.body is not None:
            self.body.draw(canvas, x, y + self.body_top)
        for node, fragment, offset in self.floats:
            with canvas.part(node, "Div"):
                fragment.draw(canvas, x, y + offset)


@dataclass(frozen=True, slots=True)
class PlacedFloats:
    """The figures placed in one area so far."""

    tops: tuple[tuple[Container, Fragment], ...] = ()
    bottoms: tuple[tuple[Container, Fragment], ...] = ()
    problems: tuple[LayoutProblem, ...] = ()
    is_alone: bool = False  # figures of `page`, which stand without text

    def __bool__(self) -> bool:
        return bool(self.tops or self.bottoms)

    def add(self, node: Container, fragment: Fragment, to: FloatTo) -> PlacedFloats:
        """Return the figures with one more."""
        if to is FloatTo.BOTTOM:
            return replace(self, bottoms=(*self.bottoms, (node, fragment)))
        is_alone = to is FloatTo.PAGE
        return replace(self, tops=(*self.tops, (node, fragment)), is_alone=is_alone)

    def takes(self, to: FloatTo) -> bool:
        """Return whether a figure may follow the others without being seen before one of them."""
        if not self:
            return True
        if self.is_alone or to is FloatTo.PAGE:
            return self.is_alone and to is FloatTo.PAGE
        return to is FloatTo.BOTTOM or not self.bottoms

    @property
    def nodes(self) -> tuple[Container, ...]:
        """The figures, those at the top first."""
        return tuple(node for node, _ in (*self.tops, *self.bottoms))


def edge_of(node: Container) -> FloatTo:
    """Return where a figure floats to."""
    assert node.floating is not None
    return node.floating.to


# --- the state of areas ------------------------------------------------------------------

FillText = Callable[[LayoutContext, Region], "Fragment | None"]


class SavedState(NamedTuple):
    """State that the filling of an area changes: figures that wait or are placed, and pending notes."""

    queue: FloatQueue
    taken: frozenset[Container]
    pending: tuple[PendingNote, ...]


class Trace(NamedTuple):
    """Findings of a dry run: the anchors in the text of an area, and whether it starts with a title."""

    floats: Sequence[Container]
    starts_with_heading: bool


class FloatFiller:
    """Fills the areas of one flow on one page; `queue` is what the next area starts with."""

    def __init__(
        self,
        context: LayoutContext,
        page: LaidOutPage,
        values: PageValues,
        *,
        floats: FlowFloats,
        queue: FloatQueue,
        notes: FootnoteFiller | None,
    ) -> None:
        self.queue = queue
        self.context = context
        self._page = page
        self._values = values
        self._floats = floats
        self.notes = notes
        self.around = PlacedFloats()  # the figures that span the columns being filled
        self.taken: frozenset[Container] = frozenset()  # placed in the area that is being filled

    def save(self) -> SavedState:
        """Return the state that a trial changes."""
        pending = () if self.notes is None else self.notes.pending
        return SavedState(self.queue, self.taken, pending)

    def restore(self, state: SavedState) -> None:
        """Return to a saved state."""
        self.queue, self.taken = state.queue, state.taken
        if self.notes is not None:
            self.notes.pending = state.pending

    def take(self, node: Container, fragment: Fragment) -> None:
        """Count a figure as placed in this area, and the notes called in it as called here."""
        self.taken |= {node}
        if self.notes is not None:
            self.notes.add_calls(fragment)

    def precedes(self, one: Container, other: Container) -> bool:
        """Return whether a figure stands before another in the document."""
        order = self._floats.order
        return order.get(one, 0) < order.get(other, 0)

    def has_in_columns(self, node: Container) -> bool:
        """Return whether an earlier figure is placed in the columns."""
        spanning = self.around.nodes
        return any(one not in spanning and self.precedes(one, node) for one in self.taken)

    def trace(self, fragment: Fragment) -> Trace:
        """Return the figures whose anchors stand in a fragment, in order."""
        canvas = DryRunCanvas(self._page, self._values)
        fragment.draw(canvas, 0.0, 0.0)
        headings = canvas.outline
        return Trace(list(canvas.floats), bool(headings) and headings[0].y < _AT_TOP)

    def lay_out(self, node: Container, width: float) -> Fragment:
        """Lay out a figure, which is never broken."""
        fragment = self.context.lay_out(node, Region(width, inf))
        assert fragment is not None
        return fragment

    def fill_around(self, fill: FillText, region: Region) -> Fragment | None:
        """Fill the text of an area, up to the end of the section of a waiting figure."""
        ends = (self._floats.ends.get(node) for node in self.queue.waiting)
        section_ends = frozenset(end for end in ends if end is not None)
        return fill(self.context._replace(section_ends=section_ends), region)

    def fill(
        self, _context: LayoutContext, blocks: Sequence[AnyBlock], region: Region, resume: Resume
    ) -> Fragment | None:
        """Fill an area of one column."""
        self.taken = frozenset()
        return self._fill_column(_context, blocks, region, resume, accepts=_accept_all)

    def fill_columns(
        self, blocks: Sequence[AnyBlock], columns: ColumnLayout, region: Region, resume: Resume
    ) -> Fragment | None:
        """Fill an area of several columns, which figures may span."""
        self.taken = frozenset()

        def fill(context: LayoutContext, inner: Region) -> Fragment | None:
            def fill_all(fill: FillFunction, room: Region) -> ColumnsFragment | None:
                return fill_columns(context, blocks, columns, room, resume, fill=fill)

            column = partial(self._fill_column, accepts=_accept_in_column)
            return fill_balanced(fill_all, column, inner, self.notes, may_balance=self._is_text)

        area = AreaFill(self, blocks, region, resume, fill, _accept_spanning, spans_columns=True)
        return area.fill()

    def _is_text(self, filled: ColumnsFragment) -> bool:
        """Return whether no figure is in the columns or waits, though some may around them."""
        parts = (fragment for _, fragment in filled.columns)
        return not self.queue.waiting and not any(isinstance(p, FloatingFragment) for p in parts)

    def _fill_column(
        self,
        _context: LayoutContext,
        blocks: Sequence[AnyBlock],
        region: Region,
        resume: Resume,
        *,
        accepts: Callable[[Container], bool],
    ) -> Fragment | None:
        fill_text = stacks.lay_out_stack if self.notes is None else self.notes.fill

        def fill(context: LayoutContext, inner: Region) -> Fragment | None:
            return fill_text(context, blocks, inner, resume)

        return AreaFill(self, blocks, region, resume, fill, accepts).fill()


def fill_balanced(
    fill_all: Callable[[FillFunction, Region], ColumnsFragment | None],
    fill: FillFunction,
    region: Region,
    notes: FootnoteFiller | None,
    *,
    may_balance: Callable[[ColumnsFragment], bool] = lambda _: True,
) -> ColumnsFragment | None:
    """Fill the columns of an area; those before the end of the flow or a page break may be balanced.

    `fill_all` fills them one by one by `fill`, which adds notes by `notes`. Columns whose notes continue
    in the next area stay as they are.
    """
    before = () if notes is None else notes.pending
    filled = fill_all(fill, region)
    if filled is None or not filled.layout.is_balanced or not may_balance(filled):
        return filled
    if filled.resume is not None and filled.forced not in _PAGE_BREAKS:
        return filled
    if notes is None:

        def try_without_notes(height: float) -> ColumnsFragment | None:
            room = Region(region.width, height, is_top=False, top=region.top)
            return fill_all(stacks.lay_out_stack, room)

        return balance_columns(filled, try_without_notes)
    if notes.pending:
        return filled

    def try_height(height: float) -> ColumnsFragment | None:
        notes.pending = before
        trial = fill_all(partial(notes.fill, most=height), region._replace(is_top=False))
        return None if notes.pending else trial

    best = balance_columns(filled, try_height, _text_height)
    notes.pending = ()
    return best


def _text_height(fragment: Fragment) -> float:
    """Return the height of the text of a column, without its notes."""
    if not isinstance(fragment, FootnoteFragment):
        return fragment.height
    return 0.0 if fragment.body is None else fragment.body.height


MAX_NEW: Final = 8  # figures of the text of an area that are tried to stand in it
_MIN_TEXT: Final = 0.15  # of an area: if figures leave less, no text is beside them
_MIN_GAP: Final = mm(4)  # between text and figures
_PAGE_BREAKS: Final = frozenset(("page", "left", "right"))
_SECTION_BREAKS: Final = frozenset((*_PAGE_BREAKS, stacks.FLOAT_BREAK))


class AreaFill:
    """The filling of one area or column; `spans_columns` for the whole of an area with columns."""

    def __init__(
        self,
        state: FloatFiller,
        blocks: Sequence[AnyBlock],
        region: Region,
        resume: Resume,
        fill: FillText,
        accepts: Callable[[Container], bool],
        *,
        spans_columns: bool = False,
    ) -> None:
        self._state = state
        self._spans_columns = spans_columns
        self._region = region
        self._start = resume or stacks.StackResume(0, None, False)
        self._over = stacks.StackResume(len(blocks), None, False)
        self._fill = fill
        self._accepts = accepts
        self._placed = PlacedFloats()
        self._before = state.save()  # with the figures placed so far, without the text

    def fill(self) -> Fragment | None:
        """Return the area with its text and figures, None where nothing of them fits."""
        self._place_waiting()
        state = self._state
        if self._is_held() or self._placed.is_alone or self._has_little_room():
            return self._make_fragment(None)
        self._before = state.save()
        body = self._fill_text()
        if not self._before.queue.waiting:
            body = self._place_new(body)
        if body is not None:
            body = self._place_last(self._let_rest_wait(body))
        if body is None and not self._placed:
            return None
        return self._make_fragment(body)

    # --- figures of earlier areas -------------------------------------------------------------------

    def _place_waiting(self) -> None:
        """Place figures that wait, as many as fit one after the other."""
        state = self._state
        while (waiting := state.queue.waiting) and self._accepts(waiting[0]):
            node = waiting[0]
            if self._is_below_columns(node):
                return
            fragment, to = state.lay_out(node, self._region.width), edge_of(node)
            if not self._placed.takes(to):
                return
            placed = self._placed.add(node, fragment, to)
            if sum(self._heights(placed, has_text=False)) > self._region.height + EPSILON:
                if self._placed or not self._region.is_top:
                    return
                problem = state.context.too_tall(
                    node.source, needed=fragment.height, available=self._region.height
                )
                placed = replace(placed, problems=(problem,))
            self._placed = placed
            state.queue = state.queue._replace(waiting=waiting[1:])
            state.take(node, fragment)

    def _is_held(self) -> bool:
        """Return whether the text waits for figures; around columns, they are filled with these."""
        queue = self._state.queue
        return bool(queue.held_break) and not (self._spans_columns and queue.waiting)

    def _has_little_room(self) -> bool:
        if not self._placed or self._start == self._over:
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
        if self._spans_columns:
            self._state.around = self._placed
        return self._state.fill_around(self._fill, inner)

    def _place_new(self, body: Fragment | None) -> Fragment | None:
        """Place figures of this area while their anchors stay in it; return the text around them."""
        state = self._state
        for _ in range(MAX_NEW):
            if body is None:
                break
            found = state.trace(body)
            node = self._find_next(found.floats)
            if node is None:
                break
            to = edge_of(node)
            if to is FloatTo.TOP and found.starts_with_heading:
                to = FloatTo.BOTTOM  # a figure above the title would belong to the section before
            if not self._keeps_order(node, to):
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
        state = self._state
        fragment = state.lay_out(node, self._region.width)
        placed, after = self._placed, state.save()
        state.restore(self._before)
        state.take(node, fragment)
        if waiting is not None:
            state.queue = state.queue._replace(waiting=waiting)
        before = state.save()
        self._placed = placed.add(node, fragment, to)
        trial = self._fill_text()
        is_cut = trial is not None and least is not None and self._is_cut(trial, least)
        if trial is None or is_cut or not self._holds(trial, node):
            self._placed = placed
            state.restore(after)
            return None
        self._before = before
        return trial

    def _find_next(self, anchors: Sequence[Container]) -> Container | None:
        """Return the next figure to place: the first deferred one, or the next in the text."""
        waiting = self._state.queue.waiting
        new = waiting or [node for node in anchors if node not in self._state.taken]
        return new[0] if new and self._accepts(new[0]) else None

    def _keeps_order(self, node: Container, to: FloatTo) -> bool:
        if to is FloatTo.PAGE or not self._placed.takes(to):
            return False
        if not self._spans_columns:
            return not self._is_below_columns(node)
        # Figures in the columns stand below one at the top, and above one at the bottom.
        return to is FloatTo.BOTTOM or not self._state.has_in_columns(node)

    def _is_below_columns(self, node: Container) -> bool:
        """Return whether an earlier figure stands below the column."""
        if self._spans_columns:
            return False
        return any(self._state.precedes(other, node) for other, _ in self._state.around.bottoms)

    def _holds(self, trial: Fragment, node: Container) -> bool:
        """Return whether the text has the anchors of its figures, and none before `node` waits."""
        above, below = self._heights(self._placed)
        if above + trial.height + below > self._region.height + EPSILON:
            return False
        state = self._state
        if any(state.precedes(other, node) for other in state.queue.waiting):
            return False
        return set(self._placed.nodes) <= set(state.trace(trial).floats)

    def _place_last(self, body: Fragment | None) -> Fragment | None:
        """Place figures that wait below text that ends here, instead of alone in the next area."""
        for _ in range(MAX_NEW):
            waiting = self._state.queue.waiting
            if body is None or not waiting or not self._ends_here(body):
                break
            node, rest = waiting[0], waiting[1:]
            if not self._accepts(node) or edge_of(node) is FloatTo.PAGE:
                break
            if not self._keeps_order(node, FloatTo.BOTTOM):
                break
            # Those around columns are found by filling these again.
            left = None if self._spans_columns else rest
            trial = self._try(node, FloatTo.BOTTOM, waiting=left, least=body)
            if trial is None:
                break
            body = trial
        return body

    def _ends_here(self, body: Fragment) -> bool:
        """Return whether the text of the section, or before a page break, ends in this area."""
        is_over = body.resume is None or body.resume == self._over
        return is_over or bool(self._state.queue.held_break) or body.forced in _SECTION_BREAKS

    def _is_cut(self, trial: Fragment, body: Fragment) -> bool:
        """Return whether a trial has less text than there was before."""
        if body.forced == stacks.FLOAT_BREAK:
            return False
        return (trial.resume or self._over) != (body.resume or self._over)

    def _let_rest_wait(self, body: Fragment) -> Fragment | None:
        """Defer the figures that are not placed; their sections end the text."""
        state = self._state
        anchors = state.trace(body).floats
        known = set(state.queue.waiting)
        rest = tuple(a for a in anchors if a not in state.taken and a not in known)
        if not rest:
            return body
        queue = self._before.queue
        waiting = (*queue.waiting, *rest)
        state.restore(self._before._replace(queue=queue._replace(waiting=waiting)))
        shorter = self._fill_text()
        if shorter is None:
            return None
        here = set(state.trace(shorter).floats)
        state.queue = state.queue._replace(
            waiting=tuple(node for node in waiting if node in here or node in queue.waiting)
        )
        return shorter

    # --- the result ---------------------------------------------------------------------------------

    def _make_fragment(self, body: Fragment | None) -> Fragment:
        state = self._state
        resume = self._start if body is None else body.resume
        forced = "" if body is None else body.forced
        queue = state.queue
        if forced == stacks.FLOAT_BREAK:
            forced = ""
        if queue.waiting and resume is None:
            resume = self._over
        if queue.waiting and forced in _PAGE_BREAKS:
            state.queue, forced = queue._replace(held_break=forced), ""
        elif queue.held_break and not queue.waiting:
            state.queue, forced = EMPTY_QUEUE, queue.held_break
        if not self._placed and body is not None and (body.resume, body.forced) == (resume, forced):
            return body
        height = self._region.height if self._placed else (0.0 if body is None else body.height)
        above, below = self._heights(self._placed)
        lower_edge = height
        if self._placed.bottoms:
            lower_edge -= stacks.foot_height_of(body)
            if isinstance(body, FootnoteFragment):  # its notes are below the figures
                body = replace(body, height=body.height + below)
        bottoms = self._placed.bottoms
        lower_edge -= self._height_of(bottoms, has_text=False, is_below=True)
        floats = (*self._stack(self._placed.tops, 0.0), *self._stack(bottoms, lower_edge))
        used = above + below + (0.0 if body is None else used_height(body))
        problems = self._placed.problems
        return FloatingFragment(floats, body, above, height, used, resume, forced, problems)

    def _heights(self, placed: PlacedFloats, *, has_text: bool = True) -> tuple[float, float]:
        """Return the heights that figures take at the top and at the bottom of the area."""
        above = self._height_of(placed.tops, has_text=has_text)
        return above, self._height_of(placed.bottoms, has_text=has_text, is_below=True)

    def _height_of(
        self,
        floats: Sequence[tuple[Container, Fragment]],
        *,
        has_text: bool,
        is_below: bool = False,
    ) -> float:
        if not floats:
            return 0.0
        width, total, margin = self._region.width, 0.0, None
        for node, fragment in floats:
            top, bottom = stacks.margins_of(node, width)
            if margin is None:
                total += max(top, _MIN_GAP) if is_below and has_text else 0.0
            else:
                total += stacks.collapse_margins(margin, top)
            total, margin = total + fragment.height, bottom
        return total if is_below or not has_text else total + max(margin or 0.0, _MIN_GAP)

    def _stack(
        self, floats: Sequence[tuple[Container, Fragment]], y: float
    ) -> Iterator[PlacedFloat]:
        margin: float | None = None
        for node, fragment in floats:
            top, bottom = stacks.margins_of(node, self._region.width)
            y += 0.0 if margin is None else stacks.collapse_margins(margin, top)
            yield PlacedFloat(node, fragment, y)
            y, margin = y + fragment.height, bottom


def _accept_all(_node: Container) -> bool:
    return True


def _accept_spanning(node: Container) -> bool:
    return node.floating is not None and node.floating.spans_columns


def _accept_in_column(node: Container) -> bool:
    return not _accept_spanning(node)
