"""The OpenAPI 3.1 description, put together from the table of operations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Final

from api.ops.batches import BATCH_OPERATIONS, BATCH_SCHEMAS
from api.ops.jobs import JOB_OPERATIONS, JOB_SCHEMAS
from api.ops.operations import OPERATIONS, PATH_PARAMETERS
from api.ops.parts import Body, Operation, Parameter
from api.ops.schemas import SCHEMAS
from api.ops.shapes import ref
from api.ops.webhooks import WEBHOOK_OPERATIONS, WEBHOOK_SCHEMAS, describe_events
from shared.errors import ErrorCode

_ALL_OPERATIONS: Final = (*OPERATIONS, *JOB_OPERATIONS, *BATCH_OPERATIONS, *WEBHOOK_OPERATIONS)
_ALL_SCHEMAS: Final = {**SCHEMAS, **JOB_SCHEMAS, **BATCH_SCHEMAS, **WEBHOOK_SCHEMAS}
# In the order in which a caller meets them.
_GROUPS: Final = (
    "Rendering",
    "Jobs",
    "Batches",
    "Templates",
    "Versions",
    "Tags",
    "Slugs",
    "Images",
    "Fonts",
    "Webhooks",
    "Account",
    "Operation",
)
# What any request with a key may end in; 400 stands for an unknown or wrong parameter.
_EVERY_KEYED: Final[Mapping[int, tuple[ErrorCode, ...]]] = {
    400: (),
    401: (ErrorCode.KEY_REVOKED, ErrorCode.KEY_EXPIRED),
    403: (ErrorCode.ACCOUNT_DISABLED, ErrorCode.EMAIL_NOT_VERIFIED),
    414: (),
    429: (ErrorCode.RATE_LIMITED,),
    500: (),
    503: (),
}
# Statuses that also stand for failures without a code (interface.md, Statuses without a code).
_OFTEN_BARE: Final = (400, 401, 404)
# Refused by the HTTP server with its own page, before the application sees them (decision 223).
_OF_THE_SERVER: Final = (414,)
_HEADERS_OF: Final[Mapping[int, str]] = {
    401: "WWW-Authenticate",
    429: "Retry-After",
    503: "Retry-After",
}
_HEADERS: Final[Mapping[str, tuple[str, str]]] = {
    "RateLimit": ("string", "What is left of the account's rate, where rates are enforced."),
    "RateLimit-Policy": ("string", "The account's rate, where rates are enforced."),
    "Retry-After": ("integer", "Whole seconds to wait."),
    "WWW-Authenticate": ("string", "Bearer."),
}
_ABOUT: Final = """\
Renders PDFs from XML documents, Markdown, JSON and CSV, and keeps templates and images for them.

Every path under `/v2` needs an API key, as `Authorization: Bearer <key>` or `x-api-key: <key>`. Every failure
is JSON: `statusCode`, `message`, `timestamp`, and `data.code` where the failure is a known one. Only a request
whose head is too long or is no HTTP gets a short HTML page. Unknown query parameters and fields are refused, not
ignored.

Request bodies may be sent with `Content-Encoding: gzip`; their limits hold for what is unpacked.

