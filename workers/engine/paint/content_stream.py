"""Content streams: the display list of a page written as operators (ISO 32000-1, annex A)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from math import cos, radians, sin
from operator import sub
from typing import Any, Final, NamedTuple

from workers.engine.fonts import Cluster, Face
from workers.engine.layout import display
from workers.engine.paint import embedding
from workers.engine.paint.canvas_file import (
    ALONG,
    HUNDREDTHS,
    RECTANGLES,
    ROUNDED,
    CanvasFile,
    DeferredObject,
    PaintedContent,
    WrittenObject,
    refer_to_xobject,
    write_call,
    write_deflated,
    write_fill_color,
    write_fraction,
    write_resources,
    write_stream,
    write_stroke_color,
)
from workers.engine.pdf_pages import ImportedPage
from workers.engine.pdf_writer import write_name, write_number
from workers.engine.prepared_images import PreparedImage
from workers.engine.svg import DrawnGlyph, VectorImage, draw_color_glyphs, is_drawn_in_colors
from workers.engine.units import BLACK, Color, ColorSpace, to_black_ink

_ARC: Final = 0.5523  # control points of a quarter circle, in radii
MAX_COLOR_GLYPH_BYTES: Final = 64_000_000  # of a document; beyond it outlines are drawn
_STRENGTH: Final = 0.035  # width of the outlines that embolden a regular face, in em


class PdfResources:
    """The resources shared by the pages of a document: fonts with the characters used, images and
    forms.

    `widen` returns the characters to embed in a font for those that are used.
    """

    def __init__(
        self,
        file: CanvasFile,
        *,
        widen: Callable[[Face, AbstractSet[str]], AbstractSet[str]] = lambda _face, used: used,
    ) -> None:
        self._file = file
        self._widen = widen
        self.is_print = file.is_print
        self._fonts: dict[Face, tuple[str, set[str]]] = {}  # names, and the characters used
        self._shaped: dict[Face, embedding.ShapedFont] = {}
        self._shaped_count = 0
        self._shared: dict[tuple[bytes, bytes], WrittenObject] = {}
        self._inks: dict[Color, bytes] = {}
        self._images: dict[str, str] = {}
        self._group_count = 0
        self._form_count = 0
        self._color_glyphs: dict[tuple[object, ...], str | None] = {}
        self._color_glyph_bytes = 0
        self._prepared = embedding.PreparedObjectWriter(
            find_image=lambda image: refer_to_xobject(self.use_image(image)),
            use_font=self.use_font,
            use_shaped_font=self.use_shaped_font,
            is_print=file.is_print,
        )

    def use_font(self, face: Face) -> tuple[str, set[str]]:
        """Return the name of a face's font, and its characters, to which those of each text are added."""
        font = self._fonts.get(face)
        if font is None:
            font = self._fonts[face] = f"F{len(self._fonts) + 1}", set()
            self._file.add_font(font[0], DeferredObject(partial(self._embed, face)))
        return font

    def _embed(self, face: Face) -> WrittenObject:
        characters = self._widen(face, self._fonts[face][1])
        return embedding.write_font(
            face, embedding.make_subset(face, frozenset(characters)), self._write_shared
        )

    def _write_shared(self, entries: bytes, data: bytes) -> WrittenObject:
        """Return a stream of fonts, one for equal entries and data."""
        known = self._shared.get((entries, data))
        if known is None:
            known = self._shared[entries, data] = write_stream([entries], data)
        return known

    def use_shaped_font(self, face: Face) -> embedding.ShapedFont:
        """Return the font for shaped text of a face."""
        font = self._shaped.get(face)
        if font is None or font.is_full:
            self._shaped_count += 1
            font = self._shaped[face] = embedding.ShapedFont(face, f"X{self._shaped_count}")
            self._file.add_font(font.name, DeferredObject(partial(font.embed, self._write_shared)))
        return font

    def use_color_glyph(self, face: Face, cluster: Cluster, color: Color) -> str | None:
        """Return the name of the form of a colour glyph, None for one that is not drawn in colours."""
        if self.is_print or not is_drawn_in_colors(face, cluster):
            return None
        drawn = draw_color_glyphs(face, cluster, color)
        if drawn is None:
            return None
        key = (face, cluster.glyphs, color if drawn.uses_text_color else None)
        if key not in self._color_glyphs:
            self._color_glyphs[key] = self._add_color_glyph(drawn)
        return self._color_glyphs[key]

    def _add_color_glyph(self, drawn: DrawnGlyph) -> str | None:
        if self._color_glyph_bytes + drawn.size > MAX_COLOR_GLYPH_BYTES:
            return None
        self._color_glyph_bytes += drawn.size
        name = f"C{len(self._color_glyphs) + 1}"
        self._file.add_xobject(name, self._prepared.write(drawn.form))
        return name

    def use_ink(self, color: Color) -> bytes:
        """Return the name of the colour space of an ink, which is in the file once."""
        full = color._replace(tint=1.0)
        if full not in self._inks:
            self._inks[full] = b"/Ink%d" % (len(self._inks) + 1)
            self._file.add_color_space(self._inks[full], _write_separation(full))
        return self._inks[full]

    def use_image(self, image: display.Drawable) -> str:
        """Return the name of an image, which is in the file once."""
        name = self._images.get(image.key)
        if name is None:
            name = self._images[image.key] = f"I{len(self._images) + 1}"
            self._file.add_xobject(name, self._write_image(image))
        return name

    def _write_image(self, image: display.Drawable) -> WrittenObject:
        match image:
            case VectorImage() | ImportedPage():
                return self._prepared.write(image.form)
            case PreparedImage():
                return embedding.write_image(image)

    def add_group(
        self,
        width: float,
        height: float,
        marks: bytes,
        calls: Iterable[str],
        *,
        opacity: float,
        structure_key: int | None = None,
    ) -> tuple[str, WrittenObject]:
        """Add content as a transparency group (ISO 32000-1, 11.6.6); return its name and the group.

        `calls` are the external objects that the content calls. `structure_key` is its key in the
        parent tree of a tagged document (14.7.4.4).
        """
        self._group_count += 1
        name = f"G{self._group_count}"
        ending = b" /Group << /S /Transparency >>"
        if structure_key is not None:
            ending += b" /StructParents %d" % structure_key
        corners = (0.0, 0.0, width, height)
        group = _write_form(corners, calls, marks, ending)
        state = b" << /ExtGState << /S << /ca %b /CA %b >> >> /XObject << /G "
        state %= (write_number(opacity),) * 2
        entries = [_begin_form(corners), state, group, b" >> >>"]
        self._file.add_xobject(name, write_stream(entries, b"/S gs /G Do"))
        return name, group

    def add_form(self, corners: tuple[float, float, float, float], content: PaintedContent) -> str:
        """Add a form XObject (ISO 32000-1, 8.10) and return its name."""
        self._form_count += 1
        name = f"R{self._form_count}"
        form = _write_form(corners, content.calls, _INITIAL_STATE + content.marks)
        self._file.add_xobject(name, form)
        return name


