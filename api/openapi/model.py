"""The dataclasses that describe an operation, and the parameters and responses that many share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from api.openapi.json_schema import Schema, ref
from shared.errors import ErrorCode

ErrorStatuses = Mapping[int, tuple[ErrorCode, ...]]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A path, query or header parameter (OpenAPI 3.1, 4.8.12)."""

    name: str
    schema: Schema
    description: str
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class RequestBody:
    """A request body: its schema by content type."""

    content: Mapping[str, Schema]
    description: str
    is_required: bool = True


@dataclass(frozen=True, slots=True)
class OperationResponse:
    """A successful response; `headers` maps its own headers to their descriptions."""

    description: str
    content: Mapping[str, Schema] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Operation:
    """One method at one path.

    `errors` lists its own, in addition to those of every operation with a key and to those that follow from
    its headers and its body.
    """

    method: str
    path: str
    operation_id: str
    tag: str
    summary: str
    description: str
    responses: Mapping[int, OperationResponse]
    path_parameters: tuple[Parameter, ...] = ()  # where they differ from PATH_PARAMETERS
    query_parameters: tuple[Parameter, ...] = ()
    headers: tuple[Parameter, ...] = ()  # of the request
    body: RequestBody | None = None
    errors: ErrorStatuses = field(default_factory=dict)

    @property
    def needs_key(self) -> bool:
        """Whether requests must have a key: those of every path under /v2."""
        return self.path.startswith("/v2/")

    @property
    def all_responses(self) -> Mapping[int, OperationResponse]:
        """The successful responses, and that to a client whose copy is current."""
        return {**self.responses, **({304: NOT_MODIFIED} if IF_NONE_MATCH in self.headers else {})}

    @property
    def all_errors(self) -> ErrorStatuses:
        """The errors that follow from headers and body, and its own."""
        errors: dict[int, tuple[ErrorCode, ...]] = {}
        if IDEMPOTENCY_KEY in self.headers:
            errors |= dict.fromkeys((409, 410, 422), ())
        if IF_MATCH in self.headers or IF_NONE_MATCH in self.headers:
            errors[412] = ()
        if self.body is not None:
            errors |= BODY_ERRORS
        return errors | dict(self.errors)


def json_content(name: str) -> Mapping[str, Schema]:
    """Return JSON content of a schema among the components."""
    return {"application/json": ref(name)}


def binary_content(*types: str) -> Mapping[str, Any]:
    """Return binary content of any of the types."""
    return {media: {"type": "string", "format": "binary"} for media in types}


