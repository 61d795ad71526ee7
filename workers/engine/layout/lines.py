"""Lines: how inline content is broken into lines of one width, and how lines are drawn.

The text of a paragraph is cut at forced breaks into strips. A strip is a row of units: words, or
parts of words where the look changes in the middle. Each unit knows where it would begin and end
if the strip were one endless line; so the text between two opportunities is as wide as the
difference of two numbers, and a line is found by one bisection. Breaking is greedy and linear in
the text.

Lines may break at spaces, after a hyphen or dash between letters, at a soft hyphen (which then
shows) and at U+200B; never at U+00A0, U+202F or U+2060. A word wider than the line goes on a line
of its own and breaks between any two characters, unless `overflow-wrap` is `normal`.

A line is as high as the paragraph's line height, more where larger characters or images need it
(CSS 2, 10.8). Raised and lowered text does not spread lines unless its capitals would stick out.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, NamedTuple

from workers.engine.layout.context import (
    EPSILON,
    Context,
    Fonts,
    Piece,
    Sheet,
    Space,
    Typeface,
)
from workers.engine.layout.display import Fill, Glyphs, LinkArea, Stroke
from workers.engine.tree.nodes import Inline, InlineBlock, LineBreak, Run
from workers.engine.tree.styles import Align, ParagraphStyle, TextStyle, WhiteSpace

TAB_STOP: Final = 8  # characters, CSS Text 3, 4.2
SOFT_HYPHEN: Final = "\u00ad"

# Behind a hyphen between letters (a digit after it is a number's), a dash, U+200B, a soft hyphen.
_INNER_BREAK: Final = re.compile(
    r"(?<=\w[-\u2010])(?=[^\W\d_])|(?<=\w[\u2013\u2014])(?=\w)|(?<=[\u200b\u00ad])(?=.)"
)
_HAS_INNER_BREAK: Final = re.compile(r"[-\u2010\u2013\u2014\u200b\u00ad]")

# What follows a unit.
_JOIN: Final = 0  # the next unit, with no chance to break
_SPACE: Final = 1
_BREAK: Final = 2  # a chance to break that takes no room
_SOFT: Final = 3  # a chance to break that shows a hyphen


class Look(NamedTuple):
    """How one run of characters of one face looks."""

    style: TextStyle
    face: Typeface
    link: str | None

    def measure(self, text: str) -> float:
        """Give the width of `text` in points."""
        style = self.style
        return self.face.measure(text) * style.size + style.letter_spacing * len(text)


class Inset(NamedTuple):
    """A block standing in a line, its foot on the baseline."""

    piece: Piece
    width: float


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


class Place(NamedTuple):
    """Where a line begins in inline content, whatever the width: between forced breaks, and there."""

    strip: int
    point: _Point


@dataclass(slots=True)
class Lines:
    """All lines of one paragraph at one width, with the place at which each begins.

    `widest` is the widest line that could not be broken to fit, with its text; 0 when all fit.
    """

    lines: list[Line] = field(default_factory=list)
    starts: list[_Point] = field(default_factory=list)
    strips: list[int] = field(default_factory=list)  # the number of each strip's first line
    widest: float = 0.0
    widest_text: str = ""

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


def break_lines(
    context: Context,
    inlines: Sequence[Inline],
    *,
    base: TextStyle,
    style: ParagraphStyle,
    width: float,
    start: Place | None = None,
) -> Lines:
    """Break inline content, or what follows a place in it, into lines no wider than `width`.

    A word that cannot be broken to fit stands beyond it.
    """
    metrics = _Metrics.of(base, style, context.fonts.find(base))
    result = Lines()
    y = 0.0
    indent = style.indent if start is None else 0.0
    begin = None if start is None else start.point
    for number, strip in enumerate(_strips(context, inlines, style)):
        if start is not None and number < start.strip:
            continue
        result.strips.append(len(result.lines))
        for line in _break_strip(strip, style, width, indent, metrics, result, begin):
            placed = line._replace(y=y)
            result.lines.append(placed)
            y += line.height
            indent = 0.0
        begin = None
    return result


def measure_inlines(
    context: Context, inlines: Sequence[Inline], style: ParagraphStyle
) -> tuple[float, float]:
    """Give the width of the widest thing that does not break, and of the widest unbroken strip."""
    narrowest = widest = 0.0
    for strip in _strips(context, inlines, style):
        if not strip.texts:
            continue
        start = 0.0
        for index in strip.chances():
            narrowest = max(narrowest, strip.rights[index] - start)
            start = strip.lefts[index + 1] if index + 1 < len(strip.lefts) else 0.0
        widest = max(widest, strip.rights[-1])
    return narrowest, widest + max(style.indent, 0.0)


def draw_lines(sheet: Sheet, lines: Sequence[Line], x: float, y: float, owner: object) -> None:
    """Draw lines below each other; the first line's top left corner is at (x, y)."""
    owner = sheet.owner(owner)
    top = lines[0].y if lines else 0.0
    for line in lines:
        baseline = y + line.y - top + line.baseline
        _draw_line(sheet, line, x + line.x, baseline, owner)


