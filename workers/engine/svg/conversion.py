"""State of one conversion, and the user space that an element is drawn in."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from workers.engine.prepared_images import Matrix, PreparedImage
from workers.engine.svg.canvas import Canvas
from workers.engine.svg.paths import SHAPES, Segments
from workers.engine.svg.reader import DrawingBudget, SvgElement
from workers.engine.svg.styles import INITIAL, RuleIndex, SvgStyle, font_size, resolve_style
from workers.engine.svg.values import (
    IDENTITY,
    Box,
    Viewport,
    multiply_matrices,
    to_matrix,
    to_reference,
)

_MAX_CHAIN: Final = 16  # patterns that refer to patterns, or gradients to gradients
_CACHED_SHAPES: Final = frozenset({"path", "polyline", "polygon"})
_SHAPE_ONLY: Final = {
    "fill": "white",
    "fill-opacity": "1",
    "filter": "none",
    "mask": "none",
    "opacity": "1",
    "stroke": "none",
}


@dataclass(frozen=True, slots=True)
class UserSpace:
    """A user coordinate system (SVG 2 §8.3): canvas, matrix to form space, and viewport.

    `alpha` is an opacity that the single mark drawn here applies itself.
    """

    canvas: Canvas
    matrix: Matrix
    viewport: Viewport
    depth: int = 0
    alpha: float = 1.0

    def nested(self) -> UserSpace:
        """Return the user space for the content of an element, one level deeper."""
        return UserSpace(self.canvas, self.matrix, self.viewport, self.depth + 1)

    def transformed(self, matrix: Matrix) -> UserSpace:
        """Return the user space inside a transform."""
        return replace(self, matrix=multiply_matrices(self.matrix, matrix))

    def on_canvas(self, canvas: Canvas) -> UserSpace:
        """Return the same user space on another canvas."""
        return replace(self, canvas=canvas, alpha=1.0)

    def viewport_for(self, style: SvgStyle) -> Viewport:
        """Return the viewport with the font size of a style, to resolve lengths."""
        return self.viewport._replace(font_size=font_size(style))


@dataclass(frozen=True, slots=True)
class PaintContext:
    """The context element of `context-fill` and `context-stroke` (SVG 2 §13.2)."""

    style: SvgStyle
    find_bounding_box: Callable[[], Box | None]
    space: UserSpace
    outer: PaintContext | None


@dataclass(slots=True)
class Conversion:
    """One conversion: elements by id, style sheet, budget, and omitted features."""

    elements_by_id: dict[str, SvgElement]
    sheet: RuleIndex
    budget: DrawingBudget
    prepare: Callable[[bytes], PreparedImage]
    omitted: dict[str, None]
    unit: float  # form units in a CSS px
    # Referenced elements that are being drawn.
    active_elements: set[SvgElement] = field(default_factory=set)
    styles: dict[SvgElement, SvgStyle] = field(default_factory=dict)
    segments: dict[SvgElement, Segments] = field(default_factory=dict)
    images: dict[str, PreparedImage] = field(default_factory=dict)  # that are drawn, by their keys
    missing: dict[str, None] = field(default_factory=dict)  # characters without a glyph in any font
    context: PaintContext | None = None  # of the `use` or marker being drawn
    is_clipping: bool = False  # the geometry is drawn, not its paint
    # Returns the box of an element in its user space, None for an empty one (SVG 2 §8.10).
    find_bounding_box: Callable[[SvgElement, Viewport], Box | None] = field(init=False)

    def omit(self, what: str) -> None:
        """Record a feature that is not drawn."""
        self.omitted[what] = None

    def find_target(self, value: str, tag: str) -> SvgElement | None:
        """Return the element with a tag that `url(#id)` refers to."""
        reference = to_reference(value)
        element = self.elements_by_id.get(reference[0]) if reference else None
        return element if element is not None and element.tag == tag else None

    def follow_references(self, element: SvgElement, tags: Container[str]) -> list[SvgElement]:
        """Return an element and those of some tags to which it and they refer, each once."""
        chain = [element]
        while len(chain) < _MAX_CHAIN:
            target = self.elements_by_id.get(chain[-1].href.removeprefix("#"))
            if target is None or target.tag not in tags or target in chain:
                break
            chain.append(target)
        return chain

    def read_transform(self, attributes: Mapping[str, str], name: str) -> Matrix:
        """Return the transform of a `pattern` or `gradient`; an invalid one is none."""
        matrix = to_matrix(attributes.get(f"{name}Transform"))
        if matrix is None:
            self.omit(f"an invalid {name}Transform")
            return IDENTITY
        if matrix != IDENTITY and "transform-origin" in attributes:
            self.omit(f"the transform-origin of a {name}")
        return matrix

    def segments_of(self, element: SvgElement, viewport: Viewport) -> Segments:
        """Return the path of a shape; long path data are parsed once, however often they are drawn."""
        cached = self.segments.get(element)
        if cached is None:
            cached = SHAPES[element.tag](element, viewport)
            if element.tag in _CACHED_SHAPES:
                self.segments[element] = cached
        return cached

    def style_within(self, element: SvgElement, parent: SvgStyle) -> SvgStyle:
        """Return the computed style of an element inside a parent style, as for the content of `use`."""
        return self._as_clip_style(resolve_style(element, parent, self.sheet))

    def style_of(self, element: SvgElement) -> SvgStyle:
        """Return the computed style of an element at its place in the file."""
        return self._as_clip_style(self._resolve(element))

    def _resolve(self, element: SvgElement) -> SvgStyle:
        cached = self.styles.get(element)
        if cached is None:
            parent = INITIAL if element.parent is None else self._resolve(element.parent)
            cached = self.styles[element] = resolve_style(element, parent, self.sheet)
        return cached

    def _as_clip_style(self, style: SvgStyle) -> SvgStyle:
        return (
            style | _SHAPE_ONLY | {"fill-rule": style["clip-rule"]} if self.is_clipping else style
        )


# --- conditions (SVG 2 §5.8) ------------------------------------------------------------------

_LANGUAGE: Final = "en"


def meets_conditions(element: SvgElement, conversion: Conversion) -> bool:
    """Return whether an element is drawn; content for other languages is reported."""
    attributes = element.attributes
    if "requiredExtensions" not in attributes and "systemLanguage" not in attributes:
        return True
    return "requiredExtensions" not in attributes and _matches_language(element, conversion)


def report_other_languages(switch: SvgElement, conversion: Conversion) -> None:
    """Report the children of a `switch` for other languages."""
    for child in switch.child_elements():
        conversion.budget.count_element(child.attribute_length)
        _matches_language(child, conversion)


def _matches_language(element: SvgElement, conversion: Conversion) -> bool:
    value = element.attributes.get("systemLanguage")
    if value is None:
        return True
    tags = [tag.strip().lower() for tag in value[:400].split(",")]
    if any(tag == _LANGUAGE or tag.startswith(f"{_LANGUAGE}-") for tag in tags):
        return True
    if any(tags):
        conversion.omit(f'the content for the language "{value.strip()[:40]}"')
    return False
