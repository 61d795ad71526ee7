"""Outlines of text, for strokes and for scripts that need shaping: viewers stroke text inconsistently."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from workers.engine.prepared_images import Matrix
from workers.engine.svg.paths import CLOSE, Point, Segments, raise_quadratic
from workers.engine.svg.text import FaceRun
from workers.engine.svg.values import transform_point

_MAX_GLYPHS: Final = 2_000
_NOTDEF: Final = 0  # of every font


def outline_text(
    runs: Iterable[FaceRun], x: float, y: float, size: float, spacing: float
) -> Segments:
    """Return the outlines of text whose baseline starts at (x, y); y points down."""
    segments: Segments = []
    for run in runs:
        for glyph, left, up in islice(_place_glyphs(run, spacing / size), _MAX_GLYPHS):
            scale = size / run.face.units
            pen = SegmentPen(segments, (scale, 0, 0, -scale, x + left * size, y - up * size))
            run.face.hb_font.draw_glyph_with_pen(glyph, pen)
        x += run.width * size + len(run.text) * spacing
    return segments


def _place_glyphs(run: FaceRun, spacing: float) -> Iterator[tuple[int, float, float]]:
    """Yield the glyphs of a run with their positions in em."""
    face, text = run.face, run.text
    if run.clusters is None:
        pen, before = 0.0, ""
        for char in text:
            # A pair is as wide as its letters and the kerning between them.
            pen += face.measure(before + char) - face.measure(char) + (spacing if before else 0.0)
            glyph = face.glyphs.get(char)
            if glyph is not None:
                yield glyph, pen, 0.0
            elif not face.covers(char):
                yield _NOTDEF, pen, 0.0
            before = char
        return
    pen = 0.0
    for cluster in run.clusters:
        for glyph, across, up in cluster.glyphs:
            yield glyph, pen + across / face.units, up / face.units
        pen += cluster.advance / face.units + len(cluster.text) * spacing


class SegmentPen:
    """A pen that collects an outline as segments, by a matrix from font units; method names are HarfBuzz's."""

    def __init__(self, segments: Segments, matrix: Matrix) -> None:
        self._segments = segments
        self._matrix = matrix
        self._here: Point = (0.0, 0.0)

    def moveTo(self, point: Point) -> None:
        self._here = point
        self._segments.append(("M", *self._place(point)))

    def lineTo(self, point: Point) -> None:
        self._here = point
        self._segments.append(("L", *self._place(point)))

    def curveTo(self, first: Point, second: Point, end: Point) -> None:
        self._here = end
        self._segments.append(("C", *self._place(first), *self._place(second), *self._place(end)))

    def qCurveTo(self, control: Point, end: Point) -> None:
        self.curveTo(*raise_quadratic(self._here, control, end), end)

    def closePath(self) -> None:
        self._segments.append(CLOSE)

    def _place(self, point: Point) -> Point:
        return transform_point(self._matrix, *point)
