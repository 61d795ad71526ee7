"""The operations of renders, templates, files, accounts and the service itself, with the path parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from api.files.kinds import FONT, IMAGE, FileKind
from api.openapi.jobs import JOB_PATH_PARAMETERS
from api.openapi.json_schema import PRINTABLE_PATTERN, TIMESTAMP_PATTERN, Schema, string
from api.openapi.model import (
    ALLOWANCE_ERRORS,
    DRAFT,
    ETAG,
    FILENAME,
    IDEMPOTENCY_KEY,
    IF_MATCH,
    IF_NONE_MATCH,
    LIMIT,
    NO_CONTENT,
    RENDERED_RESPONSE,
    ErrorStatuses,
    Operation,
    OperationResponse,
    Parameter,
    RequestBody,
    binary_content,
    json_content,
    start_after,
)
from api.openapi.schemas import IMAGE_NAME, REFERENCE, SLUG, TAG, TAG_SHAPE, TEMPLATE_ID
from api.received.routes import FORM, INVOICE
from shared.errors import ErrorCode
from shared.limits import MB

_TEMPLATE_NAME: Final[Schema] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 200,
    "pattern": PRINTABLE_PATTERN,
    "examples": ["Invoice"],
}
XML_TYPES: Final = ("application/xml", "text/xml", "text/plain")
RENDER_TYPES: Final = (*XML_TYPES, "application/json", "text/csv", "text/markdown")


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
_DATE: Final = Parameter(
    "date",
    {"type": "string", "pattern": TIMESTAMP_PATTERN, "examples": ["2026-11-26"]},
    "A date in the billing period, YYYY-MM-DD or an ISO 8601 timestamp; default is the current period.",
)
_FROM_STUDIO: Final = Parameter(
    "X-Pressroom-Studio",
    {"type": "string", "enum": ["1"]},
    "Marks requests of the Studio's page. Sec-Fetch-Site or Origin must be those of the page, too.",
    is_required=True,
)
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
        _KEY_ID,
        _FILE,
        *JOB_PATH_PARAMETERS,
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
        # no default: generated clients would always send it
        {"type": "string", "minLength": 1, "examples": ["body"]},
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
}
_UPLOAD: Final[ErrorStatuses] = {**_WORKSPACE, 504: (ErrorCode.RENDER_TIMEOUT,)}
_PREFER: Final = Parameter(
    "Prefer",
    {"type": "string", "examples": ["respond-async", "respond-async, wait=5"]},
    "With respond-async the response is 202 with the job, as soon as it is accepted (RFC 7240). With wait=5 it "
    "is the PDF if the render ends within 5 seconds, at most 60, and the job otherwise.",
)

_IMAGE_RULES: Final = (
    "The format is detected from the bytes, not from the declared type: PNG, JPEG (8 bits, baseline or "
    "progressive), SVG, PDF, or WebP without animation. Limits: 50 MB and 100 megapixels; WebP 24 megapixels; PNG "
    "with transparency or interlacing 32 megapixels; SVG 8 MB, 50,000 elements including the copies of `use`, "
    "300,000 path segments, 2,000 style rules, and no entities. The size of an SVG is its width and height in "
    "px, or its view box. Of a PDF the pages are drawn, without scripts, forms, links and annotations; its first "
    "10 pages are checked, its width and height are those of the first in px, and an encrypted one is rejected. "
    "A worker prepares the image as a render does: an image that renders reject is 400 "
    "with the same message. Not metered. 503 without a worker, 504 over the time budget. At most four uploads "
    "of an account are inspected at once; others wait, and are 429 after 30 s. 409 without a code if the "
    "workspace has no space."
)
_FONT_RULES: Final = (
    "The format is detected from the bytes, not from the declared type: TrueType, OpenType with CFF outlines, "
    "WOFF, WOFF2, or a TrueType collection of up to 32 fonts. Up to 20 MB; with CFF outlines 12,000 glyphs, with "
    "CFF2 4,000. Variable fonts keep their axes. A worker subsets the font as a render does: a font that "
    "renders reject is 400 with the same message, including a font whose fsType does not allow subset "
    "embedding. Documents use it with `font` and its name. Not metered; 409 without a code if the workspace "
    "has no space."
)


def _file_operations(kind: FileKind[Any], article: str, rules: str) -> tuple[Operation, ...]:
    """Return the operations of one kind of file; `rules` describes what is stored."""
    one, plural, name, tag = kind.singular, kind.plural, kind.singular.title(), kind.plural.title()
    path, record = f"/v2/{plural}", json_content(name)
    return (
        Operation(
            "put", f"{path}/{{name}}", f"put{name}", tag, f"Store {article} {one}", rules,
            {
                201: OperationResponse("Stored.", record),
                200: OperationResponse(f"Replaced; documents use the new {one} from now on.", record),
            },
            body=RequestBody(binary_content(*kind.media_types), f"The bytes of the {one}."),
            errors=_UPLOAD,
        ),
        Operation(
            "post", path, f"post{name}", tag, f"Store {article} {one} from JSON",
            f"Send either data, the {one} in base64 (up to 20 MB decoded), or source_url, an http or https address from "
            f"which the service fetches it: public hosts only, also after redirects, within 10 s and up to {kind.max_bytes // MB} MB. "
            f"The {one} is inspected as with PUT.",
            {201: OperationResponse("Stored.", record), 200: OperationResponse("Replaced.", record)},
            body=RequestBody(json_content(f"{name}Request"), f"The name, and the {one} or its address."),
            errors=_UPLOAD,
        ),
        Operation(
            "get", path, f"list{tag}", tag, f"List {plural}",
            "By name, with the total usage of the workspace.",
            {200: OperationResponse("One page.", json_content(f"{name}List"))},
            query_parameters=(LIMIT, start_after(IMAGE_NAME)),
            errors=_WORKSPACE,
        ),
        Operation(
            "get", f"{path}/{{name}}", f"read{name}", tag, f"Read {article} {one}'s record",
            "The bytes themselves cannot be downloaded.",
            {200: OperationResponse("The record.", record)},
            errors={404: (), **_WORKSPACE},
        ),
        Operation(
            "delete", f"{path}/{{name}}", f"delete{name}", tag, f"Delete {article} {one}",
            "Its space is freed at once.",
            {204: NO_CONTENT},
            errors={404: (), **_WORKSPACE},
        ),
    )  # fmt: skip


_BEGUN: Final = "What the callback needs: HttpOnly, SameSite=Lax, Secure."

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
        errors={**_RENDER,  **ALLOWANCE_ERRORS},
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
        errors={504: (ErrorCode.RENDER_TIMEOUT,)},
    ),
    Operation(
        "post", "/v2/forms/extract", "extractForm", "Rendering", "Extract the fields of a filled-in form",
        "Accepts a PDF with form fields and returns their names, types, values and options. Passwords to open the file, "
        "XFA forms, scripts and signatures are not processed. Nothing is stored or metered. A PDF without form fields is a 400.",
        {200: OperationResponse("The fields.", json_content("FormReport"))},
        body=RequestBody(binary_content(*FORM.media_types), "The PDF, up to 20 MB."),
        errors={504: (ErrorCode.RENDER_TIMEOUT,)},
    ),
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
        body=RequestBody(json_content("PreviewRequest"), "Up to 32 MB."),
        errors={**_RENDER, 409: (ErrorCode.PREVIEW_SUPERSEDED,)},
    ),
    Operation(
        "get", "/v2/authcheck", "checkKey", "Account", "Check a key",
        "Confirms that the key is valid and names its account.",
        {200: OperationResponse("The key is valid.", json_content("Confirmation"))},
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
            Parameter("name", _TEMPLATE_NAME, "Name of the template.", is_required=True),
        ),
        body=_TEMPLATE_TEXT,
    ),
    Operation(
        "get", "/v2/templates", "listTemplates", "Templates", "List templates",
        "The templates of the account by id; with include=public also those whose id begins with service-.",
        {200: OperationResponse("One page.", json_content("TemplateList"), ETAG)},
        query_parameters=(
            Parameter("name", _TEMPLATE_NAME, "Only templates with exactly this name; names need not be unique."),
            Parameter("include", {"type": "string", "enum": ["public"]}, "Also list the public templates."),
            LIMIT,
            start_after(TEMPLATE_ID),
        ),
        headers=(IF_NONE_MATCH,),
    ),
    Operation(
        "get", "/v2/templates/{template}", "readTemplate", "Templates", "Read a template",
        "The record, and the content of the reference.",
        {200: OperationResponse("Record and content.", json_content("TemplateWithContent"), ETAG)},
        headers=(IF_NONE_MATCH,),
        errors=_NOT_FOUND,
    ),
    Operation(
        "put", "/v2/templates/{template}", "replaceContent", "Templates", "Replace live content",
        "Published versions do not change. A template with errors is kept; `findings` has their number.",
        {200: OperationResponse("The record.", json_content("SavedTemplate"), ETAG)},
        path_parameters=(_OWN_TEMPLATE,),
        headers=(IF_MATCH,),
        body=_TEMPLATE_TEXT,
        errors=_NOT_FOUND,
    ),
    Operation(
        "patch", "/v2/templates/{template}", "renameTemplate", "Templates", "Rename a template",
        "Content, versions, tags and slug do not change.",
        {200: OperationResponse("The record.", json_content("Template"), ETAG)},
        path_parameters=(_OWN_TEMPLATE,),
        headers=(IF_MATCH,),
        body=RequestBody(json_content("RenameRequest"), "The new name."),
        errors=_NOT_FOUND,
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
        errors={**_NOT_FOUND, 409: (ErrorCode.TEMPLATE_IN_USE,)},
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
        errors={400: (ErrorCode.TEMPLATE_EMPTY,), **_NOT_FOUND},
    ),
    Operation(
        "get", "/v2/templates/{template_id}/versions", "listVersions", "Versions", "List versions",
        "The newest 50, newest first; older versions can be read by number.",
        {200: OperationResponse("Versions without content.", json_content("VersionList"), ETAG)},
        headers=(IF_NONE_MATCH,),
        errors=_NOT_FOUND,
    ),
    Operation(
        "get", "/v2/templates/{template_id}/versions/{version}", "readVersion", "Versions",
        "Read a version",
        "To verify a version: remove the header comment from content, and compare the SHA-256 of the rest.",
        {200: OperationResponse("The version with its content.", json_content("VersionWithContent"), ETAG)},
        headers=(IF_NONE_MATCH,),
        errors=_NOT_FOUND,
    ),
    Operation(
        "put", "/v2/templates/{template_id}/tags/{tag}", "setTag", "Tags", "Set a tag",
        "Creates or moves the tag; repeating the request changes nothing.",
        {200: OperationResponse("The tag and its version.", json_content("TagPointer"), ETAG)},
        headers=(IF_MATCH,),
        body=RequestBody(json_content("TagRequest"), "The version to point to."),
        errors=_NOT_FOUND,
    ),
    Operation(
        "get", "/v2/templates/{template_id}/tags", "listTags", "Tags", "List tags",
        "By name, 100 per page.",
        {200: OperationResponse("One page.", json_content("TagList"), ETAG)},
        query_parameters=(Parameter("start_after", TAG_SHAPE, "The last tag of the previous page."),),
        headers=(IF_NONE_MATCH,),
        errors=_NOT_FOUND,
    ),
    Operation(
        "get", "/v2/templates/{template_id}/tags/{tag}", "readTag", "Tags", "Read a tag",
        "The version that it points to, and the user who last moved it.",
        {200: OperationResponse("The tag.", json_content("Tag"), ETAG)},
        headers=(IF_NONE_MATCH,),
        errors=_NOT_FOUND,
    ),
    Operation(
        "delete", "/v2/templates/{template_id}/tags/{tag}", "removeTag", "Tags", "Remove a tag",
        "The version and the history are kept.",
        {200: OperationResponse("Whether the tag existed.", json_content("TagRemoval"), ETAG)},
        headers=(IF_MATCH,),
        errors=_NOT_FOUND,
    ),
    Operation(
        "get", "/v2/templates/{template_id}/tags/{tag}/history", "readTagHistory", "Tags",
        "Read the history of a tag",
        "The 100 most recent changes, newest first, including those of a removed tag.",
        {200: OperationResponse("The changes.", json_content("TagHistory"), ETAG)},
        headers=(IF_NONE_MATCH,),
        errors=_NOT_FOUND,
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
        errors={400: (ErrorCode.SLUG_INVALID,), 404: (ErrorCode.SLUG_NOT_ASSIGNED,), **_WORKSPACE},
    ),
    *_file_operations(IMAGE, "an", _IMAGE_RULES),
    *_file_operations(FONT, "a", _FONT_RULES),
    Operation(
        "get", "/healthz", "tellAlive", "Operation", "Liveness",
        "Reports that the process is alive, without checking its dependencies.",
        {200: OperationResponse("The process is alive.", json_content("Health"))},
    ),
    Operation(
        "get", "/readyz", "tellReady", "Operation", "Readiness",
        "Reports whether the dependencies are up; 503 names those that are down.",
        {200: OperationResponse("All are up, or all except some of several shards.", json_content("Health"))},
        errors={503: ()},
    ),
    Operation(
        "get", "/metrics", "writeMetrics", "Operation", "Read the metrics",
        "Prometheus text format.",
        {200: OperationResponse("The metrics.", {"text/plain": {"type": "string"}})},
    ),
    Operation(
        "get", "/", "readStart", "Operation", "Start page",
        "Links to /docs, as HTML if Accept contains text/html, else as JSON.",
        {200: OperationResponse("The links.", {**json_content("Start"), "text/html": {"type": "string"}})},
    ),
    Operation(
        "get", "/docs/openapi.json", "describe", "Operation", "OpenAPI description",
        "OpenAPI 3.1.",
        {200: OperationResponse("The description.", {"application/json": {"type": "object"}})},
    ),
    Operation(
        "get", "/docs", "readDescription", "Operation", "API description as a page",
        "A page without external resources.",
        {200: OperationResponse("The page.", {"text/html": {"type": "string"}})},
    ),
    Operation(
        "get", "/v2/account/usage", "reportUsage", "Account", "Report usage",
        "Pages and renders of a billing period, which runs from renewal day to renewal day.",
        {200: OperationResponse("The report.", json_content("Usage"))},
        query_parameters=(_DATE,),
    ),
    Operation(
        "get", "/v2/account", "readAccount", "Account", "Read the account",
        "The plan and rate limit of the account, and the user of the key.",
        {200: OperationResponse("The account.", json_content("Account"))},
    ),
    Operation(
        "get", "/v2/account/usage/days", "reportUsageByDay", "Account", "Report usage by day",
        "Pages and renders of a billing period by day. A render is included a few seconds after it has ended.",
        {200: OperationResponse("The report.", json_content("UsageDays"))},
        query_parameters=(_DATE,),
    ),
    Operation(
        "get", "/v2/account/usage/templates", "reportUsageByTemplate", "Account", "Report usage by template",
        "Pages and renders of a billing period by template, those with most pages first. A render is included a few "
        "seconds after it has ended.",
        {200: OperationResponse("The report.", json_content("UsageTemplates"))},
        query_parameters=(_DATE, LIMIT),
    ),
    Operation(
        "get", "/v2/keys", "listKeys", "Account", "List keys",
        "Oldest first, including revoked and expired keys.",
        {200: OperationResponse("The keys.", json_content("KeyList"))},
    ),
    Operation(
        "post", "/v2/keys", "createKey", "Account", "Create a key",
        "The key belongs to the account's user. Its scopes are at most those of the request's key, else 403. An account has at most 100 keys that are neither revoked nor "
        "expired; more are 409.",
        {201: OperationResponse("The key with its secret, which is returned only here.", json_content("KeyWithSecret"))},
        body=RequestBody(json_content("KeyRequest"), "Optional name and expiry.", is_required=False),
        errors={409: ()},
    ),
    Operation(
        "delete", "/v2/keys/{key_id}", "revokeKey", "Account", "Revoke a key",
        "Permanent; takes effect within a second, and ends the sessions of the key. The key of the request can "
        "be revoked, too.",
        {204: NO_CONTENT},
        errors={404: ()},
    ),
    Operation(
        "post", "/v2/session", "openSession", "Account", "Open a Studio session",
        "For the Studio's page: exchanges an API key for a session cookie. By default a session ends after an hour "
        "without requests, after 12 hours, or with its key. Other clients send the key with each request.",
        {
            201: OperationResponse(
                "The session.", json_content("Session"),
                {"Set-Cookie": "The session's cookie: HttpOnly, SameSite=Strict, Secure."},
            )
        },
        headers=(_FROM_STUDIO,),
    ),
    Operation(
        "get", "/v2/session", "readSession", "Account", "Read the session",
        "404 if the request has an API key instead of a session.",
        {200: OperationResponse("The session.", json_content("Session"))},
        errors={404: ()},
    ),
    Operation(
        "delete", "/v2/session", "endSession", "Account", "Sign out",
        "Ends the session of the request, and deletes its cookie.",
        {204: OperationResponse("Done; the response has no body.", headers={"Set-Cookie": "Deletes the cookie."})},
    ),
    Operation(
        "get", "/docs/language", "openLanguage", "Operation", "Open the reference of the document language",
        "The introduction, with a search and links to every chapter and element.",
        {200: OperationResponse("The page.", {"text/html": {"type": "string"}})},
    ),
    Operation(
        "get", "/docs/language/{name}", "readLanguage", "Operation", "Read a page of the document language",
        "A chapter or an element, such as `td`; an attribute, such as `td.rowspan`, redirects to its place.",
        {
            200: OperationResponse("The page.", {"text/html": {"type": "string"}}),
            302: OperationResponse("To the attribute.", headers={"Location": "The page with the attribute."}),
        },
        errors={404: ()},
    ),
    Operation(
        "get", "/docs/language/files/{name}", "readLanguageFile", "Operation", "Read a file of the document language",
        "A picture, the style sheet, the search with its index, or the RELAX NG schema.",
        {
            200: OperationResponse(
                "The file.",
                {
                    media: {"type": "string"}
                    for media in ("image/png", "text/css", "text/javascript", "application/json", "application/xml")
                },
            )
        },
        errors={404: ()},
    ),
    Operation(
        "get", "/studio", "openStudio", "Operation", "Open the Studio",
        "The web page for template authors, which uses this API.",
        {200: OperationResponse("The page.", {"text/html": {"type": "string"}})},
    ),
    Operation(
        "get", "/studio/sign-in", "describeSignIn", "Operation", "Name the provider of single sign-on",
        "The OpenID Connect provider at which people may sign in to the Studio.",
        {200: OperationResponse("The provider.", json_content("SignIn"))},
    ),
    Operation(
        "get", "/studio/sign-in/begin", "beginSignIn", "Operation", "Sign in at the provider",
        "For browsers. Redirects to the provider, with state, nonce and a PKCE challenge. 400 for another parameter, 404 without a provider.",
        {302: OperationResponse("To the provider.", headers={"Location": "An address of the provider.", "Set-Cookie": _BEGUN})},
        query_parameters=(Parameter("account", string("An account's id."), "The account to sign in to, where a person has several."),),
        errors={400: (), 404: ()},
    ),
    Operation(
        "get", "/studio/sign-in/callback", "finishSignIn", "Operation", "Come back from the provider",
        "For browsers. Opens a session and shows the Studio, or shows why the sign-in failed.",
        {303: OperationResponse("To the Studio.", headers={"Location": "The Studio.", "Set-Cookie": "The session's cookie."})},
        query_parameters=(
            Parameter("code", string("From the provider."), "The authorization code."),
            Parameter("state", string("From the provider."), "The state of the sign-in."),
            Parameter("iss", string("From the provider."), "The issuer (RFC 9207)."),
            Parameter("error", string("From the provider."), "Why there is no code."),
        ),
        errors={404: ()},
    ),
    Operation(
        "get", "/studio/{file}", "readStudioFile", "Operation", "Read a file of the Studio",
        "File names contain a digest of the content.",
        {
            200: OperationResponse(
                "The file.",
                {
                    media: {"type": "string"}
                    for media in ("text/html", "text/javascript", "text/css", "application/json", "image/svg+xml", "text/plain")
                },
            )
        },
        errors={404: ()},
    ),
)  # fmt: skip
