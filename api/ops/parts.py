"""What an operation of the description consists of, and the parts that many have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from api.ops.shapes import Schema, ref
from shared.errors import ErrorCode

Failures = Mapping[int, tuple[ErrorCode, ...]]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the path or the query, or a header of the request."""

    name: str
    schema: Schema
    text: str
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class Body:
    """A request body: by content type what it must be."""

    content: Mapping[str, Schema]
    text: str
    is_required: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """A success: what it says, in which type, and the headers of its own."""

    text: str
    content: Mapping[str, Schema] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Operation:
    """One method at one path. `failures` are its own, beside those of every keyed operation."""

    method: str
    path: str
    name: str
    group: str
    summary: str
    text: str
    answers: Mapping[int, Answer]
    in_path: tuple[Parameter, ...] = ()  # where they differ from PATH_PARAMETERS
    query: tuple[Parameter, ...] = ()
    headers: tuple[Parameter, ...] = ()  # of the request
    body: Body | None = None
    failures: Failures = field(default_factory=dict)
    needs_key: bool = True


def write_json(name: str) -> Mapping[str, Schema]:
    """Give content that is JSON of a schema among the components."""
    return {"application/json": ref(name)}


def write_binary(*types: str) -> Mapping[str, Any]:
    """Give content that is bytes of any of the types."""
    return {media: {"type": "string", "format": "binary"} for media in types}


EMPTY: Final = Answer("Done; there is no body.")
PDF: Final = Answer(
    "The PDF.",
    write_binary("application/pdf"),
    {
        "Content-Disposition": "Inline, with the name the document gives itself, else example.pdf.",
        "X-Page-Count": "Number of pages.",
        "X-Job-Id": "The job, as logs and the ledger name it.",
        "Server-Timing": "Milliseconds of queue, merge, layout and finish.",
        "X-Warning-Count": "Number of warnings; 0 when nothing is noteworthy.",
        "X-Warning-Codes": "Where there are warnings, their codes, at most eleven: unknown-member, img-alt.",
    },
)
DRAFT: Final = Parameter("draft", {"type": "string"}, "A draft exactly when it is true.")
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
    "The file name in Content-Disposition, in place of the document's own; the extension is added where "
    'it is missing. No control characters and none of " / \\ : * ? < > |.',
)
LIMIT: Final = Parameter(
    "limit",
    {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
    "How many at most.",
)
IDEMPOTENCY_KEY: Final = Parameter(
    "Idempotency-Key",
    {"type": "string", "pattern": "^[!-~]{1,255}$"},
    "Makes the call safe to repeat: for 24 hours the same key and request give the first answer, and "
    "are metered once. With another request it is refused (422), and while the first is under way "
    "(409). An answer of 402 or 503 is not kept.",
)
IF_MATCH: Final = Parameter(
    "If-Match",
    {"type": "string", "pattern": _ENTITY_TAGS, "examples": ['"5f2b9c1e7d3a4f60"']},
    "Makes the change only while the ETag that was read is that of the current state, else 412; * stands "
    "for any state. Two clients that read the same state cannot overwrite each other's change.",
)
IF_NONE_MATCH: Final = Parameter(
    "If-None-Match",
    {"type": "string", "pattern": _ENTITY_TAGS, "examples": ['"5f2b9c1e7d3a4f60"']},
    "The ETag of what the client has: 304 without a body while it is the current one.",
)
ETAG: Final[Mapping[str, str]] = {
    "ETag": "Stands for the state; a strong entity tag, for If-Match and If-None-Match."
}
NOT_MODIFIED: Final = Answer("The client has the current state.", headers=ETAG)
STALE: Final[Failures] = {412: ()}
BODY_FAILURES: Final[Failures] = {413: (), 415: ()}
# What a call that takes an idempotency key may be refused for besides.
KEYED_FAILURES: Final[Failures] = {409: (), 410: (), 422: ()}
OVER_ALLOWANCE: Final[Failures] = {402: (ErrorCode.QUOTA_EXCEEDED, ErrorCode.DRAFT_QUOTA_EXCEEDED)}
