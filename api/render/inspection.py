"""Received files are read in a worker and not kept: /v2/einvoices/check, /v2/forms/extract and /v2/spreadsheets/convert (decision 0396)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import Response, request

from api.admission.body import receive_body
from api.auth.guard import current_principal
from api.http import require_content_type, write_json
from api.jobs.inspection import Inspections
from api.operations.model import (
    OperationResponse,
    RequestBody,
    Routes,
    binary_content,
    json_response,
    post,
)
from api.ports import Ports
from shared.auth.scopes import Scope
from shared.errors import ErrorCode, ServiceError
from shared.jobs.records import BodyKind
from shared.limits import MAX_FORM_BYTES, MAX_INVOICE_BYTES, MAX_SPREADSHEET_BYTES


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
SPREADSHEET_TYPE: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
SPREADSHEET: Final = ReceivedKind(
    BodyKind.SPREADSHEET, "spreadsheet", "an XLSX", (SPREADSHEET_TYPE,), MAX_SPREADSHEET_BYTES
)
FORM: Final = ReceivedKind(BodyKind.FORM, "form", "a PDF", ("application/pdf",), MAX_FORM_BYTES)


class InspectionRoutes(Routes):
    """The views."""

    tag = "Rendering"
    scopes = frozenset((Scope.RENDER, Scope.TEMPLATES))

    def __init__(self, ports: Ports) -> None:
        super().__init__(ports)
        self._inspections = Inspections(ports)

    @post(
        "/v2/einvoices/check",
        {200: json_response("The report.", "InvoiceReport")},
        body=RequestBody(binary_content(*INVOICE.media_types), "The PDF or XML, up to 20 MB."),
        errors={504: (ErrorCode.RENDER_TIMEOUT,)},
    )
    def check_invoice(self) -> Response:
        """Check a received electronic invoice.

        Accepts an invoice in CII (Factur-X, ZUGFeRD, XRechnung) or UBL (Peppol, XRechnung), as XML or
        embedded in a PDF, and reports what official rule files say of it: first the XML schema, then the rules
        of its specification, and those of France if seller and buyer are there. `checked_by` names the rule
        packs that were applied. If none of the service has all rules of the specification, or some did not end
        within 10 s of CPU time, `valid` is null and `note` has the reason. Nothing is stored or metered. A file that is not
        such an invoice is a 400.
        """
        return self._inspect(INVOICE)

    @post(
        "/v2/forms/extract",
        {200: json_response("The fields.", "FormReport")},
        body=RequestBody(binary_content(*FORM.media_types), "The PDF, up to 20 MB."),
        errors={504: (ErrorCode.RENDER_TIMEOUT,)},
    )
    def extract_form(self) -> Response:
        """Extract the fields of a filled-in form.

        Accepts a PDF with form fields and returns their names, types, values and options. Passwords to open
        the file, XFA forms, scripts and signatures are not processed. Nothing is stored or metered. A PDF
        without form fields is a 400.
        """
        return self._inspect(FORM)

    @post(
        "/v2/spreadsheets/convert",
        {200: OperationResponse("The CSV.", {"text/csv": {"type": "string"}})},
        body=RequestBody(binary_content(*SPREADSHEET.media_types), "The XLSX, up to 20 MB."),
        errors={504: (ErrorCode.RENDER_TIMEOUT,)},
    )
    def convert_spreadsheet(self) -> Response:
        """Convert a spreadsheet to CSV.

        Returns the first sheet of an XLSX as a batch reads it: dates and times in ISO 8601, numbers with a
        point, formulas with the value that was saved with them. Blank rows are left out. Up to 100,000 rows,
        500 columns and 8 MB of CSV. Nothing is stored or metered.
        """
        found = self._read(SPREADSHEET)
        return Response(found["csv"], content_type="text/csv; charset=utf-8")

    def _inspect(self, kind: ReceivedKind) -> Response:
        return write_json(self._read(kind))

    def _read(self, kind: ReceivedKind) -> Mapping[str, Any]:
        principal = current_principal()
        require_content_type(request, kind.media_types)
        with receive_body(request, limit=kind.max_bytes) as body:
            if body.size == 0:
                raise ServiceError(
                    400, f"The {kind.name} is empty; send the bytes of {kind.content}."
                )
            return self._inspections.inspect(kind.body_kind, body, principal)
