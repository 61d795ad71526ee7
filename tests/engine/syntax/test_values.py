"""Attribute values: what each kind reads, and what it refuses."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.engine.syntax import values as v
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.units import AUTO, BorderStyle, Color, ColorSpace, Length, LengthKind, Sides


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("10mm", 28.346),
        ("1cm", 28.346),
        ("1in", 72),
        ("9.5pt", 9.5),
        ("1pc", 12),
        ("4px", 3),
        ("0", 0),
    ],
)
def test_absolute_lengths_are_points(text: str, points: float):
    value = v.LENGTH.parse(text)
    assert isinstance(value, Length)
    assert value.value == pytest.approx(points, abs=0.001)


def test_lengths_in_font_sizes_wait_for_the_font():
    assert v.LENGTH.parse("1.5em") == v.RelativeLength(1.5, v.FontUnit.EM)
    assert v.LENGTH.parse("2rem") == v.RelativeLength(2, v.FontUnit.REM)


def test_tracks_take_shares_per_cent_and_auto():
    assert v.TRACK.parse("2fr") == Length(2, LengthKind.FRACTION)
    assert v.TRACK.parse("50%") == Length(50, LengthKind.PERCENT)
    assert v.TRACK.parse("auto") == AUTO


@pytest.mark.parametrize(
    "text",
    ["10", "1e3pt", "inf", "infpt", "nan", "nanpt", "1e400pt", "-1pt", "9999999pt", "1 pt", "", "pt", "٣pt", "1_0pt"],
)  # fmt: skip
def test_invalid_lengths_are_reported_with_the_accepted_forms(text: str):
    with pytest.raises(ValueError, match="mm cm in pt pc px em rem"):
        v.LENGTH.parse(text)


@pytest.mark.parametrize("text", ["0.4pt", "2001pt", "0"])
def test_font_sizes_are_bounded(text: str):
    with pytest.raises(ValueError, match=r"0\.5pt to 2000pt"):
        v.FONT_SIZE.parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1pt", (1, 1, 1, 1)),
        ("1pt 2pt", (1, 2, 1, 2)),
        ("1pt 2pt 3pt", (1, 2, 3, 2)),
        ("1pt 2pt 3pt 4pt", (1, 2, 3, 4)),
    ],
)
def test_sides_follow_css_order(text: str, expected: tuple[float, ...]):
    assert v.sides(v.LENGTH).parse(text) == Sides(*(Length(value) for value in expected))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#f00", (1, 0, 0)),
        ("#00ff00", (0, 1, 0)),
        ("rgb(0, 0, 255)", (0, 0, 1)),
        ("rgb(0 0 255)", (0, 0, 1)),
    ],
)
def test_colours_are_read_in_every_form(text: str, expected: tuple[float, ...]):
    assert v.COLOR.parse(text) == Color(ColorSpace.RGB, expected)


def test_a_document_may_redefine_a_css_colour_name():
    purple = Color(ColorSpace.RGB, (0x66 / 255, 0x33 / 255, 0x99 / 255))
    assert v.COLOR.parse("RebeccaPurple") == v.ColorName("RebeccaPurple", purple)
    assert v.COLOR.parse("ink") == v.ColorName("ink", None)


def test_inks_are_per_cent():
    assert v.COLOR.parse("cmyk(0 50% 100 0)") == Color(ColorSpace.CMYK, (0, 0.5, 1, 0))


def test_other_names_are_colours_of_the_document():
    assert v.COLOR.parse("brand") == v.ColorName("brand")
    assert v.BACKGROUND.parse("transparent") is None


@pytest.mark.parametrize("text", ["#ff", "rgb(256 0 0)", "rgb(1 2)", "cmyk(1 2 3)", "url(x)", "[x for x in 1]", "transparent"])  # fmt: skip
def test_wrong_colours_are_refused(text: str):
    with pytest.raises(ValueError, match="colour name"):
        v.COLOR.parse(text)


def test_borders_have_width_style_and_colour():
    border = v.BORDER.parse("0.5pt dashed rgb(255 0 0)")
    assert border.width == Length(0.5)
    assert border.style is BorderStyle.DASHED
    assert border.color == Color(ColorSpace.RGB, (1, 0, 0))
    assert v.BORDER.parse("none").style is BorderStyle.NONE


def test_stripes_are_a_list_of_colours():
    assert v.BACKGROUNDS.parse("transparent rgb(255 255 255)") == (
        None,
        Color(ColorSpace.RGB, (1, 1, 1)),
    )


def test_paper_has_names_and_sizes():
    assert v.PAPER.parse("A4").width == pytest.approx(595.28, abs=0.01)
    assert v.PAPER.parse("a4 landscape").width == pytest.approx(841.89, abs=0.01)
    assert v.PAPER.parse("jis-b5").height == pytest.approx(728.50, abs=0.01)
    assert v.PAPER.parse("100mm 5cm").height == pytest.approx(141.73, abs=0.01)
    assert v.PAPER.parse("80mm auto").is_open


@pytest.mark.parametrize(
    "text",
    ["A9", "9mm 100mm", "6000mm 10mm", "A4 sideways", "210mm", "1em 1em", "A4 auto", "auto 80mm"],
)
def test_wrong_paper_is_refused(text: str):
    with pytest.raises(ValueError, match="A3, A4"):
        v.PAPER.parse(text)


def test_a_loop_names_its_item_and_key():
    assert v.LOOP.parse("line in lines | sort('a')") == v.LoopClause(
        None, "line", "lines | sort('a')"
    )
    assert v.LOOP.parse("k, v in group") == v.LoopClause("k", "v", "group")


@pytest.mark.parametrize(
    "text", ["page in pages", "x of y", "in x", "a b in c", "x in", "loop in x"]
)
def test_wrong_loops_are_refused(text: str):
    with pytest.raises(ValueError, match="name in expression"):
        v.LOOP.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        *("javascript:alert(1)", "file:///etc/passwd", "//x", "data:text/html,x", "x"),
        *("https://a b", "https://a b/c", "https:// a/b", "mailto:a b@c.d", "https://a/b\nc"),
    ],
)
def test_links_outside_the_list_are_refused(text: str):
    with pytest.raises(ValueError, match="mailto"):
        v.LINK.parse(text)


@pytest.mark.parametrize("text", ["https://example.com/?a=1", "mailto:a@b.c", "tel:+491", "#total"])
def test_links_are_stored_as_written(text: str):
    assert v.LINK.parse(text) == text


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("HTTPS://example.com/A", "https://example.com/A"),
        ("MailTo:a@b.c?subject=Two words", "mailto:a@b.c?subject=Two%20words"),
        ("https://example.com/a b.pdf", "https://example.com/a%20b.pdf"),
        ("tel:+41 44 123", "tel:+41-44-123"),
    ],
)
def test_addresses_are_read_as_browsers_do(text: str, address: str):
    assert v.LINK.parse(text) == address
    if address.startswith("https"):
        assert v.IMAGE.parse(text).value == address


def test_images_are_names_or_data():
    assert v.IMAGE.parse("company-logo").value == "company-logo"
    assert v.IMAGE.parse("data:image/png;base64,aGk=").value == b"hi"
    assert v.IMAGE.parse("DATA:IMAGE/PNG;BASE64,aGk=").value == b"hi"
    assert v.IMAGE.parse("data:image/svg+xml;base64,PHN2Zy8+").value == b"<svg/>"


@pytest.mark.parametrize("head", ["", ";charset=utf-8", ";utf8"])
def test_drawings_may_be_written_in_per_cent(head: str):
    assert (
        v.IMAGE.parse(f"data:image/svg+xml{head},%3Csvg fill='%23f00'/%3E").value
        == b"<svg fill='#f00'/>"
    )


@pytest.mark.parametrize("text", ["https://a.example/b.png", "http://a.example/?q=1&r=2"])
def test_image_addresses_are_stored_as_written(text: str):
    assert v.IMAGE.parse(text).value == text


@pytest.mark.parametrize("text", ["../logo", "/etc/passwd", "Logo", "a", "data:image/png;base64,%%", "file:x"])  # fmt: skip
def test_wrong_image_sources_are_refused(text: str):
    with pytest.raises(ValueError, match="stored image"):
        v.IMAGE.parse(text)


@pytest.mark.parametrize("text", ["(", "a" * 201, "(" * 150 + ")" * 150 + "(", "a{99999999999}"])
def test_wrong_patterns_are_refused(text: str):
    with pytest.raises(ValueError, match="regular expression"):
        v.PATTERN.parse(text)


_KINDS = {spec.value_type for element in ELEMENTS.values() for spec in element.attributes.values()}


@given(st.sampled_from(sorted(_KINDS, key=lambda kind: kind.accepts)), st.text(max_size=30))
def test_no_text_makes_a_kind_fail_in_any_other_way(kind: v.ValueType[object], text: str):
    with suppress(ValueError):
        kind.parse(text)
