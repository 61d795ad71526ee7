"""Horizontal lists: the boxes between two forced breaks, with the boundary after each."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, compress, pairwise
from operator import add
from typing import Final

from workers.engine.bidi import ControlRemover, join_isolates, resolve_levels
from workers.engine.characters import has_right_to_left
from workers.engine.diagnostics import AuthoringError
from workers.engine.fonts import Face, JoinedTexts
from workers.engine.layout.context import LayoutContext, Region
from workers.engine.layout.lines import opportunities
from workers.engine.layout.lines.east_asian import find_gap, is_east_asian, split_at_gaps
from workers.engine.layout.lines.fragments import AtomicInline, GlyphStyle, Hanging, find_encoding
from workers.engine.layout.lines.hyphenation import hyphenate
from workers.engine.tree.expressions.running_text import MAX_TEXT, too_long_message
from workers.engine.tree.memo import Kind
from workers.engine.tree.nodes import (
    Inline,
    InlineAnchor,
    InlineBlock,
    LineBreak,
    NoteCall,
    PageRange,
    TextRun,
)
from workers.engine.tree.styles.computed import ParagraphStyle, TextStyle, WhiteSpace

TAB_STOP: Final = 8  # characters, CSS Text 3, 4.2
SOFT_HYPHEN: Final = "\u00ad"
LEAST_PIECE: Final = 4  # letters of a word that a last line is made of
_PRESERVED: Final = re.compile(" +|[^ ]+")

# Kinds of boundary: what follows a box.
NO_BREAK: Final = 0
SPACE: Final = 1
BREAK: Final = 2  # an opportunity without width
DISCRETIONARY: Final = 3  # an opportunity with a visible hyphen, as TeX's \discretionary
NO_BREAK_SPACE: Final = 4  # a space at which a break is prohibited
# By kind: the text of a boundary, whether a line may end there, and 1 for glue.
_TEXTS: Final = ("", " ", "", "", " ")
_IS_OPPORTUNITY: Final = (False, True, True, True, False)
IS_GLUE: Final = (0.0, 1.0, 0.0, 0.0, 1.0)


@dataclass(slots=True)
class HorizontalList:
    """Boxes between two forced breaks, as parallel lists; `lefts` and `rights` in points.

    The space after a box has the glyph style of the box, unless `space_styles` has another. It is
    one space, unless `space_counts` has the number of preserved spaces. A run is a sequence of boxes
    of one glyph style, with their spaces; an atomic inline is a run of its own.
    """

    empty_style: TextStyle | None = None  # of the line break that ends an empty list
    texts: list[str] = field(default_factory=list)
    styles: list[GlyphStyle | AtomicInline] = field(default_factory=list)
    run_starts: list[int] = field(default_factory=list)  # the first box of each run
    boundaries: list[int] = field(default_factory=list)
    lefts: list[float] = field(default_factory=list)
    rights: list[float] = field(default_factory=list)
    space_styles: dict[int, GlyphStyle] = field(default_factory=dict)
    space_counts: dict[int, int] = field(default_factory=dict)
    anchors: dict[int, list[str]] = field(default_factory=dict)  # names by the index of their box
    has_levels: bool = False  # visual order may differ from logical order
    hanging: Hanging | None = None  # of a paragraph with hanging punctuation
    is_east_asian: bool = False  # there may be gaps between its boxes
    breaks_before_kana: bool = False  # of any size
    gap: float = 0.0  # in points, between the last box and the next one
    gaps: int = 0  # so far; texts on both sides of one are of two runs
    _joined: tuple[str, list[int]] | None = None
    _anchored: list[int] | None = None

    def distinct_styles(self) -> list[GlyphStyle | AtomicInline]:
        """Return the style of each run."""
        return [self.styles[start] for start in self.run_starts]

    def joined(self) -> tuple[str, list[int]]:
        """Return the text of a complete list with its spaces, and where in it each box starts."""
        if self._joined is None:
            between: Iterable[str] = map(_TEXTS.__getitem__, self.boundaries)
            if self.space_counts:
                between = [
                    self.spaces_after(box) if text else "" for box, text in enumerate(between)
                ]
            spaced = list(map(add, self.texts, between))
            self._joined = "".join(spaced), list(accumulate(map(len, spaced), initial=0))
        return self._joined

    def breakpoints(self) -> Sequence[int]:
        """Return the boxes after which a line may end; the last box is always one."""
        last = len(self.boundaries) - 1
        inner = self.boundaries[:-1]
        if NO_BREAK not in inner and NO_BREAK_SPACE not in inner:
            return range(last + 1)
        return [*compress(range(last), map(_IS_OPPORTUNITY.__getitem__, inner)), last]

    def keep_end(self) -> None:
        """Remove the opportunities that leave a last line of less than `LEAST_PIECE` letters of a word."""
        boundaries, at, letters = self.boundaries, len(self.boundaries) - 1, 0
        while at > 0 and boundaries[at - 1] not in (SPACE, NO_BREAK_SPACE):
            letters += sum(map(str.isalpha, self.texts[at]))
            at -= 1
            if letters >= LEAST_PIECE:
                return
            if boundaries[at] == DISCRETIONARY:
                boundaries[at] = NO_BREAK

    def emergency_breakpoints(self) -> Sequence[int]:
        """Return the boxes after which a line ends where no more fits: no-break spaces included."""
        last = len(self.boundaries) - 1
        return [
            i for i, boundary in enumerate(self.boundaries) if boundary != NO_BREAK or i == last
        ]

    def find_last_no_break_space(self, first: int, last: int, limit: float) -> int | None:
        """Return the last box up to `limit` points that a no-break space follows, None for none."""
        fitting = bisect_right(self.rights, limit, lo=first, hi=last)
        boxes = range(fitting - 1, first - 1, -1)
        return next((box for box in boxes if self.boundaries[box] == NO_BREAK_SPACE), None)

    def add_text(self, glyph_style: GlyphStyle, text: str, *, hyphens: bool) -> None:
        """Add text that wraps; spaces at its ends become the boundaries of their neighbours."""
        words = text.split(" ")
        if words[0] == "":
            self._attach_space(glyph_style)
        spaced = list(filter(None, words))
        if not spaced:
            return
        if self.texts:
            self._resolve_boundary(spaced[0], glyph_style.style.lang)
        boundaries = [SPACE] * (len(spaced) - 1)
        if opportunities.may_prohibit_break(text):
            for number in opportunities.find_no_break_spaces(spaced):
                boundaries[number] = NO_BREAK_SPACE
        if opportunities.may_bind_spaces(text):
            for number in opportunities.find_bound_spaces(spaced, glyph_style.style.lang):
                boundaries[number] = NO_BREAK_SPACE
        if opportunities.may_break_inside(text):
            self._add_split_words(glyph_style, spaced, boundaries, hyphens=hyphens)
        else:
            self._add_words(glyph_style, spaced, boundaries)
        if words[-1] == "":
            self._attach_space(glyph_style)

    def add_preserved(self, glyph_style: GlyphStyle, text: str, *, hyphens: bool) -> None:
        """Add wrapping text with preserved spaces; at the end of a line they hang and are not drawn."""
        for segment in _PRESERVED.findall(text):
            if segment[0] == " ":
                self._preserve_spaces(glyph_style, segment)
            else:
                self.add_text(glyph_style, segment, hyphens=hyphens)

    def add_box(
        self, glyph_style: GlyphStyle | AtomicInline, text: str, width: float, boundary: int
    ) -> None:
        """Add one box of `width` points, and the boundary after it."""
        self._begin_run(glyph_style)
        left = self._next_left()
        self.texts.append(text)
        self.styles.append(glyph_style)
        self.boundaries.append(boundary)
        self.lefts.append(left)
        self.rights.append(left + width)

    def add_anchor(self, name: str) -> None:
        """Add an anchor: to the box before it, or after a space to the box that follows."""
        box = len(self.texts)
        if box and self.boundaries[-1] not in (SPACE, NO_BREAK_SPACE):
            box -= 1
        self.anchors.setdefault(box, []).append(name)

    def anchors_between(self, first: int, last: int) -> tuple[str, ...]:
        """Return the anchors of some boxes; one after the last box of the list belongs to that box."""
        if self._anchored is None:
            self._anchored = sorted(self.anchors)
        end = last + 1 if last == len(self.texts) - 1 else last
        begin = bisect_left(self._anchored, first)
        boxes = self._anchored[begin : bisect_right(self._anchored, end)]
        return tuple([name for box in boxes for name in self.anchors[box]])

    def add_gap(self, first: str, text: TextStyle, style: ParagraphStyle) -> None:
        """Add the gap between the last box and a text beside it, by the first character of that."""
        if self.texts and self.boundaries[-1] not in (SPACE, NO_BREAK_SPACE):
            gap = find_gap(self.texts[-1][-1:], first, text.lang, style)
            if gap:
                self.gap = gap * text.size
                self.gaps += 1

    def add_atomic_inline(self, atomic: AtomicInline) -> None:
        """Add an atomic inline; lines may break before and after it (UAX #14 class CB)."""
        if self.texts:
            self._resolve_boundary(opportunities.OBJECT_REPLACEMENT, "")
        self.add_box(atomic, "", atomic.width, BREAK)

    def _begin_run(self, glyph_style: GlyphStyle | AtomicInline) -> None:
        at = len(self.styles)
        if not at or self.styles[-1] is not glyph_style or at - 1 in self.space_styles:
            self.run_starts.append(at)

    def _resolve_boundary(self, word: str, lang: str) -> None:
        """Resolve the boundary between the last box and a word of another style, as within one style."""
        before, boundary = self.texts[-1] or opportunities.OBJECT_REPLACEMENT, self.boundaries[-1]
        if before.isspace():
            return  # a preserved indent stays with the text it indents, however long
        last, first = before[-1], word[0]
        if boundary == SPACE and opportunities.find_bound_spaces((before, word), lang):
            self.boundaries[-1] = NO_BREAK_SPACE
            return
        if last.isalnum() and first.isalnum() and (boundary == SPACE or (last + first).isascii()):
            return  # no pair of classes needs a look-up: most words
        if boundary == SPACE:
            if opportunities.find_no_break_spaces((before, word)):
                self.boundaries[-1] = NO_BREAK_SPACE
        elif boundary in (NO_BREAK, BREAK):
            may_break = opportunities.may_break_between(
                before, word, before_kana=self.breaks_before_kana
            )
            breaks = DISCRETIONARY if before[-1] == SOFT_HYPHEN else BREAK
            self.boundaries[-1] = breaks if may_break else NO_BREAK

    def _add_words(self, glyph_style: GlyphStyle, words: list[str], boundaries: list[int]) -> None:
        space = glyph_style.measure(" ")
        self._add_boxes(glyph_style, words, [*boundaries, NO_BREAK], [space] * len(words))

    def _add_boxes(
        self,
        glyph_style: GlyphStyle,
        texts: list[str],
        boundaries: list[int],
        distances: list[float],
    ) -> None:
        """Add boxes of one style with the boundaries after them, and the distances to the next in points."""
        self._begin_run(glyph_style)
        steps = [0.0] * (2 * len(texts))
        steps[::2] = glyph_style.measure_words(texts)
        steps[1::2] = distances
        edges = list(accumulate(steps, initial=self._next_left()))
        self.texts += texts
        self.styles += [glyph_style] * len(texts)
        self.boundaries += boundaries
        self.lefts += edges[:-1:2]
        self.rights += edges[1::2]

    def _add_split_words(
        self, glyph_style: GlyphStyle, words: list[str], boundaries: list[int], *, hyphens: bool
    ) -> None:
        joined, space = glyph_style.joined, glyph_style.measure(" ")
        # Ideographic text has very many parts, of which none is kerned.
        is_kerned = not (glyph_style.is_shaped or glyph_style.face.is_ideographic)
        texts: list[str] = []
        follows: list[int] = []
        distances: list[float] = []
        for word, last in zip(words, [*boundaries, NO_BREAK], strict=True):
            segments = opportunities.split_at_opportunities(
                word, before_kana=self.breaks_before_kana
            )
            if not hyphens:
                segments = _remove_soft_hyphens(segments)
            if joined is not None and len(segments) > 1 and joined.are_in[word]:
                if texts:
                    self._add_boxes(glyph_style, texts, follows, distances)
                    texts, follows, distances = [], [], []
                self._add_ligated_segments(glyph_style, segments, last)
                continue
            texts += segments
            for before, segment in pairwise(segments):
                # A part is kerned with the part before it, from which a line rarely separates it.
                shown = before.removesuffix(SOFT_HYPHEN)
                is_pair = is_kerned and shown and segment
                follows.append(DISCRETIONARY if before.endswith(SOFT_HYPHEN) else BREAK)
                distances.append(glyph_style.kern(shown[-1], segment[0]) if is_pair else 0.0)
            follows.append(last)
            distances.append(space)
        if texts:
            self._add_boxes(glyph_style, texts, follows, distances)

    def _add_ligated_segments(
        self, glyph_style: GlyphStyle, segments: list[str], boundary: int
    ) -> None:
        """Add the parts of a word as wide as in the whole word: a ligature may be drawn across them."""
        self._begin_run(glyph_style)
        assert glyph_style.joined is not None
        start, size = self._next_left(), glyph_style.style.size
        lefts, rights = glyph_style.joined.find_extents(tuple(segments), glyph_style.face.measure)
        self.texts += segments
        self.styles += [glyph_style] * len(segments)
        self.boundaries += [DISCRETIONARY if s[-1:] == SOFT_HYPHEN else BREAK for s in segments]
        self.boundaries[-1] = boundary
        self.lefts += [start + left * size for left in lefts]
        self.rights += [start + right * size for right in rights]

    def _attach_space(self, glyph_style: GlyphStyle) -> None:
        if not self.boundaries or self.boundaries[-1] in (SPACE, NO_BREAK_SPACE):
            return
        self.boundaries[-1] = SPACE
        if self.styles[-1] is not glyph_style:
            self.space_styles[len(self.styles) - 1] = glyph_style

    def _preserve_spaces(self, glyph_style: GlyphStyle, spaces: str) -> None:
        """Add preserved spaces: as a box at the start of the list, else as the boundary of the box before."""
        if not self.styles:
            self.add_box(glyph_style, spaces, glyph_style.measure(spaces), NO_BREAK)
            return
        last, before = len(self.styles) - 1, 0
        if self.boundaries[-1] in (SPACE, NO_BREAK_SPACE):
            before = self.space_counts.get(last, 1)
        self._attach_space(glyph_style)
        if before + len(spaces) > 1:
            self.space_counts[last] = before + len(spaces)

    def spaces_after(self, box: int) -> str:
        """Return the spaces between a box and the next one."""
        return " " * self.space_counts.get(box, 1) if self.space_counts else " "

    def space_style_after(self, box: int) -> GlyphStyle | None:
        """Return the glyph style of the space after a box, None where no space follows."""
        if self.boundaries[box] not in (SPACE, NO_BREAK_SPACE):
            return None
        glyph_style = self.space_styles.get(box) or self.styles[box]
        return glyph_style if isinstance(glyph_style, GlyphStyle) else None

    def _next_left(self) -> float:
        if not self.rights:
            return 0.0
        if self.gap:
            gap, self.gap = self.gap, 0.0
            return self.rights[-1] + gap
        space_style = self.space_style_after(len(self.styles) - 1)
        spaces = self.spaces_after(len(self.styles) - 1)
        return self.rights[-1] + (space_style.measure(spaces) if space_style else 0.0)


def make_horizontal_lists(
    context: LayoutContext, inlines: Sequence[Inline], style: ParagraphStyle
) -> Iterator[HorizontalList]:
    """Yield a horizontal list for the content between each two forced breaks.

    Raises:
        AuthoringError: The text is too long.
    """
    _check_length(context, inlines)
    preserves_newlines = style.white_space in _PRESERVING_NEWLINES
    has_levels = style.is_rtl or any(
        isinstance(inline, TextRun) and has_right_to_left(inline.text) for inline in inlines
    )
    make_list = partial(_make_horizontal_list, context, style, has_levels)
    content: list[_InlineItem] = []
    ended_by_break = False
    for inline in inlines:
        ended_by_break = False
        match inline:
            case LineBreak():
                yield make_list(content, inline.style)
                content = []
                ended_by_break = True
            case InlineBlock() | InlineAnchor():
                content.append(inline)
            case TextRun():
                texts = inline.text.split("\n") if preserves_newlines else [inline.text]
                for index, text in enumerate(texts):
                    if index:
                        yield make_list(content, inline.style)
                        content = []
                    if text:
                        content.append((inline, _transform_text(inline, text, style)))
                    ended_by_break = bool(index) and not text
    # A break at the very end of a block creates no further line, as in HTML.
    if not ended_by_break or not inlines:
        yield make_list(content, None)


def _check_length(context: LayoutContext, inlines: Sequence[Inline]) -> None:
    """Raise if a text is too long, before any of it takes memory."""
    length = sum(len(inline.text) for inline in inlines if isinstance(inline, TextRun))
    if length > MAX_TEXT:
        places = tuple(dict.fromkeys(source.location for source in context.chain()))
        context.findings.error("too-long", too_long_message(length), *places)
        raise AuthoringError(context.findings.errors)


# Items of a list: text with its run, blocks and anchors.
_InlineItem = tuple[TextRun, str] | InlineBlock | InlineAnchor

_PRESERVING_NEWLINES: Final = (WhiteSpace.PRE, WhiteSpace.PRE_LINE, WhiteSpace.PRE_WRAP)


def _transform_text(run: TextRun, text: str, style: ParagraphStyle) -> str:
    if style.white_space in (WhiteSpace.PRE, WhiteSpace.PRE_WRAP):
        text = text.expandtabs(TAB_STOP)
    if style.white_space is WhiteSpace.PRE:
        return text
    if style.hyphens == "auto" and style.white_space is not WhiteSpace.NOWRAP:
        return hyphenate(text, run.style.lang, style.hyphen_limits.chars)
    return text


def _make_horizontal_list(
    context: LayoutContext,
    style: ParagraphStyle,
    has_levels: bool,
    content: Sequence[_InlineItem],
    empty_style: TextStyle | None,
) -> HorizontalList:
    hlist = HorizontalList(
        empty_style, has_levels=has_levels, breaks_before_kana=style.breaks_before_kana
    )
    texts = [_text_of(item) for item in content]
    levels: Iterable[list[tuple[str, int]]] = [[(text, 0)] for text in texts]
    if has_levels:
        text = "".join(texts)
        runs = join_isolates(text, resolve_levels(text, is_rtl=style.is_rtl))
        levels = _split_by_level(texts, runs)
    controls = ControlRemover()
    hlist.is_east_asian = any(map(is_east_asian, texts))
    for item, parts in zip(content, levels, strict=True):
        if isinstance(item, InlineAnchor):
            hlist.add_anchor(item.name)
        elif isinstance(item, InlineBlock):
            atomic = _lay_out_atomic_inline(context, item)
            hlist.add_atomic_inline(atomic._replace(level=parts[0][1]))
        else:
            for text, level in parts:
                if shown := controls.remove(text, level):
                    _add_run(context, hlist, item[0], shown, style, level, controls)
    hlist.keep_end()
    return hlist


def _text_of(item: _InlineItem) -> str:
    if isinstance(item, InlineAnchor):
        return ""
    return opportunities.OBJECT_REPLACEMENT if isinstance(item, InlineBlock) else item[1]


def _split_by_level(
    texts: Sequence[str], runs: Sequence[tuple[int, int, int]]
) -> Iterator[list[tuple[str, int]]]:
    """Yield the parts of each text, with their levels."""
    at = number = 0
    for text in texts:
        segments: list[tuple[str, int]] = []
        start, end = at, at + len(text)
        while at < end:
            stop = min(runs[number][1], end)
            segments.append((text[at - start : stop - start], runs[number][2]))
            at = stop
            if at == runs[number][1]:
                number += 1
        yield segments


def _add_run(
    context: LayoutContext,
    hlist: HorizontalList,
    run: TextRun,
    text: str,
    style: ParagraphStyle,
    level: int,
    controls: ControlRemover,
) -> None:
    """Add text of one embedding level."""
    is_solid = style.white_space in (WhiteSpace.PRE, WhiteSpace.NOWRAP)
    if isinstance(run, NoteCall) and hlist.boundaries and hlist.boundaries[-1] == BREAK:
        hlist.boundaries[-1] = NO_BREAK  # a note call stays with the word before it
    is_solid = is_solid or isinstance(run, NoteCall | PageRange)
    faces = context.fonts.split(run.style, text)
    if hlist.is_east_asian:
        faces = [(face, part) for face, whole in faces for part in split_at_gaps(whole)]
    for face, face_run in faces:
        if hlist.is_east_asian:
            hlist.add_gap(face_run[0], run.style, style)
        encoding = find_encoding(run.style, face, level, face_run)
        turn = hlist.gaps % 2
        glyph_style = _intern_glyph_style(context, run, face, level, controls, turn, *encoding)
        if is_solid:
            hlist.add_box(glyph_style, face_run, glyph_style.measure(face_run), NO_BREAK)
        elif style.white_space is WhiteSpace.PRE_WRAP:
            hlist.add_preserved(glyph_style, face_run, hyphens=style.hyphens != "none")
        else:
            hlist.add_text(glyph_style, face_run, hyphens=style.hyphens != "none")


_GLYPH_STYLES: Final[Kind[tuple[object, ...], GlyphStyle]] = Kind()


def _intern_glyph_style(
    context: LayoutContext,
    run: TextRun,
    face: Face,
    level: int,
    controls: ControlRemover,
    turn: int,
    *encoding: *tuple[bool, JoinedTexts | None],
) -> GlyphStyle:
    """Return a glyph style, one object for all runs of equal style: `is` compares them in hot loops.

    Runs that controls or gaps separate are of two objects in turn, so that they stay apart.
    """
    separator = controls.take_separator()
    if separator is not None:
        turn += controls.count % 2 * 2
    # By identity, as hashing a style takes four times as long here; the value keeps the style alive.
    key = (id(run.style), face, run.link, level, *encoding, separator, turn)
    make = partial(GlyphStyle, run.style, face, run.link, level, *encoding, separator)
    return context.memo.remember(_GLYPH_STYLES, key, make)


def _lay_out_atomic_inline(context: LayoutContext, inline: InlineBlock) -> AtomicInline:
    # Percentages of the line's width are not known yet.
    _, width = context.measure(inline.block)
    fragment = context.lay_out(inline.block, Region(width))
    assert fragment is not None
    if inline.link is None:
        return AtomicInline(fragment, width)
    return AtomicInline(fragment, width, link=inline.link, alt=inline.alt)


def _remove_soft_hyphens(segments: list[str]) -> list[str]:
    joined = [""]
    for segment in segments:
        joined[-1] += segment.removesuffix(SOFT_HYPHEN)
        if not segment.endswith(SOFT_HYPHEN):
            joined.append("")
    return joined if joined[-1] else joined[:-1] or [""]
