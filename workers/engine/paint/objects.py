"""PDF objects serialised as bytes, in the form that ReportLab's document accepts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Final

from reportlab.pdfbase import pdfdoc

from workers.engine.caches import BoundedCache
from workers.engine.pdf_writer import compress
from workers.engine.units import Color, ColorSpace

# The parts of an object: bytes, and objects to which it refers.
ObjectPart = Any


class WrittenObject(pdfdoc.PDFObject):  # type: ignore[misc]
    """A PDF object serialised as bytes.

    An object among its parts becomes a reference, numbered when ReportLab writes the file; a
    referenced object is in the file once.
    """

    def __init__(self, *parts: ObjectPart) -> None:
        self._parts = parts

    def define(self, *parts: ObjectPart) -> None:
        """Set the parts, for an object that others refer to before it is known."""
        self._parts = parts

    def format(self, document: Any) -> bytes:
        """Return the body of the object. ReportLab calls this when it writes the file."""
        return b"".join(
            [part if isinstance(part, bytes) else _refer(document, part) for part in self._parts]
        )

    @property
    def dictionary(self) -> dict[str, object]:
        """The entries that ReportLab adds to a form XObject: none, the parts have their own."""
        return {}


class DeferredObject(pdfdoc.PDFObject):  # type: ignore[misc]
    """An object that is made when the file is written, once its content is known."""

    def __init__(self, make: Callable[[], WrittenObject]) -> None:
        self._make = make

    def format(self, document: Any) -> bytes:
        """Return the body of the object. ReportLab calls this when it writes the file."""
        return self._make().format(document)


def write_stream(entries: Iterable[ObjectPart], data: bytes) -> WrittenObject:
    """Return a stream with `data`; `entries` are parts of its dictionary."""
    return WrittenObject(
        b"<< ", *entries, b" /Length %d >>\nstream\n" % len(data), data, b"\nendstream"
    )


def write_deflated(entries: Iterable[ObjectPart], data: bytes) -> WrittenObject:
    """Return a stream with `data` compressed."""
    return write_stream((*entries, b" /Filter /FlateDecode"), compress(data))


def write_dictionary(entries: Iterable[tuple[bytes, Iterable[ObjectPart]]]) -> list[ObjectPart]:
    """Return names and the parts of their values as the parts of a dictionary."""
    parts: list[ObjectPart] = [b"<< "]
    for name, value in entries:
        parts += [name, b" ", *value, b" "]
    parts.append(b">>")
    return parts


def _refer(document: Any, part: Any) -> bytes:
    written: bytes = document.Reference(part).format(document)
    return written


def write_text(text: str) -> bytes:
    """Return a text string (ISO 32000-1, 7.9.2.2): ASCII literally, other text as UTF-16."""
    if text.isascii() and text.isprintable():
        escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        return b"(" + escaped.encode("ascii") + b")"
    return b"<FEFF" + text.encode("utf-16-be", "replace").hex().encode("ascii") + b">"


# Numbers in hundredths: pages use the same ones repeatedly.
HUNDREDTHS: Final = BoundedCache[int, bytes](lambda hundredths: b"%.10g" % (hundredths / 100))


def write_number(value: float) -> bytes:
    """Return a number with up to three decimals and no exponent."""
    return b"%.11g" % (round(value * 1000) / 1000 + 0.0)


def refer_to_page(number: int) -> pdfdoc.PDFObject:
    """Return a reference to a page by its number."""
    return pdfdoc.PDFObjectReference(f"Page{number}")


# Rectangles of bar codes: all symbols share a few thousand.
RECTANGLES: Final = BoundedCache[tuple[int, int, int, int], bytes](b"%d %d %d %d re\n".__mod__)
# Moves along a baseline, by the distance in hundredths of a point.
ALONG: Final = BoundedCache[int, bytes](lambda distance: HUNDREDTHS[distance] + b" 0 Td ")
# Places in hundredths of a point: those of a column of texts recur.
ROUNDED: Final = BoundedCache[float, int](lambda value: round(value * 100))


@lru_cache(256)
def write_fill_color(color: Color) -> bytes:
    """Return the operator that sets the colour of fills and text."""
    return _color_operator(color, b"g\n", b"rg\n", b"k\n")


@lru_cache(256)
def write_stroke_color(color: Color) -> bytes:
    """Return the operator that sets the colour of strokes."""
    return _color_operator(color, b"G\n", b"RG\n", b"K\n")


def _color_operator(color: Color, gray: bytes, rgb: bytes, cmyk: bytes) -> bytes:
    components = color.components
    if color.space is ColorSpace.CMYK:
        return b" ".join(map(write_number, components)) + b" " + cmyk
    if components[0] == components[1] == components[2]:
        return write_number(components[0]) + b" " + gray
    return b" ".join(map(write_number, components)) + b" " + rgb


def write_fraction(value: float) -> bytes:
    """Return a number with up to six decimals, such as a part of a matrix."""
    return b"%.10g" % (round(value * 1_000_000) / 1_000_000 + 0.0)
