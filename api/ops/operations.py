"""Every operation of the interface, once: parameters, bodies, answers and failures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from api.files.kinds import FONT_TYPES, IMAGE_TYPES
from api.ops.parts import (
    BODY_FAILURES,
    DRAFT,
    EMPTY,
    ETAG,
    FILENAME,
    IDEMPOTENCY_KEY,
    IF_MATCH,
    IF_NONE_MATCH,
    KEYED_FAILURES,
    LIMIT,
    NOT_MODIFIED,
    OVER_ALLOWANCE,
    PDF,
    STALE,
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

XML_TYPES: Final = ("application/xml", "text/xml", "text/plain")
RENDER_TYPES: Final = (*XML_TYPES, "application/json", "text/csv", "text/markdown")


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
        {"type": "string", "minLength": 1},  # no default: generated clients would send it always
        "With text/markdown only: the flow that the body replaces; body unless given.",
    ),
)


def _texts(types: tuple[str, ...]) -> Mapping[str, Schema]:
    # Bytes, for the charset is the caller's. Of several that are bytes a generated client may know the
    # last one only.
    texts = [media for media in reversed(types) if media != "application/json"]
    return {media: {"type": "object"} for media in types if media not in texts} | dict(
        write_binary(*texts)
    )


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
_UPLOAD: Final[Failures] = {**_WORKSPACE, 504: (ErrorCode.RENDER_TIMEOUT,), **BODY_FAILURES}
_PREFER: Final = Parameter(
    "Prefer",
    {"type": "string", "examples": ["respond-async", "respond-async, wait=5"]},
    "respond-async answers 202 with the job as soon as it is accepted (RFC 7240). With wait=5 the PDF is "
    "the answer if it is there within 5 seconds, 60 at most, and the job otherwise.",
)

OPERATIONS: Final = (
    Operation(
        "post", "/v2/pdf", "renderPdf", "Rendering", "Render a PDF",
        "Renders a complete document, or data into a stored template, and answers with the PDF. "
        "A draft carries a mark, is never encrypted, and counts against the draft allowance. A job that is "
        "answered 202 keeps no filename: give it where its PDF is read.",
        {
            200: PDF,
            202: Answer(
                "Accepted, where the request prefers respond-async: the job is on record.",
                write_json("Job"),
                {"Location": "The job, /v2/jobs/{id}.", "Preference-Applied": "respond-async, and the wait."},
            ),
        },
        query=(*_RENDER_QUERY, DRAFT, FILENAME),
        headers=(_PREFER, IDEMPOTENCY_KEY),
        body=_DOCUMENT,
        failures={**_RENDER, **KEYED_FAILURES, **OVER_ALLOWANCE},
    ),
    Operation(
        "post", "/v2/validate", "validate", "Rendering", "Find problems without rendering",
        "Takes what a render takes. A 200 does not mean that the document is valid: read valid. "
        "Nothing is metered. Stored and embedded images are read; those at addresses elsewhere are not "
        "fetched. Only rendering finds what does not fit on its page, characters that no font has, and "
        "colours that PDF/A does not allow.",
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
        {
            201: Answer(
                "The record.", write_json("Template"), {"Location": "Path of the template.", **ETAG}
            )
        },
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
        "The templates of the account, by id; with include=public those that begin with service- too.",
        {200: Answer("One page.", write_json("TemplateList"), ETAG), 304: NOT_MODIFIED},
        query=(
            Parameter(
                "name",
                {"type": "string", "minLength": 1, "maxLength": 200, "examples": ["Invoice"]},
                "Only templates of exactly this name; names need not be unique.",
            ),
            Parameter(
                "include",
                {"type": "string", "enum": ["public"]},
                "Also list the public templates.",
            ),
            LIMIT,
            Parameter("start_after", TEMPLATE_ID, "The next_cursor of the page before."),
        ),
        headers=(IF_NONE_MATCH,),
        failures=STALE,
    ),
    Operation(
        "get", "/v2/templates/{template}", "readTemplate", "Templates", "Read a template",
        "The record, and the text that the reference names.",
        {200: Answer("Record and content.", write_json("TemplateWithContent"), ETAG), 304: NOT_MODIFIED},
        headers=(IF_NONE_MATCH,),
        failures={**_NOT_FOUND, **STALE},
    ),
    Operation(
        "put", "/v2/templates/{template}", "replaceContent", "Templates", "Replace live content",
        "Published versions are not touched.",
        {200: Answer("The record.", write_json("Template"), ETAG)},
        in_path=(_OWN_TEMPLATE,),
        headers=(IF_MATCH,),
        body=_TEMPLATE_TEXT,
        failures={**_NOT_FOUND, **STALE, **BODY_FAILURES},
    ),
    Operation(
        "patch", "/v2/templates/{template}", "renameTemplate", "Templates", "Rename a template",
        "Its content, versions, tags and slug stay.",
        {200: Answer("The record.", write_json("Template"), ETAG)},
        in_path=(_OWN_TEMPLATE,),
        headers=(IF_MATCH,),
        body=Body(write_json("RenameRequest"), "The new name."),
        failures={**_NOT_FOUND, **STALE, **BODY_FAILURES},
    ),
    Operation(
        "delete", "/v2/templates/{template}", "deleteTemplate", "Templates", "Delete a template",
        "Its live content is gone; its versions stay readable and renderable, its slug assigned.",
        {204: EMPTY},
        in_path=(_OWN_TEMPLATE,),
        headers=(IF_MATCH,),
        failures={**_NOT_FOUND, **STALE},
    ),
    Operation(
        "post", "/v2/templates/{template_id}/versions", "publishVersion", "Versions",
        "Publish the live content",
        "Numbers count up from 1 without gaps. Unchanged content publishes nothing. If-Match takes the ETag of "
        "the template: what was read is what is published.",
        {
            201: Answer("The new version.", write_json("Version"), ETAG),
            200: Answer(
                "The content is that of the newest version, which this is; the message sent is "
                "discarded.",
                write_json("Version"),
            ),
        },
        headers=(IF_MATCH,),
        body=Body(write_json("PublishRequest"), "A note, if any.", is_required=False),
        failures={400: (ErrorCode.TEMPLATE_EMPTY,), **_NOT_FOUND, **STALE, **BODY_FAILURES},
    ),
    Operation(
        "get", "/v2/templates/{template_id}/versions", "listVersions", "Versions", "List versions",
        "The newest 50, newest first; older ones are read by number.",
        {200: Answer("Versions without content.", write_json("VersionList"), ETAG), 304: NOT_MODIFIED},
        headers=(IF_NONE_MATCH,),
        failures={**_NOT_FOUND, **STALE},
    ),
    Operation(
        "get", "/v2/templates/{template_id}/versions/{version}", "readVersion", "Versions",
        "Read a version",
        "To verify it: remove the header comment from content, hash what remains with SHA-256, compare.",
        {200: Answer("The version with its content.", write_json("VersionWithContent"), ETAG), 304: NOT_MODIFIED},
        headers=(IF_NONE_MATCH,),
        failures={**_NOT_FOUND, **STALE},
    ),
    Operation(
        "put", "/v2/templates/{template_id}/tags/{tag}", "setTag", "Tags", "Set a tag",
        "Makes the tag, or moves it; repeating changes nothing.",
        {200: Answer("The tag and its version.", write_json("TagPointer"), ETAG)},
        headers=(IF_MATCH,),
        body=Body(write_json("TagRequest"), "The version to name."),
        failures={**_NOT_FOUND, **STALE, **BODY_FAILURES},
    ),
    Operation(
        "get", "/v2/templates/{template_id}/tags", "listTags", "Tags", "List tags",
        "By name, 100 a page.",
        {200: Answer("One page.", write_json("TagList"), ETAG), 304: NOT_MODIFIED},
        query=(Parameter("start_after", TAG_SHAPE, "The last tag of the page before."),),
        headers=(IF_NONE_MATCH,),
        failures={**_NOT_FOUND, **STALE},
    ),
    Operation(
        "get", "/v2/templates/{template_id}/tags/{tag}", "readTag", "Tags", "Read a tag",
        "Which version it names, and who moved it last.",
        {200: Answer("The tag.", write_json("Tag"), ETAG), 304: NOT_MODIFIED},
        headers=(IF_NONE_MATCH,),
        failures={**_NOT_FOUND, **STALE},
    ),
    Operation(
        "delete", "/v2/templates/{template_id}/tags/{tag}", "removeTag", "Tags", "Remove a tag",
        "The version stays, and the history too.",
        {200: Answer("Whether it was held.", write_json("TagRemoval"), ETAG)},
        headers=(IF_MATCH,),
        failures={**_NOT_FOUND, **STALE},
    ),
    Operation(
        "get", "/v2/templates/{template_id}/tags/{tag}/history", "readTagHistory", "Tags",
        "Read the history of a tag",
        "The 100 most recent changes, newest first, also of a tag that was removed.",
        {200: Answer("The changes.", write_json("TagHistory"), ETAG), 304: NOT_MODIFIED},
        headers=(IF_NONE_MATCH,),
        failures={**_NOT_FOUND, **STALE},
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
        "agree. Up to 50 MB and 100 megapixels, of a WebP 24 megapixels, of a PNG with transparency or interlaced "
        "rows 32; JPEG of 8 bits, baseline or progressive; of an SVG 8 MB, 50,000 elements with the copies that "
        "`use` makes, 300,000 path segments, 2,000 style rules, and no entities. A worker prepares the image as a "
        "render does, and what renders refuse is refused with 400 in the same words. Nothing is metered. Without a "
        "worker the answer is 503, over the time budget 504; further uploads while four are being inspected wait, "
        "and are 429 after 30 s. The size of an SVG is its width and height in px, or "
        "its view box; 409 without a code when the workspace has no room.",
        {
            201: Answer("Stored.", write_json("Image")),
            200: Answer("Replaced: documents draw the new image from now on.", write_json("Image")),
        },
        body=Body(write_binary(*IMAGE_TYPES), "The bytes of the image."),
        failures=_UPLOAD,
    ),
    Operation(
        "post", "/v2/images", "postImage", "Images", "Store an image from JSON",
        "Give data, the bytes in base64 (up to 20 MB decoded), or source_url, an http or https address that the "
        "service fetches them from: public hosts only, redirects judged again, within 10 s and up to 50 MB. "
        "They are inspected as those of a PUT.",
        {
            201: Answer("Stored.", write_json("Image")),
            200: Answer("Replaced.", write_json("Image")),
        },
        body=Body(write_json("ImageRequest"), "The name, and the bytes or where they are."),
        failures=_UPLOAD,
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
        "put", "/v2/fonts/{name}", "putFont", "Fonts", "Store a font",
        "The bytes decide the format: TrueType, OpenType with outlines of CFF, WOFF2, or a TrueType collection of up "
        "to 32 fonts; the declared type need not agree. Up to 20 MB, with CFF 12,000 glyphs. Variable fonts with "
        "TrueType outlines keep their axes. A worker rebuilds the font as a render does: what renders refuse is "
        "refused with 400 in the same words, also a font whose maker does not allow to embed it as a subset (fsType). "
        "Documents declare it with `font` and its name. Nothing is metered; 409 without a code when the workspace "
        "has no room.",
        {
            201: Answer("Stored.", write_json("Font")),
            200: Answer("Replaced: documents are set in the new font from now on.", write_json("Font")),
        },
        body=Body(write_binary(*FONT_TYPES), "The bytes of the font."),
        failures=_UPLOAD,
    ),
    Operation(
        "post", "/v2/fonts", "postFont", "Fonts", "Store a font from JSON",
        "data are the bytes in base64, up to 20 MB decoded. They are inspected as those of a PUT.",
        {
            201: Answer("Stored.", write_json("Font")),
            200: Answer("Replaced.", write_json("Font")),
        },
        body=Body(write_json("FontRequest"), "The name and the bytes."),
        failures=_UPLOAD,
    ),
    Operation(
        "get", "/v2/fonts", "listFonts", "Fonts", "List fonts",
        "By name, with what the whole workspace holds.",
        {200: Answer("One page.", write_json("FontList"))},
        query=(LIMIT, Parameter("start_after", IMAGE_NAME, "The next_cursor of the page before.")),
        failures=_WORKSPACE,
    ),
    Operation(
        "get", "/v2/fonts/{name}", "readFont", "Fonts", "Read a font's record",
        "The bytes are not served back.",
        {200: Answer("The record.", write_json("Font"))},
        failures={404: (), **_WORKSPACE},
    ),
    Operation(
        "delete", "/v2/fonts/{name}", "deleteFont", "Fonts", "Delete a font",
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
        "get", "/", "readStart", "Operation", "Find the description",
        "Points to /docs: as a page where Accept names text/html, else as JSON.",
        {200: Answer("Where to go on.", {**write_json("Start"), "text/html": {"type": "string"}})},
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
