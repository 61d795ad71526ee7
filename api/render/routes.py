"""The routes POST /v2/pdf and /v2/validate, in the order of checks (deploy/docs/api.md)."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Final

from flask import Blueprint, Response, g, request

from api.admission.body import Body, receive_body
from api.admission.gate import Ticket, admit, admit_validation
from api.auth.guard import Principal, current_principal
from api.jobs.idempotency import make_fingerprint, read_key
from api.jobs.preference import AsyncPreference, read_async_preference
from api.ports import Ports
from api.render.dispatch import dispatch
from api.render.recorded import Admitted, render_on_record
from api.render.reference import pin_template
from api.render.request import (
    RENDER_PARAMETERS,
    VALIDATE_PARAMETERS,
    RenderRequest,
    read_render_request,
)
from api.render.response import write_findings, write_rendered
from shared.errors import ServiceError
from shared.jobs.idempotency import Call, IdempotencyKey
from shared.jobs.intake import KeyedCall
from shared.jobs.records import JobOutcome, PinnedTemplate, Purpose, RenderOutput
from shared.limits import KB

_CHUNK_BYTES: Final = 256 * KB


class RenderRoutes:
    """The views, over the ports of this process."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    def blueprint(self) -> Blueprint:
        """Return the views at their paths."""
        routes = Blueprint("render", __name__)
        routes.post("/v2/pdf")(self.render_pdf)
        routes.post("/v2/validate")(self.validate)
        return routes

    def render_pdf(self) -> Response:
        """Render the body, optionally with a stored template."""
        principal = current_principal()
        asked = read_render_request(request, RENDER_PARAMETERS)
        key = read_key(request, principal.state.account_id, Call.PDF)
        prefer = read_async_preference(request)
        if key is not None or prefer is not None:
            _check_recordable(asked)
            return self._render_on_record(principal, asked, prefer, key)
        ticket, outcome = self._run(
            asked,
            Purpose.RENDER,
            lambda template: admit(principal, asked.allowance, template, self._ports),
        )
        cell = self._ports.cell(principal.state.account_id)
        return write_rendered(outcome, ticket.meter, cell, asked)

    def validate(self) -> Response:
        """Validate the body, optionally with a stored template, without rendering it."""
        principal = current_principal()
        asked = read_render_request(request, VALIDATE_PARAMETERS)
        _, outcome = self._run(
            asked, Purpose.VALIDATE, lambda _: admit_validation(principal, self._ports)
        )
        return write_findings(outcome)

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
            return render_on_record(
                asked.filename,
                lambda: self._pin(asked),
                lambda: self._admit_recorded(principal, asked, body),
                prefer,
                call,
                self._ports,
            )

    def _admit_recorded(self, principal: Principal, asked: RenderRequest, body: Body) -> Admitted:
        template = self._pin(asked)
        return Admitted(
            template=template,
            ticket=admit(principal, asked.allowance, template, self._ports),
            asked=asked,
            body=body,
            request_id=g.request_id,
        )

    def _run(
        self,
        asked: RenderRequest,
        purpose: Purpose,
        admit: Callable[[PinnedTemplate | None], Ticket],
    ) -> tuple[Ticket, JobOutcome]:
        """Receive the body, pin the template, then admit and run: steps 6 to 10."""
        with receive_body(request) as body:
            _check_not_empty(body)
            template = self._pin(asked)
            ticket = admit(template)
            outcome = dispatch(
                ticket,
                asked,
                body=body,
                template=template,
                purpose=purpose,
                request_id=g.request_id,
                ports=self._ports,
            )
            return ticket, outcome

    def _pin(self, asked: RenderRequest) -> PinnedTemplate | None:
        if asked.template is None:
            return None
        return pin_template(asked.template, current_principal(), self._ports)


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
