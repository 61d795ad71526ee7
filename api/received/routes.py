"""Received files are read in a worker and not kept: /v2/einvoices/check and /v2/forms/extract (decision 0396)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from flask import Blueprint, Response, request

from api.admission.body import receive_body
from api.auth.guard import current_principal
from api.http import read_query, require_content_type, write_json
from api.jobs.inspection import Inspections
from api.ports import Ports
from shared.errors import ServiceError
from shared.jobs.records import BodyKind
from shared.limits import MAX_FORM_BYTES, MAX_INVOICE_BYTES


@dataclass(frozen=True, slots=True)
class ReceivedKind:
    """A kind of received file: the media types and the size that are accepted."""

    body_kind: BodyKind
    name: str
    content: str
    media_types: tuple[str, ...]
    max_bytes: int


INVOICE: Final = ReceivedKind(
    BodyKind.INVOICE,
    "invoice",
    "a PDF or XML",
    ("application/pdf", "application/xml", "text/xml"),
    MAX_INVOICE_BYTES,
)
FORM: Final = ReceivedKind(BodyKind.FORM, "form", "a PDF", ("application/pdf",), MAX_FORM_BYTES)


class ReceivedRoutes:
    """The views, over the ports of this process."""

    def __init__(self, ports: Ports) -> None:
        self._inspections = Inspections(ports)

    def blueprint(self) -> Blueprint:
        """Return the views at their paths."""
        routes = Blueprint("received", __name__)
        routes.post("/v2/einvoices/check")(self.check_invoice)
        routes.post("/v2/forms/extract")(self.extract_fields)
        return routes

    def check_invoice(self) -> Response:
        """Check an invoice, as XML or in a PDF, and report the rules that it breaks."""
        return self._inspect(INVOICE)

    def extract_fields(self) -> Response:
        """Return the fields of a PDF with their names, types, values and options."""
        return self._inspect(FORM)

    def _inspect(self, kind: ReceivedKind) -> Response:
        principal = current_principal()
        read_query(request, ())
        require_content_type(request, kind.media_types)
        with receive_body(request, limit=kind.max_bytes) as body:
            if body.size == 0:
                raise ServiceError(
                    400, f"The {kind.name} is empty; send the bytes of {kind.content}."
                )
            return write_json(self._inspections.inspect(kind.body_kind, body, principal))
