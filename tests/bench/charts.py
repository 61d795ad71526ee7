"""Draw the same charts with Pressroom and Vega-Lite, in the same size and font, side by side.

`python -m tests.bench.charts` writes the pictures of deploy/docs/charts.md, at 150 dpi. Vega-Lite is
drawn by `vl-convert-python`, which is not among the packages of development: install it first.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

from PIL import Image

from tests.bench.typography import TYPEFACES, draw, join
from tests.golden.case import OPTIONS
from workers.engine.pipeline import prepare_template, render

ROOT: Final = Path(__file__).parents[2]
PICTURES: Final = ROOT / "deploy" / "docs" / "charts"
DPI: Final = 150
WIDTH, HEIGHT = 88.0, 50.0  # mm
LEAST: Final = 20.0  # mm, for the text of a page
MARGIN: Final = 2.0  # mm
SIZE: Final = 7.5  # points
GIVEN: Final = 'data="r in rows" '
COLORS: Final = 48  # of a picture

MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
COUNTRIES: Final = (
    "Bosnia and Herzegovina",
    "United Kingdom of Great Britain and Northern Ireland",
    "Switzerland",
    "Sweden",
    "São Tomé and Príncipe",
    "Germany",
)
Rows = Sequence[dict[str, Any]]
Spec = dict[str, Any]


@dataclass(frozen=True)
class Comparison:
    """One chart: its data, and how each program draws it."""

    name: str
    heading: str
    rows: Rows
    ours: str  # attributes of our chart
    theirs: Spec  # mark, encoding and transform, without data and size
    inner: str = ""  # series and axes of our chart
    height: float = HEIGHT
    data: str = ""  # types of our columns


def _rows(names: Sequence[Any], **columns: Sequence[float | None]) -> Rows:
    return [
        {"x": name, **{key: values[at] for key, values in columns.items()}}
        for at, name in enumerate(names)
    ]


def _series(*names: str) -> str:
    return "".join(f'<series y="r.{name}" label="{name}"/>' for name in names)


def _fold(*names: str) -> list[Spec]:
    return [{"fold": list(names), "as": ["series", "value"]}]


def _by_series(mark: Any, *names: str, **encoding: Spec) -> Spec:
    common: Spec = {
        "x": {"field": "x", "type": "ordinal", "sort": None, "title": None},
        "y": {"field": "value", "type": "quantitative", "title": None},
        "color": {"field": "series", "type": "nominal", "sort": list(names), "title": None},
    }
    return {"mark": mark, "transform": _fold(*names), "encoding": common | encoding}


def _walk(seed: int, count: int, start: float, step: float) -> list[float]:
    chance = random.Random(seed)
    values = [start]
    for _ in range(count - 1):
        values.append(round(values[-1] + chance.uniform(-step, step), 2))
    return values


_DAYS: Final = [str(date(2023, 1, 1) + timedelta(at)) for at in range(1095)]
_CHANCE: Final = random.Random(7)
_SEVEN: Final = ("Rent", "Wages", "Energy", "Insurance", "Travel", "Postage", "Gifts")
_LINES: Final = tuple("ABCDEFGH")

COMPARISONS: Final = (
    Comparison(
        "columns", "Columns of two series, some below zero, one missing",
        _rows(MONTHS, Power=(310, 290, 250.5, 180, 140, None, 95, 110, 160, 220, 270, 305),
              Heat=(90, 80, 60, -20, -35, -48, -50, -44, -10, 30, 70, 85)),
        'type="column" x="r.x"',
        _by_series("bar", "Power", "Heat", xOffset={"field": "series", "sort": ["Power", "Heat"]}),
        _series("Power", "Heat"),
    ),
    Comparison(
        "stacked", "Stacked columns with parts below zero",
        _rows(MONTHS, Sales=(31, 29, 25, 18, 14, 12, 9, 11, 16, 22, 27, 30), Services=(12, 14, 9, 8, 11, 13, 12, 10, 9, 12, 15, 16),
              Returns=(-3, -2, -4, -6, -2, -1, -3, -2, -5, -8, -4, -6)),
        'type="column" x="r.x" stack="sum"',
        _by_series("bar", "Sales", "Services", "Returns"),
        _series("Sales", "Services", "Returns"),
    ),
    Comparison(
        "bars", "Bars with long names and their values",
        _rows(COUNTRIES, n=(44_000, 1_820_000, 960_000, 1_210_500, 3_200, 1_730_000)),
        'type="bar" x="r.x" y="r.n" values="true"',
        {"layer": [
            {"mark": "bar"},
            {"mark": {"type": "text", "align": "left", "dx": 3}, "encoding": {"text": {"field": "n", "format": ","}}},
        ], "encoding": {"y": {"field": "x", "sort": None, "title": None}, "x": {"field": "n", "type": "quantitative", "title": None}}},
    ),
    Comparison(
        "names", "Columns with long names",
        _rows(COUNTRIES, n=(44, 182, 96, 121, 3, 173)), 'type="column" x="r.x" y="r.n"',
        {"mark": "bar", "encoding": {"x": {"field": "x", "sort": None, "title": None}, "y": {"field": "n", "type": "quantitative", "title": None}}},
    ),
    Comparison(
        "lines", "Lines of eight series",
        _rows(range(2001, 2025), **{name: _walk(at, 24, 10 + 7 * at, 6) for at, name in enumerate(_LINES)}),
        'type="line" x="r.x"',
        _by_series("line", *_LINES, x={"field": "x", "type": "quantitative", "title": None, "scale": {"zero": False}, "axis": {"format": "d"}}),
        _series(*_LINES),
    ),
    Comparison(
        "days", "Three years of days, three months missing",
        _rows(_DAYS, v=[None if 400 < at < 490 else value for at, value in enumerate(_walk(3, 1095, 1200, 18))]),
        'type="line" x="r.x" y="r.v"',
        {"mark": {"type": "line", "invalid": "break-paths-show-path-domains"}, "encoding": {"x": {"field": "x", "type": "temporal", "title": None},
         "y": {"field": "v", "type": "quantitative", "title": None, "scale": {"zero": False}}}},
        data='<dataset name="rows"><field name="x" type="date"/><field name="v" type="decimal"/></dataset>',
    ),
    Comparison(
        "areas", "Stacked areas",
        _rows(range(2001, 2025), **{name: [abs(v) for v in _walk(at + 30, 24, 20 + 5 * at, 4)] for at, name in enumerate("PQRS")}),
        'type="area" x="r.x"',
        _by_series("area", *"PQRS", x={"field": "x", "type": "quantitative", "title": None, "scale": {"zero": False, "nice": False}, "axis": {"format": "d"}}),
        _series(*"PQRS"),
    ),
    Comparison(
        "pie", "A pie of seven slices, three of them small",
        _rows(_SEVEN, n=(4200, 9100, 830, 610, 240, 90, 35)), 'type="pie" x="r.x" y="r.n" values="true"',
        {"mark": "arc", "encoding": {"theta": {"field": "n", "type": "quantitative"}, "color": {"field": "x", "sort": list(_SEVEN), "title": None}}},
    ),
    Comparison(
        "donut", "A donut",
        _rows(_SEVEN[:4], n=(4200, 9100, 830, 2610)), 'type="donut" x="r.x" y="r.n"',
        {"mark": {"type": "arc", "innerRadius": 38}, "encoding": {"theta": {"field": "n", "type": "quantitative"}, "color": {"field": "x", "sort": list(_SEVEN[:4]), "title": None}}},
    ),
    Comparison(
        "scatter", "Points of three groups",
        _rows([round(_CHANCE.gauss(50, 18), 1) for _ in range(150)],
              **{name: [round(_CHANCE.gauss(1000 + 400 * at, 260)) if _CHANCE.random() < 0.6 else None for _ in range(150)] for at, name in enumerate(("North", "South", "West"))}),
        'type="scatter" x="r.x"',
        _by_series("point", "North", "South", "West", x={"field": "x", "type": "quantitative", "title": None}, shape={"field": "series", "title": None}),
        _series("North", "South", "West"),
    ),
    Comparison(
        "many", "Columns of forty categories",
        _rows([f"Station {at}" for at in range(1, 41)], n=[round(abs(v)) for v in _walk(11, 40, 60, 25)]), 'type="column" x="r.x" y="r.n"',
        {"mark": "bar", "encoding": {"x": {"field": "x", "sort": None, "title": None}, "y": {"field": "n", "type": "quantitative", "title": None}}},
    ),
    Comparison(
        "spread", "A huge spread: one value of a billion",
        _rows(MONTHS, n=(1, 12, 150, 3, 1_000_000_000, 7, 40_000, 2, 9, 310, 5, 8)), 'type="column" x="r.x" y="r.n"',
        {"mark": "bar", "encoding": {"x": {"field": "x", "sort": None, "title": None}, "y": {"field": "n", "type": "quantitative", "title": None}}},
    ),
    Comparison(
        "one", "One value",
        _rows(("Only",), n=(7,)), 'type="line" x="r.x" y="r.n"',
        {"mark": {"type": "line", "point": True}, "encoding": {"x": {"field": "x", "sort": None, "title": None}, "y": {"field": "n", "type": "quantitative", "title": None}}},
        height=32,
    ),
    Comparison(
        "zero", "All zero",
        _rows(MONTHS, n=(0,) * 12), 'type="column" x="r.x" y="r.n"',
        {"mark": "bar", "encoding": {"x": {"field": "x", "sort": None, "title": None}, "y": {"field": "n", "type": "quantitative", "title": None}}},
        height=32,
    ),
    Comparison(
        "narrow", "Values that differ little",
        _rows(MONTHS, n=(100.002, 100.0035, 100.001, 100.0042, 100.005, 100.0031, 100.0012, 100.0008, 100.0024, 100.0041, 100.0039, 100.0027)),
        'type="line" x="r.x" y="r.n"',
        {"mark": "line", "encoding": {"x": {"field": "x", "sort": None, "title": None}, "y": {"field": "n", "type": "quantitative", "title": None, "scale": {"zero": False}}}},
    ),
    Comparison(
        "below", "All below zero",
        _rows(MONTHS, n=[round(-20 - 15 * math.sin(at)) for at in range(12)]), 'type="column" x="r.x" y="r.n" values="true"',
        {"mark": "bar", "encoding": {"x": {"field": "x", "sort": None, "title": None}, "y": {"field": "n", "type": "quantitative", "title": None}}},
    ),
    Comparison(
        "sparkline", "A sparkline",
        _rows(range(60), n=_walk(5, 60, 20, 3)), 'type="sparkline" y="r.n" width="60mm"',
        {"mark": "line", "encoding": {"x": {"field": "x", "type": "quantitative", "axis": None}, "y": {"field": "n", "type": "quantitative", "axis": None, "scale": {"zero": False}}}},
        height=8,
    ),
    Comparison(
        "gauge", "A gauge",
        _rows(("",), n=(0.68,)), 'type="gauge" value="0.68" width="60mm"',
        {"mark": {"type": "bar", "height": 20}, "encoding": {"x": {"field": "n", "type": "quantitative", "axis": None, "scale": {"domain": [0, 1]}}}},
        height=8,
    ),
)  # fmt: skip


def main() -> None:
    """Draw the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=[one.name for one in COMPARISONS], help="draw one")
    parser.add_argument("--folder", type=Path, default=PICTURES)
    arguments = parser.parse_args()
    try:
        import vl_convert
    except ModuleNotFoundError:
        raise SystemExit("Vega-Lite is missing: pip install vl-convert-python") from None
    vl_convert.register_font_directory(str(TYPEFACES))
    arguments.folder.mkdir(exist_ok=True)
    for one in COMPARISONS:
        if arguments.only in (None, one.name):
            theirs = vl_convert.vegalite_to_png(write_theirs(one), ppi=DPI)
            picture = join(draw_ours(one), Image.open(io.BytesIO(theirs)), colors=COLORS)
            picture.save(arguments.folder / f"{one.name}.png", optimize=True)


