"""Content streams of form XObjects, with the resources they name, as paint/embedding.py writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import accumulate
from math import hypot
from typing import Final, NamedTuple

from workers.engine.fonts import Cluster, Face
from workers.engine.prepared_images import UPRIGHT, Matrix, PreparedImage
from workers.engine.svg.paths import Segments
from workers.engine.svg.reader import DrawingBudget
from workers.engine.svg.values import RGB


@dataclass(frozen=True, slots=True, eq=False)
class Shading:
    """A shading of type 2 or 3 (ISO 32000-1 8.7.4.5).

    `coordinates` are those of the shading dictionary. `stops` are ascending offsets from 0 to 1
    with colour components; `matrix` maps to form space.
    """

    kind: int
    coordinates: tuple[float, ...]
    stops: tuple[tuple[float, tuple[float, ...]], ...]
    matrix: Matrix


@dataclass(frozen=True, slots=True, eq=False)
class MeshShading:
    """A shading of type 4 (ISO 32000-1 8.7.4.5.5), of the gradients that PDF has no type for.

    `data` are vertices with flags of 8 bits, coordinates of 16 and components of 8; `bounds` are
    those of the coordinates: left, right, bottom, top.
    """

    data: bytes
    bounds: tuple[float, float, float, float]
    components: int
    matrix: Matrix  # maps to form space


@dataclass(frozen=True, slots=True, eq=False)
class TilingPattern:
    """A tiling pattern (ISO 32000-1 8.7.3): a form repeated every `width` and `height` of its units."""

    form: FormXObject
    width: float
    height: float
    matrix: Matrix


@dataclass(frozen=True, slots=True, eq=False)
class ExtGState:
    """Graphics state parameters (ISO 32000-1 8.4.5): opacity, a soft mask or a blend mode."""

    opacity: float | None = None  # of fills and strokes
    mask: FormXObject | None = None
    is_luminosity: bool = True
    blend: bytes | None = None  # without the slash


class ShapedText(NamedTuple):
    """Text as clusters of glyphs in visual order; `matrix` maps from its baseline.

    A drawing is prepared once for many documents, but codes of clusters belong to one document, so
    the operators are written with the document. `at` is their offset in the content, inside a text
    object.
    """

    at: int
    face: Face
    size: float
    matrix: Matrix
    clusters: tuple[Cluster, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FormXObject:
    """A form XObject: content stream, bounding box and resources; `is_group` for a transparency group.

    An isolated group blends with nothing outside (ISO 32000-1 11.4.5).
    """

    content: bytes
    box: tuple[float, float, float, float]
    ext_gstates: dict[bytes, ExtGState] = field(default_factory=dict)
    patterns: dict[bytes, Shading | TilingPattern] = field(default_factory=dict)
    shadings: dict[bytes, Shading | MeshShading] = field(default_factory=dict)
    xobjects: dict[bytes, FormXObject | PreparedImage] = field(default_factory=dict)
    # By resource name: the face, and the texts set in it.
    fonts: dict[bytes, tuple[Face, list[str]]] = field(default_factory=dict)
    shaped_texts: tuple[ShapedText, ...] = ()
    is_group: bool = False
    depth: int = 1  # nesting of graphics states, resources included
    is_isolated: bool = False

    @property
    def is_blended(self) -> bool:
        """Whether anything in it is blended with what is below (ISO 32000-1, 11.3)."""
        return any(
            state.mask is not None or state.blend is not None or (state.opacity or 1) < 1
            for state in self.ext_gstates.values()
        ) or any(
            each.is_blended if isinstance(each, FormXObject) else each.mask is not None
            for each in self.xobjects.values()
        )


@dataclass(frozen=True, slots=True, eq=False)
class VectorImage:
    """An SVG ready to be placed, like a prepared image.

    `omitted` names features that are not drawn, `missing` the characters without a glyph in any
    font.
    """

    key: str
    width: float
    height: float
    form: FormXObject
    memory_bytes: int  # approximate, with streams and images
    omitted: tuple[str, ...] = ()
    missing: str = ""
    has_cmyk: bool = False
    matrix: Matrix = UPRIGHT

    @property
    def width_points(self) -> float:
        """The width in points; a CSS px is 0.75."""
        return self.width * 0.75

    @property
    def height_points(self) -> float:
        """The height in points."""
        return self.height * 0.75


_MAX_COORDINATE: Final = 20_000_000.0  # units, some ten thousand times the drawing
_BYTES_PER_FORM: Final = 1_000  # beside its content, approximately
_BYTES_PER_CLUSTER: Final = 100  # most are shared with other text
_FORMATS: Final = {
    "M": b"%.10g %.10g m\n",
    "L": b"%.10g %.10g l\n",
    "C": b"%.10g %.10g %.10g %.10g %.10g %.10g c\n",
    "Z": b"h\n",
}


class Canvas:
    """The content stream of a form XObject under construction."""

    def __init__(self, box: tuple[float, float, float, float], budget: DrawingBudget) -> None:
        self.box = box
        self._budget = budget
        self._out: list[bytes] = []
        self._shaped_texts: list[ShapedText] = []  # positions are still indexes into `_out`
        self._ext_gstates: dict[tuple[object, ...], tuple[bytes, ExtGState]] = {}
        self._patterns: dict[bytes, Shading | TilingPattern] = {}
        self._shadings: dict[bytes, Shading | MeshShading] = {}
        self._xobjects: dict[bytes, FormXObject | PreparedImage] = {}
        self._fonts: dict[Face, tuple[bytes, list[str]]] = {}
        self._gstates: list[dict[str, bytes]] = [{}]  # parameters by open q
        self._max_depth = 1
        self._mask_depths: list[int] = []  # nesting depth at which each mask was set

    def finish(self, *, is_group: bool, is_isolated: bool = False) -> FormXObject:
        """Return the form XObject; an isolated group blends with nothing outside."""
        ends = list(accumulate(map(len, self._out), initial=0)) if self._shaped_texts else []
        content = b"".join(self._out)
        clusters = sum(len(text.clusters) for text in self._shaped_texts)
        self._budget.memory_bytes += len(content) + _BYTES_PER_FORM + _BYTES_PER_CLUSTER * clusters
        return FormXObject(
            content,
            self.box,
            dict(self._ext_gstates.values()),
            self._patterns,
            self._shadings,
            self._xobjects,
            {name: (face, texts) for face, (name, texts) in self._fonts.items()},
            tuple(text._replace(at=ends[text.at]) for text in self._shaped_texts),
            is_group=is_group or is_isolated,
            depth=self._max_depth,
            is_isolated=is_isolated,
        )

    @property
    def is_empty(self) -> bool:
        """Whether nothing was written."""
        return not self._out

    @property
    def is_masked(self) -> bool:
        """Whether a soft mask applies."""
        return bool(self._mask_depths)

    # --- state

    def write(self, operators: bytes) -> None:
        """Write operators that set no colour, line or state."""
        self._out.append(operators)

    def save(self) -> None:
        """Save the graphics state (q)."""
        self._out.append(b"q\n")
        self._gstates.append(dict(self._gstates[-1]))
        self._record_depth(0)

    def restore(self) -> None:
        """Restore the graphics state (Q)."""
        self._out.append(b"Q\n")
        self._gstates.pop()
        while self._mask_depths and self._mask_depths[-1] > len(self._gstates):
            self._mask_depths.pop()

    def set_parameter(self, name: str, operators: bytes) -> None:
        """Set a parameter of the graphics state, unless it has that value already."""
        if self._gstates[-1].get(name) != operators:
            self._gstates[-1][name] = operators
            self._out.append(operators)

    def set_color(self, color: RGB, *, is_stroke: bool) -> None:
        """Set the fill or stroke colour."""
        if color[0] == color[1] == color[2]:
            operators = b"%b %b\n" % (format_number(color[0]), b"G" if is_stroke else b"g")
        else:
            operators = b"%b %b\n" % (
                b" ".join(map(format_number, color)),
                b"RG" if is_stroke else b"rg",
            )
        self.set_parameter("stroke" if is_stroke else "fill", operators)

    def set_pattern(self, pattern: Shading | TilingPattern, *, is_stroke: bool) -> None:
        """Set a pattern as fill or stroke colour."""
        name = b"/P%d" % (len(self._patterns) + 1)
        self._patterns[name] = pattern
        self._record_depth(pattern.form.depth if isinstance(pattern, TilingPattern) else 0)
        template = b"/Pattern CS %b SCN\n" if is_stroke else b"/Pattern cs %b scn\n"
        self.set_parameter("stroke" if is_stroke else "fill", template % name)

    def set_opacity(self, opacity: float) -> None:
        """Set the opacity of fills and strokes, from 0 to 1."""
        opacity = round(opacity, 4)
        if opacity == 1.0 and "alpha" not in self._gstates[-1]:
            return
        name = self._name_ext_gstate((opacity,), ExtGState(opacity=opacity))
        self.set_parameter("alpha", b"%b gs\n" % name)

    def set_mask(self, mask: FormXObject, *, is_luminosity: bool) -> None:
        """Set a soft mask until the graphics state is restored (ISO 32000-1 11.6.5.2)."""
        self._record_depth(mask.depth)
        self._mask_depths.append(len(self._gstates))
        state = ExtGState(mask=mask, is_luminosity=is_luminosity)
        self._out.append(b"%b gs\n" % self._name_ext_gstate((mask, is_luminosity), state))

    def set_blend(self, mode: bytes) -> None:
        """Set a blend mode until the graphics state is restored (ISO 32000-1 11.3.5)."""
        self._out.append(b"%b gs\n" % self._name_ext_gstate((mode,), ExtGState(blend=mode)))

    def _name_ext_gstate(self, key: tuple[object, ...], state: ExtGState) -> bytes:
        known = self._ext_gstates.get(key)
        if known is None:
            known = self._ext_gstates[key] = (b"/S%d" % (len(self._ext_gstates) + 1), state)
        return known[0]

    def _record_depth(self, inner: int) -> None:
        """Record the nesting depth of graphics states; `inner` of them are in the content drawn here."""
        self._max_depth = max(self._max_depth, len(self._gstates) + inner)

    # --- marks

    def draw_path(self, segments: Segments, matrix: Matrix, operator: bytes) -> bool:
        """Write a path and its painting operator; return False for an empty path, or one outside the
        coordinate limits.
        """
        self._budget.count_segments(len(segments))
        a, b, c, d, e, f = matrix
        points: list[float] = []
        for segment in segments:
            match segment:
                case (_, x, y):
                    points += (a * x + c * y + e, b * x + d * y + f)
                case (_, x1, y1, x2, y2, x, y):
                    points += (
                        a * x1 + c * y1 + e,
                        b * x1 + d * y1 + f,
                        a * x2 + c * y2 + e,
                        b * x2 + d * y2 + f,
                        a * x + c * y + e,
                        b * x + d * y + f,
                    )
        if not points or not (max(points) < _MAX_COORDINATE and min(points) > -_MAX_COORDINATE):
            return False
        template = b"".join([_FORMATS[segment[0]] for segment in segments])
        path = template % tuple([round(value * 1000) / 1000 for value in points])
        self._out.append(path + operator)
        return True

    def draw_xobject(
        self, picture: FormXObject | PreparedImage, matrix: Matrix | None = None
    ) -> None:
        """Draw a form, or an image whose unit square is placed by `matrix`."""
        name = b"/X%d" % (len(self._xobjects) + 1)
        self._xobjects[name] = picture
        self._record_depth(picture.depth if isinstance(picture, FormXObject) else 1)
        if matrix is None:
            self._out.append(name + b" Do\n")
        else:
            self._out.append(b"q %b cm %b Do Q\n" % (format_numbers(matrix), name))

    def draw_shading(self, gradient: Shading | MeshShading) -> None:
        """Fill the whole form with a shading."""
        name = b"/H%d" % (len(self._shadings) + 1)
        self._shadings[name] = gradient
        self._out.append(b"q %b cm %b sh Q\n" % (format_numbers(gradient.matrix), name))

    def use_font(self, face: Face) -> tuple[bytes, list[str]]:
        """Return the resource name of a face, and the list that collects the texts set in it."""
        if face not in self._fonts:
            self._fonts[face] = (b"/T%d" % (len(self._fonts) + 1), [])
        return self._fonts[face]

    def defer_shaped_text(
        self, face: Face, size: float, matrix: Matrix, clusters: tuple[Cluster, ...]
    ) -> None:
        """Reserve a place inside a text object for shaped text, which is encoded for each document."""
        self._shaped_texts.append(ShapedText(len(self._out), face, size, matrix, clusters))

    def draw_group(self, draw: Callable[[Canvas], None]) -> FormXObject:
        """Draw into a form XObject of the same coordinate system and return it."""
        inner = Canvas(self.box, self._budget)
        draw(inner)
        return inner.finish(is_group=True)


def format_number(value: float) -> bytes:
    """Format a number without an exponent, to six decimals."""
    if abs(value) >= 1000:
        return b"%.2f" % value
    return (
        b"%.10g" % (round(value, 6) + 0.0)
        if abs(value) >= 0.0001 or not value
        else b"%.12f" % value
    )


def format_numbers(values: Iterable[float]) -> bytes:
    """Format numbers separated by spaces."""
    return b" ".join(map(format_number, values))


def uniform_scale(matrix: Matrix) -> float | None:
    """Return the scale factor of a matrix, None where it is not the same in all directions."""
    a, b, c, d, _, _ = matrix
    size = hypot(a, b)
    if abs(a * c + b * d) > 1e-4 * size * size or abs(size - hypot(c, d)) > 1e-4 * size:
        return None
    return size
