"""Validation of electronic invoices from any source: XML, or a PDF with an embedded invoice.

An embedded invoice is read with limits on its size.
"""

from __future__ import annotations

import io
import zlib
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import msgspec
import pikepdf

from workers.engine.einvoices import (
    INVOICE_NAMES,
    InvoiceJudge,
    ParsedInvoice,
    Verdict,
    present_record,
    read_invoice,
)
from workers.engine.xml_reader import UnreadableXmlError

MAX_INVOICE: Final = 20 * 1024 * 1024
MAX_FILES: Final = 1_000  # embedded files whose names are read


class UnreadablePdfError(Exception):
    """The invoice of a PDF cannot be read; the message has the reason."""


def read_embedded_invoice(content: bytes) -> tuple[str, bytes]:
    """Return the file name and XML of the invoice in a PDF.

    Raises:
        UnreadablePdfError: the PDF is damaged or encrypted, contains no invoice or several, or one
            that exceeds the limits.
    """
    try:
        with pikepdf.open(io.BytesIO(content)) as pdf:
            return _find_invoice(pdf)
    except pikepdf.PasswordError:
        raise UnreadablePdfError("the PDF is encrypted") from None
    except (pikepdf.PdfError, ValueError, TypeError, KeyError, AttributeError):
        raise UnreadablePdfError("the PDF is damaged and cannot be read") from None


def _find_invoice(pdf: pikepdf.Pdf) -> tuple[str, bytes]:
    names = [name for name, _ in zip(pdf.attachments, range(MAX_FILES), strict=False)]
    found = [name for name in names if name.lower() in INVOICE_NAMES]
    if not found:
        raise UnreadablePdfError(f"the PDF contains no file named {', '.join(INVOICE_NAMES)}")
    if len(found) > 1:
        raise UnreadablePdfError(f"the PDF contains {len(found)} invoices, accepted is one")
    return found[0], _read_bounded(pdf.attachments[found[0]].get_file().obj)


def _read_bounded(stream: Any) -> bytes:
    """Return the decoded bytes of a stream; reject more than `MAX_INVOICE` bytes."""
    filters = stream.get("/Filter")
    if isinstance(filters, pikepdf.Array):
        filters = filters[0] if len(filters) == 1 else (filters or None)
    raw: bytes = stream.read_raw_bytes()
    if filters is None:
        unpacked = raw
    elif filters == pikepdf.Name.FlateDecode:
        try:
            unpacked = zlib.decompressobj().decompress(raw, MAX_INVOICE + 1)
        except zlib.error:
            raise UnreadablePdfError("the embedded invoice cannot be decompressed") from None
    else:
        raise UnreadablePdfError("the embedded invoice has a filter other than FlateDecode")
    if len(unpacked) > MAX_INVOICE:
        raise UnreadablePdfError(f"the invoice has more than {MAX_INVOICE:,} bytes")
    return unpacked


@dataclass(frozen=True, slots=True)
class InvoiceReport:
    """The result of a validation: the embedded file name, the invoice, and what its rules say of it.

    `reason` is set if the file could not be read as an invoice; the other fields are then empty.
    """

    file_name: str = ""
    invoice: ParsedInvoice | None = None
    verdict: Verdict = field(default_factory=Verdict)
    reason: str = ""

    @property
    def is_valid(self) -> bool | None:
        """Whether the invoice keeps its rules, None if that is not known."""
        return False if self.reason else self.verdict.is_valid

    def to_report(self) -> dict[str, object]:
        """Return the report of an invoice that was read, as JSON."""
        assert self.invoice is not None
        found = self.verdict.findings
        report: dict[str, object] = {
            "valid": self.verdict.is_valid,
            "errors": [asdict(one) for one in found if one.severity == "error"],
            "warnings": [asdict(one) for one in found if one.severity == "warning"],
            "checked_by": [asdict(one) for one in self.verdict.checked_by],
            "syntax": self.invoice.syntax.name,
            "specification": self.invoice.facts.specification,
        }
        named = {
            "file": self.file_name,
            "profile": "" if self.invoice.profile is None else self.invoice.profile.name,
            "number": str(self.invoice.record.get("number", ""))[:100],
            "note": self.verdict.note,
        }
        return report | {name: text for name, text in named.items() if text}

    def to_json(self) -> bytes:
        """Return the data of the template `service-received-invoice`, with exact numbers."""
        assert self.invoice is not None
        verdict = {True: "valid", False: "not valid", None: "not known to be valid"}
        data = {
            **present_record(self.invoice.record),
            "verdict": verdict[self.verdict.is_valid],
            "note": self.verdict.note,
            "checked_by": [
                " ".join(text for text in (one.pack, one.version, one.date) if text)
                for one in self.verdict.checked_by
            ],
            "syntax": self.invoice.syntax.name.upper(),
            "file": self.file_name,
            "findings": [
                {
                    "severity": one.severity,
                    "rule": one.rule,
                    "place": one.element or one.path,
                    "message": one.message,
                }
                for one in self.verdict.findings
            ],
            "unread": [
                {"place": one.path, "message": one.message} for one in self.invoice.deviations
            ],
        }
        return msgspec.json.Encoder(decimal_format="number").encode(data)


def check_external_invoice(content: bytes, judge: InvoiceJudge | None = None) -> InvoiceReport:
    """Validate an XML invoice, or the one embedded in a PDF, by the official rules that it states."""
    name = ""
    try:
        if content[:1024].lstrip().startswith(b"%PDF-"):
            name, content = read_embedded_invoice(content)
        found = read_invoice(content)
    except (UnreadableXmlError, UnreadablePdfError) as error:
        return InvoiceReport(name, reason=str(error))
    if found is None:
        return InvoiceReport(
            name,
            reason="the XML is not a Cross Industry Invoice (CII D16B, D22B) or UBL 2.1 Invoice or CreditNote",
        )
    return InvoiceReport(name, found, found.check(judge))
