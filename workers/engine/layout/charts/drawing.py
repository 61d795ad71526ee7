"""State of a chart being drawn: pen, label style, size and problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from workers.engine.layout.charts.legends import (
    DASHES,
    LINES,
    MARKERS,
    PALETTE,
    WHITE,
    LegendEntry,
    color_of,
    draw_legend,
    fit_legend,
    hatch_of,
    is_dark,
    legend_height,
    tint,
)
from workers.engine.layout.charts.pen import LabelStyle, Pen, TextAnchor, rectangle
from workers.engine.tree.nodes import Chart
from workers.engine.units import BLACK, Color

LINE_WIDTH: Final = 1.4
THIN_LINE: Final = 1.0  # where many lines cross, or one goes up and down at every point
MARKER: Final = 2.1  # points, a marker's radius
MANY_LINES: Final = 6
MANY_RECORDS: Final = 150
EMPTY: Final = "chart-empty"
DENSE: Final = "chart-too-dense"
RANGE: Final = "chart-range"
LABELS: Final = "chart-labels"
_LINED: Final = frozenset({"line", "sparkline"})


class ChartProblem(NamedTuple):
    """A problem of a chart; an error unless `is_warning`."""

    code: str
    what: str
    advice: str
    is_warning: bool = True


@dataclass(slots=True)
class ChartDrawing:
    """A chart being drawn; `width` and `height` in points."""

    pen: Pen
    chart: Chart
    label_style: LabelStyle
    width: float
    height: float
    problems: list[ChartProblem] = field(default_factory=list)

    @property
    def ink(self) -> Color:
        """The colour of labels."""
        return self.chart.style.text.color

    @property
    def rule(self) -> Color:
        """The colour of base lines and ticks."""
        return tint(self.ink, 0.6)

    @property
    def faint(self) -> Color:
        """The colour of grid lines."""
        return tint(self.ink, 0.16)

    def report(self, code: str, what: str, advice: str, *, is_warning: bool = True) -> None:
        """Record a problem."""
        self.problems.append(ChartProblem(code, what, advice, is_warning))


def make_entries(
    chart: Chart, labels: Sequence[str], given: Sequence[Color | None]
) -> list[LegendEntry]:
    """Return the appearance of each series or slice."""
    is_line, is_point = chart.kind in _LINED, chart.kind == "scatter"
    colors = chart.colors or (LINES if is_line or is_point else PALETTE)
    entries: list[LegendEntry] = []
    for at, (label, own) in enumerate(zip(labels, given, strict=True)):
        color = color_of(at, own, colors)
        if is_line:
            is_thin = len(labels) > MANY_LINES or len(chart.xs) > MANY_RECORDS
            width = THIN_LINE if is_thin else LINE_WIDTH
            dash = DASHES[at % len(DASHES)] if len(labels) > 1 else ()
            entries.append(LegendEntry(label, color, None, width, dash))
        elif is_point:
            entries.append(
                LegendEntry(label, color, marker=MARKERS[at % len(MARKERS)], radius=MARKER)
            )
        else:
            hatch = hatch_of(at, len(colors), is_hatched=chart.is_hatched)
            entries.append(LegendEntry(label, color, hatch))
    return entries


def draw_title(drawing: ChartDrawing) -> float:
    """Draw the title in at most two lines; return the top of the remaining space."""
    if not drawing.chart.title:
        return 0.0
    title = drawing.label_style.bold()
    text = " ".join(drawing.chart.title.split())
    lines = title.wrap(text, drawing.width, 2) or (title.truncate(text, drawing.width),)
    y = title.cap_height
    for line in lines:
        drawing.pen.text(0.0, y, line, title)
        y += title.line_height
    return y - title.cap_height + 0.55 * title.size


def write_on(drawing: ChartDrawing, entry: LegendEntry, x: float, y: float, text: str) -> None:
    """Write a text centred on an area, in black or white; on a white background where it is hatched."""
    label_style = drawing.label_style
    color = WHITE if is_dark(entry.color) else BLACK
    if entry.hatch is not None:
        across, down = label_style.width(text) / 2 + 1.5, label_style.cap_height / 2 + 1.5
        drawing.pen.fill((rectangle((x - across, y - down), (x + across, y + down)),), WHITE)
        color = BLACK
    baseline = y + label_style.cap_height / 2
    drawing.pen.text(x, baseline, text, label_style, anchor=TextAnchor.MIDDLE, color=color)


def place_legend(
    drawing: ChartDrawing, entries: Sequence[LegendEntry], top: float, bottom: float
) -> tuple[float, float]:
    """Draw a legend above or below the chart; return top and bottom of the remaining space."""
    label_style = drawing.label_style
    fitting = fit_legend(entries, drawing.width, bottom - top, label_style)
    if len(fitting) < len(entries):
        drawing.report(
            LABELS,
            f"{len(entries) - len(fitting)} of the {len(entries)} names of the legend are left out",
            "Make the chart larger, or group small ones.",
        )
    gap = 0.4 * label_style.size
    used = legend_height(fitting, drawing.width, label_style) + gap
    if drawing.chart.legend == "bottom":
        draw_legend(drawing.pen, fitting, bottom - used + gap, drawing.width, label_style)
        return top, bottom - used
    draw_legend(drawing.pen, fitting, top, drawing.width, label_style)
    return top + used, bottom
