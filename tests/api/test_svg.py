"""Uploads of SVG: taken with the size they state, refused when they would cost or reach anything."""

from __future__ import annotations

import io
import re

import pytest

from api.images.refusal import RefusedImageError
from api.images.svg import is_svg, read_svg_size
from shared import limits
from workers.engine.layout.images.prepare import prepare_image
from workers.engine.layout.svg import limits as drawn
from workers.engine.layout.svg.drawing import VectorImage

XMLNS = 'xmlns="http://www.w3.org/2000/svg"'


def svg(content: str = "", attributes: str = 'width="9" height="7"') -> bytes:
    return f"<svg {XMLNS} {attributes}>{content}</svg>".encode()


def size_of(data: bytes) -> tuple[int, int]:
    return read_svg_size(io.BytesIO(data), len(data))


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ('width="9" height="7"', (9, 7)),
        ('width="9.4px" height="6.6px"', (9, 7)),
        ('width="1in" height="25.4mm"', (96, 96)),
        ('width="2cm" height="6pc"', (76, 96)),
        ('width="72pt" height="4em"', (96, 64)),
        ('viewBox="0 0 24 12"', (24, 12)),
        ('viewBox="-5,-5,24,12" width="48"', (48, 24)),
        ('height="6" viewBox="0 0 24 12"', (12, 6)),
        ('width="100%" height="50%" viewBox="0 0 24 12"', (24, 12)),
        ('viewBox="0 0 0 12"', (300, 150)),
        ('width="0.2" height="0.2"', (1, 1)),
        ("", (300, 150)),
    ],
)
def test_size_is_the_one_at_which_the_engine_draws(attributes: str, size: tuple[int, int]):
    assert size_of(svg("", attributes)) == size
    image = prepare_image(svg("", attributes))
    assert isinstance(image, VectorImage)
    assert (max(1, round(image.width)), max(1, round(image.height))) == size


def copies(levels: int) -> str:
    steps = (
        f'<g id="a{level}">' + f'<use href="#a{level - 1}"/>' * 10 + "</g>"
        for level in range(1, levels)
    )
    return f'<rect id="a0"/>{"".join(steps)}'


REFUSED = [
    (b"<!DOCTYPE svg [<!ENTITY a 'b'>]>" + svg("&a;"), "declares entities"),
    (b"<!DOCTYPE svg SYSTEM 'file:///etc/passwd' [<!ELEMENT a ANY>]>" + svg(), "declares entities"),
    (svg("<g>"), "not well-formed at line 1"),
    (svg("&nbsp;"), "not well-formed"),
    (svg("<g>" * 101 + "</g>" * 101), "deeper than 100"),
    (svg("<g/>" * limits.MAX_SVG_ELEMENTS), "too many elements: at most 50,000 are drawn"),
    (svg(copies(7)), "each copy of `use` counted"),
    (
        svg(" ".join([f'a{n}="1"' for n in range(201)]).join(("<g ", "/>"))),
        "too many attributes on one element: at most 200 are drawn",
    ),
    (svg(" " * limits.MAX_SVG_BYTES), "at most 8,000,000 are drawn"),
    (svg("", 'width="0" height="9"'), "width or height is 0"),
    (svg("", 'width="9" height="1e300"'), "px"),
    (b"<?xml version='1.0' encoding='none-such'?>" + svg(), "encoding"),
    (b"<x:svg xmlns:x='http://example.org/other'/>", "no `svg` element"),
]


@pytest.mark.parametrize(("data", "reason"), REFUSED, ids=[reason for _, reason in REFUSED])
def test_hostile_drawings_are_refused(data: bytes, reason: str):
    assert is_svg(io.BytesIO(data))
    with pytest.raises(RefusedImageError, match=re.escape(reason)):
        size_of(data)


def test_a_copy_of_itself_counts_as_nothing():
    assert size_of(svg('<g id="g"><use href="#g"/></g>')) == (9, 7)


def test_document_type_without_declarations_is_passed_over():
    head = b'\xef\xbb\xbf<?xml version="1.0"?>\n<!-- made by hand -->\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd">\n'
    assert is_svg(io.BytesIO(head + svg()))
    assert size_of(head + svg()) == (9, 7)


@pytest.mark.parametrize("data", [b"<html/>", b"text <svg/>", b"", b"<svgx/>", b"\x89PNG<svg/>"])
def test_other_bytes_are_no_svg(data: bytes):
    assert not is_svg(io.BytesIO(data))


def test_front_and_engine_have_the_same_bounds():
    for name in ("BYTES", "ELEMENTS", "DRAWN", "DEPTH", "ATTRIBUTES", "SIDE", "RULES", "SEGMENTS"):
        assert getattr(limits, f"MAX_SVG_{name}") == getattr(drawn, f"MAX_{name}"), name
