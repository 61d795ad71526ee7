"""The marks of a page: the display list written as content-stream operators (PDF 1.7, annex A)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import chain
from math import cos, radians, sin
from typing import Any, Final, NamedTuple

from workers.engine.layout.display import (
    Cells,
    Fill,
    Glyphs,
    Item,
    Outline,
    Picture,
    Polygons,
    Restore,
    Save,
    ShapedGlyphs,
    Stroke,
)
from workers.engine.layout.fonts import Face
from workers.engine.layout.images.prepared import PreparedImage
from workers.engine.layout.svg.drawing import Drawable, VectorImage
from workers.engine.paint.canvas_file import (
    ALL_FONTS,
    Call,
    CanvasFile,
    Content,
    refer_to_external,
    resource_name,
)
from workers.engine.paint.embedding import make_subset, write_font, write_image
from workers.engine.paint.objects import (
    HUNDREDTHS,
    Deferred,
    Written,
    write_deflated,
    write_dictionary,
    write_number,
    write_stream,
)
from workers.engine.paint.shaped import ShapedFont
from workers.engine.paint.vectors import VectorWriter
from workers.engine.units import BLACK, Color, ColorSpace

_ARC: Final = 0.5523  # control points of a quarter circle, in radii
_STRENGTH: Final = 0.035  # of the outlines that make a regular face bold, in em


class Stock:
    """What the pages of a document share: fonts with the characters used, images, groups, states.

    `widen` gives the characters a font is embedded with, for those that are used.
    """

    def __init__(
        self,
        file: CanvasFile,
        *,
        widen: Callable[[Face, AbstractSet[str]], AbstractSet[str]] = lambda _face, used: used,
    ) -> None:
        self._file = file
        self._widen = widen
        self._texts: dict[Face, list[str]] = {}
        self._characters: dict[Face, set[str]] = {}
        self._fonts: dict[Face, str] = {}
        self._shaped: dict[Face, ShapedFont] = {}
        self._shaped_count = 0
        self._images: dict[str, str] = {}
        self._group_count = 0
        self._form_count = 0
        self._vectors = VectorWriter(
            find_image=lambda image: refer_to_external(self.use_image(image)),
            use_font=self.use_font,
            use_shaped_font=self.use_shaped_font,
        )

    def use_font(self, face: Face) -> tuple[str, list[str]]:
        """Return the name of a face's font, and the list to which the texts set in it are added."""
        name = self._fonts.get(face)
        if name is None:
            name = self._fonts[face] = f"F{len(self._fonts) + 1}"
            self._texts[face] = []
            self._characters[face] = set()
            self._file.add_font(name, Deferred(partial(self._embed, face)))
        return name, self._texts[face]

    def _embed(self, face: Face) -> Written:
        characters = self._widen(face, self._characters[face])
        return write_font(face, make_subset(face, frozenset(characters)))

    def end_page(self) -> None:
        """Keep the characters of the texts so far, and let go of the texts."""
        for face, texts in self._texts.items():
            self._characters[face].update("".join(texts))
            texts.clear()

    def use_shaped_font(self, face: Face) -> ShapedFont:
        """Return the font in which the shaped text of a face is written."""
        font = self._shaped.get(face)
        if font is None or font.is_full:
            self._shaped_count += 1
            font = self._shaped[face] = ShapedFont(face, f"X{self._shaped_count}")
            self._file.add_font(font.name, Deferred(font.embed))
        return font

    def use_image(self, image: Drawable) -> str:
        """Return the name of an image, which is in the file once."""
        name = self._images.get(image.key)
        if name is None:
            name = self._images[image.key] = f"I{len(self._images) + 1}"
            written = (
                self._vectors.write_image(image)
                if isinstance(image, VectorImage)
                else write_image(image)
            )
            self._file.add_external(name, written)
        return name

    def add_group(
        self, width: float, height: float, marks: bytes, calls: Iterable[str], *, opacity: float
    ) -> str:
        """Add marks as a transparency group (PDF 1.7, 11.6.6) and return the name that draws it.

        `calls` are the external objects that the marks call. ReportLab's forms cannot be groups.
        """
        self._group_count += 1
        name = f"G{self._group_count}"
        box = b"/Type /XObject /Subtype /Form /BBox [0 0 %b %b] /Resources " % (
            write_number(width),
            write_number(height),
        )
        called = [(resource_name(call), [refer_to_external(call)]) for call in dict.fromkeys(calls)]
        resources = [b"<< /Font ", ALL_FONTS, b" /XObject ", *write_dictionary(called), b" >>"]
        group = write_deflated([box, *resources, b" /Group << /S /Transparency >>"], marks)
        seen = write_number(opacity)
        state = b"<< /ExtGState << /S << /ca %b /CA %b >> >> /XObject << /G " % (seen, seen)
        self._file.add_external(name, write_stream([box, state, group, b" >> >>"], b"/S gs /G Do"))
        return name

    def add_form(self, corners: tuple[float, float, float, float], content: Content) -> str:
        """Add content that several pages call (PDF 1.7, 8.10) and return its name."""
        self._form_count += 1
        name = f"R{self._form_count}"
        self._file.add_form(name, corners, [_FRESH_INK, *content])
        return name