def draw_text(
    sheet: Sheet, look: Look, text: str, x: float, baseline: float, owner: object | None
) -> None:
    """Draw text of one look, with neither decoration nor background."""
    style = look.style
    sheet.items.append(
        Glyphs(
            x,
            baseline - style.rise,
            look.face,
            style.size,
            style.color,
            look.face.encode(text),
            text,
            look.measure(text),
            owner,
            0.0,
            style.letter_spacing,
        )
    )


def line_metrics(base: TextStyle, style: ParagraphStyle, fonts: Fonts) -> tuple[float, float]:
    """Give the height of an ordinary line and the distance from its top to its baseline."""
    metrics = _Metrics.of(base, style, fonts.find(base))
    return metrics.height, metrics.baseline


# --- strips -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Strip:
    """The units between two forced breaks, as parallel lists; `lefts` and `rights` in points.

    The space after a unit looks like the unit, unless `strays` says otherwise.
    """

    empty_style: TextStyle | None = None  # of the line break that an empty strip ends in
    texts: list[str] = field(default_factory=list)
    looks: list[Look | Inset] = field(default_factory=list)
    glues: list[int] = field(default_factory=list)
    lefts: list[float] = field(default_factory=list)
    rights: list[float] = field(default_factory=list)
    strays: dict[int, Look] = field(default_factory=dict)
    has_one_look: bool = True

    def chances(self) -> Sequence[int]:
        """Give the units after which a line may end; the last is always one."""
        last = len(self.glues) - 1
        if _JOIN not in self.glues[:-1]:
            return range(last + 1)
        return [i for i, glue in enumerate(self.glues) if glue != _JOIN or i == last]

    def add_text(self, look: Look, text: str, *, hyphens: bool) -> None:
        """Add wrapping text; spaces at its ends become the glue of their neighbours."""
        words = text.split(" ")
        if words[0] == "":
            self._glue_space(look)
        spaced = [word for word in words if word]
        if not spaced:
            return
        if _HAS_INNER_BREAK.search(text):
            self._add_cut_words(look, spaced, hyphens=hyphens)
        else:
            self._add_words(look, spaced)
        if words[-1] == "":
            self._glue_space(look)

    def add_solid(self, look: Look | Inset, text: str, width: float, glue: int) -> None:
        """Add one unit as it is."""
        if self.looks and self.looks[-1] is not look:
            self.has_one_look = False
        left = self._next_left()
        self.texts.append(text)
        self.looks.append(look)
        self.glues.append(glue)
        self.lefts.append(left)
        self.rights.append(left + width)

    def add_inset(self, inset: Inset) -> None:
        """Add a block standing in the line; a line may break before and after it."""
        if self.glues and self.glues[-1] == _JOIN:
            self.glues[-1] = _BREAK
        self.has_one_look = False
        self.add_solid(inset, "", inset.width, _BREAK)

    def _add_words(self, look: Look, words: list[str]) -> None:
        if self.looks and self.looks[-1] is not look:
            self.has_one_look = False
        count = len(words)
        size, spacing = look.style.size, look.style.letter_spacing
        measure = look.face.measure
        if spacing:
            widths = [measure(word) * size + spacing * len(word) for word in words]
        else:
            widths = [measure(word) * size for word in words]
        gap = look.measure(" ")
        left = self._next_left()
        steps = accumulate(widths, lambda at, width: at + width + gap, initial=left)
        lefts = list(steps)[:count]
        self.texts += words
        self.looks += [look] * count
        self.glues += [_SPACE] * (count - 1)
        self.glues.append(_JOIN)
        self.lefts += lefts
        self.rights += [left + width for left, width in zip(lefts, widths, strict=True)]

    def _add_cut_words(self, look: Look, words: list[str], *, hyphens: bool) -> None:
        for index, word in enumerate(words):
            pieces = _INNER_BREAK.split(word) if _HAS_INNER_BREAK.search(word) else [word]
            if not hyphens:
                pieces = _drop_soft_hyphens(pieces)
            for piece in pieces[:-1]:
                glue = _SOFT if piece.endswith(SOFT_HYPHEN) else _BREAK
                self.add_solid(look, piece, look.measure(piece), glue)
            glue = _SPACE if index < len(words) - 1 else _JOIN
            self.add_solid(look, pieces[-1], look.measure(pieces[-1]), glue)

    def _glue_space(self, look: Look) -> None:
        if not self.glues or self.glues[-1] == _SPACE:
            return
        self.glues[-1] = _SPACE
        if self.looks[-1] is not look:
            self.strays[len(self.looks) - 1] = look

    def space_after(self, unit: int) -> Look | None:
        """Give the look of the space after a unit, None where there is none."""
        if self.glues[unit] != _SPACE:
            return None
        look = self.strays.get(unit) or self.looks[unit]
        return look if isinstance(look, Look) else None

    def _next_left(self) -> float:
        if not self.rights:
            return 0.0
        space = self.space_after(len(self.looks) - 1)
        return self.rights[-1] + (space.measure(" ") if space else 0.0)


