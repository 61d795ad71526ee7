"""Opportunities: where lines may break inside of a word, as one stands between two spaces.

They are those of Unicode Standard Annex 14 with these choices: Japanese and Chinese keep small kana
and the marks that close away from the beginning of a line (strict kinsoku), Korean breaks at its
spaces, Thai between the words of a dictionary, and a hyphen before a digit is part of a number.
"""

from __future__ import annotations

import re
from typing import Final

from workers.engine.layout.lines.thai import cut_thai, has_thai, is_thai

# Behind a hyphen between letters (a digit after it is a number's), a dash, U+200B, a soft hyphen.
_WESTERN: Final = (
    r"(?<=\w[-\u2010])(?=[^\W\d_])|(?<=\w[\u2013\u2014])(?=\w)|(?<=[\u200b\u00ad])(?=.)"
)

# Ideographs, kana, bopomofo, Yi and the signs of full width: a line may break at most of them.
_IDEOGRAPHIC: Final = (
    "\u2e80-\u2fff\u3001-\u312f\u3190-\u4dbf\u4e00-\ua4cf\uf900-\ufaff\ufe30-\ufe4f"
    "\uff01-\uff9f\uffe0-\uffe6\U0001f000-\U0001faff\U00020000-\U0003ffff"
)
# What may not end a line: brackets and quotes that open, currency signs (classes OP, QU, PR).
_OPENING: Final = (
    "(\\[{\u00a1\u00bf\u2018\u201a\u201c\u201e\u2e42\u3008\u300a\u300c\u300e\u3010\u3014\u3016"
    "\u3018\u301a\u301d\ufe35\ufe37\ufe39\ufe3b\ufe3d\ufe3f\ufe41\ufe43\ufe47\uff08\uff3b\uff5b"
    "\uff5f\uff62\u00ab\u2039$\u00a3\u00a5\u20a9\u20ac\u2116\uff04\uffe1\uffe5\uffe6"
)
# What may not begin a line: brackets and quotes that close, stops, exclamations, small kana and
# repetitions, units behind numbers, marks (classes CL, CP, QU, EX, IS, SY, NS, CJ, IN, PO, CM).
_CLOSING: Final = (
    ")\\]}\u2019\u201d\u00bb\u203a!?,.:;/%\u2030\u00b0\u2026\u2025\u203c\u2047-\u2049\u2103\u3001"
    "\u3002\u3005\u3009\u300b\u300d\u300f\u3011\u3015\u3017\u3019\u301b-\u301f\u3041\u3043\u3045"
    "\u3047\u3049\u3063\u3083\u3085\u3087\u308e\u3095\u3096\u3099-\u309e\u30a0\u30a1\u30a3\u30a5"
    "\u30a7\u30a9\u30c3\u30e3\u30e5\u30e7\u30ee\u30f5\u30f6\u30fb-\u30fe\u31f0-\u31ff\ufe36\ufe38"
    "\ufe3a\ufe3c\ufe3e\ufe40\ufe42\ufe44\ufe48\uff01\uff05\uff09\uff0c\uff0e\uff1a\uff1b\uff1f"
    "\uff3d\uff5d\uff60\uff61\uff63-\uff65\uff67-\uff70\uff9e\uff9f\uffe0\u00ad\u200b-\u200d"
    "\u0300-\u036f\ufe00-\ufe0f"
)
_UNBROKEN: Final = "\u00a0\u202f\u2007\u2011\u2060\ufeff\u200d"  # nothing breaks at these (GL, WJ)
_EASTERN: Final = (
    rf"(?<=[{_IDEOGRAPHIC}])(?<![{_OPENING}{_UNBROKEN}])(?=.)(?![{_CLOSING}{_UNBROKEN}])"
    rf"|(?<![{_OPENING}{_UNBROKEN}])(?<=.)(?=[{_IDEOGRAPHIC}])(?![{_CLOSING}])"
)

_BREAKS: Final = re.compile(f"{_WESTERN}|{_EASTERN}")
_MAY_BREAK: Final = re.compile(f"[-\u2010\u2013\u2014\u200b\u00ad\u0e01-\u0e4e{_IDEOGRAPHIC}]")


def may_break_inside(text: str) -> bool:
    """Tell quickly whether words of a text may break inside; some that may do not."""
    return _MAY_BREAK.search(text) is not None


def cut_word(word: str) -> list[str]:
    """Cut a word wherever a line may break in it."""
    if not _MAY_BREAK.search(word):
        return [word]
    if is_thai(word):
        return cut_thai(word)
    pieces = _BREAKS.split(word)
    if has_thai(word):
        pieces = [cut for piece in pieces for cut in cut_thai(piece)]
    return pieces
