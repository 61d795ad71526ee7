"""Language tags that are well-formed by BCP 47 (RFC 5646, 2.2.9)."""

from __future__ import annotations

import re
from typing import Final

ACCEPTED: Final = (
    "a language tag as BCP 47 defines it, such as en, pt-BR, zh-Hant or nan: a language of two or three "
    "letters, then script, region and variants, separated by hyphens"
)
MAX_TAG: Final = 100

_TAG: Final = re.compile(
    r"""
    (?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4}|[a-z]{5,8})   # language, extended
    (?:-[a-z]{4})?                                         # script
    (?:-(?:[a-z]{2}|[0-9]{3}))?                            # region
    (?P<variants>(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*)
    (?P<extensions>(?:-[a-wyz0-9](?:-[a-z0-9]{2,8})+)*)
    (?:-x(?:-[a-z0-9]{1,8})+)?                             # private use
    | x(?:-[a-z0-9]{1,8})+
    """,
    re.VERBOSE,
)
_SINGLETON: Final = re.compile(r"-([a-z0-9])(?=-)")
# Grandfathered tags that do not match the grammar (RFC 5646, 2.1).
_IRREGULAR: Final = frozenset(
    {
        *("en-gb-oed", "i-ami", "i-bnn", "i-default", "i-enochian", "i-hak", "i-klingon", "i-lux"),
        *("i-mingo", "i-navajo", "i-pwn", "i-tao", "i-tay", "i-tsu", "sgn-be-fr", "sgn-be-nl"),
        "sgn-ch-de",
    }
)


def read_language(text: str) -> str:
    """Validate a language tag and return it unchanged.

    Raises:
        ValueError: the tag is not well-formed.
    """
    tag = text.lower()
    if len(tag) > MAX_TAG:
        raise ValueError(text)
    if tag in _IRREGULAR:
        return text
    match = _TAG.fullmatch(tag)
    if match is None:
        raise ValueError(text)
    variants = (match["variants"] or "").split("-")[1:]
    singletons = _SINGLETON.findall(match["extensions"] or "")
    if len(set(variants)) < len(variants) or len(set(singletons)) < len(singletons):
        raise ValueError(text)
    return text
