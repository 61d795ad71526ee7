"""Inline extensions of GitHub Flavored Markdown: autolinks, and strikethrough by a single tilde."""

from __future__ import annotations

import re
from re import Match
from typing import Final

import mistune
from mistune.core import InlineState
from mistune.inline_parser import InlineParser
from mistune.util import escape_url

# An autolink follows the start of a line, white space, or one of four marks (GFM 0.29, 6.9).
_BEFORE: Final = r"(?:^|(?<=[\s*_~(]))"
_ADDRESS: Final = _BEFORE + r"(?:[Hh][Tt][Tt][Pp][Ss]?://|[Ww]{3}\.)[^\s<]+"
# Matches only at the first character of a name, which avoids quadratic time.
_EMAIL: Final = r"(?<![A-Za-z0-9._+\-/:@])[A-Za-z0-9._+-]+@[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+"
_STRIKE: Final = r"(?<![~\\])~(?![~\s])"
_STRIKE_END: Final = re.compile(r"(?<![~\\\s])~(?!~)")
_DOMAIN: Final = re.compile(r"(?i:https?://)?([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)")
_ENTITY: Final = re.compile(r"&[A-Za-z0-9]+;\Z")
_LONGEST_ENTITY: Final = 40


def github_inlines_plugin(markdown: mistune.Markdown) -> None:
    """Register the rules with mistune, as its plug-in."""
    inline = markdown.inline
    inline.register("bare_address", _ADDRESS, _parse_address)
    inline.register("bare_email", _EMAIL, _parse_email)
    inline.register("single_strike", _STRIKE, _parse_strike)
    inline.register("tilde_run", "~{3,}", _parse_tildes)


def _parse_address(inline: InlineParser, match: Match[str], state: InlineState) -> int | None:
    text = _within_brackets(match[0], state)
    text = _without_trailing(text)
    if not _has_domain(text):
        return None
    target = f"http://{text}" if _is_bare(text) else text
    return _add_link(inline, text, target, match.start(), state)


def _parse_email(inline: InlineParser, match: Match[str], state: InlineState) -> int | None:
    if match[0].endswith(("-", "_")):
        return None
    return _add_link(inline, match[0], f"mailto:{match[0]}", match.start(), state)


def _add_link(
    inline: InlineParser, text: str, target: str, start: int, state: InlineState
) -> int | None:
    """Append a link; inside another link, append the address as text."""
    if state.in_link or state.depth >= inline.max_nested_level:
        inline.process_text(text, state)
    else:
        children = [{"type": "text", "raw": text}]
        token = {"type": "link", "children": children, "attrs": {"url": escape_url(target)}}
        state.append_token(token | {"_autolink": text})
    return start + len(text)


def _within_brackets(text: str, state: InlineState) -> str:
    """Return an address up to the bracket that closes the text of an enclosing link."""
    return text.partition("]")[0] if state.brackets else text


def _without_trailing(text: str) -> str:
    """Strip trailing punctuation of an autolink (GFM 0.29, 6.9)."""
    end, surplus = len(text), text.count(")") - text.count("(")
    while end:
        last = text[end - 1]
        entity = _ENTITY.search(text, max(end - _LONGEST_ENTITY, 0), end) if last == ";" else None
        if last in "?!.,:*_~'\"":
            end -= 1
        elif last == ")" and surplus > 0:
            end, surplus = end - 1, surplus - 1
        elif entity is not None:
            end = entity.start()
        else:
            break
    return text[:end]


def _has_domain(text: str) -> bool:
    """Return whether an address has a valid domain: no underscore in its last two labels."""
    domain = _DOMAIN.match(text)
    if domain is None:
        return False
    parts = domain[1].split(".")
    is_short = len(parts) == 1
    return not (is_short and _is_bare(text)) and "_" not in "".join(parts[-2:])


def _is_bare(address: str) -> bool:
    return address[:4].lower() == "www."


def _parse_tildes(inline: InlineParser, match: Match[str], state: InlineState) -> int:
    """Append three or more tildes as text: one or two strike through (GFM 0.29, 6.5)."""
    inline.process_text(match[0], state)
    return match.end()


def _parse_strike(inline: InlineParser, match: Match[str], state: InlineState) -> int | None:
    if state.depth >= inline.max_nested_level:
        return None
    end = _STRIKE_END.search(state.src, match.end())
    if end is None:
        return None
    inner = state.copy()
    inner.src = state.src[match.end() : end.start()]
    state.append_token({"type": "strikethrough", "children": inline.render(inner)})
    return end.end()
