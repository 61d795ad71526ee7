"""Upper and lower case as a language writes them (CSS Text 4, 2.1; Unicode, SpecialCasing).

Turkish and Azerbaijani have i with the capital İ, and ı with I; Greek capitals have no accents.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Protocol
from unicodedata import normalize

from workers.engine.tree.expressions.runtime import Value, check_text_length, require_text

_DOTTED: Final = frozenset({"tr", "az"})
# Vowels that are read one by one: an accent on the first says so, in capitals two dots on the second.
_APART: Final = re.compile("([ΑΕΟ])\u0301([ΙΥ])(?!\u0308)")
# Accents of Greek letters; the word ή (or) keeps its own, as η is another word.
_ACCENTS: Final = re.compile("((?<!\\w)Η\u0301(?!\\w))|(?<=[Α-Ω\u0308])\u0301")
_WORD_STARTS: Final = re.compile(r"([-\s({\[<]+)")

_Formatter = Callable[[Value], str]


class HasLanguage(Protocol):
    """Formats of a language."""

    lang: str


def to_upper(text: str, lang: str) -> str:
    """Return a text in capitals."""
    language = _language_of(lang)
    if language in _DOTTED:
        text = text.replace("i", "İ")
    text = text.upper()
    if language == "el":
        apart = _APART.sub("\\1\\2\u0308", normalize("NFD", text))
        text = normalize("NFC", _ACCENTS.sub(r"\1", apart))
    return text


def to_lower(text: str, lang: str) -> str:
    """Return a text in lower case."""
    if _language_of(lang) in _DOTTED:
        text = text.replace("İ", "i").replace("I", "ı")
    return text.lower()


def capitalize_words(text: str, lang: str) -> str:
    """Write each word with a capital and leave the rest as it is (CSS Text 4, 2.1)."""
    return re.sub(r"(?<![\w'’])\w", lambda found: _to_capital(found.group(), lang), text)


def make_upper(formats: HasLanguage) -> _Formatter:
    """Convert to upper case."""
    return lambda value: check_text_length(to_upper(require_text(value, "upper"), formats.lang))


def make_lower(formats: HasLanguage) -> _Formatter:
    """Convert to lower case."""
    return lambda value: check_text_length(to_lower(require_text(value, "lower"), formats.lang))


def make_title(formats: HasLanguage) -> _Formatter:
    """Write each word with a capital and the rest in lower case, as Jinja does."""

    def write(value: Value) -> str:
        parts = _WORD_STARTS.split(require_text(value, "title"))
        return check_text_length("".join(_capitalize(part, formats.lang) for part in parts))

    return write


def make_capitalize(formats: HasLanguage) -> _Formatter:
    """Write the text with a capital and the rest in lower case, as Jinja does."""

    def write(value: Value) -> str:
        return check_text_length(_capitalize(require_text(value, "capitalize"), formats.lang))

    return write


def _capitalize(text: str, lang: str) -> str:
    return _to_capital(text[:1], lang) + to_lower(text[1:], lang)


def _to_capital(letter: str, lang: str) -> str:
    return to_upper(letter, lang) if _language_of(lang) in _DOTTED else letter.upper()


def _language_of(lang: str) -> str:
    return lang.partition("-")[0].lower()
