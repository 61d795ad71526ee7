"""Marks of charts: columns and bars, lines, areas and points, alone or stacked, and slices of pies.

Slices are drawn clockwise from the top, with labels beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, pairwise
from math import floor, hypot, pi
from typing import Final, NamedTuple

from workers.engine.layout.charts.axes import Axis, label_categories, separate
from workers.engine.layout.charts.drawing import (
    EMPTY,
    LINE_WIDTH,
    MARKER,
    ChartDrawing,
    LegendEntry,
    Pen,
    PlotArea,
    Point,
    TextAnchor,
    circle,
    downsample,
    draw_title,
    fill_with_entry,
    legend_height,
    legend_rows,
    make_entries,
    marker,
    place_legend,
    point_on_circle,
    rectangle,
    ring_sector,
    split_gaps,
    write_on,
)
from workers.engine.layout.context import format_mm
from workers.engine.tree.nodes import Chart
from workers.engine.units import WHITE, tint_color

Values = Sequence[float | None]
StackedValue = tuple[float, float] | None  # start and end, None without a value


def stack(series: Sequence[Values], *, is_share: bool = False) -> list[list[StackedValue]]:
    """Stack positive values upwards, negative ones downwards (D3 stackOffsetDiverging).

    With `is_share` they are fractions of the sum of absolute values.
    """
    stacked: list[list[StackedValue]] = [[] for _ in series]
    for column in zip(*series, strict=True):
        total = _total(column) if is_share else 1.0
        above = below = 0.0
        for at, value in enumerate(column):
            if value is None:
                stacked[at].append(None)
            elif value >= 0:
                stacked[at].append((above, above + value / total))
                above += value / total
            else:
                stacked[at].append((below, below + value / total))
                below += value / total
    return stacked


def _total(column: Values) -> float:
    return sum(abs(value) for value in column if value is not None) or 1.0


MIN_BAND: Final = 0.5  # points per category: narrower ones are invisible
MAX_POINTS: Final = 10_000  # marks of one chart
_GROUP: Final = 0.72  # of a band, for its columns
_MAX_COLUMN: Final = 34.0
_SEAM: Final = 0.5  # points, between adjacent or stacked columns
_FEW_POINTS: Final = 12  # a line with at most this many points has dots
_CELL: Final = 0.5  # points; of markers in one such cell one is drawn
_MAX_VALUES: Final = 500  # written at points
_SHARE_STEP: Final = Decimal("0.01")
_SMALL: Final = 300  # a scatter chart with more points has smaller markers


_NO_AREA: Final = PlotArea(0.0, 0.0, 0.0, 0.0)


@dataclass(slots=True)
class Plot:
    """Parts of a chart with axes; values run to the right if it `is_horizontal`.

    `area`, `frame`, which has room for values beyond the marks, and `order`, the numbers of the records
    along their axis with their fractions of it, are known once space is allocated. Without a stack the
    values are stacks from zero.
    """

    drawing: ChartDrawing
    x_axis: Axis
    value_axis: Axis
    xs: Sequence[float | None]  # positions on the category axis
    stacks: list[list[StackedValue]]
    entries: list[LegendEntry]
    is_direct: bool = False
    area: PlotArea = _NO_AREA
    frame: PlotArea = _NO_AREA
    order: Sequence[tuple[int, float]] = ()

    @property
    def is_horizontal(self) -> bool:
        """Whether it has bars."""
        return self.drawing.chart.kind == "bar"

    @property
    def is_stacked(self) -> bool:
        """Whether the series stand on one another."""
        return self.drawing.chart.stack != "none"

    @property
    def vertical_axis(self) -> Axis:
        """The vertical axis."""
        return self.x_axis if self.is_horizontal else self.value_axis

    @property
    def horizontal_axis(self) -> Axis:
        """The horizontal axis."""
        return self.value_axis if self.is_horizontal else self.x_axis

    @property
    def length(self) -> float:
        """The length of the category axis in points."""
        return self.area.height if self.is_horizontal else self.area.width

    def point(self, x: float, value: float) -> Point:
        """Return the point for a fraction of the category axis and a value."""
        area, up = self.area, self.value_axis.fraction(value)
        if self.is_horizontal:
            return area.left + up * area.width, area.top + x * area.height
        return area.left + x * area.width, area.bottom - up * area.height

    def points(self, parts: Sequence[StackedValue], end: int = 1) -> list[Point | None]:
        """Return the points of a series in the order of the axis, those of the starts with `end` 0."""
        places = [(fraction, parts[at]) for at, fraction in self.order]
        return [None if part is None else self.point(x, part[end]) for x, part in places]


def draw_columns(plot: Plot) -> None:
    """Draw columns or bars, those of a category side by side or stacked."""
    drawing, count = plot.drawing, len(plot.stacks[0])
    if plot.length / max(count, 1) < MIN_BAND:
        what = "bars" if plot.is_horizontal else "columns"
        drawing.refuse(
            f"The chart has {count:,} {what} in {format_mm(plot.length)}; at most "
            f"{int(plot.length / MIN_BAND):,} are drawn there",
            'Group the data, take fewer records, or use type="line".',
        )
        return
    offsets, width = _place_series(plot)
    seam = min(_SEAM, width * 0.1)
    for at, (parts, entry, offset) in enumerate(
        zip(plot.stacks, plot.entries, offsets, strict=True)
    ):
        columns = [
            _column(plot, index, offset, width - seam, part)
            for index, part in enumerate(parts)
            if part is not None and part[0] != part[1]
        ]
        if entry.hatch is None:
            drawing.pen.fill([rectangle(*corners) for corners in columns], entry.color)
        for corners in columns if entry.hatch is not None else ():
            fill_with_entry(drawing.pen, entry, rectangle(*corners))
        if at and plot.is_stacked:
            _draw_seams(plot, columns)


def _place_series(plot: Plot) -> tuple[list[float], float]:
    """Return the offset of each series from the middle of its band, and the width of a column."""
    band, series = plot.length / max(len(plot.stacks[0]), 1), len(plot.stacks)
    if plot.is_stacked:
        return [0.0] * series, min(band * _GROUP, _MAX_COLUMN)
    width = min(band * _GROUP / series, _MAX_COLUMN)
    return [(at - (series - 1) / 2) * width for at in range(series)], width


def _column(
    plot: Plot, index: int, offset: float, width: float, part: tuple[float, float]
) -> tuple[Point, Point]:
    x = (index + 0.5) / len(plot.stacks[0])
    (x1, y1), (x2, y2) = (plot.point(x, value) for value in part)
    if plot.is_horizontal:
        return (x1, y1 + offset - width / 2), (x2, y2 + offset + width / 2)
    return (x1 + offset - width / 2, y1), (x2 + offset + width / 2, y2)


def _draw_seams(plot: Plot, columns: Sequence[tuple[Point, Point]]) -> None:
    """Separate stacked columns by white lines at their starts."""
    for (x1, y1), (x2, y2) in columns:
        if abs((x2 - x1) if plot.is_horizontal else (y2 - y1)) < 2 * _SEAM:
            continue
        end = (x1, y2) if plot.is_horizontal else (x2, y1)
        plot.drawing.pen.line((x1, y1), end, _SEAM, WHITE)


def write_column_values(plot: Plot) -> None:
    """Write values at the ends of columns, or inside stacked ones, where there is space."""
    chart, label_style = plot.drawing.chart, plot.drawing.label_style
    offsets, width = _place_series(plot)
    has_band = plot.is_stacked or len(plot.stacks) == 1
    pitch = plot.length / max(len(plot.stacks[0]), 1) if has_band else width
    for series, parts, entry, offset in zip(
        chart.series, plot.stacks, plot.entries, offsets, strict=True
    ):
        for index, (exact, part) in enumerate(zip(series.exact, parts, strict=True)):
            if part is None or exact is None:
                continue
            text = _write_value(chart, exact, part)
            need = label_style.size if plot.is_horizontal else label_style.width(text)
            if need > pitch:
                continue
            corners = _column(plot, index, offset, width, part)
            if plot.is_stacked:
                _write_inside(plot.drawing, corners, text, entry)
            else:
                _write_beyond(plot, corners[0], corners[1], text, is_below=exact < 0)


def _write_inside(
    drawing: ChartDrawing, corners: tuple[Point, Point], text: str, entry: LegendEntry
) -> None:
    (x1, y1), (x2, y2) = corners
    label_style = drawing.label_style
    room = abs(x2 - x1), abs(y2 - y1)
    if label_style.width(text) + 2 > room[0] or label_style.cap_height + 3 > room[1]:
        return
    write_on(drawing, entry, (x1 + x2) / 2, (y1 + y2) / 2, text)


def _write_beyond(plot: Plot, start: Point, end: Point, text: str, *, is_below: bool) -> None:
    pen, label_style = plot.drawing.pen, plot.drawing.label_style
    gap = 0.35 * label_style.size
    if plot.is_horizontal:
        baseline = (start[1] + end[1]) / 2 + label_style.cap_height / 2
        x = end[0] - gap if is_below else end[0] + gap
        anchor = TextAnchor.END if is_below else TextAnchor.START
        pen.text(x, baseline, text, label_style, anchor=anchor)
        return
    baseline = end[1] + gap + label_style.cap_height if is_below else end[1] - gap
    pen.text((start[0] + end[0]) / 2, baseline, text, label_style, anchor=TextAnchor.MIDDLE)


# --- lines and areas ------------------------------------------------------------------------------------


def draw_line_marks(plot: Plot) -> None:
    """Draw lines; a gap interrupts a line, and a point between two gaps is a dot."""
    drawing, entries = plot.drawing, plot.entries
    has_dots = drawing.chart.shows_values or (len(plot.order) <= _FEW_POINTS and len(entries) > 1)
    for parts, entry in zip(plot.stacks, entries, strict=True):
        runs = split_gaps(plot.points(parts))
        strokes = [tuple(downsample(run)) for run in runs if len(run) > 1]
        drawing.pen.stroke(strokes, entry.line_width, entry.color, entry.dash)
        singles = [run[0] for run in runs if len(run) == 1]
        dots = [point for run in runs for point in run] if has_dots else singles
        radius = (entry.line_width or LINE_WIDTH) * 1.25
        drawing.pen.fill([circle(x, y, radius) for x, y in dots[:MAX_POINTS]], entry.color)


def draw_areas(plot: Plot) -> None:
    """Draw areas, stacked or from zero; those from zero are translucent."""
    pen, is_stacked = plot.drawing.pen, plot.is_stacked and len(plot.entries) > 1
    for parts, entry in zip(plot.stacks, plot.entries, strict=True):
        ends = zip(plot.points(parts, 0), plot.points(parts), strict=True)
        for run in split_gaps((base, top) if base and top else None for base, top in ends):
            if len(run) == 1:
                ((_, top),) = run
                pen.fill((circle(*top, MARKER),), entry.color)
                continue
            tops = downsample([top for _, top in run])
            bases = downsample([base for base, _ in run])
            outline = (*tops, *reversed(bases))
            if is_stacked:
                fill_with_entry(pen, entry, outline)
                pen.stroke((tuple(tops),), _SEAM, WHITE)
            else:
                _fill_translucent(pen, entry, outline, is_alone=len(plot.entries) == 1)
                pen.stroke((tuple(tops),), LINE_WIDTH, entry.color)


def _fill_translucent(
    pen: Pen, entry: LegendEntry, outline: tuple[Point, ...], *, is_alone: bool
) -> None:
    if is_alone:
        fill_with_entry(pen, entry._replace(color=tint_color(entry.color, 0.28)), outline)
        return
    pen.begin_opacity_group(0.4)
    fill_with_entry(pen, entry, outline)
    pen.end_opacity_group()


def draw_points(plot: Plot) -> None:
    """Draw points; of several at one place only one is drawn."""
    drawing, is_dense, drawn = plot.drawing, len(plot.order) > _SMALL, 0
    for parts, entry in zip(plot.stacks, plot.entries, strict=True):
        places: dict[tuple[int, int], Point] = {}
        for point in filter(None, plot.points(parts)):
            places.setdefault((floor(point[0] / _CELL), floor(point[1] / _CELL)), point)
        drawn += len(places)
        if drawn > MAX_POINTS:
            drawing.refuse(
                f"The chart has more than {MAX_POINTS:,} distinct points",
                "Take fewer records, or group them.",
            )
            return
        radius = entry.radius * 0.55 if is_dense else entry.radius
        if entry.marker == "circle" and is_dense:
            # A line of length 0 with round caps (ISO 32000-1 8.5.3.2) is short, and not quite round
            # in every viewer.
            dots = [(point, point) for point in places.values()]
            drawing.pen.stroke(dots, 2 * radius, entry.color)
        else:
            marks = [marker(entry.marker, x, y, radius) for x, y in places.values()]
            drawing.pen.fill(marks, entry.color)


def write_point_values(plot: Plot) -> None:
    """Write values at the points of lines and areas, where they do not overlap.

    They are above a point, or below one that is lower than its neighbours or has another just above.
    """
    chart, label_style, area = plot.drawing.chart, plot.drawing.label_style, plot.area
    numbers = [at for at, _ in plot.order]
    lines = [
        [(at, point) for at, point in zip(numbers, plot.points(parts), strict=True) if point]
        for parts in plot.stacks
    ]
    heights: dict[int, list[float]] = {}
    for at, (_, y) in chain.from_iterable(lines):
        heights.setdefault(at, []).append(y)
    taken: list[tuple[float, float, float, float]] = []
    for series, parts, line in zip(chart.series, plot.stacks, lines, strict=True):
        for index, (at, (x, y)) in enumerate(line):
            exact, part = series.exact[at], parts[at]
            if exact is None or part is None or len(taken) > _MAX_VALUES:
                continue
            text = _write_value(chart, exact, part)
            around = [point[1] for _, point in line[max(index - 1, 0) : index + 2]]
            below = y + 0.6 * label_style.size + label_style.cap_height
            is_lowest = len(around) > 1 and y >= max(around) > min(around)
            is_covered = any(0 < y - other < 1.8 * label_style.size for other in heights[at])
            is_below = is_lowest or (is_covered and below <= area.bottom)
            baseline = below if is_below else y - 0.6 * label_style.size
            half = label_style.width(text) / 2
            # Beside the plot are the labels of its axis.
            middle = max(min(x, area.right - half - 1), area.left + half + 1)
            left, right = middle - half - 1, middle + half + 1
            box = (left, baseline - label_style.cap_height - 1, right, baseline + 1)
            if not any(_touch(box, other) for other in taken):
                taken.append(box)
                pen = plot.drawing.pen
                pen.text(middle, baseline, text, label_style, anchor=TextAnchor.MIDDLE)


def _write_value(chart: Chart, exact: Decimal, part: tuple[float, float]) -> str:
    """Return the value of a mark as text, of one in a stack to 100 % its share."""
    if chart.stack != "share":
        return chart.value_axis.format.write_number(exact, None)
    share = Decimal(repr(part[1] - part[0]))
    return chart.value_axis.format.write_number(share, _SHARE_STEP)


def _touch(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


_HOLE: Final = 0.58  # of the radius of a donut
_SLICE_SEAM: Final = 0.8
_LEADER: Final = 0.4
_ELBOW: Final = 0.8  # em, from the pie to the bend of a leader
# Minimum diameter with labels beside it, of the diameter with a legend.
_MIN_RELATIVE_DIAMETER: Final = 0.75
_SMALLER: Final = 0.94  # the next smaller diameter that is tried
_CLEARANCE: Final = 0.5  # points, between a leader and the slices that it passes
_MAX_SLICES: Final = 500  # thinner ones are invisible
_STEP: Final = Decimal("0.01")  # of shares, in percent


class _Slice(NamedTuple):
    entry: LegendEntry
    start: float
    end: float
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
    if len(slices) > _MAX_SLICES:
        drawing.refuse(
            f"The chart has {len(slices):,} slices; at most {_MAX_SLICES} are drawn",
            "Group the small ones.",
        )
        return
    bottom = drawing.height
    beside = _find_radius_beside(drawing, slices, (top, bottom)) if chart.legend == "auto" else 0.0
    if slices and not beside and chart.legend != "none":
        top, bottom = place_legend(drawing, [each.entry for each in slices], top, bottom)
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
        name = f"{entry.label} {share}".strip() if chart.shows_values else entry.label
        slices.append(_Slice(entry._replace(label=name), angle, end, share))
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
    drawing.pen.stroke(seams, _SLICE_SEAM, WHITE)


# --- names ----------------------------------------------------------------------------------------------


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
    entries = [each.entry for each in slices]
    rows = legend_height(legend_rows(entries, drawing.width, label_style), label_style)
    least = _MIN_RELATIVE_DIAMETER * min(drawing.width, height - rows)
    names = label_style.widest(entry.label for entry in entries) + 2 * _ELBOW * label_style.size
    diameter = max(min(drawing.width - 2 * names, height - label_style.size), 0.0)
    while diameter > 0 and diameter >= least:
        leaders = _find_leaders(drawing, slices, diameter / 2, room)
        if all(leader.is_clear for leader in leaders):
            return diameter / 2
        diameter *= _SMALLER
    return 0.0


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
    drawing.pen.text(text_x, baseline, leader.slice.entry.label, label_style, anchor=anchor)


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
