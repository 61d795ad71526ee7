"""Strips: the text between two forced breaks as a row of units, each as wide as it will be drawn."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from workers.engine.diagnostics import AuthoringError
from workers.engine.layout.context import Context, Space, Typeface
from workers.engine.layout.fonts import needs_shaping
from workers.engine.layout.lines.bidi import CONTROLS, has_right_to_left, resolve_levels
from workers.engine.layout.lines.hyphenation import hyphenate
from workers.engine.layout.lines.opportunities import (
    INSET,
    cut_word,
    find_held,
    may_break_between,
    may_break_inside,
    may_hold,
)
from workers.engine.layout.lines.parts import Inset, Look
from workers.engine.tree.nodes import Inline, InlineBlock, LineBreak, Run, Spot
from workers.engine.tree.styles import ParagraphStyle, TextStyle, WhiteSpace
from workers.engine.tree.whitespace import MAX_TEXT, tell_length

TAB_STOP: Final = 8  # characters, CSS Text 3, 4.2
SOFT_HYPHEN: Final = "\u00ad"
_PRESERVED: Final = re.compile(" +|[^ ]+")

# What follows a unit.
JOIN: Final = 0  # the next unit, with no chance to break
SPACE: Final = 1
BREAK: Final = 2  # a chance to break that takes no room
SOFT: Final = 3  # a chance to break that shows a hyphen
HELD: Final = 4  # a space with no chance to break


@dataclass(slots=True)
class Strip:
    """The units between two forced breaks, as parallel lists; `lefts` and `rights` in points.

    The space after a unit looks like the unit, unless `strays` says otherwise. It is one, unless
    `gaps` has the number of spaces that are preserved there.
    """

    empty_style: TextStyle | None = None  # of the line break that an empty strip ends in
    texts: list[str] = field(default_factory=list)
    looks: list[Look | Inset] = field(default_factory=list)
    glues: list[int] = field(default_factory=list)
    lefts: list[float] = field(default_factory=list)
    rights: list[float] = field(default_factory=list)
    strays: dict[int, Look] = field(default_factory=dict)
    gaps: dict[int, int] = field(default_factory=dict)
    spots: dict[int, list[str]] = field(default_factory=dict)  # named places, by their unit
    has_one_look: bool = True
    has_levels: bool = False  # parts may stand in another order than they are read in

    def chances(self) -> Sequence[int]:
        """Give the units after which a line may end; the last is always one."""
        last = len(self.glues) - 1
        inner = self.glues[:-1]
        if JOIN not in inner and HELD not in inner:
            return range(last + 1)
        return [i for i, glue in enumerate(inner) if glue not in (JOIN, HELD)] + [last]

    def places(self) -> Sequence[int]:
        """Return the units after which a line ends where there is no room for more."""
        last = len(self.glues) - 1
        return [i for i, glue in enumerate(self.glues) if glue != JOIN or i == last]

    def find_last_held(self, first: int, last: int, limit: float) -> int | None:
        """Return the last unit up to `limit` with a space behind it at which no line should break."""
        fitting = bisect_right(self.rights, limit, lo=first, hi=last)
        units = range(fitting - 1, first - 1, -1)
        return next((unit for unit in units if self.glues[unit] == HELD), None)

    def add_text(self, look: Look, text: str, *, hyphens: bool) -> None:
        """Add wrapping text; spaces at its ends become the glue of their neighbours."""
        words = text.split(" ")
        if words[0] == "":
            self._glue_space(look)
        spaced = [word for word in words if word]
        if not spaced:
            return
        if self.texts:
            self._meet(spaced[0])
        gaps = [SPACE] * (len(spaced) - 1)
        if may_hold(text):
            for number in find_held(spaced):
                gaps[number] = HELD
        if may_break_inside(text):
            self._add_cut_words(look, spaced, gaps, hyphens=hyphens)
        else:
            self._add_words(look, spaced, gaps)
        if words[-1] == "":
            self._glue_space(look)

    def add_preserved(self, look: Look, text: str, *, hyphens: bool) -> None:
        """Add wrapping text whose spaces are kept; where a line ends they hang and are not drawn."""
        for piece in _PRESERVED.findall(text):
            if piece[0] == " ":
                self._preserve_spaces(look, piece)
            else:
                self.add_text(look, piece, hyphens=hyphens)

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

    def add_spot(self, name: str) -> None:
        """Add a named place: in the unit before it, or after a space in the one that follows."""
        unit = len(self.texts)
        if unit and self.glues[-1] not in (SPACE, HELD):
            unit -= 1
        self.spots.setdefault(unit, []).append(name)

    def spots_between(self, first: int, last: int) -> tuple[str, ...]:
        """Return the named places in some units; what follows the last unit of all is in that."""
        end = last + 1 if last == len(self.texts) - 1 else last
        return tuple(name for unit in range(first, end + 1) for name in self.spots.get(unit, ()))

    def add_inset(self, inset: Inset) -> None:
        """Add a block standing in the line; a line may break before and after it."""
        if self.texts:
            self._meet(INSET)
        self.has_one_look = False
        self.add_solid(inset, "", inset.width, BREAK)

    def _meet(self, word: str) -> None:
        """Let lines break between the last unit and a word or a block as in text of one look."""
        before, glue = self.texts[-1] or INSET, self.glues[-1]
        if before.isspace():
            return  # a preserved indent stays with what it indents, however long that is
        last, first = before[-1], word[0]
        if last.isalnum() and first.isalnum() and (glue == SPACE or (last + first).isascii()):
            return  # between most words there is nothing to look up
        if glue == SPACE:
            if find_held((before, word)):
                self.glues[-1] = HELD
        elif glue in (JOIN, BREAK):
            may_break = may_break_between(before, word)
            breaks = SOFT if before[-1] == SOFT_HYPHEN else BREAK
            self.glues[-1] = breaks if may_break else JOIN

    def _add_words(self, look: Look, words: list[str], gaps: list[int]) -> None:
        if self.looks and self.looks[-1] is not look:
            self.has_one_look = False
        count = len(words)
        widths = look.measure_words(words)
        gap = look.measure(" ")
        left = self._next_left()
        steps = accumulate(widths, lambda at, width: at + width + gap, initial=left)
        lefts = list(steps)[:count]
        self.texts += words
        self.looks += [look] * count
        self.glues += gaps
        self.glues.append(JOIN)
        self.lefts += lefts
        self.rights += [left + width for left, width in zip(lefts, widths, strict=True)]

    def _add_cut_words(
        self, look: Look, words: list[str], gaps: list[int], *, hyphens: bool
    ) -> None:
        for word, gap in zip(words, [*gaps, JOIN], strict=True):
            pieces = cut_word(word)
            if not hyphens:
                pieces = _drop_soft_hyphens(pieces)
            if (look.is_shaped or look.face.is_ideographic) and SOFT_HYPHEN not in word:
                self._add_even_pieces(look, pieces, gap)
                continue
            for number, piece in enumerate(pieces[:-1]):
                glue = SOFT if piece.endswith(SOFT_HYPHEN) else BREAK
                self._add_piece(look, pieces[number - 1] if number else "", piece, glue)
            self._add_piece(look, pieces[-2] if len(pieces) > 1 else "", pieces[-1], gap)

    def _add_even_pieces(self, look: Look, pieces: list[str], glue: int) -> None:
        """Add the parts of a word that are never kerned: of ideographs there are many."""
        if self.looks and self.looks[-1] is not look:
            self.has_one_look = False
        ends = list(accumulate(look.measure_words(pieces), initial=self._next_left()))
        self.texts += pieces
        self.looks += [look] * len(pieces)
        self.glues += [BREAK] * (len(pieces) - 1)
        self.glues.append(glue)
        self.lefts += ends[:-1]
        self.rights += ends[1:]

    def _add_piece(self, look: Look, before: str, piece: str, glue: int) -> None:
        """Add a part of a word; it is kerned with the part before it, which it mostly stays with."""
        before = before.removesuffix(SOFT_HYPHEN)
        self.add_solid(look, piece, look.measure(piece), glue)
        if before and piece and (kern := look.kern(before[-1], piece[0])):
            self.lefts[-1] += kern
            self.rights[-1] += kern

    def _glue_space(self, look: Look) -> None:
        if not self.glues or self.glues[-1] in (SPACE, HELD):
            return
        self.glues[-1] = SPACE
        if self.looks[-1] is not look:
            self.strays[len(self.looks) - 1] = look

    def _preserve_spaces(self, look: Look, spaces: str) -> None:
        """Keep spaces: as a unit where a line begins, else as the glue of the unit before them."""
        if not self.looks:
            self.add_solid(look, spaces, look.measure(spaces), JOIN)
            return
        last, before = len(self.looks) - 1, 0
        if self.glues[-1] in (SPACE, HELD):
            before = self.gaps.get(last, 1)
        self._glue_space(look)
        if before + len(spaces) > 1:
            self.gaps[last] = before + len(spaces)

    def gap_after(self, unit: int) -> str:
        """Return the spaces between a unit and the next one."""
        return " " * self.gaps.get(unit, 1) if self.gaps else " "

    def space_after(self, unit: int) -> Look | None:
        """Give the look of the space after a unit, None where there is none."""
        if self.glues[unit] not in (SPACE, HELD):
            return None
        look = self.strays.get(unit) or self.looks[unit]
        return look if isinstance(look, Look) else None

    def _next_left(self) -> float:
        if not self.rights:
            return 0.0
        space = self.space_after(len(self.looks) - 1)
        gap = self.gap_after(len(self.looks) - 1)
        return self.rights[-1] + (space.measure(gap) if space else 0.0)


def make_strips(
    context: Context, inlines: Sequence[Inline], style: ParagraphStyle
) -> Iterator[Strip]:
    """Cut inline content at its forced breaks; a strip has what stands between two of them.

    Raises:
        AuthoringError: the text is too long.
    """
    _check_length(context, inlines)
    keeps_newlines = style.white_space in _KEEPING_NEWLINES
    has_levels = style.is_rtl or any(
        isinstance(inline, Run) and has_right_to_left(inline.text) for inline in inlines
    )
    content: list[_Content] = []
    ended_by_break = False
    for inline in inlines:
        ended_by_break = False
        match inline:
            case LineBreak():
                yield _make_strip(context, content, style, inline.style, has_levels=has_levels)
                content = []
                ended_by_break = True
            case InlineBlock() | Spot():
                content.append(inline)
            case Run():
                texts = inline.text.split("\n") if keeps_newlines else [inline.text]
                for index, text in enumerate(texts):
                    if index:
                        yield _make_strip(
                            context, content, style, inline.style, has_levels=has_levels
                        )
                        content = []
                    if text:
                        content.append((inline, _prepare(inline, text, style)))
                    ended_by_break = bool(index) and not text
    # A break at the very end closes its line and opens none, as in HTML.
    if not ended_by_break or not inlines:
        yield _make_strip(context, content, style, None, has_levels=has_levels)


def _check_length(context: Context, inlines: Sequence[Inline]) -> None:
    """Refuse a text that would take the memory of a render before any of it is laid out."""
    length = sum(len(inline.text) for inline in inlines if isinstance(inline, Run))
    if length > MAX_TEXT:
        places = tuple(dict.fromkeys(source.place for source in context.chain()))
        context.findings.error("too-long", tell_length(length), *places)
        raise AuthoringError(context.findings.errors)


# What a strip is made of: text in the look of its run, and blocks.
_Content = tuple[Run, str] | InlineBlock | Spot

_KEEPING_NEWLINES: Final = (WhiteSpace.PRE, WhiteSpace.PRE_LINE, WhiteSpace.PRE_WRAP)
_INSET: Final = "\ufffc"  # as what a block counts among characters


def _prepare(run: Run, text: str, style: ParagraphStyle) -> str:
    if style.white_space in (WhiteSpace.PRE, WhiteSpace.PRE_WRAP):
        text = text.expandtabs(TAB_STOP)
    if style.white_space is WhiteSpace.PRE:
        return text
    if style.hyphens == "auto" and style.white_space is not WhiteSpace.NOWRAP:
        return hyphenate(text, run.style.lang)
    return text


def _make_strip(
    context: Context,
    content: Sequence[_Content],
    style: ParagraphStyle,
    empty_style: TextStyle | None,
    *,
    has_levels: bool,
) -> Strip:
    strip = Strip(empty_style, has_levels=has_levels)
    if not has_levels:
        for part in content:
            if isinstance(part, Spot):
                strip.add_spot(part.name)
            elif isinstance(part, InlineBlock):
                strip.add_inset(_lay_out_inset(context, part))
            else:
                _add_run(context, strip, *part, style)
        return strip
    texts = [_text_of(part) for part in content]
    runs = resolve_levels("".join(texts), is_rtl=style.is_rtl)
    for part, levels in zip(content, _share_levels(texts, runs), strict=True):
        if isinstance(part, Spot):
            strip.add_spot(part.name)
        elif isinstance(part, InlineBlock):
            inset = _lay_out_inset(context, part)
            strip.add_inset(inset._replace(level=levels[0][1]))
        else:
            for text, level in levels:
                shown = CONTROLS.sub("", text)
                if shown:
                    _add_run(context, strip, part[0], shown, style, level=level)
    return strip


def _text_of(part: _Content) -> str:
    if isinstance(part, Spot):
        return ""
    return _INSET if isinstance(part, InlineBlock) else part[1]


def _share_levels(
    texts: Sequence[str], runs: Sequence[tuple[int, int, int]]
) -> Iterator[list[tuple[str, int]]]:
    """Cut each text where its level changes."""
    at = number = 0
    for text in texts:
        pieces: list[tuple[str, int]] = []
        start, end = at, at + len(text)
        while at < end:
            stop = min(runs[number][1], end)
            pieces.append((text[at - start : stop - start], runs[number][2]))
            at = stop
            if at == runs[number][1]:
                number += 1
        yield pieces


def _add_run(
    context: Context,
    strip: Strip,
    run: Run,
    text: str,
    style: ParagraphStyle,
    *,
    level: int = 0,
) -> None:
    """Add text that reads one way."""
    is_solid = style.white_space in (WhiteSpace.PRE, WhiteSpace.NOWRAP)
    for face, part in context.fonts.split(run.style, text):
        is_shaped = face.shapes and (level % 2 == 1 or needs_shaping(part))
        look = _look_of(context, run, face, level, is_shaped=is_shaped)
        if is_solid:
            strip.add_solid(look, part, look.measure(part), JOIN)
        elif style.white_space is WhiteSpace.PRE_WRAP:
            strip.add_preserved(look, part, hyphens=style.hyphens != "none")
        else:
            strip.add_text(look, part, hyphens=style.hyphens != "none")


def _look_of(context: Context, run: Run, face: Typeface, level: int, *, is_shaped: bool) -> Look:
    """Return a look: the same for all text that looks alike."""
    key = (id(run.style), face, run.link, level, is_shaped)
    known: Look | None = context.looks.get(key)
    if known is None or known.style is not run.style:
        known = context.looks[key] = Look(run.style, face, run.link, level, is_shaped)
    return known


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
