"""An address stands in the window of its envelope, and nothing beside it."""

from __future__ import annotations

import random

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


ADDRESSEES = ("Ada Byron", "Harbour Joinery GmbH", "Speicherstraße 18", "20457 Hamburg", "Floor 3")


def make_letter(chance, misplaced):
    """Return a letter, with a fault of one kind or none, and the code of its warning."""
    standard = chance.choice(list(ADDRESS_WINDOWS))
    window = ADDRESS_WINDOWS[standard]
    kind = chance.choice(["width", "lines", "window", "zone"]) if misplaced else None
    lines = [chance.choice(ADDRESSEES) for _ in range(chance.randint(1, window.lines))]
    if kind == "lines":
        lines += [chance.choice(ADDRESSEES) for _ in range(window.lines + 1 - len(lines))]
    if kind == "width":
        lines[chance.randrange(len(lines))] = "Long name " * chance.randint(5, 9)
    side, mark = chance.uniform(3, 25), chance.uniform(125, 200)
    # Above the window, or below it; the zone of the marks is to the left of both.
    free = (0, window.top - side - 0.5), (window.top + window.height + 0.5, 240)
    left, top = chance.uniform(25, 150), chance.uniform(*chance.choice(free))
    if kind == "window":
        left = chance.uniform(max(window.left - side + 1, 0), window.left + window.width - 1)
        top = chance.uniform(window.top - side + 1, window.top + window.height - 1)
    if kind == "zone":
        left, top = (
            chance.uniform(max(13 - side, 0), 13),
            chance.uniform(mark + 1 - side, mark + 15),
        )
    codes_of = {"width": "address-width", "lines": "address-lines", "window": "address-window"}
    source = (
        '<document><page size="A4" margin="110mm 20mm 15mm 25mm">'
        f'<marks type="omr" left="6mm" top="{mark:.2f}mm"/></page><flow>'
        f'<address standard="{standard}" value="{lines}" font-size="9pt"/>'
        f'<box left="{left:.2f}mm" top="{top:.2f}mm" width="{side:.2f}mm" height="{side:.2f}mm" '
        'background="#336699"/></flow></document>'
    )
    return source, [codes_of.get(kind, "marks-zone")] if kind else []


@pytest.mark.long
@pytest.mark.parametrize(("count", "misplaced"), [(200, True), (2000, False)])
def test_misplacements_are_found_and_nothing_else_is(count, misplaced):
    chance = random.Random(43)
    wrong = []
    for _ in range(count):
        source, expected = make_letter(chance, misplaced)
        made = render(prepare_template(source.encode()), None, options=OPTIONS)
        if codes(made) != expected:
            wrong.append((source, codes(made), expected))
    assert wrong == []
