"""Identifiers: language tags (BCP 47, RFC 5646, 2.2.9), and addresses of links and images."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from babel.core import get_global

LANGUAGE_TAG: Final = (
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


# Spaces are accepted after the host of an address, as browsers do.
_HOST: Final = r"(?![^/?#]* )"
_ADDRESS: Final = r"(?! )(?:[^\s<>\"\x00-\x1f\x7f]| ){1,2000}"
# Schemes and media types are case-insensitive (RFC 3986, 3.1; RFC 2045, 5.1).
_LINK: Final = re.compile(
    rf"((?i:https?://|mailto:)){_HOST}{_ADDRESS}|((?i:tel:)){_ADDRESS}|#[A-Za-z_][\w.:-]{{0,99}}"
)
_WEB: Final = re.compile(rf"(https?://){_HOST}{_ADDRESS}", re.IGNORECASE)


def read_link(text: str) -> str:
    """Parse the target of a link; raise ValueError for any other text."""
    match = _LINK.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return text if match.lastindex is None else _normalize_address(match)


class ImageSource(NamedTuple):
    """The source of an image: the name of a stored one, its http or https address, or its bytes.

    `page` is that of a PDF, from 1.
    """

    value: str | bytes
    page: int = 1

    @property
    def is_remote(self) -> bool:
        """Whether the worker fetches it."""
        return isinstance(self.value, str) and "://" in self.value


def find_web_address(text: str) -> str | None:
    """Return a text as an http or https address, None for any other text."""
    match = _WEB.fullmatch(text)
    return None if match is None else _normalize_address(match)


def _normalize_address(match: re.Match[str]) -> str:
    """Return an address with its scheme in lowercase, and spaces written as browsers do."""
    assert match.lastindex is not None
    scheme = match[match.lastindex].lower()
    # RFC 3966, 5.1.1: the numbers of a telephone may be separated by hyphens.
    return scheme + match[0][len(scheme) :].replace(" ", "-" if scheme == "tel:" else "%20")
