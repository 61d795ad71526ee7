"""Spacing of East Asian text (CSS Text 4 §8): beside letters of other scripts, and between full-width punctuation.

A gap is a distance between two boxes, so a line that ends there has none.
"""

from __future__ import annotations

import re
from typing import Final

from workers.engine.tree.styles.computed import ParagraphStyle

# In em. An eighth in CSS; readers such as pdfminer.six and poppler copy a space between words from 0.1 on.
_AUTOSPACE: Final = 0.09
_TRIM: Final = -0.5

# Han, kana and what belongs to them, but no punctuation (§8.3.1).
_IDEOGRAPHS: Final = (
    "[\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u31c0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_WIDE: Final = (
    "[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)
_OPENING: Final = "\uff08\u3008\u300a\u300c\u300e\u3010\u3014\u3016\u3018\u301a\uff3b\uff5b\uff5f"
_CLOSING: Final = "\uff09\u3009\u300b\u300d\u300f\u3011\u3015\u3017\u3019\u301b\uff3d\uff5d\uff60"
_STOPS: Final = "\u3001\u3002\uff0c\uff0e"
_MIDDLE: Final = "\u30fb\u3000"

_SPACED: Final = (
    f"(?<={_IDEOGRAPHS})(?!{_WIDE})(?=[^\\W_])|(?<=[^\\W_])(?<!{_WIDE})(?={_IDEOGRAPHS})"
)
_TRIMMED: Final = (
    f"(?<=[{_OPENING}{_CLOSING}{_STOPS}{_MIDDLE}])(?=[{_OPENING}])"
    f"|(?<=[{_CLOSING}{_STOPS}])(?=[{_CLOSING}{_STOPS}{_MIDDLE}])"
)
_GAPS: Final = re.compile(f"{_SPACED}|{_TRIMMED}")
_EAST_ASIAN: Final = re.compile(
    "[\u3000-\u30ff\u31c0-\u9fff\uf900-\ufaff\uff08-\uff60\U00020000-\U0003ffff]"
)
# In Traditional Chinese stops and commas stand in the middle of their squares.
_CENTRED: Final = frozenset(_STOPS)
_TRADITIONAL: Final = re.compile("zh-(.*-)?(hant|tw|hk|mo)|yue", re.IGNORECASE)


def is_east_asian(text: str) -> bool:
    """Return whether a text has characters beside which there may be a gap."""
    return not text.isascii() and _EAST_ASIAN.search(text) is not None


def has_gaps(text: str) -> bool:
    """Return whether there may be gaps in a text."""
    return is_east_asian(text) and _GAPS.search(text) is not None


def split_at_gaps(text: str) -> list[str]:
    """Return the parts of a text between which there may be gaps."""
    return _GAPS.split(text)


def find_gap(last: str, first: str, lang: str, style: ParagraphStyle) -> float:
    """Return the gap between two characters beside each other in em, mostly 0."""
    if not _GAPS.search(last + first):
        return 0.0
    if last.isalnum() or first.isalnum():
        return _AUTOSPACE if style.has_autospace else 0.0
    is_centred = last in _CENTRED or (first in _CENTRED and last not in _OPENING + _CLOSING)
    if not style.has_spacing_trim or (is_centred and _TRADITIONAL.match(lang)):
        return 0.0
    return _TRIM
