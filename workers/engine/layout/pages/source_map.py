"""Source maps: rectangles of a page with the source of the element that covers them.

An editor uses them to navigate between the preview and the template. Items have owners, from which
the extent of each element follows; boxes report their border box to the canvas in addition.
Ordinary renders use a canvas that does not record it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf, radians
from typing import Any, ClassVar, Final, NamedTuple

from fontTools.misc.arrayTools import unionRect
from fontTools.misc.transform import Identity, Transform

from workers.engine.diagnostics import SourceLocation
from workers.engine.layout import display
from workers.engine.layout.context import Bounds, FreeZone, LayoutProblem, PageCanvas
from workers.engine.tree.document import PageMaster
from workers.engine.tree.nodes import LoopStep, Source, SourceNode
from workers.engine.units import mm

# The edges of a rectangle: left, top, right, bottom.
Edges = tuple[float, float, float, float]
_EVERYWHERE: Final[Edges] = (-inf, -inf, inf, inf)


class ElementBox(NamedTuple):
    """A rectangle of a page covered by an element, in points from the upper left corner of the
    paper.

    An element that is fragmented or repeated on a page has several.
    """

    x: float
    y: float
    width: float
    height: float
    place: SourceLocation
    loop: tuple[LoopStep, ...]


class _BoxRecord(NamedTuple):
    """A box, or the start of a fragment, recorded before the item `at` of the page was drawn."""

    at: int
    node: SourceNode
    area: Bounds | None  # None for a fragment without a box


# The background of a page is no element, and a number is an element of another canvas.
_WITHOUT_BOX: Final = (PageMaster, int)


class MappingCanvas(PageCanvas):
    """A canvas that records the boxes of a page; running content has owners, and problems are discarded."""

    records_boxes: ClassVar[bool] = True

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._records: list[_BoxRecord] = []
        super().__init__(*arguments, **named)

    @property
    def is_artifact(self) -> bool:
        """Always False: running content has a source as well."""
        return False

    @is_artifact.setter
    def is_artifact(self, value: bool) -> None:
        del value

    def owner_of(self, node: SourceNode) -> SourceNode:
        """Record that a fragment of a node starts, and return the node."""
        self._records.append(_BoxRecord(len(self.items), node, None))
        return node

    def add_box(self, node: SourceNode, area: Bounds) -> SourceNode:
        """Record the border box of a node and return the node."""
        self._records.append(_BoxRecord(len(self.items), node, area))
        return node

    def add_link(self, area: display.LinkArea) -> None:
        """Discard a link."""

    def add_anchor(self, name: str, x: float, y: float, element: int | None = None) -> None:
        """Discard an anchor."""

    def report(self, problem: LayoutProblem | None) -> None:
        """Discard a problem: it was reported when the page was drawn before."""

    def find_boxes(self) -> list[ElementBox]:
        """Return the boxes of the page in painting order; a box precedes its content."""
        return _BoxFinder().find(self.items, self._records)


class _GroupState(NamedTuple):
    """The transformation matrix and the clip of a group of items."""

    matrix: Transform
    clip: Edges

    def see(self, edges: Edges) -> Edges | None:
        """Return the visible part of a rectangle on the page, None where it is clipped away."""
        left, top, right, bottom = _transform(self.matrix, edges)
        seen = (
            max(left, self.clip[0]),
            max(top, self.clip[1]),
            min(right, self.clip[2]),
            min(bottom, self.clip[3]),
        )
        return seen if seen[0] <= seen[2] and seen[1] <= seen[3] else None


def _walk(
    items: Iterable[display.Item], states: list[_GroupState]
) -> Iterator[tuple[int, display.Ink]]:
    """Yield the ink of items with its indexes; the last of `states` is that of its group."""
    for at, item in enumerate(items):
        for single in display.single_items([item]):
            match single:
                case display.Save():
                    states.append(_enter(states[-1], single))
                case display.Restore():
                    states.pop()
                case _:
                    yield at, single


class _BoxFinder:
    """Finds the boxes of one page.

    For an element without a border box, the extent of each fragment is one box: a paragraph that
    continues in the next column has two.
    """

    def __init__(self) -> None:
        self._recorded: set[SourceNode] = set()
        self._open: dict[SourceNode, int] = {}
        self._found: list[tuple[Edges, Source]] = []
        self._states = [_GroupState(Identity, _EVERYWHERE)]

    def find(
        self, items: Sequence[display.Item], records: Sequence[_BoxRecord]
    ) -> list[ElementBox]:
        """Return the boxes that are not clipped away."""
        waiting = deque(records)
        for at, item in enumerate(items):
            while waiting and waiting[0].at <= at:
                self._begin(waiting.popleft())
            for _, single in _walk([item], self._states):
                owner = single.node if isinstance(single, display.Picture) else single.owner
                if owner is not None and not isinstance(owner, _WITHOUT_BOX):
                    self._add_ink(owner, _EXTENTS[type(single)](single))
        for record in waiting:
            self._begin(record)
        return [_box_of(edges, source) for edges, source in self._found]

    def _begin(self, record: _BoxRecord) -> None:
        node = record.node
        self._open.pop(node, None)
        if record.area is None:
            return
        self._recorded.add(node)
        x, y, width, height = record.area
        seen = self._states[-1].see((x, y, x + width, y + height))
        if seen is not None:
            self._found.append((seen, node.source))

    def _add_ink(self, node: SourceNode, edges: Edges) -> None:
        seen = None if node in self._recorded else self._states[-1].see(edges)
        if seen is None:
            return
        at = self._open.setdefault(node, len(self._found))
        if at == len(self._found):
            self._found.append((seen, node.source))
        else:
            self._found[at] = (unionRect(self._found[at][0], seen), node.source)


def find_ink(items: Iterable[display.Item]) -> Iterator[tuple[int, display.Ink, Edges]]:
    """Yield what is visible of a page: the index of an item, a single item of it, and its edges."""
    states = [_GroupState(Identity, _EVERYWHERE)]
    for at, single in _walk(items, states):
        seen = states[-1].see(_EXTENTS[type(single)](single))
        if seen is not None:
            yield at, single, seen


_TOUCH: Final = mm(0.3)  # of ink and a zone


def find_in_zones(
    items: Iterable[display.Item], start: int, zones: Sequence[FreeZone]
) -> Iterator[tuple[display.Ink, FreeZone]]:
    """Yield the first ink from item `start` on that is printed in a zone, and the zone.

    Each zone is looked at only for ink at its height, and until it is touched: many zones on a page
    with much ink do not take the time of their product.
    """
    left_over = sorted(zones, key=_top_of)
    highest = max((zone.area.height for zone in zones), default=0.0)
    for at, ink, edges in find_ink(items) if zones else ():
        if at < start:
            continue
        first = bisect_left(left_over, edges[1] - highest, key=_top_of)
        last = bisect_right(left_over, edges[3], key=_top_of)
        for each in reversed(range(first, last)):
            zone = left_over[each]
            if not zone.first <= at < zone.end and _reaches_into(ink, edges, zone):
                yield ink, left_over.pop(each)


def _top_of(zone: FreeZone) -> float:
    return zone.area.y


def _reaches_into(ink: display.Ink, edges: Edges, zone: FreeZone) -> bool:
    (left, top, right, bottom), (x, y, width, height) = edges, zone.area
    if zone.has_ground and unionRect(edges, (x, y, x + width, y + height)) == edges:
        return False
    is_text = isinstance(ink, display.GlyphRun | display.ShapedRun)
    room = max((bottom - top) / 4 if is_text else 0.0, _TOUCH)  # lines are higher than letters
    across = left < x + width - _TOUCH and right > x + _TOUCH
    return across and top < y + height - room and bottom > y + room


def _box_of(edges: Edges, source: Source) -> ElementBox:
    left, top, right, bottom = edges
    return ElementBox(left, top, right - left, bottom - top, source.location, source.loop)


def _enter(state: _GroupState, group: display.Save) -> _GroupState:
    matrix, clip = state
    if group.rotate is not None:  # first, as in painting: the clip is rotated with its content
        degrees, x, y = group.rotate  # clockwise about a point, with y pointing down
        matrix = matrix.translate(x, y).rotate(radians(degrees)).translate(-x, -y)
    if group.clip is not None:
        x, y, width, height = group.clip
        left, top, right, bottom = _transform(matrix, (x, y, x + width, y + height))
        clip = max(clip[0], left), max(clip[1], top), min(clip[2], right), min(clip[3], bottom)
    return _GroupState(matrix, clip)


def _transform(matrix: Transform, edges: Edges) -> Edges:
    """Return the bounding rectangle of a transformed rectangle."""
    if matrix is Identity:
        return edges
    left, top, right, bottom = edges
    corners = [(x, y) for x in (left, right) for y in (top, bottom)]
    return _bound(matrix.transformPoints(corners))


def _bound(points: Sequence[tuple[float, float]]) -> Edges:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs), min(ys), max(xs), max(ys)


# --- the ink of items ---------------------------------------------------------------------------


def _of_text(item: display.GlyphRun | display.ShapedRun) -> Edges:
    return (
        item.x,
        item.y - item.face.ascent * item.size,
        item.x + item.width,
        item.y + item.face.descent * item.size,
    )


def _of_rectangle(
    item: display.Fill | display.StrokedRectangle | display.Picture | display.Widget,
) -> Edges:
    return item.x, item.y, item.x + item.width, item.y + item.height


def _of_stroke(item: display.Stroke) -> Edges:
    return _bound([(item.x1, item.y1), (item.x2, item.y2)])


def _of_cells(item: display.RectangleSet) -> Edges:
    across, down = item.unit_width, item.unit_height
    return (
        item.x,
        item.y,
        item.x + max((x + width for x, _, width, _ in item.rectangles), default=0) * across,
        item.y + max((y + height for _, y, _, height in item.rectangles), default=0) * down,
    )


def _of_path(item: display.Path) -> Edges:
    numbers = [point for subpath in item.subpaths for point in subpath]
    return _bound([pair for point in numbers for pair in zip(point[::2], point[1::2], strict=True)])


_EXTENTS: Final[dict[type, Callable[[Any], Edges]]] = {
    display.GlyphRun: _of_text,
    display.ShapedRun: _of_text,
    display.Fill: _of_rectangle,
    display.StrokedRectangle: _of_rectangle,
    display.Picture: _of_rectangle,
    display.Stroke: _of_stroke,
    display.RectangleSet: _of_cells,
    display.Path: _of_path,
    display.Widget: _of_rectangle,
}