def write_ours(one: Comparison) -> str:
    """Return the document of a comparison."""
    data = json.dumps({"rows": one.rows}, ensure_ascii=False)
    return (
        f'<document lang="en-GB" title="{one.heading}"><page size="{WIDTH + 2 * MARGIN}mm {max(one.height, LEAST) + 2 * MARGIN}mm" margin="{MARGIN}mm"/>'
        f'<style element="document" font-size="{SIZE}pt"/><data><json><![CDATA[{data}]]></json>{one.data}</data>'
        f'<flow><chart {"" if "gauge" in one.ours else GIVEN}{one.ours} height="{one.height}mm" alt="{one.heading}">{one.inner}</chart></flow></document>'
    )


def draw_ours(one: Comparison) -> Image.Image:
    """Return the chart of Pressroom."""
    template = prepare_template(write_ours(one).encode())
    page = draw(render(template, None, options=OPTIONS).pdf, is_grey=False)
    return page.crop((0, 0, page.width, round((one.height + 2 * MARGIN) / 25.4 * DPI)))


def write_theirs(one: Comparison) -> Spec:
    """Return the chart in the words of Vega-Lite, with its own defaults but for size and font."""
    points = 72 / 25.4
    font = {"font": "Liberation Sans", "fontSize": SIZE}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": one.rows},
        "width": WIDTH * points,
        "height": one.height * points,
        "autosize": {"type": "fit", "contains": "padding"},
        "padding": MARGIN * points,
        "config": {
            "font": "Liberation Sans",
            "axis": {"labelFontSize": SIZE, "titleFontSize": SIZE},
            "legend": {"labelFontSize": SIZE},
            "text": font,
        },
        **one.theirs,
    }


if __name__ == "__main__":
    main()
