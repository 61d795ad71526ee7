"""Breaking: strips become lines of one width, line after line or all together (optimal.py)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from workers.engine.characters import find_cluster_ends
from workers.engine.layout.context import EPSILON, Context
from workers.engine.layout.lines.bidi import reorder
from workers.engine.layout.lines.heights import Metrics
from workers.engine.layout.lines.optimal import MAX_CHANCES, SHRINK, Breaker, Measure
from workers.engine.layout.lines.parts import (
    EMPTY,
    ONE_START,
    ONE_STRIP,
    Inset,
    Line,
    Lines,
    Look,
    Part,
    Place,
    Point,
)
from workers.engine.layout.lines.strips import (
    HELD,
    SOFT,
    SOFT_HYPHEN,
    SPACE,
    Strip,
    make_strips,
)
from workers.engine.tree.nodes import Inline
from workers.engine.tree.styles import Align, ParagraphStyle, TextStyle, TextWrap, WhiteSpace


def break_lines(
    context: Context,
    inlines: Sequence[Inline],
    *,
    base: TextStyle,
    style: ParagraphStyle,
    width: float,
    start: Place | None = None,
    lead: float = 0.0,
) -> Lines:
    """Break inline content, or what follows a place in it, into lines no wider than `width`.

    A word that cannot be broken to fit stands beyond it. `lead` is kept before the first line, for
    the number in front of it.
    """
    metrics = Metrics.of(base, style, context.fonts.find(base))
    found = _Found([], [], [])
    lines = found.lines
    y = 0.0
    indent = style.indent + lead if start is None else 0.0
    begin = None if start is None else start.point
    for number, strip in enumerate(make_strips(context, inlines, style)):
        if start is not None and number < start.strip:
            continue
        found.strips.append(len(lines))
        for line in _break_strip(strip, style, width, indent, metrics, found, begin):
            lines.append(line._replace(y=y) if y else line)
            y += line.height
            indent = 0.0
        begin = None
    return found.close(width, start)


@dataclass(slots=True)
class _Found:
    """The lines of a paragraph while it is broken, as in `Lines`."""

    lines: list[Line]
    starts: list[Point]
    strips: list[int]
    widest: float = 0.0
    widest_text: str = ""

    def close(self, width: float, start: Place | None) -> Lines:
        """Return the lines in as little memory as they need."""
        is_plain = len(self.lines) == 1 and self.starts[0] == EMPTY and self.strips == [0]
        return Lines(
            tuple(self.lines),
            ONE_START if is_plain else tuple(self.starts),
            ONE_STRIP if is_plain else tuple(self.strips),
            self.widest,
            self.widest_text,
            None,
            width,
            start,
        )


def measure_inlines(
    context: Context, inlines: Sequence[Inline], style: ParagraphStyle
) -> tuple[float, float]:
    """Give the width of the widest thing that does not break, and of the widest unbroken strip."""
    narrowest = widest = 0.0
    for strip in make_strips(context, inlines, style):
        if not strip.texts:
            continue
        start = 0.0
        for index in strip.places():
            narrowest = max(narrowest, strip.rights[index] - start)
            start = strip.lefts[index + 1] if index + 1 < len(strip.lefts) else 0.0
        widest = max(widest, strip.rights[-1])
    return narrowest, widest + max(style.indent, 0.0)


def _break_strip(
    strip: Strip,
    style: ParagraphStyle,
    width: float,
    indent: float,
    metrics: Metrics,
    result: _Found,
    begin: Point | None,
) -> Iterator[Line]:
    count = len(strip.texts)
    if not count:
        result.starts.append(EMPTY)
        height, baseline = metrics.of_empty(strip.empty_style)
        x = 0.0 if style.is_rtl else indent
        yield Line(x, 0.0, height, baseline, 0.0, (), 0.0, tuple(strip.spots.get(0, ())))
        return
    chances = strip.chances()
    rights = strip.rights
    ends = rights if len(chances) == count else [rights[i] for i in chances]
    start = begin or Point(0, 0, strip.lefts[0])
    characters = _Characters(strip)
    may_cut = style.breaks_anywhere and style.white_space in _WRAPPING
    chooser = _make_chooser(strip, style, chances, width)
    while True:
        for unit in chooser(start, indent) if chooser else ():
            result.starts.append(start)
            end = Point(unit, -1, rights[unit])
            yield _compose(strip, style, metrics, start, end, width, indent)
            if unit == count - 1:
                return
            start = Point(unit + 1, 0, strip.lefts[unit + 1])
            indent = 0.0
        result.starts.append(start)
        at = bisect_left(chances, start.unit)
        room = width - indent
        limit = start.x + room + EPSILON
        chance = bisect_right(ends, limit, lo=at) - 1
        while chance >= at and _hyphen_width(strip, chances[chance], count) + ends[chance] > limit:
            chance -= 1
        if chance >= at:
            end = Point(chances[chance], -1, ends[chance])
            following = chances[chance] + 1
        elif may_cut and (cut := characters.cut(start, chances[at], limit)):
            yield _compose(strip, style, metrics, start, cut, width, indent)
            start = characters.begin_after(cut)
            indent = 0.0
            continue
        elif (held := strip.find_last_held(start.unit, chances[at], limit)) is not None:
            end = Point(held, -1, rights[held])
            following = held + 1
        else:
            end = Point(chances[at], -1, ends[at])
            following = chances[at] + 1
        line = _compose(strip, style, metrics, start, end, width, indent)
        if line.width > room + EPSILON and line.width > result.widest:
            result.widest = line.width
            result.widest_text = "".join(part.text for part in line.parts)
        yield line
        if following == count:
            return
        start = Point(following, 0, strip.lefts[following])
        indent = 0.0


_SOLID: Final = (WhiteSpace.PRE, WhiteSpace.NOWRAP)
_WRAPPING: Final = tuple(value for value in WhiteSpace if value not in _SOLID)
# Returns the units that the next lines end with, from a start and the indent of its line on; none
# where the next line is to be filled greedily.
_Chooser = Callable[[Point, float], Sequence[int]]


def _make_chooser(
    strip: Strip, style: ParagraphStyle, chances: Sequence[int], width: float
) -> _Chooser | None:
    """Return what chooses the lines of a strip together; None where they are filled one by one."""
    is_justified = style.align is Align.JUSTIFY
    wrap = style.text_wrap
    if wrap is TextWrap.AUTO:
        wrap = TextWrap.PRETTY if is_justified else TextWrap.STABLE
    if wrap is TextWrap.STABLE or style.white_space in _SOLID or len(chances) > MAX_CHANCES:
        return None
    if _has_ideographs(strip):
        return None  # lines may end nearly anywhere
    count = len(strip.texts)

    def hyphen_width(unit: int) -> float:
        return _hyphen_width(strip, unit, count)

    def choose(start: Point, indent: float) -> Sequence[int]:
        if strip.rights[-1] - start.x <= width - indent + EPSILON:
            return ()
        measure = Measure.of(width, indent, is_justified=is_justified)
        breaker = Breaker(strip, chances, start.unit, start.x, measure, hyphen_width)
        return breaker.find_balanced() if wrap is TextWrap.BALANCE else breaker.find_optimal()

    return choose


def _has_ideographs(strip: Strip) -> bool:
    looks = strip.looks[:1] if strip.has_one_look else strip.looks
    return any(isinstance(look, Look) and look.face.is_ideographic for look in looks)


class _Characters:
    """Where the characters of a unit end, worked out once for the unit that is being cut."""

    def __init__(self, strip: Strip) -> None:
        self._strip = strip
        self._unit = -1
        self._ends: list[float] = []
        self._clusters: list[int] = []

    def cut(self, start: Point, last: int, limit: float) -> Point | None:
        """Find the last place up to `limit` where a word cut anywhere breaks; None for its end.

        At least one character stands on a line, so that breaking always comes to an end.
        """
        strip = self._strip
        unit = bisect_right(strip.rights, limit, lo=start.unit, hi=last)
        look = strip.looks[unit]
        if isinstance(look, Inset):
            return None if unit == start.unit else Point(unit, 0, strip.lefts[unit])
        if unit != self._unit:
            self._unit = unit
            self._ends = [strip.lefts[unit] + end for end in look.ends_of(strip.texts[unit])]
            self._clusters = list(_bound_clusters(find_cluster_ends(strip.texts[unit])))
        text = strip.texts[unit]
        first = start.offset if unit == start.unit else 0
        offset = bisect_right(self._ends, limit, lo=first)
        whole = bisect_right(self._clusters, offset)
        offset = max(first, self._clusters[whole - 1] if whole else 0)
        if offset == first and unit == start.unit:
            drawn = bisect_right(self._ends, self._ends[first], lo=first)
            offset = self._clusters[bisect_left(self._clusters, max(drawn, first + 1))]
        if offset >= len(text):
            if unit < last:
                return Point(unit + 1, 0, strip.lefts[unit + 1])
            # All but the hyphen that would show fits.
            offset = self._clusters[-2] if len(self._clusters) > 1 else 0
            if offset <= first:
                return None
        return Point(unit, offset, self._ends[offset - 1] if offset else strip.lefts[unit])

    def begin_after(self, cut: Point) -> Point:
        """Give the place at which the line after a cut begins: a kern is not carried over."""
        look = self._strip.looks[cut.unit]
        if not cut.offset or isinstance(look, Inset):
            return cut
        text = self._strip.texts[cut.unit]
        return cut._replace(x=cut.x + look.kern(text[cut.offset - 1], text[cut.offset]))


_LONGEST_CLUSTER: Final = 32  # Unicode Standard Annex 15, 13: no language has more than 30 marks


def _bound_clusters(ends: Sequence[int]) -> Iterator[int]:
    """Yield the ends of clusters; endless marks on a letter are cut, so that they fit somewhere."""
    start = 0
    for end in ends:
        yield from range(start + _LONGEST_CLUSTER, end, _LONGEST_CLUSTER)
        yield end
        start = end


def _hyphen_width(strip: Strip, unit: int, count: int) -> float:
    if strip.glues[unit] != SOFT or unit == count - 1:
        return 0.0
    look, text = strip.looks[unit], strip.texts[unit].removesuffix(SOFT_HYPHEN)
    if isinstance(look, Inset):
        return 0.0
    return look.measure("-") + (look.kern(text[-1], "-") if text else 0.0)


def _compose(
    strip: Strip,
    style: ParagraphStyle,
    metrics: Metrics,
    start: Point,
    end: Point,
    width: float,
    indent: float,
) -> Line:
    parts = _one_part(strip, start, end) if strip.has_one_look else _parts(strip, start, end)
    own_width = parts[-1].x + parts[-1].width  # as yet in the order of reading
    height, baseline = metrics.of_line(parts)
    room = width - indent
    slack = room - own_width
    x = 0.0 if style.is_rtl else indent  # a first line is indented where it begins
    word_spacing = 0.0
    match style.align:
        case Align.RIGHT | Align.DECIMAL:
            x += slack
        case Align.CENTER:
            x += slack / 2
        case Align.JUSTIFY:
            gaps = sum(map(_count_gaps, parts)) - _ends_in_gap(parts)
            is_last = end.unit == len(strip.texts) - 1
            is_spread = slack > 0 and end.offset < 0 and not is_last
            if gaps and (
                is_spread or (slack < -EPSILON and _can_shrink(strip, start, end, -slack))
            ):
                word_spacing = slack / gaps
                parts = _spread(parts, word_spacing)
                own_width = room
            elif style.is_rtl:
                x += slack
        case _:
            pass
    if strip.has_levels:
        parts = arrange(parts)
    spots = strip.spots_between(start.unit, end.unit) if strip.spots else ()
    return Line(x, 0.0, height, baseline, own_width, parts, word_spacing, spots)


def _can_shrink(strip: Strip, start: Point, end: Point, excess: float) -> bool:
    """Tell whether the spaces of a line give way by so much, as `optimal` lets them."""
    spaces = sum(
        strip.lefts[unit + 1] - strip.rights[unit]
        for unit in range(start.unit, end.unit)
        if strip.glues[unit] in (SPACE, HELD)
    )
    return excess <= spaces * SHRINK + 2 * EPSILON


def arrange(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Place the parts of a line in the order they are seen in; they stay in that of reading."""
    x = 0.0
    arranged = list(parts)
    for number in reorder([part.look.level for part in parts]):
        arranged[number] = parts[number]._replace(x=x)
        x += parts[number].width
    return tuple(arranged)


