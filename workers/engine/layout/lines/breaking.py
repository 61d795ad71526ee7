"""Line breaking: horizontal lists become lines of one width, by first fit or total fit (optimal.py)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from workers.engine.characters import find_cluster_ends
from workers.engine.layout.context import EPSILON, LayoutContext
from workers.engine.layout.lines.bidi import reorder
from workers.engine.layout.lines.fragments import (
    EMPTY_LIST_START,
    SINGLE_LIST,
    SINGLE_START,
    AtomicInline,
    BoxPosition,
    GlyphStyle,
    InlineFragment,
    InlinePosition,
    Line,
    Lines,
)
from workers.engine.layout.lines.heights import Strut
from workers.engine.layout.lines.horizontal_lists import (
    DISCRETIONARY,
    NO_BREAK_SPACE,
    SOFT_HYPHEN,
    SPACE,
    HorizontalList,
    make_horizontal_lists,
)
from workers.engine.layout.lines.optimal import MAX_BREAKPOINTS, SHRINK, Measure, TotalFitBreaker
from workers.engine.tree.nodes import Inline
from workers.engine.tree.styles.computed import (
    Align,
    ParagraphStyle,
    TextStyle,
    TextWrap,
    WhiteSpace,
)


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
    found = _LineCollector([], [], [])
    lines = found.lines
    y = 0.0
    indent = style.indent + marker_width if start is None else 0.0
    begin = None if start is None else start.position
    for number, hlist in enumerate(make_horizontal_lists(context, inlines, style)):
        if start is not None and number < start.list_index:
            continue
        found.strips.append(len(lines))
        for line in _break_list(hlist, style, width, indent, metrics, found, begin):
            lines.append(line._replace(y=y) if y else line)
            y += line.height
            indent = 0.0
        begin = None
    return found.close(width, start)


@dataclass(slots=True)
class _LineCollector:
    """Lines of a paragraph while it is being broken, as in `Lines`."""

    lines: list[Line]
    starts: list[BoxPosition]
    strips: list[int]
    widest: float = 0.0
    widest_text: str = ""

    def close(self, width: float, start: InlinePosition | None) -> Lines:
        """Return the lines as immutable tuples, which take least memory."""
        is_plain = (
            len(self.lines) == 1 and self.starts[0] == EMPTY_LIST_START and self.strips == [0]
        )
        return Lines(
            tuple(self.lines),
            SINGLE_START if is_plain else tuple(self.starts),
            SINGLE_LIST if is_plain else tuple(self.strips),
            self.widest,
            self.widest_text,
            None,
            width,
            start,
        )


def measure_inlines(
    context: LayoutContext, inlines: Sequence[Inline], style: ParagraphStyle
) -> tuple[float, float]:
    """Return the min-content and the max-content width in points (CSS Sizing 3 §5.1)."""
    narrowest = widest = 0.0
    for hlist in make_horizontal_lists(context, inlines, style):
        if not hlist.texts:
            continue
        start = 0.0
        for index in hlist.emergency_breakpoints():
            narrowest = max(narrowest, hlist.rights[index] - start)
            start = hlist.lefts[index + 1] if index + 1 < len(hlist.lefts) else 0.0
        widest = max(widest, hlist.rights[-1])
    return narrowest, widest + max(style.indent, 0.0)


def _break_list(
    hlist: HorizontalList,
    style: ParagraphStyle,
    width: float,
    indent: float,
    metrics: Strut,
    result: _LineCollector,
    begin: BoxPosition | None,
) -> Iterator[Line]:
    count = len(hlist.texts)
    if not count:
        result.starts.append(EMPTY_LIST_START)
        height, baseline = metrics.of_empty(hlist.empty_style)
        x = 0.0 if style.is_rtl else indent
        yield Line(x, 0.0, height, baseline, 0.0, (), 0.0, tuple(hlist.anchors.get(0, ())))
        return
    breakpoints = hlist.breakpoints()
    rights = hlist.rights
    ends = rights if len(breakpoints) == count else [rights[i] for i in breakpoints]
    start = begin or BoxPosition(0, 0, hlist.lefts[0])
    characters = _ClusterPositions(hlist)
    may_cut = style.breaks_anywhere and style.white_space in _WRAPPING
    total_fit = _make_total_fit(hlist, style, breakpoints, width)
    while True:
        for box in total_fit(start, indent) if total_fit else ():
            result.starts.append(start)
            end = BoxPosition(box, -1, rights[box])
            yield _build_line(hlist, style, metrics, start, end, width, indent)
            if box == count - 1:
                return
            start = BoxPosition(box + 1, 0, hlist.lefts[box + 1])
            indent = 0.0
        result.starts.append(start)
        at = bisect_left(breakpoints, start.box)
        available = width - indent
        limit = start.x + available + EPSILON
        number = bisect_right(ends, limit, lo=at) - 1
        while (
            number >= at and _hyphen_width(hlist, breakpoints[number], count) + ends[number] > limit
        ):
            number -= 1
        if number >= at:
            end = BoxPosition(breakpoints[number], -1, ends[number])
            following = breakpoints[number] + 1
        elif may_cut and (cut := characters.cut(start, breakpoints[at], limit)):
            yield _build_line(hlist, style, metrics, start, cut, width, indent)
            start = characters.begin_after(cut)
            indent = 0.0
            continue
        elif (
            last_space := hlist.find_last_no_break_space(start.box, breakpoints[at], limit)
        ) is not None:
            end = BoxPosition(last_space, -1, rights[last_space])
            following = last_space + 1
        else:
            end = BoxPosition(breakpoints[at], -1, ends[at])
            following = breakpoints[at] + 1
        line = _build_line(hlist, style, metrics, start, end, width, indent)
        if line.width > available + EPSILON and line.width > result.widest:
            result.widest = line.width
            result.widest_text = "".join(fragment.text for fragment in line.fragments)
        yield line
        if following == count:
            return
        start = BoxPosition(following, 0, hlist.lefts[following])
        indent = 0.0


_SOLID: Final = (WhiteSpace.PRE, WhiteSpace.NOWRAP)
_WRAPPING: Final = tuple(value for value in WhiteSpace if value not in _SOLID)
# Returns the boxes that the next lines end with, from a start and the indent of its line; empty
# where the next line is filled greedily.
_TotalFit = Callable[[BoxPosition, float], Sequence[int]]


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
    if _has_ideographs(hlist):
        return None  # nearly every character is a breakpoint
    count = len(hlist.texts)

    def hyphen_width(box: int) -> float:
        return _hyphen_width(hlist, box, count)

    def fit(start: BoxPosition, indent: float) -> Sequence[int]:
        if hlist.rights[-1] - start.x <= width - indent + EPSILON:
            return ()
        measure = Measure.of(width, indent, is_justified=is_justified)
        breaker = TotalFitBreaker(hlist, breakpoints, start.box, start.x, measure, hyphen_width)
        return breaker.find_balanced() if wrap is TextWrap.BALANCE else breaker.find_optimal()

    return fit


def _has_ideographs(hlist: HorizontalList) -> bool:
    styles = hlist.styles[:1] if hlist.has_one_style else hlist.styles
    return any(
        isinstance(glyph_style, GlyphStyle) and glyph_style.face.is_ideographic
        for glyph_style in styles
    )


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


def _hyphen_width(hlist: HorizontalList, box: int, count: int) -> float:
    if hlist.boundaries[box] != DISCRETIONARY or box == count - 1:
        return 0.0
    glyph_style, text = hlist.styles[box], hlist.texts[box].removesuffix(SOFT_HYPHEN)
    if isinstance(glyph_style, AtomicInline):
        return 0.0
    return glyph_style.measure("-") + (glyph_style.kern(text[-1], "-") if text else 0.0)


def _build_line(
    hlist: HorizontalList,
    style: ParagraphStyle,
    metrics: Strut,
    start: BoxPosition,
    end: BoxPosition,
    width: float,
    indent: float,
) -> Line:
    fragments = (
        _single_fragment(hlist, start, end)
        if hlist.has_one_style
        else _build_fragments(hlist, start, end)
    )
    own_width = fragments[-1].x + fragments[-1].width  # still in logical order
    height, baseline = metrics.of_line(fragments)
    available = width - indent
    slack = available - own_width
    x = 0.0 if style.is_rtl else indent  # the indent is at the start edge
    word_spacing = 0.0
    match style.align:
        case Align.RIGHT | Align.DECIMAL:
            x += slack
        case Align.CENTER:
            x += slack / 2
        case Align.JUSTIFY:
            opportunities = sum(map(_count_opportunities, fragments)) - _ends_in_opportunity(
                fragments
            )
            is_last = end.box == len(hlist.texts) - 1
            is_spread = slack > 0 and end.offset < 0 and not is_last
            if opportunities and (
                is_spread or (slack < -EPSILON and _can_shrink(hlist, start, end, -slack))
            ):
                word_spacing = slack / opportunities
                fragments = _justify(fragments, word_spacing)
                own_width = available
            elif style.is_rtl:
                x += slack
        case _:
            pass
    if hlist.has_levels:
        fragments = reorder_fragments(fragments)
    anchors = hlist.anchors_between(start.box, end.box) if hlist.anchors else ()
    is_cut = end.offset >= 0 or end.box == len(hlist.texts) - 1
    boundary = 0 if is_cut else hlist.boundaries[end.box]
    return Line(x, 0.0, height, baseline, own_width, fragments, word_spacing, anchors, boundary)


def _can_shrink(hlist: HorizontalList, start: BoxPosition, end: BoxPosition, excess: float) -> bool:
    """Return whether the spaces of a line shrink by `excess` points, within the limit of total fit."""
    spaces = sum(
        hlist.lefts[box + 1] - hlist.rights[box]
        for box in range(start.box, end.box)
        if hlist.boundaries[box] in (SPACE, NO_BREAK_SPACE)
    )
    return excess <= spaces * SHRINK + 2 * EPSILON


def reorder_fragments(fragments: tuple[InlineFragment, ...]) -> tuple[InlineFragment, ...]:
    """Set the `x` of fragments by their visual order (UAX #9 L2); the tuple stays in logical order."""
    x = 0.0
    arranged = list(fragments)
    for number in reorder([fragment.glyph_style.level for fragment in fragments]):
        arranged[number] = fragments[number]._replace(x=x)
        x += fragments[number].width
    return tuple(arranged)


def _single_fragment(
    hlist: HorizontalList, start: BoxPosition, end: BoxPosition
) -> tuple[InlineFragment, ...]:
    text = _text_between(hlist, start, end)
    return (
        InlineFragment(
            0.0, end.x - start.x + _visible_hyphen_width(hlist, end), text, hlist.styles[0]
        ),
    )


def _build_fragments(
    hlist: HorizontalList, start: BoxPosition, end: BoxPosition
) -> tuple[InlineFragment, ...]:
    styles = hlist.styles
    # A split before the first character of a box ends the line with the box before it.
    last = end.box - 1 if end.offset == 0 else end.box
    fragments: list[InlineFragment] = []
    box = start.box
    while box <= last:
        glyph_style = styles[box]
        stop = box
        while (
            stop < last
            and styles[stop + 1] is glyph_style
            and not isinstance(glyph_style, AtomicInline)
        ):
            stop += 1
        begin = start if box == start.box else BoxPosition(box, 0, hlist.lefts[box])
        finish = end if stop == last else BoxPosition(stop, -1, hlist.rights[stop])
        text = _text_between(hlist, begin, finish)
        hyphen = _visible_hyphen_width(hlist, finish) if stop == last else 0.0
        fragments.append(
            InlineFragment(begin.x - start.x, finish.x - begin.x + hyphen, text, glyph_style)
        )
        if stop < last and (space := hlist.space_style_after(stop)):
            width = hlist.lefts[stop + 1] - hlist.rights[stop]
            fragments.append(
                InlineFragment(finish.x - start.x, width, hlist.spaces_after(stop), space)
            )
        box = stop + 1
    return _merge_adjacent(fragments)


def _merge_adjacent(fragments: list[InlineFragment]) -> tuple[InlineFragment, ...]:
    """Merge neighbours of one glyph style, as a space between elements has the style of one of them."""
    merged: list[InlineFragment] = []
    for fragment in fragments:
        before = merged[-1] if merged else None
        if (
            before is not None
            and before.glyph_style is fragment.glyph_style
            and not isinstance(fragment.glyph_style, AtomicInline)
        ):
            text, width = before.text + fragment.text, before.width + fragment.width
            merged[-1] = before._replace(text=text, width=width)
        else:
            merged.append(fragment)
    return tuple(merged)


def _text_between(hlist: HorizontalList, start: BoxPosition, end: BoxPosition) -> str:
    texts = hlist.texts
    if start.box == end.box:
        text = texts[start.box]
        text = text[start.offset :] if end.offset < 0 else text[start.offset : end.offset]
    else:
        boundaries = hlist.boundaries
        words = [texts[start.box][start.offset :]]
        for box in range(start.box, end.box):
            if boundaries[box] in (SPACE, NO_BREAK_SPACE):
                words.append(hlist.spaces_after(box))
            words.append(texts[box + 1])
        if end.offset >= 0:
            words[-1] = words[-1][: end.offset]
        text = "".join(words)
    if SOFT_HYPHEN in text:
        text = text.replace(SOFT_HYPHEN, "")
    return text + "-" if _visible_hyphen_width(hlist, end) else text


def _visible_hyphen_width(hlist: HorizontalList, end: BoxPosition) -> float:
    if end.offset >= 0 or hlist.boundaries[end.box] != DISCRETIONARY:
        return 0.0
    return _hyphen_width(hlist, end.box, len(hlist.texts))


def _justify(
    fragments: tuple[InlineFragment, ...], word_spacing: float
) -> tuple[InlineFragment, ...]:
    shift = 0.0
    justified = []
    for number, fragment in enumerate(fragments, start=1):
        opportunities = _count_opportunities(fragment) - (
            _ends_in_opportunity(fragments) if number == len(fragments) else 0
        )
        extra = opportunities * word_spacing
        justified.append(fragment._replace(x=fragment.x + shift, width=fragment.width + extra))
        shift += extra
    return tuple(justified)


def _count_opportunities(fragment: InlineFragment) -> int:
    """Return the number of justification opportunities of a fragment (CSS Text 3 §6.4).

    They are its spaces; in ideographic text, every character.
    """
    return (
        len(fragment.text) if _is_spaced_between_characters(fragment) else fragment.text.count(" ")
    )


def _ends_in_opportunity(fragments: Sequence[InlineFragment]) -> int:
    """Return 1 where the last opportunity lies after the last character, which is not expanded."""
    return int(_is_spaced_between_characters(fragments[-1]))


def _is_spaced_between_characters(fragment: InlineFragment) -> bool:
    glyph_style = fragment.glyph_style
    return (
        isinstance(glyph_style, GlyphStyle)
        and glyph_style.face.is_ideographic
        and not glyph_style.is_shaped
    )
