"""Colour glyphs: what the tables COLR (versions 0 and 1) and CPAL paint, read by HarfBuzz.

HarfBuzz walks the paint graph of a glyph, ends cycles, nests at most 64 paints and follows at most
65,536 edges. What it paints is recorded here as layers and groups, and a glyph beyond the limits
below has none: it is drawn as its outline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from struct import Struct
from typing import Any, Final, NamedTuple

import uharfbuzz as hb

from workers.engine.layout.fonts.faces import Face
from workers.engine.layout.fonts.properties import FontRefusedError

# Measured on Noto Color Emoji (4,012 glyphs): the most of one glyph are 16,601, the mean is 194.
MAX_OPERATIONS: Final = 40_000  # of a glyph, as HarfBuzz reports them
MAX_FONT_OPERATIONS: Final = 2_000_000  # of all glyphs of a font, some 2 s
_FEW_OPERATIONS: Final = 100_000  # whatever the size of the file
_OPERATIONS_PER_BYTE: Final = 40  # that emoji font has 4 for each byte as WOFF2
_COLR_HEADER: Final = Struct(
    ">HHI"
)  # version, number and offset of the base glyphs (OpenType, COLR)
_BASE_GLYPH: Final = Struct(">HHH")  # glyph, first layer, number of layers
MAX_COLOR_GLYPHS: Final = 10_000  # of a font: the edges of one may take a millisecond
MAX_POINTS: Final = 60_000  # of all outlines of a glyph
MAX_GROUPS: Final = 8  # nested: PDF/A allows 28 nested graphics states
MAX_STOPS: Final = 256  # of a gradient
MAX_COORDINATE: Final = 1_000_000.0  # font units, after transformation
_MAX_CACHED_GLYPHS: Final = 10_000  # of a face, whether they are coloured

Matrix = tuple[float, float, float, float, float, float]
Box = tuple[float, float, float, float]  # left, bottom, right, top
Segment = tuple[float, ...]  # 2 numbers of a line, 6 of a curve; empty to close
Subpath = tuple[Segment, ...]  # the first segment is the start

IDENTITY: Final[Matrix] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


class PaintColor(NamedTuple):
    """A colour of the palette, None for the colour of the text; components from 0 to 1."""

    rgb: tuple[float, float, float] | None
    alpha: float


class ColorStop(NamedTuple):
    """A colour at an offset of a colour line."""

    offset: float
    color: PaintColor


class Solid(NamedTuple):
    """One colour."""

    color: PaintColor


class Gradient(NamedTuple):
    """A gradient in the coordinates before `matrix`.

    `coordinates` of a linear one are three points, of a radial one two circles (x, y, radius), of a
    sweep the centre and two angles in radians. `extend` is pad, repeat or reflect.
    """

    kind: str
    coordinates: tuple[float, ...]
    stops: tuple[ColorStop, ...]
    extend: str
    matrix: Matrix


class Clip(NamedTuple):
    """An outline to which a layer is clipped, in font units, with its bounds."""

    subpaths: tuple[Subpath, ...]
    bounds: Box | None  # None without any point
    is_rectangle: bool


class Layer(NamedTuple):
    """A paint within the intersection of clips."""

    clips: tuple[Clip, ...]
    paint: Solid | Gradient


class Group(NamedTuple):
    """Parts that are composited as a whole with the parts before them, by a mode of COLR."""

    mode: str
    parts: tuple[Layer | Group, ...]


@dataclass(frozen=True, slots=True)
class ColorGlyph:
    """The layers and groups that a glyph paints, in font units."""

    parts: tuple[Layer | Group, ...]


def has_color_tables(hb_face: Any) -> bool:
    """Return whether a font has colour glyphs."""
    return bool(hb_face.has_color_paint or hb_face.has_color_layers)


def is_color_glyph(face: Face, glyph: int) -> bool:
    """Return whether a glyph is painted in colours."""
    return face.with_cache(_is_color_glyph, max_entries=_MAX_CACHED_GLYPHS)(glyph)


def _is_color_glyph(face: Face, glyph: int) -> bool:
    return _has_colors(face.hb_face, glyph)


def _has_colors(hb_face: Any, glyph: int) -> bool:
    return bool(hb_face.glyph_has_color_paint(glyph) or hb_face.get_glyph_color_layers(glyph))


def check_layers(hb_face: Any, size: int) -> None:
    """Check the number of layers of all glyphs, which glyphs may share and rewriting copies.

    `size` is the number of bytes of the file, as sent.

    Raises:
        FontRefusedError: There are too many.
    """
    table: bytes = hb_face.reference_table("COLR").data or b""
    if len(table) < _COLR_HEADER.size:
        return
    _, count, start = _COLR_HEADER.unpack_from(table)
    records = memoryview(table)[start : start + count * _BASE_GLYPH.size]
    whole = records[: len(records) - len(records) % _BASE_GLYPH.size]
    layers = sum(number for _, _, number in _BASE_GLYPH.iter_unpack(whole))
    _check_operations(layers, size)


def _check_operations(number: int, size: int) -> None:
    limit = min(_FEW_OPERATIONS + _OPERATIONS_PER_BYTE * size, MAX_FONT_OPERATIONS)
    if number > limit:
        raise FontRefusedError(
            f"The colour glyphs of the font paint more than {limit:,} layers, clips and "
            "transformations, the most for its size",
            "Use a part of it, or a simpler font.",
        )


def count_color_glyphs(hb_face: Any, size: int) -> int:
    """Return the number of colour glyphs of a font, once their paint graphs are known to be bounded.

    `size` is the number of bytes of the file, as sent, which bounds what they may paint.

    Raises:
        FontRefusedError: There are too many, or together they paint too much.
    """
    if not has_color_tables(hb_face):
        return 0
    font: Any = hb.Font(hb_face)
    colored = [glyph for glyph in range(hb_face.glyph_count) if _has_colors(hb_face, glyph)]
    if len(colored) > MAX_COLOR_GLYPHS:
        raise FontRefusedError(
            f"The font has {len(colored):,} colour glyphs; at most {MAX_COLOR_GLYPHS:,} are accepted",
            "Use a part of it.",
        )
    operations = 0

    def record(*_: object) -> None:
        nonlocal operations
        operations += 1

    functions = _make_functions(dict.fromkeys(_OPERATIONS, record))
    for glyph in colored:
        font.paint_glyph(glyph, functions, None, 0, _FOREGROUND)
        _check_operations(operations, size)
    return len(colored)


def read_color_glyph(face: Face, glyph: int) -> ColorGlyph | None:
    """Return what a glyph paints, None beyond the limits.

    A glyph without colours paints its outline in the colour of the text.
    """
    recorder = _Recorder(face.hb_font)
    functions = _make_functions(
        {name: recorder.guard(getattr(recorder, name)) for name in _OPERATIONS}
    )
    face.hb_font.paint_glyph(glyph, functions, None, 0, _FOREGROUND)
    return recorder.finish()


_OPERATIONS: Final = (
    *("push_transform", "pop_transform", "push_clip_glyph", "push_clip_rectangle", "pop_clip"),
    *("color", "linear_gradient", "radial_gradient", "sweep_gradient", "push_group", "pop_group"),
)
_FOREGROUND: Final = hb.Color(0, 0, 0, 255)


def _make_functions(callbacks: dict[str, Callable[..., None]]) -> Any:
    functions: Any = hb.PaintFuncs()
    for name, callback in callbacks.items():
        getattr(functions, f"set_{name}_func")(callback)
    return functions


class _BeyondLimitsError(Exception):
    """The glyph is too large, or has numbers that no file can hold."""


class _Recorder:
    """Records what HarfBuzz paints.

    An exception would not pass through HarfBuzz, so a glyph beyond the limits is marked as failed
    and the operations that follow are ignored.
    """

    def __init__(self, hb_font: Any) -> None:
        self._font = hb_font
        self._matrices: list[Matrix] = [IDENTITY]
        self._clips: list[Clip] = []
        self._groups: list[list[Layer | Group]] = [[]]
        self._outlines: dict[int, tuple[Subpath, ...]] = {}
        self._operations = self._points = 0
        self._has_failed = False

    def guard(self, operation: Callable[..., None]) -> Callable[..., None]:
        """Return the callback of an operation that ends within the limits."""

        def call(*arguments: Any) -> None:
            if self._has_failed:
                return
            self._operations += 1
            try:
                self._check(count=self._operations, limit=MAX_OPERATIONS)
                operation(*arguments[:-1])  # the last is the data of the caller
            except (_BeyondLimitsError, IndexError, OverflowError, ValueError):
                self._has_failed = True

        return call

    def finish(self) -> ColorGlyph | None:
        """Return what was painted, None for a glyph beyond the limits."""
        if self._has_failed or len(self._groups) != 1:
            return None
        return ColorGlyph(tuple(self._groups[0]))

    # --- operations of HarfBuzz (hb-paint)

    def push_transform(self, *matrix: float) -> None:
        xx, yx, xy, yy, dx, dy = matrix
        self._matrices.append(
            concatenate((xx, yx, xy, yy, dx, dy), self._matrices[-1])
            if matrix != IDENTITY
            else self._matrices[-1]
        )

    def pop_transform(self) -> None:
        self._matrices.pop()

    def push_clip_glyph(self, glyph: int) -> None:
        if glyph not in self._outlines:
            self._outlines[glyph] = _read_outline(self._font, glyph)
        self._push_clip(self._outlines[glyph], is_rectangle=False)

    def push_clip_rectangle(self, left: float, bottom: float, right: float, top: float) -> None:
        corners = ((left, bottom), (right, bottom), (right, top), (left, top), ())
        _, skew_y, skew_x, *_ = self._matrices[-1]
        self._push_clip((corners,), is_rectangle=not (skew_x or skew_y))

    def pop_clip(self) -> None:
        self._clips.pop()

    def color(self, color: Any, is_foreground: bool) -> None:
        self._paint(Solid(_read_color(color, is_foreground=is_foreground)))

    def linear_gradient(self, line: Any, *coordinates: float) -> None:
        self._paint_gradient("linear", line, coordinates)

    def radial_gradient(self, line: Any, *coordinates: float) -> None:
        self._paint_gradient("radial", line, coordinates)

    def sweep_gradient(self, line: Any, *coordinates: float) -> None:
        self._paint_gradient("sweep", line, coordinates)

    def push_group(self) -> None:
        self._groups.append([])
        self._check(count=len(self._groups), limit=MAX_GROUPS + 1)

    def pop_group(self, mode: Any) -> None:
        parts = self._groups.pop()
        if parts or mode.name in _ERASING:
            self._groups[-1].append(Group(mode.name, tuple(parts)))

    # --- parts

    def _push_clip(self, subpaths: Sequence[Subpath], *, is_rectangle: bool) -> None:
        self._points += sum(map(len, subpaths))
        self._check(count=self._points, limit=MAX_POINTS)
        moved = tuple(_transform(subpath, self._matrices[-1]) for subpath in subpaths)
        self._clips.append(Clip(moved, _find_bounds(moved), is_rectangle))

    def _paint(self, paint: Solid | Gradient) -> None:
        if all(clip.bounds is not None for clip in self._clips):
            self._groups[-1].append(Layer(tuple(_reduce_clips(self._clips)), paint))

    def _paint_gradient(self, kind: str, line: Any, coordinates: tuple[float, ...]) -> None:
        stops = line.color_stops
        self._check(count=len(stops), limit=MAX_STOPS)
        read = tuple(
            ColorStop(stop.offset, _read_color(stop.color, is_foreground=stop.is_foreground))
            for stop in stops
        )
        matrix = self._matrices[-1]
        _check_numbers((*coordinates, *matrix, *(stop.offset for stop in read)))
        if read:
            extend = line.extend.name.lower()
            self._paint(Gradient(kind, tuple(coordinates), read, extend, matrix))

    def _check(self, *, count: int, limit: int) -> None:
        if count > limit:
            raise _BeyondLimitsError


# Modes of which an empty source changes the backdrop.
_ERASING: Final = frozenset(
    {"CLEAR", "SRC", "SRC_IN", "DEST_IN", "SRC_OUT", "DEST_ATOP"}
)  # an empty group of other modes paints nothing


def _read_color(color: Any, *, is_foreground: bool) -> PaintColor:
    rgb = None if is_foreground else (color.red / 255, color.green / 255, color.blue / 255)
    return PaintColor(rgb, round(color.alpha / 255, 4))


def _reduce_clips(clips: Sequence[Clip]) -> Iterator[Clip]:
    """Yield the clips of a layer without the boxes that contain all of another clip."""
    outlines = [clip.bounds for clip in clips if not clip.is_rectangle and clip.bounds]
    for clip in clips:
        if not (clip.is_rectangle and any(_contains(clip.bounds, box) for box in outlines)):
            yield clip


def _contains(outer: Box | None, inner: Box) -> bool:
    return outer is not None and (
        outer[0] <= inner[0]
        and outer[1] <= inner[1]
        and outer[2] >= inner[2]
        and outer[3] >= inner[3]
    )


def concatenate(first: Matrix, then: Matrix) -> Matrix:
    """Return the matrix that applies `first`, then the other one (ISO 32000-1, 8.3.4)."""
    a, b, c, d, e, f = first
    g, h, i, j, k, m = then
    return (
        a * g + b * i,
        a * h + b * j,
        c * g + d * i,
        c * h + d * j,
        e * g + f * i + k,
        e * h + f * j + m,
    )


def _transform(subpath: Subpath, matrix: Matrix) -> Subpath:
    if matrix != IDENTITY:
        subpath = tuple(_transform_points(segment, matrix) for segment in subpath)
    for segment in subpath:
        _check_numbers(segment)
    return subpath


def _transform_points(points: Segment, matrix: Matrix) -> Segment:
    a, b, c, d, e, f = matrix
    moved: list[float] = []
    for at in range(0, len(points), 2):
        x, y = points[at], points[at + 1]
        moved += (a * x + c * y + e, b * x + d * y + f)
    return tuple(moved)


def _check_numbers(numbers: Sequence[float]) -> None:
    for number in numbers:
        if not isfinite(number) or abs(number) > MAX_COORDINATE:
            raise _BeyondLimitsError


def _find_bounds(subpaths: Sequence[Subpath]) -> Box | None:
    """Return the bounds of all points, those of curves included."""
    xs = [x for subpath in subpaths for segment in subpath for x in segment[::2]]
    ys = [y for subpath in subpaths for segment in subpath for y in segment[1::2]]
    return (min(xs), min(ys), max(xs), max(ys)) if xs else None


def _read_outline(hb_font: Any, glyph: int) -> tuple[Subpath, ...]:
    """Return the outline of a glyph in font units."""
    subpaths: list[list[Segment]] = []

    def move(x: float, y: float, _: object) -> None:
        subpaths.append([(x, y)])

    def line(x: float, y: float, _: object) -> None:
        subpaths[-1].append((x, y))

    def cubic(*numbers: Any) -> None:
        subpaths[-1].append(tuple(numbers[:6]))

    def quadratic(cx: float, cy: float, x: float, y: float, _: object) -> None:
        x0, y0 = subpaths[-1][-1][-2:]
        subpaths[-1].append(
            (
                *(x0 + (cx - x0) * 2 / 3, y0 + (cy - y0) * 2 / 3),
                *(x + (cx - x) * 2 / 3, y + (cy - y) * 2 / 3, x, y),
            )
        )

    def close(_: object) -> None:
        subpaths[-1].append(())

    functions: Any = hb.DrawFuncs()
    functions.set_move_to_func(move)
    functions.set_line_to_func(line)
    functions.set_cubic_to_func(cubic)
    functions.set_quadratic_to_func(quadratic)
    functions.set_close_path_func(close)
    hb_font.draw_glyph(glyph, functions, None)
    return tuple(map(tuple, subpaths))
