"""Total-fit line breaking: the lines of a paragraph are chosen together.

The algorithm is Knuth and Plass, "Breaking Paragraphs into Lines" (1981): each line gets demerits
for the stretch or shrink of its glue, and the breaks with the least sum are chosen. As in TeX, a
first pass hyphenates no word, a second one hyphenates, and a third accepts lines of any badness.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from math import inf
from operator import add, sub
from typing import Final, NamedTuple

from workers.engine.layout.context import EPSILON
from workers.engine.layout.lines.horizontal_lists import (
    BREAK,
    DISCRETIONARY,
    NO_BREAK_SPACE,
    SPACE,
    HorizontalList,
)

# Stretch and shrink of a space, as fractions of its width. TeX has 1/2 and 1/3, for wider spaces.
_STRETCH: Final = 1 / 2
SHRINK: Final = 1 / 4
# Ragged lines have no stretch: this fraction of the measure stands for it.
_RAGGED_STRETCH: Final = 0.1

_PRETOLERANCE: Final = 1.0  # badness 100 of TeX
_TOLERANCE: Final = 2.0
_RAGGED_PRETOLERANCE: Final = 2.0
_RAGGED_TOLERANCE: Final = 4.0
# TeX's greatest badness is that of a ratio of 4.6, so that one line takes all that others would have
# too much of. Here the worst line decides, as wide a measure as a page can be.
_WORST_RATIO: Final = 20_000.0

_HYPHEN_PENALTY: Final = 50.0
_DOUBLE_HYPHEN_DEMERITS: Final = 10_000.0
_FINAL_HYPHEN_DEMERITS: Final = 5_000.0
# A last line of one word (a runt) costs as much as a line with spaces twice as wide, or as one
# that leaves a third of its measure empty.
RUNT_DEMERITS: Final = 700_000.0
RAGGED_RUNT_DEMERITS: Final = 12_000_000.0

# A longer text is broken greedily: time must stay linear, however many breakpoints a line has.
MAX_BREAKPOINTS: Final = 20_000
# `text-wrap="balance"` is for headings (CSS Text 4, 6.4.1 lets an implementation bound the lines).
MAX_BALANCED_LINES: Final = 10
_BALANCE_STEPS: Final = 12


class _ActiveNode(NamedTuple):
    """A feasible break with the least demerits up to it; the next line starts after it."""

    break_index: int  # index of its breakpoint, -1 for the start
    x: float  # start of the next line in points
    glue: float  # natural width of all glue before that
    demerits: float
    ends_in_hyphen: bool
    previous: _ActiveNode | None
    line: int  # number of the next line
    available: float  # its width in points


class Measure(NamedTuple):
    """Widths in points of the first lines and of the others, with the stretch and shrink of their glue.

    `stretch` and `shrink` are fractions of a space's width, 0 in ragged text. `ragged` is the
    stretch of a ragged line in points, `runt` the demerits of a last line of one word.
    """

    first: tuple[float, ...]
    others: float
    stretch: float
    shrink: float
    ragged: float
    runt: float

    @classmethod
    def of(cls, width: float, indents: Sequence[float], *, is_justified: bool) -> Measure:
        """Return the measure of a paragraph of `width` points, its first lines indented."""
        first = tuple(width - indent for indent in indents)
        if is_justified:
            return cls(first, width, _STRETCH, SHRINK, 0.0, RUNT_DEMERITS)
        return cls(first, width, 0.0, 0.0, width * _RAGGED_STRETCH, RAGGED_RUNT_DEMERITS)

    def width_of(self, line: int) -> float:
        """Return the width of a line by its number, from 0."""
        return self.first[line] if line < len(self.first) else self.others

    @property
    def narrowest(self) -> float:
        """The width of the narrowest line."""
        return min((*self.first, self.others))


class Edges(NamedTuple):
    """The edges in points of a line that starts or ends with a box, without hanging characters.

    `allowed` is what hangs besides at the end of a line that would not fit otherwise.
    """

    lefts: Sequence[float]
    rights: Sequence[float]
    allowed: Sequence[float] | None = None

    @classmethod
    def of(cls, hlist: HorizontalList) -> Edges:
        """Return the edges of the boxes of a list."""
        hanging = hlist.hanging
        if hanging is None:
            return cls(hlist.lefts, hlist.rights)
        lefts = list(map(add, hlist.lefts, hanging.starts))
        rights = list(map(sub, hlist.rights, hanging.ends))
        return cls(lefts, rights, hanging.allowed if any(hanging.allowed) else None)


class TotalFitBreaker:
    """Finds the boxes at which the lines of one horizontal list end, from one start on."""

    def __init__(
        self,
        hlist: HorizontalList,
        breakpoints: Sequence[int],
        box: int,
        x: float,
        measure: Measure,
        hyphen_width: Callable[[int], float],
    ) -> None:
        """Prepare the list up to the first word that is wider than a line.

        The first line starts at `x` points, in box `box`. `hyphen_width` returns the width in
        points of the hyphen that is visible where a line ends with a box.
        """
        self._hlist = hlist
        self._edges = Edges.of(hlist)
        self._box = box
        self._x = x
        self._measure = measure
        self._hyphen_width = hyphen_width
        self._breakpoints = self._limit_to_fitting(breakpoints, bisect_left(breakpoints, box))
        self._glue_sums = _sum_glue(hlist)

    def find_optimal(self) -> list[int]:
        """Return the box that each line ends with; empty where the first word is wider than its line."""
        if not self._breakpoints:
            return []
        boundaries = self._hlist.boundaries
        numbers = range(len(self._breakpoints))
        unhyphenated = [
            i
            for i in numbers
            if boundaries[self._breakpoints[i]] != DISCRETIONARY or i == numbers[-1]
        ]
        pretolerance, tolerance = (
            (_PRETOLERANCE, _TOLERANCE)
            if self._measure.stretch
            else (_RAGGED_PRETOLERANCE, _RAGGED_TOLERANCE)
        )
        end = self._search(unhyphenated, pretolerance)
        if end is None or self._is_runt(end):
            end = self._search(numbers, tolerance) or end or self._search(numbers, inf)
        return [] if end is None else self._trace(end)

    def find_balanced(self) -> list[int]:
        """Return the breaks of lines of about equal length, as few as greedy breaking needs.

        CSS Text 4 §6.4.1. Empty where there are more than `MAX_BALANCED_LINES`, or the first word
        is wider than its line.
        """
        best = self._break_greedily(0.0)
        count = len(best)
        if not 1 <= count <= MAX_BALANCED_LINES:
            return []
        low, high = 0.0, self._measure.narrowest
        for _ in range(_BALANCE_STEPS):  # bisects the greatest narrowing
            narrower = (low + high) / 2
            found = self._break_greedily(narrower)
            if len(found) == count:
                best, low = found, narrower
            else:
                high = narrower
        return best

    def _limit_to_fitting(self, breakpoints: Sequence[int], first: int) -> Sequence[int]:
        lefts, rights, hyphen_width = self._edges.lefts, self._edges.rights, self._hyphen_width
        allowed = self._edges.allowed
        available = self._measure.narrowest + EPSILON
        last = len(lefts) - 1
        left = self._x
        for number in range(first, len(breakpoints)):
            box = breakpoints[number]
            width = rights[box] - left - (allowed[box] if allowed else 0.0)
            # No hyphen is half a line wide, so it is measured for few boxes.
            if width > available / 2 and width + hyphen_width(box) > available:
                return breakpoints[first:number]
            left = lefts[min(box + 1, last)]
        return breakpoints[first:]

    def _search(self, breakpoints: Sequence[int], tolerance: float) -> _ActiveNode | None:
        """Return the last node of the best breaks whose adjustment ratio is at most `tolerance`."""
        hyphen_width = self._hyphen_width
        rights, boxes, glue_sums = self._edges.rights, self._breakpoints, self._glue_sums
        lefts, boundaries = self._edges.lefts, self._hlist.boundaries
        allowed = self._edges.allowed
        final = len(boxes) - 1
        measure = self._measure
        width_of, lines = measure.width_of, len(measure.first)
        narrowest, stretch, least_stretch = (
            measure.narrowest,
            measure.stretch,
            max(measure.ragged, 1),
        )
        active = [_ActiveNode(-1, self._x, glue_sums[self._box], 0.0, False, None, 0, width_of(0))]
        for number in breakpoints:
            box = boxes[number]
            is_last, is_soft = number == final, boundaries[box] == DISCRETIONARY
            right = rights[box] + (hyphen_width(box) if is_soft else 0.0)
            # Most words are in the middle of lines: even the line that starts first, the tightest,
            # would be too loose.
            longest = active[0]
            most = max((glue_sums[box] - longest.glue) * stretch, least_stretch) * tolerance
            if narrowest - right + longest.x > most and not is_last:
                continue
            groups = [active] if is_last or lines < 2 else _group_by_line(active, lines)
            found: list[_ActiveNode] = []
            is_any_overfull = False
            for group in groups:
                best, least, is_overfull = self._find_best(
                    group,
                    right,
                    glue_sums[box],
                    tolerance,
                    is_last=is_last,
                    boundary=boundaries[box],
                    allowed=allowed[box] if allowed else 0.0,
                )
                if is_last:
                    return best and _ActiveNode(number, 0.0, 0.0, least, False, best, 0, 0.0)
                is_any_overfull = is_any_overfull or is_overfull
                if best is not None:
                    following, line = box + 1, best.line + 1
                    x, glue, room = lefts[following], glue_sums[following], width_of(line)
                    found.append(_ActiveNode(number, x, glue, least, is_soft, best, line, room))
            if is_any_overfull:
                least_right = rights[box] - (allowed[box] if allowed else 0.0)
                active = self._deactivate_overfull(active, least_right, glue_sums[box])
            active += found
            if not active:
                return None
        return None

    def _find_best(
        self,
        active: Sequence[_ActiveNode],
        right: float,
        glue: float,
        tolerance: float,
        *,
        is_last: bool,
        boundary: int,
        allowed: float = 0.0,
    ) -> tuple[_ActiveNode | None, float, bool]:
        """Return the best start of a line that ends at `right`, its total demerits, and whether any overflow.

        `right` is in points, `glue` the natural width of all glue before it. `allowed` may hang.
        """
        measure = self._measure
        is_soft = boundary == DISCRETIONARY
        penalty = 1 + (_HYPHEN_PENALTY if is_soft or boundary == BREAK else 0.0)
        hyphens = _DOUBLE_HYPHEN_DEMERITS if is_soft else _FINAL_HYPHEN_DEMERITS if is_last else 0.0
        best: _ActiveNode | None = None
        least = inf
        is_overfull = False
        for node in active:
            slack = node.available - (right - node.x)
            line_glue = glue - node.glue
            if slack < -EPSILON and allowed:
                slack = min(slack + allowed, 0.0)
            if slack < -EPSILON:
                most = line_glue * measure.shrink
                if -slack > most + EPSILON:
                    is_overfull = True
                    continue
                badness = 100 * (-slack / most) ** 3
            elif is_last:
                badness = 0.0
            else:
                stretch = line_glue * measure.stretch or measure.ragged
                ratio = slack / stretch if stretch > 0 else slack
                if ratio > tolerance:
                    continue
                badness = 100 * min(ratio, _WORST_RATIO) ** 3
            demerits = node.demerits + (penalty + badness) ** 2
            if node.ends_in_hyphen:
                demerits += hyphens
            if is_last and line_glue <= 0 and node.previous is not None:
                demerits += measure.runt
            if demerits < least:
                best, least = node, demerits
        return best, least, is_overfull

    def _deactivate_overfull(
        self, active: list[_ActiveNode], right: float, glue: float
    ) -> list[_ActiveNode]:
        shrink = self._measure.shrink
        return [
            node
            for node in active
            if right - node.x - (glue - node.glue) * shrink <= node.available + EPSILON
        ]

    def _break_greedily(self, narrower: float) -> list[int]:
        """Return the greedy breaks of lines narrower by `narrower` points; empty where a word is wider."""
        measure = self._measure
        boxes, rights, lefts = self._breakpoints, self._edges.rights, self._edges.lefts
        allowed = self._edges.allowed or (0.0,) * len(rights)
        ends = [rights[box] - allowed[box] for box in boxes]
        found: list[int] = []
        at, x, available = 0, self._x, measure.width_of(0)
        while at < len(boxes):
            limit = x + available - narrower + EPSILON
            number = bisect_right(ends, limit, lo=at) - 1
            while number >= at and ends[number] + self._hyphen_width(boxes[number]) > limit:
                number -= 1
            if number < at:
                return []
            found.append(boxes[number])
            if len(found) > MAX_BALANCED_LINES:
                return found
            at, available = number + 1, measure.width_of(len(found))
            if at < len(boxes):
                x = lefts[boxes[number] + 1]
        return found

    def _is_runt(self, end: _ActiveNode) -> bool:
        """Return whether the last line is a single word after other lines."""
        previous = end.previous
        assert previous is not None
        line_glue = self._glue_sums[self._breakpoints[end.break_index]] - previous.glue
        return previous.previous is not None and line_glue <= 0

    def _trace(self, end: _ActiveNode) -> list[int]:
        found: list[int] = []
        node: _ActiveNode | None = end
        while node is not None and node.break_index >= 0:
            found.append(self._breakpoints[node.break_index])
            node = node.previous
        return found[::-1]


def _group_by_line(active: Sequence[_ActiveNode], lines: int) -> list[list[_ActiveNode]]:
    """Return the nodes whose next lines are equally wide together: the first `lines` may differ.

    Of each group the best start of a line is kept, as TeX does for shaped paragraphs.
    """
    groups: dict[int, list[_ActiveNode]] = {}
    for node in active:
        groups.setdefault(min(node.line, lines), []).append(node)
    return list(groups.values())


def _sum_glue(hlist: HorizontalList) -> list[float]:
    """Return the natural width of all glue before each box, in points."""
    lefts, rights = hlist.lefts, hlist.rights
    widths = (
        lefts[box + 1] - rights[box] if boundary in (SPACE, NO_BREAK_SPACE) else 0.0
        for box, boundary in enumerate(hlist.boundaries[:-1])
    )
    return list(accumulate(widths, initial=0.0))
