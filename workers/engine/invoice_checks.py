"""Validation of electronic invoices from any source: XML, or a PDF with an embedded invoice."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from workers.engine.einvoices import InvoiceJudge, ParsedInvoice, Verdict, read_invoice
from workers.engine.finish.embedded import UnreadablePdfError, read_embedded_invoice
from workers.engine.xml_reader import UnreadableXmlError


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

    def to_report(self) -> dict[str, Any]:
        """Return the report of an invoice that was read, as JSON."""
        assert self.invoice is not None
        found = self.verdict.findings
        report: dict[str, Any] = {
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
