"""Formats of automatic numbers, and the names of counters.

A format is text with number tokens. In a plain format each `1`, `a`, `A`, `i` or `I` between
non-word characters is a token: the last is the element's own counter, those before it are the
counters of higher levels, as in `1.1`; without any of them, `*` is a token. In a format with braces
only `{name}` and `{name:a}` are tokens, and any counter may be named. The counter styles are those
of CSS Counter Styles 3: decimal, lower-alpha, upper-alpha, lower-roman, upper-roman, and symbolic
for `*`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from workers.engine.syntax.nodes import Element
from workers.engine.syntax.values import ValueType, count, matching

MAX_FORMAT: Final = 100  # characters
MAX_COUNTED: Final = 20  # counters that one attribute sets
PAGE: Final = "page"  # the page counter, incremented by layout
NOTE: Final = "footnote"
FIGURE: Final = "figure"
_NUMBERED: Final = frozenset({NOTE, FIGURE})  # by default
HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
KINDS: Final = {
    "1": "decimal",
    "a": "lower-alpha",
    "A": "upper-alpha",
    "i": "lower-roman",
    "I": "upper-roman",
    "*": "symbolic",
}
# Chinese, Japanese and Korean are written without spaces around a number: 第1条.
_IN_A_WORD: Final = r"[^\W_\u3005-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]"
_PLAIN: Final = re.compile(rf"(?<!{_IN_A_WORD})(?:[1aAiI])(?!{_IN_A_WORD})")
_SIGN: Final = re.compile(r"\*")
_BRACED: Final = re.compile(r"\{([A-Za-z_][\w.-]{0,99})(?::([1aAiI*]))?\}", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z_][\w.-]{0,99}", re.ASCII)


class NumberToken(NamedTuple):
    """A number in a format. An empty name means the counter of its level, an empty kind the declared one."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """A number format: texts and tokens in order."""

    text: str
    parts: tuple[str | NumberToken, ...]

    @property
    def tokens(self) -> list[NumberToken]:
        """The number tokens, in order."""
        return [part for part in self.parts if isinstance(part, NumberToken)]

    @property
    def is_plain(self) -> bool:
        """Whether the tokens have no names, and so stand for the counters of successive levels."""
        return not any(token.name for token in self.tokens)


def read_number_format(text: str) -> NumberFormat | None:
    """Parse a number format; None for `none`.

    Raises:
        ValueError: the text is too long, or has no number token.
    """
    if text == "none":
        return None
    if not text or len(text) > MAX_FORMAT:
        raise ValueError(text)
    pattern = _BRACED if "{" in text else _PLAIN if _PLAIN.search(text) else _SIGN
    parts: list[str | NumberToken] = []
    at = 0
    for match in pattern.finditer(text):
        parts.append(text[at : match.start()])
        parts.append(
            NumberToken(match[1], match[2] or "")
            if pattern is _BRACED
            else NumberToken("", match[0])
        )
        at = match.end()
    parts.append(text[at:])
    if at == 0 or any("{" in part or "}" in part for part in parts if isinstance(part, str)):
        raise ValueError(text)
    return NumberFormat(text, tuple(part for part in parts if part != ""))


def read_counters(text: str) -> tuple[tuple[str, int | None], ...]:
    """Parse names of counters, each with an optional number after it.

    Raises:
        ValueError: a name or a number is invalid, or there are more than `MAX_COUNTED` names.
    """
    found: list[tuple[str, int | None]] = []
    for word in text.split():
        if _NAME.fullmatch(word):
            found.append((word, None))
        elif found and found[-1][1] is None and re.fullmatch(r"\d{1,6}", word, re.ASCII):
            found[-1] = (found[-1][0], int(word))
        else:
            raise ValueError(text)
    if not found or len(found) > MAX_COUNTED:
        raise ValueError(text)
    return tuple(found)


def find_counters(root: Element) -> frozenset[str]:
    """Return the names of the counters that the numbers of a document use."""
    found: set[str] = set()
    for element in root.walk():
        if name := counter_of(element):
            found.add(name)
        if element.tag in _NUMBERED:
            found.add(element.tag)
    return frozenset(found)


def counter_of(element: Element) -> str | None:
    """Return the counter that an element or style declares or implies, None without one.

    The default counter of a style, or of an element with a number, has its name.
    """
    attributes = element.attributes
    if "counter" in attributes:
        return attributes["counter"]
    if attributes.get("number", "none") == "none":
        return None
    if element.tag == "style":
        return attributes.get("name") or attributes.get("element")
    return element.tag


def chain_of(counter: str, counters: Iterable[str]) -> tuple[str, ...]:
    """Return a counter preceded by those of the higher heading levels that are numbered."""
    if counter not in HEADINGS:
        return (counter,)
    above = HEADINGS[: HEADINGS.index(counter)]
    known = frozenset(counters)
    return (*(name for name in above if name in known), counter)


def resolve_tokens(
    shape: NumberFormat, counter: str, counters: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """Yield the counter and the kind of each token of a format; the counter is "" above the first level."""
    if not shape.is_plain:
        yield from shape.tokens
        return
    chain = chain_of(counter, counters)
    tokens = shape.tokens
    for index, token in enumerate(tokens, len(chain) - len(tokens)):
        yield (chain[index] if index >= 0 else ""), token.kind


# --- kinds of values ---------------------------------------------------------------------------------


def _read_counter_set(text: str) -> tuple[tuple[str, int | None], ...]:
    counters = read_counters(text)
    if any(name == PAGE or number is None for name, number in counters):
        raise ValueError(text)
    return counters


def _read_levels(text: str) -> tuple[int, int]:
    first, hyphen, last = text.partition("-")
    low = _LEVEL.read(first.strip())
    high = _LEVEL.read(last.strip()) if hyphen else low
    if low > high:
        raise ValueError(text)
    return low, high


def _read_term(text: str) -> tuple[str, ...]:
    r"""Parse a path of index terms, separated by commas; `\,` is a literal comma."""
    terms = tuple(" ".join(part.replace("\\,", ",").split()) for part in _TERM_COMMA.split(text))
    if len(text) > MAX_TERM or len(terms) > _TERM_LEVELS or not all(terms):
        raise ValueError(text)
    return terms


MAX_TERM: Final = 200  # characters
_TERM_LEVELS: Final = 3
_TERM_COMMA: Final = re.compile(r"(?<!\\),")
_TARGET: Final = re.compile(r"[^\s\x00-\x1f\x7f]{1,200}")
_LEVEL: Final = count(1, 6)
COUNTER_RESET: Final = ValueType(
    "page or the names of counters, each followed by the number to begin with if it is not 1",
    read_counters,
)
COUNTER_SET: Final = ValueType("names of counters, each followed by its number", _read_counter_set)
NUMBER_FORMAT: Final = ValueType(
    "none, or text with a number in it: 1, a, A, i, I or * standing alone, as in 1.1 or Article I; "
    "or counters in braces, as in {h2}.{clause} or ({clause:a})",
    read_number_format,
)
LEVELS: Final = ValueType("a level from 1 to 6, or two with a hyphen between them", _read_levels)
TARGET: Final = ValueType("the id of an element", matching(_TARGET))
TERM: Final = ValueType(
    f"a term of at most {MAX_TERM} characters, with at most two terms below it after commas",
    _read_term,
)
