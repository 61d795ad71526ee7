"""The route POST /v2/pdf, in the order of contract.md 1."""

from __future__ import annotations

from flask import Blueprint, Response, g, request

from api.admission.body import receive_body
from api.admission.gate import admit
from api.auth.guard import current_principal
from api.ports import Ports
from api.render.dispatch import dispatch
from api.render.reference import pin_template
from api.render.request import read_render_request
from api.render.response import write_outcome
from shared.errors import ServiceError
from shared.limits import MAX_BODY_BYTES


class RenderRoutes:
    """The views, over the ports of this process."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    def blueprint(self) -> Blueprint:
        """Give the views at their paths."""
        routes = Blueprint("render", __name__)
        routes.post("/v2/pdf")(self.render_pdf)
        return routes

    def render_pdf(self) -> Response:
        """Render the body, alone or into a stored template."""
        principal = current_principal()
        asked = read_render_request(request)
        with receive_body(request, limit=MAX_BODY_BYTES) as body:
            if body.size == 0:
                raise ServiceError(400, "The body is empty; send the document or its data.")
            template = (
                None
                if asked.template is None
                else pin_template(asked.template, principal, self._ports)
            )
            ticket = admit(principal, asked.allowance, self._ports)
            outcome = dispatch(
                ticket,
                asked,
                body=body,
                template=template,
                request_id=g.request_id,
                ports=self._ports,
            )
        return write_outcome(outcome, self._ports)