NO_CONTENT: Final = OperationResponse("Done; the response has no body.")
PDF_RESPONSE: Final = OperationResponse(
    "The PDF.",
    binary_content("application/pdf"),
    {
        "Content-Disposition": "Inline, with the file name that the document sets, else example.pdf.",
        "X-Page-Count": "Number of pages.",
        "X-Job-Id": "Id of the job, as in logs and the ledger.",
        "Server-Timing": "Milliseconds of queue, merge, layout and finish.",
        "X-Warning-Count": "Number of warnings.",
        "X-Warning-Codes": "Codes of the warnings, at most eleven, such as `unknown-member, img-alt`; absent without warnings.",
    },
)
RENDERED_RESPONSE: Final = OperationResponse(
    "The PDF; or the XML of the electronic invoice if Accept names application/xml and does not accept "
    "application/pdf.",
    binary_content("application/pdf", "application/xml"),
    {
        **PDF_RESPONSE.headers,
        "Content-Disposition": "Inline for a PDF, attachment for XML, with the file name that the document sets, else "
        "example.pdf or invoice.xml.",
        "Vary": "Accept",
    },
)
DRAFT: Final = Parameter(
    "draft",
    {"type": "string", "examples": ["true"]},
    "`true` renders a draft, with the sample values of the template below the data; any other value does not.",
)
_UNSAFE: Final = r'\x00-\x1f\x7f-\x9f"\\/:*?<>|\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff'
_FILENAME: Final = f"^[^ .{_UNSAFE}]([^{_UNSAFE}]*[^ .{_UNSAFE}])?$"
_ENTITY_TAG: Final = '(W/)?"[!#-~]*"'
_ENTITY_TAGS: Final = rf"^(\*|{_ENTITY_TAG}(, ?{_ENTITY_TAG})*)$"
FILENAME: Final = Parameter(
    "filename",
    {
        "type": "string",
        "minLength": 1,
        "maxLength": 200,
        "pattern": _FILENAME,
        "examples": ["Rechnung 2026-114.pdf"],
    },
    "The file name in Content-Disposition, in place of the document's own; a missing extension is "
    'added. No control characters and none of " / \\ : * ? < > |.',
)
LIMIT: Final = Parameter(
    "limit",
    {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
    "Maximum number of entries.",
)


def start_after(cursor: Schema) -> Parameter:
    """Return the parameter that asks for the page after another."""
    return Parameter("start_after", cursor, "The next_cursor of the previous page.")


IDEMPOTENCY_KEY: Final = Parameter(
    "Idempotency-Key",
    {
        "type": "string",
        "pattern": "^[!-~]{1,255}$",
        "examples": ["0f8fad5b-d9cb-469f-a165-70867728950e"],
    },
    "Makes the request safe to repeat: for 24 hours the same key and request return the first response "
    "and are metered once. The key with another request is 422; while the first request is in progress, "
    "409. A repeated response has `Idempotent-Replayed: true`. A 402 or 503 is not stored, and neither is an "
    "error of the document once its template has changed.",
)
IF_MATCH: Final = Parameter(
    "If-Match",
    {"type": "string", "pattern": _ENTITY_TAGS, "examples": ['"5f2b9c1e7d3a4f60"']},
    "Applies the change only if the ETag is that of the current state, else 412; `*` matches any state. "
    "Two clients that read the same state cannot overwrite each other's change.",
)
IF_NONE_MATCH: Final = Parameter(
    "If-None-Match",
    {"type": "string", "pattern": _ENTITY_TAGS, "examples": ['"5f2b9c1e7d3a4f60"']},
    "The ETag of the client's copy: 304 without a body while it is the current one.",
)
ETAG: Final[Mapping[str, str]] = {
    "ETag": "Strong entity tag of the state, for If-Match and If-None-Match."
}
NOT_MODIFIED: Final = OperationResponse("The client's copy is current.", headers=ETAG)
RANGE: Final = Parameter(
    "Range",
    {"type": "string", "maxLength": 100, "examples": ["bytes=1048576-"]},
    "One range of bytes, to resume a download: 206. Several ranges and other units are ignored.",
)
IF_RANGE: Final = Parameter(
    "If-Range",
    {"type": "string", "maxLength": 100, "examples": ['"5f2b9c1e7d3a4f60"']},
    "The ETag of the bytes that the client has: if it is not the current one, the whole file is sent.",
)
_FILE_HEADERS: Final[Mapping[str, str]] = {
    "Content-Length": "Number of bytes in the response.",
    "Accept-Ranges": "`bytes`",
    "ETag": "Strong entity tag of the file, for If-Range and If-None-Match.",
}
FILE_REQUEST_HEADERS: Final = (RANGE, IF_RANGE, IF_NONE_MATCH)
FILE_ERRORS: Final[ErrorStatuses] = {404: (), 409: (), 410: (), 416: ()}


def file_responses(whole: OperationResponse) -> Mapping[int, OperationResponse]:
    """Return the responses of an operation that sends a file, whole or in part."""
    headers = {**whole.headers, **_FILE_HEADERS}
    range_headers = {**headers, "Content-Range": "The range and the size of the whole file."}
    return {
        200: OperationResponse(whole.description, whole.content, headers),
        206: OperationResponse("The range asked for.", whole.content, range_headers),
    }


BODY_ERRORS: Final[ErrorStatuses] = {413: (), 415: ()}
ALLOWANCE_ERRORS: Final[ErrorStatuses] = {
    402: (ErrorCode.QUOTA_EXCEEDED, ErrorCode.DRAFT_QUOTA_EXCEEDED)
}