def _write_separation(color: Color) -> WrittenObject:
    """Return the colour space of an ink (ISO 32000-1, 8.6.6.4), with its alternate."""
    is_cmyk = color.space is ColorSpace.CMYK
    white = (0.0,) * 4 if is_cmyk else (1.0,) * 3
    return WrittenObject(
        b"[/Separation %b /Device%b << /FunctionType 2 /Domain [0 1] /N 1 /C0 [%b] /C1 [%b] >>]"
        % (
            write_name(color.ink.encode("utf-8")),
            b"CMYK" if is_cmyk else b"RGB",
            b" ".join(map(write_number, white)),
            b" ".join(map(write_number, color.components)),
        )
    )


def _write_form(
    corners: tuple[float, float, float, float],
    calls: Iterable[str],
    marks: bytes,
    ending: bytes = b"",
) -> WrittenObject:
    """Return a form with the fonts of the document and the external objects that it calls."""
    return write_deflated([_begin_form(corners), *write_resources(calls), ending], marks)


def _begin_form(corners: tuple[float, float, float, float]) -> bytes:
    box = b" ".join(map(write_number, corners))
    return b"/Type /XObject /Subtype /Form /BBox [%b] /Resources " % box


class FormCall(NamedTuple):
    """A call of a form in place of the items it draws."""

    name: str


@dataclass(slots=True)
class GraphicsState:
    """The graphics state after the operators written so far (ISO 32000-1, 8.4.1)."""

    face: object = None
    size: float = 0.0
    characters: set[str] = field(default_factory=set)  # of the texts in this face
    letter_spacing: float = 0.0
    is_emboldened: bool = False
    overprints: bool = False
    fill: Color = BLACK
    stroke: Color = BLACK
    line: tuple[float, tuple[float, ...]] = (1.0, ())  # width and dash


