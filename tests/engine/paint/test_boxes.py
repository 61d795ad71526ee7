"""The boxes of a printed page: the paper stays at the origin, bleed and marks lie around it."""

from __future__ import annotations

from io import BytesIO

import pikepdf

from workers.engine.layout.display import LaidOut, Page
from workers.engine.paint.press import print_pages


def printed(page: Page) -> dict[str, list[float]]:
    with pikepdf.open(BytesIO(print_pages(LaidOut([page], [])))) as pdf:
        written = pdf.pages[0].obj
        names = [name for name in ("/MediaBox", "/BleedBox", "/TrimBox") if name in written]
        return {name: [float(edge) for edge in written[name]] for name in names}


def test_a_page_without_bleed_has_one_box():
    assert printed(Page(100, 200)) == {"/MediaBox": [0, 0, 100, 200]}


def test_bleed_and_marks_lie_outside_of_the_trimmed_paper():
    assert printed(Page(100, 200, bleed=10, slug=5)) == {
        "/MediaBox": [-15, -15, 115, 215],
        "/BleedBox": [-10, -10, 110, 210],
        "/TrimBox": [0, 0, 100, 200],
    }