def _one_part(strip: Strip, start: Point, end: Point) -> tuple[Part, ...]:
    text = _text_between(strip, start, end)
    return (Part(0.0, end.x - start.x + _shown_hyphen(strip, end), text, strip.looks[0]),)


def _parts(strip: Strip, start: Point, end: Point) -> tuple[Part, ...]:
    looks = strip.looks
    # A cut before a unit's first character ends the line with the unit before it.
    last = end.unit - 1 if end.offset == 0 else end.unit
    parts: list[Part] = []
    unit = start.unit
    while unit <= last:
        look = looks[unit]
        stop = unit
        while stop < last and looks[stop + 1] is look and not isinstance(look, Inset):
            stop += 1
        begin = start if unit == start.unit else Point(unit, 0, strip.lefts[unit])
        finish = end if stop == last else Point(stop, -1, strip.rights[stop])
        text = _text_between(strip, begin, finish)
        shown = _shown_hyphen(strip, finish) if stop == last else 0.0
        parts.append(Part(begin.x - start.x, finish.x - begin.x + shown, text, look))
        if stop < last and (space := strip.space_after(stop)):
            width = strip.lefts[stop + 1] - strip.rights[stop]
            parts.append(Part(finish.x - start.x, width, strip.gap_after(stop), space))
        unit = stop + 1
    return _joined(parts)


