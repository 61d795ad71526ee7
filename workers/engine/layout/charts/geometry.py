"""Geometry of charts: downsampling of lines, hatches and ring sectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from math import ceil, cos, floor, pi, radians, sin, tan
from typing import Final, TypeVar

from workers.engine.layout.display import Subpath

Point = tuple[float, float]
Place = TypeVar("Place")

COLUMN: Final = 0.5  # points; less than a pixel of a high-resolution screen
_MAX_ARC: Final = pi / 2  # of one Bézier curve
_MAX_HATCHES: Final = 2_000  # lines of one hatch


def downsample(points: Sequence[Point]) -> list[Point]:
    """Reduce a line to the first, lowest, highest and last point of each half point of width.

    This is M4 (Jugel, Jerzak, Hackenbroich and Markl, "M4: a visualization-oriented time series
    data aggregation", VLDB 2014): the rendered line is the same, with at most four points a column.
    """
    sampled: list[Point] = []
    for _, column in groupby(points, key=lambda point: floor(point[0] / COLUMN)):
        here = list(column)
        if len(here) > 4:
            lowest = min(range(len(here)), key=lambda at: here[at][1])
            highest = max(range(len(here)), key=lambda at: here[at][1])
            kept = sorted({0, lowest, highest, len(here) - 1})
            here = [here[at] for at in kept]
        sampled += here
    return sampled


def hatch(polygon: Sequence[Point], degrees: float, distance: float) -> list[Subpath]:
    """Return lines at an angle in degrees, `distance` points apart, inside a polygon (even-odd rule)."""
    angle = radians(degrees)
    along, across = (cos(angle), sin(angle)), (-sin(angle), cos(angle))
    rotated = [(_dot(point, along), _dot(point, across)) for point in polygon]
    heights = [y for _, y in rotated]
    first, last = ceil(min(heights) / distance), floor(max(heights) / distance)
    edges = list(pairwise([*rotated, rotated[0]]))
    lines: list[Subpath] = []
    for at in range(first, min(last, first + _MAX_HATCHES) + 1):
        y = at * distance
        crossed = sorted(
            x1 + (y - y1) * (x2 - x1) / (y2 - y1)
            for (x1, y1), (x2, y2) in edges
            if (y1 <= y) is not (y2 <= y)
        )
        for start, end in zip(crossed[::2], crossed[1::2], strict=False):
            lines.append(
                tuple(
                    (x * along[0] + y * across[0], x * along[1] + y * across[1])
                    for x in (start, end)
                )
            )
    return lines


def ring_sector(
    center: Point, inner: float, outer: float, start: float, end: float
) -> tuple[Subpath, list[Point]]:
    """Return the sector of a ring between two angles, clockwise from the top in radians.

    It is returned as a path of curves, and as an approximating polygon for hatches. An `inner`
    radius of 0 makes it a sector of a pie.
    """
    out = list(_arc(center, outer, start, end))
    back = list(_arc(center, inner, end, start)) if inner else [center]
    path: Subpath = (*out, back[0], *back[1:])
    steps = max(ceil((end - start) / 0.1), 1)
    angles = [start + (end - start) * at / steps for at in range(steps + 1)]
    polygon = [point_on_circle(center, outer, angle) for angle in angles]
    polygon += (
        [point_on_circle(center, inner, angle) for angle in reversed(angles)] if inner else [center]
    )
    return path, polygon


def point_on_circle(center: Point, radius: float, angle: float) -> Point:
    """Return the point of a circle at an angle, clockwise from the top in radians."""
    return center[0] + radius * sin(angle), center[1] - radius * cos(angle)


def _arc(center: Point, radius: float, start: float, end: float) -> Iterator[tuple[float, ...]]:
    """Yield an arc: its start, then Bézier curves of at most a quarter circle."""
    yield point_on_circle(center, radius, start)
    count = max(ceil(abs(end - start) / _MAX_ARC - 1e-9), 1)
    size = (end - start) / count
    reach = 4 / 3 * tan(size / 4) * radius
    for at in range(count):
        from_, to = start + at * size, start + (at + 1) * size
        x1, y1 = point_on_circle(center, radius, from_)
        x2, y2 = point_on_circle(center, radius, to)
        yield (
            *(x1 + reach * cos(from_), y1 + reach * sin(from_)),
            *(x2 - reach * cos(to), y2 - reach * sin(to)),
            *(x2, y2),
        )


def _dot(point: Point, direction: Point) -> float:
    return point[0] * direction[0] + point[1] * direction[1]


def split_gaps(points: Iterable[Place | None]) -> list[list[Place]]:
    """Return the runs of points, or of pairs of them, between gaps."""
    runs: list[list[Place]] = [[]]
    for point in points:
        if point is None:
            runs.append([])
        else:
            runs[-1].append(point)
    return [run for run in runs if run]
