"""Hostile images: samples of every format, damaged; drawings with strange parts and values."""

from __future__ import annotations

import base64
import re
from functools import cache
from random import Random

from tests.fuzz.hostile_files import damage
from tests.golden.case import FOLDER
from tests.images import encode, plain

_VALUES = (
    *("", "0", "-1", "1e9", "-1e9", "1e-9", "1e999", "NaN", "50%", "-300%", "3em", "12cm", "7q"),
    *("none", "inherit", "currentColor", "url(#a)", "url(#b) red", "url(http://x/#a)", "#12345678"),
    *("rotate(30)", "scale(0)", "scale(1e6 1e-6)", "matrix(1 2 2 4 0 0)", "skewX(90)", "rotate("),
    *("0 0 1e-6 1e-6", "0 0 9 9 9", "xMaxYMin slice", "objectBoundingBox", "userSpaceOnUse"),
    *("M0 0L9 9A1 2 3 1 0 5 5z", "M1 1" + "h1v1" * 500, "A1 1 0 01", "m0 0q1 1t2 2s3 3 4 4"),
    *(
        "1 2 3", "0.001", "5,-5", "round", "evenodd", "hidden", "#a", "#b",
        "data:image/png;base64,AAAA",
    ),
    *("fill:red;;stroke:url(#a", "font:bold 9px x", "a b c", "ﷺ漢\U0001f600", "x" * 2000),
)  # fmt: skip
_PARTS = (
    *('<use href="#a"/>', '<g id="a">', "</g>", '<svg viewBox="0 0 1 1">', "</svg>", "<switch>"),
    '<clipPath id="a"><circle r="5"/><use href="#b"/></clipPath>',
    '<mask id="b"><rect width="9" height="9" fill="url(#a)"/></mask>',
    '<pattern id="a" width="3" height="3"><path d="M0 0h1v1" clip-path="url(#b)"/></pattern>',
    '<linearGradient id="a" href="#b"><stop offset="0.5"/><stop offset="0.1" stop-opacity="0"/></linearGradient>',
    '<radialGradient id="b" href="#a" fx="9" spreadMethod="reflect"><stop/><stop offset="1"/></radialGradient>',
    '<marker id="a" orient="auto"><path d="M0 0h5" marker-start="url(#a)"/></marker>',
    '<text x="1 2 3" textLength="9">a<tspan dy="3">ب漢</tspan></text>',
    '<path id="b" d="M0 0C1 1 2 2 3 3" stroke="red" stroke-dasharray="1e-9" marker-mid="url(#a)"/>',
    '<g mask="url(#b)" clip-path="url(#a)" opacity="0.5" filter="url(#a)">',
    "<style>g>[id^='a'].a:first-child{fill:light-dark(red,var(--a,blue))}</style>",
    "<style>*{fill:red} g .a>#b{}}{ @media x {a{}} .a,,{stroke:url(#a)}</style>",
    *("<!DOCTYPE svg [<!ENTITY a 'b'>]>", "<![CDATA[x]]>", "<script/>", "&a;", "\x00"),
)
_VALUE = re.compile(r'="[^"]*"')


def make_document(random: Random) -> str:
    """Return a document that draws a hostile image."""
    image = base64.b64encode(make_image(random)).decode()
    source = f"data:image/any;base64,{image}"
    return (
        f'<document><page size="A6" background-image="{source}"/><watermark src="{source}"/>'
        f'<flow><p>in a line <img src="{source}" alt="" height="9pt"/></p>'
        f'<img src="{source}" alt="" width="30mm" max-width="20mm" object-fit="cover"/></flow></document>'
    )


def make_image(random: Random) -> bytes:
    """Return the bytes of an image of any format, damaged."""
    sample = random.choice(_samples())
    if b"<svg" in sample:
        return _mutate_drawing(sample.decode(), random).encode(errors="replace")
    return damage(sample, random)


@cache
def _samples() -> list[bytes]:
    kept = [path.read_bytes() for path in sorted((FOLDER / "images").iterdir())]
    return [*kept, *(encode(kind, plain("P")) for kind in ("GIF", "BMP", "TIFF"))]


def _mutate_drawing(text: str, random: Random) -> str:
    for _ in range(random.randint(1, 10)):
        at = random.randrange(len(text) or 1)
        match random.randrange(4):
            case 0:
                places = list(_VALUE.finditer(text))
                if places:
                    place = random.choice(places)
                    value = f'="{random.choice(_VALUES)}"'
                    text = text[: place.start()] + value + text[place.end() :]
            case 1:
                text = _insert_part(text, random)
            case 2:
                text = text[:at] + text[at + random.randint(1, 30) :]
            case _:
                text = text[:at] + random.choice("<>\"'=/&;#%{}()-.0123456789eE \n") + text[at:]
    return text


def _insert_part(text: str, random: Random) -> str:
    """Insert a part between two tags, closed more often than not."""
    places = [place.end() for place in re.finditer(">", text)] or [0]
    at, part = random.choice(places), random.choice(_PARTS)
    if part.startswith("<g") and random.random() < 0.8:
        part += "</g>"
    return text[:at] + part + text[at:]
