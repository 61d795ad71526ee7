"""Images and bar codes take the room they are given, or the room they have by themselves."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from PIL import Image as Pillow

from tests.engine.layout.builders import (
    RED,
    at,
    div,
    fills,
    laid,
    lines_of,
    of_kind,
    p,
    placed,
    row,
    sides,
    styled,
)
from workers.engine.diagnostics import Findings
from workers.engine.layout.display import LaidOutPage, Picture, RectangleSet, Save
from workers.engine.syntax.identifiers import ImageSource
from workers.engine.tree.nodes import Barcode, Image, InlineBlock
from workers.engine.units import Length, LengthKind, mm


class Stored:
    """One image of 40 × 20 pixels, 30 × 15 pt, named `wide`."""

    def find_image(self, name: str) -> bytes | None:
        if name != "wide":
            return None
        file = io.BytesIO()
        Pillow.new("RGB", (40, 20)).save(file, "PNG")
        return file.getvalue()


def img(
    name: str = "wide", *, fit: str = "contain", is_optional: bool = False, **given: Any
) -> Image:
    return Image(at("img"), styled(**given), ImageSource(name), "alt", fit, is_optional)


def qr(value: str = "HELLO", **given: Any) -> Barcode:
    module = given.pop("module", None)
    return Barcode(
        "qr",
        value,
        source=at("barcode"),
        style=styled(**given),
        alt="",
        shows_text=False,
        module=module,
    )


def drawn(*blocks: Any, **given: Any) -> LaidOutPage:
    return laid(*blocks, resources=Stored(), **given).pages[0]


@pytest.mark.parametrize(
    ("given", "size"),
    [
        ({"width": Length(120), "max_width": Length(60)}, (60, 30)),
        ({"width": Length(120), "max_width": Length(60), "height": Length(20)}, (40, 20)),
        ({"height": Length(60), "max_width": Length(60)}, (60, 30)),
        ({"max_width": Length(20)}, (20, 10)),
        ({"width": Length(20), "max_width": Length(60)}, (20, 10)),
        ({"width": Length(120), "max_width": Length(25, LengthKind.PERCENT)}, (25, 12.5)),
    ],
)
def test_max_width_holds_against_every_other_size(given, size):
    page = drawn(img(**given))
    assert picture(page)[2:] == size


def picture(page: LaidOutPage) -> tuple[float, ...]:
    (found,) = of_kind(page, Picture)
    return tuple(round(value, 2) for value in found[:4])


@pytest.mark.parametrize(
    ("given", "size"),
    [
        ({}, (30, 15)),
        ({"width": Length(60)}, (60, 30)),
        ({"height": Length(30)}, (60, 30)),
        ({"max_height": Length(5)}, (10, 5)),
    ],
)
def test_an_image_keeps_its_shape(given, size):
    page = drawn(img(**given), p("below"))
    assert picture(page) == (0, 0, *size)
    assert placed(page) == [("below", 0, size[1])]


def test_an_image_without_a_size_is_never_wider_than_its_container():
    assert picture(drawn(div(img(), width=Length(20)))) == (0, 0, 20, 10)


@pytest.mark.parametrize(
    ("fit", "placed_at"),
    [
        ("contain", (0, 15, 60, 30)),
        ("cover", (-30, 0, 120, 60)),
        ("fill", (0, 0, 60, 60)),
        ("none", (15, 22.5, 30, 15)),
    ],
)
def test_an_image_fills_its_box_by_object_fit(fit, placed_at):
    page = drawn(img(fit=fit, width=Length(60), height=Length(60)))
    assert picture(page) == placed_at
    assert of_kind(page, Save) == ([Save(clip=(0, 0, 60, 60))] if fit == "cover" else [])


def test_an_image_stands_in_its_own_box():
    page = drawn(img(padding=sides(2), background=RED))
    assert fills(page) == [(0, 0, 34, 19)]
    assert picture(page) == (2, 2, 30, 15)


def test_the_greatest_height_of_an_image_is_that_of_its_box():
    page = drawn(img(padding=sides(2), background=RED, max_height=Length(14)))
    assert fills(page) == [(0, 0, 24, 14)]
    assert picture(page) == (2, 2, 20, 10)


def test_a_lower_linear_code_keeps_its_width():
    code = qr("AB-12", width=Length(90), max_height=Length(10))
    (bars,) = of_kind(drawn(replace(code, symbology="code128")), RectangleSet)
    columns, rows = 110, 45  # of the symbol
    assert (bars.unit_width * columns, bars.unit_height * rows) == pytest.approx((90, 10))


def test_an_image_in_a_line_stands_on_the_baseline():
    page = drawn(p("ab ", InlineBlock(img()), " cd"))
    assert placed(page)[0] == ("ab ", 0, 7)
    assert placed(page)[-1] == (" cd", 45, 7)
    assert picture(page) == (15, 0, 30, 15)


def test_an_image_wider_than_its_container_is_an_error_with_both_widths():
    findings = Findings()
    drawn(div(img(width=Length(120))), findings=findings)
    (error,) = findings.errors
    assert error.message.startswith(
        "Content does not fit: `img` in `div` needs 42.3 mm of width, the div allows 35.3 mm"
    )


def test_an_image_that_does_not_fit_below_goes_to_the_next_page():
    document = laid(lines_of(6), img(height=Length(50)), resources=Stored())
    assert picture(document.pages[1]) == (0, 0, 100, 50)


def test_a_missing_image_is_an_error_unless_it_is_optional():
    findings = Findings()
    drawn(img("gone"), p("text"), findings=findings)
    assert [error.code for error in findings.errors] == ["image-missing"]
    findings = Findings()
    page = drawn(img("gone", is_optional=True), p("text"), findings=findings)
    assert (len(findings.errors), len(findings.warnings)) == (0, 1)
    assert placed(page) == [("text", 0, 0)]


def test_a_background_image_fills_its_box():
    page = drawn(div(p("a"), background_image=ImageSource("wide"), height=Length(40)))
    assert picture(page) == (0, 0, 100, 40)
    findings = Findings()
    drawn(div(p("a"), background_image=ImageSource("gone")), findings=findings)
    assert "for the background of `div`" in findings.errors[0].message


@pytest.mark.parametrize(
    ("given", "side"),
    [
        ({}, 29 * mm(0.5)),
        ({"module": 1.0}, 29),
        ({"width": Length(58)}, 58),
        ({"height": Length(58)}, 58),
    ],
)
def test_a_bar_code_is_as_large_as_its_size_or_its_modules(given, side):
    page = drawn(qr(**given), p("below"))
    (cells,) = of_kind(page, RectangleSet)
    assert max(x + width for x, _, width, _ in cells.rectangles) == 25  # of 29, with quiet zones
    assert cells.unit_width == cells.unit_height == pytest.approx(side / 29)
    assert placed(page)[0][2] == pytest.approx(side, abs=0.01)


def test_a_bar_code_in_a_row_is_as_wide_as_its_track():
    page = drawn(row(qr(width=Length(58)), p("text"), align="center"))
    assert placed(page) == [("text", 58, 24)]


def test_a_wrong_value_is_an_error_never_a_code():
    findings = Findings()
    page = drawn(qr(""), findings=findings)
    assert [error.code for error in findings.errors] == ["barcode-value"]
    assert of_kind(page, RectangleSet) == []


def test_modules_have_the_colour_of_the_text():
    (cells,) = of_kind(drawn(qr(color=RED)), RectangleSet)
    assert cells.color == RED
