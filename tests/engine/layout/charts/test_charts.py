"""Charts of documents: where their marks and labels are, and what is reported for them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from math import hypot

import pytest

from tests.golden.case import OPTIONS, FolderImages
from workers.engine.diagnostics import AuthoringError, Findings
from workers.engine.layout.display import GlyphRun, LaidOutDocument, Path, Save, ShapedRun, Stroke
from workers.engine.pipeline import build_document, lay_out_document, prepare_template

KINDS = ("column", "bar", "line", "area", "scatter", "pie", "donut")
WIDTH = 400.0


def drawn(chart: str, *, data: str = "{}", lang: str = "en-GB") -> tuple[LaidOutDocument, Findings]:
    findings = Findings()
    source = (
        f'<document lang="{lang}" currency="EUR"><data><json>{data}</json></data>'
        f'<page size="440pt 440pt" margin="20pt"/><flow>{chart}</flow></document>'
    )
    document, _ = build_document(
        prepare_template(source.encode()), None, options=OPTIONS, findings=findings
    )
    laid_out = lay_out_document(document, resources=FolderImages(), findings=findings)
    return laid_out.draw_all(), findings


def reported(chart: str, **given: str) -> list[str]:
    try:
        findings = drawn(chart, **given)[1]
    except AuthoringError as error:
        return [each.text for each in error.diagnostics]
    return [each.text for each in (*findings.errors, *findings.warnings)]


def items(chart: str, **given: str) -> list[object]:
    return [*drawn(chart, **given)[0].pages][0].items  # type: ignore[return-value]  # noqa: RUF015


def texts(chart: str, **given: str) -> list[str]:
    return [each.text for each in items(chart, **given) if isinstance(each, GlyphRun)]


def boxes(found: list[object]) -> Iterator[tuple[float, float, float, float]]:
    """Yield the rectangles of all texts that are not turned."""
    turned = 0
    for item in found:
        turned += isinstance(item, Save)
        turned -= type(item).__name__ == "Restore"
        if isinstance(item, GlyphRun | ShapedRun) and item.text.strip() and not turned:
            yield item.x, item.y - 0.7 * item.size, item.x + item.width, item.y


def column(values: str, more: str = "", inside: str = "") -> str:
    return (
        f'<chart type="column" data="n in {values}" x="n" y="n" height="100pt" alt="" {more}>'
        f"{inside}</chart>"
    )


def rectangles(found: list[object]) -> list[tuple[float, float, float, float]]:
    (path,) = (each for each in found if isinstance(each, Path))
    return [
        (min(x for x, _ in p), min(y for _, y in p), max(x for x, _ in p), max(y for _, y in p))
        for p in path.subpaths
    ]


def test_columns_are_as_high_as_their_values():
    bars = rectangles(items(column("[10, 20, -5]")))
    heights = [bottom - top for _, top, _, bottom in bars]
    assert heights[1] == pytest.approx(2 * heights[0])
    assert heights[2] == pytest.approx(heights[0] / 2)
    assert bars[0][3] == bars[1][3] == bars[2][1]  # all begin at zero


def test_bars_are_as_long_as_their_values():
    bars = rectangles(items(column("[10, 20]").replace("column", "bar")))
    assert bars[1][2] - bars[1][0] == pytest.approx(2 * (bars[0][2] - bars[0][0]))
    assert bars[0][1] < bars[1][1]  # the first is at the top


def test_a_chart_mirrors_where_lines_read_from_right_to_left():
    chart = column("[10, 20, 5]")
    plain = rectangles(items(chart))
    turned = rectangles(items(f'<div direction="rtl">{chart}</div>'))
    assert [(440 - r, t, 440 - l, b) for l, t, r, b in plain] == [  # noqa: E741
        pytest.approx(box) for box in turned
    ]


def test_numbers_are_written_as_the_language_does():
    assert "1,500" in texts(column("[1500]"))
    assert "1.500" in texts(column("[1500]"), lang="de")
    assert "1.500" in texts(column("[1500]", 'lang="de"'))


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("currency", "€2,000"),
        ("currency('USD')", "US$2,000.00"),
        ("compact", "2K"),
        ("number(2)", "2,000.00"),
        ("percent", "200,000%"),
        ("compact | lower", "2k"),
    ],
)
def test_an_axis_writes_by_its_format(written, label):
    axis = f'<axis side="start" format="{written}"/>'
    assert label in texts(column("[1500, 2000]", inside=axis))


def test_ticks_have_as_many_decimals_as_their_distance():
    assert {"0.0", "0.5", "1.0"} <= {*texts(column("[0.25, 1]"))}


def test_dates_are_written_as_the_language_does():
    chart = (
        '<chart type="line" data="d in days" x="d | parse_date(\'yyyy-MM-dd\')" y="1" alt=""'
        ' height="100pt"/>'
    )
    data = '{ "days": ["2025-11-01", "2026-03-01"] }'
    assert {"Nov", "2025", "Jan", "2026"} <= {*texts(chart, data=data)}
    assert {"nov.", "janv."} <= {*texts(chart, data=data, lang="fr")}


def test_years_are_not_grouped():
    assert {"2024", "2025"} <= {*texts(column("[2024, 2025]"))}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 2, 5, 12, 31, 100])
@pytest.mark.parametrize("word", ["n", "'Category ' ~ n", "'A long name of category ' ~ n"])
def test_labels_never_touch(kind, count, word):
    chart = (
        f'<chart type="{kind}" data="n in range({count})" x="{word}" y="n + 1" alt=""'
        ' width="400pt" height="200pt"/>'
    )
    found = [*boxes(items(chart))]
    for one, other in combinations(found, 2):
        is_apart = (
            one[2] <= other[0] + 0.01
            or other[2] <= one[0] + 0.01
            or one[3] <= other[1] + 0.01
            or other[3] <= one[1] + 0.01
        )
        assert is_apart, (one, other)
    for left, top, right, bottom in found:
        assert left >= 19.9
        assert right <= 420.1
        assert top >= 19.9
        assert bottom <= 220.1


@pytest.mark.parametrize("height", ['height="80pt"', ""])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_draws_nothing_of_nothing(kind, height):
    chart = f'<chart type="{kind}" data="n in []" x="n" y="n" alt="" {height}/>'
    (told_of,) = reported(chart)
    assert told_of.startswith("The chart has no values")


@pytest.mark.parametrize("kind", ["column", "bar", "line", "area", "scatter"])
@pytest.mark.parametrize("values", ["[0]", "[0, 0]", "[none, 3, none]", "[7]", "[-1, -2]"])
def test_every_kind_draws_odd_values(kind, values):
    chart = f'<chart type="{kind}" data="n in {values}" x="loop.index" y="n" alt="" height="80pt"/>'
    assert reported(chart) == []


def test_a_gap_parts_a_line():
    chart = '<chart type="line" data="n in [1, 2, none, 4, 5]" x="loop.index" y="n" alt="" height="80pt"/>'
    (path,) = (each for each in items(chart) if isinstance(each, Path))
    assert [len(run) for run in path.subpaths] == [2, 2]


def test_lines_of_several_series_have_dashes_of_their_own():
    chart = (
        '<chart type="line" data="n in range(40)" x="n" alt="" height="80pt">'
        '<series for="k in [1, 2, 3]" y="n * k"/></chart>'
    )
    dashes = {each.dash for each in items(chart) if isinstance(each, Path)}
    assert len(dashes) == 3


@pytest.mark.parametrize(("kind", "most"), [("line", 4_000), ("area", 8_000), ("scatter", 20_000)])
def test_ten_thousand_records_are_a_small_file(kind, most):
    chart = f'<chart type="{kind}" data="n in range(10000)" x="n" y="(n * 7919) % 997" alt="" height="80pt"/>'
    paths = [each for each in items(chart) if isinstance(each, Path)]
    assert sum(len(run) for path in paths for run in path.subpaths) <= most


def test_too_many_columns_and_points_are_errors():
    (columns,) = reported(column("range(5000)"))
    assert "5,000 columns" in columns
    chart = '<chart type="scatter" data="n in range(10000)" x="n" alt="" height="300pt">'
    points = f'{chart}<series for="k in [2, 3, 5]" y="(n * 7919 * k) % 9973"/></chart>'
    assert any("more than 10,000 distinct points" in text for text in reported(points))


def test_too_many_slices_and_series_are_errors():
    chart = '<chart type="pie" data="n in range(501)" x="n" y="1" height="90pt" alt=""/>'
    (text,) = reported(chart)
    assert text.startswith("The chart has 501 slices; at most 500 are drawn")
    series = '<series for="k in range(101)" y="n * k" label="{{ k }}"/>'
    chart = f'<chart type="line" data="n in [1, 2]" x="n" height="90pt" alt="">{series}</chart>'
    (text,) = reported(chart)
    assert text.startswith("The chart has 101 series; at most 100 are drawn")


def test_evaluations_are_bounded():
    series = '<series for="k in range(20)" y="n"/>'
    chart = f'<chart type="line" data="n in range(10000)" x="n" alt="">{series}</chart>'
    assert any("100,000 iterations" in text for text in reported(chart))


def test_a_filter_that_is_not_known_is_reported():
    assert any(
        "numbre" in text
        for text in reported(column("[1]", inside='<axis side="left" format="numbre"/>'))
    )


def test_a_series_that_depends_on_a_record_is_reported():
    chart = '<chart type="line" data="n in [1]" x="n" alt=""><series if="n > 1" y="n"/></chart>'
    assert any('"n" is not known' in text for text in reported(chart))


def test_records_go_by_name_and_key():
    chart = '<chart type="column" data="k, v in {\'a\': 1, \'b\': 2}" x="k" y="v" alt="" height="80pt"/>'
    assert {"a", "b"} <= {*texts(chart)}


def test_a_chart_repeats_and_knows_outer_names():
    chart = '<chart for="k in [1, 2]" type="column" data="n in [1, 2]" x="k * 10 + n" y="n * k" alt="" height="80pt"/>'
    assert {"11", "12", "21", "22"} <= {*texts(chart)}


def test_shares_are_written_at_slices():
    chart = '<chart type="pie" data="n in [1, 3]" x="\'s\' ~ n" y="n" values="true" alt="" height="90pt"/>'
    assert {"s1 25%", "s3 75%"} <= {*texts(chart)}


def test_a_gauge_is_filled_by_its_share():
    def filled(value: str) -> list[float]:
        chart = f'<chart type="gauge" value="{value}" max="4" width="100pt" height="10pt" alt=""/>'
        paths = [each for each in items(chart) if isinstance(each, Path)]
        return [max(p[0] for p in path.subpaths[0]) - 20 for path in paths]

    assert filled("1") == [100, 25]
    assert filled("9") == [100, 100]
    assert filled("-1") == filled("none") == [100]


def test_small_charts_stand_in_lines_and_cells():
    line = '<chart type="sparkline" data="n in [1, 5, 3]" y="n" alt="up"/>'
    assert any(isinstance(each, Path) for each in items(f"<p>Use {line} here</p>"))
    assert any(isinstance(each, Path) for each in items(f"<table><tr><td>{line}</td></tr></table>"))


def test_the_grid_is_drawn_behind_columns():
    kinds = [type(each) for each in items(column("[1, 2]"))]
    assert kinds.index(Stroke) < kinds.index(Path)


@pytest.mark.parametrize("kind", ["column", "bar", "line", "area"])
@pytest.mark.parametrize(
    "values", ["[-20, -35, -34]", "[120, -340, 5]", "[7]", "[-7]", "[1000000, 2, -1000000]"]
)
@pytest.mark.parametrize("side", ["start", "end"])
def test_values_are_inside_the_chart_and_touch_no_label(kind, values, side):
    axis = f'<axis side="{side}"/>'
    chart = (
        f'<chart type="{kind}" data="n in {values}" x="n ~ \' name\'" y="n" '
        f'values="true" height="100pt" width="180pt" alt="">{axis}</chart>'
    )
    found = list(boxes(items(chart)))
    assert all(left >= 19.9 and right <= 200.1 for left, _, right, _ in found)
    for one, other in combinations(found, 2):
        assert not _overlap(one, other), (one, other)


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    is_across = one[0] < other[2] - 0.1 and other[0] < one[2] - 0.1
    return is_across and one[1] < other[3] - 0.1 and other[1] < one[3] - 0.1


def test_bars_use_the_width_that_their_values_leave():
    chart = column("[10, 1000000]", 'values="true"').replace("column", "bar")
    long = max(rectangles(items(chart)), key=lambda bar: bar[2])
    (value,) = [each for each in items(chart) if getattr(each, "text", "") == "1,000,000"][:1]
    assert value.x - long[2] < 10
    assert value.x + value.width == pytest.approx(20 + WIDTH, abs=3)


def test_values_of_a_stack_to_100_percent_are_shares():
    series = '<series y="n" label="A"/><series y="3 * n" label="B"/>'
    chart = (
        '<chart type="{}" stack="share" data="n in [10, 20]" x="n" values="true" height="160pt" '
        f'alt="">{series}</chart>'
    )
    assert {"25%", "75%"} <= set(texts(chart.format("column")))
    assert {"25%", "75%"} <= set(texts(chart.format("bar")))
    assert "1,000%" not in texts(chart.format("area"))


def test_a_slice_that_is_there_is_not_0_percent():
    shown = texts(
        '<chart type="pie" data="n in [1, 999]" x="n" y="n" values="true" height="160pt" alt=""/>'
    )
    assert [text for text in shown if "%" in text] == ["999 100%", "1 <1%"]


@pytest.mark.parametrize("kind", ["pie", "donut"])
@pytest.mark.parametrize(
    "values",
    ["[42, 91, 8, 6, 2, 1, 0.4]", "[1, 1, 1, 1, 1, 90]", "[90, 1, 1, 1, 1, 1]", "[50, 50]", "[7]"],
)
def test_lines_to_labels_do_not_cross_slices(kind, values):
    found = items(
        f'<chart type="{kind}" data="n in {values}" x="n" y="n" values="true" height="200pt" alt=""/>'
    )
    outlines = [each for each in found if isinstance(each, Path) and not each.width]
    points = [p[-2:] for each in outlines for path in each.subpaths for p in path]
    center, radius = (220.0, 120.0), 120 - min(y for _, y in points)
    leaders = [each for each in found if isinstance(each, Path) and each.width == 0.4]
    assert leaders
    for leader in leaders:
        for start, end in pairwise(leader.subpaths[0]):
            for at in range(11):
                x = start[0] + (end[0] - start[0]) * at / 10 - center[0]
                y = start[1] + (end[1] - start[1]) * at / 10 - center[1]
                assert hypot(x, y) > radius - 0.5


def test_one_value_is_shown_from_zero():
    chart = column("[7, 7]").replace("column", "line")
    assert texts(chart)[:1] == ["0"]


def test_zeros_have_no_scale():
    assert set(texts(column("[0, 0]").replace('x="n"', 'x="loop.index"'))) == {"0", "1", "2"}


def test_a_long_name_has_a_row_of_the_legend():
    name = "A name of a series that is longer than half of its chart"
    inside = f'<series y="n" label="{name}"/><series y="n" label="B"/>'
    chart = column("[1, 2]", 'width="250pt"', inside).replace('y="n" height', "height")
    assert name in texts(chart)
