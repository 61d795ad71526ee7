"""Encoding and decoding of internal JSON by orjson; decision 0380."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import orjson


def encode(value: Any, *, default: Callable[[Any], Any] | None = None) -> bytes:
    """Encode a value as compact JSON in UTF-8; `default` converts other types.

    The standard library encodes what orjson rejects: integers beyond 64 bits, and lone surrogates, which
    UTF-8 cannot represent and which become question marks. NaN and infinity become null.

    Raises:
        TypeError: a value has no JSON form, and `default` does not convert it.
    """
    try:
        return orjson.dumps(value, default=default)
    except TypeError:
        text = json.dumps(value, default=default, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "replace")


def decode(text: str | bytes) -> Any:
    """Decode JSON that `encode` wrote; integers beyond 64 bits become floats.

    Raises:
        ValueError: the text is not JSON.
    """
    try:
        return orjson.loads(text)
    except ValueError:
        try:
            return json.loads(text)
        except RecursionError as error:
            raise ValueError("JSON that nests too deep") from error
