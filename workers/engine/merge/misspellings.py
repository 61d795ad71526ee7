"""Detection of probably misspelled payload members, for templates without declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any, Final

from workers.engine.syntax.nodes import JSON_TAGS, Element, Text
from workers.engine.syntax.suggestions import suggest_name
from workers.engine.syntax.vocabulary import ELEMENTS

_MAX_LOOKED_AT: Final = 50  # unreferenced members of one payload
_MAX_CANDIDATES: Final = 500  # names that one member is compared with
_MAX_ROWS: Final = 100  # default records whose members count as known

_WORD: Final = re.compile(r"[^\W\d]\w*")
# A variable name: not a member, a filter or a function.
_NAME: Final = re.compile(r"(?<![.|\w])(?<!\| )[^\W\d]\w*(?!\w|\s*\()")


class ReferencedNames:
    """The names in a template's expressions: all words, and those that may be variables."""

    def __init__(self, root: Element) -> None:
        self.words: set[str] = set()
        self.names: set[str] = set()
        for expression in _walk_expressions(root):
            self.words.update(_WORD.findall(expression))
            self.names.update(_NAME.findall(expression))


def find_misspelled(
    payload: dict[str, Any], known: dict[str, Any], read: ReferencedNames
) -> Iterator[tuple[str, str]]:
    """Yield pointer and suggestion of each unreferenced member that looks like a missing one."""
    unread = _find_unreferenced(payload, known, read.words, "", read.names)
    for pointer, name, candidates in islice(unread, _MAX_LOOKED_AT):
        if len(candidates) > _MAX_CANDIDATES:
            continue
        near = suggest_name(name, candidates)
        if near:
            yield pointer, near


def _walk_expressions(root: Element) -> Iterator[str]:
    for element in root.walk():
        if element.is_literal or element.tag not in ELEMENTS:
            continue
        specs = ELEMENTS[element.tag].attributes
        for name, text in element.attributes.items():
            if name in specs and specs[name].is_expression:
                yield text
            elif "{{" in text:
                yield from _find_expressions(text)
        for child in element.children:
            if isinstance(child, Text) and "{{" in child.text and element.tag not in JSON_TAGS:
                yield from _find_expressions(child.text)


def _find_expressions(text: str) -> Iterator[str]:
    begin = text.find("{{")
    while begin >= 0:
        end = text.find("}}", begin)
        if end < 0:
            return
        yield text[begin + 2 : end]
        begin = text.find("{{", end)


def _find_unreferenced(
    payload: dict[str, Any],
    defaults: dict[str, Any],
    words: set[str],
    pointer: str,
    names: set[str],
) -> Iterator[tuple[str, str, set[str]]]:
    for name, value in payload.items():
        here = f"{pointer}/{escape_step(name)}"
        if name in defaults:
            yield from _find_unreferenced_in(value, defaults[name], words, here)
        elif name not in words:
            yield here, name, (defaults.keys() | names) - payload.keys()


def _find_unreferenced_in(
    value: Any, default: Any, words: set[str], pointer: str
) -> Iterator[tuple[str, str, set[str]]]:
    if type(value) is dict and type(default) is dict:
        yield from _find_unreferenced(value, default, words, pointer, set())
    elif type(value) is list and type(default) is list:
        record: dict[str, Any] = {}
        for row in default[:_MAX_ROWS]:
            record |= row if type(row) is dict else {}
        unknown = find_unknown_in_rows(value if record else [], record.keys() | words, pointer)
        for here, name, row in unknown:
            yield here, name, record.keys() - row.keys()


def find_unknown_in_rows(
    rows: list[Any], known: AbstractSet[str], pointer: str
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield pointer, name and record of members that are not known, each name once."""
    reported: set[str] = set()
    for at, row in enumerate(rows):
        if type(row) is not dict or row.keys() <= known:
            continue
        for name in sorted(row.keys() - known - reported):
            reported.add(name)
            yield f"{pointer}/{at}/{escape_step(name)}", name, row


def escape_step(name: str) -> str:
    """Return a member's name as a step of a JSON pointer (RFC 6901), shortened."""
    return name.replace("~", "~0").replace("/", "~1")[:100]
