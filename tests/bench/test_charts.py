"""The page that compares the charts of Pressroom and Vega-Lite shows what the script draws."""

from __future__ import annotations

import pytest

from tests.bench.charts import COMPARISONS, PICTURES, Comparison, draw_ours, write_theirs
from workers.engine.syntax.vocabulary.content import CHART_KINDS

PAGE = (PICTURES.parent / "charts.md").read_text(encoding="utf-8")
MAX_BYTES = 40_000


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda one: one.name)
def test_each_chart_is_drawn_and_on_the_page(comparison: Comparison):
    assert f"## {comparison.heading}\n\n![" in PAGE
    assert f"](charts/{comparison.name}.png)" in PAGE
    assert (PICTURES / f"{comparison.name}.png").stat().st_size <= MAX_BYTES
    assert len(draw_ours(comparison).getcolors(1 << 20) or ()) > 1
    assert write_theirs(comparison)["data"]["values"] == comparison.rows


def test_every_type_of_chart_is_compared():
    drawn = {one.ours.partition('type="')[2].partition('"')[0] for one in COMPARISONS}
    assert drawn == set(CHART_KINDS)
