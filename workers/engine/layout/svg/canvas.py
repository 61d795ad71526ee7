"""Writing operators: paths, states and clips in the units of a form, with the names of what they use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import accumulate
from math import hypot
from typing import Final

from workers.engine.layout.fonts import Cluster, Face
from workers.engine.layout.images.prepared import Matrix, PreparedImage
from workers.engine.layout.svg.drawing import Form, Gradient, ShapedText, State, Tile
from workers.engine.layout.svg.limits import Work
from workers.engine.layout.svg.paths import Segments
from workers.engine.layout.svg.values import RGB

_LARGEST: Final = 20_000_000.0  # units, some ten thousand times the drawing; not seen any more
_FORMATS: Final = {
    "M": b"%.10g %.10g m\n",
    "L": b"%.10g %.10g l\n",
    "C": b"%.10g %.10g %.10g %.10g %.10g %.10g c\n",
    "Z": b"h\n",
}


class Canvas:
    """The content of one form under construction."""

    def __init__(self, box: tuple[float, float, float, float], work: Work) -> None:
        self.box = box
        self._work = work
        self._out: list[bytes] = []
        self._shaped: list[ShapedText] = []  # as yet by their place in what was written
        self._states: dict[tuple[object, ...], tuple[bytes, State]] = {}
        self._patterns: dict[bytes, Gradient | Tile] = {}
        self._shadings: dict[bytes, Gradient] = {}
        self._pictures: dict[bytes, Form | PreparedImage] = {}
        self._fonts: dict[object, tuple[bytes, list[str]]] = {}
        self._paints: list[dict[str, bytes]] = [{}]  # what is set, for each open q
        self._deepest = 1
        self._masked: list[int] = []  # how deep states were nested when masks were set

    def finish(self, *, is_group: bool) -> Form:
        """Give the form."""
        ends = list(accumulate(map(len, self._out), initial=0)) if self._shaped else []
        return Form(
            b"".join(self._out),
            self.box,
            dict(self._states.values()),
            self._patterns,
            self._shadings,
            self._pictures,
            {name: (face, texts) for face, (name, texts) in self._fonts.items()},
            tuple(text._replace(at=ends[text.at]) for text in self._shaped),
            is_group=is_group,
            depth=self._deepest,
        )

    @property
    def is_empty(self) -> bool:
        """Tell whether nothing was written."""
        return not self._out

    @property
    def is_masked(self) -> bool:
        """Tell whether a mask holds."""
        return bool(self._masked)

    # --- state

    def write(self, operators: bytes) -> None:
        """Write operators that set no colour, line or state."""
        self._out.append(operators)

    def save(self) -> None:
        """Begin a group whose state ends with it."""
        self._out.append(b"q\n")
        self._paints.append(dict(self._paints[-1]))
        self._reach(0)

    def restore(self) -> None:
        """End the group."""
        self._out.append(b"Q\n")
        self._paints.pop()
        while self._masked and self._masked[-1] > len(self._paints):
            self._masked.pop()

    def set(self, what: str, operators: bytes) -> None:
        """Set one thing of the graphics state, unless it is set so already."""
        if self._paints[-1].get(what) != operators:
            self._paints[-1][what] = operators
            self._out.append(operators)

    def set_color(self, color: RGB, *, is_stroke: bool) -> None:
        """Set a colour to fill or to stroke with."""
        if color[0] == color[1] == color[2]:
            operators = b"%b %b\n" % (number(color[0]), b"G" if is_stroke else b"g")
        else:
            operators = b"%b %b\n" % (
                b" ".join(map(number, color)),
                b"RG" if is_stroke else b"rg",
            )
        self.set("stroke" if is_stroke else "fill", operators)

    def set_pattern(self, pattern: Gradient | Tile, *, is_stroke: bool) -> None:
        """Set a pattern to fill or to stroke with."""
        name = b"/P%d" % (len(self._patterns) + 1)
        self._patterns[name] = pattern
        self._reach(pattern.form.depth if isinstance(pattern, Tile) else 0)
        form = b"/Pattern CS %b SCN\n" if is_stroke else b"/Pattern cs %b scn\n"
        self.set("stroke" if is_stroke else "fill", form % name)

    def set_opacity(self, fill: float, stroke: float) -> None:
        """Set how opaque the next marks are."""
        fill, stroke = round(fill, 4), round(stroke, 4)
        if (fill, stroke) == (1.0, 1.0) and "alpha" not in self._paints[-1]:
            return
        self.set("alpha", b"%b gs\n" % self._name_state((fill, stroke), State(fill, stroke)))

    def set_mask(self, mask: Form, *, is_luminosity: bool) -> None:
        """Let only what a mask shows of the next marks be seen, until the group ends."""
        self._reach(mask.depth)
        self._masked.append(len(self._paints))
        state = State(mask=mask, is_luminosity=is_luminosity)
        self._out.append(b"%b gs\n" % self._name_state((id(mask), is_luminosity), state))

    def _name_state(self, key: tuple[object, ...], state: State) -> bytes:
        known = self._states.get(key)
        if known is None:
            known = self._states[key] = (b"/S%d" % (len(self._states) + 1), state)
        return known[0]

    def _reach(self, inner: int) -> None:
        """Note how deep states are nested, `inner` of them in what is drawn here."""
        self._deepest = max(self._deepest, len(self._paints) + inner)

    # --- marks

    def draw_path(self, segments: Segments, matrix: Matrix, operator: bytes) -> bool:
        """Write a path and what is done with it; False when it lies out of all bounds."""
        path = self.path_of(segments, matrix)
        if path is None:
            return False
        self._out.append(path + operator)
        return True

    def path_of(self, segments: Segments, matrix: Matrix) -> bytes | None:
        """Write a path; None for one out of all bounds, or of nothing."""
        self._work.draw_segments(len(segments))
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
        if not points or not (max(points) < _LARGEST and min(points) > -_LARGEST):
            return None
        form = b"".join([_FORMATS[segment[0]] for segment in segments])
        return form % tuple([round(value * 1000) / 1000 for value in points])

    def draw_picture(self, picture: Form | PreparedImage, matrix: Matrix | None = None) -> None:
        """Place a form, or an image of which `matrix` says where its unit square lies."""
        name = b"/X%d" % (len(self._pictures) + 1)
        self._pictures[name] = picture
        self._reach(picture.depth if isinstance(picture, Form) else 1)
        if matrix is None:
            self._out.append(name + b" Do\n")
        else:
            self._out.append(b"q %b cm %b Do Q\n" % (numbers(matrix), name))

    def draw_shading(self, gradient: Gradient) -> None:
        """Cover everything with a gradient."""
        name = b"/H%d" % (len(self._shadings) + 1)
        self._shadings[name] = gradient
        self._out.append(b"q %b cm %b sh Q\n" % (numbers(gradient.matrix), name))

    def use_font(self, face: object) -> tuple[bytes, list[str]]:
        """Give the name of a face, and the list to which the texts set in it are added."""
        if face not in self._fonts:
            self._fonts[face] = (b"/T%d" % (len(self._fonts) + 1), [])
        return self._fonts[face]

    def write_shaped(
        self, face: Face, size: float, matrix: Matrix, clusters: tuple[Cluster, ...]
    ) -> None:
        """Have text by its glyphs written here, inside a text object, when there is a document."""
        self._shaped.append(ShapedText(len(self._out), face, size, matrix, clusters))

    def draw_group(self, draw: Callable[[Canvas], None]) -> Form:
        """Let something be drawn as a form of its own, of the same units, and give it."""
        inner = Canvas(self.box, self._work)
        draw(inner)
        return inner.finish(is_group=True)


def number(value: float) -> bytes:
    """Write a number without an exponent, to six significant decimals."""
    if abs(value) >= 1000:
        return b"%.2f" % value
    return (
        b"%.10g" % (round(value, 6) + 0.0)
        if abs(value) >= 0.0001 or not value
        else b"%.12f" % value
    )


def numbers(values: Iterable[float]) -> bytes:
    """Write numbers side by side."""
    return b" ".join(map(number, values))


def scale_of(matrix: Matrix) -> float | None:
    """Give by how much a matrix enlarges; None when not alike in all directions."""
    a, b, c, d, _, _ = matrix
    size = hypot(a, b)
    if abs(a * c + b * d) > 1e-4 * size * size or abs(size - hypot(c, d)) > 1e-4 * size:
        return None
    return size
