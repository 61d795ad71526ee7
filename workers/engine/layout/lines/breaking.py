"""Line breaking: horizontal lists become lines of one width, by first fit or total fit (optimal.py).

A template remembers the lines of titles, labels and fixed sentences for its next documents.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import Final

from workers.engine.characters import find_cluster_ends
from workers.engine.layout.context import EPSILON, LayoutContext
from workers.engine.layout.lines.drawing import LineBuilder, has_ideographs, hyphen_width
from workers.engine.layout.lines.fragments import (
    EMPTY_LIST_START,
    SINGLE_LIST,
    SINGLE_START,
    AtomicInline,
    BoxPosition,
    BrokenFigure,
    GlyphStyle,
    Hanging,
    InlinePosition,
    Line,
    Lines,
    Strut,
)
from workers.engine.layout.lines.horizontal_lists import (
    DISCRETIONARY,
    HorizontalList,
    make_horizontal_lists,
)
from workers.engine.layout.lines.initial_letters import take_initial_letter
from workers.engine.layout.lines.optimal import MAX_BREAKPOINTS, Edges, Measure, TotalFitBreaker
from workers.engine.syntax.typography import OPTICAL
from workers.engine.tree.memo import Kind
from workers.engine.tree.nodes import Inline, LineBreak, TextRun
from workers.engine.tree.styles.computed import (
    Align,
    ParagraphStyle,
    Style,
    TextStyle,
    TextWrap,
    WhiteSpace,
)

# Stops and commas that may hang at the end of a line (CSS Text 4 §9.2).
_STOPS: Final = frozenset(",.\u060c\u06d4\u3001\u3002\uff0c\uff0e\ufe50\ufe51\ufe52\uff61\uff64")
_QUOTES: Final = "\"'"  # straight quotes open and close
_OPENING: Final = frozenset({"Ps", "Pi", "Pf"})
_CLOSING: Final = frozenset({"Pe", "Pi", "Pf"})

# Parts of the width of a character that hang out with `optical`, at the end of a line and at its
# start. Less than all of a stop hangs: a whole one looks detached from its line.
OPTICAL_ENDS: Final[Mapping[str, float]] = {
    **dict.fromkeys("-\u2010\u2011", 0.55),
    **dict.fromkeys("\u2013\u2014", 0.2),
    **dict.fromkeys(".,\u060c\u06d4", 0.7),
    **dict.fromkeys(":;\u00b7", 0.35),
    **dict.fromkeys("!?", 0.15),
    **dict.fromkeys("\"'\u2018\u2019\u201c\u201d", 0.6),
    **dict.fromkeys("\u00ab\u00bb\u2039\u203a", 0.35),
    **dict.fromkeys(")]}", 0.15),
    **dict.fromkeys("\u3001\u3002\uff0c\uff0e", 0.5),
}
OPTICAL_STARTS: Final[Mapping[str, float]] = {
    **dict.fromkeys("-\u2010\u2011\u2022", 0.4),
    **dict.fromkeys("\u2013\u2014", 0.2),
    **dict.fromkeys("\"'\u2018\u2019\u201a\u201b\u201c\u201d\u201e", 0.6),
    **dict.fromkeys("\u00ab\u00bb\u2039\u203a", 0.35),
    **dict.fromkeys("([{", 0.15),
}


def find_hanging(
    hlist: HorizontalList, keywords: tuple[str, ...], *, is_rtl: bool, is_first: bool, is_last: bool
) -> Hanging:
    """Return the hanging widths of a list; `is_first` and `is_last` are its place in its paragraph."""
    count = len(hlist.texts)
    starts, ends, allowed = [0.0] * count, [0.0] * count, [0.0] * count
    if keywords == (OPTICAL,):
        for box, text in enumerate(hlist.texts):
            glyph_style = hlist.styles[box]
            if isinstance(glyph_style, AtomicInline) or glyph_style.level % 2 != is_rtl or not text:
                continue
            starts[box] = _part(glyph_style, text[0], OPTICAL_STARTS)
            ends[box] = _part(glyph_style, text[-1], OPTICAL_ENDS)
        return Hanging(starts, ends, allowed, OPTICAL_ENDS["-"])
    target = ends if "force-end" in keywords else allowed if "allow-end" in keywords else None
    if target is not None:
        for box, text in enumerate(hlist.texts):
            glyph_style = hlist.styles[box]
            if text[-1:] in _STOPS and text and not isinstance(glyph_style, AtomicInline):
                target[box] = glyph_style.measure(text[-1])
    if is_first and "first" in keywords and count:
        starts[0] = _whole(hlist.styles[0], hlist.texts[0][:1], _OPENING)
    if is_last and "last" in keywords and count:
        ends[-1] = _whole(hlist.styles[-1], hlist.texts[-1][-1:], _CLOSING) or ends[-1]
    return Hanging(starts, ends, allowed, 0.0)


def _part(glyph_style: GlyphStyle, char: str, parts: Mapping[str, float]) -> float:
    part = parts.get(char)
    return part * glyph_style.measure(char) if part else 0.0


def _whole(glyph_style: GlyphStyle | AtomicInline, char: str, classes: frozenset[str]) -> float:
    if not char or isinstance(glyph_style, AtomicInline):
        return 0.0
    is_bracket = char in _QUOTES or unicodedata.category(char) in classes
    return glyph_style.measure(char) if is_bracket else 0.0


def break_lines(
    context: LayoutContext,
    inlines: Sequence[Inline],
    *,
    base: TextStyle,
    style: ParagraphStyle,
    width: float,
    start: InlinePosition | None = None,
    marker_width: float = 0.0,
) -> Lines:
    """Break inline content into lines of at most `width` points, from `start` on.

    An unbreakable word may be wider than its line; `Lines.widest` reports it. `marker_width`
    in points indents the first line, for a marker in front of it.

    Raises:
        AuthoringError: The text is too long.
    """
    metrics = Strut.of(base, style, context.fonts.find(base))
    lines: list[Line] = []
    starts: list[BoxPosition] = []
    strips: list[int] = []
    found = Lines(lines, starts, strips, width=width, start=start)
    indents: tuple[float, ...] = (style.indent + marker_width,) if start is None else ()
    begin = None if start is None else start.position
    initial = None
    if style.initial_letter:
        initial, inlines = take_initial_letter(context, inlines, style, metrics)
        if initial is not None and start is None:
            indents = (indents[0] + initial.width,) * initial.beside
    hlists = chain(make_horizontal_lists(context, inlines, style), (None,))
    for number, (hlist, following) in enumerate(pairwise(hlists)):
        if hlist is None or (start is not None and number < start.list_index):
            continue
        strips.append(len(lines))
        if style.hanging:
            is_first = number == 0 and begin is None
            hlist.hanging = find_hanging(
                hlist,
                style.hanging,
                is_rtl=style.is_rtl,
                is_first=is_first,
                is_last=following is None,
            )
        for place, line in _break_list(hlist, style, width, indents, metrics, found, begin):
            starts.append(place)
            lines.append(line)
            indents = indents[1:]
        begin = None
    # Tuples take least memory.
    found.lines, found.starts, found.list_starts = tuple(lines), tuple(starts), tuple(strips)
    if found.starts == SINGLE_START and found.list_starts == SINGLE_LIST:
        found.starts, found.list_starts = SINGLE_START, SINGLE_LIST
    if initial is not None and start is None:
        room = width if style.is_rtl else None
        found.lines = initial.attach(lines, metrics, style.indent + marker_width, room)
        found.together = min(initial.beside, len(lines))
    return found


def measure_inlines(
    context: LayoutContext, inlines: Sequence[Inline], base: TextStyle, style: ParagraphStyle
) -> tuple[float, float]:
    """Return the min-content and the max-content width in points (CSS Sizing 3 §5.1)."""
    narrowest = widest = 0.0
    edge = max(style.indent, 0.0)
    if style.initial_letter:
        strut = Strut.of(base, style, context.fonts.find(base))
        initial, inlines = take_initial_letter(context, inlines, style, strut)
        edge += initial.width if initial else 0.0
    for hlist in make_horizontal_lists(context, inlines, style):
        if not hlist.texts:
            continue
        start = 0.0
        for index in hlist.emergency_breakpoints():
            narrowest = max(narrowest, hlist.rights[index] - start)
            start = hlist.lefts[index + 1] if index + 1 < len(hlist.lefts) else 0.0
        widest = max(widest, hlist.rights[-1])
    if style.initial_letter:
        narrowest += edge
    return narrowest, widest + edge


def _break_list(
    hlist: HorizontalList,
    style: ParagraphStyle,
    width: float,
    indents: tuple[float, ...],
    metrics: Strut,
    result: Lines,
    begin: BoxPosition | None,
) -> Iterator[tuple[BoxPosition, Line]]:
    """Yield the lines of a list with their starts; `result` has those before."""
    count = len(hlist.texts)
    indent = indents[0] if indents else 0.0
    if not count:
        line = _build_empty_line(hlist, style, metrics, indent)._replace(y=result.height)
        yield EMPTY_LIST_START, line
        return
    start = begin or BoxPosition(0, 0, hlist.lefts[0])
    builder = LineBuilder(hlist, style, metrics, width)
    if hlist.hanging is None and hlist.rights[-1] <= start.x + (width - indent) + EPSILON:
        end = BoxPosition(count - 1, -1, hlist.rights[-1])
        yield start, builder.build(start, end, indent, result.height)
    else:
        yield from _break_long_list(hlist, style, width, indents, builder, result, start)


def _break_long_list(
    hlist: HorizontalList,
    style: ParagraphStyle,
    width: float,
    indents: tuple[float, ...],
    builder: LineBuilder,
    result: Lines,
    start: BoxPosition,
) -> Iterator[tuple[BoxPosition, Line]]:
    count = len(hlist.texts)
    breakpoints = hlist.breakpoints()
    rights = _least_rights(hlist)
    ends = rights if len(breakpoints) == count else [rights[i] for i in breakpoints]
    characters = _ClusterPositions(hlist)
    may_cut = style.breaks_anywhere and style.white_space in _WRAPPING
    total_fit = _make_total_fit(hlist, style, breakpoints, width)
    chooser = _LineChooser(hlist, style, breakpoints, width)
    while True:
        for box in total_fit(start, indents) if total_fit else ():
            end = BoxPosition(box, -1, hlist.rights[box])
            indent = indents[0] if indents else 0.0
            yield start, builder.build(start, end, indent, result.height)
            if box == count - 1:
                return
            start = BoxPosition(box + 1, 0, hlist.lefts[box + 1])
            indents = indents[1:]
        indent = indents[0] if indents else 0.0
        at = bisect_left(breakpoints, start.box)
        available = width - indent
        limit = _start_of(hlist, start) + available + EPSILON
        number = bisect_right(ends, limit, lo=at) - 1
        while (
            number >= at
            and _hyphen_inside(hlist, breakpoints[number], count) + ends[number] > limit
        ):
            number -= 1
        if number >= at:
            box = breakpoints[chooser.choose(at, number, limit)]
        elif (
            last_space := hlist.find_last_no_break_space(start.box, breakpoints[at], limit)
        ) is not None:
            box = last_space
            result.broken = result.broken or _find_broken(hlist, breakpoints, at, last_space)
        elif may_cut and (cut := characters.cut(start, breakpoints[at], limit)):
            result.broken = result.broken or _find_broken(hlist, breakpoints, at)
            yield start, builder.build(start, cut, indent, result.height)
            start = characters.begin_after(cut)
            indents = indents[1:]
            continue
        else:
            box = breakpoints[at]
        end = BoxPosition(box, -1, hlist.rights[box])
        line = builder.build(start, end, indent, result.height)
        if line.width > available + EPSILON and line.width > result.widest:
            result.widest = line.width
            result.widest_text = "".join(fragment.text for fragment in line.fragments)
        yield start, line
        if box == count - 1:
            return
        start = BoxPosition(box + 1, 0, hlist.lefts[box + 1])
        indents = indents[1:]


class _LineChooser:
    """Applies the limits of hyphenation and runts to lines that are filled one after the other."""

    def __init__(
        self, hlist: HorizontalList, style: ParagraphStyle, breakpoints: Sequence[int], width: float
    ) -> None:
        self._hlist = hlist
        self._limits = style.hyphen_limits
        self._breakpoints = breakpoints
        self._width = width
        self._zone = self._limits.zone.resolve(width) or 0.0
        self._hyphens = 0  # of the lines before, one below the other
        # Breakpoints before the last word, or ideograph, and before the last two. One alone makes no
        # last line, but under `stable`, as in tables.
        self._last = len(breakpoints) - 1
        stays = style.text_wrap is TextWrap.STABLE
        self._before_one = self._last if stays else self._previous_whole(self._last)
        self._before_two = self._previous_whole(self._before_one)

    def choose(self, first: int, number: int, limit: float) -> int:
        """Return the breakpoint for a line, from those up to `number` that fit into `limit` points."""
        if self._before_one <= number < self._last and self._leaves_two(first):
            return self._before_two
        if not self._is_soft(number):
            self._hyphens = 0
            return number
        whole = number - 1
        while whole >= first and self._is_soft(whole):
            whole -= 1
        if whole >= first and self._needs_whole(self._breakpoints[whole], limit):
            self._hyphens = 0
            return whole
        self._hyphens += 1
        return number

    def _is_soft(self, number: int) -> bool:
        return self._hlist.boundaries[self._breakpoints[number]] == DISCRETIONARY

    def _previous_whole(self, number: int) -> int:
        number -= 1
        while number >= 0 and self._is_soft(number):
            number -= 1
        return number

    def _leaves_two(self, first: int) -> bool:
        """Return whether the line before the last may end before two words: it stays well filled."""
        if self._before_two < first:
            return False
        rest = self._hlist.rights[-1] - self._hlist.lefts[self._breakpoints[self._before_two] + 1]
        return rest <= self._width * _RUNT_MOST

    def _needs_whole(self, box: int, limit: float) -> bool:
        """Return whether a line ends with a box, with a whole word, for it may not have a hyphen."""
        hlist, limits = self._hlist, self._limits
        if limits.lines and self._hyphens >= limits.lines:
            return True
        if self._zone and limit - hlist.rights[box] <= self._zone:
            return True
        return limits.last == "always" and hlist.rights[-1] - hlist.lefts[box + 1] <= self._width


def _find_broken(
    hlist: HorizontalList, breakpoints: Sequence[int], at: int, box: int | None = None
) -> BrokenFigure | None:
    """Return the figure up to a breakpoint that is broken inside, in or after a box; None for others."""
    first, last = breakpoints[at - 1] + 1 if at else 0, breakpoints[at]
    if last - first >= _LONGEST_FIGURE:
        return None
    text = "".join("".join(hlist.texts[first : last + 1]).split())
    if len(text) > _LONGEST_FIGURE:
        return None
    if _IBAN.fullmatch(text):
        if box is not None:  # between groups
            return None
    else:
        ends = box is None or (hlist.texts[box][-1:] + hlist.texts[box + 1][:1]).isdigit()
        if not ends or not _NUMBER.fullmatch(text):
            return None
    return BrokenFigure(text, hlist.rights[last] - hlist.lefts[first])


def _build_empty_line(
    hlist: HorizontalList, style: ParagraphStyle, metrics: Strut, indent: float
) -> Line:
    height, baseline = metrics.of_empty(hlist.empty_style)
    x = 0.0 if style.is_rtl else indent
    return Line(x, 0.0, height, baseline, 0.0, (), 0.0, tuple(hlist.anchors.get(0, ())))


def _least_rights(hlist: HorizontalList) -> Sequence[float]:
    """Return where lines that end with each box end at least, in points, without what may hang."""
    if hlist.hanging is None:
        return hlist.rights
    outside = map(max, hlist.hanging.ends, hlist.hanging.allowed)
    return [right - hung for right, hung in zip(hlist.rights, outside, strict=True)]


def _start_of(hlist: HorizontalList, start: BoxPosition) -> float:
    """Return where a line starts, in points, without what hangs."""
    return start.x if hlist.hanging is None else start.x + hlist.hanging.at_start(start)


def _hyphen_inside(hlist: HorizontalList, box: int, count: int) -> float:
    """Return the width of the hyphen at the end of a line, without what of it hangs."""
    hyphen = hyphen_width(hlist, box, count)
    hanging = hlist.hanging
    return hyphen * (1 - hanging.hyphen) if hyphen and hanging is not None else hyphen


_RUNT_MOST: Final = 0.4  # of the measure, so that the line before keeps 60 %
_LONGEST_FIGURE: Final = 60  # characters
# Amounts, with a currency or a sign on either side, and other numbers such as those of accounts.
_NUMBER: Final = re.compile(
    r"[^\w\s]{0,3}[^\W\d_]{0,4}[^\w\s]{0,3}\d[\d.,'’٫٬/:–-]*\d[^\w\s]{0,3}[^\W\d_]{0,4}[^\w\s]{0,3}"
)
_IBAN: Final = re.compile(r"[A-Z]{2}\d\d[A-Z\d]{11,30}")
_SOLID: Final = (WhiteSpace.PRE, WhiteSpace.NOWRAP)
_WRAPPING: Final = tuple(value for value in WhiteSpace if value not in _SOLID)
# Returns the boxes that the next lines end with, from a start and the indents of its lines; empty
# where the next line is filled greedily.
_TotalFit = Callable[[BoxPosition, Sequence[float]], Sequence[int]]


def _make_total_fit(
    hlist: HorizontalList, style: ParagraphStyle, breakpoints: Sequence[int], width: float
) -> _TotalFit | None:
    """Return the total-fit breaker of a list, None where its lines are filled greedily."""
    is_justified = style.align is Align.JUSTIFY
    wrap = style.text_wrap
    if wrap is TextWrap.AUTO:
        wrap = TextWrap.PRETTY if is_justified else TextWrap.STABLE
    if wrap is TextWrap.STABLE or style.white_space in _SOLID or len(breakpoints) > MAX_BREAKPOINTS:
        return None
    if has_ideographs(hlist):
        return None  # nearly every character is a breakpoint
    count = len(hlist.texts)
    natural_end = Edges.of(hlist).rights[-1]

    hyphen = partial(_hyphen_inside, hlist, count=count)

    def fit(start: BoxPosition, indents: Sequence[float]) -> Sequence[int]:
        x = _start_of(hlist, start)
        if natural_end - x <= width - (indents[0] if indents else 0.0) + EPSILON:
            return ()
        limits = style.hyphen_limits
        measure = Measure.of(width, indents, is_justified=is_justified, hyphens=limits)
        breaker = TotalFitBreaker(hlist, breakpoints, start.box, x, measure, hyphen)
        return breaker.find_balanced() if wrap is TextWrap.BALANCE else breaker.find_optimal()

    return fit


class _ClusterPositions:
    """Positions of the characters of one box, computed once for the box that is being split."""

    def __init__(self, hlist: HorizontalList) -> None:
        self._strip = hlist
        self._unit = -1
        self._ends: list[float] = []
        self._clusters: list[int] = []

    def cut(self, start: BoxPosition, last: int, limit: float) -> BoxPosition | None:
        """Return the last position up to `limit` points at which a box may be split; None for its end.

        At least one grapheme cluster stays on a line, so breaking always terminates.
        """
        hlist = self._strip
        box = bisect_right(hlist.rights, limit, lo=start.box, hi=last)
        glyph_style = hlist.styles[box]
        if isinstance(glyph_style, AtomicInline):
            return None if box == start.box else BoxPosition(box, 0, hlist.lefts[box])
        if box != self._unit:
            self._unit = box
            self._ends = [
                hlist.lefts[box] + end for end in glyph_style.character_ends(hlist.texts[box])
            ]
            self._clusters = list(_bound_clusters(find_cluster_ends(hlist.texts[box])))
        text = hlist.texts[box]
        first = start.offset if box == start.box else 0
        offset = bisect_right(self._ends, limit, lo=first)
        complete = bisect_right(self._clusters, offset)
        offset = max(first, self._clusters[complete - 1] if complete else 0)
        if offset == first and box == start.box:
            drawn = bisect_right(self._ends, self._ends[first], lo=first)
            offset = self._clusters[bisect_left(self._clusters, max(drawn, first + 1))]
        if offset >= len(text):
            if box < last:
                return BoxPosition(box + 1, 0, hlist.lefts[box + 1])
            # Everything fits except the visible hyphen.
            offset = self._clusters[-2] if len(self._clusters) > 1 else 0
            if offset <= first:
                return None
        return BoxPosition(box, offset, self._ends[offset - 1] if offset else hlist.lefts[box])

    def begin_after(self, cut: BoxPosition) -> BoxPosition:
        """Return the start of the line after a split; the kern at the split is dropped."""
        glyph_style = self._strip.styles[cut.box]
        if not cut.offset or isinstance(glyph_style, AtomicInline):
            return cut
        text = self._strip.texts[cut.box]
        return cut._replace(x=cut.x + glyph_style.kern(text[cut.offset - 1], text[cut.offset]))


_LONGEST_CLUSTER: Final = 32  # UAX #15 §13: no language has more than 30 marks on a letter


def _bound_clusters(ends: Sequence[int]) -> Iterator[int]:
    """Yield the ends of grapheme clusters; an endless row of marks is split, so that it fits somewhere."""
    start = 0
    for end in ends:
        yield from range(start + _LONGEST_CLUSTER, end, _LONGEST_CLUSTER)
        yield end
        start = end


_MAX_CHARACTERS: Final = 600  # longer texts are rarely the same in two documents


def remember_lines(
    context: LayoutContext,
    inlines: Sequence[Inline],
    style: Style,
    width: float,
    break_: Callable[[], Lines],
) -> Lines:
    """Return the lines of a text at a width, or else those that `break_` returns.

    They depend on nothing but the text, its styles and the width.
    """
    described: list[object] = [id(style.text), id(style.paragraph), width]
    if style.paragraph.initial_letter is not None or not _describe_text(inlines, described):
        return break_()
    key = tuple(described)
    return context.memo.template.remember(LINES, key, break_, holds=(style, inlines))


def _describe_text(inlines: Iterable[Inline], out: list[object]) -> bool:
    """Append what the lines of a text depend on; return False unless all is text, and short."""
    length = 0
    for inline in inlines:
        if type(inline) is TextRun:
            out += (inline.text, id(inline.style), inline.link)
            length += len(inline.text)
        elif type(inline) is LineBreak:
            out.append(id(inline.style))
        else:
            return False
    return length <= _MAX_CHARACTERS


def _size_of(lines: Lines) -> int:
    parts = sum(len(line.fragments) for line in lines.lines)
    return 500 + 200 * len(lines.lines) + 300 * parts


LINES: Final[Kind[tuple[object, ...], Lines]] = Kind(size_of=_size_of)
