"""Optimal line breaks: the lines of a paragraph are chosen together, not one after the other.

The algorithm is Knuth and Plass, "Breaking Paragraphs into Lines" (1981): each line gets demerits
for how far its spaces are stretched or shrunk, and the breaks with the least sum win. As in TeX, a
first pass leaves words whole, a second one hyphenates, a third accepts lines of any looseness.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from math import inf
from typing import Final, NamedTuple

from workers.engine.layout.context import EPSILON
from workers.engine.layout.lines.strips import BREAK, HELD, SOFT, SPACE, Strip

# How far a space gives way, as parts of its width. TeX has 1/2 and 1/3, for fonts with wider spaces.
_STRETCH: Final = 1 / 2
SHRINK: Final = 1 / 4
# Ragged lines have no space that stretches: this part of the measure counts as one unit of it.
_RAGGED_STRETCH: Final = 0.1

_PRETOLERANCE: Final = 1.0  # badness 100 of TeX
_TOLERANCE: Final = 2.0
_RAGGED_PRETOLERANCE: Final = 2.0
_RAGGED_TOLERANCE: Final = 4.0
_WORST: Final = 10_000.0

_HYPHEN_PENALTY: Final = 50.0
_DOUBLE_HYPHEN_DEMERITS: Final = 10_000.0
_FINAL_HYPHEN_DEMERITS: Final = 5_000.0
# A last line of one word is avoided at the price of a line with spaces twice as wide, or of one
# that leaves a third of its measure empty.
RUNT_DEMERITS: Final = 700_000.0
RAGGED_RUNT_DEMERITS: Final = 12_000_000.0

# A longer text is broken greedily: its time must stay linear, however many chances a line has.
MAX_CHANCES: Final = 20_000
# `text-wrap="balance"` is for headings (CSS Text 4, 6.4.1 lets an implementation bound the lines).
MAX_BALANCED_LINES: Final = 10
_BALANCE_STEPS: Final = 12


class _Node(NamedTuple):
    """A break that is part of the best lines up to it; the next line begins behind it."""

    chance: int  # its number, -1 for the beginning
    x: float  # where the next line begins
    gaps: float  # width of all spaces before that
    demerits: float
    ends_in_hyphen: bool
    before: _Node | None


class Measure(NamedTuple):
    """The widths of the first line and of the others, and how far their spaces give way.

    `stretch` and `shrink` are parts of a space's width, 0 in ragged text. `ragged` is the length in
    points that counts as stretch where no space stretches, `runt` the demerits of a last line of
    one word.
    """

    first: float
    others: float
    stretch: float
    shrink: float
    ragged: float
    runt: float

    @classmethod
    def of(cls, width: float, indent: float, *, is_justified: bool) -> Measure:
        """Return the measure of a paragraph of a width, its first line indented."""
        if is_justified:
            return cls(width - indent, width, _STRETCH, SHRINK, 0.0, RUNT_DEMERITS)
        return cls(width - indent, width, 0.0, 0.0, width * _RAGGED_STRETCH, RAGGED_RUNT_DEMERITS)


class Breaker:
    """Finds where the lines of one strip end, as units; made for one strip and one beginning."""

    def __init__(
        self,
        strip: Strip,
        chances: Sequence[int],
        unit: int,
        x: float,
        measure: Measure,
        hyphen_width: Callable[[int], float],
    ) -> None:
        """Prepare the strip up to the first word that is wider than a line.

        The first line begins at `x`, in `unit`. `hyphen_width` returns the width of the hyphen that
        shows where a line ends with a unit.
        """
        self._strip = strip
        self._unit = unit
        self._x = x
        self._measure = measure
        self._hyphen_width = hyphen_width
        self._chances = self._cut_before_wide(chances, bisect_left(chances, unit))
        self._gaps = _sum_gaps(strip)

    def find_optimal(self) -> list[int]:
        """Return the unit each line ends with; none where the first word is wider than its line."""
        if not self._chances:
            return []
        glues = self._strip.glues
        numbers = range(len(self._chances))
        whole = [i for i in numbers if glues[self._chances[i]] != SOFT or i == numbers[-1]]
        tight, loose = (
            (_PRETOLERANCE, _TOLERANCE)
            if self._measure.stretch
            else (_RAGGED_PRETOLERANCE, _RAGGED_TOLERANCE)
        )
        end = self._search(whole, tight)
        if end is None or self._is_runt(end):
            end = self._search(numbers, loose) or end or self._search(numbers, inf)
        return [] if end is None else self._trace(end)

    def find_balanced(self) -> list[int]:
        """Return the breaks of lines about equally long, as few as greedy breaking needs.

        None of them where there are more than `MAX_BALANCED_LINES`, or the first word is wider than its line.
        """
        best = self._break_greedily(0.0)
        count = len(best)
        if not 1 <= count <= MAX_BALANCED_LINES:
            return []
        low, high = 0.0, min(self._measure.first, self._measure.others)
        for _ in range(_BALANCE_STEPS):  # how much narrower the lines may be
            narrower = (low + high) / 2
            found = self._break_greedily(narrower)
            if len(found) == count:
                best, low = found, narrower
            else:
                high = narrower
        return best

    def _cut_before_wide(self, chances: Sequence[int], first: int) -> Sequence[int]:
        lefts, rights, hyphen_width = self._strip.lefts, self._strip.rights, self._hyphen_width
        room = min(self._measure.first, self._measure.others) + EPSILON
        last = len(lefts) - 1
        left = self._x
        for number in range(first, len(chances)):
            unit = chances[number]
            width = rights[unit] - left
            # No hyphen is half a line wide: it is measured for few units.
            if width > room / 2 and width + hyphen_width(unit) > room:
                return chances[first:number]
            left = lefts[min(unit + 1, last)]
        return chances[first:]

    def _search(self, chances: Sequence[int], tolerance: float) -> _Node | None:
        """Return the end of the best lines whose spaces stretch no further than `tolerance`."""
        hyphen_width = self._hyphen_width
        rights, units, gaps = self._strip.rights, self._chances, self._gaps
        lefts, glues = self._strip.lefts, self._strip.glues
        final = len(units) - 1
        active = [_Node(-1, self._x, gaps[self._unit], 0.0, False, None)]
        for number in chances:
            unit = units[number]
            is_last, is_soft = number == final, glues[unit] == SOFT
            right = rights[unit] + (hyphen_width(unit) if is_soft else 0.0)
            best, least, is_full = self._find_best(
                active, right, gaps[unit], tolerance, is_last=is_last, glue=glues[unit]
            )
            if is_last:
                return best and _Node(number, 0.0, 0.0, least, False, best)
            if is_full:
                active = self._drop_full(active, rights[unit], gaps[unit])
            if best is not None:
                following = unit + 1
                x, gap = lefts[following], gaps[following]
                active.append(_Node(number, x, gap, least, is_soft, best))
            elif not active:
                return None
        return None

    def _find_best(
        self,
        active: Sequence[_Node],
        right: float,
        gap: float,
        tolerance: float,
        *,
        is_last: bool,
        glue: int,
    ) -> tuple[_Node | None, float, bool]:
        """Return the best beginning of a line that ends at `right`, with the demerits up to there.

        `gap` is the width of all spaces before that. The flag tells that some beginnings are too far
        away.
        """
        measure = self._measure
        is_soft = glue == SOFT
        penalty = 1 + (_HYPHEN_PENALTY if is_soft or glue == BREAK else 0.0)
        hyphens = _DOUBLE_HYPHEN_DEMERITS if is_soft else _FINAL_HYPHEN_DEMERITS if is_last else 0.0
        best: _Node | None = None
        least = inf
        is_full = False
        for node in active:
            room = measure.first if node.chance < 0 else measure.others
            slack = room - (right - node.x)
            spaces = gap - node.gaps
            if slack < -EPSILON:
                most = spaces * measure.shrink
                if -slack > most + EPSILON:
                    is_full = True
                    continue
                badness = 100 * (-slack / most) ** 3
            elif is_last:
                badness = 0.0
            else:
                stretch = spaces * measure.stretch or measure.ragged
                ratio = slack / stretch if stretch > 0 else slack
                if ratio > tolerance:
                    continue
                badness = min(100 * ratio**3, _WORST)
            demerits = node.demerits + (penalty + badness) ** 2
            if node.ends_in_hyphen:
                demerits += hyphens
            if is_last and spaces <= 0 and node.before is not None:
                demerits += measure.runt
            if demerits < least:
                best, least = node, demerits
        return best, least, is_full

    def _drop_full(self, active: list[_Node], right: float, gap: float) -> list[_Node]:
        measure = self._measure
        return [
            node
            for node in active
            if right - node.x - (gap - node.gaps) * measure.shrink
            <= (measure.first if node.chance < 0 else measure.others) + EPSILON
        ]

    def _break_greedily(self, narrower: float) -> list[int]:
        """Return the breaks of lines that are so much narrower; none where a word is wider."""
        measure = self._measure
        units, rights, lefts = self._chances, self._strip.rights, self._strip.lefts
        ends = [rights[unit] for unit in units]
        found: list[int] = []
        at, x, room = 0, self._x, measure.first
        while at < len(units):
            limit = x + room - narrower + EPSILON
            number = bisect_right(ends, limit, lo=at) - 1
            while number >= at and ends[number] + self._hyphen_width(units[number]) > limit:
                number -= 1
            if number < at:
                return []
            found.append(units[number])
            if len(found) > MAX_BALANCED_LINES:
                return found
            at, room = number + 1, measure.others
            if at < len(units):
                x = lefts[units[number] + 1]
        return found

    def _is_runt(self, end: _Node) -> bool:
        """Tell whether the last line is one word after others."""
        before = end.before
        assert before is not None
        spaces = self._gaps[self._chances[end.chance]] - before.gaps
        return before.before is not None and spaces <= 0

    def _trace(self, end: _Node) -> list[int]:
        found: list[int] = []
        node: _Node | None = end
        while node is not None and node.chance >= 0:
            found.append(self._chances[node.chance])
            node = node.before
        return found[::-1]


def _sum_gaps(strip: Strip) -> list[float]:
    """Return the width of all spaces before each unit."""
    lefts, rights = strip.lefts, strip.rights
    widths = (
        lefts[unit + 1] - rights[unit] if glue in (SPACE, HELD) else 0.0
        for unit, glue in enumerate(strip.glues[:-1])
    )
    return list(accumulate(widths, initial=0.0))
