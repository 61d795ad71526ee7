"""Write the records of the Python client and of the Studio from the OpenAPI description: `make records`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from api.app import describe_api

ROOT: Final = Path(__file__).parents[2]
CLIENT: Final = ROOT / "deploy/client/pressroom_client/schemas.py"
STUDIO: Final = ROOT / "api/studio/source/lib/records.ts"
# The classes of the client, each with the schemas that it reads; only the fields of the first are always set.
_CLASSES: Final[Mapping[str, tuple[str, ...]]] = {
    **{
        name: (name,)
        for name in [
            "Approval",
            "BatchItem",
            "Delivery",
            "Dependent",
            "Destination",
            "FieldOption",
            "Finding",
            "Findings",
            "Font",
            "FormField",
            "FormReport",
            "Image",
            "InvoiceFinding",
            "InvoiceReport",
            "Preview",
            "PreviewBox",
            "PreviewFile",
            "RulePack",
            "Slug",
            "TagEvent",
        ]
    },
    "BatchRecord": ("Batch",),
    "JobRecord": ("Job",),
    "Key": ("Key", "KeyWithSecret"),
    "SlugState": ("SlugAvailability",),
    "Tag": ("TagPointer", "Tag"),
    "Template": ("Template", "SavedTemplate", "TemplateWithContent"),
    "Version": ("Version", "PublishedVersion", "VersionWithContent"),
    "Webhook": ("Webhook", "WebhookWithSecret"),
}
_WITH_ETAG: Final = ("Template", "Version", "Tag")
_SECRETS: Final = ("key", "secret")
_PYTHON: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
_TYPESCRIPT: Final = {"integer": "number", "object": "Record<string, unknown>"}
_OBJECT: Final = "Mapping[str, Any]"

Schema = Mapping[str, Any]


def main() -> None:
    """Write both files."""
    schemas = describe_api()["components"]["schemas"]
    CLIENT.write_text(write_client(schemas))
    STUDIO.write_text(write_studio(schemas))


def write_client(schemas: Mapping[str, Schema]) -> str:
    """Return the module of the client's records."""
    head = '''"""The records of the API, written by `make records` from its description; /docs describes their fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
'''
    return head + "".join(_write_class(name, schemas) for name in _CLASSES)


def write_studio(schemas: Mapping[str, Schema]) -> str:
    """Return the module of the Studio's records."""
    head = "/** The records of the API, written by `make records` from its description. */\n"
    return head + "".join(
        f"\nexport interface {name} {_write_object(schema)}\n"
        for name, schema in schemas.items()
        if "properties" in schema
    )


def _write_class(name: str, schemas: Mapping[str, Schema]) -> str:
    first, *others = (schemas[each] for each in _CLASSES[name])
    fields = dict(first["properties"])
    for other in others:
        fields |= {each: rules for each, rules in other["properties"].items() if each not in fields}
    # Names of fields are in lower case, but for one counter.
    lines = [
        _write_field(each, rules, is_required=each in first["required"])
        for each, rules in fields.items()
        if each.islower()
    ]
    if name in _WITH_ETAG:
        lines.append("etag: str | None = None")
    lines.sort(key=lambda line: "=" in line)  # those without a default come first
    body = "".join(f"    {line}\n" for line in lines)
    return f"\n\n@dataclass(frozen=True, slots=True)\nclass {name}:\n{body}"


def _write_field(name: str, rules: Schema, *, is_required: bool) -> str:
    kind = _name_python(rules)
    if is_required:
        return f"{name}: {kind}"
    if "default" in rules:
        return f"{name}: {kind} = {rules['default']!r}"
    if kind.startswith("Sequence"):
        return f"{name}: {kind} = ()"
    if name in _SECRETS:
        return f"{name}: {kind} | None = field(default=None, repr=False)"
    if "additionalProperties" in rules:
        return f"{name}: {kind} = field(default_factory=dict)"
    return f"{name}: {kind} | None = None".replace("| None | None", "| None")


def _name_python(rules: Schema) -> str:
    if "$ref" in rules:
        schema = rules["$ref"].rpartition("/")[2]
        return next((name for name, read in _CLASSES.items() if read[0] == schema), _OBJECT)
    if "enum" in rules:
        return f"Literal[{', '.join(map(json.dumps, rules['enum']))}]"
    if "contentEncoding" in rules:
        return "bytes"
    return " | ".join(_name_python_type(kind, rules) for kind in _types(rules))


def _name_python_type(kind: str, rules: Schema) -> str:
    match kind:
        case "array":
            return f"Sequence[{_name_python(rules['items'])}]"
        case "null":
            return "None"
    return _PYTHON.get(kind, _OBJECT)


def _write_object(schema: Schema) -> str:
    lines = "".join(
        f"  {name}{'' if name in schema['required'] else '?'}: {_name_typescript(rules)};\n"
        for name, rules in schema["properties"].items()
    )
    return f"{{\n{lines}}}"


def _name_typescript(rules: Schema) -> str:
    if "$ref" in rules:
        return str(rules["$ref"].rpartition("/")[2])
    if "enum" in rules:
        return " | ".join(map(json.dumps, rules["enum"]))
    return " | ".join(_name_typescript_type(kind, rules) for kind in _types(rules))


def _name_typescript_type(kind: str, rules: Schema) -> str:
    match kind:
        case "array":
            return f"Array<{_name_typescript(rules['items'])}>"
        case "object" if "properties" in rules:
            return " ".join(_write_object(rules).split())
        case "object" if isinstance(rules.get("additionalProperties"), Mapping):
            return f"Record<string, {_name_typescript(rules['additionalProperties'])}>"
    return _TYPESCRIPT.get(kind, kind)


def _types(rules: Schema) -> Iterator[str]:
    kinds = rules["type"]
    yield from [kinds] if isinstance(kinds, str) else kinds


if __name__ == "__main__":
    main()
