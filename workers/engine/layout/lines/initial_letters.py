"""Initial letters: the first letter of a paragraph, several lines high (CSS Inline 3 §7).

The letter is taken off the inline content before lines are broken, the lines beside it are shorter,
and it is drawn with the first of them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from workers.engine.characters import find_cluster_ends
from workers.engine.fonts import Face, is_cursive
from workers.engine.layout.context import LayoutContext
from workers.engine.layout.lines.fragments import (
    GlyphStyle,
    InlineFragment,
    Line,
    Strut,
    make_glyph_style,
)
from workers.engine.layout.lines.hyphenation import hyphenate
from workers.engine.syntax.typography import OPTICAL
from workers.engine.tree.nodes import Inline, InlineAnchor, NoteCall, TextRun
from workers.engine.tree.styles.computed import ParagraphStyle

_GAP: Final = 0.25  # between the letter and the lines beside it, of the font size of the text
# Ideographs fill their em box, which is this far below the baseline; other letters stand on it.
_IDEOGRAPHIC_DESCENT: Final = 0.12
# Punctuation around the letter, and spaces inside French quotes, belong to it (CSS Pseudo 4 §2.1).
_PUNCTUATION: Final = frozenset({"Ps", "Pe", "Pi", "Pf", "Po"})
_OPENING: Final = frozenset({"Ps", "Pi", "Pf"})
_NO_BREAK_SPACES: Final = "\u00a0\u202f"
_SMALL_LETTERS: Final = 0.55  # height of letters such as x, of the font size
_DEFAULT_CAP_HEIGHT: Final = 0.7  # of a font without capitals


class InitialLetter(NamedTuple):
    """The initial letter of a paragraph, in points.

    `fragments` start at its left edge; `width` is what the lines beside it are shorter by. It stands
    on the baseline of line `sink`, `above` points above the top of an ordinary first line if that
    line is the first. Opening quotes hang by `hanging`. `beside` is the number of shorter lines, of
    which a tail as that of Q takes a further one; `depth` is how far a tail reaches below line `sink`.
    """

    fragments: tuple[InlineFragment, ...]
    width: float
    rise: float
    above: float
    sink: int
    hanging: float
    beside: int
    depth: float

    def attach(
        self, lines: Sequence[Line], strut: Strut, start: float, rtl_width: float | None
    ) -> tuple[Line, ...]:
        """Return lines with the letter, `start` points from the start edge, and room for it.

        `rtl_width` is the width of the paragraph where that edge is the right one.
        """
        lines = list(lines)
        first, count = lines[0], len(lines)
        down = (self.sink - 1) * strut.height
        if count >= self.sink:  # a line of larger text is higher than others
            down = lines[self.sink - 1].y + lines[self.sink - 1].baseline - first.baseline
        above = max(0.0, self.above - (self.sink - 1) * strut.height)
        if above:
            lines[1:] = [line._replace(y=line.y + above) for line in lines[1:]]
        own = sum(part.width for part in self.fragments)
        left = start - self.hanging if rtl_width is None else rtl_width - start - own + self.hanging
        lines[0] = first._replace(
            height=first.height + above,
            baseline=first.baseline + above,
            initial=tuple(_place(part, left, self.rise - down) for part in self.fragments),
        )
        missing = (self.sink - count) * strut.height + self.depth
        if missing > 0:
            lines[-1] = lines[-1]._replace(height=lines[-1].height + missing)
        return tuple(lines)


def has_initial_letter(inlines: Sequence[Inline]) -> bool:
    """Return whether content begins with a letter that can be enlarged; letters that join cannot."""
    return bool(_split(inlines, None)[0])


def take_initial_letter(
    context: LayoutContext, inlines: Sequence[Inline], style: ParagraphStyle, strut: Strut
) -> tuple[InitialLetter | None, Sequence[Inline]]:
    """Return the initial letter of a paragraph, None if it has none, and the rest of its content."""
    letters, rest, is_followed_by_space = _split(inlines, style)
    if not letters or style.initial_letter is None:
        return None, inlines
    size, sink = style.initial_letter
    parts = [
        (run, face, text)
        for run in letters
        for face, text in context.fonts.split(run.style, run.text)
    ]
    points, rise = _fit(context, strut, parts[-1][1], above := (size - 1) * strut.height)
    level = 1 if style.is_rtl else 0
    x = 0.0
    fragments: list[InlineFragment] = []
    for run, face, text in parts:
        enlarged = replace(run.style, size=points)
        glyph_style = make_glyph_style(enlarged, face, run.link, level, text=text)
        fragments.append(InlineFragment(x, glyph_style.measure(text), text, glyph_style))
        x += fragments[-1].width
    hanging = _opening_width(fragments) if _hangs_at_start(style) else 0.0
    width = x - hanging + _GAP * strut.base.size
    if is_followed_by_space:  # for extracted text; the gap stands for it on the page
        run, face, _ = parts[-1]
        space = make_glyph_style(run.style, face, level=level, text=" ")
        fragments.append(InlineFragment(x, space.measure(" "), " ", space))
    tail = max(face.depth(text) for _, face, text in parts) * points - rise
    depth = max(0.0, tail - (strut.height - strut.baseline))
    is_deep = tail > strut.height - _SMALL_LETTERS * strut.base.size
    beside = sink + is_deep
    return InitialLetter(tuple(fragments), width, rise, above, sink, hanging, beside, depth), rest


def _fit(context: LayoutContext, strut: Strut, face: Face, above: float) -> tuple[float, float]:
    """Return the font size of a letter, and its rise from the baseline of its line.

    Its capital height reaches `above` points higher than that of the text: from the top of the first
    line beside it to the baseline of the last.
    """
    base = strut.base
    if face.is_ideographic:
        return above + base.size, _IDEOGRAPHIC_DESCENT * above
    height = above + context.fonts.find(base).cap_height * base.size
    return height / (face.cap_height or _DEFAULT_CAP_HEIGHT), 0.0


def _place(part: InlineFragment, left: float, rise: float) -> InlineFragment:
    assert isinstance(part.glyph_style, GlyphStyle)
    text_style = part.glyph_style.style
    raised = replace(text_style, rise=text_style.rise + rise)
    return part._replace(x=part.x + left, glyph_style=part.glyph_style._replace(style=raised))


def _split(
    inlines: Sequence[Inline], style: ParagraphStyle | None
) -> tuple[list[TextRun], Sequence[Inline], bool]:
    """Return the runs of the letter with the punctuation around it, the rest, and whether a space follows."""
    letters: list[TextRun] = []
    for number, inline in enumerate(inlines):
        if isinstance(inline, InlineAnchor):
            continue
        if not isinstance(inline, TextRun) or isinstance(inline, NoteCall):
            break
        text = inline.text
        end = _skip_punctuation(text, 0)
        if end == len(text):  # a quote in a style of its own
            letters.append(inline)
            continue
        if not text[end].isalnum() or is_cursive(text[end]):
            break
        text = _hyphenate_first_word(inline, style)
        end = _skip_punctuation(text, end + find_cluster_ends(text[end:])[0])
        letters.append(replace(inline, text=text[:end]))
        rest = [replace(inline, text=text[end:].lstrip(" "))] if text[end:].strip(" ") else []
        anchors = [item for item in inlines[:number] if isinstance(item, InlineAnchor)]
        return letters, [*anchors, *rest, *inlines[number + 1 :]], text[end : end + 1] == " "
    return [], inlines, False


def _skip_punctuation(text: str, at: int) -> int:
    while at < len(text) and (
        unicodedata.category(text[at]) in _PUNCTUATION or text[at] in _NO_BREAK_SPACES
    ):
        at += 1
    return at


def _hyphenate_first_word(run: TextRun, style: ParagraphStyle | None) -> str:
    """Return the text of a run with its first word hyphenated while it is whole."""
    if style is None or style.hyphens != "auto":
        return run.text
    word, space, rest = run.text.partition(" ")
    return hyphenate(word, run.style.lang, style.hyphen_limits.chars) + space + rest


def _hangs_at_start(style: ParagraphStyle) -> bool:
    return "first" in style.hanging or OPTICAL in style.hanging


def _opening_width(fragments: Sequence[InlineFragment]) -> float:
    """Return the width of the quotes and brackets before a letter."""
    width = 0.0
    for _, _, text, glyph_style in fragments:
        assert isinstance(glyph_style, GlyphStyle)
        end = 0
        while end < len(text) and (
            unicodedata.category(text[end]) in _OPENING or text[end] in "\"'" + _NO_BREAK_SPACES
        ):
            end += 1
        width += glyph_style.measure(text[:end])
        if end < len(text):
            break
    return width
