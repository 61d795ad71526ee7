"""What lines are made of: looks, parts of lines, lines, and the places they begin at."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from operator import add
from typing import Final, NamedTuple

from workers.engine.layout.context import EPSILON, Piece, Typeface
from workers.engine.layout.lines.shaped import (
    ShapedRun,
    ends_of_shaped,
    measure_shaped,
    measure_shaped_words,
)
from workers.engine.tree.styles import TextStyle


class Look(NamedTuple):
    """How one run of characters of one face looks.

    `level` is how it reads in its line (lines/bidi.py); text that `is_shaped` is written by
    clusters of glyphs, any other by its characters.
    """

    style: TextStyle
    face: Typeface
    link: str | None
    level: int = 0
    is_shaped: bool = False

    def measure(self, text: str) -> float:
        """Give the width of `text` in points."""
        style = self.style
        if self.is_shaped:
            return measure_shaped(self.run, text)
        return self.face.measure(text) * style.size + style.letter_spacing * len(text)

    def measure_words(self, words: Sequence[str]) -> list[float]:
        """Give the width of each of some texts without spaces, in points."""
        if self.is_shaped:
            return measure_shaped_words(self.run, words)
        measure, size, spacing = self.face.measure, self.style.size, self.style.letter_spacing
        if spacing:
            return [measure(word) * size + spacing * len(word) for word in words]
        return [measure(word) * size for word in words]

    def kern(self, first: str, second: str) -> float:
        """Give by how much `second` is moved when it follows `first`."""
        return 0.0 if self.is_shaped else self.face.kern(first, second) * self.style.size

    def ends_of(self, text: str) -> list[float]:
        """Give how far from its beginning each character of a text ends."""
        if self.is_shaped:
            return ends_of_shaped(self.run, text)
        size, spacing = self.style.size, self.style.letter_spacing
        widths = [self.face.measure(char) * size + spacing for char in text]
        kerns = (self.kern(*pair) for pair in pairwise(text))
        return list(accumulate(map(add, widths, chain((0.0,), kerns))))

    @property
    def run(self) -> ShapedRun:
        """Give what shaping asks for."""
        style = self.style
        is_rtl = self.level % 2 == 1
        return ShapedRun(self.face, style.size, style.letter_spacing, is_rtl, style.lang)


class Inset(NamedTuple):
    """A block standing in a line, its foot on the baseline."""

    piece: Piece
    width: float
    level: int = 0


class Part(NamedTuple):
    """Text of one look in a line, or an inset with empty text; `x` from the line's own left."""

    x: float
    width: float
    text: str
    look: Look | Inset


class Line(NamedTuple):
    """One line: `y` down from the first line's top, `x` of its left edge, `baseline` from its top."""

    x: float
    y: float
    height: float
    baseline: float
    width: float
    parts: tuple[Part, ...]
    word_spacing: float = 0.0
    spots: tuple[str, ...] = ()  # the named places in it


class Point(NamedTuple):
    """A place in a strip: before character `offset` of a unit, or behind the unit if it is -1."""

    unit: int
    offset: int
    x: float


EMPTY: Final = Point(0, 0, 0.0)  # of a strip that has no units


# Shared by paragraphs that are one line, of which a document may have half a million.
ONE_START: Final = (EMPTY,)
ONE_STRIP: Final = (0,)


class Place(NamedTuple):
    """Where a line begins in inline content, whatever the width: between forced breaks, and there."""

    strip: int
    point: Point


@dataclass(slots=True)
class Lines:
    """All lines of one paragraph at one width, with the place at which each begins.

    `widest` is the widest line that could not be broken to fit, with its text; 0 when all fit.
    `owner`, `width` and `start` are what they were broken for.
    """

    lines: Sequence[Line]
    starts: Sequence[Point] = ONE_START
    strips: Sequence[int] = ONE_STRIP  # the number of each strip's first line
    widest: float = 0.0
    widest_text: str = ""
    owner: object = None
    width: float = 0.0
    start: Place | None = None
    texts: tuple[str, ...] = ()  # what the references in it showed

    @property
    def height(self) -> float:
        """Give the height of all lines."""
        return self.height_of(0, len(self.lines))

    def height_of(self, first: int, last: int) -> float:
        """Give the height of the lines from `first` up to, not including, `last`."""
        if first >= last:
            return 0.0
        end = self.lines[last - 1]
        return end.y + end.height - self.lines[first].y

    def place_of(self, line: int, start: Place | None) -> Place:
        """Give the place at which a line begins, in lines that were broken from `start` on."""
        strip = bisect_right(self.strips, line) - 1
        return Place(strip + (start.strip if start else 0), self.starts[line])

    def count_fitting(self, first: int, room: float) -> int:
        """Count the lines from `first` on that fit into a height."""
        limit = self.lines[first].y + room + EPSILON if self.lines else 0.0
        return bisect_right(self.lines, limit, lo=first, key=_bottom) - first


def _bottom(line: Line) -> float:
    return line.y + line.height
