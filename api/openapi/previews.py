"""The operation and schemas of previews."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from api.openapi.json_schema import (
    Schema,
    array_of,
    enum_of,
    integer,
    object_schema,
    ref,
    strict_object,
    string,
)
from api.openapi.model import BODY_ERRORS, Operation, OperationResponse, RequestBody, json_content
from api.openapi.schemas import SOURCE
from shared.errors import ErrorCode
from shared.previews import (
    DEFAULT_SCALE,
    MAX_PAGE,
    MAX_SCALE,
    MEDIA_TYPES,
    MIN_SCALE,
    PAYLOAD_TYPES,
    SESSION_PATTERN,
    PreviewFormat,
)

PREVIEW_SCHEMAS: Final[Mapping[str, Schema]] = {
    "PreviewRequest": strict_object(
        {
            "template": string(
                "The text of a template, or a reference to a stored one. A value with `<` is text.",
                minLength=1,
                examples=["service-invoice"],
            ),
            "payload": {
                "description": "The data: an object, or a string of the type payload_type. Findings have "
                "positions only in a string.",
                "type": ["object", "string", "null"],
            },
            "payload_type": string(
                "Type of a string payload.", enum=list(PAYLOAD_TYPES), default="application/json"
            ),
            "flow": string(
                "With text/markdown only: the flow that payload replaces; default is body.",
                minLength=1,
            ),
            "page": integer(
                "Page number from 1; a number beyond the last page draws the last.",
                minimum=1,
                maximum=MAX_PAGE,
                default=1,
            ),
            "scale": {
                "type": "number",
                "description": "Pixels per point; default is 96 dpi. It is reduced for a page of more than "
                "16 million pixels.",
                "minimum": MIN_SCALE,
                "maximum": MAX_SCALE,
                "default": DEFAULT_SCALE,
            },
            "format": enum_of(
                PreviewFormat,
                description="A lossless image, or a PDF of the page with the draft watermark.",
                default=PreviewFormat.PNG.value,
            ),
            "session": string(
                "Id of the editing session, such as a tab: a newer preview of the session replaces this one.",
                pattern=SESSION_PATTERN,
            ),
        },
        optional=("payload", "payload_type", "flow", "page", "scale", "format", "session"),
    ),
    "Preview": object_schema(
        {
            "pages": integer("Pages of the document; 0 if it could not be laid out."),
            "findings": ref("Findings"),
            "page": integer("The drawn page.", minimum=1),
            "width": {
                "type": "number",
                "description": "Width of the sheet in points, including bleed.",
            },
            "height": {"type": "number", "description": "Height of the sheet in points."},
            "file": ref("PreviewFile"),
            "boxes": array_of(
                "PreviewBox",
                description="The boxes of elements in painting order: of several boxes at a point, the last is "
                "the innermost.",
            ),
            "boxes_left_out": integer("Number of boxes beyond the 5,000 listed."),
        },
        optional=("page", "width", "height", "file", "boxes", "boxes_left_out"),
    ),
    "PreviewFile": object_schema(
        {
            "content_type": string("Content type.", enum=list(MEDIA_TYPES.values())),
            "data": string("The file in base64.", contentEncoding="base64"),
            "width": integer("Width of an image in pixels.", minimum=1),
            "height": integer("Height of an image in pixels.", minimum=1),
            "scale": {"type": "number", "description": "Pixels per point of an image, as drawn."},
        },
        optional=("width", "height", "scale"),
    ),
    "PreviewBox": object_schema(
        {
            "x": {"type": "number", "description": "Points from the left edge of the sheet."},
            "y": {"type": "number", "description": "Points from the upper edge."},
            "width": {"type": "number", "description": "Width in points."},
            "height": {"type": "number", "description": "Height in points."},
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
}

PREVIEW_OPERATIONS: Final = (
    Operation(
        "post", "/v2/preview", "preview", "Rendering", "Preview a page",
        "Lays out a document and returns one page, the findings, and the boxes of its elements with their source "
        "lines. Previews are not metered, and have their own rate limit and queue. A document with errors is "
        "200, with its page if it can be drawn. Previews are neither encrypted nor have attachments. A newer "
        "preview of the same session replaces an older one, whose response is 409.",
        {
            200: OperationResponse(
                "The page, or only the findings.",
                json_content("Preview"),
                {"Server-Timing": "Milliseconds of queue, merge, layout and finish."},
            )
        },
        body=RequestBody({"application/json": ref("PreviewRequest")}, "Up to 32 MB."),
        errors={
            400: (ErrorCode.TEMPLATE_EMPTY,),
            404: (ErrorCode.TEMPLATE_NOT_FOUND,),
            409: (ErrorCode.PREVIEW_SUPERSEDED,),
            504: (ErrorCode.RENDER_TIMEOUT,),
            **BODY_ERRORS,
        },
    ),
)  # fmt: skip