class Repeat(NamedTuple):
    """A call of a form that was added before, in place of the items it draws."""

    name: str


@dataclass(slots=True)
class _Ink:
    """The graphics state as the operators so far left it; begins as PDF 1.7, 8.4.1 says."""

    face: Any = None
    size: float = 0.0
    texts: list[str] = field(default_factory=list)  # what is set in this face, for its subset
    letter_spacing: float = 0.0
    is_emboldened: bool = False
    fill: Color = BLACK
    stroke: Color = BLACK
    line: tuple[float, tuple[float, ...]] = (1.0, ())  # width and dash


class Painter:
    """Writes the items of one page. The list has y down from the top, PDF has y up from the bottom."""

    def __init__(self, stock: Stock, *, width: float, height: float) -> None:
        self._stock = stock
        self._width = width
        self._height = height
        self._out: list[bytes] = []
        self._calls: list[tuple[int, str]] = []  # places in the list of marks, and what is called
        # The groups around this one: their marks and calls, and the opacity of the one inside.
        self._outer: list[tuple[list[bytes], list[tuple[int, str]], float]] = []
        self._saved: list[_Ink] = []
        self._is_artifact = False
        self._in_text = False
        self._pending = b""  # the operator that paints the path under construction
        self._text_x = self._text_y = 0  # start of the last run, in hundredths of a point
        self._ink = _Ink()

    def paint(self, items: Iterable[Item | Repeat]) -> list[str | Call]:
        """Write all items, in order."""
        for item in items:
            _WRITERS[type(item)](self, item)
        self._end_open()
        self._stock.end_page()
        content: list[str | Call] = []
        start = 0
        for at, name in self._calls:
            content += [_write_literal(self._out[start:at]), Call(name)]
            start = at + 1
        return [*content, _write_literal(self._out[start:])]

    def _call(self, name: str) -> None:
        self._calls.append((len(self._out), name))
        self._out.append(b"%b Do\n" % resource_name(name))

    # --- text

    def write_glyphs(self, item: Glyphs) -> None:
        """Set a run of text; runs that follow each other share one text object."""
        x, y, face, size, color, codes, text, _, owner, _, letter_spacing = item
        ink = self._ink
        if (owner is None) is not self._is_artifact:
            self._switch_artifact()
        if not self._in_text:
            self._begin_text()
        if face is not ink.face or size != ink.size:
            self._set_font(face, size)
        if color is not ink.fill and color != ink.fill:
            self._set_fill(color)
        if ink.is_emboldened and color != ink.stroke:
            self._set_stroke(color)
        if letter_spacing != ink.letter_spacing:
            ink.letter_spacing = letter_spacing
            self._out.append(write_number(letter_spacing) + b" Tc\n")
        ink.texts.append(text)
        at_x, at_y = round(x * 100), round((self._height - y) * 100)
        self._out += (
            HUNDREDTHS[at_x - self._text_x],
            b" ",
            HUNDREDTHS[at_y - self._text_y],
            b" Td ",
            codes,
            b"TJ\n" if codes[:1] == b"[" else b"Tj\n",
        )
        self._text_x, self._text_y = at_x, at_y

    def write_shaped(self, item: ShapedGlyphs) -> None:
        """Set a run of text by its glyphs."""
        ink, size, color = self._ink, item.size, item.color
        assert isinstance(item.face, Face)
        font = self._stock.use_shaped_font(item.face)
        if (item.owner is None) is not self._is_artifact:
            self._switch_artifact()
        if not self._in_text:
            self._begin_text()
        if font is not ink.face or size != ink.size:
            ink.face, ink.size = font, size
            self._out.append(b"/%b %b Tf\n" % (font.name.encode("ascii"), write_number(size)))
            self._set_boldness(font, size)
        if color != ink.fill:
            self._set_fill(color)
        if ink.is_emboldened and color != ink.stroke:
            self._set_stroke(color)
        if ink.letter_spacing:
            ink.letter_spacing = 0.0
            self._out.append(b"0 Tc\n")
        at_x, at_y = round(item.x * 100), round((self._height - item.y) * 100)
        self._out.append(
            b"%.10g %.10g Td " % ((at_x - self._text_x) / 100, (at_y - self._text_y) / 100)
        )
        self._out.append(font.write(item.clusters))
        self._text_x, self._text_y = at_x, at_y

    def _begin_text(self) -> None:
        self._end_path()
        self._out.append(b"BT\n")
        self._in_text = True
        self._text_x = self._text_y = 0

    def _set_font(self, face: Any, size: float) -> None:
        name, self._ink.texts = self._stock.use_font(face)
        self._ink.face, self._ink.size = face, size
        self._out.append(b"/%b %b Tf\n" % (name.encode("ascii"), write_number(size)))
        if face.is_emboldened or self._ink.is_emboldened:
            self._set_boldness(face, size)

    def _set_boldness(self, face: Face | ShapedFont, size: float) -> None:
        """Draw the outlines of letters too, or no longer: bold for a face that has none."""
        ink = self._ink
        if face.is_emboldened is not ink.is_emboldened:
            ink.is_emboldened = face.is_emboldened
            self._out.append(b"2 Tr\n" if face.is_emboldened else b"0 Tr\n")
        line = (size * _STRENGTH, ())
        if face.is_emboldened and ink.line != line:
            self._set_line(line)

    # --- paths

    def write_fill(self, item: Fill) -> None:
        """Fill a rectangle; neighbours of one colour become one path."""
        x, y, width, height, color, owner, radius = item
        self._begin_path(owner, b"f\n", color)
        if radius:
            self._out.append(self._round_rectangle(x, y, width, height, radius))
        else:
            self._out.append(self._rectangle(x, y, width, height))

    def write_cells(self, item: Cells) -> None:
        """Fill many rectangles as one path, in units of their grid so that no seams show."""
        if not item.rectangles:
            return
        self._end_open_marks()
        self._begin_path(item.owner, b"", item.color)
        grid = b"%b 0 0 %b %b %b cm\n" % (
            _fraction(item.unit_width),
            _fraction(-item.unit_height),
            write_number(item.x),
            write_number(self._height - item.y),
        )
        self._out += (b"q ", grid, *map(_CELLS.__getitem__, item.rectangles), b"f\nQ\n")

    def write_polygons(self, item: Polygons) -> None:
        """Fill many polygons as one path, in units of their grid."""
        self._end_open_marks()
        self._begin_path(item.owner, b"", item.color)
        unit = _fraction(item.unit)
        place = write_number(item.x), write_number(self._height - item.y)
        self._out.append(b"q %b 0 0 %b %b %b cm\n" % (unit, _fraction(-item.unit), *place))
        for polygon in item.polygons:
            path = b"%d %d m\n" + b"%d %d l\n" * (len(polygon) - 1) + b"h\n"
            self._out.append(path % tuple(chain(*polygon)))
        self._out.append(b"f*\nQ\n")

    def write_stroke(self, item: Stroke) -> None:
        """Draw a straight line; neighbours of one look become one path."""
        x1, y1, x2, y2, width, color, owner, dash = item
        self._begin_path(owner, b"S\n", color, (width, dash))
        height = self._height
        self._out.append(
            b"%.10g %.10g m %.10g %.10g l\n"
            % (_hundredths(x1), _hundredths(height - y1), _hundredths(x2), _hundredths(height - y2))
        )

    def write_outline(self, item: Outline) -> None:
        """Draw the outline of a rectangle."""
        self._begin_path(item.owner, b"S\n", item.color, (item.line_width, item.dash))
        box = item.x, item.y, item.width, item.height
        self._out.append(
            self._round_rectangle(*box, item.radius) if item.radius else self._rectangle(*box)
        )

    def _begin_path(
        self,
        owner: object | None,
        operator: bytes,
        color: Color,
        line: tuple[float, tuple[float, ...]] | None = None,
    ) -> None:
        """Go on with the path under construction if this one is painted alike, else begin one."""
        current = self._ink.fill if line is None else self._ink.stroke
        is_alike = color == current and (line is None or line == self._ink.line)
        if (owner is None) is not self._is_artifact:
            self._switch_artifact()
        if self._pending == operator and is_alike:
            return
        self._end_text()
        self._end_path()
        if color != current:
            self._set_fill(color) if line is None else self._set_stroke(color)
        if line is not None and line != self._ink.line:
            self._set_line(line)
        self._pending = operator

    def _set_fill(self, color: Color) -> None:
        self._ink.fill = color
        self._out.append(_color_operator(color, b"g\n", b"rg\n", b"k\n"))

    def _set_stroke(self, color: Color) -> None:
        self._ink.stroke = color
        self._out.append(_color_operator(color, b"G\n", b"RG\n", b"K\n"))

    def _set_line(self, line: tuple[float, tuple[float, ...]]) -> None:
        width, dash = line
        if width != self._ink.line[0]:
            self._out.append(write_number(width) + b" w\n")
        if dash != self._ink.line[1]:
            self._out.append(b"[%b] 0 d\n" % b" ".join(map(write_number, dash)))
        self._ink.line = line

    def _rectangle(self, x: float, y: float, width: float, height: float) -> bytes:
        left, right = round(x * 100), round((x + width) * 100)
        bottom, top = round((self._height - y - height) * 100), round((self._height - y) * 100)
        sides = HUNDREDTHS[right - left], HUNDREDTHS[top - bottom], b"re\n"
        return b" ".join((HUNDREDTHS[left], HUNDREDTHS[bottom], *sides))

    def _round_rectangle(
        self, x: float, y: float, width: float, height: float, radius: float
    ) -> bytes:
        radius = min(radius, width / 2, height / 2)
        left, right = x, x + width
        bottom, top = self._height - y - height, self._height - y
        away = radius * (1 - _ARC)
        points = (
            *(left + radius, bottom),
            *(right - radius, bottom),
            *(right - away, bottom, right, bottom + away, right, bottom + radius),
            *(right, top - radius),
            *(right, top - away, right - away, top, right - radius, top),
            *(left + radius, top),
            *(left + away, top, left, top - away, left, top - radius),
            *(left, bottom + radius),
            *(left, bottom + away, left + away, bottom, left + radius, bottom),
        )
        return _ROUND_RECTANGLE % tuple(map(_hundredths, points))

    # --- pictures and groups

    def write_picture(self, item: Picture) -> None:
        """Place an image; its orientation turns inside the place it takes."""
        image = item.image
        assert isinstance(image, PreparedImage | VectorImage)
        if (item.owner is None) is not self._is_artifact:
            self._switch_artifact()
        self._end_open_marks()
        a, b, c, d, e, f = image.matrix
        width, height = item.width, item.height
        left, bottom = item.x, self._height - item.y - height
        self._out.append(
            b"q %.10g %.10g %.10g %.10g %.10g %.10g cm\n"
            % (
                _hundredths(a * width),
                _hundredths(b * height),
                _hundredths(c * width),
                _hundredths(d * height),
                _hundredths(left + e * width),
                _hundredths(bottom + f * height),
            )
        )
        self._call(self._stock.use_image(image))
        self._out.append(b"Q\n")

    def begin_group(self, item: Save) -> None:
        """Begin a group: clipped, turned, or seen through as a whole."""
        self._end_open()
        self._saved.append(replace(self._ink))
        self._outer.append((self._out, self._calls, item.opacity))
        if item.opacity < 1:
            self._out, self._calls, self._ink = [], [], _Ink()
        else:
            self._out.append(b"q\n")
        if item.rotate is not None:
            self._out.append(self._turn(*item.rotate))
        if item.clip is not None:
            self._out.append(self._rectangle(*item.clip) + b"W n\n")

    def end_group(self, _: Restore) -> None:
        """End the innermost group."""
        self._end_open()
        outer, outer_calls, opacity = self._outer.pop()
        if opacity < 1:
            called = [name for _, name in self._calls]
            group = self._stock.add_group(
                self._width, self._height, b"".join(self._out), called, opacity=opacity
            )
            self._out, self._calls = outer, outer_calls
            self._call(group)
        else:
            self._out.append(b"Q\n")
        self._ink = self._saved.pop()

    def _turn(self, degrees: float, center_x: float, center_y: float) -> bytes:
        """Turn clockwise about a point."""
        cosine, sine = cos(radians(degrees)), sin(radians(degrees))
        x, y = center_x, self._height - center_y
        return b"%b %b %b %b %b %b cm\n" % (
            _fraction(cosine),
            _fraction(-sine),
            _fraction(sine),
            _fraction(cosine),
            write_number(x - cosine * x - sine * y),
            write_number(y + sine * x - cosine * y),
        )

    def call_form(self, item: Repeat) -> None:
        """Draw a form; it changes nothing of the state here."""
        self._end_open()
        self._call(item.name)

    # --- what is open, and the graphics state

    def _switch_artifact(self) -> None:
        """Begin or end a run of page furniture (PDF 1.7, 14.8.2.2)."""
        self._end_open_marks()
        self._is_artifact = not self._is_artifact
        self._out.append(b"/Artifact BMC\n" if self._is_artifact else b"EMC\n")

    def _end_open(self) -> None:
        if self._is_artifact:
            self._switch_artifact()
        self._end_open_marks()

    def _end_open_marks(self) -> None:
        self._end_text()
        self._end_path()

    def _end_text(self) -> None:
        if self._in_text:
            self._in_text = False
            self._out.append(b"ET\n")

    def _end_path(self) -> None:
        if self._pending:
            self._out.append(self._pending)
            self._pending = b""


