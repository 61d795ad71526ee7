"""The route POST /v2/preview: receive, pin, admit, queue, respond (decision 0388)."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, TypeVar

from flask import Request, Response, request

from api.admission.body import receive_body
from api.admission.gate import admit_unmetered
from api.admission.json_body import decode_string, not_unicode, split_object
from api.auth.guard import Principal, current_principal
from api.http import require_content_type, write_json
from api.jobs.queued import make_job, name_job, raise_failure, refuse_if_drained, run_queued
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
    MAX_PAGE,
    MAX_SCALE,
    MIN_SCALE,
    PAYLOAD_TYPES,
    SESSION_PATTERN,
    PreviewData,
    PreviewFormat,
    PreviewRequest,
)
from shared.templates.linking import resolve_links
from shared.templates.links import find_links
from shared.templates.references import TemplateReference, parse_reference

FIELDS: Final = (
    "template",
    "payload",
    "payload_type",
    "flow",
    "page",
    "scale",
    "format",
    "session",
)
_DEFAULT_FLOW: Final = "body"
_MAX_QUOTED: Final = 100

EnumType = TypeVar("EnumType", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class ReceivedPreview:
    """A preview request; `reference` names a stored template, None if the template's text was sent."""

    reference: TemplateReference | None
    request: PreviewRequest
    session: str | None

    def with_links(self, links: Mapping[str, str]) -> ReceivedPreview:
        """Return the request with the links of its template resolved."""
        return replace(self, request=self.request.replace(links=links))


def receive_preview(request: Request) -> ReceivedPreview:
    """Receive the body of a preview.

    Raises:
        ServiceError: 415, the type is not JSON; 413 above 32 MB; 400 for a missing or invalid field.
    """
    require_content_type(request, ("application/json",))
    with receive_body(request) as body:
        fields = split_object(body.read(), fields=FIELDS)
    return _read({name: value for name, value in fields.items() if value != b"null"})


def _read(fields: Mapping[str, bytes]) -> ReceivedPreview:
    template = _read_string(fields, "template")
    if not template:
        accepted = "the text of a template, or a reference to a stored one"
        raise _invalid_field("template", fields.get("template"), accepted)
    # Every template contains an angle bracket; no reference does.
    is_text = "<" in template
    return ReceivedPreview(
        reference=None if is_text else parse_reference(template, field="template"),
        request=PreviewRequest(
            template=template if is_text else None,
            data=_read_data(fields),
            page=_read_page(fields),
            scale=_read_scale(fields),
            format=_read_enum(fields, "format", PreviewFormat, PreviewFormat.PNG),
        ),
        session=_read_session(fields),
    )


def _read_data(fields: Mapping[str, bytes]) -> PreviewData | None:
    payload, kind = fields.get("payload"), _read_kind(fields)
    flow = _read_flow(fields, kind)
    if payload is None:
        return None
    text = decode_string("payload", payload)
    if text is not None:
        return PreviewData(kind, text, flow)
    if kind is not BodyKind.JSON or not payload.startswith(b"{"):
        raise _invalid_field("payload", payload, "an object, or a string of the type payload_type")
    try:
        return PreviewData(kind, payload.decode())  # as sent: the worker parses it
    except UnicodeDecodeError as error:
        raise not_unicode("payload") from error


def _read_kind(fields: Mapping[str, bytes]) -> BodyKind:
    named = _read_string(fields, "payload_type")
    if named is None:
        return BodyKind.JSON
    kind = PAYLOAD_TYPES.get(named)
    if kind is None:
        raise _invalid_field("payload_type", fields["payload_type"], ", ".join(PAYLOAD_TYPES))
    return kind


def _read_flow(fields: Mapping[str, bytes], kind: BodyKind) -> str | None:
    flow = _read_string(fields, "flow")
    if kind is BodyKind.MARKDOWN:
        if flow == "":
            raise _invalid_field("flow", fields["flow"], "the name of a flow of the template")
        return flow or _DEFAULT_FLOW
    if flow is not None:
        raise ServiceError(400, "flow is accepted with payload_type text/markdown only.")
    return None


def _read_page(fields: Mapping[str, bytes]) -> int:
    page = fields.get("page")
    if page is None:
        return 1
    if not re.fullmatch(rb"[1-9][0-9]{0,6}", page) or int(page) > MAX_PAGE:
        raise _invalid_field("page", page, f"a whole number from 1 to {MAX_PAGE:,}")
    return int(page)


