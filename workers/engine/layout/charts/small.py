"""Charts in lines of text and cells: sparklines and gauges."""

from __future__ import annotations

from typing import Final

from workers.engine.layout.charts.drawing import ChartDrawing
from workers.engine.layout.charts.geometry import downsample, split_gaps
from workers.engine.layout.charts.palette import tint
from workers.engine.layout.charts.pen import circle, rectangle
from workers.engine.tree.nodes import Chart
from workers.engine.units import Color

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