def _strips(context: Context, inlines: Sequence[Inline], style: ParagraphStyle) -> Iterator[_Strip]:
    keeps_newlines = style.white_space in (WhiteSpace.PRE, WhiteSpace.PRE_LINE)
    is_solid = style.white_space in (WhiteSpace.PRE, WhiteSpace.NOWRAP)
    strip = _Strip()
    ended_by_break = False
    for inline in inlines:
        ended_by_break = False
        match inline:
            case LineBreak():
                strip.empty_style = inline.style
                yield strip
                strip = _Strip()
                ended_by_break = True
            case InlineBlock():
                strip.add_inset(_lay_out_inset(context, inline))
            case Run():
                texts = inline.text.split("\n") if keeps_newlines else [inline.text]
                for index, text in enumerate(texts):
                    if index:
                        strip.empty_style = inline.style
                        yield strip
                        strip = _Strip()
                    _add_run(context, strip, inline, text, style, is_solid=is_solid)
                    ended_by_break = bool(index) and not text
    # A break at the very end closes its line and opens none, as in HTML.
    if not ended_by_break or not inlines:
        yield strip


def _add_run(
    context: Context,
    strip: _Strip,
    run: Run,
    text: str,
    style: ParagraphStyle,
    *,
    is_solid: bool,
) -> None:
    if not text:
        return
    if style.white_space is WhiteSpace.PRE:
        text = text.expandtabs(TAB_STOP)
    for face, part in context.fonts.split(run.style, text):
        look = Look(run.style, face, run.link)
        if is_solid:
            strip.add_solid(look, part, look.measure(part), _JOIN)
        else:
            strip.add_text(look, part, hyphens=style.hyphens != "none")


