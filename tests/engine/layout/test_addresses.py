"""An address stands in the window of its envelope, and nothing beside it."""

from __future__ import annotations

import pypdfium2
import pytest

from deploy.tools.gallery import OPTIONS
from workers.engine.pipeline import prepare_template, render
from workers.engine.syntax.address_windows import ADDRESS_WINDOWS

LINES = "['Harbour Joinery GmbH', 'Speicherstraße 18', '', None, '20457 Hamburg']"


def drawn(address, flow="", page='size="A4" margin="110mm 20mm 15mm 25mm"'):
    source = f"<document><page {page}/><flow>{address}{flow}</flow></document>"
    return render(prepare_template(source.encode()), None, options=OPTIONS)


def ink_of(rendered):
    """Return the left, upper, right and lower edge of the ink of the page, in mm."""
    with pypdfium2.PdfDocument(rendered.pdf) as document:
        picture = document[0].render(scale=2).to_pil().convert("L")
    box = picture.point(lambda shade: 255 * (shade < 200)).getbbox()
    return [edge / 2 / 72 * 25.4 for edge in box]


def codes(rendered):
    return [each.code for each in rendered.warnings]


@pytest.mark.parametrize("standard", ADDRESS_WINDOWS)
@pytest.mark.parametrize("value", [LINES, str(["A long name of a company Ltd and Co."] * 5)])
def test_an_address_stands_in_the_window_of_its_standard(standard, value):
    made = drawn(
        f'<address standard="{standard}" value="{value}" sender="Sender Ltd" font-size="9pt"/>'
    )
    window = ADDRESS_WINDOWS[standard]
    left, top, right, bottom = ink_of(made)
    assert codes(made) == []
    assert left == pytest.approx(window.left + window.inset, abs=1)
    assert top >= window.top
    assert right <= window.left + window.width
    assert bottom <= window.top + window.height


def test_an_address_stands_on_the_paper_wherever_it_is_written():
    address = '<address standard="din5008-a" value="\'A\'"/>'
    inside = f'<box width="20mm" height="4mm">{address}</box>'
    assert ink_of(drawn(inside)) == ink_of(drawn(address))


def test_too_many_and_too_long_lines_are_warnings_that_name_them():
    made = drawn(f'<address standard="us-10" value="[\'a\', {"x " * 90!r}, [1, 2, 3, [4]]]"/>')
    assert codes(made) == ["address-lines", "address-width"]
    assert "6 lines, us-10 allows 5" in made.warnings[0].message
    assert "Line 2 of the address" in made.warnings[1].message


@pytest.mark.parametrize(
    "other",
    [
        '<box left="30mm" top="60mm" width="9mm" height="9mm"><p>seen</p></box>',
        '<box left="10mm" top="60mm" width="90mm" height="9mm" background="#eeeeee"/>',
        '<box left="0" top="70mm" width="210mm" height="1mm" border-top="1pt solid black"/>',
    ],
)
def test_whatever_else_is_printed_in_the_window_is_a_warning(other):
    made = drawn('<address standard="din5008-b" value="\'A\'"/>', other)
    assert codes(made) == ["address-window"]


def test_what_stands_around_the_window_is_no_warning():
    around = (
        '<box left="20mm" top="20mm" width="85mm" height="25mm" background="#eeeeee"/>'
        '<box left="105mm" top="45mm" width="85mm" height="60mm" background="#eeeeee"/>'
        '<box left="20mm" top="90mm" width="85mm" height="9mm" border="1pt solid black"/>'
    )
    assert codes(drawn('<address standard="din5008-b" value="\'A\'"/>', around)) == []


@pytest.mark.parametrize(
    ("standard", "marks"), [("din5008-b", [105, 148.5, 210]), ("din5008-a", [87, 148.5, 192])]
)
def test_fold_and_punch_marks_stand_where_din_5008_has_them(standard, marks):
    made = drawn(f'<address standard="{standard}" value="none" fold-marks="true"/>')
    with pypdfium2.PdfDocument(made.pdf) as document:
        picture = document[0].render(scale=4).to_pil().convert("L")
    rows = {
        y for y in range(picture.height) if picture.crop((0, y, 100, y + 1)).getextrema()[0] < 220
    }
    for mark in marks:
        assert any(abs(y / 4 / 72 * 25.4 - mark) < 0.4 for y in rows)
    assert len(rows) <= 2 * len(marks)
