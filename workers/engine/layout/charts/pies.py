"""Pies and donuts: slices clockwise from the top, with labels beside them."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from math import hypot, pi
from typing import Final, NamedTuple

from workers.engine.layout.charts.axes import label_categories
from workers.engine.layout.charts.drawing import (
    EMPTY,
    ChartDrawing,
    draw_title,
    make_entries,
    place_legend,
    write_on,
)
from workers.engine.layout.charts.geometry import Point, point_on_circle, ring_sector
from workers.engine.layout.charts.legends import (
    WHITE,
    LegendEntry,
    fill_with_entry,
    legend_height,
)
from workers.engine.layout.charts.pen import TextAnchor, circle
from workers.engine.layout.charts.scales import separate
from workers.engine.tree.nodes import Chart

_HOLE: Final = 0.58  # of the radius of a donut
_SEAM: Final = 0.8
_LEADER: Final = 0.4
_ELBOW: Final = 0.8  # em, from the pie to the bend of a leader
# Minimum diameter with labels beside it, of the diameter with a legend.
_MIN_RELATIVE_DIAMETER: Final = 0.75
_SMALLER: Final = 0.94  # the next smaller diameter that is tried
_CLEARANCE: Final = 0.5  # points, between a leader and the slices that it passes
_STEP: Final = Decimal("0.01")  # of shares, in percent


class _Slice(NamedTuple):
    entry: LegendEntry
    start: float
    end: float
    text: str
    share: str

    @property
    def middle(self) -> float:
        return (self.start + self.end) / 2

    @property
    def is_on_start_side(self) -> bool:
        return self.middle > pi


def draw_pie(drawing: ChartDrawing) -> None:
    """Draw a pie or donut."""
    top = draw_title(drawing)
    slices = _slices(drawing)
    if not slices:
        drawing.report(EMPTY, "The chart has no values", "Check its data, or leave it out by `if`.")
    chart = drawing.chart
    bottom = drawing.height
    beside = _find_radius_beside(drawing, slices, (top, bottom)) if chart.legend == "auto" else 0.0
    if slices and not beside and chart.legend != "none":
        entries = [each.entry._replace(label=_label_of(each, drawing)) for each in slices]
        top, bottom = place_legend(drawing, entries, top, bottom)
    radius = beside or max(min(drawing.width, bottom - top), 0.0) / 2
    center = (drawing.width / 2, (top + bottom) / 2)
    _draw_slices(drawing, slices, center, radius)
    if beside:
        for leader in _find_leaders(drawing, slices, radius, (top, bottom)):
            _draw_name(drawing, leader)
    elif chart.shows_values and chart.legend == "none":
        _write_shares(drawing, slices, center, radius)


def _slices(drawing: ChartDrawing) -> list[_Slice]:
    chart = drawing.chart
    series = chart.series[0] if chart.series else None
    amounts = () if series is None else series.exact
    labels = [" ".join(lines) for lines in label_categories(chart.x_axis, chart.xs, chart.x_kind)]
    entries = make_entries(chart, labels, [None] * len(labels))
    total = sum((amount for amount in amounts if amount), Decimal(0))
    slices: list[_Slice] = []
    angle = 0.0
    for entry, amount in zip(entries, amounts, strict=True):
        if not amount or amount < 0:
            continue
        end = angle + float(amount / total) * 2 * pi
        share = _write_share(chart, amount / total)
        slices.append(_Slice(entry, angle, end, entry.label, share))
        angle = end
    return slices


def _write_share(chart: Chart, share: Decimal) -> str:
    """Return a share in whole percent; a slice that is there is not 0 %."""
    write = chart.value_axis.format.write_number
    return f"<{write(_STEP, _STEP)}" if share < _STEP / 2 else write(share, _STEP)


def _draw_slices(drawing: ChartDrawing, slices: list[_Slice], center: Point, radius: float) -> None:
    inner = radius * _HOLE if drawing.chart.kind == "donut" else 0.0
    if not slices:
        drawing.pen.stroke((circle(*center, max(radius - 1, 0.0)),), 0.5, drawing.faint)
        return
    for each in slices:
        path, polygon = ring_sector(center, inner, radius, each.start, each.end)
        fill_with_entry(drawing.pen, each.entry, path, polygon)
    if len(slices) == 1:
        return
    seams = [
        (point_on_circle(center, inner, each.start), point_on_circle(center, radius, each.start))
        for each in slices
    ]
    drawing.pen.stroke(seams, _SEAM, WHITE)


# --- names ----------------------------------------------------------------------------------------------


def _label_of(each: _Slice, drawing: ChartDrawing) -> str:
    return f"{each.text} {each.share}".strip() if drawing.chart.shows_values else each.text


class _Leader(NamedTuple):
    """A label beside the pie, with the line that leads to it."""

    slice: _Slice
    points: tuple[Point, ...]
    is_clear: bool  # of other slices

    @property
    def end(self) -> Point:
        return self.points[-1]


def _find_radius_beside(
    drawing: ChartDrawing, slices: list[_Slice], room: tuple[float, float]
) -> float:
    """Return the radius with labels beside the pie; 0 if a legend leaves it much larger."""
    label_style, height = drawing.label_style, room[1] - room[0]
    sides = [each.is_on_start_side for each in slices]
    if max(sides.count(True), sides.count(False)) * label_style.line_height > height:
        return 0.0
    entries = [each.entry._replace(label=_label_of(each, drawing)) for each in slices]
    rows = legend_height(entries, drawing.width, label_style)
    least = _MIN_RELATIVE_DIAMETER * min(drawing.width, height - rows)
    diameter = _diameter_beside(drawing, slices, height)
    while diameter > 0 and diameter >= least:
        leaders = _find_leaders(drawing, slices, diameter / 2, room)
        if all(leader.is_clear for leader in leaders):
            return diameter / 2
        diameter *= _SMALLER
    return 0.0


def _diameter_beside(drawing: ChartDrawing, slices: list[_Slice], height: float) -> float:
    label_style = drawing.label_style
    names = 2 * (_names_width(drawing, slices) + 2 * _ELBOW * label_style.size)
    return max(min(drawing.width - names, height - label_style.size), 0.0)


def _names_width(drawing: ChartDrawing, slices: list[_Slice]) -> float:
    return drawing.label_style.widest(_label_of(each, drawing) for each in slices)


def _find_leaders(
    drawing: ChartDrawing, slices: list[_Slice], radius: float, room: tuple[float, float]
) -> list[_Leader]:
    """Return labels on both sides of the pie, each with a leader line to its slice."""
    label_style = drawing.label_style
    elbow = _ELBOW * label_style.size
    center = (drawing.width / 2, (room[0] + room[1]) / 2)
    leaders: list[_Leader] = []
    for is_start in (True, False):
        beside = [each for each in slices if each.is_on_start_side is is_start]
        wanted = [point_on_circle(center, radius + elbow, each.middle)[1] for each in beside]
        half = label_style.line_height / 2
        places = separate(wanted, label_style.line_height, room[0] + half, room[1] - half)
        x = center[0] + (-1 if is_start else 1) * (radius + elbow)
        leaders += [
            _find_leader(each, (x, y), center, radius, elbow)
            for each, y in zip(beside, places, strict=True)
        ]
    return leaders


def _find_leader(each: _Slice, end: Point, center: Point, radius: float, elbow: float) -> _Leader:
    """Return a line that ends horizontally, or else goes straight from outside the slice."""
    edge = point_on_circle(center, radius + 1.5, each.middle)
    outside = point_on_circle(center, radius + elbow * 0.7, each.middle)
    level = (outside[0], end[1])
    for bend in (level, outside):
        points = (edge, bend, end)
        if all(_distance(center, *ends) >= radius + _CLEARANCE for ends in pairwise(points)):
            return _Leader(each, points, is_clear=True)
    return _Leader(each, (edge, outside, end), is_clear=False)


def _distance(point: Point, start: Point, end: Point) -> float:
    """Return the distance of a point from a straight line between two others."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    squared = dx * dx + dy * dy
    along = ((point[0] - start[0]) * dx + (point[1] - start[1]) * dy) / squared if squared else 0.0
    along = min(max(along, 0.0), 1.0)
    return hypot(point[0] - start[0] - along * dx, point[1] - start[1] - along * dy)


def _draw_name(drawing: ChartDrawing, leader: _Leader) -> None:
    label_style, (x, y) = drawing.label_style, leader.end
    is_start = leader.slice.is_on_start_side
    drawing.pen.stroke((leader.points,), _LEADER, drawing.rule)
    anchor = TextAnchor.END if is_start else TextAnchor.START
    text_x = x + (-1 if is_start else 1) * 0.3 * label_style.size
    baseline = y + label_style.cap_height / 2
    text = _label_of(leader.slice, drawing)
    drawing.pen.text(text_x, baseline, text, label_style, anchor=anchor)


def _write_shares(
    drawing: ChartDrawing, slices: list[_Slice], center: Point, radius: float
) -> None:
    """Write percentages inside the slices that have space for them."""
    label_style = drawing.label_style
    at = radius * (0.79 if drawing.chart.kind == "donut" else 0.68)
    for each in slices:
        room = (each.end - each.start) * at
        if label_style.width(each.share) + 3 > room:
            continue
        x, y = point_on_circle(center, at, each.middle)
        write_on(drawing, each.entry, x, y, each.share)
