"""A converted drawing: streams of PDF operators and what they name, ready to be written (paint/vectors.py).

Forms are in units of their own: the origin at the bottom left, 100 to 1000 on the longer
side. A thousandth of them is finer than print; in smaller units viewers take matrices for singular.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from workers.engine.layout.fonts import Cluster, Face
from workers.engine.layout.images.prepared import UPRIGHT, Matrix, PreparedImage


@dataclass(frozen=True, slots=True, eq=False)
class Gradient:
    """A shading of type 2 or 3 (PDF 1.7, 8.7.4.5): from the first to the last of `coordinates`.

    `stops` are offsets, ascending from 0 to 1, with the components of their colours; `matrix` leads
    to the units of the form.
    """

    kind: int
    coordinates: tuple[float, ...]
    stops: tuple[tuple[float, tuple[float, ...]], ...]
    matrix: Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """A tiling pattern (PDF 1.7, 8.7.3): a form repeated every `width` and `height` of its units."""

    form: Form
    width: float
    height: float
    matrix: Matrix


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Parameters of the graphics state: opacities, and a mask with what of it counts."""

    fill: float | None = None
    stroke: float | None = None
    mask: Form | None = None
    is_luminosity: bool = True


class ShapedText(NamedTuple):
    """Text written by clusters of glyphs, from left to right; `matrix` leads from its baseline.

    A drawing is prepared once for many documents, and codes of clusters belong to one document: so
    the operators are written with it. `at` is their place in the content, inside a text object.
    """

    at: int
    face: Face
    size: float
    matrix: Matrix
    clusters: tuple[Cluster, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """A content stream with the things it names. `is_group` when it is seen as one thing."""

    content: bytes
    box: tuple[float, float, float, float]
    states: dict[bytes, State] = field(default_factory=dict)
    patterns: dict[bytes, Gradient | Tile] = field(default_factory=dict)
    shadings: dict[bytes, Gradient] = field(default_factory=dict)
    pictures: dict[bytes, Form | PreparedImage] = field(default_factory=dict)
    # Fonts by name, with the texts set in them.
    fonts: dict[bytes, tuple[object, list[str]]] = field(default_factory=dict)
    shaped: tuple[ShapedText, ...] = ()
    is_group: bool = False
    depth: int = 1  # of states in each other, those of what it names included


@dataclass(frozen=True, slots=True, eq=False)
class VectorImage:
    """An SVG ready to be placed, as a prepared image is. `form` fills its box.

    `left_out` names what of the file is not drawn, `missing` the characters that no font has.
    """

    key: str
    width: float
    height: float
    form: Form
    weight: int  # bytes of its streams and images
    left_out: tuple[str, ...] = ()
    missing: str = ""
    has_cmyk: bool = False
    matrix: Matrix = UPRIGHT

    @property
    def width_points(self) -> float:
        """Give the width in points; a CSS px is 0.75."""
        return self.width * 0.75

    @property
    def height_points(self) -> float:
        """Give the height in points."""
        return self.height * 0.75


Drawable = PreparedImage | VectorImage
