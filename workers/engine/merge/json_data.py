"""Strict JSON with exact numbers, and merge patches (RFC 7396)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Any, Final

from workers.engine.characters import NOT_XML
from workers.engine.syntax.encodings import MAX_REPORTED, MORE_FORBIDDEN, describe_forbidden

_NESTED: Final = frozenset({dict, list})
MAX_NESTING: Final = 100
MAX_DIGITS: Final = 60
_MAX_SHOWN_NAME: Final = 100
MAX_EXPONENT: Final = 60  # numbers are formatted without an exponent

_MAY_HOLD_FORBIDDEN: Final = re.compile(
    r"[\ufffe\uffff]|\\(?:[bf]|u(?:00[01]|[dD][89a-fA-F]|[fF]{3}[eEfF]))"
)


class JsonError(Exception):
    """The text is not strict JSON. `offset` is that of the offending character, None if unknown."""

    def __init__(self, message: str, *, offset: int | None = None) -> None:
        super().__init__(message)
        self.offset = offset


def read_json(text: str, dropped: list[str] | None = None) -> object:
    """Parse strict JSON; numbers become Decimal.

    NaN, Infinity, repeated members, more than 100 levels and numbers of more than 60 digits are rejected.
    Characters that XML forbids are left out of texts and names: `dropped` gets a message for each of the
    first twenty.

    Raises:
        JsonError: the text is rejected.
    """
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        message, offset = _explain(error)
        raise JsonError(message, offset=offset) from None
    except RecursionError:
        raise _too_deep() from None
    _check_nesting(value, MAX_NESTING)
    # Three fast searches make the slow one, a fifth of the parsing time, rarely necessary.
    may_hold = "\\" in text or "\ufffe" in text or "\uffff" in text
    if may_hold and _MAY_HOLD_FORBIDDEN.search(text):
        found = list(islice(_find_forbidden(value, ""), MAX_REPORTED + 1))
        if dropped is not None:
            dropped += found[:MAX_REPORTED]
            dropped += [f"The JSON text {MORE_FORBIDDEN}"] if len(found) > MAX_REPORTED else []
        if found:
            return _without_forbidden(value)
    return value


def read_object(
    text: str, locate: Callable[[int], tuple[int, int]]
) -> tuple[dict[str, object] | None, str, list[str]]:
    """Parse a JSON object; return it, or None and why it is none, and messages of what was left out.

    `locate` returns the line and column of an offset.
    """
    dropped: list[str] = []
    try:
        value = read_json(text, dropped)
    except JsonError as error:
        where = (
            "" if error.offset is None else " at line {}, column {}".format(*locate(error.offset))
        )
        return None, f"not JSON{where}: {error}", []
    if isinstance(value, dict):
        return value, "", dropped
    return None, 'not a JSON object; accepted is { "name": … }', dropped


def merge_patch(target: object, patch: object) -> Any:
    """Return a value with a merge patch applied (RFC 7396).

    Neither argument is modified; the result shares unchanged members with `target`.
    """
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), value)
    return merged


def _read_number(text: str) -> Decimal:
    if len(text) <= MAX_DIGITS and "e" not in text and "E" not in text:
        return Decimal(text)
    number = _find_decimal(text)
    digits = re.split("[eE]", text)[0]
    if number is None or len(digits) > MAX_DIGITS or abs(number.adjusted()) > MAX_EXPONENT:
        shown = text if len(text) <= 20 else f"{text[:19]}…"
        raise JsonError(
            f"the number {shown} is too long or too large; accepted are up to {MAX_DIGITS} digits "
            f"and exponents from -{MAX_EXPONENT} to {MAX_EXPONENT}"
        )
    return number


def _find_decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text) if len(text) <= 2 * MAX_DIGITS else None
    except InvalidOperation:  # the exponent is out of Decimal's range
        return None


def _refuse_constant(name: str) -> object:
    raise JsonError(f"{name} is not a JSON value; accepted are numbers, or null")


def _read_members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise JsonError(f'the member "{name[:100]}" is repeated in the same object')
            seen.add(name)
    return members


_DECODER: Final = json.JSONDecoder(
    parse_float=_read_number,
    parse_int=_read_number,
    parse_constant=_refuse_constant,
    object_pairs_hook=_read_members,
)

_SURPLUS_COMMA: Final = "the comma before {} is one too many"
_PLAIN_WORDS: Final = {
    "Expecting value": "a value is missing",
    "Expecting property name enclosed in double quotes": "a member name in double quotes is missing",
    "Illegal trailing comma before end of object": _SURPLUS_COMMA.format("}"),
    "Illegal trailing comma before end of array": _SURPLUS_COMMA.format("]"),
    "Expecting ',' delimiter": "a comma is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Unterminated string starting at": "this text is not closed",
    "Invalid control character at": "a text contains a line end or control character; write \\n",
    "Extra data": "nothing may follow the value",
}


def _explain(error: json.JSONDecodeError) -> tuple[str, int]:
    """Return a plain description of an error, and the offset of the offending character."""
    # Python before 3.13 reports a trailing comma as a missing value at the bracket after it.
    before, bracket = error.doc[: error.pos].rstrip(" \t\n\r"), error.doc[error.pos : error.pos + 1]
    if before.endswith(",") and bracket in ("}", "]"):
        return _SURPLUS_COMMA.format(bracket), len(before) - 1
    message = _PLAIN_WORDS.get(error.msg) or error.msg[:1].lower() + error.msg[1:]
    return message, error.pos


def _too_deep() -> JsonError:
    return JsonError(f"values are nested deeper than {MAX_NESTING} levels")


def _check_nesting(value: object, levels: int) -> None:
    """Raise JsonError for a value with more than `levels` levels of objects and lists."""
    if type(value) is not dict and type(value) is not list:
        return
    if levels == 0:
        raise _too_deep()
    parts = value.values() if type(value) is dict else value
    if _NESTED.isdisjoint(map(type, parts)):  # such as a record of a table
        return
    for part in parts:
        if type(part) is dict or type(part) is list:
            _check_nesting(part, levels - 1)


def _find_forbidden(value: object, pointer: str) -> Iterator[str]:
    """Yield a message with the JSON pointer of each forbidden character."""
    if isinstance(value, str):
        for match in NOT_XML.finditer(value):
            yield f"{pointer or '/'} contains {describe_forbidden(match[0])}"
    elif isinstance(value, dict):
        for name, part in value.items():
            shown = f"{pointer}/{NOT_XML.sub('', name)[:_MAX_SHOWN_NAME]}"
            yield from _find_forbidden(name, shown)
            yield from _find_forbidden(part, shown)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _find_forbidden(part, f"{pointer}/{index}")


def _without_forbidden(value: object) -> object:
    if isinstance(value, str):
        return NOT_XML.sub("", value)
    if isinstance(value, dict):
        return {NOT_XML.sub("", name): _without_forbidden(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_without_forbidden(part) for part in value]
    return value
