"""Validation of electronic invoices from any source: XML, or a PDF with an embedded invoice."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from workers.engine.einvoices import (
    MAX_VIOLATIONS,
    RuleSet,
    RuleViolation,
    read_invoice,
)
from workers.engine.finish.embedded import UnreadablePdfError, read_embedded_invoice
from workers.engine.xml_reader import UnreadableXmlError


@dataclass(frozen=True, slots=True)
class InvoiceReport:
    """The result of a validation: the embedded file name, the profile and syntax, and the rule violations.

    Each violation has the XPath of its element; `checked_by` has the rules that were applied.

    `reason` is set if the file could not be read as an invoice; the other fields are then empty.
    """

    file_name: str = ""
    profile: str = ""
    syntax: str = ""
    number: str = ""
    violations: tuple[RuleViolation, ...] = ()
    checked_by: tuple[RuleSet, ...] = ()
    reason: str = ""

    @property
    def is_valid(self) -> bool:
        """Whether the invoice was read and violates no rule."""
        return not self.reason and not self.violations

    def to_report(self) -> dict[str, Any]:
        """Return the report as JSON."""
        report: dict[str, Any] = {
            "valid": self.is_valid,
            "errors": [asdict(one) for one in self.violations],
            "checked_by": [asdict(one) for one in self.checked_by],
        }
        named = {
            "file": self.file_name,
            "profile": self.profile,
            "syntax": self.syntax,
            "number": self.number,
            "reason": self.reason,
        }
        return report | {name: text for name, text in named.items() if text}


def check_external_invoice(content: bytes) -> InvoiceReport:
    """Validate an XML invoice, or the one embedded in a PDF, by the rules of its stated profile."""
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
    if found.profile is None:
        return InvoiceReport(
            name,
            reason="the invoice states no profile of Factur-X, ZUGFeRD, XRechnung or Peppol (BT-24)",
        )
    number = str(found.record.get("number", ""))[:100]
    return InvoiceReport(
        name,
        found.profile.name,
        found.syntax.name,
        number,
        tuple(
            replace(one, element=found.element_path(one))
            for one in found.violations[:MAX_VIOLATIONS]
        ),
        found.checked_by,
    )
