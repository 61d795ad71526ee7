"""Content streams of form XObjects, and the resources they name, as PDF objects for any document."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from math import hypot
from typing import Final, NamedTuple

from workers.engine.fonts import Cluster, Face
from workers.engine.pdf_writer import PreparedObject
from workers.engine.prepared_images import UPRIGHT, Matrix, PreparedImage
from workers.engine.svg.paths import Segments
from workers.engine.svg.reader import DrawingBudget
from workers.engine.svg.values import RGB, Box, transform_box


class DocumentPart(Enum):
    """Parts of objects that each document states itself."""

    FONTS = "the entry of all fonts in resources"
    COLOR_SPACES = "the entry of shared colour spaces in resources"
    BLENDING_SPACE = "the entry of a group for the colour space that it blends in"


class DrawnText(NamedTuple):
    """Text of one face, inside a text object; with `clusters` it is encoded by glyphs.

    A drawing is prepared once for many documents, but fonts and codes of clusters belong to one.
    """

    face: Face
    size: float
    text: str
    clusters: tuple[Cluster, ...] | None


class Shading(NamedTuple):
    """A shading (ISO 32000-1, 8.7.4.5) of a size in bytes; `matrix` maps to form space."""

    written: PreparedObject
    matrix: Matrix
    size: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FormXObject(PreparedObject):
    """A form XObject, or a cell of a tiling pattern; `box` is its bounding box.

    `is_blended`: anything in it is blended with what is below (ISO 32000-1, 11.3).
    """

    box: tuple[float, float, float, float]
    is_blended: bool
    depth: int  # nesting of graphics states, resources included


@dataclass(frozen=True, slots=True, eq=False)
class VectorImage:
    """An SVG ready to be placed, like a prepared image: a form in the unit square.

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
# The kinds of resources, and what their names begin with.
_LETTERS: Final = {b"/ExtGState": b"S", b"/Pattern": b"P", b"/Shading": b"H", b"/XObject": b"X"}
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
        self._out: list[bytes | DrawnText] = []
        self._resources: dict[bytes, dict[tuple[object, ...], bytes]] = {
            kind: {} for kind in _LETTERS
        }
        self._has_text = self._is_blended = False
        self._gstates: list[dict[str, bytes]] = [{}]  # parameters by open q
        self._max_depth = 1
        self._mask_depths: list[int] = []  # nesting depth at which each mask was set

    def finish(
        self, *, is_group: bool = False, is_isolated: bool = False, matrix: Matrix | None = None
    ) -> FormXObject:
        """Return the form XObject; an isolated group blends with nothing outside (ISO 32000-1, 11.4.5)."""
        placed = b"" if matrix is None else b"/Matrix [%b] " % format_numbers(matrix)
        group: tuple[object, ...] = ()
        if is_group or is_isolated:
            isolated = b" /I true" if is_isolated else b""
            group = (
                b" /Group << /S /Transparency",
                DocumentPart.BLENDING_SPACE,
                b"%b >>" % isolated,
            )
        return self._finish(b"/Type /XObject /Subtype /Form", placed, *group)

    def finish_tile(self, width: float, height: float, matrix: Matrix) -> FormXObject:
        """Return a tiling pattern (ISO 32000-1, 8.7.3), repeated every `width` and `height`."""
        steps = b"/XStep %b /YStep %b /Matrix [%b] " % (
            format_number(width),
            format_number(height),
            format_numbers(matrix),
        )
        return self._finish(b"/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1", steps)

    def _finish(self, kind: bytes, entries: bytes, *more: object) -> FormXObject:
        clusters = sum(len(one.clusters or ()) for one in self._out if isinstance(one, DrawnText))
        self._budget.memory_bytes += self.size + _BYTES_PER_FORM + _BYTES_PER_CLUSTER * clusters
        head = b"%b /BBox [%b] %b/Resources " % (kind, format_numbers(self.box), entries)
        return FormXObject(
            (head, self._finish_resources(), *more),
            tuple(self._out),
            box=self.box,
            is_blended=self._is_blended,
            depth=self._max_depth,
        )

    def _finish_resources(self) -> PreparedObject:
        parts: list[object] = [b"<< ", DocumentPart.COLOR_SPACES]
        if self._has_text:
            parts.append(DocumentPart.FONTS)
        for kind, named in self._resources.items():
            if named:
                parts.append(b"%b << " % kind)
                for value, name in named.items():
                    parts += [b"%b " % name, *value, b" "]
                parts.append(b">> ")
        return PreparedObject((*parts, b">>"))

    @property
    def size(self) -> int:
        """The bytes of the operators."""
        return sum(len(one) for one in self._out if isinstance(one, bytes))

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

    def set_pattern(self, pattern: Shading | FormXObject, *, is_stroke: bool) -> None:
        """Set a gradient or a tiling pattern as fill or stroke colour."""
        if isinstance(pattern, Shading):
            entries = b"<< /Type /Pattern /PatternType 2 /Matrix [%b] /Shading "
            parts = (entries % format_numbers(pattern.matrix), pattern.written, b" >>")
            name = self._name(b"/Pattern", PreparedObject(parts))
        else:
            self._record_depth(pattern.depth)
            name = self._name(b"/Pattern", pattern)
        template = b"/Pattern CS %b SCN\n" if is_stroke else b"/Pattern cs %b scn\n"
        self.set_parameter("stroke" if is_stroke else "fill", template % name)

    def set_opacity(self, opacity: float) -> None:
        """Set the opacity of fills and strokes, from 0 to 1."""
        opacity = round(opacity, 4)
        if opacity == 1.0 and "alpha" not in self._gstates[-1]:
            return
        self._is_blended = self._is_blended or opacity < 1
        name = self._name(b"/ExtGState", b"<< /ca %b /CA %b >>" % ((format_number(opacity),) * 2))
        self.set_parameter("alpha", b"%b gs\n" % name)

    def set_mask(self, mask: FormXObject, *, is_luminosity: bool) -> None:
        """Set a soft mask until the graphics state is restored (ISO 32000-1 11.6.5.2)."""
        self._record_depth(mask.depth)
        self._mask_depths.append(len(self._gstates))
        kind = b"/Luminosity" if is_luminosity else b"/Alpha"
        self._set_state(b"<< /SMask << /Type /Mask /S %b /G " % kind, mask, b" >> >>")

    def set_blend(self, mode: bytes) -> None:
        """Set a blend mode until the graphics state is restored (ISO 32000-1 11.3.5)."""
        self._set_state(b"<< /BM /%b >>" % mode)

    def _set_state(self, *value: object) -> None:
        self._is_blended = True
        self._out.append(b"%b gs\n" % self._name(b"/ExtGState", *value))

    def _name(self, kind: bytes, *value: object) -> bytes:
        """Return the name of a resource by the parts of its value."""
        named = self._resources[kind]
        return named.setdefault(value, b"/%b%d" % (_LETTERS[kind], len(named) + 1))

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
        if isinstance(picture, FormXObject):
            is_blended, depth = picture.is_blended, picture.depth
        else:
            is_blended, depth = picture.mask is not None, 1
        self._is_blended = self._is_blended or is_blended
        self._record_depth(depth)
        name = self._name(b"/XObject", picture)
        if matrix is None:
            self._out.append(name + b" Do\n")
        else:
            self._out.append(b"q %b cm %b Do Q\n" % (format_numbers(matrix), name))

    def draw_shading(self, gradient: Shading) -> None:
        """Fill the whole form with a shading."""
        name = self._name(b"/Shading", gradient.written)
        self._out.append(b"q %b cm %b sh Q\n" % (format_numbers(gradient.matrix), name))

    def show_text(self, text: DrawnText) -> None:
        """Show text inside a text object, as each document encodes it."""
        self._has_text = True
        self._out.append(text)

    def draw_group(self, draw: Callable[[Canvas], None]) -> FormXObject:
        """Draw into a form XObject of the same coordinate system and return it."""
        inner = Canvas(self.box, self._budget)
        draw(inner)
        return inner.finish(is_group=True)


class MeasuringCanvas(Canvas):
    """A canvas for the boxes of marks, which are not painted."""

    def __init__(self, budget: DrawingBudget) -> None:
        super().__init__((0.0, 0.0, 1.0, 1.0), budget)
        self.boxes: list[Box] = []

    def measure(self, box: Box | None, matrix: Matrix) -> None:
        """Add the box of a mark in user space, None for an empty one."""
        if box is not None:
            self.boxes.append(transform_box(matrix, box))


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
