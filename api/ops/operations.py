"""Every operation of the interface, once: parameters, bodies, answers and failures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from api.ops.parts import (
    BODY_FAILURES,
    DRAFT,
    EMPTY,
    IDEMPOTENCY_KEY,
    KEYED_FAILURES,
    LIMIT,
    OVER_ALLOWANCE,
    PDF,
    Answer,
    Body,
    Failures,
    Operation,
    Parameter,
    write_binary,
    write_json,
)
from api.ops.schemas import IMAGE_NAME, REFERENCE, SLUG, TAG, TAG_SHAPE, TEMPLATE_ID
from api.ops.shapes import Schema
from shared.errors import ErrorCode

XML_TYPES: Final = ("text/xml", "application/xml", "text/plain")
RENDER_TYPES: Final = (*XML_TYPES, "application/json", "text/csv", "text/markdown")
IMAGE_TYPES: Final = ("image/png", "image/jpeg", "image/webp", "image/svg+xml")


PATH_PARAMETERS: Final[Mapping[str, Parameter]] = {
    parameter.name: parameter
    for parameter in (
        Parameter("template", REFERENCE, "A template, by any reference."),
        Parameter("template_id", TEMPLATE_ID, "A template, by its id."),
        Parameter(
            "version",
            {"type": "string", "pattern": "^[1-9][0-9]{0,15}$", "minLength": 1, "maxLength": 16},
            "The number of a published version.",
        ),
        Parameter("tag", TAG, "A tag of the template."),
        Parameter("slug", SLUG, "A slug of the workspace."),
        Parameter("name", IMAGE_NAME, "The name of an image."),
    )
}

_OWN_TEMPLATE: Final = Parameter("template", TEMPLATE_ID, "A template, by its id.")
_TEMPLATE: Final = Parameter(
    "template",
    REFERENCE,
    "The template to render into. Required for JSON, CSV and Markdown; optional for XML, which then "
    "overlays it.",
)
_RENDER_QUERY: Final = (
    _TEMPLATE,
    Parameter("template_id", REFERENCE, "Former name of template; the same value if both."),
    Parameter(
        "flow",
        {"type": "string", "minLength": 1, "default": "body"},
        "With text/markdown only: the flow that the body replaces.",
    ),
)


def _texts(types: tuple[str, ...]) -> Mapping[str, Schema]:
    return {media: {} if media == "application/json" else {"type": "string"} for media in types}


_DOCUMENT: Final = Body(
    _texts(RENDER_TYPES),
    "XML: a complete document. JSON, CSV: data for the template. Markdown: content for a flow of it. "
    "Up to 32 MB.",
)
_TEMPLATE_TEXT: Final = Body(
    _texts(XML_TYPES), "Well-formed XML, up to 32 MB; findings in it are kept.", is_required=False
)
_NOT_FOUND: Final[Failures] = {404: (ErrorCode.TEMPLATE_NOT_FOUND,)}
_WORKSPACE: Final[Failures] = {409: (ErrorCode.WORKSPACE_UNRESOLVED,)}
_RENDER: Final[Failures] = {
    400: (ErrorCode.TEMPLATE_EMPTY,),
    404: (ErrorCode.TEMPLATE_NOT_FOUND,),
    504: (ErrorCode.RENDER_TIMEOUT,),
    **BODY_FAILURES,
}
_PREFER: Final = Parameter(
    "Prefer",
    {"type": "string", "examples": ["respond-async"]},
    "respond-async answers 202 with the job as soon as it is accepted (RFC 7240).",
)

OPERATIONS: Final = (
    Operation(
        "post", "/v2/pdf", "renderPdf", "Rendering", "Render a PDF",
        "Renders a complete document, or data into a stored template, and answers with the PDF. "
        "A draft carries a mark, is never encrypted, and counts against the draft allowance.",
        {
            200: PDF,
            202: Answer(
                "Accepted, where the request prefers respond-async: the job is on record.",
                write_json("Job"),
                {"Location": "The job, /v2/jobs/{id}.", "Preference-Applied": "respond-async."},
            ),
        },
        query=(*_RENDER_QUERY, DRAFT),
        headers=(_PREFER, IDEMPOTENCY_KEY),
        body=_DOCUMENT,
        failures={**_RENDER, **KEYED_FAILURES, **OVER_ALLOWANCE},
    ),
    Operation(
        "post", "/v2/validate", "validate", "Rendering", "Find problems without rendering",
        "Takes what a render takes. A 200 does not mean that the document is valid: read valid. "
        "Nothing is metered. Stored and embedded images are looked at; those at addresses elsewhere are "
        "not fetched. What does not fit on its page is found by rendering only.",
        {200: Answer("What was found.", write_json("Findings"))},
        query=_RENDER_QUERY,
        body=_DOCUMENT,
        failures=_RENDER,
    ),
    Operation(
        "get", "/v2/authcheck", "checkKey", "Account", "Check a key",
        "Confirms that the key is good and names its account.",
        {200: Answer("The key is good.", write_json("Confirmation"))},
    ),
    Operation(
        "get", "/v2/account/usage", "reportUsage", "Account", "Report usage",
        "Pages and renders of a billing period, which runs from renewal day to renewal day.",
        {200: Answer("The report.", write_json("Usage"))},
        query=(
            Parameter(
                "date",
                {"type": "string", "anyOf": [{"format": "date"}, {"format": "date-time"}]},
                "A day of the period, YYYY-MM-DD or an ISO 8601 timestamp; the current one if none.",
            ),
        ),
    ),
    Operation(
        "post", "/v2/templates", "createTemplate", "Templates", "Make a template",
        "The body is its live content; without one there is none yet.",
        {201: Answer("The record.", write_json("Template"), {"Location": "Path of the template."})},
        query=(
            Parameter(
                "name",
                {"type": "string", "minLength": 1, "maxLength": 200},
                "What it is called.",
                is_required=True,
            ),
        ),
        body=_TEMPLATE_TEXT,
        failures=BODY_FAILURES,
    ),
    Operation(
        "get", "/v2/templates", "listTemplates", "Templates", "List templates",
        "The templates of the account, by id.",
        {200: Answer("One page.", write_json("TemplateList"))},
        query=(LIMIT, Parameter("start_after", TEMPLATE_ID, "The next_cursor of the page before.")),
    ),
    Operation(
        "get", "/v2/templates/{template}", "readTemplate", "Templates", "Read a template",
        "The record, and the text that the reference names.",
        {200: Answer("Record and content.", write_json("TemplateWithContent"))},
        failures=_NOT_FOUND,
    ),
    Operation(
        "put", "/v2/templates/{template}", "replaceContent", "Templates", "Replace live content",
        "Published versions are not touched.",
        {200: Answer("The record.", write_json("Template"))},
        in_path=(_OWN_TEMPLATE,),
        body=_TEMPLATE_TEXT,
        failures={**_NOT_FOUND, **BODY_FAILURES},
    ),
    Operation(
        "delete", "/v2/templates/{template}", "deleteTemplate", "Templates", "Delete a template",
        "Its live content is gone; its versions stay readable and renderable, its slug assigned.",
        {204: EMPTY},
        in_path=(_OWN_TEMPLATE,),
        failures=_NOT_FOUND,
    ),
    Operation(
        "post", "/v2/templates/{template_id}/versions", "publishVersion", "Versions",
        "Publish the live content",
        "Numbers count up from 1 without gaps. Unchanged content publishes nothing.",
        {
            201: Answer("The new version.", write_json("Version")),
            200: Answer(
                "The content is that of the newest version, which this is; the message sent is "
                "discarded.",
                write_json("Version"),
            ),
        },
        body=Body(write_json("PublishRequest"), "A note, if any.", is_required=False),
        failures={400: (ErrorCode.TEMPLATE_EMPTY,), **_NOT_FOUND, **BODY_FAILURES},
    ),
    Operation(
        "get", "/v2/templates/{template_id}/versions", "listVersions", "Versions", "List versions",
        "The newest 50, newest first; older ones are read by number.",
        {200: Answer("Versions without content.", write_json("VersionList"))},
        failures=_NOT_FOUND,
    ),
    Operation(
        "get", "/v2/templates/{template_id}/versions/{version}", "readVersion", "Versions",
        "Read a version",
        "To verify it: remove the header comment from content, hash what remains with SHA-256, compare.",
        {200: Answer("The version with its content.", write_json("VersionWithContent"))},
        failures=_NOT_FOUND,
    ),
    Operation(
        "put", "/v2/templates/{template_id}/tags/{tag}", "setTag", "Tags", "Set a tag",
        "Makes the tag, or moves it; repeating changes nothing.",
        {200: Answer("The tag and its version.", write_json("TagPointer"))},
        body=Body(write_json("TagRequest"), "The version to name."),
        failures={**_NOT_FOUND, **BODY_FAILURES},
    ),
    Operation(
        "get", "/v2/templates/{template_id}/tags", "listTags", "Tags", "List tags",
        "By name, 100 a page.",
        {200: Answer("One page.", write_json("TagList"))},
        query=(Parameter("start_after", TAG_SHAPE, "The last tag of the page before."),),
        failures=_NOT_FOUND,
    ),
    Operation(
        "get", "/v2/templates/{template_id}/tags/{tag}", "readTag", "Tags", "Read a tag",
        "Which version it names, and who moved it last.",
        {200: Answer("The tag.", write_json("Tag"))},
        failures=_NOT_FOUND,
    ),
    Operation(
        "delete", "/v2/templates/{template_id}/tags/{tag}", "removeTag", "Tags", "Remove a tag",
        "The version stays, and the history too.",
        {200: Answer("Whether it was held.", write_json("TagRemoval"))},
        failures=_NOT_FOUND,
    ),
    Operation(
        "get", "/v2/templates/{template_id}/tags/{tag}/history", "readTagHistory", "Tags",
        "Read the history of a tag",
        "The 100 most recent changes, newest first, also of a tag that was removed.",
        {200: Answer("The changes.", write_json("TagHistory"))},
        failures=_NOT_FOUND,
    ),
    Operation(
        "post", "/v2/slugs", "assignSlug", "Slugs", "Assign a slug",
        "A template holds one slug at most: its earlier one is released.",
        {
            201: Answer("Newly assigned, or moved.", write_json("Slug")),
            200: Answer("It was assigned so already.", write_json("Slug")),
        },
        body=Body(write_json("SlugRequest"), "The slug, and the template by its id."),
        failures={
            400: (ErrorCode.SLUG_INVALID,),
            409: (ErrorCode.SLUG_TAKEN, ErrorCode.WORKSPACE_UNRESOLVED),
            **_NOT_FOUND,
            **BODY_FAILURES,
        },
    ),
    Operation(
        "get", "/v2/slugs", "listSlugs", "Slugs", "List slugs",
        "By name, 1,000 at most.",
        {200: Answer("The slugs.", write_json("SlugList"))},
        failures=_WORKSPACE,
    ),
    Operation(
        "get", "/v2/slugs/{slug}", "checkSlug", "Slugs", "Check whether a slug is free",
        "Names the template that holds it, if one does.",
        {200: Answer("Free or not.", write_json("SlugAvailability"))},
        failures={400: (ErrorCode.SLUG_INVALID,), **_WORKSPACE},
    ),
    Operation(
        "delete", "/v2/slugs/{slug}", "releaseSlug", "Slugs", "Release a slug",
        "Also one whose template is deleted. The template is not touched.",
        {204: EMPTY},
        failures={
            400: (ErrorCode.SLUG_INVALID,),
            404: (ErrorCode.SLUG_NOT_ASSIGNED,),
            **_WORKSPACE,
        },
    ),
    Operation(
        "put", "/v2/images/{name}", "putImage", "Images", "Store an image",
        "The bytes decide the format: PNG, JPEG, SVG, or WebP that is not animated; the declared type need not "
        "agree. Up to 50 MB and 100 megapixels, of a WebP 24 megapixels; of an SVG 8 MB, 50,000 elements with "
        "the copies that `use` makes, and no entities. The size of an SVG is its width and height in px, or "
        "its view box; 409 without a code when the workspace has no room.",
        {
            201: Answer("Stored.", write_json("Image")),
            200: Answer("Replaced: documents draw the new image from now on.", write_json("Image")),
        },
        body=Body(write_binary(*IMAGE_TYPES), "The bytes of the image."),
        failures={**_WORKSPACE, **BODY_FAILURES},
    ),
    Operation(
        "post", "/v2/images", "postImage", "Images", "Store an image from JSON",
        "Give data, the bytes in base64 (up to 20 MB decoded), or source_url, an http or https address that the "
        "service fetches them from: public hosts only, redirects judged again, within 10 s and up to 50 MB. "
        "They are judged as those of a PUT.",
        {
            201: Answer("Stored.", write_json("Image")),
            200: Answer("Replaced.", write_json("Image")),
        },
        body=Body(write_json("ImageRequest"), "The name, and the bytes or where they are."),
        failures={**_WORKSPACE, **BODY_FAILURES},
    ),
    Operation(
        "get", "/v2/images", "listImages", "Images", "List images",
        "By name, with what the whole workspace holds.",
        {200: Answer("One page.", write_json("ImageList"))},
        query=(LIMIT, Parameter("start_after", IMAGE_NAME, "The next_cursor of the page before.")),
        failures=_WORKSPACE,
    ),
    Operation(
        "get", "/v2/images/{name}", "readImage", "Images", "Read an image's record",
        "The bytes are not served back.",
        {200: Answer("The record.", write_json("Image"))},
        failures={404: (), **_WORKSPACE},
    ),
    Operation(
        "delete", "/v2/images/{name}", "deleteImage", "Images", "Delete an image",
        "Its room is free at once.",
        {204: EMPTY},
        failures={404: (), **_WORKSPACE},
    ),
    Operation(
        "get", "/healthz", "tellAlive", "Operation", "Tell whether the process lives",
        "Asks nobody else.",
        {200: Answer("It does.", write_json("Health"))},
        needs_key=False,
    ),
    Operation(
        "get", "/readyz", "tellReady", "Operation", "Tell whether every part answers",
        "Names the parts that are down.",
        {200: Answer("All do, or all but some of several shards.", write_json("Health"))},
        failures={503: ()},
        needs_key=False,
    ),
    Operation(
        "get", "/metrics", "writeMetrics", "Operation", "Read the metrics",
        "Prometheus text.",
        {200: Answer("The metrics.", {"text/plain": {"type": "string"}})},
        needs_key=False,
    ),
    Operation(
        "get", "/docs/openapi.json", "describe", "Operation", "Describe the interface to programs",
        "OpenAPI 3.1.",
        {200: Answer("The description.", {"application/json": {"type": "object"}})},
        needs_key=False,
    ),
    Operation(
        "get", "/docs", "readDescription", "Operation", "Describe the interface to people",
        "Loads nothing from elsewhere.",
        {200: Answer("The page.", {"text/html": {"type": "string"}})},
        needs_key=False,
    ),
)  # fmt: skip