_WRITERS: Final[dict[type, Callable[[Painter, Any], None]]] = {
    Glyphs: Painter.write_glyphs,
    ShapedGlyphs: Painter.write_shaped,
    Fill: Painter.write_fill,
    Cells: Painter.write_cells,
    Polygons: Painter.write_polygons,
    Stroke: Painter.write_stroke,
    Outline: Painter.write_outline,
    Picture: Painter.write_picture,
    Save: Painter.begin_group,
    Restore: Painter.end_group,
    Repeat: Painter.call_form,
}


class _WrittenCells(dict[tuple[int, int, int, int], bytes]):
    """Rectangles of bar codes as they are written: every code has the same few thousand."""

    def __missing__(self, rectangle: tuple[int, int, int, int]) -> bytes:
        if len(self) >= _MAX_CELLS:
            self.clear()
        written = self[rectangle] = b"%d %d %d %d re\n" % rectangle
        return written


_MAX_CELLS: Final = 10_000  # two megabytes
_CELLS: Final = _WrittenCells()

# A form is drawn with the state of its caller; its painter began with the state of a page.
_FRESH_INK: Final = "0 g 0 G 1 w [] 0 d 0 Tc 0 Tr\n"

_ROUND_RECTANGLE: Final = (
    b"%.10g %.10g m %.10g %.10g l\n%.10g %.10g %.10g %.10g %.10g %.10g c %.10g %.10g l\n"
    b"%.10g %.10g %.10g %.10g %.10g %.10g c %.10g %.10g l\n"
    b"%.10g %.10g %.10g %.10g %.10g %.10g c %.10g %.10g l\n"
    b"%.10g %.10g %.10g %.10g %.10g %.10g c h\n"
)


def _hundredths(value: float) -> float:
    return round(value * 100) / 100


def _fraction(value: float) -> bytes:
    return b"%.10g" % (round(value * 1_000_000) / 1_000_000 + 0.0)


@lru_cache(256)
def _color_operator(color: Color, gray: bytes, rgb: bytes, cmyk: bytes) -> bytes:
    components = color.components
    if color.space is ColorSpace.CMYK:
        return b" ".join(map(write_number, components)) + b" " + cmyk
    if components[0] == components[1] == components[2]:
        return write_number(components[0]) + b" " + gray
    return b" ".join(map(write_number, components)) + b" " + rgb


def _write_literal(marks: list[bytes]) -> str:
    """Write operators as ReportLab takes them, as ASCII; a string has other bytes by their numbers."""
    written = b"".join(marks)
    if not written.isascii():
        written = _NOT_ASCII.sub(lambda match: b"\\%03o" % match[0][0], written)
    return written.decode("ascii")


_NOT_ASCII: Final = re.compile(rb"[\x80-\xff]")
