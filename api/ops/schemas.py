"""The shapes of what the interface takes and gives, as JSON Schema for the description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from shared.errors import ErrorCode

Schema = dict[str, Any]

_NAME: Final = "[a-z0-9]+(?:-[a-z0-9]+)*"
_NAME_RULE: Final = f"^{_NAME}$"
_TAG: Final = f"(?![0-9]+$)(?!(?:live|latest)$){_NAME}"


def ref(name: str) -> Schema:
    """Refer to a schema of this file."""
    return {"$ref": f"#/components/schemas/{name}"}


def _object(fields: Mapping[str, Schema], *, optional: tuple[str, ...] = ()) -> Schema:
    required = [name for name in fields if name not in optional]
    return {"type": "object", "properties": fields, "required": required}


def _list(name: str) -> Schema:
    return {"type": "array", "items": ref(name)}


def _text(description: str, **rules: Any) -> Schema:
    return {"type": "string", "description": description, **rules}


def _count(description: str, **rules: Any) -> Schema:
    return {"type": "integer", "minimum": 0, "description": description, **rules}


def _instant(description: str) -> Schema:
    return _text(f"{description} ISO 8601, UTC, milliseconds.", format="date-time")


TEMPLATE_ID: Final = _text(
    "A template id.", minLength=1, maxLength=128, pattern="^(?!__.*__$)[A-Za-z0-9_-]+$"
)
REFERENCE: Final = _text(
    "A template id or a slug of the workspace, alone or with @<number>, @latest, @live or @<tag>.",
    minLength=1,
    maxLength=193,
    pattern="^(?!__.*__(@|$))(?!.*@.{65})[A-Za-z0-9_-]{1,128}"
    f"(@(live|latest|[1-9][0-9]{{0,15}}|{_TAG}))?$",
)
TAG: Final = _text(
    "Lowercase letters, digits and single hyphens; not all digits; live and latest are reserved.",
    minLength=1,
    maxLength=64,
    pattern=f"^{_TAG}$",
)
TAG_SHAPE: Final = _text(
    "Lowercase letters, digits and single hyphens.", minLength=1, maxLength=64, pattern=_NAME_RULE
)
SLUG: Final = _text(
    "Lowercase letters, digits and single hyphens; does not begin with service- and is not twenty "
    "letters and digits, the shape of an id.",
    minLength=3,
    maxLength=64,
    pattern=f"^(?!service-)(?![a-z0-9]{{20}}$){_NAME}$",
)
IMAGE_NAME: Final = _text(
    "Lowercase letters, digits and single hyphens.", minLength=3, maxLength=64, pattern=_NAME_RULE
)
_SHA256: Final = _text("SHA-256, hexadecimal.", pattern="^[0-9a-f]{64}$")
_HAS_MORE: Final = {"type": "boolean", "description": "Whether older or further ones exist."}

_VERSION: Final[dict[str, Schema]] = {
    "version": _count("The number, from 1 without gaps.", minimum=1),
    "sha256": _SHA256 | {"description": "SHA-256 of the content below the header comment."},
    "message": _text("What changed, as told when it was published; may be empty."),
    "created_at": _instant("When it was published."),
    "created_by": ref("UserRef"),
}
_TEMPLATE: Final[dict[str, Schema]] = {
    "id": TEMPLATE_ID,
    "name": _text("What the template is called."),
    "slug": SLUG,
    "versions": _count("How many versions are published."),
    "sha256": _SHA256 | {"description": "SHA-256 of the live content."},
    "created_at": _instant("When it was made."),
    "created_by": ref("UserRef"),
    "updated_at": _instant("When its live content last changed."),
    "updated_by": ref("UserRef"),
}

SCHEMAS: Final[Mapping[str, Schema]] = {
    "UserRef": _object({"id": _text("Id."), "name": _text("Name."), "email": _text("Address.")}),
    "Confirmation": _object({"status": _text("Names the authenticated account.")}),
    "Template": _object(_TEMPLATE, optional=("slug",)),
    "TemplateWithContent": _object(
        _TEMPLATE | {"content": _text("The text the reference names.")}, optional=("slug",)
    ),
    "TemplateList": _object(
        {
            "templates": _list("Template"),
            "next_cursor": _text("The start_after of the next page, when there is one."),
        },
        optional=("next_cursor",),
    ),
    "Version": _object(_VERSION),
    "VersionWithContent": _object(
        _VERSION
        | {
            "content": _text(
                "The text, below a header comment: `<!-- Service template version <n>`, a line "
                "`sha256 <digest>`, `<timestamp> by <name> <<email>> -->`. What follows `-->` is what "
                "was hashed."
            )
        }
    ),
    "VersionList": _object({"versions": _list("Version"), "has_more": _HAS_MORE}),
    "TagPointer": _object({"tag": TAG, "version": _count("The version it names.", minimum=1)}),
    "Tag": _object(
        {
            "tag": TAG,
            "version": _count("The version it names.", minimum=1),
            "updated_at": _instant("When it last moved."),
            "updated_by": ref("UserRef"),
        }
    ),
    "TagList": _object({"tags": _list("Tag"), "has_more": _HAS_MORE}),
    "TagEvent": _object(
        {
            "action": _text("What happened.", enum=["created", "moved", "removed"]),
            "version": {
                "type": ["integer", "null"],
                "description": "The version it names since; null when it was removed.",
            },
            "previous_version": _count("The version it named before.", minimum=1),
            "at": _instant("When."),
            "by": ref("UserRef"),
        },
        optional=("previous_version",),
    ),
    "TagHistory": _object({"events": _list("TagEvent"), "has_more": _HAS_MORE}),
    "TagRemoval": _object(
        {"tag": TAG, "removed": {"type": "boolean", "description": "Whether it was held."}}
    ),
    "Slug": _object({"slug": SLUG, "template_id": TEMPLATE_ID}),
    "SlugList": _object({"slugs": _list("Slug") | {"maxItems": 1000}}),
    "SlugAvailability": _object(
        {
            "slug": SLUG,
            "available": {"type": "boolean", "description": "Whether it is free."},
            "template_id": TEMPLATE_ID | {"description": "The template that holds it."},
        },
        optional=("template_id",),
    ),
    "Image": _object(
        {
            "name": IMAGE_NAME,
            "content_type": _text("The format, told by the bytes."),
            "bytes": _count("Size."),
            "width": _count("Width."),
            "height": _count("Height."),
            "sha256": _SHA256,
            "created_at": _instant("When the name was first stored."),
            "created_by": ref("UserRef"),
            "updated_at": _instant("When it was last replaced."),
            "updated_by": ref("UserRef"),
        }
    ),
    "ImageList": _object(
        {
            "images": _list("Image"),
            "next_cursor": _text("The start_after of the next page, when there is one."),
            "usage": _object(
                {"total_bytes": _count("Bytes held."), "count": _count("Images held.")}
            ),
        },
        optional=("next_cursor",),
    ),
    "Usage": _object(
        {
            "pagesGenerated": _count("Production pages of the period."),
            "apiCalls": _count("Production renders that gave a PDF."),
            "maxPagesGenerated": _count("The production allowance."),
            "startDate": _instant("First instant of the period."),
            "endDate": _instant("First instant after the period."),
            "draft": _object(
                {"pagesGenerated": _count("Draft pages."), "apiCalls": _count("Draft renders.")}
            ),
            "maxDraftPagesGenerated": _count("The draft allowance, on plans that set one."),
            "overagePages": _count("Pages beyond the allowance."),
        },
        optional=("draft", "maxDraftPagesGenerated", "overagePages"),
    ),
    "Finding": _object(
        {
            "message": _text("What is wrong."),
            "source": _object(
                {
                    "tagName": _text("The element."),
                    "origin": _text(
                        "Which text it stands in, when a template was named.",
                        enum=["template", "payload"],
                    ),
                    "lineStart": _count("From 1.", minimum=1),
                    "lineEnd": _count("Line of the end.", minimum=1),
                    "columnStart": _count("From 1.", minimum=1),
                    "columnEnd": _count("The column after the last character.", minimum=1),
                },
                optional=("origin",),
            ),
        },
        optional=("source",),
    ),
    "Findings": _object(
        {
            "valid": {"type": "boolean", "description": "True exactly when errors is empty."},
            "errors": _list("Finding") | {"description": "They prevent rendering."},
            "warnings": _list("Finding") | {"description": "They do not."},
        }
    ),
    "Health": _object({"status": _text("alive or ready.")}),
    "Error": _object(
        {
            "statusCode": _count("Repeats the HTTP status.", minimum=400, maximum=599),
            "message": _text("For people; may be reworded. Branch on data.code."),
            "timestamp": _instant("When it happened."),
            "stackTrace": {
                "type": "array",
                "description": "Of authoring errors: the elements, innermost first.",
                "items": {"type": "object"},
            },
            "data": _object(
                {
                    "code": _text("Stable.", enum=[code.value for code in ErrorCode]),
                    "cap": _count("The allowance, where it is used up."),
                    "usage": _count("The pages used of it."),
                },
                optional=("code", "cap", "usage"),
            ),
        },
        optional=("stackTrace", "data"),
    ),
    "PublishRequest": _object(
        {"message": _text("What changed.", maxLength=2000)}, optional=("message",)
    )
    | {"additionalProperties": False},
    "TagRequest": _object(
        {"version": _count("A published version.", minimum=1, maximum=10**16 - 1)}
    )
    | {"additionalProperties": False},
    "SlugRequest": _object(
        {
            "slug": SLUG,
            "template": TEMPLATE_ID,
            "template_id": TEMPLATE_ID | {"description": "Former name of template."},
        },
        optional=("template", "template_id"),
    )
    | {
        "additionalProperties": False,
        "anyOf": [{"required": ["template"]}, {"required": ["template_id"]}],
    },
    "ImageRequest": _object(
        {
            "name": IMAGE_NAME,
            "data": _text(
                "The bytes in base64, without line breaks, up to 20 MB decoded.", minLength=4
            ),
            "source_url": _text(
                "An http or https address on the public internet, fetched once.", minLength=8
            ),
        },
        optional=("data", "source_url"),
    )
    | {
        "additionalProperties": False,
        "oneOf": [{"required": ["data"]}, {"required": ["source_url"]}],
    },
}
