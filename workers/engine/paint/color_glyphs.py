"""Colour glyphs as form XObjects: layers, gradients, and compositing (OpenType, COLR).

PDF has the separable and non-separable blend modes of COLR. The modes of Porter and Duff are made of
soft masks: exact where shapes are opaque or absent, as at all but their edges. PLUS is drawn as Screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from workers.engine.layout.fonts import Cluster, Face
from workers.engine.layout.fonts.color_glyphs import (
    Box,
    Clip,
    Gradient,
    Group,
    Layer,
    Matrix,
    Segment,
    Solid,
    is_color_glyph,
    read_color_glyph,
)
from workers.engine.layout.svg.canvas import format_number, format_numbers
from workers.engine.layout.svg.drawing import ExtGState, FormXObject, MeshShading, Shading
from workers.engine.paint.color_gradients import Components, make_shading
from workers.engine.paint.composites import Component
from workers.engine.units import BLACK, Color, ColorSpace

MAX_CONTENT: Final = 500_000  # bytes of the streams of a glyph, before compression
_MAX_CACHED_FORMS: Final = 64  # of a face
_MAX_CACHED_PARTS: Final = 16  # of a face; they are larger than streams
_TEXT_PRESENTATION: Final = "\ufe0e"
_RGB = tuple[float, float, float]
_FLAT: Final = 1e-9  # the determinant of a matrix that maps an area to a line


@dataclass(frozen=True, slots=True)
class _Masked:
    """Parts seen where others are painted, or where they are not."""

    parts: tuple[_Part, ...]
    mask: tuple[_Part, ...]
    is_inverted: bool


@dataclass(frozen=True, slots=True)
class _Blended:
    """Parts composited as a whole with those before them, by a blend mode of PDF."""

    parts: tuple[_Part, ...]
    mode: bytes


_Part = Layer | _Masked | _Blended
_Parts = tuple[_Part, ...]


def is_drawn_in_colors(face: Face, cluster: Cluster) -> bool:
    """Return whether a cluster has a colour glyph, and is not asked for as text (UTS #51, 4)."""
    return _TEXT_PRESENTATION not in cluster.text and any(
        is_color_glyph(face, glyph) for glyph, *_ in cluster.glyphs
    )


@dataclass(frozen=True, slots=True, eq=False)
class DrawnGlyph:
    """The glyphs of a cluster as a form in font units; `size` is that of its streams in bytes."""

    form: FormXObject
    size: int


def draw_color_glyphs(face: Face, cluster: Cluster, color: Color | None) -> DrawnGlyph | None:
    """Return the glyphs of a cluster in their colours; the result is cached.

    `color` is that of the text, None for glyphs without it. Returns None beyond the limits.
    """
    return face.with_cache(_draw, max_entries=_MAX_CACHED_FORMS)(cluster.glyphs, color)


def uses_text_color(face: Face, cluster: Cluster) -> bool:
    """Return whether the glyphs of a cluster have parts in the colour of the text."""
    parts = face.with_cache(_read_parts, max_entries=_MAX_CACHED_PARTS)(cluster.glyphs)
    return parts is not None and _has_text_color(parts)


def _read_parts(face: Face, glyphs: Sequence[Component]) -> tuple[Layer | Group, ...] | None:
    """Return the parts of glyphs with their offsets, None beyond the limits."""
    parts: list[Layer | Group] = []
    for glyph, x, y in glyphs:
        read = read_color_glyph(face, glyph)
        if read is None:
            return None
        parts += (_move(part, x, y) for part in read.parts) if x or y else read.parts
    return tuple(parts)


def _has_text_color(parts: Iterable[Layer | Group]) -> bool:
    for part in parts:
        if isinstance(part, Group):
            if _has_text_color(part.parts):
                return True
        elif isinstance(part.paint, Solid):
            if part.paint.color.rgb is None:
                return True
        elif any(stop.color.rgb is None for stop in part.paint.stops):
            return True
    return False


def _draw(face: Face, glyphs: Sequence[Component], color: Color | None) -> DrawnGlyph | None:
    read = face.with_cache(_read_parts, max_entries=_MAX_CACHED_PARTS)(glyphs)
    if read is None:
        return None
    parts = tuple(_resolve(read))
    budget = _Budget(MAX_CONTENT)
    pen = _Pen(_find_bounds(parts, face), color or BLACK, budget=budget)
    try:
        form = pen.draw(parts, is_isolated=any(map(_needs_group, parts)))
    except _TooLargeError:
        return None
    return DrawnGlyph(form, budget.spent)


# --- compositing ------------------------------------------------------------------------------


def _resolve(parts: Iterable[Layer | Group]) -> list[_Part]:
    """Return parts whose modes are those of PDF, or masks."""
    drawn: list[_Part] = []
    for part in parts:
        if isinstance(part, Layer):
            drawn.append(part)
            continue
        source = _isolate(tuple(_resolve(part.parts)))
        composite = _PORTER_DUFF.get(part.mode)
        if composite is not None:
            drawn = list(composite(_isolate(tuple(drawn)), source))
        elif source:
            drawn.append(_Blended(source, _BLEND_MODES[part.mode]))
    return drawn


def _isolate(parts: _Parts) -> _Parts:
    """Return parts that blend with each other only."""
    return (_Blended(parts, b"Normal"),) if any(map(_needs_group, parts)) else parts


def _needs_group(part: _Part) -> bool:
    return isinstance(part, _Blended) and part.mode != b"Normal"


def _mask(parts: _Parts, mask: _Parts, *, is_inverted: bool = False) -> _Parts:
    if not parts or not mask:
        return parts if is_inverted else ()
    [first, *others] = mask
    is_plain = all(isinstance(part, Layer) for part in parts)
    if (
        not (others or is_inverted)
        and is_plain
        and isinstance(first, Layer)
        and isinstance(first.paint, Solid)
        and first.paint.color.alpha == 1
    ):  # an opaque shape clips, which is exact and needs no mask
        return tuple(
            part._replace(clips=(*first.clips, *part.clips))
            for part in parts
            if isinstance(part, Layer)
        )
    return (_Masked(parts, mask, is_inverted),)


def _xor(backdrop: _Parts, source: _Parts) -> _Parts:
    outside = _mask(source, backdrop, is_inverted=True)
    return (*_mask(backdrop, source, is_inverted=True), *outside)


_PORTER_DUFF: Final[dict[str, Callable[[_Parts, _Parts], _Parts]]] = {
    "CLEAR": lambda _backdrop, _source: (),
    "SRC": lambda _backdrop, source: source,
    "DEST": lambda backdrop, _source: backdrop,
    "SRC_OVER": lambda backdrop, source: (*backdrop, *source),
    "DEST_OVER": lambda backdrop, source: (*source, *backdrop),
    "SRC_IN": lambda backdrop, source: _mask(source, backdrop),
    "DEST_IN": _mask,
    "SRC_OUT": lambda backdrop, source: _mask(source, backdrop, is_inverted=True),
    "DEST_OUT": lambda backdrop, source: _mask(backdrop, source, is_inverted=True),
    "SRC_ATOP": lambda backdrop, source: (*backdrop, *_mask(source, backdrop)),
    "DEST_ATOP": lambda backdrop, source: (*source, *_mask(backdrop, source)),
    "XOR": _xor,
}
_BLEND_MODES: Final = {
    "PLUS": b"Screen",
    "SCREEN": b"Screen",
    "OVERLAY": b"Overlay",
    "DARKEN": b"Darken",
    "LIGHTEN": b"Lighten",
    "COLOR_DODGE": b"ColorDodge",
    "COLOR_BURN": b"ColorBurn",
    "HARD_LIGHT": b"HardLight",
    "SOFT_LIGHT": b"SoftLight",
    "DIFFERENCE": b"Difference",
    "EXCLUSION": b"Exclusion",
    "MULTIPLY": b"Multiply",
    "HSL_HUE": b"Hue",
    "HSL_SATURATION": b"Saturation",
    "HSL_COLOR": b"Color",
    "HSL_LUMINOSITY": b"Luminosity",
}


# --- places -----------------------------------------------------------------------------------


def _move(part: Layer | Group, x: float, y: float) -> Layer | Group:
    """Return a part moved by the offset of its glyph."""
    if isinstance(part, Group):
        return part._replace(parts=tuple(_move(inner, x, y) for inner in part.parts))
    paint = part.paint
    if isinstance(paint, Gradient):
        a, b, c, d, e, f = paint.matrix
        paint = paint._replace(matrix=(a, b, c, d, e + x, f + y))
    return Layer(tuple(_move_clip(clip, x, y) for clip in part.clips), paint)


def _move_clip(clip: Clip, x: float, y: float) -> Clip:
    def move(segment: Segment) -> Segment:
        return tuple(value + (y if at % 2 else x) for at, value in enumerate(segment))

    subpaths = tuple(tuple(map(move, subpath)) for subpath in clip.subpaths)
    left, bottom, right, top = clip.bounds or (0.0, 0.0, 0.0, 0.0)
    return clip._replace(subpaths=subpaths, bounds=(left + x, bottom + y, right + x, top + y))


def _find_bounds(parts: Iterable[_Part], face: Face) -> Box:
    """Return a box that contains all parts; one without clips is bounded by some em."""
    boxes = list(_list_bounds(parts, face.units))
    if not boxes:
        return (0.0, 0.0, 1.0, 1.0)
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return min(lefts) - 1, min(bottoms) - 1, max(rights) + 1, max(tops) + 1


def _list_bounds(parts: Iterable[_Part], units: int) -> Iterable[Box]:
    for part in parts:
        if isinstance(part, Layer):
            yield _intersect(part.clips, (-units, -units, 2 * units, 2 * units))
        else:
            yield from _list_bounds(part.parts, units)


def _intersect(clips: Iterable[Clip], otherwise: Box) -> Box:
    boxes = [clip.bounds for clip in clips if clip.bounds is not None]
    if not boxes:
        return otherwise
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    left, bottom = max(lefts), max(bottoms)
    return left, bottom, max(min(rights), left), max(min(tops), bottom)


# --- operators --------------------------------------------------------------------------------


class _TooLargeError(Exception):
    """The content is beyond the limit."""


class _Budget:
    """The bytes that the streams of a glyph may have."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.spent = 0

    def spend(self, count: int) -> None:
        self.spent += count
        if self.spent > self._limit:
            raise _TooLargeError


@dataclass(slots=True)
class _Resources:
    """The content and the named resources of a form under construction."""

    out: list[bytes] = field(default_factory=list)
    states: dict[bytes, ExtGState] = field(default_factory=dict)
    shadings: dict[bytes, Shading | MeshShading] = field(default_factory=dict)
    forms: dict[bytes, FormXObject] = field(default_factory=dict)
    opacities: dict[float, bytes] = field(default_factory=dict)


class _Pen:
    """Writes the parts of a glyph as forms.

    With `shade` all colours are that grey, whose luminosity makes a soft mask: white where the parts
    are seen, or black on white where the mask is inverted.
    """

    def __init__(
        self, box: Box, color: Color, shade: float | None = None, budget: _Budget | None = None
    ) -> None:
        self._box = box
        self._color = color
        self._shade = shade
        self._budget = budget or _Budget(MAX_CONTENT)

    def draw(
        self, parts: _Parts, *, is_group: bool = False, is_isolated: bool = False
    ) -> FormXObject:
        """Return parts as a form; an isolated group blends with nothing outside."""
        made = _Resources()
        if self._shade == 0:
            made.out.append(b"1 g %b re f\n" % _rectangle(self._box))
        for part in parts:
            self._write(made, part)
        content = b"".join(made.out)
        self._budget.spend(len(content) + 200)
        return FormXObject(
            content,
            self._box,
            ext_gstates=made.states,
            shadings=made.shadings,
            xobjects={**made.forms},
            is_group=is_group or is_isolated,
            is_isolated=is_isolated,
        )

    def _write(self, made: _Resources, part: _Part) -> None:
        match part:
            case Layer(clips, Solid(color)):
                self._write_solid(made, clips, self._find_color(color.rgb), color.alpha)
            case Layer(clips, Gradient() as gradient):
                self._write_gradient(made, clips, gradient)
            case _Blended(parts, mode):
                self._write_blended(made, parts, mode)
            case _Masked(parts, mask, is_inverted):
                self._write_masked(made, parts, mask, is_inverted=is_inverted)

    def _write_solid(
        self, made: _Resources, clips: Sequence[Clip], color: bytes, alpha: float
    ) -> None:
        if not alpha:
            return
        *outer, inner = clips or (None,)
        state = b"" if alpha == 1 else b"%b gs " % _name_opacity(made, alpha)
        shape = _rectangle(self._box) + b" re " if inner is None else _write_path(inner)
        marks = b"%b%b%b%bf\n" % (b"".join(map(_write_clip, outer)), state, color, shape)
        made.out.append(b"q %bQ\n" % marks if outer or state else marks)
        self._budget.spend(len(marks))

    def _write_gradient(self, made: _Resources, clips: Sequence[Clip], gradient: Gradient) -> None:
        area = _map_back(_intersect(clips, self._box), gradient.matrix)
        if area is None:
            return
        alphas = [stop.color.alpha for stop in gradient.stops]
        colors = [self._find_components(stop.color.rgb) for stop in gradient.stops]
        shading = make_shading(gradient, colors, area)
        if shading is None:
            return
        state = b""
        if len(set(alphas)) > 1:
            state = self._name_mask(made, self._draw_alphas(gradient, alphas, area))
        elif alphas[0] != 1:
            state = b"%b gs " % _name_opacity(made, alphas[0])
        if isinstance(shading, tuple):
            fill = b"%b rg %b re f" % (format_numbers(shading), _rectangle(self._box))
        else:
            fill = b"%b cm %b" % (
                format_numbers(gradient.matrix),
                self._name_shading(made, shading),
            )
        marks = b"q %b%b%b Q\n" % (b"".join(map(_write_clip, clips)), state, fill)
        made.out.append(marks)
        self._budget.spend(len(marks))

    def _draw_alphas(self, gradient: Gradient, alphas: Sequence[float], area: Box) -> FormXObject:
        """Return the opacities of a gradient as a grey picture."""
        made = _Resources()
        shading = make_shading(gradient, [(alpha,) for alpha in alphas], area)
        if isinstance(shading, tuple):
            made.out.append(b"%b g %b re f" % (format_numbers(shading), _rectangle(self._box)))
        elif shading is not None:
            matrix = format_numbers(gradient.matrix)
            made.out.append(b"%b cm %b" % (matrix, self._name_shading(made, shading)))
        content = b"".join(made.out)
        self._budget.spend(len(content) + 200)
        return FormXObject(content, self._box, shadings=made.shadings, is_group=True)

    def _write_blended(self, made: _Resources, parts: _Parts, mode: bytes) -> None:
        form = self.draw(parts, is_isolated=True)
        if mode == b"Normal" or self._shade is not None:  # blending changes no shape
            made.out.append(b"%b Do\n" % _name_form(made, form))
            return
        name = b"/B" + mode
        made.states[name] = ExtGState(blend=mode)
        made.out.append(b"q %b gs %b Do Q\n" % (name, _name_form(made, form)))

    def _write_masked(
        self, made: _Resources, parts: _Parts, mask: _Parts, *, is_inverted: bool
    ) -> None:
        form = self.draw(parts, is_group=True)
        alpha = None if is_inverted else _find_opacity(mask, self._box)
        if alpha is not None:  # of a colour that covers all
            state = b"%b gs " % _name_opacity(made, alpha)
        else:
            shade = _Pen(self._box, self._color, 0.0 if is_inverted else 1.0, self._budget)
            state = self._name_mask(made, shade.draw(mask, is_group=True))
        made.out.append(b"q %b%b Do Q\n" % (state, _name_form(made, form)))

    def _name_shading(self, made: _Resources, shading: Shading | MeshShading) -> bytes:
        name = b"/S%d" % (len(made.shadings) + 1)
        made.shadings[name] = shading
        if isinstance(shading, MeshShading):
            self._budget.spend(len(shading.data))
        else:
            self._budget.spend(60 * len(shading.stops))
        return name + b" sh"

    def _name_mask(self, made: _Resources, mask: FormXObject) -> bytes:
        name = b"/M%d" % (len(made.states) + 1)
        made.states[name] = ExtGState(mask=mask)
        return name + b" gs "

    def _find_color(self, rgb: _RGB | None) -> bytes:
        if self._shade is None and rgb is None and self._color.space is ColorSpace.CMYK:
            return format_numbers(self._color.components) + b" k "
        return format_numbers(self._find_components(rgb)) + b" rg "

    def _find_components(self, rgb: _RGB | None) -> Components:
        if self._shade is not None:
            return (self._shade, self._shade, self._shade)
        return _to_rgb(self._color) if rgb is None else rgb


def _name_opacity(made: _Resources, alpha: float) -> bytes:
    name = made.opacities.get(alpha)
    if name is None:
        name = made.opacities[alpha] = b"/O%d" % (len(made.opacities) + 1)
        made.states[name] = ExtGState(alpha, alpha)
    return name


def _name_form(made: _Resources, form: FormXObject) -> bytes:
    name = b"/G%d" % (len(made.forms) + 1)
    made.forms[name] = form
    return name


def _find_opacity(mask: _Parts, box: Box) -> float | None:
    """Return the opacity of a mask that is one colour everywhere."""
    match mask:
        case (Layer(clips, Solid(color)),) if all(_covers(clip, box) for clip in clips):
            return color.alpha
    return None


def _covers(clip: Clip, box: Box) -> bool:
    if not clip.is_rectangle or clip.bounds is None:
        return False
    left, bottom, right, top = clip.bounds
    # The box of a glyph is a unit larger than what it paints.
    return left <= box[0] + 1 and bottom <= box[1] + 1 and right >= box[2] - 1 and top >= box[3] - 1


def _to_rgb(color: Color) -> Components:
    if color.space is ColorSpace.CMYK:
        *inks, black = color.components
        return tuple((1 - ink) * (1 - black) for ink in inks)
    return color.components


def _map_back(box: Box, matrix: Matrix) -> Box | None:
    """Return a box in the coordinates before a matrix, None where that has no inverse."""
    a, b, c, d, e, f = matrix
    determinant = a * d - b * c
    if abs(determinant) < _FLAT:
        return None
    left, bottom, right, top = box
    xs, ys = [], []
    for x, y in ((left, bottom), (right, bottom), (right, top), (left, top)):
        xs.append((d * (x - e) - c * (y - f)) / determinant)
        ys.append((a * (y - f) - b * (x - e)) / determinant)
    return min(xs), min(ys), max(xs), max(ys)


def _rectangle(box: Box) -> bytes:
    left, bottom, right, top = box
    return format_numbers((left, bottom, right - left, top - bottom))


def _write_clip(clip: Clip) -> bytes:
    return _write_path(clip) + b"W n "


def _write_path(clip: Clip) -> bytes:
    """Return the operators of an outline, rounded to hundredths of a font unit."""
    out: list[bytes] = []
    for subpath in clip.subpaths:
        operator = b" m "
        for segment in subpath:
            if not segment:
                out.append(b"h ")
                continue
            out.append(b" ".join([format_number(round(value, 2)) for value in segment]))
            out.append(operator if len(segment) == 2 else b" c ")
            operator = b" l "
    return b"".join(out)
