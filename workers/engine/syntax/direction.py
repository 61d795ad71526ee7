"""The script of a language, as its tag states it or its likely one (CLDR), and the direction of that."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from babel.core import get_global

_RTL_SCRIPTS: Final = frozenset(
    {
        *("adlm", "arab", "aran", "armi", "avst", "chrs", "cprt", "elym", "gara", "hatr", "hebr"),
        *("hung", "khar", "lydi", "mand", "mani", "mend", "merc", "mero", "narb", "nbat", "nkoo"),
        *("orkh", "ougr", "palm", "phli", "phlp", "phnx", "prti", "rohg", "samr", "sarb", "sogd"),
        *("sogo", "syrc", "syre", "syrj", "syrn", "thaa", "yezi"),
    }
)


@lru_cache(maxsize=512)
def is_right_to_left(lang: str) -> bool:
    """Return whether a language is written from right to left."""
    return find_script(lang) in _RTL_SCRIPTS


@lru_cache(maxsize=512)
def is_in_arabic_script(lang: str) -> bool:
    """Return whether a language is written in the Arabic script, as Persian and Urdu are."""
    return find_script(lang) in ("arab", "aran")


def find_script(lang: str) -> str:
    """Return the script of a language tag in small letters (ISO 15924), empty if it is not known."""
    primary, *rest = lang.lower().split("-")
    for part in rest:
        if len(part) == 1:
            break
        if len(part) == 4 and part.isalpha():
            return part
    regions = [part.upper() for part in rest if len(part) == 2]
    likely = get_global("likely_subtags")
    keys = [f"{primary}_{region}" for region in regions[:1]]
    extended = [part for part in rest[:1] if len(part) == 3 and part.isalpha()]  # as in zh-nan
    for key in (*keys, *extended, primary):
        parts = str(likely.get(key, "")).split("_")
        if len(parts) > 1:
            return parts[1].lower()
    return ""
