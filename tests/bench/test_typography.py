"""The page that compares the typography of Pressroom and Typst shows what the script draws."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.typography import COMPARISONS, PICTURES, Comparison, describe, set_ours

PAGE = (PICTURES.parent / "typography.md").read_text(encoding="utf-8")
MAX_BYTES = 60_000


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda one: one.name)
def test_each_comparison_is_on_the_page_with_its_present_figures(comparison: Comparison):
    picture = Path(PICTURES / f"{comparison.name}.png")
    assert f"(typography/{comparison.name}.png)" in PAGE
    assert picture.stat().st_size <= MAX_BYTES
    figures = describe(set_ours(comparison), comparison.lang)
    assert f"| {comparison.name} | Pressroom | {figures} |" in PAGE, "run tests.bench.typography"