def _joined(parts: list[Part]) -> tuple[Part, ...]:
    """Make one of neighbours that look the same: a space between elements joins its own element."""
    joined: list[Part] = []
    for part in parts:
        before = joined[-1] if joined else None
        if before is not None and before.look is part.look and not isinstance(part.look, Inset):
            text, width = before.text + part.text, before.width + part.width
            joined[-1] = before._replace(text=text, width=width)
        else:
            joined.append(part)
    return tuple(joined)


def _text_between(strip: Strip, start: Point, end: Point) -> str:
    texts = strip.texts
    if start.unit == end.unit:
        text = texts[start.unit]
        text = text[start.offset :] if end.offset < 0 else text[start.offset : end.offset]
    else:
        glues = strip.glues
        words = [texts[start.unit][start.offset :]]
        for unit in range(start.unit, end.unit):
            if glues[unit] in (SPACE, HELD):
                words.append(strip.gap_after(unit))
            words.append(texts[unit + 1])
        if end.offset >= 0:
            words[-1] = words[-1][: end.offset]
        text = "".join(words)
    if SOFT_HYPHEN in text:
        text = text.replace(SOFT_HYPHEN, "")
    return text + "-" if _shown_hyphen(strip, end) else text


def _shown_hyphen(strip: Strip, end: Point) -> float:
    if end.offset >= 0 or strip.glues[end.unit] != SOFT:
        return 0.0
    return _hyphen_width(strip, end.unit, len(strip.texts))


def _spread(parts: tuple[Part, ...], word_spacing: float) -> tuple[Part, ...]:
    shift = 0.0
    spread = []
    for number, part in enumerate(parts, start=1):
        gaps = _count_gaps(part) - (_ends_in_gap(parts) if number == len(parts) else 0)
        extra = gaps * word_spacing
        spread.append(part._replace(x=part.x + shift, width=part.width + extra))
        shift += extra
    return tuple(spread)


def _count_gaps(part: Part) -> int:
    """Count where a part may be spread: its spaces, or between all characters of ideographs."""
    return len(part.text) if _is_spread(part) else part.text.count(" ")


def _ends_in_gap(parts: Sequence[Part]) -> int:
    """Give 1 when the last character has a gap behind it, which is beyond the line."""
    return int(_is_spread(parts[-1]))


def _is_spread(part: Part) -> bool:
    look = part.look
    return isinstance(look, Look) and look.face.is_ideographic and not look.is_shaped
