"""Hostile drawings: what is refused before it costs anything, and what is left out and reported."""

from __future__ import annotations

import base64
import random
import time

import pikepdf
import pytest

from tests.engine.paint.drawing import OWNER, opened, page, printed
from tests.engine.svg.drawings import converted, file_of, refused, svg
from workers.engine.layout.context import ContentProblem
from workers.engine.layout.display import Picture
from workers.engine.layout.pictures import prepare_image
from workers.engine.svg.canvas import VectorImage


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ('width="100" height="50"', (100, 50)),
        ('width="1in" height="25.4mm"', (96, 96)),
        ('viewBox="0 0 24 12"', (24, 12)),
        ('width="48" viewBox="0 0 24 12"', (48, 24)),
        ('height="48" viewBox="0 0 24 12"', (96, 48)),
        ('width="100%" height="100%" viewBox="0 0 24 12"', (24, 12)),
        ("", (300, 150)),
    ],
)
def test_size_is_the_stated_one_or_that_of_the_view_box(attributes: str, size: tuple):
    image = converted(svg("", attributes))
    assert (image.width, image.height) == pytest.approx(size)
    assert image.width_points == pytest.approx(size[0] * 0.75)


@pytest.mark.long
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (svg("", 'width="0" height="5"'), "no size"),
        (svg("", 'width="1e9" height="5"'), "out of range for a page"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><g>", "not well-formed at line 1"),
        (b"<!DOCTYPE svg [<!ENTITY a SYSTEM 'b'>]><svg>&a;</svg>", "declares entities"),
        (b"<!DOCTYPE svg [<!ENTITY a 'b'><!ENTITY c '&a;'>]><svg>&c;</svg>", "declares entities"),
        (b"<!DOCTYPE svg [<!ENTITY a '<g/>'>]><svg>&a;</svg>", "declares entities"),
        (b"<!DOCTYPE svg [<!ENTITY % a 'b'>]><svg/>", "declares entities"),
        (
            b"<!DOCTYPE svg [<!ATTLIST g a CDATA '%b'>]><svg>%b</svg>"
            % (b"x" * 1000, b"<g/>" * 8001),
            "characters in its declared attributes",
        ),
        (
            b"<!DOCTYPE svg [<!ENTITY a '%b'>]><svg>%b</svg>" % (b"x" * 1000, b"&a;" * 1001),
            "too many characters in its entities",
        ),
        (b"<svg xmlns='http://www.w3.org/2000/svg'>" + b"<g>" * 200, "deeper than 100"),
        (svg("<g/>" * 50_001), "too many elements: at most 50,000"),
        (svg(" " * 8_000_001), "8,000"),
        (svg('<path d="M0 0' + "L1 1" * 300_001 + '"/>'), "too many path segments"),
        (b"<html><svg></svg></html>", "neither PNG, JPEG, WebP, AVIF, GIF, BMP, TIFF, SVG nor PDF"),
        (b"<?xml version='1.0' encoding='nonsense'?><svg/>", "encoding"),
        (svg("<style>" + "a{}" * 2001 + "</style>"), "too many style rules"),
    ],
)
def test_refused(data: bytes, reason: str):
    assert reason in refused(data)


def nested_copies(levels: int, copies: int) -> bytes:
    """A drawing that grows to copies ** levels shapes."""
    parts = ['<g id="a0"><rect width="1" height="1"/></g>']
    parts += [
        f'<g id="a{level}">' + f'<use href="#a{level - 1}"/>' * copies + "</g>"
        for level in range(1, levels)
    ]
    return svg(f'<defs>{"".join(parts)}</defs><use href="#a{levels - 1}"/>')


@pytest.mark.long
@pytest.mark.parametrize(
    "data",
    [
        nested_copies(10, 10),
        nested_copies(40, 2),
        svg(
            '<pattern id="p0" width="9" height="9"><rect width="1" height="1"/></pattern>'
            + "".join(
                f'<pattern id="p{n}" width="9" height="9">'
                + f'<rect width="2" height="2" fill="url(#p{n - 1})"/>' * 12
                + "</pattern>"
                for n in range(1, 9)
            )
            + '<rect width="99" height="99" fill="url(#p8)"/>'
        ),
        svg(
            '<mask id="m0"><rect width="1" height="1"/></mask>'
            + "".join(
                f'<mask id="m{n}">'
                + f'<rect width="2" height="2" mask="url(#m{n - 1})"/>' * 12
                + "</mask>"
                for n in range(1, 9)
            )
            + '<rect width="99" height="99" mask="url(#m8)"/>'
        ),
        svg("<style>" + ".a{fill:red}" * 1900 + "</style>" + '<g class="a"/>' * 40_000),
    ],
)
def test_bombs_are_refused_soon(data: bytes):
    start = time.process_time()
    assert "too many" in refused(data)
    assert time.process_time() - start < 8


