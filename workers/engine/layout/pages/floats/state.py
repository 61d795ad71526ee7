"""Figures that float: which wait, which are placed, the area around them, and the ends of sections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Final, NamedTuple

from workers.engine.layout.context import (
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
from workers.engine.layout.pages.footnotes import FootnoteFiller, PendingNote
from workers.engine.tree.nodes import Container, FloatTo, ListBlock, ListItem, Paragraph
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
            case Container() | ListItem():
                yield from _walk(block.children)
            case ListBlock():
                yield from _walk(block.items)
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


class FloatState:
    """The state of the areas of one flow on one page; `queue` is what the next area starts with."""

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
        self._context = context
        self._page = page
        self._values = values
        self._floats = floats
        self.notes = notes
        self.around = PlacedFloats()  # the figures that span the columns being filled
        self._taken: frozenset[Container] = frozenset()  # placed in the area that is being filled

    def begin(self) -> None:
        """Start an area."""
        self._taken = frozenset()

    def save(self) -> SavedState:
        """Return the state that a trial changes."""
        pending = () if self.notes is None else self.notes.pending
        return SavedState(self.queue, self._taken, pending)

    def restore(self, state: SavedState) -> None:
        """Return to a saved state."""
        self.queue, self._taken = state.queue, state.taken
        if self.notes is not None:
            self.notes.pending = state.pending

    def take(self, node: Container, fragment: Fragment) -> None:
        """Count a figure as placed in this area, and the notes called in it as called here."""
        self._taken |= {node}
        if self.notes is not None:
            self.notes.add_calls(fragment)

    def precedes(self, one: Container, other: Container) -> bool:
        """Return whether a figure stands before another in the document."""
        order = self._floats.order
        return order.get(one, 0) < order.get(other, 0)

    def has_in_columns(self, node: Container) -> bool:
        """Return whether an earlier figure is placed in the columns."""
        spanning = self.around.nodes
        return any(one not in spanning and self.precedes(one, node) for one in self._taken)

    def is_taken(self, node: Container) -> bool:
        """Return whether a figure is placed in this area."""
        return node in self._taken

    def trace(self, fragment: Fragment) -> Trace:
        """Return the figures whose anchors stand in a fragment, in order."""
        canvas = DryRunCanvas(self._page, self._values)
        fragment.draw(canvas, 0.0, 0.0)
        headings = canvas.outline
        return Trace(list(canvas.floats), bool(headings) and headings[0].y < _AT_TOP)

    def lay_out(self, node: Container, width: float) -> Fragment:
        """Lay out a figure, which is never broken."""
        fragment = self._context.lay_out(node, Region(width, inf))
        assert fragment is not None
        return fragment

    def fill_around(self, fill: FillText, region: Region) -> Fragment | None:
        """Fill the text of an area, up to the end of the section of a waiting figure."""
        ends = (self._floats.ends.get(node) for node in self.queue.waiting)
        section_ends = frozenset(end for end in ends if end is not None)
        return fill(self._context._replace(section_ends=section_ends), region)

    def describe_too_tall(self, node: Container, height: float, room: float) -> LayoutProblem:
        """Return the problem of a figure that no area is high enough for."""
        return self._context.too_tall(node.source, needed=height, available=room)
