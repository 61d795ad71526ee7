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
from workers.engine.fonts import FaceProperties, FontRefusedError
from workers.engine.fonts import inspect_font as read_font_facts
from workers.engine.invoice_checks import check_external_invoice
from workers.engine.layout.context import ContentProblem
from workers.engine.layout.pictures import read_image_properties
from workers.engine.pdf_pages import UnusablePdfError, read_form
from workers.render.spreadsheets import UnusableSpreadsheetError, convert_spreadsheet

log: Final = get_logger(__name__)

# Takes the bytes of a file and returns its properties, JSON values by name; raises UploadRefusedError.
Inspector = Callable[[bytes], Mapping[str, Any]]
Inspectors = Mapping[BodyKind, Inspector]


class UploadRefusedError(Exception):
    """The file cannot be used; the message for the client has the reason and the advice."""


def inspect(job: RenderJob, data: bytes, inspectors: Inspectors) -> JobOutcome:
    """Return the properties of an uploaded file, or a 400 with the reason of the refusal.

    Raises:
        LookupError: no inspector exists for its kind.
    """
    try:
        properties = inspectors[job.body_kind](data)
    except UploadRefusedError as error:
        return failed_outcome(job, ErrorBody(400, str(error), ErrorKind.REQUEST))
    return JobOutcome(job.id, OutcomeStatus.SUCCEEDED, properties=properties)


def inspect_image(data: bytes) -> Mapping[str, Any]:
    """Return `content_type`, and `width` and `height` in pixels, of an image.

    Raises:
        UploadRefusedError: renders refuse the file, with the same message.
    """
    facts = read_image_properties(data)
    if isinstance(facts, ContentProblem):
        raise UploadRefusedError(f"{facts.text}. {facts.advice}")
    return {"content_type": facts.media_type, "width": facts.width, "height": facts.height}


def inspect_font(data: bytes) -> Mapping[str, Any]:
    """Return `format`, and `faces` in the form of the API, of a font file.

    Raises:
        UploadRefusedError: renders refuse the file, with the same message.
    """
    try:
        facts = read_font_facts(data)
    except FontRefusedError as error:
        raise UploadRefusedError(str(error)) from error
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


def inspect_form(data: bytes) -> Mapping[str, Any]:
    """Return the form fields of a PDF in the form of the API.

    Raises:
        UploadRefusedError: the file is not a PDF with fields that can be read.
    """
    try:
        return read_form(data).to_report()
    except UnusablePdfError as error:
        raise UploadRefusedError(f"{error}. {error.advice}") from error


def inspect_spreadsheet(data: bytes) -> Mapping[str, Any]:
    """Return the first sheet of an XLSX as `csv`.

    Raises:
        UploadRefusedError: the file is not a spreadsheet within the bounds.
    """
    try:
        return {"csv": convert_spreadsheet(data)}
    except UnusableSpreadsheetError as error:
        raise UploadRefusedError(str(error)) from error


def inspect_template(data: bytes) -> Mapping[str, Any]:
    """Check that the text of a template is well-formed.

    Raises:
        UploadRefusedError: it is not, with the position.
    """
    try:
        check_well_formed(data)
    except NotWellFormedError as error:
        raise UploadRefusedError(str(error)) from error
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
    BodyKind.FONT: inspect_font,
    BodyKind.INVOICE: inspect_invoice,
    BodyKind.FORM: inspect_form,
    BodyKind.SPREADSHEET: inspect_spreadsheet,
    BodyKind.TEMPLATE: inspect_template,
}
