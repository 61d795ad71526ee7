"""The route POST /v2/einvoices/check: a received invoice is checked in a worker (decision 0372)."""

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
from shared.limits import MAX_INVOICE_BYTES

INVOICE_TYPES: Final = ("application/pdf", "application/xml", "text/xml")


class InvoiceRoutes:
    """The view, over the ports of this process."""

    def __init__(self, ports: Ports) -> None:
        self._inspections = Inspections(ports)

    def blueprint(self) -> Blueprint:
        """Return the view at its path."""
        routes = Blueprint("einvoices", __name__)
        routes.post("/v2/einvoices/check")(self.check)
        return routes

    def check(self) -> Response:
        """Check an invoice, as XML or in a PDF, and report the rules that it breaks."""
        principal = current_principal()
        read_query(request, ())
        check_media_type(INVOICE_TYPES)
        with receive_body(request, limit=MAX_INVOICE_BYTES) as body:
            if body.size == 0:
                raise ServiceError(400, "The invoice is empty; send the bytes of a PDF or XML.")
            return write_json(self._inspections.inspect(BodyKind.INVOICE, body, principal))
