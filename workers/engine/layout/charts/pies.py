"""Pies and donuts: slices clockwise from the top, with labels beside them."""

from __future__ import annotations

from decimal import Decimal
from math import pi
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

_HOLE: Final = 0.58  # of the radius of a donut
_SEAM: Final = 0.8
_LEADER: Final = 0.4
_ELBOW: Final = 0.8  # em, from the pie to the bend of a leader
_MIN_RELATIVE_DIAMETER: Final = (
    0.75  # minimum diameter with labels beside it, of the diameter with a legend
)
_DECIMALS: Final = Decimal("0.001")


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
    is_direct = chart.legend == "auto" and _fit_beside(drawing, slices, bottom - top)
    if slices and not is_direct and chart.legend != "none":
        entries = [each.entry._replace(label=_label_of(each, drawing)) for each in slices]
        top, bottom = place_legend(drawing, entries, top, bottom)
    size = max(min(drawing.width, bottom - top), 0.0)
    radius = (_diameter_beside(drawing, slices, bottom - top) if is_direct else size) / 2
    center = (drawing.width / 2, (top + bottom) / 2)
    _draw_slices(drawing, slices, center, radius)
    if is_direct:
        _draw_names(drawing, slices, center, radius, (top, bottom))
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
        share = chart.value_axis.format.write_number(amount / total, _DECIMALS * 10)
        slices.append(_Slice(entry, angle, end, entry.label, share))
        angle = end
    return slices


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


def _fit_beside(drawing: ChartDrawing, slices: list[_Slice], height: float) -> bool:
    """Return whether the labels fit beside a pie that is not much smaller than with a legend."""
    label_style = drawing.label_style
    beside = [each.is_on_start_side for each in slices]
    most = max(beside.count(True), beside.count(False))
    if most * label_style.line_height > height:
        return False
    entries = [each.entry._replace(label=_label_of(each, drawing)) for each in slices]
    rows = legend_height(entries, drawing.width, label_style)
    alone = min(drawing.width, height - rows)
    return _diameter_beside(drawing, slices, height) >= _MIN_RELATIVE_DIAMETER * alone


def _diameter_beside(drawing: ChartDrawing, slices: list[_Slice], height: float) -> float:
    label_style = drawing.label_style
    names = 2 * (_names_width(drawing, slices) + 2 * _ELBOW * label_style.size)
    return max(min(drawing.width - names, height - label_style.size), 0.0)


def _names_width(drawing: ChartDrawing, slices: list[_Slice]) -> float:
    return drawing.label_style.widest(_label_of(each, drawing) for each in slices)


def _draw_names(
    drawing: ChartDrawing,
    slices: list[_Slice],
    center: Point,
    radius: float,
    room: tuple[float, float],
) -> None:
    """Draw labels on both sides of the pie, each with a leader line to its slice."""
    label_style = drawing.label_style
    elbow = _ELBOW * label_style.size
    for is_start in (True, False):
        beside = [each for each in slices if each.is_on_start_side is is_start]
        wanted = [point_on_circle(center, radius + elbow, each.middle)[1] for each in beside]
        half = label_style.line_height / 2
        places = separate(wanted, label_style.line_height, room[0] + half, room[1] - half)
        side = -1 if is_start else 1
        for each, y in zip(beside, places, strict=True):
            edge = point_on_circle(center, radius + 1.5, each.middle)
            x = center[0] + side * (radius + elbow)
            bend = point_on_circle(center, radius + elbow * 0.7, each.middle)[0]
            points = (edge, (bend if abs(bend - center[0]) < radius + elbow else x, y), (x, y))
            drawing.pen.stroke((points,), _LEADER, drawing.rule)
            anchor = TextAnchor.END if is_start else TextAnchor.START
            text_x = x + side * 0.3 * label_style.size
            baseline = y + label_style.cap_height / 2
            drawing.pen.text(text_x, baseline, _label_of(each, drawing), label_style, anchor=anchor)


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
