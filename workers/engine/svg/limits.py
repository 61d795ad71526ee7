"""Limits of one SVG: those checked before drawing, and the budget counted while it is drawn."""

from __future__ import annotations

from typing import Final

from workers.engine.prepared_images import UndrawableError

MAX_BYTES: Final = 8_000_000
MAX_ELEMENTS: Final = 50_000
MAX_DEPTH: Final = 100
MAX_EXPANDED: Final = 1_000_000  # characters: the longest entity, as often as any is referred to
MAX_ATTRIBUTES: Final = 200
MAX_DRAWN: Final = 50_000  # elements, `use` expanded
MAX_SEGMENTS: Final = 300_000  # of all paths, `use` expanded; some 2 s
_FEW_DRAWN: Final = 5_000  # whatever the size of the file
_DRAWN_PER_BYTE: Final = 4
_FEW_SEGMENTS: Final = 50_000
_SEGMENTS_PER_BYTE: Final = 30
MAX_RULES: Final = 2_000  # per drawing
MAX_STYLE_WORK: Final = 1_000_000  # comparisons of rules with elements
MAX_SIDE: Final = 1_000_000.0  # CSS px

MAX_IMAGES: Final = 200  # in one drawing
MAX_DAMAGED: Final = 5  # damaged images; later ones are not decoded

_LONG_ATTRIBUTES: Final = 2000  # characters; a hundred cost as much as a segment
SIMPLER: Final = "Simplify the drawing, or export it as a PNG."


class DrawingBudget:
    """Counts drawing operations and raises when a limit is exceeded.

    The limits grow with the bytes of the file up to those above, so that a file of a kilobyte is
    drawn or refused within a second.
    """

    def __init__(self, size: int) -> None:
        self._max_elements = min(_FEW_DRAWN + _DRAWN_PER_BYTE * size, MAX_DRAWN)
        self._max_segments = min(_FEW_SEGMENTS + _SEGMENTS_PER_BYTE * size, MAX_SEGMENTS)
        self.memory_bytes = 0  # of the forms so far, approximately
        self._elements = 0
        self._segments = 0
        self._compared = 0

    def count_element(self, attribute_length: int = 0) -> None:
        """Count an element, and the length of its attributes where it is large."""
        self._elements += 1
        if attribute_length >= _LONG_ATTRIBUTES:
            self.count_segments(attribute_length // 100)
        if self._elements > self._max_elements:
            what = "elements to draw for its size, each copy of `use` counted"
            raise make_limit_error(what, self._max_elements)

    def count_segments(self, number: int) -> None:
        """Count path segments."""
        self._segments += number
        if self._segments > self._max_segments:
            raise make_limit_error("path segments for its size", self._max_segments)

    def count_rules(self, number: int) -> None:
        """Count style rules that are compared with an element."""
        self._compared += number
        if self._compared > MAX_STYLE_WORK:
            raise make_limit_error("comparisons of its style rules", MAX_STYLE_WORK)


def make_limit_error(what: str, limit: int) -> UndrawableError:
    """Return the error for an exceeded limit."""
    return UndrawableError(
        f"The SVG has too many {what}: at most {limit:,} are drawn", advice=SIMPLER
    )
