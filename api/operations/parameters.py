"""The parameters, bodies, responses and errors that many operations share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from api.http import MAX_WAIT_SECONDS
from api.operations.model import (
    PRINTABLE_PATTERN,
    ErrorStatuses,
    Operation,
    OperationResponse,
    Parameter,
    RequestBody,
    Schema,
    binary_content,
    date_time,
    string,
)
from shared.errors import ErrorCode
from shared.identifiers import NAME_PATTERN
from shared.templates.references import REFERENCE_PATTERN, TAG_PATTERN

TEMPLATE_ID: Final = string(
    "A template id: letters, digits, hyphens and underscores, not between double underscores.",
    minLength=1,
    maxLength=128,
    pattern="^(?!__.*__$)[A-Za-z0-9_-]+$",
    examples=["k7m2q9x4w1p8r3t6y5z0"],
)
REFERENCE: Final = string(
    "A template id or a slug of the workspace, alone or with @<number>, @latest, @live or @<tag>.",
    minLength=1,
    maxLength=193,
    pattern=REFERENCE_PATTERN,
    examples=["service-invoice"],
)
TAG: Final = string(
    "Lowercase letters, digits and single hyphens; not all digits; live and latest are reserved.",
    minLength=1,
    maxLength=64,
    pattern=f"^{TAG_PATTERN}$",
    examples=["stable"],
)
SLUG: Final = string(
    "Lowercase letters, digits and single hyphens; does not begin with service- and is not twenty "
    "letters and digits, the shape of an id.",
    minLength=3,
    maxLength=64,
    pattern=f"^(?!service-)(?![a-z0-9]{{20}}$){NAME_PATTERN}$",
    examples=["invoice-de"],
)
IMAGE_NAME: Final = string(
    "Lowercase letters, digits and single hyphens.",
    minLength=3,
    maxLength=64,
    pattern=f"^{NAME_PATTERN}$",
    examples=["logo"],
)
PLAN_NAME: Final = IMAGE_NAME | {"minLength": 1, "maxLength": 60, "examples": ["letters"]}
VERSION: Final = string(
    "A number from 1, without leading zeros.", pattern="^[1-9][0-9]{0,15}$", examples=["1"]
)
TAG_SHAPE: Final = IMAGE_NAME | {"minLength": 1, "examples": ["stable"]}
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
        "description": "1 to 255 visible ASCII characters without spaces, such as a UUID.",
        "pattern": "^[!-~]{1,255}$",
        "examples": ["0f8fad5b-d9cb-469f-a165-70867728950e"],
    },
    "Makes the request safe to repeat: for 24 hours the same key and request return the first response "
    "and are metered once. The key with another request is 422; while the first request is in progress, "
    "409. A repeated response has `Idempotent-Replayed: true`. An error of the document, "
    "a 402 and a 503 are not stored.",
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


ALLOWANCE_ERRORS: Final[ErrorStatuses] = {
    402: (ErrorCode.QUOTA_EXCEEDED, ErrorCode.DRAFT_QUOTA_EXCEEDED, ErrorCode.CPU_QUOTA_EXCEEDED)
}
EXAMPLE_JOB: Final = "job_3ocgfeeghiuyg5wnorrj2owg"
JOB_ID: Final = string(
    "Id of a job; with a hyphen and an index, a document of a batch.",
    pattern="^job_[a-z2-7]{24}(-[0-9]{1,9})?$",
    examples=[EXAMPLE_JOB],
)
EXAMPLE_BATCH: Final = "batch_3ocgfeeghiuyg5wnorrj2owg"
BATCH_ID: Final = string("The id.", minLength=1, maxLength=64, examples=[EXAMPLE_BATCH])
WEBHOOK_ID: Final = string(
    "The id.", minLength=1, maxLength=64, examples=["hook_3ocgfeeghiuyg5wnorrj2owg"]
)
DESTINATION_ID: Final = string(
    "The id.", minLength=1, maxLength=64, examples=["dest_3ocgfeeghiuyg5wnorrj2owg"]
)
DELIVER: Final = Parameter(
    "deliver", DESTINATION_ID, "A destination of the account, which the results are delivered to."
)
SEND_AT: Final = Parameter(
    "send_at",
    date_time("Within the time that results are kept, of the account or of the plan."),
    "The moment before which the results are not delivered.",
)
SUBJECT: Final = Parameter(
    "subject",
    string(
        "A key.", minLength=1, maxLength=200, pattern=PRINTABLE_PATTERN, examples=["customer-4711"]
    ),
    "Whom the document is about: DELETE /v2/subjects removes whatever is stored of it, by this key.",
)
WAIT: Final = Parameter(
    "wait",
    {
        "type": "string",
        "pattern": r"^([0-5]?[0-9](\.[0-9]{1,3})?|60(\.0{1,3})?)$",
        "default": "0",
        "examples": ["30"],
    },
    f"Long poll: seconds to wait for a final status, from 0 to {MAX_WAIT_SECONDS}.",
)
_KEY_ID: Final = Parameter(
    "key_id",
    string("A key's id.", pattern="^key_[a-z2-7]{24}$", examples=["key_3ocgfeeghiuyg5wnorrj2owg"]),
    "A key of the account, by its id.",
)
_FILE: Final = Parameter(
    "file",
    string(
        "A file's name.",
        minLength=1,
        maxLength=100,
        pattern="^[A-Za-z0-9.-]+$",
        examples=["index.html"],
    ),
    "A file of the page.",
)
PATH_PARAMETERS: Final[Mapping[str, Parameter]] = {
    parameter.name: parameter
    for parameter in (
        Parameter("template", REFERENCE, "A template reference."),
        Parameter("template_id", TEMPLATE_ID, "A template id."),
        Parameter("version", VERSION, "Number of a published version."),
        Parameter("tag", TAG, "A tag of the template."),
        Parameter("slug", SLUG, "A slug of the workspace."),
        Parameter("name", IMAGE_NAME, "The name of an image."),
        _KEY_ID,
        _FILE,
        Parameter("job_id", JOB_ID, "A job of the account."),
        Parameter("batch_id", BATCH_ID, "A batch of the account."),
        Parameter("plan", PLAN_NAME, "The name of a plan."),
        Parameter(
            "number",
            {"type": "string", "pattern": "^[1-9][0-9]{0,7}$", "examples": ["1"]},
            "The number of a file.",
        ),
        Parameter("webhook_id", WEBHOOK_ID, "A webhook of the account."),
        Parameter("destination_id", DESTINATION_ID, "A destination of the account."),
        Parameter(
            "delivery_id",
            string("The id.", minLength=1, maxLength=64, examples=["msg_3ocgfeeghiuyg5wnorrj2owg"]),
            "A delivery of the account.",
        ),
        Parameter(
            "token",
            string(
                "Delivery and end, encrypted.",
                pattern="^[A-Za-z0-9_=-]{100,300}$",
                examples=["gAAAAABp" + "A" * 132],
            ),
            "What the mail's link ends with.",
        ),
    )
}
# Another form of these is 400; of ids, which name something of the account, it is 404.
CHECKED_IN_PATHS: Final = frozenset(("template", "template_id", "version", "tag", "plan"))


def find_path_parameter(operation: Operation, name: str) -> Parameter:
    """Return a parameter of the path of an operation."""
    own = {parameter.name: parameter for parameter in operation.path_parameters}
    return own.get(name) or PATH_PARAMETERS[name]


OWN_TEMPLATE: Final = Parameter("template", TEMPLATE_ID, "A template id.")
XML_TYPES: Final = ("application/xml", "text/xml", "text/plain")


def text_content(types: tuple[str, ...]) -> Mapping[str, Schema]:
    """Return content of media types whose charset the client chooses, except JSON."""
    # Binary, since the client chooses the charset. Of several binary types a generated client may use
    # only the last.
    texts = [media for media in reversed(types) if media != "application/json"]
    return {media: {"type": "object"} for media in types if media not in texts} | dict(
        binary_content(*texts)
    )


TEMPLATE_TEXT: Final = RequestBody(
    text_content(XML_TYPES),
    "Well-formed XML, up to 32 MB by default; it is stored even with findings.",
    is_required=False,
)
NOT_FOUND: Final[ErrorStatuses] = {404: (ErrorCode.TEMPLATE_NOT_FOUND,)}
NO_WORKSPACE: Final[ErrorStatuses] = {409: (ErrorCode.WORKSPACE_UNRESOLVED,)}
RENDER_ERRORS: Final[ErrorStatuses] = {
    400: (ErrorCode.TEMPLATE_EMPTY,),
    404: (ErrorCode.TEMPLATE_NOT_FOUND,),
    504: (ErrorCode.RENDER_TIMEOUT,),
}