@pytest.mark.long
@pytest.mark.parametrize(
    "part",
    [
        f'<rect id="p" style="{";" * 2_000_000}" width="9" height="9"/>',
        f'<text id="p">{" " * 4_000_000}</text>',
        '<linearGradient id="g">'
        + "".join(f'<stop offset="{n / 256}" stop-color="red"/>' for n in range(256))
        + '</linearGradient><rect id="p" fill="url(#g)" width="9" height="9"/>',
        f'<text id="p" stroke="red" xml:space="preserve">{" " * 2_000}</text>',
    ],
)
def test_a_long_drawing_is_parsed_once_for_all_its_copies(part: str):
    start = time.process_time()
    assert "too many" in refused(svg(part + '<use href="#p"/>' * 20_000))
    assert time.process_time() - start < 8


def test_long_path_data_is_read_once():
    start = time.process_time()
    copies = '<use href="#p"/>' * 5_000
    converted(svg(f'<path id="p" d="M0 0 {" " * 500_000}h5v5"/>{copies}'))
    assert time.process_time() - start < 2


def test_damaged_images_are_tried_a_limited_number_of_times():
    data = (base64.b64encode(f"{n}".encode()).decode() for n in range(150))
    images = "".join(
        f'<image href="data:image/png;base64,{one}" width="9" height="9"/>' for one in data
    )
    assert "damaged" in converted(svg(images)).omitted[0]
    assert "too many images" in refused(svg(images + images.replace("base64,", "base64,aaaa")))


@pytest.mark.parametrize(
    "content",
    [
        '<use id="u" href="#u"/>',
        '<g id="g"><use href="#g"/></g>',
        '<clipPath id="c"><rect clip-path="url(#c)" width="9" height="9"/></clipPath><rect clip-path="url(#c)" width="9" height="9"/>',
        '<clipPath id="c" clip-path="url(#c)"><rect width="9" height="9"/></clipPath><rect clip-path="url(#c)" width="9" height="9"/>',
        '<mask id="m"><rect mask="url(#m)" width="9" height="9"/></mask><rect mask="url(#m)" width="9" height="9"/>',
        '<pattern id="p" width="5" height="5"><rect fill="url(#p)" width="9" height="9"/></pattern><rect fill="url(#p)" width="9" height="9"/>',
        '<linearGradient id="a" href="#b"/><linearGradient id="b" href="#a"/><rect fill="url(#a)" width="9" height="9"/>',
        '<marker id="k"><path d="M0 0h5" marker-start="url(#k)"/></marker><path d="M0 0h5" marker-start="url(#k)"/>',
    ],
)
def test_circles_end(content: str):
    with opened(file_of(svg(content))) as pdf:
        assert pdf.check_pdf_syntax() == []


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ('<rect width="9" height="9" filter="url(#f)"/>', "filters"),
        ("<script>alert(1)</script>", "the element `script`"),
        ("<foreignObject><p/></foreignObject>", "the element `foreignObject`"),
        (
            '<rect width="9" height="9"><animate attributeName="x"/></rect><set/>',
            "the element `set`",
        ),
        ('<image href="file:///etc/passwd" width="9" height="9"/>', "images outside of the file"),
        (
            '<image href="http://a.example/b.png" width="9" height="9"/>',
            "images outside of the file",
        ),
        ('<image href="data:image/png;base64,AAAA" width="9" height="9"/>', "damaged"),
        ('<use href="other.svg#a"/>', "outside of the file"),
        ('<rect width="9" height="9" fill="url(other.svg#a)"/>', "fill"),
        ("<style>@import url(http://a.example/);</style>", "@import"),
        ('<rect width="99vw" height="9"/>', 'the width "99vw"'),
        ('<rect style="stroke-width:calc(1px + 2px)"/>', 'the stroke-width "calc(1px + 2px)"'),
        ('<text y="9">a<textPath href="#p">b</textPath></text>', "the element `textPath`"),
    ],
)
def test_omitted_features_are_reported(content: str, what: str):
    assert what in ", ".join(converted(svg(content)).omitted)


