"""Converted drawings: content streams with their resources, ready to be written (paint/vector_images.py).

Form space has its origin at the bottom left and 100 to 1000 units on the longer side. A thousandth
of a unit is finer than print; at smaller scales viewers treat matrices as singular.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from workers.engine.fonts import Cluster, Face
from workers.engine.prepared_images import UPRIGHT, Matrix, PreparedImage


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