def _lay_out_inset(context: Context, inline: InlineBlock) -> Inset:
    # An image in a line has its own width; a share of the line's is not known yet.
    _, width = context.measure(inline.block)
    piece = context.lay_out(inline.block, Space(width))
    assert piece is not None
    return Inset(piece, width)


def _drop_soft_hyphens(pieces: list[str]) -> list[str]:
    kept = [""]
    for piece in pieces:
        kept[-1] += piece.removesuffix(SOFT_HYPHEN)
        if not piece.endswith(SOFT_HYPHEN):
            kept.append("")
    return kept if kept[-1] else kept[:-1] or [""]


# --- breaking ---------------------------------------------------------------------------------------


def _break_strip(
    strip: _Strip,
    style: ParagraphStyle,
    width: float,
    indent: float,
    metrics: _Metrics,
    result: Lines,
    begin: _Point | None,
) -> Iterator[Line]:
    count = len(strip.texts)
    if not count:
        result.starts.append(_EMPTY)
        height, baseline = metrics.of_empty(strip.empty_style)
        yield Line(indent, 0.0, height, baseline, 0.0, ())
        return
    chances = strip.chances()
    rights = strip.rights
    ends = rights if len(chances) == count else [rights[i] for i in chances]
    start = begin or _Point(0, 0, strip.lefts[0])
    at = bisect_left(chances, start.unit)
    characters = _Characters(strip)
    may_cut = style.breaks_anywhere and style.white_space in (
        WhiteSpace.NORMAL,
        WhiteSpace.PRE_LINE,
    )
    while True:
        result.starts.append(start)
        room = width - indent
        limit = start.x + room + EPSILON
        chance = bisect_right(ends, limit, lo=at) - 1
        while chance >= at and _hyphen_width(strip, chances[chance], count) + ends[chance] > limit:
            chance -= 1
        if chance >= at:
            unit = chances[chance]
            yield _compose(
                strip, style, metrics, start, _Point(unit, -1, rights[unit]), width, indent
            )
            at = chance + 1
        elif may_cut and (cut := characters.cut(start, chances[at], limit)):
            yield _compose(strip, style, metrics, start, cut, width, indent)
            start = cut
            indent = 0.0
            continue
        else:
            unit = chances[at]
            line = _compose(
                strip, style, metrics, start, _Point(unit, -1, rights[unit]), width, indent
            )
            if line.width > room + EPSILON and line.width > result.widest:
                result.widest = line.width
                result.widest_text = "".join(part.text for part in line.parts)
            yield line
            at += 1
        if at >= len(chances):
            return
        start = _Point(chances[at - 1] + 1, 0, strip.lefts[chances[at - 1] + 1])
        indent = 0.0


class _Point(NamedTuple):
    """A place in a strip: before character `offset` of a unit, or behind the unit if it is -1."""

    unit: int
    offset: int
    x: float


_EMPTY: Final = _Point(0, 0, 0.0)  # of a strip that has no units


class _Characters:
    """Where the characters of a unit end, worked out once for the unit that is being cut."""

    def __init__(self, strip: _Strip) -> None:
        self._strip = strip
        self._unit = -1
        self._ends: list[float] = []

    def cut(self, start: _Point, last: int, limit: float) -> _Point | None:
        """Find the last place up to `limit` where a word cut anywhere breaks; None for its end.

        At least one character stands on a line, so that breaking always comes to an end.
        """
        strip = self._strip
        unit = bisect_right(strip.rights, limit, lo=start.unit, hi=last)
        look = strip.looks[unit]
        if isinstance(look, Inset):
            return None if unit == start.unit else _Point(unit, 0, strip.lefts[unit])
        if unit != self._unit:
            spacing, size = look.style.letter_spacing, look.style.size
            widths = (look.face.measure(char) * size + spacing for char in strip.texts[unit])
            self._unit = unit
            self._ends = list(accumulate(widths, initial=strip.lefts[unit]))[1:]
        text = strip.texts[unit]
        first = start.offset if unit == start.unit else 0
        offset = bisect_right(self._ends, limit, lo=first)
        while offset > first and offset < len(text) and unicodedata.combining(text[offset]):
            offset -= 1
        if offset == first and unit == start.unit:
            offset = _next_cluster(text, first)
        if offset >= len(text):
            if unit < last:
                return _Point(unit + 1, 0, strip.lefts[unit + 1])
            offset = len(text) - 1  # all but the hyphen that would show fits
            if offset <= first:
                return None
        return _Point(unit, offset, self._ends[offset - 1] if offset else strip.lefts[unit])


