"""JSON of our own making, written and read by orjson; decisions/0174."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import orjson


def encode(value: Any, *, default: Callable[[Any], Any] | None = None) -> bytes:
    """Write a value as JSON in UTF-8, without spaces; `default` makes plain what is not.

    The standard library writes what orjson refuses: integers beyond 64 bits, and a lone surrogate of
    a client's own text, which cannot stand in UTF-8 and becomes a question mark. What is no number
    becomes null.

    Raises:
        TypeError: something in it is no JSON value, and `default` does not know it.
    """
    try:
        return orjson.dumps(value, default=default)
    except TypeError:
        text = json.dumps(value, default=default, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "replace")


def decode(text: str | bytes) -> Any:
    """Read what `encode` has written; integers beyond 64 bits come as floats.

    Raises:
        ValueError: it is no JSON.
    """
    try:
        return orjson.loads(text)
    except ValueError:
        try:
            return json.loads(text)
        except RecursionError as error:
            raise ValueError("JSON that nests too deep") from error
