"""The OpenAPI 3.1 description, generated from the operations, with examples made from their schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from api.openapi.code_samples import write_samples
from api.openapi.jobs import JOB_SCHEMAS, describe_events
from api.openapi.schemas import SCHEMAS
from api.operations.model import Operation, OperationResponse, Parameter, RequestBody, Schema, ref
from api.operations.parameters import NOT_MODIFIED, find_path_parameter
from shared.auth.scopes import ALL_SCOPES, list_scopes
from shared.errors import ErrorCode

_EXAMPLES: Final = json.loads(Path(__file__).with_name("examples.json").read_text("utf-8"))
_BY_FORMAT: Final[Mapping[str, str]] = _EXAMPLES["formats"]
_BY_NAME: Final[Mapping[str, str]] = _EXAMPLES["fields"]  # of texts without a pattern
_BINARY: Final[Mapping[str, str]] = _EXAMPLES["media"]


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


_ALL_SCHEMAS: Final = {**SCHEMAS, **JOB_SCHEMAS}
# The order of the page.
_GROUPS: Final[Mapping[str, str]] = {
    "Rendering": "Render, validate and preview documents, and read received ones.",
    "Jobs": "Renders on record, and their PDFs.",
    "Batches": "Many documents of one template in one request.",
    "Runs": "Batches with an output plan: order, files, index and account.",
    "Templates": "Stored templates and their live content.",
    "Versions": "Published, immutable states of a template.",
    "Tags": "Movable names of versions.",
    "Slugs": "Readable names of templates.",
    "Images": "Images of the workspace, drawn by name.",
    "Fonts": "Fonts of the workspace.",
    "Webhooks": "Addresses that are notified of ends of jobs and batches.",
    "Destinations": "Where results are delivered to, and what became of deliveries.",
    "Account": "The account, its usage and its keys.",
    "Administration": "Accounts, keys, usage and queues of the whole farm, for keys of an operator; 404 unless the operator has set one.",
    "Operation": "The state and the description of the service.",
}
# Errors of every operation with a key; 400 is an unknown or invalid parameter.
_COMMON_ERRORS: Final[Mapping[int, tuple[ErrorCode, ...]]] = {
    400: (),
    401: (ErrorCode.KEY_REVOKED, ErrorCode.KEY_EXPIRED),
    403: (ErrorCode.KEY_SCOPE, ErrorCode.ACCOUNT_DISABLED, ErrorCode.EMAIL_NOT_VERIFIED),
    414: (),
    429: (ErrorCode.RATE_LIMITED,),
    500: (),
    503: (),
}
# Of operations with a key of an operator, which has neither account nor rate.
_OPERATOR_ERRORS: Final[Mapping[int, tuple[ErrorCode, ...]]] = dict.fromkeys(
    (400, 401, 404, 414, 500, 503), ()
)
# Statuses also used by errors without a code.
_STATUSES_WITHOUT_CODE: Final = (400, 401, 403, 404)
_HEADER_BY_STATUS: Final[Mapping[int, str]] = {
    401: "WWW-Authenticate",
    429: "Retry-After",
    503: "Retry-After",
}
_HEADERS: Final[Mapping[str, tuple[str, str]]] = {
    "Idempotent-Replayed": ("string", "`true` on the repeated response of an Idempotency-Key."),
    "RateLimit": ("string", "Requests left in the window, where a rate limit applies."),
    "RateLimit-Policy": ("string", "The account's rate limit, where one applies."),
    "Retry-After": ("integer", "Whole seconds to wait."),
    "WWW-Authenticate": ("string", "Bearer."),
}
_DESCRIPTION: Final = """\
Renders PDFs from XML documents, Markdown, JSON and CSV, and stores templates, images and fonts for them.

Every path under `/v2` requires an API key, as `Authorization: Bearer <key>` or `x-api-key: <key>`. A key has one or
more of the scopes `read`, `render`, `templates` and `account`; a call that requires another is 403 `ERR_KEY_SCOPE`. Every error
is JSON: `statusCode`, `message`, `timestamp`, and `data.code` for known errors. Only a request whose header
section is too long or is not HTTP gets a short HTML page. Unknown query parameters and fields are rejected, not
ignored.

Request bodies may be sent with `Content-Encoding: gzip`; size limits apply to the decompressed body.

