"""The paper: backgrounds reach into the bleed, marks show where to cut."""

from __future__ import annotations

import pytest

from tests.engine.layout.builders import GREY, fills, laid, master, p, strokes, texts
from workers.engine.tree.document import Watermark
from workers.engine.tree.nodes import Occurrence
from workers.engine.tree.styles.computed import BreakTo
from workers.engine.units import mm


def test_the_background_reaches_into_the_bleed():
    page = laid(p("a"), masters=[master(background=GREY, bleed=10.0)]).pages[0]
    assert fills(page) == [(-10, -10, 120, 120)]


@pytest.mark.parametrize(("bleed", "near"), [(0.0, mm(3)), (mm(5), mm(5))])
def test_crop_marks_stand_at_the_corners_outside_of_the_bleed(bleed: float, near: float):
    page = laid(masters=[master(bleed=bleed, has_crop_marks=True)]).pages[0]
    marks = strokes(page)
    assert len(marks) == 8
    assert page.bleed + page.slug == pytest.approx(near + mm(5))
    assert marks[0] == (round(-near - mm(5), 2), 0, round(-near, 2), 0)
    assert marks[-1] == (100, round(100 + near, 2), 100, round(100 + near + mm(5), 2))


def test_a_page_may_have_a_watermark_of_its_own():
    mark = Watermark("COPY", is_over=True, opacity=0.2, rotate=45.0, size=20.0, color=GREY)
    first = master(on=Occurrence.FIRST, watermarks=(mark,))
    document = laid(*[p("a", before=BreakTo.PAGE)] * 2, masters=[master(), first])
    assert [texts(page) for page in document.pages] == [["a", "COPY"], ["a"]]
