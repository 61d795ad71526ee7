"""The shapes of what the interface takes and gives, as JSON Schema for the description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from api.ops.shapes import Schema, count, flag, instant, list_of, record, ref, request, text
from shared.errors import ErrorCode
from shared.limits import MAX_WARNING_CODES, MAX_WARNING_TEXT

_NAME: Final = "[a-z0-9]+(?:-[a-z0-9]+)*"
_NAME_RULE: Final = f"^{_NAME}$"
_TAG: Final = f"(?![0-9]+$)(?!(?:live|latest)$){_NAME}"


TEMPLATE_ID: Final = text(
    "A template id.", minLength=1, maxLength=128, pattern="^(?!__.*__$)[A-Za-z0-9_-]+$"
)
REFERENCE: Final = text(
    "A template id or a slug of the workspace, alone or with @<number>, @latest, @live or @<tag>.",
    minLength=1,
    maxLength=193,
    pattern="^(?!__.*__(@|$))(?!.*@.{65})[A-Za-z0-9_-]{1,128}"
    f"(@(live|latest|[1-9][0-9]{{0,15}}|{_TAG}))?$",
)
TAG: Final = text(
    "Lowercase letters, digits and single hyphens; not all digits; live and latest are reserved.",
    minLength=1,
    maxLength=64,
    pattern=f"^{_TAG}$",
)
TAG_SHAPE: Final = text(
    "Lowercase letters, digits and single hyphens.", minLength=1, maxLength=64, pattern=_NAME_RULE
)
SLUG: Final = text(
    "Lowercase letters, digits and single hyphens; does not begin with service- and is not twenty "
    "letters and digits, the shape of an id.",
    minLength=3,
    maxLength=64,
    pattern=f"^(?!service-)(?![a-z0-9]{{20}}$){_NAME}$",
)
IMAGE_NAME: Final = text(
    "Lowercase letters, digits and single hyphens.", minLength=3, maxLength=64, pattern=_NAME_RULE
)
SOURCE: Final = record(
    {
        "tagName": text("The element."),
        "origin": text(
            "Which text it stands in, when a template was named.", enum=["template", "payload"]
        ),
        "lineStart": count("From 1.", minimum=1),
        "lineEnd": count("Line of the end.", minimum=1),
        "columnStart": count("From 1.", minimum=1),
        "columnEnd": count("The column after the last character.", minimum=1),
    },
    optional=("origin",),
)
WARNINGS: Final = list_of(
    "RenderWarning",
    description="Of a render that had any: one entry for each code; what more there is, is counted "
    "in a last one, more-warnings.",
    maxItems=MAX_WARNING_CODES + 1,
)
_SHA256: Final = text("SHA-256, hexadecimal.", pattern="^[0-9a-f]{64}$")
_HAS_MORE: Final = flag("Whether older or further ones exist.")

_VERSION: Final[dict[str, Schema]] = {
    "version": count("The number, from 1 without gaps.", minimum=1),
    "sha256": _SHA256 | {"description": "SHA-256 of the content below the header comment."},
    "message": text("What changed, as told when it was published; may be empty."),
    "created_at": instant("When it was published."),
    "created_by": ref("UserRef"),
}
_TEMPLATE: Final[dict[str, Schema]] = {
    "id": TEMPLATE_ID,
    "name": text("What the template is called."),
    "slug": SLUG,
    "versions": count("How many versions are published."),
    "sha256": _SHA256 | {"description": "SHA-256 of the live content."},
    "created_at": instant("When it was made."),
    "created_by": ref("UserRef"),
    "updated_at": instant("When its live content last changed."),
    "updated_by": ref("UserRef"),
}

SCHEMAS: Final[Mapping[str, Schema]] = {
    "UserRef": record({"id": text("Id."), "name": text("Name."), "email": text("Address.")}),
    "Confirmation": record({"status": text("Names the authenticated account.")}),
    "Template": record(_TEMPLATE, optional=("slug",)),
    "TemplateWithContent": record(
        _TEMPLATE | {"content": text("The text the reference names.")}, optional=("slug",)
    ),
    "TemplateList": record(
        {
            "templates": list_of("Template"),
            "next_cursor": text("The start_after of the next page, when there is one."),
        },
        optional=("next_cursor",),
    ),
    "Version": record(_VERSION),
    "VersionWithContent": record(
        _VERSION
        | {
            "content": text(
                "The text, below a header comment: `<!-- Service template version <n>`, a line "
                "`sha256 <digest>`, `<timestamp> by <name> <<email>> -->`. What follows `-->` is what "
                "was hashed."
            )
        }
    ),
    "VersionList": record({"versions": list_of("Version"), "has_more": _HAS_MORE}),
    "TagPointer": record({"tag": TAG, "version": count("The version it names.", minimum=1)}),
    "Tag": record(
        {
            "tag": TAG,
            "version": count("The version it names.", minimum=1),
            "updated_at": instant("When it last moved."),
            "updated_by": ref("UserRef"),
        }
    ),
    "TagList": record({"tags": list_of("Tag"), "has_more": _HAS_MORE}),
    "TagEvent": record(
        {
            "action": text("What happened.", enum=["created", "moved", "removed"]),
            "version": {
                "type": ["integer", "null"],
                "description": "The version it names since; null when it was removed.",
            },
            "previous_version": count("The version it named before.", minimum=1),
            "at": instant("When."),
            "by": ref("UserRef"),
        },
        optional=("previous_version",),
    ),
    "TagHistory": record({"events": list_of("TagEvent"), "has_more": _HAS_MORE}),
    "TagRemoval": record({"tag": TAG, "removed": flag("Whether it was held.")}),
    "Slug": record({"slug": SLUG, "template_id": TEMPLATE_ID}),
    "SlugList": record({"slugs": list_of("Slug", maxItems=1000)}),
    "SlugAvailability": record(
        {
            "slug": SLUG,
            "available": flag("Whether it is free."),
            "template_id": TEMPLATE_ID | {"description": "The template that holds it."},
        },
        optional=("template_id",),
    ),
    "Image": record(
        {
            "name": IMAGE_NAME,
            "content_type": text("The format, told by the bytes."),
            "bytes": count("Size."),
            "width": count("Width."),
            "height": count("Height."),
            "sha256": _SHA256,
            "created_at": instant("When the name was first stored."),
            "created_by": ref("UserRef"),
            "updated_at": instant("When it was last replaced."),
            "updated_by": ref("UserRef"),
        }
    ),
    "ImageList": record(
        {
            "images": list_of("Image"),
            "next_cursor": text("The start_after of the next page, when there is one."),
            "usage": record({"total_bytes": count("Bytes held."), "count": count("Images held.")}),
        },
        optional=("next_cursor",),
    ),
    "Font": record(
        {
            "name": IMAGE_NAME,
            "format": text(
                "The format, told by the bytes: truetype, opentype, collection or woff2."
            ),
            "bytes": count("Size."),
            "sha256": _SHA256,
            "faces": list_of("FontFace"),
            "created_at": instant("When the name was first stored."),
            "created_by": ref("UserRef"),
            "updated_at": instant("When it was last replaced."),
            "updated_by": ref("UserRef"),
        }
    ),
    "FontFace": record(
        {
            "index": count("Its place in the file, from 0; a collection has several."),
            "family": text("The family, as the font names it."),
            "style": text("The style, as the font names it."),
            "weight": ref("FontRange"),
            "stretch": ref("FontRange"),
            "italic": flag("Whether it is italic or oblique."),
            "glyphs": count("Glyphs."),
            "characters": count("Characters that have a glyph."),
            "axes": list_of("FontAxis"),
        }
    ),
    "FontRange": record(
        {
            "min": {"type": "number", "description": "Least value."},
            "max": {"type": "number", "description": "Greatest value; the same unless it varies."},
        }
    ),
    "FontAxis": record(
        {
            "tag": text("Four letters, such as wght."),
            "min": {"type": "number", "description": "Least value."},
            "default": {"type": "number", "description": "Value unless one is given."},
            "max": {"type": "number", "description": "Greatest value."},
        }
    ),
    "FontList": record(
        {
            "fonts": list_of("Font"),
            "next_cursor": text("The start_after of the next page, when there is one."),
            "usage": record({"total_bytes": count("Bytes held."), "count": count("Fonts held.")}),
        },
        optional=("next_cursor",),
    ),
    "Usage": record(
        {
            "pagesGenerated": count("Production pages of the period."),
            "apiCalls": count("Production renders that gave a PDF."),
            "maxPagesGenerated": count("The production allowance."),
            "startDate": instant("First instant of the period."),
            "endDate": instant("First instant after the period."),
            "draft": record(
                {"pagesGenerated": count("Draft pages."), "apiCalls": count("Draft renders.")}
            ),
            "maxDraftPagesGenerated": count("The draft allowance, on plans that set one."),
            "overagePages": count("Pages beyond the allowance."),
        },
        optional=("draft", "maxDraftPagesGenerated", "overagePages"),
    ),
    "Finding": record(
        {
            "message": text("What is wrong."),
            "source": SOURCE,
        },
        optional=("source",),
    ),
    "RenderWarning": record(
        {
            "code": text("The rule, such as unknown-member; stable."),
            "message": text("The first warning of this code.", maxLength=MAX_WARNING_TEXT),
            "count": count("How many there are of this code.", minimum=1),
            "source": SOURCE,
        },
        optional=("source",),
    ),
    "Findings": record(
        {
            "valid": flag("True exactly when errors is empty."),
            "errors": list_of("Finding", description="They prevent rendering."),
            "warnings": list_of("Finding", description="They do not."),
            "leftOut": record(
                {
                    "errors": count("Errors beyond the 200 listed, counted up to 10,000."),
                    "warnings": count("Warnings beyond the 200 listed, counted up to 10,000."),
                }
            ),
        },
        optional=("leftOut",),
    ),
    "Start": record(
        {
            "name": text("Pressroom."),
            "docs": text("Path of the description for people."),
            "openapi": text("Path of the description for programs."),
        }
    ),
    "Health": record(
        {
            "status": text("alive, ready, or partly ready: without some of its shards."),
            "parts": {
                "type": "object",
                "description": "Of a farm that is ready: each part, and whether it answers.",
                "additionalProperties": {"type": "string", "enum": ["up", "down"]},
            },
        },
        optional=("parts",),
    ),
    "Error": record(
        {
            "statusCode": count("Repeats the HTTP status.", minimum=400, maximum=599),
            "message": text("For people; may be reworded. Branch on data.code."),
            "timestamp": instant("When it happened."),
            "stackTrace": {
                "type": "array",
                "description": "Of authoring errors: the elements, innermost first.",
                "items": {"type": "object"},
            },
            "data": record(
                {
                    "code": text("Stable.", enum=[code.value for code in ErrorCode]),
                    "cap": count("The allowance, where it is used up."),
                    "usage": count("The pages used of it."),
                },
                optional=("code", "cap", "usage"),
            ),
        },
        optional=("stackTrace", "data"),
    ),
    "RenameRequest": request(
        {"name": text("What the template is called.", minLength=1, maxLength=200)}
    ),
    "PublishRequest": request(
        {"message": text("What changed.", maxLength=2000)}, optional=("message",)
    ),
    "TagRequest": request(
        {"version": count("A published version.", minimum=1, maximum=10**16 - 1)}
    ),
    "SlugRequest": request(
        {
            "slug": SLUG,
            "template": TEMPLATE_ID,
            "template_id": TEMPLATE_ID | {"description": "Former name of template."},
        },
        optional=("template", "template_id"),
    )
    | {"anyOf": [{"required": ["template"]}, {"required": ["template_id"]}]},
    "FontRequest": request(
        {
            "name": IMAGE_NAME,
            "data": text(
                "The bytes in base64, without line breaks, up to 20 MB decoded.", minLength=4
            ),
        }
    ),
    "ImageRequest": request(
        {
            "name": IMAGE_NAME,
            "data": text(
                "The bytes in base64, without line breaks, up to 20 MB decoded.", minLength=4
            ),
            "source_url": text(
                "An http or https address on the public internet, fetched once.", minLength=8
            ),
        },
        optional=("data", "source_url"),
    )
    | {"oneOf": [{"required": ["data"]}, {"required": ["source_url"]}]},
}
