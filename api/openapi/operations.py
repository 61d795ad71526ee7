"""The operations of renders, templates, files and the service itself, with the shared path parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from api.files.kinds import FONT_TYPES, IMAGE_TYPES
from api.openapi.access import FILE, KEY_ID
from api.openapi.json_schema import PRINTABLE_PATTERN, TIMESTAMP_PATTERN, Schema
from api.openapi.model import (
    ALLOWANCE_ERRORS,
    BODY_ERRORS,
    DRAFT,
    ETAG,
    FILENAME,
    IDEMPOTENCY_ERRORS,
    IDEMPOTENCY_KEY,
    IF_MATCH,
    IF_NONE_MATCH,
    LIMIT,
    NO_CONTENT,
    NOT_MODIFIED,
    PRECONDITION_ERRORS,
    RENDERED_RESPONSE,
    ErrorStatuses,
    Operation,
    OperationResponse,
    Parameter,
    RequestBody,
    binary_content,
    json_content,
)
from api.openapi.schemas import IMAGE_NAME, REFERENCE, SLUG, TAG, TAG_SHAPE, TEMPLATE_ID
from api.received.routes import FORM, INVOICE
from shared.errors import ErrorCode

_TEMPLATE_NAME: Final[Schema] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 200,
    "pattern": PRINTABLE_PATTERN,
    "examples": ["Invoice"],
}
XML_TYPES: Final = ("application/xml", "text/xml", "text/plain")
RENDER_TYPES: Final = (*XML_TYPES, "application/json", "text/csv", "text/markdown")


PATH_PARAMETERS: Final[Mapping[str, Parameter]] = {
    parameter.name: parameter
    for parameter in (
        Parameter("template", REFERENCE, "A template reference."),
        Parameter("template_id", TEMPLATE_ID, "A template id."),
        Parameter(
            "version",
            {"type": "string", "pattern": "^[1-9][0-9]{0,15}$", "examples": ["1"]},
            "Number of a published version.",
        ),
        Parameter("tag", TAG, "A tag of the template."),
        Parameter("slug", SLUG, "A slug of the workspace."),
        Parameter("name", IMAGE_NAME, "The name of an image."),
        KEY_ID,
        FILE,
    )
}

_OWN_TEMPLATE: Final = Parameter("template", TEMPLATE_ID, "A template id.")
_TEMPLATE: Final = Parameter(
    "template",
    REFERENCE,
    "The template to render with. Required for JSON, CSV and Markdown; optional for XML, which then "
    "overlays the template.",
)
_RENDER_QUERY: Final = (
    _TEMPLATE,
    Parameter(
        "template_id",
        REFERENCE,
        "Former name of template; if both are sent, the values must be equal.",
    ),
    Parameter(
        "flow",
        {
            "type": "string",
            "minLength": 1,
            "examples": ["body"],
        },  # no default: generated clients would always send it
        "With text/markdown only: the flow that the body replaces; default is body.",
    ),
)


def _texts(types: tuple[str, ...]) -> Mapping[str, Schema]:
    # Binary, since the client chooses the charset. Of several binary types a generated client may use
    # only the last.
    texts = [media for media in reversed(types) if media != "application/json"]
    return {media: {"type": "object"} for media in types if media not in texts} | dict(
        binary_content(*texts)
    )


_DOCUMENT: Final = RequestBody(
    _texts(RENDER_TYPES),
    "XML: a complete document. JSON, CSV: data for the template. Markdown: content for one of its flows. "
    "Up to 32 MB.",
)
_TEMPLATE_TEXT: Final = RequestBody(
    _texts(XML_TYPES),
    "Well-formed XML, up to 32 MB; it is stored even with findings.",
    is_required=False,
)
_NOT_FOUND: Final[ErrorStatuses] = {404: (ErrorCode.TEMPLATE_NOT_FOUND,)}
_WORKSPACE: Final[ErrorStatuses] = {409: (ErrorCode.WORKSPACE_UNRESOLVED,)}
_RENDER: Final[ErrorStatuses] = {
    400: (ErrorCode.TEMPLATE_EMPTY,),
    404: (ErrorCode.TEMPLATE_NOT_FOUND,),
    504: (ErrorCode.RENDER_TIMEOUT,),
    **BODY_ERRORS,
}
_UPLOAD: Final[ErrorStatuses] = {**_WORKSPACE, 504: (ErrorCode.RENDER_TIMEOUT,), **BODY_ERRORS}
_PREFER: Final = Parameter(
    "Prefer",
    {"type": "string", "examples": ["respond-async", "respond-async, wait=5"]},
    "With respond-async the response is 202 with the job, as soon as it is accepted (RFC 7240). With wait=5 it "
    "is the PDF if the render ends within 5 seconds, at most 60, and the job otherwise.",
)

OPERATIONS: Final = (
    Operation(
        "post", "/v2/pdf", "renderPdf", "Rendering", "Render a PDF",
        "Renders a complete document, or data into a stored template, and returns the PDF. A draft has a "
        "watermark and the sample values of its template below the data, is never encrypted, and counts against the draft allowance. With a 202 response the filename "
        "is not stored with the job; send it when you download the PDF. Renders that find no free worker wait, "
        "round robin between accounts; beyond the limit of waiting renders of an account the next is 429. With "
        "`Accept: application/xml` the response is the XML of the document's electronic invoice (`einvoice`), in UBL with "
        "the PDF inside, metered as the PDF; not for drafts, and not with Prefer or Idempotency-Key.",
        {
            200: RENDERED_RESPONSE,
            202: OperationResponse(
                "Accepted, if the request prefers respond-async: the job is recorded.",
                json_content("Job"),
                {"Location": "Path of the job, /v2/jobs/{id}.", "Preference-Applied": "respond-async, and wait if sent."},
            ),
        },
        query_parameters=(*_RENDER_QUERY, DRAFT, FILENAME),
        headers=(_PREFER, IDEMPOTENCY_KEY),
        body=_DOCUMENT,
        errors={**_RENDER, **IDEMPOTENCY_ERRORS, **ALLOWANCE_ERRORS},
    ),
    Operation(
        "post", "/v2/validate", "validate", "Rendering", "Validate without rendering",
        "Accepts the same body and parameters as a render. A 200 does not mean that the document is valid; read "
        "the field valid. Not metered. Stored and embedded images are checked; remote images are not fetched. "
        "Only rendering detects content that does not fit on its page, characters without a glyph, and colours "
        "that PDF/A does not allow.",
        {200: OperationResponse("The findings.", json_content("Findings"))},
        query_parameters=_RENDER_QUERY,
        body=_DOCUMENT,
        errors=_RENDER,
    ),
    Operation(
        "post", "/v2/einvoices/check", "checkInvoice", "Rendering", "Check a received electronic invoice",
        "Accepts an invoice in CII (Factur-X, ZUGFeRD, XRechnung) or UBL (Peppol, XRechnung), as XML or embedded in a "
        "PDF, and reports what breaks the official XML schema and the rules of its profile: EN 16931, its code lists, "
        "XRechnung and Peppol BIS. `checked_by` names what was applied; rules of single countries in Peppol are not. "
        "Nothing is stored or metered. A file that is not such an invoice is a 400.",
        {200: OperationResponse("The report.", json_content("InvoiceReport"))},
        body=RequestBody(binary_content(*INVOICE.media_types), "The PDF or XML, up to 20 MB."),
        errors={504: (ErrorCode.RENDER_TIMEOUT,), **BODY_ERRORS},
    ),
    Operation(
        "post", "/v2/forms/extract", "extractForm", "Rendering", "Extract the fields of a filled-in form",
        "Accepts a PDF with form fields and returns their names, types, values and options. Passwords to open the file, "
        "XFA forms, scripts and signatures are not processed. Nothing is stored or metered. A PDF without form fields is a 400.",
        {200: OperationResponse("The fields.", json_content("FormReport"))},
        body=RequestBody(binary_content(*FORM.media_types), "The PDF, up to 20 MB."),
        errors={504: (ErrorCode.RENDER_TIMEOUT,), **BODY_ERRORS},
    ),
    Operation(
        "get", "/v2/authcheck", "checkKey", "Account", "Check a key",
        "Confirms that the key is valid and names its account.",
        {200: OperationResponse("The key is valid.", json_content("Confirmation"))},
    ),
    Operation(
        "get", "/v2/account/usage", "reportUsage", "Account", "Report usage",
        "Pages and renders of a billing period, which runs from renewal day to renewal day.",
        {200: OperationResponse("The report.", json_content("Usage"))},
        query_parameters=(
            Parameter(
                "date",
                {"type": "string", "pattern": TIMESTAMP_PATTERN, "examples": ["2026-11-26"]},
                "A date in the billing period, YYYY-MM-DD or an ISO 8601 timestamp; default is the current period.",
            ),
        ),
    ),
    Operation(
        "post", "/v2/templates", "createTemplate", "Templates", "Create a template",
        "The body is the live content; without a body the template has no content yet. One with errors is kept; "
        "`findings` has their number.",
        {
            201: OperationResponse(
                "The record.", json_content("SavedTemplate"), {"Location": "Path of the template.", **ETAG}
            )
        },
        query_parameters=(
            Parameter(
                "name",
                _TEMPLATE_NAME,
                "Name of the template.",
                is_required=True,
            ),
        ),
        body=_TEMPLATE_TEXT,
        errors=BODY_ERRORS,
    ),
    Operation(
        "get", "/v2/templates", "listTemplates", "Templates", "List templates",
        "The templates of the account by id; with include=public also those whose id begins with service-.",
        {200: OperationResponse("One page.", json_content("TemplateList"), ETAG), 304: NOT_MODIFIED},
        query_parameters=(
            Parameter(
                "name",
                _TEMPLATE_NAME,
                "Only templates with exactly this name; names need not be unique.",
            ),
            Parameter(
                "include",
                {"type": "string", "enum": ["public"]},
                "Also list the public templates.",
            ),
            LIMIT,
            Parameter("start_after", TEMPLATE_ID, "The next_cursor of the previous page."),
        ),
        headers=(IF_NONE_MATCH,),
        errors=PRECONDITION_ERRORS,
    ),
    Operation(
        "get", "/v2/templates/{template}", "readTemplate", "Templates", "Read a template",
        "The record, and the content of the reference.",
        {200: OperationResponse("Record and content.", json_content("TemplateWithContent"), ETAG), 304: NOT_MODIFIED},
        headers=(IF_NONE_MATCH,),
        errors={**_NOT_FOUND, **PRECONDITION_ERRORS},
    ),
    Operation(
        "put", "/v2/templates/{template}", "replaceContent", "Templates", "Replace live content",
        "Published versions do not change. A template with errors is kept; `findings` has their number.",
        {200: OperationResponse("The record.", json_content("SavedTemplate"), ETAG)},
        path_parameters=(_OWN_TEMPLATE,),
        headers=(IF_MATCH,),
        body=_TEMPLATE_TEXT,
        errors={**_NOT_FOUND, **PRECONDITION_ERRORS, **BODY_ERRORS},
    ),
    Operation(
        "patch", "/v2/templates/{template}", "renameTemplate", "Templates", "Rename a template",
        "Content, versions, tags and slug do not change.",
        {200: OperationResponse("The record.", json_content("Template"), ETAG)},
        path_parameters=(_OWN_TEMPLATE,),
        headers=(IF_MATCH,),
        body=RequestBody(json_content("RenameRequest"), "The new name."),
        errors={**_NOT_FOUND, **PRECONDITION_ERRORS, **BODY_ERRORS},
    ),
    Operation(
        "get", "/v2/templates/{template_id}/dependents", "listDependents", "Templates", "List the templates that use one",
        "The account's templates whose live content extends or imports it, by id or slug; at most 20. It cannot be "
        "deleted before these.",
        {200: OperationResponse("The templates.", json_content("DependentList"))},
        errors=_NOT_FOUND,
    ),
    Operation(
        "delete", "/v2/templates/{template}", "deleteTemplate", "Templates", "Delete a template",
        "The live content is deleted; versions can still be read and rendered, and the slug stays assigned. A "
        "template that others extend or import is kept: 409 names them.",
        {204: NO_CONTENT},
        path_parameters=(_OWN_TEMPLATE,),
        headers=(IF_MATCH,),
        errors={**_NOT_FOUND, **PRECONDITION_ERRORS, 409: (ErrorCode.TEMPLATE_IN_USE,)},
    ),
    Operation(
        "post", "/v2/templates/{template_id}/versions", "publishVersion", "Versions",
        "Publish the live content",
        "Versions are numbered from 1 without gaps. Unchanged content creates no version. With If-Match and the "
        "ETag of the template, exactly the content that was read is published.",
        {
            201: OperationResponse("The new version.", json_content("PublishedVersion"), ETAG),
            200: OperationResponse(
                "The content is unchanged: the newest version. The message of the request is discarded.",
                json_content("PublishedVersion"),
            ),
        },
        headers=(IF_MATCH,),
        body=RequestBody(json_content("PublishRequest"), "An optional note.", is_required=False),
        errors={400: (ErrorCode.TEMPLATE_EMPTY,), **_NOT_FOUND, **PRECONDITION_ERRORS, **BODY_ERRORS},
    ),
    Operation(
        "get", "/v2/templates/{template_id}/versions", "listVersions", "Versions", "List versions",
        "The newest 50, newest first; older versions can be read by number.",
        {200: OperationResponse("Versions without content.", json_content("VersionList"), ETAG), 304: NOT_MODIFIED},
        headers=(IF_NONE_MATCH,),
        errors={**_NOT_FOUND, **PRECONDITION_ERRORS},
    ),
    Operation(
        "get", "/v2/templates/{template_id}/versions/{version}", "readVersion", "Versions",
        "Read a version",
        "To verify a version: remove the header comment from content, and compare the SHA-256 of the rest.",
        {200: OperationResponse("The version with its content.", json_content("VersionWithContent"), ETAG), 304: NOT_MODIFIED},
        headers=(IF_NONE_MATCH,),
        errors={**_NOT_FOUND, **PRECONDITION_ERRORS},
    ),
    Operation(
        "put", "/v2/templates/{template_id}/tags/{tag}", "setTag", "Tags", "Set a tag",
        "Creates or moves the tag; repeating the request changes nothing.",
        {200: OperationResponse("The tag and its version.", json_content("TagPointer"), ETAG)},
        headers=(IF_MATCH,),
        body=RequestBody(json_content("TagRequest"), "The version to point to."),
        errors={**_NOT_FOUND, **PRECONDITION_ERRORS, **BODY_ERRORS},
    ),
    Operation(
        "get", "/v2/templates/{template_id}/tags", "listTags", "Tags", "List tags",
        "By name, 100 per page.",
        {200: OperationResponse("One page.", json_content("TagList"), ETAG), 304: NOT_MODIFIED},
        query_parameters=(Parameter("start_after", TAG_SHAPE, "The last tag of the previous page."),),
        headers=(IF_NONE_MATCH,),
        errors={**_NOT_FOUND, **PRECONDITION_ERRORS},
    ),
    Operation(
        "get", "/v2/templates/{template_id}/tags/{tag}", "readTag", "Tags", "Read a tag",
        "The version that it points to, and the user who last moved it.",
        {200: OperationResponse("The tag.", json_content("Tag"), ETAG), 304: NOT_MODIFIED},
        headers=(IF_NONE_MATCH,),
        errors={**_NOT_FOUND, **PRECONDITION_ERRORS},
    ),
    Operation(
        "delete", "/v2/templates/{template_id}/tags/{tag}", "removeTag", "Tags", "Remove a tag",
        "The version and the history are kept.",
        {200: OperationResponse("Whether the tag existed.", json_content("TagRemoval"), ETAG)},
        headers=(IF_MATCH,),
        errors={**_NOT_FOUND, **PRECONDITION_ERRORS},
    ),
    Operation(
        "get", "/v2/templates/{template_id}/tags/{tag}/history", "readTagHistory", "Tags",
        "Read the history of a tag",
        "The 100 most recent changes, newest first, including those of a removed tag.",
        {200: OperationResponse("The changes.", json_content("TagHistory"), ETAG), 304: NOT_MODIFIED},
        headers=(IF_NONE_MATCH,),
        errors={**_NOT_FOUND, **PRECONDITION_ERRORS},
    ),
    Operation(
        "post", "/v2/slugs", "assignSlug", "Slugs", "Assign a slug",
        "A template has at most one slug; its previous slug is released.",
        {
            201: OperationResponse("Newly assigned, or moved.", json_content("Slug")),
            200: OperationResponse("Already assigned; nothing changed.", json_content("Slug")),
        },
        body=RequestBody(json_content("SlugRequest"), "The slug and the template id."),
        errors={
            400: (ErrorCode.SLUG_INVALID,),
            409: (ErrorCode.SLUG_TAKEN, ErrorCode.WORKSPACE_UNRESOLVED),
            **_NOT_FOUND,
            **BODY_ERRORS,
        },
    ),
    Operation(
        "get", "/v2/slugs", "listSlugs", "Slugs", "List slugs",
        "By name, at most 1,000.",
        {200: OperationResponse("The slugs.", json_content("SlugList"))},
        errors=_WORKSPACE,
    ),
    Operation(
        "get", "/v2/slugs/{slug}", "checkSlug", "Slugs", "Check whether a slug is available",
        "Returns the template that holds it, if it is taken.",
        {200: OperationResponse("Whether it is available.", json_content("SlugAvailability"))},
        errors={400: (ErrorCode.SLUG_INVALID,), **_WORKSPACE},
    ),
    Operation(
        "delete", "/v2/slugs/{slug}", "releaseSlug", "Slugs", "Release a slug",
        "Possible even if the template was deleted. The template does not change.",
        {204: NO_CONTENT},
        errors={
            400: (ErrorCode.SLUG_INVALID,),
            404: (ErrorCode.SLUG_NOT_ASSIGNED,),
            **_WORKSPACE,
        },
    ),
    Operation(
        "put", "/v2/images/{name}", "putImage", "Images", "Store an image",
        "The format is detected from the bytes, not from the declared type: PNG, JPEG (8 bits, baseline or "
        "progressive), SVG, PDF, or WebP without animation. Limits: 50 MB and 100 megapixels; WebP 24 megapixels; PNG "
        "with transparency or interlacing 32 megapixels; SVG 8 MB, 50,000 elements including the copies of `use`, "
        "300,000 path segments, 2,000 style rules, and no entities. The size of an SVG is its width and height in "
        "px, or its view box. Of a PDF the pages are drawn, without scripts, forms, links and annotations; its first "
        "10 pages are checked, its width and height are those of the first in px, and an encrypted one is rejected. "
        "A worker prepares the image as a render does: an image that renders reject is 400 "
        "with the same message. Not metered. 503 without a worker, 504 over the time budget. At most four uploads "
        "of an account are inspected at once; others wait, and are 429 after 30 s. 409 without a code if the "
        "workspace has no space.",
        {
            201: OperationResponse("Stored.", json_content("Image")),
            200: OperationResponse("Replaced; documents use the new image from now on.", json_content("Image")),
        },
        body=RequestBody(binary_content(*IMAGE_TYPES), "The bytes of the image."),
        errors=_UPLOAD,
    ),
    Operation(
        "post", "/v2/images", "postImage", "Images", "Store an image from JSON",
        "Send either data, the image in base64 (up to 20 MB decoded), or source_url, an http or https address from "
        "which the service fetches it: public hosts only, also after redirects, within 10 s and up to 50 MB. The "
        "image is inspected as with PUT.",
        {
            201: OperationResponse("Stored.", json_content("Image")),
            200: OperationResponse("Replaced.", json_content("Image")),
        },
        body=RequestBody(json_content("ImageRequest"), "The name, and the image or its address."),
        errors=_UPLOAD,
    ),
    Operation(
        "get", "/v2/images", "listImages", "Images", "List images",
        "By name, with the total usage of the workspace.",
        {200: OperationResponse("One page.", json_content("ImageList"))},
        query_parameters=(LIMIT, Parameter("start_after", IMAGE_NAME, "The next_cursor of the previous page.")),
        errors=_WORKSPACE,
    ),
    Operation(
        "get", "/v2/images/{name}", "readImage", "Images", "Read an image's record",
        "The bytes themselves cannot be downloaded.",
        {200: OperationResponse("The record.", json_content("Image"))},
        errors={404: (), **_WORKSPACE},
    ),
    Operation(
        "delete", "/v2/images/{name}", "deleteImage", "Images", "Delete an image",
        "Its space is freed at once.",
        {204: NO_CONTENT},
        errors={404: (), **_WORKSPACE},
    ),
    Operation(
        "put", "/v2/fonts/{name}", "putFont", "Fonts", "Store a font",
        "The format is detected from the bytes, not from the declared type: TrueType, OpenType with CFF outlines, "
        "WOFF, WOFF2, or a TrueType collection of up to 32 fonts. Up to 20 MB; with CFF outlines 12,000 glyphs, with "
        "CFF2 4,000. Variable fonts keep their axes. A worker subsets the font as a render does: a font that "
        "renders reject is 400 with the same message, including a font whose fsType does not allow subset "
        "embedding. Documents use it with `font` and its name. Not metered; 409 without a code if the workspace "
        "has no space.",
        {
            201: OperationResponse("Stored.", json_content("Font")),
            200: OperationResponse("Replaced; documents use the new font from now on.", json_content("Font")),
        },
        body=RequestBody(binary_content(*FONT_TYPES), "The bytes of the font."),
        errors=_UPLOAD,
    ),
    Operation(
        "post", "/v2/fonts", "postFont", "Fonts", "Store a font from JSON",
        "Send either data, the font in base64 (up to 20 MB decoded), or source_url, an http or https address from "
        "which the service fetches it: public hosts only, also after redirects, within 10 s and up to 20 MB. The "
        "font is inspected as with PUT.",
        {
            201: OperationResponse("Stored.", json_content("Font")),
            200: OperationResponse("Replaced.", json_content("Font")),
        },
        body=RequestBody(json_content("FontRequest"), "The name, and the font or its address."),
        errors=_UPLOAD,
    ),
    Operation(
        "get", "/v2/fonts", "listFonts", "Fonts", "List fonts",
        "By name, with the total usage of the workspace.",
        {200: OperationResponse("One page.", json_content("FontList"))},
        query_parameters=(LIMIT, Parameter("start_after", IMAGE_NAME, "The next_cursor of the previous page.")),
        errors=_WORKSPACE,
    ),
    Operation(
        "get", "/v2/fonts/{name}", "readFont", "Fonts", "Read a font's record",
        "The bytes themselves cannot be downloaded.",
        {200: OperationResponse("The record.", json_content("Font"))},
        errors={404: (), **_WORKSPACE},
    ),
    Operation(
        "delete", "/v2/fonts/{name}", "deleteFont", "Fonts", "Delete a font",
        "Its space is freed at once.",
        {204: NO_CONTENT},
        errors={404: (), **_WORKSPACE},
    ),
    Operation(
        "get", "/healthz", "tellAlive", "Operation", "Liveness",
        "Reports that the process is alive, without checking its dependencies.",
        {200: OperationResponse("The process is alive.", json_content("Health"))},
        needs_key=False,
    ),
    Operation(
        "get", "/readyz", "tellReady", "Operation", "Readiness",
        "Reports whether the dependencies are up; 503 names those that are down.",
        {200: OperationResponse("All are up, or all except some of several shards.", json_content("Health"))},
        errors={503: ()},
        needs_key=False,
    ),
    Operation(
        "get", "/metrics", "writeMetrics", "Operation", "Read the metrics",
        "Prometheus text format.",
        {200: OperationResponse("The metrics.", {"text/plain": {"type": "string"}})},
        needs_key=False,
    ),
    Operation(
        "get", "/", "readStart", "Operation", "Start page",
        "Links to /docs, as HTML if Accept contains text/html, else as JSON.",
        {200: OperationResponse("The links.", {**json_content("Start"), "text/html": {"type": "string"}})},
        needs_key=False,
    ),
    Operation(
        "get", "/docs/openapi.json", "describe", "Operation", "OpenAPI description",
        "OpenAPI 3.1.",
        {200: OperationResponse("The description.", {"application/json": {"type": "object"}})},
        needs_key=False,
    ),
    Operation(
        "get", "/docs", "readDescription", "Operation", "API description as a page",
        "A page without external resources.",
        {200: OperationResponse("The page.", {"text/html": {"type": "string"}})},
        needs_key=False,
    ),
)  # fmt: skip