@pytest.mark.parametrize(
    "content",
    [
        '<path d="M1e999 0L-1e999 1e308Z"/>',
        '<path d="M0 0L1e9 1e9" stroke="red" transform="scale(1e9)"/>',
        '<rect width="9" height="9" transform="scale(0)" stroke="red"/>',
        '<rect width="9" height="9" transform="matrix(1 2 2 4 0 0)" stroke="red"/>',
        '<rect width="9" height="9" transform="rotate(foo)"/>',
        '<rect width="9" height="9" stroke="red" stroke-dasharray="0.0000001"/>',
        '<rect width="NaN" height="inf"/>',
        '<text font-size="1e9">a</text><text font-size="0">b</text><text font-size="-5">c</text>',
        '<text textLength="1e9" x="1e9 1e9" dx="1e9">abc</text>',
        '<svg viewBox="0 0 1e-9 1e-9" width="10" height="10"><rect width="1" height="1"/></svg>',
        '<pattern id="p" width="1e-6" height="1e-6" patternUnits="userSpaceOnUse"><rect width="1" height="1"/></pattern><rect width="99" height="99" fill="url(#p)"/>',
        '<linearGradient id="g" x2="1e-9" spreadMethod="repeat"><stop/><stop offset="1"/></linearGradient><rect width="9" height="9" fill="url(#g)"/>',
        '<radialGradient id="g" r="1e-9" fx="5" spreadMethod="reflect"><stop/><stop offset="1"/></radialGradient><rect width="9" height="9" fill="url(#g)"/>',
        '<rect style="fill:;stroke: ;:;;{" width="9" height="9"/>',
        "<style>}{ a { b { c</style>",
    ],
)
def test_odd_values_give_a_sound_file(content: str):
    with opened(file_of(svg(content))) as pdf:
        assert pdf.check_pdf_syntax() == []
        streams = [thing.read_bytes() for thing in pdf.objects if isinstance(thing, pikepdf.Stream)]
        assert not any(
            b"nan" in stream or b"inf " in stream or b"e+" in stream for stream in streams
        )


def test_document_type_without_declarations_is_dropped():
    head = b'<?xml version="1.0"?>\n<!-- c -->\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd">\n'
    assert converted(head + svg("<g/>")).omitted == ()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "iso-8859-1"])
def test_encodings(encoding: str):
    declared = "" if encoding == "utf-8-sig" else f'<?xml version="1.0" encoding="{encoding}"?>'
    text = declared + svg('<text y="20">Größe</text>').decode()
    assert isinstance(prepare_image(text.encode(encoding)), VectorImage)


def test_drawing_used_on_many_pages_is_in_the_file_once():
    image = converted(svg('<rect width="50" height="50"/>'))
    with opened(printed(*(page(Picture(0, 0, 9, 9, image, OWNER)) for _ in range(9)))) as pdf:
        forms = [
            thing for thing in pdf.objects if getattr(thing, "get", {}.get)("/Subtype") == "/Form"
        ]
        assert len(forms) == 1


def test_image_in_a_drawing_is_in_the_file_once():
    png = (
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQ"
        "AAAABJRU5ErkJggg=="
    )
    content = f'<image id="i" href="{png}" width="50" height="50"/><use href="#i" x="50"/>'
    with opened(file_of(svg(content))) as pdf:
        kinds = [getattr(thing, "get", {}.get)("/Subtype") for thing in pdf.objects]
        assert kinds.count("/Image") == 1


def test_same_drawing_gives_the_same_bytes():
    data = svg(
        '<linearGradient id="g"><stop/><stop offset="1"/></linearGradient><circle r="9" fill="url(#g)"/>'
    )
    assert file_of(data) == file_of(data)


def test_damaged_drawings_are_problems_and_nothing_else():
    chance = random.Random(7)
    good = svg(
        '<style>.a{fill:red}</style><defs><g id="g"><path d="M0 0C1 1 2 2 3 3A4 5 6 0 1 7 8Z"/></g></defs>'
        '<use href="#g" transform="rotate(5)"/><text x="1">t</text><rect class="a" width="5" height="5"/>'
    )
    for _ in range(500):
        data = bytearray(good)
        for _ in range(chance.randint(1, 6)):
            data[chance.randrange(len(data))] = chance.choice(
                b"<>\"'#=/ 0123456789.-eMCAz&;{}\0\xff"
            )
        found = prepare_image(bytes(data))
        assert isinstance(found, VectorImage | ContentProblem)
        if isinstance(found, VectorImage):
            assert found.form.depth < 20


@pytest.mark.parametrize(
    "attribute",
    [
        f'width="1{" " * 300_000}!"',
        f'transform="{"a" * 300_000}"',
        f'transform="scale(2){" " * 300_000}!"',
        f'stroke-width="1{" " * 300_000}!"',
    ],
)
def test_long_wrong_values_are_read_in_one_pass(attribute: str):
    data = f'<svg xmlns="http://www.w3.org/2000/svg" {attribute}><rect {attribute}/></svg>'
    began = time.process_time()
    prepare_image(data.encode())
    assert time.process_time() - began < 2
