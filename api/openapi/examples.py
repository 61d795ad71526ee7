"""Examples of requests and responses, made from their schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from api.operations.json_schema import Schema

_BY_FORMAT: Final[Mapping[str, str]] = {
    "date-time": "2026-11-26T09:30:00.000Z",
    "date": "2026-11-26",
}
# Texts without a pattern, by the name of their field.
_BY_NAME: Final[Mapping[str, str]] = {
    "content": "<document><flow><p>Hello {{ name }}</p></flow></document>",
    "content_type": "image/png",
    "data": "iVBORw0KGgo=",
    "display": "pr_5n3G…x9Qz",
    "docs": "/docs",
    "email": "ada@example.org",
    "file": "factur-x.xml",
    "family": "Example Sans",
    "format": "truetype",
    "id": "usr_3ocgfeeghiuyg5wnorrj2owg",
    "key": "pr_ followed by forty letters and digits",
    "label": "Name of the buyer",
    "message": "Unknown element 'tabel'; did you mean 'table'?",
    "name": "Ada",
    "number": "R-2026-0043",
    "openapi": "/docs/openapi.json",
    "path": "/lines/0/quantity",
    "element": "/rsm:CrossIndustryInvoice",
    "profile": "en16931",
    "rule": "BR-CO-15",
    "status": "ready",
    "style": "Regular",
    "tag": "wght",
    "tagName": "p",
    "template": "service-invoice",
    "code": "unknown-member",
}
_BINARY: Final[Mapping[str, str]] = {
    "application/xml": "<document><flow><p>Hello</p></flow></document>",
    "text/xml": "<document><flow><p>Hello</p></flow></document>",
    "text/plain": "<document><flow><p>Hello</p></flow></document>",
    "text/csv": "number,customer\nR-1,Ada\nR-2,Bo\n",
    "text/markdown": "# Hello\n\nThis is *Markdown*.\n",
    "application/x-ndjson": '{"number": "R-1"}\n{"number": "R-2"}\n',
}


def example_of(schema: Schema, components: Mapping[str, Schema], *, name: str = "") -> Any:
    """Return a value that a schema accepts; `name` is the field that it is for."""
    if "$ref" in schema:
        return example_of(components[schema["$ref"].rpartition("/")[2]], components, name=name)
    for given in ("examples", "enum"):
        if given in schema:
            return schema[given][0]
    if "const" in schema:
        return schema["const"]
    kinds = schema.get("type", "object")
    match kinds if isinstance(kinds, str) else kinds[0]:
        case "object":
            return _example_object(schema, components)
        case "array":
            return [example_of(schema["items"], components, name=name)]
        case "integer" | "number":
            return schema.get("default", max(schema.get("minimum", 1), 1))
        case "boolean":
            return False
        case _:
            return _BY_FORMAT.get(schema.get("format", "")) or _BY_NAME.get(name, "Example")


def media_examples(media: str, schema: Schema, components: Mapping[str, Schema]) -> dict[str, Any]:
    """Return the `example` of a media type; binary formats have none."""
    if media == "application/json":
        return {"example": example_of(schema, components)}
    return {"example": _BINARY[media]} if media in _BINARY else {}


def _example_object(schema: Schema, components: Mapping[str, Schema]) -> dict[str, Any]:
    """Return an object with all fields; of alternatives, with those of the first."""
    fields: Mapping[str, Schema] = schema.get("properties", {})
    alternatives = schema.get("oneOf") or schema.get("anyOf") or ()
    left_out = {name for other in alternatives[1:] for name in other.get("required", ())}
    return {
        name: example_of(field, components, name=name)
        for name, field in fields.items()
        if name not in left_out
    }