A template is named `<id or slug>`, alone or with `@<number>`, `@latest`, `@live` or `@<tag>`. Templates whose id
begins with `service-` are public: everybody may read and render them.
"""


@dataclass(frozen=True, slots=True)
class _Failures:
    """The components that failures of operations share, by their names."""

    responses: dict[str, Any]
    schemas: dict[str, Any]


@lru_cache(maxsize=1)
def describe() -> Mapping[str, Any]:
    """Give the description; it is the same for every caller."""
    paths: dict[str, dict[str, Any]] = {}
    failures = _Failures({}, {})
    for operation in _ALL_OPERATIONS:
        written = _write_operation(operation, failures)
        paths.setdefault(operation.path, {})[operation.method] = written
    return {
        "openapi": "3.1.0",
        "info": {"title": "Pressroom", "version": "2.0.0", "description": _ABOUT},
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}, {"key": []}],
        "tags": [{"name": name} for name in _GROUPS],
        "paths": paths,
        "webhooks": describe_events(),
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
            },
            "headers": {
                name: {"description": text, "schema": {"type": kind}}
                for name, (kind, text) in _HEADERS.items()
            },
            "responses": dict(sorted(failures.responses.items())),
            "schemas": {**_ALL_SCHEMAS, **failures.schemas},
        },
    }


def _write_operation(operation: Operation, failures: _Failures) -> dict[str, Any]:
    own = {parameter.name: parameter for parameter in operation.in_path}
    in_path = [
        own.get(name) or PATH_PARAMETERS[name] for name in re.findall(r"{(\w+)}", operation.path)
    ]
    written: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.group],
        "summary": operation.summary,
        "description": operation.text,
        "parameters": [
            *(_write_parameter(parameter, "path") for parameter in in_path),
            *(_write_parameter(parameter, "query") for parameter in operation.query),
            *(_write_parameter(parameter, "header") for parameter in operation.headers),
        ],
        "responses": _write_responses(operation, failures),
    }
    if operation.body is not None:
        written["requestBody"] = _write_body(operation.body)
    if not operation.needs_key:
        written["security"] = []
    return written


def _write_parameter(parameter: Parameter, place: str) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": place,
        "required": place == "path" or parameter.is_required,
        "description": parameter.text,
        "schema": parameter.schema,
    }


def _write_body(body: Body) -> dict[str, Any]:
    content = {media: {"schema": schema} for media, schema in body.content.items()}
    return {"description": body.text, "required": body.is_required, "content": content}


def _write_responses(operation: Operation, shared: _Failures) -> dict[str, Any]:
    """Write what an operation may answer; failures are put into `shared` and referred to."""
    responses: dict[str, Any] = {}
    for status, answer in operation.answers.items():
        responses[str(status)] = {
            "description": answer.text,
            "headers": {
                name: {"description": text, "schema": {"type": "string"}}
                for name, text in answer.headers.items()
            }
            | _rate_headers(operation),
            "content": {media: {"schema": schema} for media, schema in answer.content.items()},
        }
    failures = dict(_EVERY_KEYED if operation.needs_key else {500: ()}) | dict(operation.failures)
    for status in sorted(failures):
        name = _name_failure(operation, status, failures[status])
        shared.responses[name] = _write_failure(operation, status, failures[status], shared)
        responses[str(status)] = {"$ref": f"#/components/responses/{name}"}
    return responses


def _name_failure(operation: Operation, status: int, codes: tuple[ErrorCode, ...]) -> str:
    """Name a failure by its codes, or its status where it has none: TemplateNotFound, Gone."""
    phrase = HTTPStatus(status).phrase.title().replace(" ", "").replace("-", "")
    name = _name_codes(codes) or phrase
    return name if operation.needs_key else f"{name}Keyless"


def _name_codes(codes: tuple[ErrorCode, ...]) -> str:
    return "Or".join(code.removeprefix("ERR_").title().replace("_", "") for code in codes)


def _write_failure(
    operation: Operation, status: int, codes: tuple[ErrorCode, ...], shared: _Failures
) -> dict[str, Any]:
    said = HTTPStatus(status).phrase
    if status in _OF_THE_SERVER:
        return {
            "description": f"{said}: a short page of the HTTP server.",
            "headers": {},
            "content": {"text/html": {"schema": {"type": "string"}}},
        }
    schema: dict[str, Any] = dict(ref("Error"))
    if codes:
        said += ", with " + " or ".join(codes) + (" or no code" if status in _OFTEN_BARE else "")
        code = {"properties": {"code": {"enum": [code.value for code in codes]}}}
        name = f"{_name_codes(codes)}Error"
        shared.schemas[name] = {"allOf": [schema, {"properties": {"data": code}}]}
        schema = dict(ref(name))
    headers = {} if status in (401, 403) else _rate_headers(operation)
    if status in _HEADERS_OF:
        headers |= _header(_HEADERS_OF[status])
    return {
        "description": f"{said}.",
        "headers": headers,
        "content": {"application/json": {"schema": schema}},
    }


def _rate_headers(operation: Operation) -> dict[str, Any]:
    return (_header("RateLimit") | _header("RateLimit-Policy")) if operation.needs_key else {}


def _header(name: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"}}