def _read_scale(fields: Mapping[str, bytes]) -> float:
    scale = fields.get("scale")
    if scale is None:
        return DEFAULT_SCALE
    is_plain = re.fullmatch(rb"[0-9]{1,4}(\.[0-9]{1,20})?", scale)
    if not is_plain or not MIN_SCALE <= float(scale) <= MAX_SCALE:
        raise _invalid_field(
            "scale",
            scale,
            f"a number from {MIN_SCALE:g} to {MAX_SCALE:g}, in pixels per point, without an exponent",
        )
    return float(scale)


def _read_session(fields: Mapping[str, bytes]) -> str | None:
    session = _read_string(fields, "session")
    if session is not None and not re.fullmatch(SESSION_PATTERN, session):
        raise _invalid_field(
            "session", fields["session"], "1 to 64 letters, digits, hyphens and underscores"
        )
    return session


def _read_enum(
    fields: Mapping[str, bytes], name: str, words: Callable[[str], EnumType], default: EnumType
) -> EnumType:
    text = _read_string(fields, name)
    if text is None:
        return default
    try:
        return words(text)
    except ValueError:
        accepted = ", ".join(word.value for word in type(default))
        raise _invalid_field(name, fields[name], accepted) from None


def _read_string(fields: Mapping[str, bytes], name: str) -> str | None:
    """Read a string field, None if it is missing or null."""
    value = fields.get(name)
    if value is None:
        return None
    text = decode_string(name, value)
    if text is None:
        raise _invalid_field(name, value, "a string")
    return text


def _invalid_field(name: str, value: bytes | None, accepted: str) -> ServiceError:
    if value is None:
        return ServiceError(400, f"{name} is required: {accepted}.")
    quoted = value[:_MAX_QUOTED].decode("utf-8", "replace")
    if len(value) > _MAX_QUOTED:
        quoted += "…"
    return ServiceError(400, f"Invalid {name} {quoted}: accepted is {accepted}.")


PREVIEW_PATH: Final = "/v2/preview"
# Previews of one account in one process of the front, queued or running, so that heavy documents of one
# account do not occupy all workers.
MAX_AT_ONCE: Final = 4
SLOT_WAIT_SECONDS: Final = 2.0
_TOO_MANY: Final = (
    "Too many previews at once: {at_once} previews of the account are already being drawn."
)
_TOO_MANY_SENT: Final = (
    "Too many previews at once: {at_once} previews of the account are already being received."
)


class PreviewRoutes(Routes):
    """The views."""

    tag = "Rendering"
    # A preview changes nothing and is not metered; without it a reader could not see what a template looks like.
    scopes = frozenset((Scope.READ, Scope.RENDER, Scope.TEMPLATES))

    def __init__(self, ports: Ports) -> None:
        super().__init__(ports)
        self._limit = ConcurrencyLimit(MAX_AT_ONCE, _TOO_MANY)
        # Apart from the limit above: a preview replaces one that is drawn, which its body names.
        self._receiving = ConcurrencyLimit(MAX_AT_ONCE, _TOO_MANY_SENT)

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
        with self._receiving.acquire(principal.state.account_id, seconds=SLOT_WAIT_SECONDS):
            received = receive_preview(request)
        template = None
        if received.reference is not None:
            template = pin_template(received.reference, principal, self._ports)
        elif links := self._resolve_links(received.request.template or "", principal):
            received = received.with_links(links)
        outcome = self._run(received, template, principal)
        raise_failure(outcome)
        return _write_response(outcome, cell)

    def _resolve_links(self, text: str, principal: Principal) -> Mapping[str, str]:
        if not find_links(text):
            return {}
        with self._ports.database.snapshot() as session:
            return resolve_links(session, principal.reader, text)

    def _run(
        self, received: ReceivedPreview, template: PinnedTemplate | None, principal: Principal
    ) -> JobOutcome:
        ports, account_id = self._ports, principal.state.account_id
        ticket = admit_unmetered(principal, ports, budget_seconds=ports.preview_budget)
        job_id = name_job(ports)
        if received.session is not None:
            # Before waiting: the preview that it replaces frees a slot.
            ticket.cell.previews.begin(account_id, received.session, job_id)
        with self._limit.acquire(account_id, seconds=SLOT_WAIT_SECONDS):
            claim = ticket.cell.claims.store(job_id, received.request.encode().encode())
            job = make_job(job_id, ticket, Purpose.PREVIEW, BodyKind.PREVIEW, claim, ports)
            job = job.replace(template=template, is_fetched_for=True)
            return run_queued(job, ticket, ports)


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
