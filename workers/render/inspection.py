"""Inspection of uploaded files by the code of renders, so that accepted files can be drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from shared.errors import ErrorBody, ErrorKind, ServiceError
from shared.jobs.records import BodyKind, JobOutcome, OutcomeStatus, RenderJob
from shared.queue.commits import failed_outcome
from shared.telemetry.log import get_logger
from shared.templates.links import NotWellFormedError, check_well_formed
from workers.engine.diagnostics import Diagnostic, Severity
from workers.engine.einvoices import InvoiceJudge
from workers.engine.fonts import FaceProperties, FontRefusedError, inspect_font
from workers.engine.invoice_checks import check_external_invoice
from workers.engine.layout.context import ContentProblem
from workers.engine.layout.pictures import read_image_properties
from workers.engine.pdf_pages import UnusablePdfError, read_form
from workers.render.spreadsheets import UnusableSpreadsheetError, convert_spreadsheet

log: Final = get_logger(__name__)

# Takes the bytes of a file and returns its properties, JSON values by name, or raises what `inspect` catches.
Inspector = Callable[[bytes], Mapping[str, Any]]
Inspectors = Mapping[BodyKind, Inspector]


class UploadRefusedError(Exception):
    """The file cannot be used; the message for the client has the reason and the advice."""


_REFUSALS: Final = (
    UploadRefusedError,
    FontRefusedError,
    NotWellFormedError,
    UnusableSpreadsheetError,
)


def inspect(job: RenderJob, data: bytes, inspectors: Inspectors) -> JobOutcome:
    """Return the properties of an uploaded file, or a 400 with the reason of the refusal, which renders give too.

    Raises:
        LookupError: no inspector exists for its kind.
    """
    try:
        properties = inspectors[job.body_kind](data)
    except UnusablePdfError as error:
        refusal = f"{error}. {error.advice}"
    except _REFUSALS as error:
        refusal = str(error)
    else:
        return JobOutcome(job.id, OutcomeStatus.SUCCEEDED, properties=properties)
    return failed_outcome(job, ErrorBody(400, refusal, ErrorKind.REQUEST))


def inspect_image(data: bytes) -> Mapping[str, Any]:
    """Return `content_type`, and `width` and `height` in pixels, of an image.

    Raises:
        UploadRefusedError: renders refuse the file, with the same message.
    """
    facts = read_image_properties(data)
    if isinstance(facts, ContentProblem):
        raise UploadRefusedError(f"{facts.text}. {facts.advice}")
    return {"content_type": facts.media_type, "width": facts.width, "height": facts.height}


def _inspect_font(data: bytes) -> Mapping[str, Any]:
    facts = inspect_font(data)
    return {"format": facts.format, "faces": [_write_face(face) for face in facts.faces]}


def inspect_invoice(data: bytes, judge: InvoiceJudge | None = None) -> Mapping[str, Any]:
    """Return the report of an electronic invoice, as XML or in a PDF, in the form of the API.

    Raises:
        UploadRefusedError: the file is not an invoice that can be checked.
    """
    report = check_external_invoice(data, judge)
    if report.reason:
        raise UploadRefusedError(f"The invoice cannot be checked: {report.reason}.")
    return report.to_report()


def present_invoice(data: bytes, judge: InvoiceJudge | None) -> tuple[bytes, list[Diagnostic]]:
    """Return the data of a page that shows a received invoice, as JSON, and its findings as warnings.

    Raises:
        ServiceError: the file is not an invoice that can be read.
    """
    report = check_external_invoice(data, judge)
    if report.reason:
        raise ServiceError(400, f"The invoice cannot be shown: {report.reason}.")
    findings = [
        Diagnostic(Severity.WARNING, "einvoice-rule", f"{one.rule}: {one.message}")
        for one in report.verdict.findings
    ]
    if report.verdict.note:
        findings.append(Diagnostic(Severity.WARNING, "einvoice-rules", report.verdict.note))
    return report.to_json(), findings


def _inspect_template(data: bytes) -> Mapping[str, Any]:
    check_well_formed(data)
    return {}


def _write_face(face: FaceProperties) -> dict[str, Any]:
    return {
        "index": face.index,
        "family": face.family,
        "style": face.style,
        "weight": {"min": face.weight.minimum, "max": face.weight.maximum},
        "stretch": {"min": face.stretch.minimum, "max": face.stretch.maximum},
        "italic": face.is_italic,
        "glyphs": face.glyphs,
        "characters": face.characters,
        "color_glyphs": face.color_glyphs,
        "axes": [
            {"tag": axis.tag, "min": axis.minimum, "default": axis.default, "max": axis.maximum}
            for axis in face.axes
        ],
    }


# One inspector for each kind of file that can be uploaded.
INSPECTORS: Final[Inspectors] = {
    BodyKind.IMAGE: inspect_image,
    BodyKind.FONT: _inspect_font,
    BodyKind.INVOICE: inspect_invoice,
    BodyKind.FORM: lambda data: read_form(data).to_report(),
    BodyKind.SPREADSHEET: lambda data: {"csv": convert_spreadsheet(data)},
    BodyKind.TEMPLATE: _inspect_template,
}
