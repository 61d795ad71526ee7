"""Marks of charts: columns and bars, lines, areas and points, alone or stacked, and slices of pies.

Slices are drawn clockwise from the top, with labels beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import chain, pairwise
from math import floor, hypot, pi
from typing import Final, NamedTuple

from workers.engine.layout.charts.axes import Axis, label_categories, separate
from workers.engine.layout.charts.drawing import (
    DENSE,
    EMPTY,
    LINE_WIDTH,
    MARKER,
    WHITE,
    ChartDrawing,
    LegendEntry,
    PlotArea,
    Point,
    TextAnchor,
    circle,
    downsample,
    draw_title,
    fill_with_entry,
    legend_height,
    make_entries,
    marker,
    place_legend,
    point_on_circle,
    rectangle,
    ring_sector,
    split_gaps,
    tint,
    write_on,
)
from workers.engine.layout.context import format_mm
from workers.engine.tree.nodes import Chart

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


class PlotCoordinates(NamedTuple):
    """The coordinate system of a plot: its area and axes; values run to the right if `is_horizontal`."""

    area: PlotArea
    x_axis: Axis
    value_axis: Axis
    is_horizontal: bool = False

    def point(self, x: float, value: float) -> Point:
        """Return the point for a fraction of the category axis and a value."""
        area, up = self.area, self.value_axis.fraction(value)
        if self.is_horizontal:
            return area.left + up * area.width, area.top + x * area.height
        return area.left + x * area.width, area.bottom - up * area.height

    @property
    def length(self) -> float:
        """The length of the category axis in points."""
        return self.area.height if self.is_horizontal else self.area.width


def draw_columns(
    drawing: ChartDrawing,
    coordinates: PlotCoordinates,
    stacks: Sequence[Sequence[StackedValue]],
    entries: Sequence[LegendEntry],
) -> None:
    """Draw columns or bars, those of a category side by side or stacked."""
    count = len(stacks[0])
    band = coordinates.length / max(count, 1)
    if band < MIN_BAND:
        what = "bars" if coordinates.is_horizontal else "columns"
        drawing.report(
            DENSE,
            f"The chart has {count:,} {what} in {format_mm(coordinates.length)}; at most "
            f"{int(coordinates.length / MIN_BAND):,} are drawn there",
            'Group the data, take fewer records, or use type="line".',
            is_warning=False,
        )
        return
    offsets, width = _place_series(drawing, stacks, band)
    seam = min(_SEAM, width * 0.1)
    for at, (parts, entry, offset) in enumerate(zip(stacks, entries, offsets, strict=True)):
        columns = [
            _column(coordinates, (index + 0.5) / count, offset, width - seam, part)
            for index, part in enumerate(parts)
            if part is not None and part[0] != part[1]
        ]
        if entry.hatch is None:
            drawing.pen.fill([rectangle(*corners) for corners in columns], entry.color)
        for corners in columns if entry.hatch is not None else ():
            subpath = rectangle(*corners)
            fill_with_entry(drawing.pen, entry, subpath, [(p[0], p[1]) for p in subpath])
        if at and drawing.chart.stack != "none":
            _draw_seams(drawing, coordinates, columns)


def _place_series(
    drawing: ChartDrawing, stacks: Sequence[Sequence[StackedValue]], band: float
) -> tuple[list[float], float]:
    """Return the offset of each series from the middle of its band, and the width of a column."""
    if drawing.chart.stack != "none":
        return [0.0] * len(stacks), min(band * _GROUP, _MAX_COLUMN)
    width = min(band * _GROUP / len(stacks), _MAX_COLUMN)
    return [(at - (len(stacks) - 1) / 2) * width for at in range(len(stacks))], width


def _column(
    coordinates: PlotCoordinates, x: float, offset: float, width: float, part: StackedValue
) -> tuple[Point, Point]:
    assert part is not None
    (x1, y1), (x2, y2) = (coordinates.point(x, value) for value in part)
    if coordinates.is_horizontal:
        return (x1, y1 + offset - width / 2), (x2, y2 + offset + width / 2)
    return (x1 + offset - width / 2, y1), (x2 + offset + width / 2, y2)


def _draw_seams(
    drawing: ChartDrawing, coordinates: PlotCoordinates, columns: Sequence[tuple[Point, Point]]
) -> None:
    """Separate stacked columns by white lines at their starts."""
    for (x1, y1), (x2, y2) in columns:
        if abs((x2 - x1) if coordinates.is_horizontal else (y2 - y1)) < 2 * _SEAM:
            continue
        end = (x1, y2) if coordinates.is_horizontal else (x2, y1)
        drawing.pen.line((x1, y1), end, _SEAM, WHITE)


def write_column_values(
    drawing: ChartDrawing,
    coordinates: PlotCoordinates,
    stacks: Sequence[Sequence[StackedValue]],
    entries: Sequence[LegendEntry],
) -> None:
    """Write values at the ends of columns, or inside stacked ones, where there is space."""
    chart, label_style = drawing.chart, drawing.label_style
    is_stacked = chart.stack != "none"
    count = len(stacks[0])
    band = coordinates.length / max(count, 1)
    offsets, width = _place_series(drawing, stacks, band)
    pitch = band if is_stacked or len(stacks) == 1 else width
    for at, (parts, entry, offset) in enumerate(zip(stacks, entries, offsets, strict=True)):
        for index, part in enumerate(parts):
            exact = chart.series[at].exact[index]
            if part is None or exact is None:
                continue
            text = _write_value(chart, exact, part)
            need = label_style.size if coordinates.is_horizontal else label_style.width(text)
            if need > pitch:
                continue
            corners = _column(coordinates, (index + 0.5) / count, offset, width, part)
            if is_stacked:
                _write_inside(drawing, corners, text, entry)
            else:
                _write_beyond(drawing, coordinates, corners, text, is_below=exact < 0)


def _write_inside(
    drawing: ChartDrawing, corners: tuple[Point, Point], text: str, entry: LegendEntry
) -> None:
    (x1, y1), (x2, y2) = corners
    label_style = drawing.label_style
    room = abs(x2 - x1), abs(y2 - y1)
    if label_style.width(text) + 2 > room[0] or label_style.cap_height + 3 > room[1]:
        return
    write_on(drawing, entry, (x1 + x2) / 2, (y1 + y2) / 2, text)


def _write_beyond(
    drawing: ChartDrawing,
    coordinates: PlotCoordinates,
    corners: tuple[Point, Point],
    text: str,
    *,
    is_below: bool,
) -> None:
    (x1, y1), (x2, y2) = corners
    label_style = drawing.label_style
    gap = 0.35 * label_style.size
    if coordinates.is_horizontal:
        baseline = (y1 + y2) / 2 + label_style.cap_height / 2
        anchor = TextAnchor.END if is_below else TextAnchor.START
        drawing.pen.text(
            x2 - gap if is_below else x2 + gap, baseline, text, label_style, anchor=anchor
        )
        return
    baseline = y2 + gap + label_style.cap_height if is_below else y2 - gap
    drawing.pen.text((x1 + x2) / 2, baseline, text, label_style, anchor=TextAnchor.MIDDLE)


# --- lines and areas ------------------------------------------------------------------------------------

# Record indexes in the order of their axis, each with its fraction.
Order = Sequence[tuple[int, float]]


def draw_line_marks(
    drawing: ChartDrawing,
    coordinates: PlotCoordinates,
    order: Order,
    values: Sequence[Sequence[float | None]],
    entries: Sequence[LegendEntry],
) -> None:
    """Draw lines; a gap interrupts a line, and a point between two gaps is a dot."""
    has_dots = drawing.chart.shows_values or (len(order) <= _FEW_POINTS and len(entries) > 1)
    for line, entry in zip(values, entries, strict=True):
        points = (_point(coordinates, fraction, line[at]) for at, fraction in order)
        runs = split_gaps(points)
        strokes = [tuple(downsample(run)) for run in runs if len(run) > 1]
        drawing.pen.stroke(strokes, entry.line_width, entry.color, entry.dash)
        singles = [run[0] for run in runs if len(run) == 1]
        dots = [point for run in runs for point in run] if has_dots else singles
        drawing.pen.fill([circle(x, y, _dot(entry)) for x, y in dots[:MAX_POINTS]], entry.color)


def _dot(entry: LegendEntry) -> float:
    return (entry.line_width or LINE_WIDTH) * 1.25


def _point(coordinates: PlotCoordinates, fraction: float, value: float | None) -> Point | None:
    return None if value is None else coordinates.point(fraction, value)


def draw_areas(
    drawing: ChartDrawing,
    coordinates: PlotCoordinates,
    order: Order,
    stacks: Sequence[Sequence[StackedValue]],
    entries: Sequence[LegendEntry],
) -> None:
    """Draw areas, stacked or from zero; those from zero are translucent."""
    is_stacked = drawing.chart.stack != "none" and len(entries) > 1
    for parts, entry in zip(stacks, entries, strict=True):
        for run in _area_runs(coordinates, order, parts):
            if len(run) == 1:
                ((_, top),) = run
                drawing.pen.fill((circle(*top, MARKER),), entry.color)
                continue
            tops = downsample([top for _, top in run])
            bases = downsample([base for base, _ in run])
            outline = (*tops, *reversed(bases))
            if is_stacked:
                fill_with_entry(drawing.pen, entry, outline, outline)
                drawing.pen.stroke((tuple(tops),), _SEAM, WHITE)
            else:
                _fill_translucent(drawing, entry, outline, is_alone=len(entries) == 1)
                drawing.pen.stroke((tuple(tops),), LINE_WIDTH, entry.color)


def _fill_translucent(
    drawing: ChartDrawing, entry: LegendEntry, outline: tuple[Point, ...], *, is_alone: bool
) -> None:
    if is_alone:
        translucent = entry._replace(color=tint(entry.color, 0.28))
        fill_with_entry(drawing.pen, translucent, outline, outline)
        return
    drawing.pen.begin_opacity_group(0.4)
    fill_with_entry(drawing.pen, entry, outline, outline)
    drawing.pen.end_opacity_group()


def _area_runs(
    coordinates: PlotCoordinates, order: Order, parts: Sequence[StackedValue]
) -> list[list[tuple[Point, Point]]]:
    def place(at: int, fraction: float) -> tuple[Point, Point] | None:
        part = parts[at]
        if part is None:
            return None
        return coordinates.point(fraction, part[0]), coordinates.point(fraction, part[1])

    return split_gaps(place(at, fraction) for at, fraction in order)


def draw_points(
    drawing: ChartDrawing,
    coordinates: PlotCoordinates,
    order: Order,
    values: Sequence[Sequence[float | None]],
    entries: Sequence[LegendEntry],
) -> None:
    """Draw points; of several at one place only one is drawn."""
    drawn = 0
    for line, entry in zip(values, entries, strict=True):
        places: dict[tuple[int, int], Point] = {}
        for at, fraction in order:
            point = _point(coordinates, fraction, line[at])
            if point is not None:
                cell = floor(point[0] / _CELL), floor(point[1] / _CELL)
                places.setdefault(cell, point)
        drawn += len(places)
        if drawn > MAX_POINTS:
            drawing.report(
                DENSE,
                f"The chart has more than {MAX_POINTS:,} distinct points",
                "Take fewer records, or group them.",
                is_warning=False,
            )
            return
        radius = entry.radius if len(order) <= _SMALL else entry.radius * 0.55
        if entry.marker == "circle" and len(order) > _SMALL:
            # A line of length 0 with round caps (ISO 32000-1 8.5.3.2) is short, and not quite round
            # in every viewer.
            dots = [(point, point) for point in places.values()]
            drawing.pen.stroke(dots, 2 * radius, entry.color)
        else:
            marks = [marker(entry.marker, x, y, radius) for x, y in places.values()]
            drawing.pen.fill(marks, entry.color)


def write_point_values(
    drawing: ChartDrawing,
    coordinates: PlotCoordinates,
    order: Order,
    stacks: Sequence[Sequence[StackedValue]],
) -> None:
    """Write values at the points of lines and areas, where they do not overlap.

    They are above a point, or below one that is lower than its neighbours or has another just above.
    """
    chart, label_style, area = drawing.chart, drawing.label_style, coordinates.area
    lines = [
        [
            (at, coordinates.point(fraction, part[1]))
            for at, fraction in order
            if (part := parts[at])
        ]
        for parts in stacks
    ]
    heights: dict[int, list[float]] = {}
    for at, (_, y) in chain.from_iterable(lines):
        heights.setdefault(at, []).append(y)
    taken: list[tuple[float, float, float, float]] = []
    for series, parts, line in zip(chart.series, stacks, lines, strict=True):
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
                drawing.pen.text(middle, baseline, text, label_style, anchor=TextAnchor.MIDDLE)


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
    if len(slices) > _MAX_SLICES:
        drawing.report(
            DENSE,
            f"The chart has {len(slices):,} slices; at most {_MAX_SLICES} are drawn",
            "Group the small ones.",
            is_warning=False,
        )
        return
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
    drawing.pen.stroke(seams, _SLICE_SEAM, WHITE)


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