def _next_cluster(text: str, offset: int) -> int:
    offset += 1
    while offset < len(text) and unicodedata.combining(text[offset]):
        offset += 1
    return offset


def _hyphen_width(strip: _Strip, unit: int, count: int) -> float:
    if strip.glues[unit] != _SOFT or unit == count - 1:
        return 0.0
    look = strip.looks[unit]
    return look.measure("-") if isinstance(look, Look) else 0.0


def _compose(
    strip: _Strip,
    style: ParagraphStyle,
    metrics: _Metrics,
    start: _Point,
    end: _Point,
    width: float,
    indent: float,
) -> Line:
    parts = _one_part(strip, start, end) if strip.has_one_look else _parts(strip, start, end)
    own_width = parts[-1].x + parts[-1].width
    height, baseline = metrics.of_line(parts)
    room = width - indent
    slack = room - own_width
    x = indent
    word_spacing = 0.0
    match style.align:
        case Align.RIGHT | Align.DECIMAL:
            x += slack
        case Align.CENTER:
            x += slack / 2
        case Align.JUSTIFY if slack > 0 and end.unit < len(strip.texts) - 1:
            gaps = sum(part.text.count(" ") for part in parts)
            if gaps and end.offset < 0:
                word_spacing = slack / gaps
                parts = _spread(parts, word_spacing)
                own_width = room
        case _:
            pass
    return Line(x, 0.0, height, baseline, own_width, parts, word_spacing)


def _one_part(strip: _Strip, start: _Point, end: _Point) -> tuple[Part, ...]:
    text = _text_between(strip, start, end)
    return (Part(0.0, end.x - start.x + _shown_hyphen(strip, end), text, strip.looks[0]),)


def _parts(strip: _Strip, start: _Point, end: _Point) -> tuple[Part, ...]:
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
        begin = start if unit == start.unit else _Point(unit, 0, strip.lefts[unit])
        finish = end if stop == last else _Point(stop, -1, strip.rights[stop])
        text = _text_between(strip, begin, finish)
        shown = _shown_hyphen(strip, finish) if stop == last else 0.0
        parts.append(Part(begin.x - start.x, finish.x - begin.x + shown, text, look))
        if stop < last and (space := strip.space_after(stop)):
            width = strip.lefts[stop + 1] - strip.rights[stop]
            parts.append(Part(finish.x - start.x, width, " ", space))
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


def _text_between(strip: _Strip, start: _Point, end: _Point) -> str:
    texts = strip.texts
    if start.unit == end.unit:
        text = texts[start.unit]
        text = text[start.offset :] if end.offset < 0 else text[start.offset : end.offset]
    else:
        glues = strip.glues
        words = [texts[start.unit][start.offset :]]
        for unit in range(start.unit, end.unit):
            if glues[unit] == _SPACE:
                words.append(" ")
            words.append(texts[unit + 1])
        if end.offset >= 0:
            words[-1] = words[-1][: end.offset]
        text = "".join(words)
    if SOFT_HYPHEN in text:
        text = text.replace(SOFT_HYPHEN, "")
    return text + "-" if _shown_hyphen(strip, end) else text


def _shown_hyphen(strip: _Strip, end: _Point) -> float:
    if end.offset >= 0 or strip.glues[end.unit] != _SOFT:
        return 0.0
    return _hyphen_width(strip, end.unit, len(strip.texts))


