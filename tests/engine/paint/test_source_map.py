"""The boxes of a printed page: its paper as it is cut, and bleed and marks around it."""

from __future__ import annotations

from io import BytesIO

import pikepdf

from tests.engine.paint.drawing import OWNER, RED, rendered
from workers.engine.layout.display import (
    Anchor,
    Fill,
    LaidOutDocument,
    LaidOutPage,
    LinkArea,
    OutlineEntry,
)
from workers.engine.paint.writer import write_pages


def printed(page: LaidOutPage) -> dict[str, list[float]]:
    with pikepdf.open(BytesIO(write_pages(LaidOutDocument([page], [])))) as pdf:
        written = pdf.pages[0].obj
        names = [name for name in ("/MediaBox", "/BleedBox", "/TrimBox") if name in written]
        return {name: [float(edge) for edge in written[name]] for name in names}


def test_a_page_without_bleed_has_one_box():
    assert printed(LaidOutPage(100, 200)) == {"/MediaBox": [0, 0, 100, 200]}


def test_bleed_and_marks_lie_outside_of_the_trimmed_paper():
    assert printed(LaidOutPage(100, 200, bleed=10, slug=5)) == {
        "/MediaBox": [0, 0, 130, 230],
        "/BleedBox": [5, 5, 125, 225],
        "/TrimBox": [15, 15, 115, 215],
    }


def test_all_that_stands_on_a_page_with_bleed_moves_with_its_paper():
    links = [LinkArea(10, 20, 30, 5, "https://example.com"), LinkArea(0, 0, 10, 10, "#here")]
    page = LaidOutPage(
        100, 200, [Fill(0, 0, 20, 20, RED, OWNER)], links, [Anchor("here", 40, 50)], 10, 5
    )
    pdf = write_pages(
        LaidOutDocument([page, LaidOutPage(100, 200)], [OutlineEntry(1, "Title", 0, 30)])
    )
    image = rendered(pdf)
    assert image.getpixel((14, 16)) == (255, 255, 255)
    assert image.getpixel((16, 16)) == (255, 0, 0)
    with pikepdf.open(BytesIO(pdf)) as opened:
        first, second = opened.pages[0].Annots
        assert [float(edge) for edge in first.Rect] == [25, 190, 55, 195]
        assert [
            float(edge) for edge in (*second.Dest[2:4], opened.Root.Outlines.First.Dest[3])
        ] == [*(55, 165), 185]
        assert float(opened.Root.Names.Dests.Names[1][2]) == 55
        assert "/TrimBox" not in opened.pages[1].obj
