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
from operator import add, mul, sub
from typing import Final, NamedTuple

from workers.engine.layout.context import EPSILON
from workers.engine.layout.lines.fragments import GlyphStyle
from workers.engine.layout.lines.horizontal_lists import (
    BREAK,
    DISCRETIONARY,
    IS_GLUE,
    SPACE,
    HorizontalList,
)
from workers.engine.tree.styles.computed import USUAL_HYPHEN_LIMITS, HyphenLimits

# Stretch and shrink of a space, as fractions of its width. TeX has 1/2 and 1/3, for wider spaces.
_STRETCH: Final = 1 / 2
SHRINK: Final = 1 / 4
# Ragged lines have no stretch: this fraction of the measure stands for it.
_RAGGED_STRETCH: Final = 0.1

_PRETOLERANCE: Final = 1.0  # badness 100 of TeX
_TOLERANCE: Final = 2.0
_RAGGED_PRETOLERANCE: Final = 2.0
_RAGGED_TOLERANCE: Final = 4.0
# Limits that are tried before none, as multiples of the tolerance.
_WIDER: Final = (2, 8)
# TeX's greatest badness is that of a ratio of 4.6, so that one line takes all that others would have
# too much of. Here the worst line decides, as wide a measure as a page can be.
_WORST_RATIO: Final = 20_000.0

