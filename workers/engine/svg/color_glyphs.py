"""Colour glyphs as form XObjects, drawn as HarfBuzz walks their paint graph (OpenType, COLR).

PDF has the separable and non-separable blend modes of COLR. The modes of Porter and Duff are made of
soft masks: exact where shapes are opaque or absent, as at all but their edges. PLUS is drawn as Screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from typing import Any, Final, NamedTuple

from workers.engine.fonts import OPERATIONS, Cluster, Face, is_color_glyph, make_painter
from workers.engine.prepared_images import Matrix, UndrawableError
from workers.engine.svg.canvas import Canvas, FormXObject, Shading, format_numbers
from workers.engine.svg.gradients import AnyShading, GradientStop, make_gradient
from workers.engine.svg.paths import SegmentPen, Segments, find_box, rectangle
from workers.engine.svg.reader import DrawingBudget
from workers.engine.svg.values import (
    IDENTITY,
    RGB,
    Box,
    enclose,
    invert,
    multiply_matrices,
    transform_box,
    transform_point,
)
from workers.engine.units import BLACK, Color, ColorSpace, to_rgb

# Measured on Noto Color Emoji (4,012 glyphs): the most of one glyph are 16,601, the mean is 194.
MAX_OPERATIONS: Final = 40_000  # of a glyph, as HarfBuzz reports them
MAX_POINTS: Final = 60_000  # of all outlines of a glyph
MAX_GROUPS: Final = 8  # nested: PDF/A allows 28 nested graphics states
MAX_STOPS: Final = 256  # of a gradient
MAX_COORDINATE: Final = 1_000_000.0  # font units, after transformation
MAX_CONTENT: Final = 500_000  # bytes of the streams of a glyph, before compression
_MAX_CACHED_FORMS: Final = 64  # of a face
_TEXT_PRESENTATION: Final = "\ufe0e"


@dataclass(frozen=True, slots=True, eq=False)
class DrawnGlyph:
    """The glyphs of a cluster as a form in font units; `size` is that of its streams in bytes."""

    form: FormXObject
    size: int
    uses_text_color: bool


def is_drawn_in_colors(face: Face, cluster: Cluster) -> bool:
    """Return whether a cluster has a colour glyph, and is not asked for as text (UTS #51, 4)."""
    return _TEXT_PRESENTATION not in cluster.text and any(
        is_color_glyph(face, glyph) for glyph, *_ in cluster.glyphs
    )


def draw_color_glyphs(face: Face, cluster: Cluster, color: Color) -> DrawnGlyph | None:
    """Return the glyphs of a cluster in their colours; the result is cached.

    `color` is that of the text. Returns None beyond the limits.
    """
    draw = face.with_cache(_draw, max_entries=_MAX_CACHED_FORMS)
    drawn: DrawnGlyph | None = draw(cluster.glyphs, BLACK)
    return draw(cluster.glyphs, color) if drawn is not None and drawn.uses_text_color else drawn


def _draw(
    face: Face, glyphs: Sequence[tuple[int, float, float]], color: Color
) -> DrawnGlyph | None:
    # The first pass finds the bounds; a paint without clips is bounded by some em.
    box: Box = (-face.units, -face.units, 2 * face.units, 2 * face.units)
    drawn: DrawnGlyph | None = None
    for _ in range(2):
        painter = _Painter(face.hb_font, box, color)
        for glyph, x, y in glyphs:
            painter.paint(glyph, x, y)
        drawn = painter.finish()
        if drawn is None:
            return None
        box = painter.find_bounds()
    return drawn


class _BeyondLimitsError(Exception):
    """The glyph is too large, or has numbers that no file can hold."""


class _Clip(NamedTuple):
    """An outline to which marks are clipped, with its bounds; None without any point."""

    segments: Segments
    bounds: Box | None
    is_rectangle: bool


class _Shape(NamedTuple):
    """A mark of one colour within the intersection of clips."""

    clips: tuple[_Clip, ...]
    alpha: float


@dataclass(slots=True)
class _Group:
    """A group under construction: its marks, None for those that are no shape of one colour."""

    canvas: Canvas
    marks: list[_Shape | None] = field(default_factory=list)
    blends: bool = False
    form: FormXObject | None = None  # once it is finished


class _Painter:
    """Draws what HarfBuzz paints.

    An exception would not pass through HarfBuzz, so a glyph beyond the limits is marked as failed
    and the operations that follow are ignored.
    """

    def __init__(self, hb_font: Any, box: Box, color: Color) -> None:
        self._font = hb_font
        self._box = box
        self._color = color
        self._budget = DrawingBudget(MAX_CONTENT // 100)
        self._matrices: list[Matrix] = [IDENTITY]
        self._clips: list[_Clip] = []
        self._groups = [self._make_group()]
        self._bounds: list[Box] = []
        self._operations = self._points = self._size = 0
        self._uses_text_color = self._has_failed = False
        self._paint = make_painter(hb_font, {name: self._guard(name) for name in OPERATIONS})

    def paint(self, glyph: int, x: float, y: float) -> None:
        """Draw a glyph at a place."""
        self._matrices = [(1.0, 0.0, 0.0, 1.0, x, y)]
        self._paint(glyph)

    def find_bounds(self) -> Box:
        """Return a box that contains all marks."""
        left, bottom, right, top = enclose(self._bounds) or (1, 1, 0, 0)
        return left - 1, bottom - 1, right + 1, top + 1

    def finish(self) -> DrawnGlyph | None:
        """Return what was painted, None for a glyph beyond the limits."""
        del self._paint  # it refers to this object by its callbacks
        if self._has_failed or len(self._groups) != 1:
            return None
        group = self._groups[0]
        form = group.canvas.finish(is_isolated=group.blends)
        size = self._size + group.canvas.size
        return None if size > MAX_CONTENT else DrawnGlyph(form, size, self._uses_text_color)

    def _guard(self, name: str) -> Callable[..., None]:
        """Return the callback of an operation that ends within the limits."""
        operation = getattr(self, name)

        def call(*arguments: object) -> None:
            if self._has_failed:
                return
            self._operations += 1
            try:
                _check(self._operations, MAX_OPERATIONS)
                operation(*arguments[:-1])  # the last is the data of the caller
            except (_BeyondLimitsError, UndrawableError, IndexError, OverflowError, ValueError):
                self._has_failed = True

        return call

    # --- operations of HarfBuzz (hb-paint)

    def push_transform(self, *matrix: float) -> None:
        xx, yx, xy, yy, dx, dy = matrix
        self._matrices.append(multiply_matrices(self._matrices[-1], (xx, yx, xy, yy, dx, dy)))
        _check_numbers(self._matrices[-1])

    def pop_transform(self) -> None:
        self._matrices.pop()

    def push_clip_glyph(self, glyph: int) -> None:
        segments: Segments = []
        self._font.draw_glyph_with_pen(glyph, SegmentPen(segments, self._matrices[-1]))
        self._push_clip(segments, is_rectangle=False)

    def push_clip_rectangle(self, left: float, bottom: float, right: float, top: float) -> None:
        matrix = self._matrices[-1]
        segments: Segments = [
            (one[0], *transform_point(matrix, one[1], one[2])) if len(one) == 3 else one
            for one in rectangle(left, bottom, right - left, top - bottom, 0, 0)
        ]
        self._push_clip(segments, is_rectangle=not (matrix[1] or matrix[2]))

    def pop_clip(self) -> None:
        self._clips.pop()

    def color(self, color: Any, is_foreground: bool) -> None:
        shape = _Shape(tuple(self._clips), round(color.alpha / 255, 4))
        if not shape.alpha or not self._record(shape):
            return
        canvas = self._groups[-1].canvas
        *outer, inner = _reduce(self._clips) or [self._whole()]
        if outer:
            self._clip(canvas, outer)
        self._set_color(canvas, color, is_foreground=is_foreground)
        canvas.set_opacity(shape.alpha)
        self._draw_path(canvas, inner, b"f\n")
        if outer:
            canvas.restore()

    def linear_gradient(self, line: object, *points: float) -> None:
        # Colours are constant along p0 p2: the axis is the part of p0 p1 that is perpendicular to it.
        x0, y0, x1, y1, x2, y2 = points
        across, up = y2 - y0, x0 - x2
        length = across * across + up * up
        share = ((x1 - x0) * across + (y1 - y0) * up) / length if length else 0.0
        self._draw_gradient("linear", line, (x0, y0, x0 + share * across, y0 + share * up))

    def radial_gradient(self, line: object, *circles: float) -> None:
        self._draw_gradient("radial", line, circles)

    def sweep_gradient(self, line: object, *numbers: float) -> None:
        self._draw_gradient("sweep", line, numbers)

    def push_group(self) -> None:
        self._groups.append(self._make_group())
        _check(len(self._groups), MAX_GROUPS + 1)

    def pop_group(self, mode: Any) -> None:
        source, backdrop = self._groups.pop(), self._groups[-1]
        layers = _PORTER_DUFF.get(mode.name)
        if layers is not None:
            self._groups[-1] = self._compose((backdrop, source), layers)
        elif source.marks:
            backdrop.canvas.save()
            backdrop.canvas.set_blend(_name_blend_mode(mode.name))
            backdrop.canvas.draw_xobject(self._finish(source))
            backdrop.canvas.restore()
            backdrop.marks.append(None)
            backdrop.blends = True

    # --- marks

    def _make_group(self) -> _Group:
        return _Group(Canvas(self._box, self._budget))

    def _whole(self) -> _Clip:
        left, bottom, right, top = self._box
        return _Clip(rectangle(left, bottom, right - left, top - bottom, 0, 0), self._box, True)

    def _push_clip(self, segments: Segments, *, is_rectangle: bool) -> None:
        self._points += len(segments)
        _check(self._points, MAX_POINTS)
        bounds = find_box(segments)
        _check_numbers(bounds or ())
        self._clips.append(_Clip(segments, bounds, is_rectangle))

    def _record(self, shape: _Shape | None) -> bool:
        """Record a mark within the clips; return False where nothing of it is seen."""
        boxes = [clip.bounds for clip in self._clips]
        if None in boxes:
            return False
        self._groups[-1].marks.append(shape)
        self._bounds.append(self._find_area())
        return True

    def _find_area(self) -> Box:
        """Return the box within the clips."""
        boxes = [clip.bounds for clip in self._clips if clip.bounds] or [self._box]
        lefts, bottoms, rights, tops = zip(*boxes, strict=True)
        left, bottom = max(lefts), max(bottoms)
        return left, bottom, max(min(rights), left), max(min(tops), bottom)

    def _clip(self, canvas: Canvas, clips: Iterable[_Clip]) -> None:
        canvas.save()
        for clip in clips:
            self._draw_path(canvas, clip, b"W n\n")

    def _draw_path(self, canvas: Canvas, clip: _Clip, operator: bytes) -> None:
        if not canvas.draw_path(clip.segments, IDENTITY, operator):
            raise _BeyondLimitsError

    def _set_color(self, canvas: Canvas, color: object, *, is_foreground: bool) -> None:
        if is_foreground and self._color.space is ColorSpace.CMYK:
            self._uses_text_color = True
            canvas.set_parameter("fill", format_numbers(self._color.components) + b" k\n")
        else:
            canvas.set_color(self._find_rgb(color, is_foreground=is_foreground), is_stroke=False)

    def _find_rgb(self, color: Any, *, is_foreground: bool) -> RGB:
        if not is_foreground:
            return color.red / 255, color.green / 255, color.blue / 255
        self._uses_text_color = True
        return to_rgb(self._color)

    def _draw_gradient(self, kind: str, line: Any, coordinates: tuple[float, ...]) -> None:
        matrix = self._matrices[-1]
        _check(len(line.color_stops), MAX_STOPS)
        _check_numbers((*coordinates, *(stop.offset for stop in line.color_stops)))
        inverse = invert(matrix)
        if not line.color_stops or inverse is None or not self._record(None):
            return
        stops = [
            GradientStop(
                stop.offset,
                self._find_rgb(stop.color, is_foreground=stop.is_foreground),
                round(stop.color.alpha / 255, 4),
            )
            for stop in line.color_stops
        ]
        paint = make_gradient(
            kind,
            coordinates,
            stops,
            extend=line.extend.name.lower(),
            area=transform_box(inverse, self._find_area()),
            matrix=matrix,
        )
        if paint is None:
            return
        canvas, mask = self._groups[-1].canvas, paint.mask
        self._clip(canvas, _reduce(self._clips))
        if mask is None:
            canvas.set_opacity(paint.opacity)
        else:
            form = canvas.draw_group(lambda inner: self._fill(inner, mask))
            canvas.set_mask(form, is_luminosity=True)
        self._fill(canvas, paint.shading)
        canvas.restore()

    def _fill(self, canvas: Canvas, shading: AnyShading) -> None:
        """Fill the box with a shading, or with a colour or grey."""
        if not isinstance(shading, Shading):
            canvas.set_color((shading[0], shading[len(shading) // 2], shading[-1]), is_stroke=False)
            self._draw_path(canvas, self._whole(), b"f\n")
            return
        self._size += shading.size
        _check(self._size, MAX_CONTENT)
        canvas.draw_shading(shading)

    # --- compositing

    def _finish(self, group: _Group) -> FormXObject:
        if group.form is None:
            group.form = group.canvas.finish(is_group=True, is_isolated=True)
            self._size += group.canvas.size + 200
            _check(self._size, MAX_CONTENT)
        return group.form

    def _compose(self, groups: tuple[_Group, _Group], layers: Iterable[_CompositeLayer]) -> _Group:
        """Return the group of a mode of Porter and Duff."""
        seen = [
            (groups[at], groups[1 - at], mask if groups[1 - at].marks else "")
            for at, mask in layers
            if groups[at].marks and (mask != "in" or groups[1 - at].marks)
        ]
        if len(seen) == 1 and not seen[0][2]:
            return seen[0][0]
        made = self._make_group()
        for group, other, mask in seen:
            made.canvas.save()
            if mask:
                self._mask(made.canvas, other, is_inverted=mask == "out")
            made.canvas.draw_xobject(self._finish(group))
            made.canvas.restore()
            made.marks.append(None)
        return made

    def _mask(self, canvas: Canvas, group: _Group, *, is_inverted: bool) -> None:
        """Show what follows where a group is painted, or where it is not."""
        shape = group.marks[0] if len(group.marks) == 1 and not is_inverted else None
        if shape is not None and shape.alpha == 1:  # it clips, which is exact and needs no mask
            for clip in _reduce(shape.clips):
                self._draw_path(canvas, clip, b"W n\n")
        elif shape is not None and all(map(self._covers, shape.clips)):
            canvas.set_opacity(shape.alpha)
        elif is_inverted:
            canvas.set_mask(
                canvas.draw_group(partial(self._draw_inverse, group)), is_luminosity=True
            )
        else:
            canvas.set_mask(self._finish(group), is_luminosity=False)

    def _draw_inverse(self, group: _Group, canvas: Canvas) -> None:
        """Draw white, and black where a group is painted."""
        canvas.set_color((1.0, 1.0, 1.0), is_stroke=False)
        self._draw_path(canvas, self._whole(), b"f\n")
        canvas.save()
        canvas.set_mask(self._finish(group), is_luminosity=False)
        canvas.set_color((0.0, 0.0, 0.0), is_stroke=False)
        self._draw_path(canvas, self._whole(), b"f\n")
        canvas.restore()

    def _covers(self, clip: _Clip) -> bool:
        left, bottom, right, top = self._box
        # The box of a glyph is a unit larger than what it paints.
        inner = (left + 1, bottom + 1, right - 1, top - 1)
        return clip.is_rectangle and _contains(clip.bounds, inner)


# Of each mode of Porter and Duff the layers from below: the backdrop (0) or the source (1), seen
# everywhere, or `in` or `out` of the other one.
_CompositeLayer = tuple[int, str]
_PORTER_DUFF: Final[dict[str, tuple[_CompositeLayer, ...]]] = {
    "CLEAR": (),
    "SRC": ((1, ""),),
    "DEST": ((0, ""),),
    "SRC_OVER": ((0, ""), (1, "")),
    "DEST_OVER": ((1, ""), (0, "")),
    "SRC_IN": ((1, "in"),),
    "DEST_IN": ((0, "in"),),
    "SRC_OUT": ((1, "out"),),
    "DEST_OUT": ((0, "out"),),
    "SRC_ATOP": ((0, ""), (1, "in")),
    "DEST_ATOP": ((1, ""), (0, "in")),
    "XOR": ((0, "out"), (1, "out")),
}


def _name_blend_mode(mode: str) -> bytes:
    """Return the blend mode of PDF for one of COLR, such as ColorDodge for COLOR_DODGE."""
    name = "SCREEN" if mode == "PLUS" else mode.removeprefix("HSL_")
    return name.title().replace("_", "").encode()


def _reduce(clips: Sequence[_Clip]) -> list[_Clip]:
    """Return clips without the boxes that contain all of another clip."""
    outlines = [clip.bounds for clip in clips if not clip.is_rectangle and clip.bounds]
    return [
        clip
        for clip in clips
        if not (clip.is_rectangle and any(_contains(clip.bounds, box) for box in outlines))
    ]


def _contains(outer: Box | None, inner: Box) -> bool:
    return outer is not None and (
        outer[0] <= inner[0]
        and outer[1] <= inner[1]
        and outer[2] >= inner[2]
        and outer[3] >= inner[3]
    )


def _check(count: int, limit: int) -> None:
    if count > limit:
        raise _BeyondLimitsError


def _check_numbers(numbers: Iterable[float]) -> None:
    for number in numbers:
        if not isfinite(number) or abs(number) > MAX_COORDINATE:
            raise _BeyondLimitsError