def _spread(parts: tuple[Part, ...], word_spacing: float) -> tuple[Part, ...]:
    shift = 0.0
    spread = []
    for part in parts:
        extra = part.text.count(" ") * word_spacing
        spread.append(part._replace(x=part.x + shift, width=part.width + extra))
        shift += extra
    return tuple(spread)


# --- heights ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Metrics:
    """The strut of a paragraph: what every line is at least (CSS 2, 10.8.1)."""

    base: TextStyle
    height: float
    baseline: float

    @staticmethod
    def of(base: TextStyle, style: ParagraphStyle, face: Typeface) -> _Metrics:
        """Work out the strut: the leading is shared between above and below the font's own box."""
        box = (face.ascent + face.descent) * base.size
        baseline = (style.line_height - box) / 2 + face.ascent * base.size
        return _Metrics(base, style.line_height, baseline)

    def of_line(self, parts: Sequence[Part]) -> tuple[float, float]:
        """Give the height and baseline of a line with these parts."""
        base = self.base
        above, below = self.baseline, self.height - self.baseline
        for part in parts:
            look = part.look
            if isinstance(look, Inset):
                above = max(above, look.piece.height)
            elif look.style is not base and (look.style.size > base.size or look.style.rise):
                high, low = self._extent(look)
                above, below = max(above, high), max(below, low)
        return above + below, above

    def of_empty(self, style: TextStyle | None) -> tuple[float, float]:
        """Give the height and baseline of a line without text."""
        if style is None or style.size <= self.base.size:
            return self.height, self.baseline
        factor = style.size / self.base.size
        return self.height * factor, self.baseline * factor

    def _extent(self, look: Look) -> tuple[float, float]:
        style, face = look.style, look.face
        if style.rise:
            return face.cap_height * style.size + style.rise, -style.rise
        height = self.height * style.size / self.base.size
        box = (face.ascent + face.descent) * style.size
        above = (height - box) / 2 + face.ascent * style.size
        return above, height - above


def _bottom(line: Line) -> float:
    return line.y + line.height


# --- drawing ----------------------------------------------------------------------------------------


def _draw_line(sheet: Sheet, line: Line, x: float, baseline: float, owner: object | None) -> None:
    word_spacing = line.word_spacing
    for part_x, width, text, look in line.parts:
        left = x + part_x
        if isinstance(look, Inset):
            look.piece.draw(sheet, left, baseline - look.piece.height)
            continue
        style, face, link = look
        size = style.size
        if style.background is not None:
            _draw_background(sheet, look, left, baseline, width, owner)
        codes = (
            face.encode_spread(text, word_spacing / size * 1000)
            if word_spacing
            else face.encode(text)
        )
        sheet.items.append(
            Glyphs(
                left,
                baseline - style.rise,
                face,
                size,
                style.color,
                codes,
                text,
                width,
                owner,
                word_spacing,
                style.letter_spacing,
            )
        )
        if style.decoration != "none":
            _draw_decoration(sheet, look, left, baseline, width, owner)
        if link is not None:
            top = baseline - face.ascent * size
            sheet.link(LinkArea(left, top, width, (face.ascent + face.descent) * size, link))


def _draw_background(
    sheet: Sheet, look: Look, x: float, baseline: float, width: float, owner: object | None
) -> None:
    style, face = look.style, look.face
    assert style.background is not None
    top = baseline - style.rise - face.ascent * style.size
    height = (face.ascent + face.descent) * style.size
    sheet.items.append(Fill(x, top, width, height, style.background, owner))


def _draw_decoration(
    sheet: Sheet, look: Look, x: float, baseline: float, width: float, owner: object | None
) -> None:
    style, face = look.style, look.face
    is_underline = style.decoration == "underline"
    position = face.underline_position if is_underline else face.strike_position
    y = baseline - style.rise - position * style.size
    thickness = face.underline_thickness * style.size
    sheet.items.append(Stroke(x, y, x + width, y, thickness, style.color, owner))