_OPPORTUNITY: Final = 51.0  # a line's own demerits, and the penalty of a break without a space
_DOUBLE_HYPHEN_DEMERITS: Final = 10_000.0
_FINAL_HYPHEN_DEMERITS: Final = 5_000.0
# One more hyphen than `hyphenate-limit-lines` allows, or one that `hyphenate-limit-last` does not, costs
# as much as a line whose spaces are four times as wide.
_LIMIT_DEMERITS: Final = 400_000_000.0
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

    limit: float  # where the next line ends at its full width, in points
    x: float  # start of the next line in points
    glue: float  # natural width of all glue before that
    demerits: float
    hyphens: int  # of the lines before it, one below the other
    previous: _ActiveNode | None
    box: int  # that the line before ends with, -1 for the start
    line: int  # number of the next line


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
    hyphens: HyphenLimits = USUAL_HYPHEN_LIMITS

    @classmethod
    def of(
        cls,
        width: float,
        indents: Sequence[float],
        *,
        is_justified: bool,
        hyphens: HyphenLimits = USUAL_HYPHEN_LIMITS,
    ) -> Measure:
        """Return the measure of a paragraph of `width` points, its first lines indented."""
        first = tuple(width - indent for indent in indents)
        if is_justified:
            return cls(first, width, _STRETCH, SHRINK, 0.0, RUNT_DEMERITS, hyphens)
        ragged = width * _RAGGED_STRETCH
        return cls(first, width, 0.0, 0.0, ragged, RAGGED_RUNT_DEMERITS, hyphens)

    @property
    def zone(self) -> float:
        """The space in points that a line may leave free before a word is hyphenated."""
        return self.hyphens.zone.resolve(self.others) or 0.0

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
        self._widest_hyphen = _bound_hyphens(hlist)

    def find_optimal(self) -> list[int]:
        """Return the box that each line ends with; empty where the first word is wider than its line."""
        boxes = self._breakpoints
        if not boxes:
            return []
        boundaries = self._hlist.boundaries
        unhyphenated = boxes
        if DISCRETIONARY in boundaries:
            unhyphenated = [box for box in boxes[:-1] if boundaries[box] != DISCRETIONARY]
            unhyphenated.append(boxes[-1])
        pretolerance, tolerance = (
            (_PRETOLERANCE, _TOLERANCE)
            if self._measure.stretch
            else (_RAGGED_PRETOLERANCE, _RAGGED_TOLERANCE)
        )
        end = self._search(unhyphenated, pretolerance)
        if end is None or self._is_runt(end):
            hyphenated = self._search(boxes, tolerance)
            if hyphenated is None or hyphenated.demerits >= _LIMIT_DEMERITS:
                hyphenated = end or self._search_without_limit(tolerance)
            end = hyphenated
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
        """Return the breakpoints from one on, up to the first word that is wider than a line."""
        lefts, rights, hyphen_width = self._edges.lefts, self._edges.rights, self._hyphen_width
        allowed = self._edges.allowed
        available = self._measure.narrowest + EPSILON
        boxes = breakpoints[first:]
        starts = [self._x, *_select(lefts[1:], boxes[:-1])]
        widths = list(map(sub, _select(rights, boxes), starts))
        if max(widths, default=0.0) <= available / 2:  # no hyphen is half a line wide
            return boxes
        for number, (box, width) in enumerate(zip(boxes, widths, strict=True)):
            least = width - (allowed[box] if allowed else 0.0)
            if least > available / 2 and least + hyphen_width(box) > available:
                return boxes[:number]
        return boxes

    def _search_without_limit(self, tolerance: float) -> _ActiveNode | None:
        """Return the last node of the best breaks of any looseness, from a tolerance that has none.

        Breaks within a limit are the best of all if even one line beyond it had more demerits than
        they have together: few lines are looser than a little, and each limit leaves few breaks.
        """
        for factor in _WIDER:
            limit = tolerance * factor
            end = self._search(self._breakpoints, limit)
            if end is not None and end.demerits <= (100 * limit**3) ** 2:
                return end
        return self._search(self._breakpoints, inf)

    def _search(  # noqa: C901, PLR0912, PLR0915  (a call for each breakpoint takes a third longer)
        self, boxes: Sequence[int], tolerance: float
    ) -> _ActiveNode | None:
        """Return the last node of the best breaks whose adjustment ratio is at most `tolerance`."""
        measure, edges, boundaries = self._measure, self._edges, self._hlist.boundaries
        lefts, allowed, glue_sums = edges.lefts, edges.allowed, self._glue_sums
        stretch, shrink, ragged = measure.stretch, measure.shrink, measure.ragged
        width_of, others, lines = measure.width_of, measure.others, len(measure.first)
        is_grouped = lines > 1 or max(measure.first, default=0.0) > others
        rights, glues = _select(edges.rights, boxes), _select(glue_sums, boxes)
        x, glue = self._x, glue_sums[self._box]
        active = [_ActiveNode(x + width_of(0), x, glue, 0.0, 0, None, -1, 0)]
        most_hyphens = measure.hyphens.lines or inf
        zone = measure.zone
        whole = x  # where the last word before this one ends
        tightest: _ActiveNode | None = None
        final = len(boxes) - 1
        number = -1
        while True:
            number += 1
            if active[0] is not tightest:
                tightest = active[0]
                number = max(number, self._skip(rights, glues, tightest, tolerance))
            if number >= final:
                return self._end(active, boxes[-1])
            box, right, glue = boxes[number], rights[number], glues[number]
            boundary = boundaries[box]
            is_soft = boundary == DISCRETIONARY
            if is_soft:
                right += self._hyphen_width(box)
                if zone:
                    whole = self._end_of_last_word(box)
            penalty = _OPPORTUNITY if is_soft or boundary == BREAK else 1.0
            hung = allowed[box] if allowed else 0.0
            found: list[_ActiveNode] = []
            is_overfull = False
            groups = _group_by_line(active, lines) if is_grouped else [active]
            for group in groups:
                best: _ActiveNode | None = None
                least = inf
                for node in group:
                    slack = node.limit - right
                    line_glue = glue - node.glue
                    if zone and is_soft and whole > node.x and node.limit - whole <= zone:
                        continue
                    if slack < -EPSILON and hung:
                        slack = min(slack + hung, 0.0)
                    if slack < -EPSILON:
                        most = line_glue * shrink
                        if -slack > most + EPSILON:
                            is_overfull = True
                            continue
                        ratio = -slack / most
                        badness = 100 * ratio * ratio * ratio
                    else:
                        # Lines that start later are looser still.
                        room = line_glue * stretch or ragged
                        ratio = slack / room if room > 1 else slack
                        if ratio > tolerance:
                            break
                        badness = 100 * min(ratio, _WORST_RATIO) ** 3
                        if badness * badness > least:
                            break
                    demerits = node.demerits + (penalty + badness) ** 2
                    if is_soft and node.hyphens:
                        demerits += _DOUBLE_HYPHEN_DEMERITS
                        if node.hyphens >= most_hyphens:
                            demerits += _LIMIT_DEMERITS
                    if demerits < least:
                        best, least = node, demerits
                if best is not None:
                    x, line = lefts[box + 1], best.line + 1
                    limit = x + (others if line >= lines else width_of(line))
                    after = glue_sums[box + 1]
                    hyphens = best.hyphens + 1 if is_soft else 0
                    found.append(_ActiveNode(limit, x, after, least, hyphens, best, box, line))
                    if hyphens >= most_hyphens:  # where one more may follow costs more up to here
                        groups.append([node for node in group if node.hyphens + 1 < most_hyphens])
            if is_overfull:
                tight = rights[number] - hung - EPSILON
                while active and tight - (glue - active[0].glue) * shrink > active[0].limit:
                    del active[0]
            active += found
            if not active:
                return None

    def _end_of_last_word(self, box: int) -> float:
        """Return where the last word before a box ends, in points, or the start if there is none."""
        boundaries = self._hlist.boundaries
        for before in range(box - 1, self._box - 1, -1):
            if boundaries[before] in (SPACE, BREAK):
                return self._edges.rights[before]
        return self._x

    def _skip(
        self, rights: Sequence[float], glues: Sequence[float], first: _ActiveNode, tolerance: float
    ) -> int:
        """Return a breakpoint before which lines are too loose, even the one that starts first.

        Most words are in the middle of lines.
        """
        if tolerance == inf:
            return 0
        measure, last = self._measure, len(rights) - 1
        natural = measure.narrowest + first.x - self._widest_hyphen
        glue = glues[bisect_left(rights, natural, 0, last)] - first.glue
        stretch = max(glue * measure.stretch, measure.ragged, 1) * tolerance
        return bisect_left(rights, natural - stretch, 0, last)

    def _end(self, active: Sequence[_ActiveNode], box: int) -> _ActiveNode | None:
        """Return the node of the last line, which is not stretched, None where none fits."""
        edges, measure = self._edges, self._measure
        right, glue, hung = edges.rights[box], self._glue_sums[box], 0.0
        is_soft = self._hlist.boundaries[box] == DISCRETIONARY
        if is_soft:
            right += self._hyphen_width(box)
        if edges.allowed:
            hung = edges.allowed[box]
        is_opportunity = is_soft or self._hlist.boundaries[box] == BREAK
        penalty = _OPPORTUNITY if is_opportunity else 1.0
        hyphens = _DOUBLE_HYPHEN_DEMERITS if is_soft else _FINAL_HYPHEN_DEMERITS
        if measure.hyphens.last == "always":
            hyphens += _LIMIT_DEMERITS
        best: _ActiveNode | None = None
        least = inf
        for node in active:
            slack, line_glue = node.limit - right, glue - node.glue
            if slack < -EPSILON:
                slack = min(slack + hung, 0.0)
            badness = 0.0
            if slack < -EPSILON:
                most = line_glue * measure.shrink
                if -slack > most + EPSILON:
                    continue
                ratio = -slack / most
                badness = 100 * ratio * ratio * ratio
            demerits = node.demerits + (penalty + badness) ** 2
            if node.hyphens:
                demerits += hyphens
            if line_glue <= 0 and node.previous is not None:
                demerits += measure.runt
            if demerits < least:
                best, least = node, demerits
        return best and _ActiveNode(0.0, 0.0, glue, least, 0, best, box, 0)

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
        return previous.previous is not None and end.glue <= previous.glue

    def _trace(self, end: _ActiveNode) -> list[int]:
        found: list[int] = []
        node: _ActiveNode | None = end
        while node is not None and node.box >= 0:
            found.append(node.box)
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


def _bound_hyphens(hlist: HorizontalList) -> float:
    """Return a width in points that no hyphen of a list exceeds, 0 without hyphens: an em."""
    if DISCRETIONARY not in hlist.boundaries:
        return 0.0
    return max(
        (
            glyph_style.style.size + max(glyph_style.style.letter_spacing, 0.0)
            for glyph_style in hlist.distinct_styles()
            if isinstance(glyph_style, GlyphStyle)
        ),
        default=0.0,
    )


def _select(values: Sequence[float], boxes: Sequence[int]) -> Sequence[float]:
    """Return the values of some boxes."""
    if isinstance(boxes, range):
        return values[boxes.start : boxes.stop]
    return list(map(values.__getitem__, boxes))


def _sum_glue(hlist: HorizontalList) -> list[float]:
    """Return the natural width of all glue before each box, in points."""
    gaps = map(sub, hlist.lefts[1:], hlist.rights)
    return list(accumulate(map(mul, gaps, map(IS_GLUE.__getitem__, hlist.boundaries)), initial=0.0))
