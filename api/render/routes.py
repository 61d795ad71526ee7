"""The routes POST /v2/pdf and /v2/validate, in the order of contract.md 1."""

from __future__ import annotations

from collections.abc import Callable

from flask import Blueprint, Response, g, request

from api.admission.body import receive_body
from api.admission.gate import Ticket, admit, admit_validation
from api.auth.guard import current_principal
from api.ports import Ports
from api.render.dispatch import dispatch
from api.render.reference import pin_template
from api.render.request import (
    RENDER_PARAMETERS,
    VALIDATE_PARAMETERS,
    RenderRequest,
    read_render_request,
)
from api.render.response import write_findings, write_pdf
from shared.errors import ServiceError
from shared.jobs import JobOutcome, Purpose
from shared.limits import MAX_BODY_BYTES


class RenderRoutes:
    """The views, over the ports of this process."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    def blueprint(self) -> Blueprint:
        """Give the views at their paths."""
        routes = Blueprint("render", __name__)
        routes.post("/v2/pdf")(self.render_pdf)
        routes.post("/v2/validate")(self.validate)
        return routes

    def render_pdf(self) -> Response:
        """Render the body, alone or into a stored template."""
        principal = current_principal()
        asked = read_render_request(request, RENDER_PARAMETERS)
        outcome = self._run(
            asked, Purpose.RENDER, lambda: admit(principal, asked.allowance, self._ports)
        )
        return write_pdf(outcome, self._ports)

    def validate(self) -> Response:
        """Tell what is wrong with the body, alone or in a stored template, without rendering it."""
        principal = current_principal()
        asked = read_render_request(request, VALIDATE_PARAMETERS)
        outcome = self._run(
            asked, Purpose.VALIDATE, lambda: admit_validation(principal, self._ports)
        )
        return write_findings(outcome)

    def _run(
        self, asked: RenderRequest, purpose: Purpose, admit: Callable[[], Ticket]
    ) -> JobOutcome:
        """Receive the body, pin the template, then admit and run: steps 6 to 10."""
        with receive_body(request, limit=MAX_BODY_BYTES) as body:
            if body.size == 0:
                raise ServiceError(400, "The body is empty; send the document or its data.")
            template = (
                None
                if asked.template is None
                else pin_template(asked.template, current_principal(), self._ports)
            )
            return dispatch(
                admit(),
                asked,
                body=body,
                template=template,
                purpose=purpose,
                request_id=g.request_id,
                ports=self._ports,
            )