A template is named `<id or slug>`, alone or with `@<number>`, `@latest`, `@live` or `@<tag>`. Templates whose id
begins with `service-` are public: every account can read and render them.
"""


@dataclass(frozen=True, slots=True)
class _SharedErrors:
    """The components shared by the error responses of operations, by name."""

    responses: dict[str, Any]
    schemas: dict[str, Any]


def describe(operations: Iterable[Operation]) -> Mapping[str, Any]:
    """Return the description of operations; it is the same for every caller."""
    paths: dict[str, dict[str, Any]] = {}
    failures = _SharedErrors({}, {})
    for operation in operations:
        if not operation.is_described:
            continue
        written = _write_operation(operation, failures)
        paths.setdefault(operation.path, {})[operation.method] = written
    return {
        "openapi": "3.1.0",
        "info": {"title": "Pressroom", "version": "2.0.0", "description": _DESCRIPTION},
        "servers": [{"url": "/"}],
        "tags": [
            {"name": name, "x-displayName": name, "description": text}
            for name, text in _GROUPS.items()
        ],
        "paths": paths,
        "webhooks": describe_events(),
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
                "operator": {"type": "http", "scheme": "bearer"},
                "operatorKey": {"type": "apiKey", "in": "header", "name": "x-api-key"},
            },
            "headers": {
                name: {"description": text, "schema": {"type": kind}}
                for name, (kind, text) in _HEADERS.items()
            },
            "responses": dict(sorted(failures.responses.items())),
            "schemas": {**_ALL_SCHEMAS, **failures.schemas},
        },
    }


def _write_operation(operation: Operation, failures: _SharedErrors) -> dict[str, Any]:
    in_path = [
        find_path_parameter(operation, name) for name in re.findall(r"{(\w+)}", operation.path)
    ]
    written: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": operation.description,
        "parameters": [
            *(_write_parameter(parameter, "path") for parameter in in_path),
            *(_write_parameter(parameter, "query") for parameter in operation.query),
            *(_write_parameter(parameter, "header") for parameter in operation.headers),
        ],
        "responses": _write_responses(operation, failures),
    }
    if operation.body is not None:
        written["requestBody"] = _write_body(operation.body)
    written["security"] = _write_security(operation)
    written["x-codeSamples"] = write_samples(operation.method, operation.path, written)
    return written


def _write_security(operation: Operation) -> list[dict[str, list[str]]]:
    """Return the alternatives of scheme and scope; OpenAPI 3.1 (4.8.30) lets schemes list roles."""
    if not operation.needs_key:
        return []
    if operation.is_operator:
        return [{"operator": []}, {"operatorKey": []}]
    names = list_scopes(operation.scopes)
    alternatives = [[]] if operation.scopes == ALL_SCOPES else [[name] for name in names]
    return [{scheme: names} for names in alternatives for scheme in ("bearer", "key")]


def _write_parameter(parameter: Parameter, place: str) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": place,
        "required": place == "path" or parameter.is_required,
        "description": parameter.description,
        "schema": parameter.schema,
        "example": example_of(parameter.schema, _ALL_SCHEMAS, name=parameter.name),
    }


def _write_body(body: RequestBody) -> dict[str, Any]:
    return {
        "description": body.description,
        "required": body.is_required,
        "content": _write_content(body.content),
    }


def _write_content(content: Mapping[str, Schema]) -> dict[str, Any]:
    return {
        media: {"schema": schema, **media_examples(media, schema, _ALL_SCHEMAS)}
        for media, schema in content.items()
    }


def _write_responses(operation: Operation, shared: _SharedErrors) -> dict[str, Any]:
    """Return the responses of an operation; errors are added to `shared` and referenced."""
    responses: dict[str, Any] = {}
    for status, response in _list_responses(operation):
        responses[str(status)] = {
            "description": response.description,
            "headers": {
                name: {"description": text, "schema": {"type": "string"}}
                for name, text in response.headers.items()
            }
            | _rate_headers(operation)
            | (_header("Idempotent-Replayed") if operation.takes("Idempotency-Key") else {}),
            "content": _write_content(response.content),
        }
    common = _OPERATOR_ERRORS if operation.is_operator else _COMMON_ERRORS
    failures = dict(common if operation.needs_key else {500: ()}) | dict(operation.all_errors)
    for status in sorted(failures):
        name = _name_error_response(operation, status, failures[status])
        shared.responses[name] = _write_error_response(operation, status, failures[status], shared)
        responses[str(status)] = {"$ref": f"#/components/responses/{name}"}
    return responses


def _list_responses(operation: Operation) -> Iterable[tuple[int, OperationResponse]]:
    yield from operation.responses.items()
    if operation.takes("If-None-Match"):
        yield 304, NOT_MODIFIED


def _name_error_response(operation: Operation, status: int, codes: tuple[ErrorCode, ...]) -> str:
    """Return the component name of an error: its codes, or its status without one, such as TemplateNotFound or Gone."""
    phrase = HTTPStatus(status).phrase.title().replace(" ", "").replace("-", "")
    name = _name_codes(codes) or phrase
    has_rate = operation.needs_key and not operation.is_operator
    return name if has_rate else f"{name}Keyless"


def _name_codes(codes: tuple[ErrorCode, ...]) -> str:
    return "Or".join(code.removeprefix("ERR_").title().replace("_", "") for code in codes)


def _write_error_response(
    operation: Operation, status: int, codes: tuple[ErrorCode, ...], shared: _SharedErrors
) -> dict[str, Any]:
    summary = HTTPStatus(status).phrase
    schema: dict[str, Any] = dict(ref("Error"))
    if codes:
        summary += (
            ", with "
            + " or ".join(codes)
            + (" or no code" if status in _STATUSES_WITHOUT_CODE else "")
        )
        code = {"properties": {"code": {"enum": [code.value for code in codes]}}}
        name = f"{_name_codes(codes)}Error"
        shared.schemas[name] = {"allOf": [schema, {"properties": {"data": code}}]}
        schema = dict(ref(name))
    headers = {} if status in (401, 403) else _rate_headers(operation)
    if status in _HEADER_BY_STATUS:
        headers |= _header(_HEADER_BY_STATUS[status])
    return {
        "description": f"{summary}.",
        "headers": headers,
        "content": {"application/json": {"schema": schema}},
    }


def _rate_headers(operation: Operation) -> dict[str, Any]:
    has_rate = operation.needs_key and not operation.is_operator
    return (_header("RateLimit") | _header("RateLimit-Policy")) if has_rate else {}


def _header(name: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"}}
