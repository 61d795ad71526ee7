"""Lines and their parts: glyph styles, shaped text, inline fragments, and the heights of line boxes.

A line box is as high as the strut of its paragraph, and content that exceeds it (CSS 2 §10.8.1).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, pairwise, repeat
from math import ceil
from operator import add
from typing import Any, Final, NamedTuple, cast

from workers.engine.fonts import (
    Cluster,
    Face,
    JoinedTexts,
    Shaper,
    find_shaper,
    has_effect,
    has_ligatures,
    is_cursive,
    needs_shaping,
)
from workers.engine.layout.context import EPSILON, Fonts, Fragment
from workers.engine.layout.lines.hyphenation import find_unligated
from workers.engine.tree.styles.computed import LineGrid, ParagraphStyle, TextStyle


def measure_shaped(glyph_style: GlyphStyle, text: str) -> float:
    """Return the advance width of a text in points."""
    shaper, style = glyph_style.shaper, glyph_style.style
    if text and " " not in text and not style.letter_spacing:
        return shaper.words[text].width * style.size
    words = text.split(" ")
    extra = style.letter_spacing + style.word_spacing
    width = (len(words) - 1) * (glyph_style.face.measure(" ") * style.size + extra)
    for word in words:
        if word:
            shaped = shaper.words[word]
            width += shaped.width * style.size
            width += glyph_style.spacing_in(word) * len(shaped.clusters)
    return width


def shaped_character_ends(glyph_style: GlyphStyle, word: str) -> list[float]:
    """Return the distance from the start of a word to the end of each character, in points.

    Characters of one cluster end together.
    """
    spacing, size = glyph_style.spacing_in(word), glyph_style.style.size
    ends: list[float] = []
    clusters = 0
    last = -1.0
    for end in glyph_style.shaper.words[word].ends:
        if end != last:
            clusters += 1
            last = end
        ends.append(end * size + spacing * clusters)
    return ends


def place_clusters(glyph_style: GlyphStyle, text: str, word_spacing: float) -> list[Cluster]:
    """Return the clusters of a text in visual order, spaces included.

    `word_spacing` in points is that of a justified line.
    """
    style, face = glyph_style.style, cast("Any", glyph_style.face)
    units_per_point = face.units / style.size
    extra = style.letter_spacing + style.word_spacing + word_spacing
    space = _space(face, round(extra * units_per_point))
    words = text.split(" ")
    if glyph_style.level % 2:
        words.reverse()
    shape_clusters = glyph_style.shaper.shape_clusters
    clusters: list[Cluster] = []
    for word in words:
        word_clusters = shape_clusters(word) if word else ()
        if style.letter_spacing and (
            spacing := round(glyph_style.spacing_in(word) * units_per_point)
        ):
            clusters += [
                cluster._replace(advance=cluster.advance + spacing) for cluster in word_clusters
            ]
        else:
            clusters += word_clusters
        clusters.append(space)
    clusters.pop()  # no space after the last word
    return clusters


def _space(face: Any, extra: int) -> Cluster:
    glyph = face.glyphs.get(" ", 0)  # a font of an account may have no space
    return Cluster(((glyph, 0, 0),), face.advances[" "] + extra, " ")


class GlyphStyle(NamedTuple):
    """Style of a run of characters in one face.

    `level` is the embedding level (UAX #9), and `separator` a lower one of controls that were removed
    before the run: the end of an isolate and the start of another. With `is_shaped` the run is
    encoded by clusters of glyphs, else by characters, with ligatures by `joined`.
    """

    style: TextStyle
    face: Face
    link: str | None
    level: int = 0
    is_shaped: bool = False
    joined: JoinedTexts | None = None
    separator: int | None = None

    def encodable(self, text: str) -> str:
        """Return a text as its face encodes it: with stand-ins for ligatures."""
        return text if self.joined is None else self.joined[text]

    def measure(self, text: str) -> float:
        """Return the advance width of `text` in points."""
        style = self.style
        if self.is_shaped:
            return measure_shaped(self, text)
        # A space is measured for each word. Text with letter spacing has no ligatures.
        if self.joined is not None and text != " ":
            return self.face.measure(self.joined[text]) * style.size
        return self.face.measure(text) * style.size + style.letter_spacing * len(text)

    def measure_words(self, words: Sequence[str]) -> list[float]:
        """Return the advance width of each text in points; the texts contain no spaces."""
        size, spacing = self.style.size, self.style.letter_spacing
        if self.is_shaped:
            if spacing:
                return [measure_shaped(self, word) for word in words]
            return [width * size for width in self.shaper.measure_words(words)]
        if spacing:
            measure = self.face.measure
            return [measure(word) * size + spacing * len(word) for word in words]
        if self.joined is not None:
            words = list(map(self.joined.__getitem__, words))
        return [width * size for width in self.face.measure_words(words)]

    def kern(self, first: str, second: str) -> float:
        """Return the kern between the last character of a text and another one in points, mostly 0."""
        if self.is_shaped:
            return 0.0
        last = first[-1] if self.joined is None else self.joined[first][-1]
        return self.face.kern(last, second) * self.style.size

    def character_ends(self, text: str) -> list[float]:
        """Return the distance from the start of a text to the end of each character, in points."""
        if self.is_shaped:
            return shaped_character_ends(self, text)
        if self.joined is not None:
            return list(self._ends_with_ligatures(self.joined, text))
        size, spacing = self.style.size, self.style.letter_spacing
        widths = [self.face.measure(char) * size + spacing for char in text]
        kerns = (self.kern(*pair) for pair in pairwise(text))
        return list(accumulate(map(add, widths, chain((0.0,), kerns))))

    def _ends_with_ligatures(self, joined: JoinedTexts, text: str) -> Iterator[float]:
        end, before = 0.0, ""
        for char in joined[text]:
            end += self.face.measure(char) * self.style.size
            if before:
                end += self.face.kern(before, char) * self.style.size
            yield from repeat(end, len(joined.ligatures.letters.get(char, char)))
            before = char

    @property
    def shaper(self) -> Shaper:
        """The shaper of its words."""
        style, face = self.style, cast("Any", self.face)  # shaped text has a face of a font set
        features = style.ligatures + style.features
        apart = find_unligated if style.lang[:2] == "de" and features else None
        return find_shaper(face, self.level % 2 == 1, style.lang, features, apart)

    def spacing_in(self, word: str) -> float:
        """Return the letter spacing in a word in points, 0 where letters join (CSS Text 3 §8.2)."""
        spacing = self.style.letter_spacing
        return 0.0 if spacing and is_cursive(word) else spacing


def make_glyph_style(
    style: TextStyle,
    face: Face,
    link: str | None = None,
    level: int = 0,
    *,
    text: str | None = None,
    separator: int | None = None,
) -> GlyphStyle:
    """Return the glyph style of a text in one face; `text` None means any text the face covers."""
    encoding = find_encoding(style, face, level, text)
    return GlyphStyle(style, face, link, level, *encoding, separator)


def find_encoding(
    style: TextStyle, face: Face, level: int, text: str | None
) -> tuple[bool, JoinedTexts | None]:
    """Return whether a text in one face is encoded by clusters of glyphs, else its ligatures."""
    if not face.shapes:
        return False, None
    if level % 2 == 1 or (text is not None and needs_shaping(text)):
        return True, None
    if style.word_spacing and not face.is_ideographic:  # that is spread between its characters
        return True, None
    own: Any = face  # only faces of a font set have `shapes`
    if own.is_colored:  # its glyphs are forms, for which text is split by clusters
        return True, None
    joined = find_ligatures(style, face, text)
    if joined is not None and joined.ligatures.is_contextual:
        return True, None
    if style.features and has_effect(style.features, own, text):
        return True, None
    return False, joined


def find_ligatures(style: TextStyle, face: Face, text: str | None) -> JoinedTexts | None:
    """Return the texts with ligatures of a face, None if a text has none of them."""
    if not style.ligatures or text is None or not face.shapes:
        return None
    own: Any = face
    if not has_ligatures(own, text.replace("\u00ad", "")):  # they may be across a soft hyphen
        return None
    joined: JoinedTexts = own.ligatures.join(find_unligated if style.lang[:2] == "de" else None)
    return joined


class AtomicInline(NamedTuple):
    """An atomic inline (CSS Display 3 §2.4): a block in a line.

    Its own baseline is on that of the line; one without text has its bottom there.
    """

    fragment: Fragment
    width: float
    level: int = 0
    link: str | None = None
    alt: str = ""  # of a linked one: the text of its link
    separator: None = None

    @property
    def ascent(self) -> float:
        """The height above the baseline of the line, in points."""
        baseline = self.fragment.first_baseline
        return self.fragment.height if baseline is None else baseline


class InlineFragment(NamedTuple):
    """Text of one glyph style in a line, or an atomic inline with empty text.

    `x` is the distance from the left edge of the line, in points.
    """

    x: float
    width: float
    text: str
    glyph_style: GlyphStyle | AtomicInline


class Line(NamedTuple):
    """A line box, in points.

    `y` is the distance from the top of the first line, `x` the left edge, `baseline` the distance
    from the top of the line. `boundary` is the kind of break it ends at (horizontal_lists.py), 0 at
    the end of a paragraph. `initial` is the initial letter of a paragraph; its parts are placed from
    the left edge of the paragraph.
    """

    x: float
    y: float
    height: float
    baseline: float
    width: float
    fragments: tuple[InlineFragment, ...]
    word_spacing: float = 0.0
    anchors: tuple[str, ...] = ()  # names of the anchors in it
    boundary: int = 0
    initial: tuple[InlineFragment, ...] = ()


class BoxPosition(NamedTuple):
    """A position in a horizontal list: before character `offset` of a box; -1 is the end of the box."""

    box: int
    offset: int
    x: float


class Hanging(NamedTuple):
    """Widths that hang at the ends of the lines of one horizontal list, in points by box.

    A line that starts with a box hangs by `starts`; one that ends with it by `ends`, and by
    `allowed` where it would not fit otherwise. `hyphen` is the part of a visible hyphen that hangs.
    """

    starts: Sequence[float]
    ends: Sequence[float]
    allowed: Sequence[float]
    hyphen: float

    def at_start(self, start: BoxPosition) -> float:
        """Return how far the first character of a line hangs, 0 for a cut word."""
        return 0.0 if start.offset else self.starts[start.box]

    def at_end(self, end: BoxPosition, hyphen_width: float, excess: float) -> float:
        """Return how far the last character hangs, in a line too long by `excess` points before that."""
        if end.offset >= 0:
            return 0.0
        if hyphen_width:
            return hyphen_width * self.hyphen
        if excess > EPSILON and self.allowed[end.box]:
            return self.allowed[end.box]
        return self.ends[end.box]


EMPTY_LIST_START: Final = BoxPosition(0, 0, 0.0)  # of a list without boxes


# Shared by paragraphs of one line, of which a document may have half a million.
SINGLE_START: Final = (EMPTY_LIST_START,)
SINGLE_LIST: Final = (0,)


class InlinePosition(NamedTuple):
    """A position in inline content, independent of the width: a horizontal list and a place in it."""

    list_index: int
    position: BoxPosition


class BrokenFigure(NamedTuple):
    """An amount or other number that is broken inside for want of room, and the width it needs."""

    text: str
    width: float


@dataclass(slots=True)
class Lines:
    """The lines of a paragraph at one width, with the position at which each starts.

    `widest` is the width in points of the widest line that overflows and `widest_text` its text; 0
    if all fit. `width` and `start` are what the lines were broken for. The first `together`
    lines stand beside an initial letter, and are not separated.
    """

    lines: Sequence[Line]
    starts: Sequence[BoxPosition] = SINGLE_START
    list_starts: Sequence[int] = SINGLE_LIST  # index of the first line of each list
    widest: float = 0.0
    widest_text: str = ""
    width: float = 0.0
    start: InlinePosition | None = None
    texts: tuple[str, ...] = ()  # texts of the references in it, as resolved
    together: int = 1
    broken: BrokenFigure | None = None  # the first
    is_copied: bool = False  # some of the lines are in other `Lines`, cut

    @property
    def height(self) -> float:
        """The height of all lines in points."""
        return self.height_of(0, len(self.lines))

    def height_of(self, first: int, last: int) -> float:
        """Return the height in points of the lines from `first` up to, not including, `last`."""
        if first >= last:
            return 0.0
        end = self.lines[last - 1]
        return end.y + end.height - self.lines[first].y

    def position_of(self, line: int, start: InlinePosition | None) -> InlinePosition:
        """Return the position at which a line starts, for lines that were broken from `start` on."""
        strip = bisect_right(self.list_starts, line) - 1
        return InlinePosition(strip + (start.list_index if start else 0), self.starts[line])

    def is_like(self, other: Lines) -> bool:
        """Return whether lines take the same room as others and may be separated at the same places."""
        if self.widest or other.widest or len(self.lines) != len(other.lines):
            return False
        if self.together != other.together or self.list_starts != other.list_starts:
            return False
        return all(map(_is_alike, self.lines, other.lines))

    def replace(self, other: Lines) -> None:
        """Become other lines for all that were laid out with these."""
        self.lines, self.starts, self.texts = other.lines, other.starts, other.texts

    def count_fitting(self, first: int, room: float) -> int:
        """Return the number of lines from `first` on that fit into a height of `room` points."""
        limit = self.lines[first].y + room + EPSILON if self.lines else 0.0
        return bisect_right(self.lines, limit, lo=first, key=_bottom) - first


def has_atomic_inline(line: Line) -> bool:
    """Return whether a line contains an image or another box among its text."""
    return any(isinstance(fragment.glyph_style, AtomicInline) for fragment in line.fragments)


def _is_alike(line: Line, other: Line) -> bool:
    return (
        line.y == other.y
        and line.height == other.height
        and line.baseline == other.baseline
        and line.anchors == other.anchors
        and line.boundary == other.boundary
    )


def _bottom(line: Line) -> float:
    return line.y + line.height


def line_metrics(base: TextStyle, style: ParagraphStyle, fonts: Fonts) -> tuple[float, float]:
    """Return the height of an ordinary line and the distance from its top to its baseline, in points."""
    metrics = Strut.of(base, style, fonts.find(base))
    return metrics.height, metrics.baseline


class Strut(NamedTuple):
    """The strut: the minimum height and baseline of every line of a paragraph, in points (CSS 2 §10.8.1)."""

    base: TextStyle
    height: float
    baseline: float

    @staticmethod
    def of(base: TextStyle, style: ParagraphStyle, face: Face) -> Strut:
        """Return the strut of a paragraph; half of the leading goes above the font's own box, half below."""
        box = (face.ascent + face.descent) * base.size
        baseline = (style.line_height - box) / 2 + face.ascent * base.size
        return Strut(base, style.line_height, baseline)

    def of_line(self, fragments: Sequence[InlineFragment]) -> tuple[float, float]:
        """Return the height and the baseline of a line with these fragments, in points."""
        base = self.base
        above, below = self.baseline, self.height - self.baseline
        for fragment in fragments:
            glyph_style = fragment.glyph_style
            if isinstance(glyph_style, AtomicInline):
                ascent = glyph_style.ascent
                above = max(above, ascent)
                below = max(below, glyph_style.fragment.height - ascent)
            elif glyph_style.style is not base and (
                glyph_style.style.size > base.size or glyph_style.style.rise
            ):
                high, low = self._extent(glyph_style)
                above, below = max(above, high), max(below, low)
        return above + below, above

    def of_empty(self, style: TextStyle | None) -> tuple[float, float]:
        """Return the height and the baseline of a line without text, in points."""
        if style is None or style.size <= self.base.size:
            return self.height, self.baseline
        factor = style.size / self.base.size
        return self.height * factor, self.baseline * factor

    def _extent(self, glyph_style: GlyphStyle) -> tuple[float, float]:
        style, face = glyph_style.style, glyph_style.face
        if style.rise:
            return face.cap_height * style.size + style.rise, -style.rise
        height = self.height * style.size / self.base.size
        box = (face.ascent + face.descent) * style.size
        above = (height - box) / 2 + face.ascent * style.size
        return above, height - above


_SOLID: Final = 0.95  # of a font size: lines closer than that would touch


def fit_line_height(style: ParagraphStyle, grid: LineGrid, size: float) -> ParagraphStyle:
    """Return a style whose lines are whole steps high: the nearest number that the font size allows."""
    least = ceil((size * _SOLID - EPSILON) / grid.step)
    steps = max(round(style.line_height / grid.step), least, 1)
    return replace(style, line_height=steps * grid.step)


def place_on_grid(lines: Sequence[Line], step: float) -> Sequence[Line]:
    """Return lines whose baselines are whole steps apart; only higher lines move."""
    placed: list[Line] = []
    natural = 0.0
    for line in lines:
        baseline = line.y + line.baseline
        y = line.y
        if placed:
            before = placed[-1]
            apart = ceil((baseline - natural - EPSILON) / step) * step
            y = before.y + before.baseline + apart - line.baseline
        placed.append(line if abs(y - line.y) < EPSILON else line._replace(y=y))
        natural = baseline
    return placed


def find_shift(
    grid: LineGrid, style: ParagraphStyle, fonts: Fonts, *, top: float, baseline: float
) -> float:
    """Return how far text moves down for its first baseline to be on the grid, in points.

    `top` is the distance from the top of the area to that of the text.
    """
    base = replace(style, line_height=grid.step)
    first = line_metrics(grid.text, base, fonts)[1]
    natural = top + baseline - first
    return max(ceil((natural - EPSILON) / grid.step) * grid.step - natural, 0.0)
