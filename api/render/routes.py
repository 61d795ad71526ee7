"""The routes POST /v2/pdf and /v2/validate, in the order of checks (deploy/docs/api.md)."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from flask import Response, request

from api.admission.body import Body, receive_body
from api.admission.gate import Ticket, admit, admit_unmetered
from api.auth.guard import Principal, current_principal
from api.http import require_content_type, start_stream, write_json
from api.jobs.accepting import AsyncPreference, make_fingerprint, read_async_preference, read_key
from api.jobs.queued import name_job, refuse_if_drained, run_body
from api.operations.model import (
    Parameter,
    RequestBody,
    Routes,
    binary_content,
    current_query,
    json_response,
    post,
)
from api.operations.parameters import (
    ALLOWANCE_ERRORS,
    DELIVER,
    DRAFT,
    FILENAME,
    IDEMPOTENCY_KEY,
    PDF_RESPONSE,
    REFERENCE,
    RENDER_ERRORS,
    RENDERED_RESPONSE,
    SEND_AT,
    SUBJECT,
    XML_TYPES,
    text_content,
)
from api.pdf_headers import write_invoice_headers, write_pdf_headers
from api.render.inspection import INVOICE
from api.render.recorded import RecordedRender
from api.render.request import RenderRequest, find_template, read_render_request
from shared.auth.scopes import Scope
from shared.clock import now
from shared.errors import ServiceError
from shared.jobs.idempotency import Call, IdempotencyKey
from shared.jobs.intake import KeyedCall
from shared.jobs.records import Allowance, BodyKind, JobOutcome, Purpose, RenderOutput
from shared.limits import KB
from shared.templates.references import parse_reference
from shared.usage.metering import UsageEvent


def write_rendered(ticket: Ticket, outcome: JobOutcome, asked: RenderRequest) -> Response:
    """Return the PDF or XML response, and remember its usage event until the ledger has recorded it.

    The file name of the request overrides the document's own.
    """
    claim = outcome.pdf
    assert claim is not None  # a success has a PDF
    headers = write_pdf_headers(
        outcome.job_id,
        pages=outcome.pages,
        filename=asked.filename or outcome.filename,
        timings=outcome.timings,
        warnings=outcome.warnings,
    )
    headers["Content-Length"] = str(claim.size)
    if asked.output is RenderOutput.INVOICE:
        headers |= write_invoice_headers(asked.filename or outcome.filename)
    chunks = start_stream(ticket.cell.replies.fetch_pdf(claim))
    # Only now: an error before this line becomes an error response.
    event = UsageEvent.of(
        ticket.meter, outcome.job_id, pages=outcome.pages, at=now(), cpu_us=outcome.cpu_us
    )
    ticket.cell.usage_replay.store(event)
    response = Response(chunks, 200, headers)
    response.vary.add("Accept")
    return response


_CHUNK_BYTES: Final = 256 * KB


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
RENDER_TYPES: Final = (*XML_TYPES, "application/json", "text/csv", "text/markdown")
_DOCUMENT: Final = RequestBody(
    text_content(RENDER_TYPES),
    "XML: a complete document. JSON, CSV: data for the template. Markdown: content for one of its flows. "
    "Up to 32 MB by default.",
)
_PREFER: Final = Parameter(
    "Prefer",
    {"type": "string", "examples": ["respond-async", "respond-async, wait=5"]},
    "With respond-async the response is 202 with the job, as soon as it is accepted (RFC 7240). With wait=5 it "
    "is the PDF if the render ends within 5 seconds, at most 60, and the job otherwise.",
)


_RECEIVED: Final = "service-received-invoice"
_SHOWN_BY: Final = Parameter(
    "template",
    # no default: generated clients would always send it
    REFERENCE,
    f"A template that takes the same data, in place of {_RECEIVED}.",
)


class RenderRoutes(Routes):
    """The views."""

    tag = "Rendering"
    scopes = frozenset((Scope.RENDER,))

    @post(
        "/v2/pdf",
        {
            200: RENDERED_RESPONSE,
            202: json_response(
                "Accepted, if the request prefers respond-async: the job is recorded.",
                "Job",
                {
                    "Location": "Path of the job, /v2/jobs/{id}.",
                    "Preference-Applied": "respond-async, and wait if sent.",
                },
            ),
        },
        query=(*_RENDER_QUERY, DRAFT, FILENAME, DELIVER, SEND_AT, SUBJECT),
        headers=(_PREFER, IDEMPOTENCY_KEY),
        body=_DOCUMENT,
        errors={**RENDER_ERRORS, **ALLOWANCE_ERRORS},
    )
    def render_pdf(self) -> Response:
        """Render a PDF.

        Renders a complete document, or data into a stored template, and returns the PDF. A draft has a
        watermark and the sample values of its template below the data, is never encrypted, and counts
        against the draft allowance. With a 202 response the filename is not stored with the job; send it
        when you download the PDF. Renders that find no free worker wait, round robin between accounts;
        beyond the limit of waiting renders of an account the next is 429. With `Accept: application/xml`
        the response is the XML of the document's electronic invoice (`einvoice`), in UBL with the PDF
        inside, metered as the PDF; not for drafts, and not with Prefer or Idempotency-Key.
        """
        principal = current_principal()
        asked = read_render_request(request, Purpose.RENDER)
        key = read_key(request, principal.state.account_id, Call.PDF)
        prefer = read_async_preference(request)
        if key is not None or prefer is not None:
            _check_recordable(asked)
            return self._render_on_record(principal, asked, prefer, key)
        if not current_query().keys().isdisjoint(("deliver", "send_at")):
            raise ServiceError(
                400,
                "A render is delivered only if it is recorded: send the header Prefer: respond-async, or an "
                "Idempotency-Key.",
            )
        return write_rendered(*self._run(principal, asked, Purpose.RENDER), asked)

    @post(
        "/v2/einvoices/render",
        {200: PDF_RESPONSE},
        query=(_SHOWN_BY, DRAFT, FILENAME),
        body=RequestBody(binary_content(*INVOICE.media_types), "The PDF or XML, up to 20 MB."),
        errors={**RENDER_ERRORS, **ALLOWANCE_ERRORS},
    )
    def show_invoice(self) -> Response:
        """Show a received electronic invoice as a PDF.

        Accepts what `POST /v2/einvoices/check` does and returns a PDF that shows every term of the invoice,
        with the number of the term in EN 16931, and what the check finds. Broken rules are also warnings
        `einvoice-rule`; `einvoice-rules` says that some rules were not checked. Metered as any render. A file that is
        not such an invoice is a 400.
        """
        principal = current_principal()
        require_content_type(request, INVOICE.media_types)
        query = current_query()
        asked = RenderRequest(
            kind=BodyKind.INVOICE,
            charset=None,
            template=parse_reference(query.get("template", _RECEIVED), field="template"),
            flow=None,
            allowance=Allowance.DRAFT if query.get("draft") == "true" else Allowance.PRODUCTION,
            filename=query.get("filename"),
        )
        return write_rendered(*self._run(principal, asked, Purpose.RENDER), asked)

    @post(
        "/v2/validate",
        {200: json_response("The findings.", "Findings")},
        query=_RENDER_QUERY,
        body=_DOCUMENT,
        errors=RENDER_ERRORS,
        # It returns no metered PDF, and serves those who write templates as well as those who render.
        scopes=frozenset((Scope.RENDER, Scope.TEMPLATES)),
    )
    def validate(self) -> Response:
        """Validate without rendering.

        Accepts the same body and parameters as a render. A 200 does not mean that the document is valid;
        read the field valid. Not metered. Stored and embedded images are checked; remote images are not
        fetched. Only rendering detects content that does not fit on its page, characters without a glyph,
        and colours that PDF/A does not allow.
        """
        asked = read_render_request(request, Purpose.VALIDATE)
        _, outcome = self._run(current_principal(), asked, Purpose.VALIDATE)
        assert outcome.findings is not None  # set by every validation that succeeded
        return write_json(outcome.findings)

    def _render_on_record(
        self,
        principal: Principal,
        asked: RenderRequest,
        prefer: AsyncPreference | None,
        key: IdempotencyKey | None,
    ) -> Response:
        """Receive the body, then check whether the call is repeated."""
        with receive_body(request) as body:
            _check_not_empty(body)
            call = None if key is None else _read_call(key, body)
            return RecordedRender(principal, asked, body, prefer, self._ports).respond(call)

    def _run(
        self, principal: Principal, asked: RenderRequest, purpose: Purpose
    ) -> tuple[Ticket, JobOutcome]:
        """Receive the body, pin the template, then admit and run: steps 6 to 10."""
        limit = INVOICE.max_bytes if asked.kind is BodyKind.INVOICE else None
        with receive_body(request, limit=limit) as body:
            _check_not_empty(body)
            ports, template = self._ports, find_template(asked, principal, self._ports)
            if purpose is Purpose.VALIDATE:
                budget = ports.settings.render_budget
                ticket = admit_unmetered(principal, ports, budget_seconds=budget)
            else:
                ticket = admit(principal, asked.allowance, template, ports)
            refuse_if_drained(purpose, ticket.cell)
            return ticket, run_body(
                name_job(ports),
                ticket,
                purpose,
                asked.kind,
                body,
                ports,
                in_memory=ticket.principal.state.keeps_nothing,
                charset=asked.charset,
                template=template,
                flow=asked.flow,
                output=asked.output,
            )


def _check_not_empty(body: Body) -> None:
    if body.size == 0:
        raise ServiceError(400, "The body is empty; send the document or its data.")


def _check_recordable(asked: RenderRequest) -> None:
    # Records hold PDFs, which later readers of a job expect.
    if asked.output is not RenderOutput.PDF:
        raise ServiceError(
            400,
            "The XML of an electronic invoice is sent at once and not stored: leave out Prefer and "
            "Idempotency-Key, or accept application/pdf, which contains it.",
        )


def _read_call(key: IdempotencyKey, body: Body) -> KeyedCall:
    digest = sha256()
    while chunk := body.file.read(_CHUNK_BYTES):
        digest.update(chunk)
    body.file.seek(0)
    return KeyedCall(key, make_fingerprint(request, key.call, body_sha256=digest.hexdigest()))
