"""Where an element is drawn, and what one conversion holds together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from workers.engine.layout.images.prepared import Matrix, PreparedImage
from workers.engine.layout.svg.canvas import Canvas
from workers.engine.layout.svg.limits import Work
from workers.engine.layout.svg.paths import Box, Segments
from workers.engine.layout.svg.reader import Node
from workers.engine.layout.svg.shapes import find_segments
from workers.engine.layout.svg.sheets import StyleSheet
from workers.engine.layout.svg.styles import INITIAL, Look, font_size, resolve_look
from workers.engine.layout.svg.values import Viewport, multiply

_READ_ONCE: Final = frozenset({"path", "polyline", "polygon"})
_SHAPE_ONLY: Final = {
    "fill": "white",
    "fill-opacity": "1",
    "filter": "none",
    "mask": "none",
    "opacity": "1",
    "stroke": "none",
}


@dataclass(frozen=True, slots=True)
class Spot:
    """A canvas with the matrix from user units to those of the form, and what per cent is of.

    `alpha` is an opacity that the one mark drawn here takes itself.
    """

    canvas: Canvas
    matrix: Matrix
    viewport: Viewport
    depth: int = 0
    alpha: float = 1.0

    def moved(self, matrix: Matrix) -> Spot:
        """Give the place in a coordinate system of its own."""
        return replace(self, matrix=multiply(self.matrix, matrix))

    def on(self, canvas: Canvas) -> Spot:
        """Give the same place on another canvas."""
        return replace(self, canvas=canvas, alpha=1.0)

    def sized(self, look: Look) -> Viewport:
        """Give what lengths of an element of a look are measured by."""
        return self.viewport._replace(font_size=font_size(look))


@dataclass(frozen=True, slots=True)
class PaintContext:
    """The element whose paint `context-fill` and `context-stroke` stand for (SVG 2, 13.2)."""

    look: Look
    find_extent: Callable[[], Box | None]
    spot: Spot
    outer: PaintContext | None


@dataclass(slots=True)
class Job:
    """One conversion: the elements by id, the style sheet, the count, and what was left out."""

    identities: dict[str, Node]
    sheet: StyleSheet
    work: Work
    prepare: Callable[[bytes], PreparedImage]
    left_out: dict[str, None]
    unit: float  # of the form in a CSS px
    entered: set[Node] = field(default_factory=set)  # clips, masks and others that are being drawn
    looks: dict[Node, Look] = field(default_factory=dict)
    segments: dict[Node, Segments] = field(default_factory=dict)
    missing: dict[str, None] = field(default_factory=dict)  # characters that no font has
    context: PaintContext | None = None  # of the copy or the marker being drawn
    is_clipping: bool = False  # shapes count, not what they are painted with

    def leave_out(self, what: str) -> None:
        """Note that something is not drawn."""
        self.left_out[what] = None

    def segments_of(self, node: Node, viewport: Viewport) -> Segments:
        """Give the segments of a shape; long data is read once, however often it is drawn."""
        known = self.segments.get(node)
        if known is None:
            known = find_segments(node, viewport)
            if node.tag in _READ_ONCE:
                self.segments[node] = known
        return known

    def look_in(self, node: Node, parent: Look) -> Look:
        """Give the look of an element that is drawn in a parent of a look."""
        return self._shaped(resolve_look(node, parent, self.sheet))

    def look_of(self, node: Node) -> Look:
        """Give the look of an element where it stands in the file."""
        return self._shaped(self._resolve(node))

    def _resolve(self, node: Node) -> Look:
        known = self.looks.get(node)
        if known is None:
            parent = INITIAL if node.parent is None else self._resolve(node.parent)
            known = self.looks[node] = resolve_look(node, parent, self.sheet)
        return known

    def _shaped(self, look: Look) -> Look:
        return look | _SHAPE_ONLY | {"fill-rule": look["clip-rule"]} if self.is_clipping else look
