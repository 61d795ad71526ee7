"""The route POST /v2/preview: receive, pin, admit, queue, respond (decision 0388)."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO
from typing import Any, Final

from flask import Response, request

from api.admission.body import Body, receive_body
from api.admission.gate import admit_unmetered
from api.admission.json_body import check_unicode, decode_record
from api.auth.guard import Principal, current_principal
from api.http import require_content_type, write_json
from api.jobs.queued import name_job, refuse_if_drained, run_body
from api.jobs.remote_images import ConcurrencyLimit
from api.operations.model import RequestBody, Routes, json_content, json_response, post
from api.operations.parameters import RENDER_ERRORS
from api.pdf_headers import write_server_timing
from api.ports import Cell, Ports
from api.render.request import pin_template
from shared.auth.scopes import Scope
from shared.errors import ErrorCode, ServiceError
from shared.jobs.records import BodyKind, JobOutcome, PinnedTemplate, Purpose
from shared.previews.records import (
    DEFAULT_SCALE,
    PAYLOAD_TYPES,
    PreviewBody,
    PreviewData,
    PreviewFormat,
    PreviewRequest,
)
from shared.templates.linking import resolve_links
from shared.templates.links import find_links
from shared.templates.references import parse_reference

_DEFAULT_FLOW: Final = "body"


def _read_data(asked: PreviewBody) -> PreviewData | None:
    kind, payload, flow = PAYLOAD_TYPES[asked.payload_type], bytes(asked.payload), asked.flow
    if kind is BodyKind.MARKDOWN:
        flow = flow or _DEFAULT_FLOW
    elif flow is not None:
        raise ServiceError(400, "flow is accepted with payload_type text/markdown only.")
    if payload in (b"", b"null"):
        return None
    is_object = kind is BodyKind.JSON and payload.startswith(b"{")
    if not is_object and not payload.startswith(b'"'):
        raise ServiceError(
            400, "Invalid payload: accepted is an object, or a string of the type payload_type."
        )
    check_unicode("payload", payload)
    return PreviewData(kind, asked.payload, flow)  # the worker parses it


PREVIEW_PATH: Final = "/v2/preview"
# Previews of one account in one process of the front, queued or running, so that heavy documents of one
# account do not occupy all workers.
MAX_AT_ONCE: Final = 4
SLOT_WAIT_SECONDS: Final = 2.0


class PreviewRoutes(Routes):
    """The views."""

    tag = "Rendering"
    # A preview changes nothing and is not metered; without it a reader could not see what a template looks like.
    scopes = frozenset((Scope.READ, Scope.RENDER, Scope.TEMPLATES))

    def __init__(self, ports: Ports) -> None:
        super().__init__(ports)
        self._limit = ConcurrencyLimit(MAX_AT_ONCE, "previews", "drawn")
        # Apart from the limit above: a preview replaces one that is drawn, which its body names.
        self._receiving = ConcurrencyLimit(MAX_AT_ONCE, "previews", "received")

    @post(
        "/v2/preview",
        {
            200: json_response(
                "The page, or only the findings.",
                "Preview",
                {"Server-Timing": "Milliseconds of queue, merge, layout and finish."},
            )
        },
        body=RequestBody(json_content("PreviewRequest"), "Up to 32 MB by default."),
        errors={**RENDER_ERRORS, 409: (ErrorCode.PREVIEW_SUPERSEDED,)},
    )
    def preview(self) -> Response:
        """Preview a page.

        Lays out a document and returns one page, the findings, and the boxes of its elements with their
        source lines. Previews are not metered, and have their own rate limit and queue. A document with
        errors is 200, with its page if it can be drawn. Previews are neither encrypted nor have
        attachments. A newer preview of the same session replaces an older one, whose response is 409.
        """
        principal = current_principal()
        cell = self._ports.cell(principal.state.account_id)
        refuse_if_drained(Purpose.PREVIEW, cell)
        require_content_type(request, ("application/json",))
        with (
            self._receiving.acquire(principal.state.account_id, seconds=SLOT_WAIT_SECONDS),
            receive_body(request) as body,
        ):
            asked = decode_record(body.read(), PreviewBody)
        # Every template contains an angle bracket; no reference does.
        is_text = "<" in asked.template
        reference = None if is_text else parse_reference(asked.template, field="template")
        wanted = PreviewRequest(
            template=asked.template if is_text else None,
            data=_read_data(asked),
            page=asked.page or 1,
            scale=asked.scale or DEFAULT_SCALE,
            format=asked.format or PreviewFormat.PNG,
        )
        template = pin_template(reference, principal, self._ports) if reference else None
        if is_text and find_links(asked.template):
            with self._ports.database.snapshot() as session:
                links = resolve_links(session, principal.reader, asked.template)
            wanted = wanted.replace(links=links)
        return _write_response(self._run(wanted, asked.session, template, principal), cell)

    def _run(
        self,
        wanted: PreviewRequest,
        session: str | None,
        template: PinnedTemplate | None,
        principal: Principal,
    ) -> JobOutcome:
        ports, account_id = self._ports, principal.state.account_id
        ticket = admit_unmetered(principal, ports, budget_seconds=ports.settings.preview_budget)
        job_id = name_job(ports)
        if session is not None:
            # Before waiting: the preview that it replaces frees a slot.
            ticket.cell.previews.begin(account_id, session, job_id)
        data = wanted.encode().encode()
        with self._limit.acquire(account_id, seconds=SLOT_WAIT_SECONDS):
            return run_body(
                job_id,
                ticket,
                Purpose.PREVIEW,
                BodyKind.PREVIEW,
                Body(BytesIO(data), len(data)),
                ports,
                in_memory=principal.state.keeps_nothing,
                template=template,
            )


def _write_response(outcome: JobOutcome, cell: Cell) -> Response:
    response: dict[str, Any] = {"pages": outcome.pages, "findings": outcome.findings}
    if outcome.pdf is not None and outcome.properties is not None:
        facts = dict(outcome.properties)
        data = b"".join(cell.replies.fetch_pdf(outcome.pdf))
        response |= {
            **{
                name: facts.pop(name)
                for name in ("page", "width", "height", "boxes", "boxes_left_out")
            },
            "file": {**facts.pop("file"), "data": b64encode(data).decode("ascii")},
        }
    return write_json(response, headers={"Server-Timing": write_server_timing(outcome.timings)})
