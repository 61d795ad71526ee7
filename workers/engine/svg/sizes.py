"""The size of an SVG, and the fitting of a view box into it (SVG 2 §8)."""

from __future__ import annotations

from typing import Final, NamedTuple

from workers.engine.prepared_images import Matrix, UndrawableError
from workers.engine.svg.limits import MAX_SIDE
from workers.engine.svg.reader import SvgElement
from workers.engine.svg.values import IDENTITY, Viewport, to_length, to_numbers

DEFAULT_WIDTH, DEFAULT_HEIGHT = 300.0, 150.0  # of replaced elements (CSS 2 §10.3.2)
_ALIGNMENTS: Final = {"Min": 0.0, "Mid": 0.5, "Max": 1.0}


class ViewBox(NamedTuple):
    """A rectangle of user units that is fitted into a viewport."""

    x: float
    y: float
    width: float
    height: float


def find_size(root: SvgElement) -> tuple[float, float]:
    """Return width and height of a drawing in CSS px.

    A missing or percentage side follows from the view box: by its aspect ratio where the other side
    is given, else by its size.

    Raises:
        UndrawableError: A side is 0 or out of range.
    """
    width, height = _read_stated_side(root, "width"), _read_stated_side(root, "height")
    box = read_view_box(root)
    if width is None and height is None:
        width, height = (box.width, box.height) if box else (DEFAULT_WIDTH, DEFAULT_HEIGHT)
    elif width is None:
        assert height is not None
        width = height * box.width / box.height if box else DEFAULT_WIDTH
    elif height is None:
        height = width * box.height / box.width if box else DEFAULT_HEIGHT
    if not (width > 0 and height > 0):
        raise UndrawableError("The SVG has no size: its width or height is 0")
    if max(width, height) > MAX_SIDE or min(width, height) < 1 / MAX_SIDE:
        raise UndrawableError(
            f"The SVG is {width:g} × {height:g} px, which is out of range for a page"
        )
    return width, height


def _read_stated_side(root: SvgElement, name: str) -> float | None:
    text = root.attributes.get(name, "")
    return None if text.strip().endswith("%") else to_length(text, 0.0)


def read_view_box(element: SvgElement) -> ViewBox | None:
    """Return the view box, None for none or one without area."""
    numbers = to_numbers(element.attributes.get("viewBox", ""))
    if len(numbers) != 4 or not (numbers[2] > 0 and numbers[3] > 0):
        return None
    return ViewBox(*numbers)


def fit_content(element: SvgElement, width: float, height: float) -> tuple[Matrix, Viewport]:
    """Return the matrix that fits the content of an element into a size, and its viewport."""
    box = read_view_box(element)
    matrix = fit_view_box(box, element.attributes.get("preserveAspectRatio", ""), width, height)
    return matrix, Viewport(box.width, box.height) if box else Viewport(width, height)


def fit_view_box(box: ViewBox | None, aspect: str, width: float, height: float) -> Matrix:
    """Return the matrix that fits a view box into a viewport (SVG 2 §8.6, preserveAspectRatio)."""
    if box is None:
        return IDENTITY
    across, down = width / box.width, height / box.height
    keywords = aspect.split()
    align = keywords[0] if keywords else "xMidYMid"
    if align == "none":
        return across, 0, 0, down, -box.x * across, -box.y * down
    scale = max(across, down) if "slice" in keywords[1:] else min(across, down)
    align_x, align_y = _ALIGNMENTS.get(align[1:4], 0.5), _ALIGNMENTS.get(align[5:8], 0.5)
    x = (width - box.width * scale) * align_x - box.x * scale
    y = (height - box.height * scale) * align_y - box.y * scale
    return scale, 0, 0, scale, x, y
