"""The JSON Schema components of requests and responses.

Those of records follow from their types; `schemas.json` has the others, unless something of this code is in them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from api.http import MAX_PAGE
from api.openapi.record_schemas import extend_schema, record_schema
from api.operations.model import (
    URL_PATTERN,
    Schema,
    array_of,
    boolean,
    date_time,
    enum_of,
    integer,
    number,
    object_schema,
    ref,
    string,
)
from api.operations.parameters import IMAGE_NAME, SLUG, TAG, TEMPLATE_ID
from shared.auth.accounts import (
    MAX_PAGES,
    PLANS,
    Account,
    AccountChanges,
    AccountInfo,
    Key,
    KeyRequest,
    NewAccount,
)
from shared.auth.audit import AuditEntry
from shared.auth.key_state import RATE_PATTERN, Rate
from shared.auth.scopes import Scope, list_scopes
from shared.db.user_refs import UserRef
from shared.errors import ErrorCode
from shared.files.repository import FileRequest, FontRecord, ImageRecord
from shared.limits import MAX_WARNING_CODES, MAX_WARNING_TEXT
from shared.previews.records import MEDIA_TYPES, PreviewBody, PreviewFormat
from shared.records import SHA256
from shared.templates.cases import CasesReport
from shared.templates.names import SlugRequest, Tag, TagEvent
from shared.templates.repository import TemplateRecord
from shared.templates.versions import (
    Approval,
    ApprovalRequest,
    PublishRequest,
    RenameRequest,
    Version,
)
from shared.usage.metering import (
    Costs,
    DraftUsage,
    UsageDay,
    UsageDays,
    UsageReport,
    UsageTemplate,
    UsageTemplates,
)

SOURCE: Final = object_schema(
    {
        "tagName": string("Name of the element."),
        "origin": string(
            "The source of the element; present if the request names a template.",
            enum=["template", "payload"],
        ),
        "lineStart": integer("First line, from 1.", minimum=1),
        "lineEnd": integer("Last line.", minimum=1),
        "columnStart": integer("First column, from 1.", minimum=1),
        "columnEnd": integer("The column after the last character.", minimum=1),
    },
    optional=("origin",),
)
WARNINGS: Final = array_of(
    "RenderWarning",
    description="The warnings of a render, one entry per code; further ones are counted in a last entry, "
    "more-warnings.",
    maxItems=MAX_WARNING_CODES + 1,
)
_PLAN: Final = string("The plan.", enum=list(PLANS))
_PAGES: Final = integer("Pages per billing period.", maximum=MAX_PAGES)
_RENEWAL_DAY: Final = integer("Day of the month on which periods begin.", minimum=1, maximum=31)
_RATE_LIMIT: Final = string(
    "Such as 20/second; by default that of the plan.", pattern=RATE_PATTERN, examples=["20/second"]
)
_HAS_MORE: Final = boolean("Whether there are more entries.")

_DRAFT_USAGE: Final = record_schema(DraftUsage)
_SOURCE_URL: Final = string(
    "An http or https address on the public internet, fetched once.",
    minLength=8,
    maxLength=8192,
    pattern=URL_PATTERN,
    examples=["https://example.org/logo.png"],
)
_DATA: Final = string(
    "The bytes in base64, without line breaks, up to 20 MB decoded.",
    minLength=4,
    pattern="^[A-Za-z0-9+/]+={0,2}$",
    examples=["iVBORw0KGgo="],
)

_TAG_POINTER: Final[dict[str, Schema]] = {
    "tag": TAG,
    "version": integer("The version it points to.", minimum=1),
}
_COUNTED: Final = {
    "findings": {
        **object_schema(
            {
                "errors": integer("Errors: while there are any, a render is 400.", minimum=0),
                "warnings": integer("Warnings.", minimum=0),
                "validate": string(
                    "The call that lists them, POSTed with `{}` as JSON; it has the required data that `{}` lacks too."
                ),
            }
        ),
        "type": ["object", "null"],
        "description": "The number of findings of the content with its sample values. null if no worker has "
        "counted them within 2 seconds.",
    }
}

_SCOPES: Final[Schema] = {
    "type": "array",
    "items": {"type": "string", "enum": list_scopes(Scope)},
    "minItems": 1,
    "uniqueItems": True,
    "description": "The permissions of the key.",
}
_KEY: Final = record_schema(Key, scopes=_SCOPES)
_FILE_REQUEST: Final = record_schema(
    FileRequest, name=IMAGE_NAME, data=_DATA, source_url=_SOURCE_URL
) | {"oneOf": [{"required": ["data"]}, {"required": ["source_url"]}]}


def page_of(plural: str, name: str, **more: Schema) -> Schema:
    """Return the schema of a page of a list, which has the cursor of the next one."""
    cursor = string("The start_after of the next page; absent on the last page.")
    fields = {plural: array_of(name, maxItems=MAX_PAGE), "next_cursor": cursor, **more}
    return object_schema(fields, optional=("next_cursor",))


def more_of(plural: str, name: str, **rules: Any) -> Schema:
    """Return the schema of a page of a list, which says whether there are more entries."""
    fields = {plural: array_of(name, **rules), "has_more": _HAS_MORE}
    return object_schema(fields)


def _list_of_files(plural: str, name: str) -> Schema:
    usage = {
        "total_bytes": integer("Total size in bytes."),
        "count": integer(f"Number of {plural}."),
    }
    return page_of(plural, name, usage=object_schema(usage))


_TEMPLATE: Final = record_schema(TemplateRecord, id=TEMPLATE_ID, slug=SLUG)
_VERSION: Final = record_schema(Version)


SCHEMAS: Final[Mapping[str, Schema]] = {
    **json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")),
    "UserRef": record_schema(UserRef),
    "Template": _TEMPLATE,
    "SavedTemplate": extend_schema(_TEMPLATE, _COUNTED),
    "TemplateWithContent": extend_schema(
        _TEMPLATE, {"content": string("The content of the reference.")}
    ),
    "TemplateList": page_of("templates", "Template"),
    "Version": _VERSION,
    "PublishedVersion": extend_schema(_VERSION, _COUNTED),
    "VersionWithContent": extend_schema(
        _VERSION,
        {
            "content": string(
                "The text, below a header comment: `<!-- Service template version <n>`, a line "
                "`sha256 <digest>`, `<timestamp> by <name> <<email>> -->`. The digest covers everything "
                "after `-->`."
            ),
            "approvals": array_of("Approval"),
            "built_on": {
                "type": "array",
                "items": string("A reference as written, such as letterhead@3."),
                "description": "The templates that it extends or imports; absent without any.",
            },
            "links": {
                "type": "object",
                "additionalProperties": {"type": ["string", "null"]},
                "description": "The SHA-256 of the content that each of its links, and of theirs, named when it was "
                "published, null for one that named nothing: renders of the version use exactly these. Absent "
                "without links, and for versions published before it was recorded.",
            },
        },
        optional=("approvals", "built_on", "links"),
    ),
    "Approval": record_schema(Approval),
    "CasesReport": record_schema(CasesReport),
    "ApprovalRequest": record_schema(ApprovalRequest, cases=ref("CasesReport")),
    "StoredCases": object_schema(
        {
            "bytes": integer("Size of the ZIP; 0 once they are removed."),
            "sha256": string("SHA-256 of the ZIP.", **SHA256),
        },
        optional=("sha256",),
    ),
    "Approvals": object_schema({"approvals": array_of("Approval")}),
    "VersionList": more_of("versions", "Version"),
    "TagPointer": object_schema(_TAG_POINTER),
    "Tag": record_schema(Tag, tag=TAG),
    "TagList": more_of("tags", "Tag"),
    "TagEvent": record_schema(TagEvent),
    "TagHistory": more_of("events", "TagEvent"),
    "TagRemoval": object_schema({"tag": TAG, "removed": boolean("Whether the tag existed.")}),
    "Slug": object_schema({"slug": SLUG, "template_id": TEMPLATE_ID}),
    "SlugAvailability": object_schema(
        {
            "slug": SLUG,
            "available": boolean("Whether the slug is available."),
            "template_id": TEMPLATE_ID | {"description": "The template that holds it."},
        },
        optional=("template_id",),
    ),
    "Image": record_schema(ImageRecord, name=IMAGE_NAME),
    "ImageList": _list_of_files("images", "Image"),
    "Font": record_schema(FontRecord, name=IMAGE_NAME, faces=array_of("FontFace")),
    "FontList": _list_of_files("fonts", "Font"),
    "Usage": record_schema(UsageReport, draft=_DRAFT_USAGE),
    "Finding": object_schema(
        {"message": string("Description of the problem."), "source": SOURCE}, optional=("source",)
    ),
    "RenderWarning": object_schema(
        {
            "code": string("The rule, such as unknown-member; stable."),
            "message": string("The first warning of this code.", maxLength=MAX_WARNING_TEXT),
            "count": integer("Number of warnings of this code.", minimum=1),
            "source": SOURCE,
        },
        optional=("source",),
    ),
    "StackTraceEntry": extend_schema(
        SOURCE,
        {"message": string("Description of the error, of its innermost element only.")},
        optional=("message",),
    ),
    "Error": object_schema(
        {
            "statusCode": integer("Repeats the HTTP status.", minimum=400, maximum=599),
            "message": string("For people; the wording may change. Branch on data.code."),
            "timestamp": date_time("When the error occurred."),
            "stackTrace": array_of(
                "StackTraceEntry",
                description="The elements of an authoring error, innermost first.",
            ),
            "data": object_schema(
                {
                    "code": string("Stable error code.", enum=[code.value for code in ErrorCode]),
                    "cap": integer(
                        "The limit that is used up, in pages or seconds of processor time."
                    ),
                    "usage": integer("What is used of it."),
                },
                optional=("code", "cap", "usage"),
            ),
        },
        optional=("stackTrace", "data"),
    ),
    "RenameRequest": record_schema(RenameRequest),
    "PublishRequest": record_schema(PublishRequest),
    "SlugRequest": record_schema(
        SlugRequest,
        slug=SLUG,
        template=TEMPLATE_ID,
        template_id=TEMPLATE_ID | {"description": "Former name of template."},
    )
    | {"anyOf": [{"required": ["template"]}, {"required": ["template_id"]}]},
    "FontRequest": _FILE_REQUEST,
    "ImageRequest": _FILE_REQUEST,
    "PreviewRequest": record_schema(
        PreviewBody,
        takes_null=True,
        payload={
            "description": "The data: an object, or a string of the type payload_type. Findings have "
            "positions only in a string.",
            "type": ["object", "string", "null"],
        },
        format=enum_of(
            PreviewFormat,
            description="A lossless image, or a PDF of the page with the draft watermark.",
            default=PreviewFormat.PNG.value,
            type=["string", "null"],
            enum=[*PreviewFormat, None],
        ),
    ),
    "PreviewFile": object_schema(
        {
            "content_type": string("Content type.", enum=list(MEDIA_TYPES.values())),
            "data": string("The file in base64.", contentEncoding="base64"),
            "width": integer("Width of an image in pixels.", minimum=1),
            "height": integer("Height of an image in pixels.", minimum=1),
            "scale": number("Pixels per point of an image, as drawn."),
        },
        optional=("width", "height", "scale"),
    ),
    "PreviewBox": object_schema(
        {
            "x": number("Points from the left edge of the sheet."),
            "y": number("Points from the upper edge."),
            "width": number("Width in points."),
            "height": number("Height in points."),
            "source": SOURCE,
            "loop": {
                "type": "array",
                "description": "The iterations of `for` that contain it, outermost first.",
                "items": object_schema(
                    {
                        "name": string("The list expression of the template."),
                        "row": integer("The iteration, from 1.", minimum=1),
                    }
                ),
            },
        },
        optional=("loop",),
    ),
    "Account": record_schema(
        Account,
        scopes=_SCOPES,
        plan=string("The plan.", enum=list(PLANS)),
        rate_limit=ref("RateLimit"),
    ),
    "RateLimit": record_schema(Rate),
    "Costs": record_schema(Costs),
    "UsageDays": record_schema(UsageDays),
    "UsageDay": record_schema(UsageDay, draft=_DRAFT_USAGE),
    "UsageTemplates": record_schema(UsageTemplates),
    "UsageTemplate": record_schema(UsageTemplate, draft=_DRAFT_USAGE),
    "Key": _KEY,
    "KeyWithSecret": extend_schema(
        _KEY, {"key": string("The secret of the key, returned only here.")}
    ),
    "AuditEntry": record_schema(AuditEntry),
    "AuditLog": page_of("entries", "AuditEntry"),
    "NewAccount": record_schema(
        NewAccount, plan=_PLAN, max_pages=_PAGES, renewal_day=_RENEWAL_DAY, rate_limit=_RATE_LIMIT
    ),
    "AccountInfo": record_schema(AccountInfo),
    "AccountList": page_of("accounts", "AccountInfo"),
    "AccountChanges": record_schema(
        AccountChanges, plan=_PLAN, max_pages=_PAGES, max_draft_pages=_PAGES, rate_limit=_RATE_LIMIT
    ),
    "KeyRequest": record_schema(
        KeyRequest,
        scopes=_SCOPES
        | {
            "description": "The permissions of the key; default is the scopes of the request's key."
        },
    ),
}
