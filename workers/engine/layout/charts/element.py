"""Layout and drawing of the element `chart`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from workers.engine.diagnostics import Severity
from workers.engine.layout.blocks.boxes import outer_widths, resolve_box, with_own_width
from workers.engine.layout.charts.drawing import (
    LINE_HEIGHT,
    ChartDrawing,
    ChartProblem,
    LabelStyle,
    Pen,
    circle,
    downsample,
    rectangle,
    split_gaps,
    tint,
)
from workers.engine.layout.charts.marks import draw_pie
from workers.engine.layout.charts.plots import draw_plot
from workers.engine.layout.context import (
    Fragment,
    LayoutContext,
    LayoutProblem,
    PageCanvas,
    Rectangle,
    Region,
    Resume,
    UnbrokenFragment,
    shorten_value,
)
from workers.engine.layout.display import GlyphRun
from workers.engine.layout.elements.figures import place_figure
from workers.engine.tree.nodes import Chart
from workers.engine.units import Color, LengthKind, mm

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
    drawing.pen.fill((rectangle((0.0, 0.0), size),), tint(color, _TRACK))
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
    chain: tuple[object, ...] = ()

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the chart, and report data that are not visible."""
        if canvas.is_dry_run or not self.width or not self.height:
            return
        node, context = self.node, self.context
        is_rtl = node.style.paragraph.is_rtl
        owner = canvas.add_figure(node, node.alt, Rectangle(x, y, self.width, self.height))
        pen = Pen(canvas, x, y, self.width, owner=owner, is_rtl=is_rtl)
        label_style = LabelStyle(context.fonts, node.style.text, is_rtl=is_rtl)
        drawing = ChartDrawing(pen, node, label_style, self.width, self.height)
        _DRAW.get(node.kind, draw_plot)(drawing)
        if isinstance(owner, int) and node.kind not in _SMALL:
            self._add_data(canvas, x, y)
        context.report_missing_glyphs("".join(pen.texts), node.source)
        for problem in drawing.problems:
            canvas.report(self._describe_problem(problem))

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

    def _describe_problem(self, problem: ChartProblem) -> LayoutProblem:
        return LayoutProblem(
            problem.code,
            problem.what,
            problem.advice,
            self.chain,  # type: ignore[arg-type]
            shorten_value(self.node.alt),
            Severity.WARNING if problem.is_warning else Severity.ERROR,
        )


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


def _write_category(node: Chart, x: Any) -> str:
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
        bars = len(node.xs) * max(_BAR, 0.9 * beside) * size * LINE_HEIGHT
        words = 2 + bool(node.title) * 2 + (len(node.series) > 1) * 2
        return min(bars + words * size * LINE_HEIGHT, 3 * _MOST_HEIGHT)
    return min(width * _SHAPE, _MOST_HEIGHT)
