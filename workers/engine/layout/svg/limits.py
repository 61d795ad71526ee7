"""What one SVG may hold, told before anything is drawn, and the count kept while it is drawn."""

from __future__ import annotations

from typing import Final

from workers.engine.layout.images.prepared import UndrawableError

MAX_BYTES: Final = 8_000_000
MAX_ELEMENTS: Final = 50_000
MAX_DEPTH: Final = 100
MAX_ATTRIBUTES: Final = 200
MAX_DRAWN: Final = 50_000  # elements, each copy that a `use` makes counted
MAX_SEGMENTS: Final = 300_000  # of all paths, each copy counted; some 2 s
MAX_RULES: Final = 2_000  # of style sheets
MAX_STYLE_WORK: Final = 1_000_000  # rules tried on elements
MAX_SIDE: Final = 1_000_000.0  # CSS px

MAX_IMAGES: Final = 200  # in one drawing
MAX_DAMAGED: Final = 5  # of them; those after are not even tried

_HEAVY: Final = 2000  # characters of attributes; a hundred cost as much as a segment
SIMPLER: Final = "Simplify the drawing, or export it as a PNG."


class Work:
    """Counts what is drawn; over a bound the drawing is refused."""

    def __init__(self) -> None:
        self._drawn = 0
        self._segments = 0
        self._tried = 0

    def draw_element(self, weight: int = 0) -> None:
        """Count an element, and the characters of its attributes as far as they are many."""
        self._drawn += 1
        if weight >= _HEAVY:
            self.draw_segments(weight // 100)
        if self._drawn > MAX_DRAWN:
            raise too_much("elements to draw, each copy of `use` counted", MAX_DRAWN)

    def draw_segments(self, number: int) -> None:
        """Count segments of paths."""
        self._segments += number
        if self._segments > MAX_SEGMENTS:
            raise too_much("path segments", MAX_SEGMENTS)

    def try_rules(self, number: int) -> None:
        """Count rules of style sheets that are compared with an element."""
        self._tried += number
        if self._tried > MAX_STYLE_WORK:
            raise too_much("comparisons of its style rules", MAX_STYLE_WORK)


def too_much(what: str, limit: int) -> UndrawableError:
    """Make the refusal of a drawing that is over a bound."""
    return UndrawableError(
        f"The SVG has too many {what}: at most {limit:,} are drawn", advice=SIMPLER
    )