class ContentStreamWriter:
    """Writes the items of one page. The display list has y down from the top, PDF has y up."""

    def __init__(self, resources: PdfResources, *, width: float, height: float) -> None:
        self._resources = resources
        self._width = width
        self._height = height
        self._out: list[bytes] = [_BLACK_INK] if resources.is_print else []
        self._calls: list[str] = []  # names of external objects
        # The enclosing groups: their output and calls, and the opacity of the group inside.
        self._outer: list[tuple[list[bytes], list[str], float]] = []
        self._saved: list[GraphicsState] = []
        self._in_text = False
        self._pending = b""  # the operator that paints the current path
        self._text_x = self._text_y = 0  # start of the last run, in hundredths of a point
        self._state = GraphicsState()
        self.widgets: list[display.Widget] = []  # of the items written so far

    def paint(self, items: Iterable[display.Item | FormCall]) -> PaintedContent:
        """Write all items in order and return the content."""
        self._write_items(items)
        self._end_open()
        return PaintedContent(b"".join(self._out), self._calls)

    def _write_items(self, items: Iterable[display.Item | FormCall]) -> None:
        for item in items:
            WRITERS[type(item)](self, item)

    def _call(self, name: str) -> None:
        self._calls.append(name)
        self._out.append(write_call(name))

    def add_widget(self, item: display.Widget) -> None:
        """Record the area of a form field, which is not content of the page."""
        self.widgets.append(item)

    # --- text

    def write_glyphs(self, item: display.GlyphRun) -> None:
        """Write a run of text; consecutive runs share one text object."""
        x, y, face, size, color, codes, text, _, _, letter_spacing, encoded = item
        self._prepare_text(face, size, color, letter_spacing)
        self._state.characters.update(encoded or text)
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

    def write_rows(self, item: display.TextRows) -> None:
        """Write the texts of rows as if they were runs of text."""
        self._prepare_text(item.face, item.size, item.color, item.letter_spacing)
        self._write_texts(item, [b""] * len(item.texts))

    def _write_texts(self, item: display.TextRows, before: Sequence[bytes]) -> None:
        """Write the texts of rows in the current text state; `before` are operators before each.

        All is done by column or for all texts at once: a statement has tens of thousands of them.
        """
        _, item_ys, _, _, _, codes, texts, *_ = item
        columns, height = len(texts) // len(item_ys), self._height
        xs = [*map(ROUNDED.__getitem__, item.xs)]
        starts = range(0, len(texts), columns)  # of the rows
        ys = [round((height - y) * 100) for y in item_ys]
        self._state.characters.update("".join(texts))
        steps = [*map(ALONG.__getitem__, map(sub, xs, (self._text_x, *xs)))]
        last_y = self._text_y
        for start, y in zip(starts, ys, strict=True):
            x = xs[start] - (xs[start - 1] if start else self._text_x)
            steps[start] = b"%b %b Td " % (HUNDREDTHS[x], HUNDREDTHS[y - last_y])
            last_y = y
        parts = [b""] * (4 * len(xs))
        parts[0::4] = before
        parts[1::4] = steps
        parts[2::4] = codes
        parts[3::4] = [b"TJ\n" if each[:1] == b"[" else b"Tj\n" for each in codes]
        self._out.append(b"".join(parts))
        self._text_x, self._text_y = xs[-1], last_y

    def _prepare_text(self, face: object, size: float, color: Color, letter_spacing: float) -> None:
        """Start a text object if none is open, and set the text state."""
        state = self._state
        if not self._in_text:
            self._begin_text()
        if face is not state.face or size != state.size:
            self._set_font(face, size)
        if color is not state.fill and color != state.fill:
            self._set_fill(color)
        if state.is_emboldened and color != state.stroke:
            self._set_stroke(color)
        if self._resources.is_print and state.overprints is not (color in _BLACKS):
            self._set_overprint(is_on=not state.overprints)
        if letter_spacing != state.letter_spacing:
            state.letter_spacing = letter_spacing
            self._out.append(write_number(letter_spacing) + b" Tc\n")

    def write_shaped(self, item: display.ShapedRun) -> None:
        """Write a run of shaped text."""
        font = self._resources.use_shaped_font(item.face)
        self._prepare_text(font, item.size, item.color, 0.0)
        at_x, at_y = round(item.x * 100), round((self._height - item.y) * 100)
        moved = HUNDREDTHS[at_x - self._text_x], HUNDREDTHS[at_y - self._text_y]
        self._out.append(b"%b %b Td " % moved)
        self._text_x, self._text_y = at_x, at_y
        if item.face.is_colored:
            self._write_colored(item, item.face, font)
        else:
            self._out.append(font.write(item.clusters))

    def _write_colored(
        self, item: display.ShapedRun, face: Face, font: embedding.ShapedFont
    ) -> None:
        """Write a run with colour glyphs: forms, and their text invisibly (decision 438)."""
        scale = item.size / face.units
        forms: list[tuple[float, str]] = []
        x = 0.0
        find = self._resources.use_color_glyph
        named = [(find(face, cluster, item.color), cluster) for cluster in item.clusters]
        for is_text, part in groupby(named, key=lambda pair: pair[0] is None):
            clusters = []
            start = x
            for name, cluster in part:
                if name is not None:
                    forms.append((x, name))
                clusters.append(cluster)
                x += cluster.advance * scale
            at_x = round((item.x + start) * 100)
            shown = font.write(clusters)
            mode = b"" if is_text else b"3 Tr "
            after = b"" if is_text else b"%d Tr\n" % (2 * self._state.is_emboldened)
            self._out.append(
                b"%b 0 Td %b%b%b" % (HUNDREDTHS[at_x - self._text_x], mode, shown, after)
            )
            self._text_x = at_x
        self._end_object()
        height = write_number(self._height - item.y)
        for left, name in forms:
            at = write_fraction(scale), write_fraction(scale), write_number(item.x + left), height
            self._out.append(b"q %b 0 0 %b %b %b cm\n" % at)
            self._call(name)
            self._out.append(b"Q\n")

    def _begin_text(self) -> None:
        self._end_path()
        self._out.append(b"BT\n")
        self._in_text = True
        self._text_x = self._text_y = 0

    def _set_font(self, face: Any, size: float) -> None:
        if isinstance(face, embedding.ShapedFont):
            name = face.name
        else:
            name, self._state.characters = self._resources.use_font(face)
        self._state.face, self._state.size = face, size
        self._out.append(b"/%b %b Tf\n" % (name.encode("ascii"), write_number(size)))
        if face.is_emboldened or self._state.is_emboldened:
            self._set_boldness(face, size)

    def _set_boldness(self, face: Face | embedding.ShapedFont, size: float) -> None:
        """Set or reset the text rendering mode that emboldens a face without a bold one."""
        state = self._state
        if face.is_emboldened is not state.is_emboldened:
            state.is_emboldened = face.is_emboldened
            self._out.append(b"2 Tr\n" if face.is_emboldened else b"0 Tr\n")
        line = (size * _STRENGTH, ())
        if face.is_emboldened and state.line != line:
            self._set_line(line)

    # --- paths

    def write_fill(self, item: display.Fill) -> None:
        """Fill a rectangle; consecutive ones of one colour share a path."""
        x, y, width, height, color, _, radius = item
        self._begin_path(b"f\n", color)
        self._out.append(self._rectangle(x, y, width, height, radius))

    def write_cells(self, item: display.RectangleSet) -> None:
        """Fill many rectangles as one path, in whole units so that no seams show."""
        if not item.rectangles:
            return
        self._end_object()
        self._begin_path(b"", item.color)
        grid = b"%b 0 0 %b %b %b cm\n" % (
            write_fraction(item.unit_width),
            write_fraction(-item.unit_height),
            write_number(item.x),
            write_number(self._height - item.y),
        )
        self._out += (b"q ", grid, *map(RECTANGLES.__getitem__, item.rectangles), b"f\nQ\n")

    def write_stroke(self, item: display.Stroke) -> None:
        """Stroke a straight line; consecutive ones of one style share a path."""
        x1, y1, x2, y2, width, color, _, dash = item
        self._begin_path(b"S\n", color, (width, dash))
        height = self._height
        self._out.append(
            b"%.10g %.10g m %.10g %.10g l\n"
            % (_hundredths(x1), _hundredths(height - y1), _hundredths(x2), _hundredths(height - y2))
        )

    def write_stroke_rows(self, item: display.StrokeRows) -> None:
        """Stroke lines of rows as if they were lines of their own; solid ones that continue in the
        next row are one line.
        """
        height, numbers, tops = self._height, HUNDREDTHS, item.tops
        for line in item.lines:
            self._begin_path(b"S\n", line.color, (line.width, line.dash))
            spans = [(top + line.y1, top + line.y2) for top in tops]
            if line.y1 != line.y2 and not line.dash:
                spans = [(spans[0][0], spans[-1][1])]
            start, end = (numbers[round(x * 100)] for x in (line.x1, line.x2))
            for upper, lower in spans:
                first, last = round((height - upper) * 100), round((height - lower) * 100)
                place = (start, numbers[first], end, numbers[last])
                self._out.append(b"%b %b m %b %b l\n" % place)

    def write_path(self, item: display.Path) -> None:
        """Fill or stroke lines and curves as one path; solid strokes have round joins and ends."""
        line = (item.width, item.dash) if item.width else None
        self._end_object()
        self._begin_path(b"", item.color, line)
        height = self._height
        out: list[bytes] = []
        for subpath in item.subpaths:
            operator = b"m\n"
            for point in subpath:
                numbers = [
                    _hundredths(height - value if at % 2 else value)
                    for at, value in enumerate(point)
                ]
                out.append(b"%.10g " * len(numbers) % tuple(numbers))
                out.append(operator if len(point) == 2 else b"c\n")
                operator = b"l\n"
        marks = b"".join(out)
        if line is None:
            self._out.append(marks + b"f\n")
        else:
            self._out.append(b"q 1 j %d J\n%bS\nQ\n" % (not item.dash, marks))

    def write_outline(self, item: display.StrokedRectangle) -> None:
        """Stroke a rectangle."""
        self._begin_path(b"S\n", item.color, (item.line_width, item.dash))
        box = item.x, item.y, item.width, item.height
        self._out.append(self._rectangle(*box, item.radius))

    def _begin_path(
        self, operator: bytes, color: Color, line: tuple[float, tuple[float, ...]] | None = None
    ) -> None:
        """Continue the current path if it is painted alike, else start one."""
        current = self._state.fill if line is None else self._state.stroke
        is_alike = color == current and (line is None or line == self._state.line)
        if self._pending == operator and is_alike:
            return
        self._end_text()
        self._end_path()
        if color != current:
            self._set_fill(color) if line is None else self._set_stroke(color)
        if line is not None and line != self._state.line:
            self._set_line(line)
        self._pending = operator

    def _set_overprint(self, *, is_on: bool) -> None:
        """Let black text be printed over what is below, so that no gap shows where plates are shifted."""
        self._state.overprints = is_on
        self._out.append(b"/Over gs\n" if is_on else b"/Knock gs\n")

    def _set_fill(self, color: Color) -> None:
        self._state.fill = color
        self._out.append(self._write_color(color, write_fill_color, b"%b cs %b scn\n"))

    def _set_stroke(self, color: Color) -> None:
        self._state.stroke = color
        self._out.append(self._write_color(color, write_stroke_color, b"%b CS %b SCN\n"))

    def _write_color(self, color: Color, write: Callable[[Color], bytes], with_ink: bytes) -> bytes:
        if self._resources.is_print:
            color = to_black_ink(color)
        if color.ink:
            return with_ink % (self._resources.use_ink(color), write_number(color.tint))
        return write(color)

    def _set_line(self, line: tuple[float, tuple[float, ...]]) -> None:
        width, dash = line
        if width != self._state.line[0]:
            self._out.append(write_number(width) + b" w\n")
        if dash != self._state.line[1]:
            self._out.append(b"[%b] 0 d\n" % b" ".join(map(write_number, dash)))
        self._state.line = line

    def _rectangle(
        self, x: float, y: float, width: float, height: float, radius: float = 0.0
    ) -> bytes:
        if radius:
            return self._round_rectangle(x, y, width, height, radius)
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

    def write_picture(self, item: display.Picture) -> None:
        """Draw an image; its orientation is applied inside its rectangle."""
        image = item.image
        self._end_object()
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
        self._call(self._resources.use_image(image))
        self._out.append(b"Q\n")

    def begin_group(self, item: display.Save) -> None:
        """Start a group that is clipped, rotated or transparent as a whole."""
        self._end_open()
        self._saved.append(replace(self._state))
        self._outer.append((self._out, self._calls, item.opacity))
        if item.opacity < 1:
            self._out, self._calls, self._state = [], [], GraphicsState()
            self._out += [_BLACK_INK] if self._resources.is_print else []
        else:
            self._out.append(b"q\n")
        if item.rotate is not None:
            self._out.append(self._rotate(*item.rotate))
        if item.clip is not None:
            self._out.append(self._rectangle(*item.clip) + b"W n\n")

    def end_group(self, _: display.Restore) -> None:
        """End the innermost group."""
        self._end_open()
        outer, outer_calls, opacity = self._outer.pop()
        if opacity < 1:
            group = self._add_group(self._calls, opacity)
            self._out, self._calls = outer, outer_calls
            self._call(group)
        else:
            self._out.append(b"Q\n")
        self._state = self._saved.pop()

    def _add_group(self, called: Iterable[str], opacity: float) -> str:
        """Add the current content as a transparency group and return its name."""
        content = self._width, self._height, b"".join(self._out), called
        return self._resources.add_group(*content, opacity=opacity)[0]

    def _rotate(self, degrees: float, center_x: float, center_y: float) -> bytes:
        """Return the operator that rotates clockwise about a point."""
        cosine, sine = cos(radians(degrees)), sin(radians(degrees))
        x, y = center_x, self._height - center_y
        return b"%b %b %b %b %b %b cm\n" % (
            write_fraction(cosine),
            write_fraction(-sine),
            write_fraction(sine),
            write_fraction(cosine),
            write_number(x - cosine * x - sine * y),
            write_number(y + sine * x - cosine * y),
        )

    def call_form(self, item: FormCall) -> None:
        """Draw a form; the graphics state does not change."""
        self._end_open()
        self._call(item.name)

    # --- open text and paths

    def _end_open(self) -> None:
        """End what is open before a group starts or ends."""
        self._end_object()

    def _end_object(self) -> None:
        self._end_text()
        self._end_path()

    def _end_text(self) -> None:
        if self._in_text:
            self._in_text = False
            self._out.append(b"ET\n")
            if self._state.overprints:
                self._set_overprint(is_on=False)

    def _end_path(self) -> None:
        if self._pending:
            self._out.append(self._pending)
            self._pending = b""


