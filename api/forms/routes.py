"""The route POST /v2/forms/extract: a filled-in form is read in a worker (decision 0367)."""

from __future__ import annotations

from typing import Final

from flask import Blueprint, Response, request

from api.admission.body import receive_body
from api.auth.guard import current_principal
from api.http import read_query, write_json
from api.jobs.inspection import Inspections
from api.ports import Ports
from api.uploads import check_media_type
from shared.errors import ServiceError
from shared.jobs import BodyKind
from shared.limits import MAX_FORM_BYTES

FORM_TYPES: Final = ("application/pdf",)


class FormRoutes:
    """The view, over the ports of this process."""

    def __init__(self, ports: Ports) -> None:
        self._inspections = Inspections(ports)

    def blueprint(self) -> Blueprint:
        """Return the view at its path."""
        routes = Blueprint("forms", __name__)
        routes.post("/v2/forms/extract")(self.extract)
        return routes

    def extract(self) -> Response:
        """Return the fields of a PDF with their names, types, values and options."""
        principal = current_principal()
        read_query(request, ())
        check_media_type(FORM_TYPES)
        with receive_body(request, limit=MAX_FORM_BYTES) as body:
            if body.size == 0:
                raise ServiceError(400, "The form is empty; send the bytes of a PDF.")
            return write_json(self._inspections.inspect(BodyKind.FORM, body, principal))
