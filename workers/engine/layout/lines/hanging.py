"""Hanging punctuation: characters at the ends of lines that hang in the margin, whole or in part.

`hanging-punctuation` follows CSS Text 4 §9.2. `optical` is margin kerning as of pdfTeX: at both
margins of every line a character of little ink hangs out by a part of its width, so that the
edge of the text looks straight.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from workers.engine.layout.lines.fragments import AtomicInline, GlyphStyle, Hanging
from workers.engine.layout.lines.horizontal_lists import HorizontalList
from workers.engine.syntax.typography import OPTICAL

# Stops and commas that may hang at the end of a line (CSS Text 4 §9.2).
_STOPS: Final = frozenset(",.\u060c\u06d4\u3001\u3002\uff0c\uff0e\ufe50\ufe51\ufe52\uff61\uff64")
_QUOTES: Final = "\"'"  # straight quotes open and close
_OPENING: Final = frozenset({"Ps", "Pi", "Pf"})
_CLOSING: Final = frozenset({"Pe", "Pi", "Pf"})

# Parts of the width of a character that hang out with `optical`, at the end of a line and at its
# start. Less than all of a stop hangs: a whole one looks detached from its line.
OPTICAL_ENDS: Final[Mapping[str, float]] = MappingProxyType(
    {
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
)
OPTICAL_STARTS: Final[Mapping[str, float]] = MappingProxyType(
    {
        **dict.fromkeys("-\u2010\u2011\u2022", 0.4),
        **dict.fromkeys("\u2013\u2014", 0.2),
        **dict.fromkeys("\"'\u2018\u2019\u201a\u201b\u201c\u201d\u201e", 0.6),
        **dict.fromkeys("\u00ab\u00bb\u2039\u203a", 0.35),
        **dict.fromkeys("([{", 0.15),
    }
)


def find_hanging(
    hlist: HorizontalList,
    keywords: tuple[str, ...],
    *,
    is_rtl: bool,
    is_first: bool,
    is_last: bool,
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
