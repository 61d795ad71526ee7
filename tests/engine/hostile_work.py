"""Small inputs that ask for much work, each as a function that makes it and one that does the work."""

from __future__ import annotations

import base64
import gzip
import io
import resource
import struct
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import pikepdf
from pikepdf import Array, Dictionary, Name

from tests.engine.pdf_pages.files import form, new_page, save
from tests.engine.svg.drawings import svg
from tests.golden.case import OPTIONS
from tests.images import png as png_file
from workers.engine.diagnostics import AuthoringError
from workers.engine.fonts.sanitizing import FontRefusedError, inspect_font
from workers.engine.invoice_checks import check_external_invoice
from workers.engine.layout.context import ContentProblem
from workers.engine.layout.pictures import prepare_image
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import Payload, PayloadKind

MEGABYTE: Final = 1024 * 1024
RAW: Final[dict[str, Any]] = {
    "stream_decode_level": pikepdf.StreamDecodeLevel.none,
    "compress_streams": False,
}

Input = Callable[[], bytes]
Work = Callable[[bytes], str]


# --- documents -------------------------------------------------------------------------------------


def document(flow: str, attributes: str = "") -> Input:
    return f"<document {attributes}><flow>{flow}</flow></document>".encode


def render_document(source: bytes) -> str:
    try:
        return f"{len(render(None, Payload(PayloadKind.XML, source), options=OPTIONS).pdf)} bytes"
    except AuthoringError as error:
        return error.diagnostics[0].text


def render_markdown(text: bytes) -> str:
    template = prepare_template(b"<document><flow><p/></flow></document>")
    try:
        payload = Payload(PayloadKind.MARKDOWN, text)
        return f"{len(render(template, payload, options=OPTIONS).pdf)} bytes"
    except AuthoringError as error:
        return error.diagnostics[0].text


# --- pictures --------------------------------------------------------------------------------------


def prepare(data: bytes) -> str:
    found = prepare_image(data)
    return found.text if isinstance(found, ContentProblem) else type(found).__name__


def deflate(data: bytes, times: int = 1) -> bytes:
    for _ in range(times):
        data = zlib.compress(data, 9)
    return data


