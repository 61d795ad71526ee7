"""Schemas of the records that the API shows, made from their types by msgspec."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from typing import Any, Final, get_type_hints

import msgspec

from api.operations.model import TIMESTAMPS, Schema, enum_of, object_schema
from shared.records import Record

_REF: Final = "#/components/schemas/{name}"


def record_schema(
    record: type[Record],
    *,
    without: Collection[str] = (),
    takes_null: bool = False,
    **fields: Schema,
) -> Schema:
    """Return the schema of a record; `fields` are schemas in place of those of the type.

    A record that `takes_null` is a request in which null stands for a missing field.
    """
    _, components = msgspec.json.schema_components([record], ref_template=_REF)
    raw = components[record.__name__]
    hints = get_type_hints(record)
    types = {each.encode_name: hints[each.name] for each in msgspec.structs.fields(record)}
    described = {
        name: fields.get(name) or _describe(schema, types[name], takes_null)
        for name, schema in raw["properties"].items()
        if name not in without
    }
    schema = object_schema(described, optional=described.keys() - set(raw["required"]))
    # Of a request, which has no other fields.
    is_strict = record.__struct_config__.forbid_unknown_fields
    return {**schema, "additionalProperties": False} if is_strict else schema


def extend_schema(
    schema: Schema, fields: Mapping[str, Schema], *, optional: Iterable[str] = ()
) -> Schema:
    """Return the schema of an object with further fields."""
    own = schema["properties"]
    left_out = {*(own.keys() - set(schema["required"])), *optional}
    return object_schema({**own, **fields}, optional=left_out)


def _describe(schema: Mapping[str, Any], kind: Any, takes_null: bool) -> Schema:
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return enum_of(kind)  # in the order of its declaration
    described = {name: value for name, value in schema.items() if name not in ("anyOf", "default")}
    if alternatives := schema.get("anyOf"):
        # A field that is None by default is left out of the JSON then; another one may be null.
        described = {**alternatives[0], **described}
        if takes_null or "default" not in schema:
            described["type"] = [described["type"], "null"]
    if "enum" in described:
        described["type"] = "string"
    if described.get("format") == "date-time":
        described["description"] += TIMESTAMPS
    return described
