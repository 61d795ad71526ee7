"""The element `chart`: its layout, the space of the parts of charts with axes, and small charts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from operator import itemgetter
from types import MappingProxyType
from typing import Final

from workers.engine.characters import ELLIPSIS
from workers.engine.layout.blocks.boxes import outer_widths, resolve_box, with_own_width
from workers.engine.layout.charts import marks
from workers.engine.layout.charts.axes import (
    Axis,
    AxisLabels,
    BandAxis,
    HorizontalSpace,
    Tick,
    TimeAxis,
    ValueAxis,
    separate,
    to_days,
)
from workers.engine.layout.charts.drawing import (
    EMPTY,
    LABELS,
    LINE_HEIGHT,
    RANGE,
    ChartDrawing,
    LabelStyle,
    Pen,
    PlotArea,
    TextAnchor,
    circle,
    downsample,
    draw_symbol,
    draw_title,
    make_entries,
    place_legend,
    rectangle,
    split_gaps,
    symbol_width,
)
from workers.engine.layout.charts.marks import Plot, StackedValue, draw_pie, stack
from workers.engine.layout.context import (
    Fragment,
    LayoutContext,
    PageCanvas,
    Rectangle,
    Region,
    Resume,
    UnbrokenFragment,
)
from workers.engine.layout.display import GlyphRun
from workers.engine.layout.elements.figures import place_figure
from workers.engine.tree.node_values import CategoryKind
from workers.engine.tree.nodes import Chart, Source
from workers.engine.units import Color, LengthKind, mm, tint_color

RULE: Final = 0.5
GRID: Final = 0.4
_TICK: Final = 2.5
_GAP: Final = 0.55  # em, between labels and the plot
_MAX_LABELS_FRACTION: Final = 0.4  # of the width, for the labels of a vertical axis
_MAX_DIRECT_LABELS: Final = 8  # lines with names at their ends
_MAX_DIRECT_FRACTION: Final = 0.28  # of the width, for these names
_MIN_PLOT: Final = 6.0  # points, per side
_FROM_ZERO: Final = frozenset({"column", "bar", "area"})
_BANDED: Final = frozenset({"column", "bar"})


_MAX_SERIES: Final = 100  # hatches and labels of more take seconds
_ATTEMPTS: Final = 3  # to allocate space


def draw_plot(drawing: ChartDrawing) -> None:
    """Draw a chart with axes."""
    if len(drawing.chart.series) > _MAX_SERIES:
        drawing.refuse(
            f"The chart has {len(drawing.chart.series):,} series; at most {_MAX_SERIES} are drawn",
            "Group them, or draw several charts.",
        )
        return
    plot = _prepare(drawing)
    top = draw_title(drawing)
    bottom = drawing.height
    chart = drawing.chart
    named = [entry for entry in plot.entries if entry.label]
    has_legend = chart.legend != "none" and len(plot.entries) > 1 and bool(named)
    plot.is_direct = has_legend and _is_direct(plot)
    if has_legend and not plot.is_direct:
        top, bottom = place_legend(drawing, named, top, bottom)
    ticks, labels = _allocate_space(plot, *_write_axis_titles(plot, top, bottom))
    if plot.area.width < _MIN_PLOT or plot.area.height < _MIN_PLOT:
        drawing.refuse(
            "There is no space for the chart beside its labels",
            "Make it wider or higher, or leave out its title or legend.",
            "chart-too-small",
        )
        return
    _draw_grid(plot, ticks, labels)
    _draw_marks(plot)
    _draw_axes(plot, ticks, labels)
    if plot.is_direct:
        _draw_names(plot)
    _check(plot, ticks, labels)


# --- parts of the plot ---------------------------------------------------------------------------------


def _prepare(drawing: ChartDrawing) -> Plot:
    chart = drawing.chart
    values = [series.values for series in chart.series]
    stacks = _stack(chart, values)
    ends = [end for parts in stacks for part in parts if part is not None for end in part]
    has_zero = chart.kind in _FROM_ZERO
    if not has_zero:
        ends = [value for line in values for value in line if value is not None]
    x_axis, xs = _make_x_axis(chart)
    labels = [series.label for series in chart.series]
    entries = make_entries(chart, labels, [series.color for series in chart.series])
    has_zero = has_zero or len(set(ends)) == 1  # of one value only zero tells the size
    value_axis = ValueAxis(chart.value_axis, ends, has_zero=has_zero)
    return Plot(drawing, x_axis, value_axis, xs, stacks, entries)


def _stack(chart: Chart, values: Sequence[Sequence[float | None]]) -> list[list[StackedValue]]:
    if chart.stack == "none" or chart.kind not in _FROM_ZERO:
        return [[None if value is None else (0.0, value) for value in line] for line in values]
    return stack(values, is_share=chart.stack == "share")


def _make_x_axis(chart: Chart) -> tuple[Axis, Sequence[float | None]]:
    if chart.kind in _BANDED or chart.x_kind is CategoryKind.TEXT:
        return (
            BandAxis(chart.x_axis, chart.xs, chart.x_kind, reaches_ends=chart.kind not in _BANDED),
            [float(at) for at in range(len(chart.xs))],
        )
    if chart.x_kind is CategoryKind.TIME:
        days = [to_days(x) if isinstance(x, datetime) else None for x in chart.xs]
        return TimeAxis(chart.x_axis, days), days
    numbers = [float(x) if isinstance(x, Decimal) else None for x in chart.xs]
    is_nice = chart.kind == "scatter"
    return ValueAxis(chart.x_axis, numbers, has_zero=False, is_nice=is_nice), numbers


def _draw_marks(plot: Plot) -> None:
    chart = plot.drawing.chart
    if not chart.series or not chart.xs:
        return
    fractions = [(at, plot.x_axis.fraction(x)) for at, x in enumerate(plot.xs) if x is not None]
    plot.order = sorted(fractions, key=itemgetter(1))
    _DRAW_MARKS.get(chart.kind, marks.draw_line_marks)(plot)
    if chart.shows_values and chart.kind in _BANDED:
        marks.write_column_values(plot)
    elif chart.shows_values:
        marks.write_point_values(plot)


_DRAW_MARKS: Final = MappingProxyType(
    {
        "column": marks.draw_columns,
        "bar": marks.draw_columns,
        "area": marks.draw_areas,
        "scatter": marks.draw_points,
    }
)


def _check(plot: Plot, ticks: Sequence[Tick], labels: AxisLabels) -> None:
    """Report data that are not visible, or not at their place."""
    drawing, chart = plot.drawing, plot.drawing.chart
    known = [value for series in chart.series for value in series.values if value is not None]
    if not known:
        drawing.report(EMPTY, "The chart has no values", "Check its data, or leave it out by `if`.")
    _check_labels(plot, ticks, labels)
    low, high = chart.value_axis.low, chart.value_axis.high
    beyond = sum(
        (low is not None and value < low) or (high is not None and value > high) for value in known
    )
    if beyond and chart.stack == "none":
        drawing.report(
            RANGE,
            f"{beyond} of the {len(known)} values of the chart lie beyond its axis, and are drawn at "
            "its end",
            "Set another min or max on the axis.",
        )


def _check_labels(plot: Plot, ticks: Sequence[Tick], labels: AxisLabels) -> None:
    """Report category names that are truncated or omitted; for numbers and dates that is normal."""
    drawing, chart = plot.drawing, plot.drawing.chart
    if chart.x_kind is not CategoryKind.TEXT or not plot.x_axis.spec.has_labels:
        return
    omitted, truncated = labels.omitted, labels.truncated
    if plot.is_horizontal:
        omitted = len(chart.xs) - len(ticks)
        truncated = sum(line.endswith(ELLIPSIS) for tick in ticks for line in tick.lines)
    advice = "Make it larger." if plot.is_horizontal else 'Make it larger, or use type="bar".'
    for count, how in ((omitted, "left out"), (truncated, "cut")):
        if count:
            what = f"{count} of the {len(chart.xs)} labels of the chart are {how}"
            drawing.report(LABELS, what, advice)


# --- allocation of space --------------------------------------------------------------------------------


def _write_axis_titles(plot: Plot, top: float, bottom: float) -> tuple[float, float]:
    """Draw axis titles: above a vertical axis, at the end of a horizontal one; return the rest."""
    drawing, label_style = plot.drawing, plot.drawing.label_style
    if plot.vertical_axis.spec.title:
        text = label_style.truncate(plot.vertical_axis.spec.title, drawing.width)
        is_end = _stands_at_end(plot)
        x, anchor = (drawing.width, TextAnchor.END) if is_end else (0.0, TextAnchor.START)
        drawing.pen.text(x, top + label_style.cap_height, text, label_style, anchor=anchor)
        top += label_style.line_height + 0.45 * label_style.size
    if plot.horizontal_axis.spec.title:
        text = label_style.truncate(plot.horizontal_axis.spec.title, drawing.width)
        x = drawing.width if not _stands_at_end(plot) else 0.0
        anchor = TextAnchor.START if _stands_at_end(plot) else TextAnchor.END
        drawing.pen.text(x, bottom - 0.25 * label_style.size, text, label_style, anchor=anchor)
        bottom -= label_style.line_height
    return top, bottom


def _stands_at_end(plot: Plot) -> bool:
    """Return whether the vertical axis is on the end side of lines of text."""
    side = plot.vertical_axis.spec.side
    is_rtl = plot.drawing.chart.style.paragraph.is_rtl
    return bool(side) and (side == "right") is not is_rtl


def _allocate_space(plot: Plot, top: float, bottom: float) -> tuple[list[Tick], AxisLabels]:
    """Set the area of the plot; return ticks and labels of both axes."""
    drawing, label_style = plot.drawing, plot.drawing.label_style
    gap = _GAP * label_style.size
    top += label_style.cap_height / 2
    room = drawing.width * _MAX_LABELS_FRACTION
    bottom_margin = (
        label_style.line_height + gap
        if plot.horizontal_axis.spec.has_labels
        else label_style.size / 2
    )
    labels = AxisLabels([], 0.0)
    ticks: list[Tick] = []
    frame = PlotArea(0.0, top, drawing.width, bottom)
    before = after = 0.0  # for values beyond the marks
    for attempt in range(_ATTEMPTS):  # labels of one axis reduce the space of the other
        frame = frame._replace(bottom=bottom - bottom_margin)
        length = max(_inside(plot, frame, before, after).height, 1.0)
        ticks = plot.vertical_axis.vertical_ticks(length, label_style, room)
        used = 0.0
        if plot.vertical_axis.spec.has_labels:
            used = label_style.widest(line for tick in ticks for line in tick.lines) + gap
        left, right = _sides(plot, used)
        frame = frame._replace(left=left, right=right)
        area = _inside(plot, frame, before, after)
        space = HorizontalSpace(
            area.left, max(area.right, area.left + 1.0), drawing.width, drawing.height
        )
        labels = plot.horizontal_axis.horizontal_ticks(space, label_style)
        if plot.horizontal_axis.spec.has_labels:
            bottom_margin = labels.height + gap
        if attempt < _ATTEMPTS - 1:
            # With less space the ticks are others, which may need less again: it only grows.
            before, after = map(max, (before, after), _fit_values(plot, frame))
    plot.frame = frame._replace(bottom=bottom - bottom_margin)
    plot.area = _inside(plot, plot.frame, before, after)
    return ticks, labels


def _inside(plot: Plot, frame: PlotArea, before: float, after: float) -> PlotArea:
    """Return what is left of a frame without some space at both ends of the axis of values."""
    if plot.is_horizontal:
        return frame._replace(left=frame.left + before, right=frame.right - after)
    return frame._replace(top=frame.top + after, bottom=frame.bottom - before)


def _sides(plot: Plot, used: float) -> tuple[float, float]:
    left, right = used, plot.drawing.width
    if _stands_at_end(plot):
        left, right = 0.0, right - used
    if plot.is_direct:
        right -= _names_width(plot)
    return left, right


def _find_needs(plot: Plot) -> Iterator[tuple[float, float, bool]]:
    """Yield for each value its place on the axis, the points that its text takes, and whether below."""
    chart, label_style = plot.drawing.chart, plot.drawing.label_style
    for series, parts in zip(chart.series, plot.stacks, strict=True):
        ends = [part[1] for part in parts if part is not None]
        lowest = min(ends, default=0.0)
        for exact, part in zip(series.exact, parts, strict=True):
            if exact is None or part is None:
                continue
            need = 1.4 * label_style.size
            if plot.is_horizontal:
                text = chart.value_axis.format.write_number(exact, None)
                need = label_style.width(text) + 0.5 * label_style.size
            # Below a point of a line is the value that is lower than its neighbours.
            is_below = exact < 0 if chart.kind in _BANDED else part[1] == lowest
            yield plot.value_axis.fraction(part[1]), need, is_below


def _fit_values(plot: Plot, frame: PlotArea) -> tuple[float, float]:
    """Return the space that values beyond the marks need before and after the axis of values."""
    chart = plot.drawing.chart
    if not chart.shows_values or (chart.kind in _BANDED and chart.stack != "none"):
        return 0.0, 0.0
    needs = list(_find_needs(plot))
    length = frame.width if plot.is_horizontal else frame.height
    before = after = 0.0
    for _ in range(3):  # the axis gets shorter, and its ends nearer to the values
        axis = max(length - before - after, 1.0)
        before = max((need - at * axis for at, need, is_before in needs if is_before), default=0.0)
        after = max(
            (need - (1 - at) * axis for at, need, is_before in needs if not is_before), default=0.0
        )
        before, after = max(before, 0.0), max(after, 0.0)
    return before, after


# --- axes -----------------------------------------------------------------------------------------------


def _draw_grid(plot: Plot, ticks: Sequence[Tick], labels: AxisLabels) -> None:
    pen, color, area = plot.drawing.pen, plot.drawing.faint, plot.area
    if _has_grid(plot, plot.vertical_axis):
        for tick in ticks:
            y = _vertical_position(plot, tick)
            pen.line((area.left, y), (area.right, y), GRID, color)
    if _has_grid(plot, plot.horizontal_axis):
        for tick in labels.ticks:
            x = area.left + tick.fraction * area.width
            pen.line((x, area.top), (x, plot.frame.bottom), GRID, color)


def _has_grid(plot: Plot, axis: Axis) -> bool:
    if axis.spec.grid is not None:
        return axis.spec.grid
    return axis is plot.value_axis or plot.drawing.chart.kind == "scatter"


def _vertical_position(plot: Plot, tick: Tick) -> float:
    area = plot.area
    if plot.is_horizontal:  # categories run from the top
        return area.top + tick.fraction * area.height
    return area.bottom - tick.fraction * area.height


def _draw_axes(plot: Plot, ticks: Sequence[Tick], labels: AxisLabels) -> None:
    _draw_base(plot)
    if plot.vertical_axis.spec.has_labels:
        _write_vertical_labels(plot, ticks)
    if plot.horizontal_axis.spec.has_labels:
        _write_horizontal_labels(plot, labels)


def _draw_base(plot: Plot) -> None:
    """Draw the base line of values, and the line of ticks for numbers or dates."""
    pen, area, color = plot.drawing.pen, plot.area, plot.drawing.rule
    axis = plot.value_axis
    zero = axis.fraction(0.0) if isinstance(axis, ValueAxis) and axis.low <= 0 <= axis.high else 0.0
    if plot.is_horizontal:
        x = area.left + zero * area.width
        pen.line((x, area.top), (x, area.bottom), RULE, color)
        return
    y = area.bottom - zero * area.height
    pen.line((area.left, y), (area.right, y), RULE, color)
    if zero and not isinstance(plot.x_axis, BandAxis):  # base line of the ticks
        y = plot.frame.bottom
        pen.line((area.left, y), (area.right, y), RULE, color)


def _write_vertical_labels(plot: Plot, ticks: Sequence[Tick]) -> None:
    label_style, pen = plot.drawing.label_style, plot.drawing.pen
    gap = _GAP * label_style.size
    is_end = _stands_at_end(plot)
    # Labels are aligned with the axis.
    for tick in ticks:
        middle = _vertical_position(plot, tick)
        first = middle - (len(tick.lines) - 1) * label_style.line_height / 2
        for at, line in enumerate(tick.lines):
            baseline = first + at * label_style.line_height + label_style.cap_height / 2
            if is_end:
                pen.text(plot.frame.right + gap, baseline, line, label_style)
            else:
                x = plot.frame.left - gap
                pen.text(x, baseline, line, label_style, anchor=TextAnchor.END)


def _write_horizontal_labels(plot: Plot, labels: AxisLabels) -> None:
    drawing, label_style, area = plot.drawing, plot.drawing.label_style, plot.area
    top = plot.frame.bottom + _GAP * label_style.size
    space = HorizontalSpace(area.left, area.right, drawing.width, drawing.height)
    has_ticks = not isinstance(plot.horizontal_axis, BandAxis) and not plot.is_horizontal
    for tick in labels.ticks:
        x = area.left + tick.fraction * area.width
        if has_ticks:
            y = plot.frame.bottom
            drawing.pen.line((x, y), (x, y + _TICK), RULE, drawing.rule)
        if labels.rotation:
            down = top + label_style.cap_height * 0.7
            drawing.pen.text(
                x + label_style.cap_height * 0.5,
                down,
                tick.lines[0],
                label_style,
                anchor=TextAnchor.END,
                rotation=labels.rotation,
            )
            continue
        for at, line in enumerate(tick.lines):
            place = space.place(tick.fraction, label_style.width(line))
            baseline = top + label_style.cap_height + at * label_style.line_height
            drawing.pen.text(place, baseline, line, label_style, anchor=TextAnchor.MIDDLE)


# --- names at the ends of lines -------------------------------------------------------------------------


def _is_direct(plot: Plot) -> bool:
    """Return whether the names of lines are at their ends."""
    drawing, chart, label_style = plot.drawing, plot.drawing.chart, plot.drawing.label_style
    if chart.kind != "line" or chart.legend != "auto" or len(plot.entries) > _MAX_DIRECT_LABELS:
        return False
    if _stands_at_end(plot) or not all(entry.label for entry in plot.entries):
        return False
    rows = len(plot.entries) + 2
    is_low = rows * label_style.line_height > drawing.height * 0.75
    return not is_low and _names_width(plot) <= drawing.width * _MAX_DIRECT_FRACTION


def _names_width(plot: Plot) -> float:
    label_style = plot.drawing.label_style
    symbol = symbol_width(plot.entries[0], label_style.size)
    widest = label_style.widest(entry.label for entry in plot.entries)
    return widest + symbol + 1.3 * label_style.size


def _draw_names(plot: Plot) -> None:
    drawing, label_style, area = plot.drawing, plot.drawing.label_style, plot.area
    ends: list[float] = []
    last = sorted((x, at) for at, x in enumerate(plot.xs) if x is not None)
    for series in drawing.chart.series:
        value = next(
            (series.values[at] for _, at in reversed(last) if series.values[at] is not None), 0.0
        )
        ends.append(plot.point(1.0, value or 0.0)[1])
    places = separate(ends, label_style.line_height, area.top, area.bottom)
    for entry, y in zip(plot.entries, places, strict=True):
        x = area.right + 0.8 * label_style.size
        draw_symbol(drawing.pen, entry, x, y, label_style.size)
        x += symbol_width(entry, label_style.size) + 0.4 * label_style.size
        drawing.pen.text(x, y + label_style.cap_height / 2, entry.label, label_style)


_STROKE: Final = 0.09  # of the height: line width of a sparkline
_MOST_STROKE: Final = 1.2
_TRACK: Final = 0.16  # tint of the track of a gauge


def draw_sparkline(drawing: ChartDrawing) -> None:
    """Draw a line over the whole chart, with a dot at its last value."""
    values = drawing.chart.series[0].values if drawing.chart.series else ()
    known = [value for value in values if value is not None]
    if not known:
        return
    stroke = min(max(drawing.height * _STROKE, 0.4), _MOST_STROKE)
    dot = stroke * 1.5
    low, high = min(known), max(known)
    width, height = drawing.width - 2 * dot, drawing.height - 2 * dot
    step = width / max(len(values) - 1, 1)

    def place(at: int, value: float) -> tuple[float, float]:
        fraction = (value - low) / (high - low) if high > low else 0.5
        return dot + at * step, dot + (1 - fraction) * height

    points = [None if value is None else place(at, value) for at, value in enumerate(values)]
    runs = split_gaps(points)
    color = _color_of(drawing.chart)
    drawing.pen.stroke([tuple(downsample(run)) for run in runs if len(run) > 1], stroke, color)
    dots = [run[0] for run in runs if len(run) == 1]
    drawing.pen.fill([circle(*point, dot) for point in dict.fromkeys((*dots, runs[-1][-1]))], color)


def draw_gauge(drawing: ChartDrawing) -> None:
    """Draw a partly filled bar, from the start side."""
    color = _color_of(drawing.chart)
    size = (drawing.width, drawing.height)
    drawing.pen.fill((rectangle((0.0, 0.0), size),), tint_color(color, _TRACK))
    if drawing.chart.gauge:
        end = (drawing.width * drawing.chart.gauge, drawing.height)
        drawing.pen.fill((rectangle((0.0, 0.0), end),), color)


def _color_of(chart: Chart) -> Color:
    given = [series.color for series in chart.series if series.color is not None]
    return (*given, *chart.colors, chart.style.text.color)[0]


_SMALL: Final[dict[str, tuple[float, float]]] = {  # width and height in em
    "sparkline": (7.0, 1.1),
    "gauge": (7.0, 0.75),
}
_MAX_CELLS: Final = 2000  # of the table of the data, for readers of tagged files
_SHAPE: Final = 0.5  # default height, of the width
_MOST_HEIGHT: Final = mm(75)
_BAR: Final = 1.9  # lines per category of a bar chart
_NARROWEST, _WIDEST = mm(30), mm(90)
_DRAW: Final[MappingProxyType[str, Callable[[ChartDrawing], None]]] = MappingProxyType(
    {"pie": draw_pie, "donut": draw_pie, "sparkline": draw_sparkline, "gauge": draw_gauge}
)


@dataclass(slots=True)
class ChartFragment(UnbrokenFragment):
    """A chart in a box of its own size, in points."""

    context: LayoutContext
    node: Chart
    width: float
    height: float
    chain: tuple[Source, ...]

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the chart, and report data that are not visible."""
        if canvas.is_dry_run or not self.width or not self.height:
            return
        node, context = self.node, self.context
        is_rtl = node.style.paragraph.is_rtl
        owner = canvas.add_figure(node, node.alt, Rectangle(x, y, self.width, self.height))
        pen = Pen(canvas, x, y, self.width, owner=owner, is_rtl=is_rtl)
        label_style = LabelStyle(context.fonts, node.style.text, is_rtl=is_rtl)
        drawing = ChartDrawing(pen, node, label_style, self.width, self.height, self.chain)
        _DRAW.get(node.kind, draw_plot)(drawing)
        if isinstance(owner, int) and node.kind not in _SMALL:
            self._add_data(canvas, x, y)
        context.report_missing_glyphs("".join(pen.texts), node.source)

    def _add_data(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Add a table of the data for readers of tagged files, each cell with a text without glyphs:
        some readers find only elements that have content on a page.
        """
        structure, text = canvas.structure, self.node.style.text
        assert structure is not None
        face = self.context.fonts.find(text)
        empty = GlyphRun(x, y, face, text.size, text.color, face.encode(""), "", 0.0, None)
        cells = structure.add_data_table(self.node, list(_write_data(self.node)))
        canvas.items += [empty._replace(owner=cell) for cell in cells]


def lay_out_chart(
    context: LayoutContext, node: Chart, space: Region, _resume: Resume
) -> Fragment | None:
    """Lay out a chart: as wide as its region, a sparkline or gauge at its own width."""
    used_box = resolve_box(context, node.style.box, space)
    insets = used_box.insets
    across, down = insets.left + insets.right, insets.top + insets.bottom
    if (
        node.kind in _SMALL
        and node.style.box.width.kind is LengthKind.AUTO
        and not space.has_fixed_width
    ):
        width = _SMALL[node.kind][0] * node.style.text.size
        limit = node.style.box.max_width
        most = None if limit is None else limit.resolve(space.width)
        width = min(width + across, space.width, space.width if most is None else most)
        used_box = with_own_width(used_box, width, space)
    height = used_box.height
    if height is None:
        height = _natural_height(node, used_box.content_width) + down
        height = height if used_box.max_height is None else min(height, used_box.max_height)
    fragment = ChartFragment(
        context, node, used_box.content_width, max(height - down, 0.0), context.chain(node.source)
    )
    return place_figure(context, node, used_box, space, fragment)


def _write_data(node: Chart) -> Iterator[list[str]]:
    """Yield the rows of a table of the data, with a head row; none of more than `_MAX_CELLS` cells."""
    if len(node.xs) * (len(node.series) + 1) > _MAX_CELLS or not node.xs:
        return
    write = node.value_axis.format.write_number
    labels = [series.label or node.value_axis.title or node.title for series in node.series]
    yield [node.x_axis.title, *labels]
    for at, x in enumerate(node.xs):
        values = [series.exact[at] for series in node.series]
        yield [
            _write_category(node, x),
            *["" if value is None else write(value, None) for value in values],
        ]


def _write_category(node: Chart, x: object) -> str:
    if isinstance(x, Decimal):
        return node.x_axis.format.write_number(x, None)
    if isinstance(x, datetime):
        return x.isoformat(" ").removesuffix(" 00:00:00")
    return "" if x is None else str(x)


def measure_chart(context: LayoutContext, node: Chart) -> tuple[float, float]:
    """Return the min-content and max-content width of a chart in points, box included."""
    if node.kind in _SMALL:
        width = _SMALL[node.kind][0] * node.style.text.size
        limit = node.style.box.max_width
        if limit is not None and limit.kind is LengthKind.POINTS:
            width = min(width, limit.value)
        return outer_widths(node.style.box, width, width)
    return outer_widths(node.style.box, _NARROWEST, _WIDEST)


def _natural_height(node: Chart, width: float) -> float:
    size = node.style.text.size
    if node.kind in _SMALL:
        return _SMALL[node.kind][1] * size
    if node.kind == "bar":
        beside = 1 if node.stack != "none" else max(len(node.series), 1)
        bars = max(len(node.xs), 1) * max(_BAR, 0.9 * beside) * size * LINE_HEIGHT
        words = 2 + bool(node.title) * 2 + (len(node.series) > 1) * 2
        return min(bars + words * size * LINE_HEIGHT, 3 * _MOST_HEIGHT)
    return min(width * _SHAPE, _MOST_HEIGHT)
