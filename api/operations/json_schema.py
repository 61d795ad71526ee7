"""Builders of the JSON Schema (2020-12) fragments of the description."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final

Schema = dict[str, Any]
TIMESTAMPS: Final = " ISO 8601, UTC, milliseconds."  # ends their descriptions

# White space, control characters and backslashes, in which parsers of addresses differ, are refused.
URL_PATTERN: Final = r"^https?://[^\x00-\x20\x7f\\@/?#][^\x00-\x20\x7f\\]*$"
PRINTABLE_PATTERN: Final = r"^[^\x00-\x1f\x7f-\x9f]*$"
TIMESTAMP_PATTERN: Final = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{1,9})?)?"
    r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?$"
)


def ref(name: str) -> Schema:
    """Return a reference to a schema among the components."""
    return {"$ref": f"#/components/schemas/{name}"}


def object_schema(fields: Mapping[str, Schema], *, optional: Iterable[str] = ()) -> Schema:
    """Return an object schema of a response; a later version may add fields."""
    left_out = frozenset(optional)
    required = [name for name in fields if name not in left_out]
    return {"type": "object", "properties": fields, "required": required}


def strict_object(fields: Mapping[str, Schema], *, optional: Iterable[str] = ()) -> Schema:
    """Return an object schema of a request, which allows no other fields."""
    return {**object_schema(fields, optional=optional), "additionalProperties": False}


def array_of(name: str, **rules: Any) -> Schema:
    """Return an array schema over a schema among the components."""
    return {"type": "array", "items": ref(name), **rules}


def string(description: str, **rules: Any) -> Schema:
    """Return a string schema."""
    return {"type": "string", "description": description, **rules}


def enum_of(kinds: type[StrEnum], **rules: Any) -> Schema:
    """Return a string schema of an enum's values."""
    return {"type": "string", "enum": [kind.value for kind in kinds], **rules}


def integer(description: str, **rules: Any) -> Schema:
    """Return an integer schema; its minimum is 0 by default."""
    return {"type": "integer", "minimum": 0, "description": description, **rules}


def number(description: str, **rules: Any) -> Schema:
    """Return a number schema."""
    return {"type": "number", "description": description, **rules}


def boolean(description: str) -> Schema:
    """Return a boolean schema."""
    return {"type": "boolean", "description": description}


def date_time(description: str) -> Schema:
    """Return a string schema of a timestamp."""
    return string(description + TIMESTAMPS, format="date-time")