def deflate_much(part: bytes) -> bytes:
    return deflate(part * (120 * MEGABYTE // len(part)))


def pdf_content(data: Input, filters: list[str]) -> Input:
    """Return a page whose content is what `data` returns, which is encoded already."""

    def make() -> bytes:
        pdf = new_page()
        names = Array([Name("/" + name) for name in filters])
        pdf.pages[0].obj.Contents.write(data(), filter=names)
        return save(pdf, **RAW)

    return make


def pdf_picture(data: Input, filters: list[str], parameters: dict[str, int] | None = None) -> Input:
    def make() -> bytes:
        pdf = new_page(b"/I Do")
        picture = pdf.make_stream(
            b"", Type=Name.XObject, Subtype=Name.Image, Width=8_000, Height=8_000,
            ColorSpace=Name.DeviceGray, BitsPerComponent=8,
        )  # fmt: skip
        given = [Dictionary()] * (len(filters) - 1) + [Dictionary(**(parameters or {}))]
        names = Array([Name("/" + name) for name in filters])
        picture.write(data(), filter=names, decode_parms=Array(given))
        pdf.pages[0].obj.Resources = Dictionary(XObject=Dictionary(I=picture))
        return save(pdf, **RAW)

    return make


def pdf_forms(levels: int, copies: int) -> Input:
    def make() -> bytes:
        pdf = new_page(b"/X Do")
        inner = form(pdf, b"0 0 1 1 re f " * 20, Resources=Dictionary())
        for _ in range(levels):
            inner = form(pdf, b"/X Do " * copies, Resources=Dictionary(XObject=Dictionary(X=inner)))
        pdf.pages[0].obj.Resources = Dictionary(XObject=Dictionary(X=inner))
        return save(pdf)

    return make


def pdf_object_stream(number: int) -> Input:
    """Return a page beside objects that a compressed object stream contains."""

    def make() -> bytes:
        pdf = new_page()
        pdf.Root.More = Array([pdf.make_indirect(Dictionary(A=0)) for _ in range(number)])
        return save(pdf, object_stream_mode=pikepdf.ObjectStreamMode.generate)

    return make


def lzw(codes: int) -> bytes:
    """Return as many clear codes of 9 bits."""
    return bytes.fromhex("804020100804020180"[:18]) * (codes // 8)


def drawing(content: str) -> Input:
    return lambda: svg(content)


def chain(tag: str, refer: str, levels: int, attributes: str = "", copies: int = 2) -> str:
    shape = '<rect width="9" height="9" {0}/>'
    parts = [f'<{tag} id="a0" {attributes}>{shape.format("")}</{tag}>']
    parts += [
        f'<{tag} id="a{level}" {attributes}>'
        + shape.format(f'{refer}="url(#a{level - 1})"') * copies
        + f"</{tag}>"
        for level in range(1, levels)
    ]
    return "".join(parts) + shape.format(f'{refer}="url(#a{levels - 1})"')


def png(width: int, height: int) -> Input:
    def make() -> bytes:
        rows = bytes((width + 1) * 1000)
        pieces = zlib.compressobj(9)
        data = b"".join(pieces.compress(rows) for _ in range(height // 1000)) + pieces.flush()
        return png_file(width, height, data)

    return make


# --- invoices --------------------------------------------------------------------------------------


def check_invoice(data: bytes) -> str:
    report = check_external_invoice(gzip.decompress(data))
    return str(report.reason or report.is_valid)


def invoice_of_references() -> bytes:
    """Return an invoice with a text that expat hands over in many pieces."""
    return gzip.compress(b"<a>" + b"&#65;&#10;" * 2_000_000 + b"</a>")


# --- fonts -----------------------------------------------------------------------------------------


def inspect(data: bytes) -> str:
    try:
        return f"{len(inspect_font(data).faces)} faces"
    except FontRefusedError as error:
        return str(error)


def color_font(layers: int, glyphs: int) -> Input:
    def make() -> bytes:
        from fontTools.colorLib.builder import buildCPAL
        from fontTools.fontBuilder import FontBuilder
        from fontTools.pens.ttGlyphPen import TTGlyphPen
        from fontTools.ttLib.tables.DefaultTable import DefaultTable

        pen = TTGlyphPen(None)
        pen.moveTo((0, 0))
        pen.lineTo((9, 0))
        pen.lineTo((9, 9))
        pen.closePath()
        square = pen.glyph()
        names = [".notdef", *(f"g{n}" for n in range(glyphs))]
        builder = FontBuilder(1000)
        builder.setupGlyphOrder(names)
        builder.setupCharacterMap({0xE000 + n: f"g{n}" for n in range(min(glyphs, 6000))})
        builder.setupGlyf(dict.fromkeys(names, square))
        builder.setupHorizontalMetrics(dict.fromkeys(names, (500, 0)))
        builder.setupHorizontalHeader(ascent=800, descent=-200)
        builder.setupNameTable({"familyName": "x", "styleName": "Regular", "psName": "x"})
        builder.setupOS2()
        builder.setupPost(keepGlyphNames=False)
        head = struct.pack(">HHIIH", 0, glyphs, 14, 14 + 6 * glyphs, layers)
        table = DefaultTable("COLR")
        table.data = b"".join(
            [
                head,
                *(struct.pack(">HHH", glyph, 0, layers) for glyph in range(1, glyphs + 1)),
                struct.pack(">HH", 1, 0) * layers,
            ]
        )
        builder.font["COLR"] = table
        builder.font["CPAL"] = buildCPAL([[(0, 0, 0, 1.0)]])
        builder.font.flavor = "woff2"
        out = io.BytesIO()
        builder.save(out)
        return out.getvalue()

    return make


def subroutine_font(depth: int, calls: int) -> Input:
    """Return a font whose outline calls subroutines that call others."""

    def make() -> bytes:
        from fontTools.fontBuilder import FontBuilder
        from fontTools.misc.psCharStrings import T2CharString

        builder = FontBuilder(1000, isTTF=False)
        builder.font.recalcBBoxes = False
        names = [".notdef", "A"]
        builder.setupGlyphOrder(names)
        builder.setupCharacterMap({0x41: "A"})
        bias = 107
        programs = {
            ".notdef": T2CharString(program=[0, "endchar"]),
            "A": T2CharString(program=[0, 0, "rmoveto", -bias, "callgsubr", "endchar"]),
        }
        builder.setupCFF("x", {}, programs, {})
        subroutines = builder.font["CFF "].cff.GlobalSubrs
        for level in range(depth):
            inner = [level + 1 - bias, "callgsubr"] * calls if level + 1 < depth else [1, "hlineto"]
            subroutines.append(T2CharString(program=[*inner, "return"]))
        builder.setupHorizontalMetrics(dict.fromkeys(names, (500, 0)))
        builder.setupHorizontalHeader(ascent=800, descent=-200)
        builder.setupNameTable({"familyName": "x", "styleName": "Regular", "psName": "x"})
        builder.setupOS2()
        builder.setupPost()
        out = io.BytesIO()
        builder.save(out)
        return out.getvalue()

    return make


# --- the list --------------------------------------------------------------------------------------

_CODES: Final = '<barcode for="n in range(2000)" type="{}" value="{{{{ n }}}}" height="9mm"/>'
_LOOP: Final = '<group for="n in range(10000)">{}</group>'

WORKS: Final[dict[str, tuple[Input, Work]]] = {
    "2,000 QR codes": (document(_CODES.format("qr")), render_document),
    "2,000 QR codes of 1,000 bytes": (
        document(_CODES.format("qr").replace("{{ n }}", "{{ n | pad(1000) }}")),
        render_document,
    ),
    "900 QR codes of 300 bytes": (
        document(
            _CODES.format("qr").replace("{{ n }}", "{{ n | pad(300) }}").replace("2000", "900")
        ),
        render_document,
    ),
    **{
        f"2,000 codes of {kind}": (document(_CODES.format(kind)), render_document)
        for kind in ("datamatrix", "aztec", "pdf417", "code128", "maxicode")
    },
    "columns with 2,000 footnotes": (
        document('<div columns="2"><p for="n in range(2000)">a<footnote>b</footnote></p></div>'),
        render_document,
    ),
    "5,000 footnotes": (
        document('<p for="n in range(5000)">a<footnote>b</footnote></p>'),
        render_document,
    ),
    "10,000 columns": (document(_LOOP.format('<div columns="2"><p>a</p></div>')), render_document),
    "10,000 tables": (
        document(_LOOP.format("<table><tr><td>a</td></tr></table>")),
        render_document,
    ),
    "10,000 grids": (
        document(_LOOP.format('<grid grid-template-columns="9mm"><p>a</p></grid>')),
        render_document,
    ),
    "10,000 boxes that shrink": (
        document(
            '<box for="n in range(10000)" overflow="shrink" width="20mm" height="9mm"><p>{{ n }} aaaaa '
            "aaaaaaaa bbbbbbbbb ccccccccccc ddddddddddddd</p></box>"
        ),
        render_document,
    ),
    "10,000 paragraphs that shrink": (
        document(
            '<p for="n in range(10000)" overflow="shrink" height="3mm">{{ n | pad(400) }}</p>'
        ),
        render_document,
    ),
    "10,000 address windows on a page": (
        document(_LOOP.format('<address standard="din5008-a" value="[\'a\']"/>')),
        render_document,
    ),
    "lines beside 1,000 codes": (
        document(
            '<box left="0" top="0"><p for="n in range(5000)">a</p></box><box for="n in range(1000)" '
            'left="{{ n }}pt" top="0"><barcode type="code128" value="a" dpi="300"/></box>'
        ),
        render_document,
    ),
    "ranges in a loop": (
        document('<p for="n in range(10000)">{{ range(10000) | sum }}</p>'),
        render_document,
    ),
    "loops in loops": (
        document('<p for="n in range(10000)"><span for="m in range(10000)">{{ m }}</span></p>'),
        render_document,
    ),
    "markdown of newlines": (lambda: b"\n" * 30_000_000, render_markdown),
    "markdown of quotes": (lambda: b"> " * 40_000, render_markdown),
    "markdown of marks": (lambda: b"*a _b " * 160_000, render_markdown),
    "markdown of brackets": (lambda: b"[" * 900_000, render_markdown),
    "markdown of lists": (lambda: b"- a\n" * 20_000, render_markdown),
    # PDFs
    "pdf deflated twice": (
        pdf_picture(lambda: deflate(b"\0" * 120 * MEGABYTE, 2), ["FlateDecode"] * 2),
        prepare,
    ),
    "pdf content deflated twice": (
        pdf_content(lambda: deflate(b"q Q " * 30 * MEGABYTE, 2), ["FlateDecode"] * 2),
        prepare,
    ),
    **{
        f"pdf content of {part!r}": (
            pdf_content(partial(deflate_much, part), ["FlateDecode"]),
            prepare,
        )
        for part in (
            b"q Q ",
            b"(",
            b"%",
            b"%\n",
            b"1 ",
            b"[",
            b"() ",
            b"<<>>",
            b"/a ",
            b"\0",
            b"x ",
            b"BI ID EI ",
            b"BI /W 1 /H 1 ID x EI ",
            b"\\",
            b"(()",
            b"BT ET ",
            b"/a BMC EMC ",
        )
    },
    "pdf of predictors": (
        pdf_picture(
            lambda: deflate((b"\4" + b"\1" * 8_000) * 8_000),
            ["FlateDecode"],
            {"Predictor": 15, "Columns": 8_000},
        ),
        prepare,
    ),
    "pdf of predictors after hex": (
        pdf_picture(
            lambda: deflate((b"\4" + b"\1" * 8_000) * 8_000).hex().encode(),
            ["ASCIIHexDecode", "FlateDecode"],
            {"Predictor": 15, "Columns": 8_000},
        ),
        prepare,
    ),
    "pdf of short rows": (
        pdf_picture(
            lambda: deflate(b"\4\1" * 32_000_000).hex().encode(),
            ["ASCIIHexDecode", "FlateDecode"],
            {"Predictor": 15, "Columns": 1},
        ),
        prepare,
    ),
    "pdf of TIFF's predictor": (
        pdf_picture(
            lambda: deflate(b"\1" * 64_000_000).hex().encode(),
            ["ASCIIHexDecode", "FlateDecode"],
            {"Predictor": 2, "Columns": 8_000},
        ),
        prepare,
    ),
    "pdf of LZW clear codes": (
        pdf_picture(lambda: deflate(lzw(100_000_000)), ["FlateDecode", "LZWDecode"]),
        prepare,
    ),
    "pdf of runs": (
        pdf_picture(lambda: deflate(b"\0x" * 60_000_000), ["FlateDecode", "RunLengthDecode"]),
        prepare,
    ),
    "pdf of long runs": (
        pdf_picture(lambda: deflate(b"\x81x" * 20_000_000), ["FlateDecode", "RunLengthDecode"]),
        prepare,
    ),
    "pdf of base 85": (
        pdf_picture(lambda: deflate(b"z" * 60_000_000), ["FlateDecode", "ASCII85Decode"]),
        prepare,
    ),
    "pdf of hex": (
        pdf_picture(lambda: deflate(b"0" * 120_000_000), ["FlateDecode", "ASCIIHexDecode"]),
        prepare,
    ),
    "pdf of forms": (pdf_forms(8, 10), prepare),
    "pdf of objects": (pdf_object_stream(200_000), prepare),
    # Drawings
    "svg of clips": (drawing(chain("clipPath", "clip-path", 14)), prepare),
    "svg of clips with clips": (
        drawing(
            '<clipPath id="a0"><rect width="9" height="9"/><rect width="9" height="9"/></clipPath>'
            + "".join(
                f'<clipPath id="a{n}" clip-path="url(#a{n - 1})"><rect width="9" height="9" '
                f'clip-path="url(#a{n - 1})"/></clipPath>'
                for n in range(1, 20)
            )
            + '<rect width="9" height="9" clip-path="url(#a19)"/>'
        ),
        prepare,
    ),
    "svg of masks": (drawing(chain("mask", "mask", 14)), prepare),
    "svg of patterns": (drawing(chain("pattern", "fill", 14, 'width="9" height="9"')), prepare),
    "svg of markers": (
        drawing(
            "".join(
                f'<marker id="a{n}"><path d="M0 0h1h1h1h1h1h1h1h1" marker-mid="url(#a{n - 1})"/></marker>'
                for n in range(8)
            )
            + '<path d="M0 0h1h1h1h1h1h1h1h1" marker-mid="url(#a7)"/>'
        ),
        prepare,
    ),
    "svg of copies": (
        drawing(
            '<g id="a0"><rect width="1" height="1"/></g>'
            + "".join(
                f'<g id="a{n}"><use href="#a{n - 1}"/><use href="#a{n - 1}"/></g>'
                for n in range(1, 40)
            )
        ),
        prepare,
    ),
    "svg of copies with boxes": (
        drawing(
            '<linearGradient id="l"><stop offset="0"/><stop offset="1" stop-color="red"/></linearGradient>'
            '<g id="a0"><rect width="1" height="1"/></g>'
            + "".join(
                f'<g id="a{n}" fill="url(#l)" mask="url(#m)"><use href="#a{n - 1}"/><use href="#a{n - 1}"/></g>'
                for n in range(1, 13)
            )
            + '<mask id="m"><rect width="1" height="1"/></mask><use href="#a12"/>'
        ),
        prepare,
    ),
    "svg of gradients": (
        drawing(
            '<linearGradient id="g">'
            + "".join(f'<stop offset="{n / 256}" stop-color="red"/>' for n in range(256))
            + "</linearGradient>"
            + '<path d="M0 0h9v9z" fill="url(#g)" stroke="url(#g)"/>' * 500
        ),
        prepare,
    ),
    "svg of dashes": (
        drawing('<path d="M0 0h1e6v1e6" stroke="red" stroke-dasharray="1e-3"/>'),
        prepare,
    ),
    "svg of selectors": (
        drawing(
            "<style>" + "g g g g g g g g{fill:red}" * 100 + "</style>" + "<g>" * 90 + "</g>" * 90
        ),
        prepare,
    ),
    "svg of arcs": (drawing('<path d="M0 0' + "A1 1 0 1 1 9 9" * 400 + '"/>'), prepare),
    "svg of images": (
        drawing(
            '<image width="9" height="9" href="data:image/png;base64,'
            + base64.b64encode(png(8_000, 8_000)()).decode()
            + '"/>'
        ),
        prepare,
    ),
    "png of many pixels": (png(9_000, 9_000), prepare),
    # Invoices
    "invoice of references": (invoice_of_references, check_invoice),
    "invoice of elements": (
        lambda: gzip.compress(b"<a>" + b"<b/>" * 5_000_000 + b"</a>"),
        check_invoice,
    ),
    "invoice of entities": (
        lambda: gzip.compress(b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>" + b"&b;" * 5_000_000 + b"</a>"),
        check_invoice,
    ),
    # Fonts
    "woff2 of colours": (color_font(30_000, 6_000), inspect),
    "woff2 of glyphs": (color_font(1, 30_000), inspect),
    "cff of subroutines": (subroutine_font(9, 20), inspect),
}


class Spent(NamedTuple):
    """What a work took in a process of its own."""

    input_bytes: int
    seconds: float
    megabytes: float
    ended: str


def write_input(name: str, file: Path) -> None:
    """Make the input of a work in another process than the one that is measured."""
    file.write_bytes(WORKS[name][0]())


def spend(name: str, file: Path) -> Spent:
    """Do a work with the input in a file in this process, which does no other."""
    work, data = WORKS[name][1], file.read_bytes()
    with Path("/proc/self/statm").open() as file:
        resident = int(file.read().split()[1]) * resource.getpagesize()
    before = resource.getrusage(resource.RUSAGE_SELF)
    ended = work(data)
    after = resource.getrusage(resource.RUSAGE_SELF)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    grown = max(after.ru_maxrss * 1024 - resident, 0) if after.ru_maxrss > before.ru_maxrss else 0
    return Spent(len(data), seconds, grown / MEGABYTE, ended)
