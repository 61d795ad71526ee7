"""The shapes of JSON Schema that the description is written in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

Schema = dict[str, Any]


def ref(name: str) -> Schema:
    """Refer to a schema among the components."""
    return {"$ref": f"#/components/schemas/{name}"}


def record(fields: Mapping[str, Schema], *, optional: Iterable[str] = ()) -> Schema:
    """Say what an object has; a later farm may add fields."""
    left_out = frozenset(optional)
    required = [name for name in fields if name not in left_out]
    return {"type": "object", "properties": fields, "required": required}


def request(fields: Mapping[str, Schema], *, optional: Iterable[str] = ()) -> Schema:
    """Say what an object that is sent has, and that it has nothing else."""
    return {**record(fields, optional=optional), "additionalProperties": False}


def list_of(name: str, **rules: Any) -> Schema:
    """Say that there is an array of a schema among the components."""
    return {"type": "array", "items": ref(name), **rules}


def text(description: str, **rules: Any) -> Schema:
    """Say that there is a string."""
    return {"type": "string", "description": description, **rules}


def choice(kinds: type[StrEnum], **rules: Any) -> Schema:
    """Say that there is one of the words of an enum."""
    return {"type": "string", "enum": [kind.value for kind in kinds], **rules}


def count(description: str, **rules: Any) -> Schema:
    """Say that there is a whole number, from 0 unless told."""
    return {"type": "integer", "minimum": 0, "description": description, **rules}


def flag(description: str) -> Schema:
    """Say that there is true or false."""
    return {"type": "boolean", "description": description}


def instant(description: str) -> Schema:
    """Say that there is a moment."""
    return text(f"{description} ISO 8601, UTC, milliseconds.", format="date-time")
