"""The state of areas with figures that float: which wait, which are placed, and dry runs for their anchors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Final, NamedTuple

from workers.engine.layout.context import Fragment, LayoutContext, LayoutProblem, Region
from workers.engine.layout.display import LaidOutPage
from workers.engine.layout.dry_run import DryRunCanvas
from workers.engine.layout.pages.floats.placed import PlacedFloats
from workers.engine.layout.pages.floats.sections import FloatQueue, FlowFloats
from workers.engine.layout.pages.footnotes import FootnoteFiller, PendingNote
from workers.engine.tree.nodes import Container
from workers.engine.tree.page_values import PageValues
from workers.engine.units import mm

_AT_TOP: Final = mm(7)  # a heading above this starts the area, with its own margin

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