WRITERS: Final[dict[type, Callable[[ContentStreamWriter, Any], None]]] = {
    display.GlyphRun: ContentStreamWriter.write_glyphs,
    display.TextRows: ContentStreamWriter.write_rows,
    display.ShapedRun: ContentStreamWriter.write_shaped,
    display.Fill: ContentStreamWriter.write_fill,
    display.RectangleSet: ContentStreamWriter.write_cells,
    display.Path: ContentStreamWriter.write_path,
    display.Stroke: ContentStreamWriter.write_stroke,
    display.StrokeRows: ContentStreamWriter.write_stroke_rows,
    display.StrokedRectangle: ContentStreamWriter.write_outline,
    display.Picture: ContentStreamWriter.write_picture,
    display.Save: ContentStreamWriter.begin_group,
    display.Restore: ContentStreamWriter.end_group,
    display.Widget: ContentStreamWriter.add_widget,
    FormCall: ContentStreamWriter.call_form,
}


# The initial colour is a grey of the device (ISO 32000-1, 8.6.5.1).
_BLACK_INK: Final = b"0 0 0 1 k 0 0 0 1 K\n"
_BLACKS: Final = frozenset({BLACK, to_black_ink(BLACK)})
# A form starts with the state of its caller, its writer with that of a page.
_INITIAL_STATE: Final = b"0 g 0 G 1 w [] 0 d 0 Tc 0 Tr\n"

_ROUND_RECTANGLE: Final = (
    b"%.10g %.10g m %.10g %.10g l\n%.10g %.10g %.10g %.10g %.10g %.10g c %.10g %.10g l\n"
    b"%.10g %.10g %.10g %.10g %.10g %.10g c %.10g %.10g l\n"
    b"%.10g %.10g %.10g %.10g %.10g %.10g c %.10g %.10g l\n"
    b"%.10g %.10g %.10g %.10g %.10g %.10g c h\n"
)


def _hundredths(value: float) -> float:
    return round(value * 100) / 100
