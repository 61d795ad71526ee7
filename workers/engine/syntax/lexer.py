"""The lexer of templates: the tokens of markup, also of a text in an editor, and the brackets of expressions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple

# Tokens of XML 1.0, 2.4 to 2.8, of which the last may not be closed.
_MARKUP: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)"
    r"|<(?:[^<>\"']|\"[^\"]*(?:\"|\Z)|'[^']*(?:'|\Z))*>?|[^<]+",
    re.DOTALL,
)
_NAME: Final = re.compile(r"[\w.:-]*")
# A value that is not closed ends with the text.
ATTRIBUTE: Final = re.compile(r"([^\s=\"'/<>]+)\s*=\s*(\"[^\"]*(?:\"|\Z)|'[^']*(?:'|\Z))")
_BRACKETS: Final = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[][(){},]""", re.DOTALL)
_OPENING: Final = "([{"


class TokenKind(Enum):
    """The kinds of tokens of markup."""

    START = "a start tag"
    EMPTY = "a tag of an empty element"
    END = "an end tag"
    TEXT = "text, or a CDATA section"
    OTHER = "a comment or a processing instruction"


class Token(NamedTuple):
    """A token, from offset `start` to `end`, with the name of a tag."""

    kind: TokenKind
    start: int
    end: int
    text: str
    name: str = ""


def read_tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of markup, which need not be well-formed."""
    for found in _MARKUP.finditer(text):
        written, kind, name = found[0], TokenKind.TEXT, ""
        if written.startswith(("<!--", "<?")):
            kind = TokenKind.OTHER
        elif written[0] == "<" and not written.startswith("<!"):
            is_end = written.startswith("</")
            kind = TokenKind.EMPTY if written.endswith("/>") else TokenKind.START
            kind = TokenKind.END if is_end else kind
            named = _NAME.match(written, 1 + is_end)
            name = named[0] if named else ""
        yield Token(kind, found.start(), found.end(), written, name)


def read_brackets(text: str, start: int = 0) -> Iterator[tuple[int, str, int]]:
    """Yield the brackets and commas outside of quotes, each with its offset and the depth around it."""
    depth = 0
    for found in _BRACKETS.finditer(text, start):
        sign = found[0]
        if sign in _OPENING:
            yield found.start(), sign, depth
            depth += 1
        elif len(sign) == 1:
            depth -= sign != ","
            yield found.start(), sign, depth
