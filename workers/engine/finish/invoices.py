"""XMP metadata of attached Factur-X and ZUGFeRD invoices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

from workers.engine.ports import Attachment

_NAMESPACE: Final = "urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#"

# Factur-X 1.0, 6.2: title, namespace, prefix and properties of the extension schema.
INVOICE_SCHEMA: Final = (
    "Factur-X PDFA Extension Schema",
    _NAMESPACE,
    "fx",
    (
        ("DocumentFileName", "Text", "Name of the embedded XML invoice file"),
        ("DocumentType", "Text", "INVOICE"),
        ("Version", "Text", "Version of the Factur-X XML schema"),
        ("ConformanceLevel", "Text", "Conformance level of the embedded Factur-X data"),
    ),
)


@dataclass(frozen=True, slots=True)
class AttachedInvoice:
    """An attached invoice: its file name and conformance level."""

    file_name: str
    level: str

    def describe(self) -> str:
        """Return its properties as an RDF description."""
        return (
            f'<rdf:Description rdf:about="" xmlns:fx="{_NAMESPACE}">\n'
            "<fx:DocumentType>INVOICE</fx:DocumentType>\n"
            f"<fx:DocumentFileName>{escape(self.file_name)}</fx:DocumentFileName>\n"
            "<fx:Version>1.0</fx:Version>\n"
            f"<fx:ConformanceLevel>{self.level}</fx:ConformanceLevel>\n"
            "</rdf:Description>\n"
        )


def find_invoice(attachments: Iterable[Attachment]) -> AttachedInvoice | None:
    """Return the invoice among the attached files, None without one."""
    levels = (
        AttachedInvoice(one.name, one.invoice_level) for one in attachments if one.invoice_level
    )
    return next(levels, None)
