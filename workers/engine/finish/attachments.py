"""Embedded files (PDF 1.7, 7.11): streams, specifications, name tree, and XMP of Factur-X and ZUGFeRD invoices."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final
from xml.sax.saxutils import escape

import pikepdf

from workers.engine.ports import Attachment

_RELATIONSHIPS: Final = {  # ISO 32000-2, table 43
    "unspecified": "/Unspecified",
    "source": "/Source",
    "data": "/Data",
    "alternative": "/Alternative",
    "supplement": "/Supplement",
}


def embed_files(pdf: pikepdf.Pdf, attachments: Sequence[Attachment]) -> None:
    """Embed files in the document: in the name tree, and as associated files.

    The names must be unique.
    """
    if not attachments:
        return
    entries: list[Any] = []
    specified: list[Any] = []
    for attachment in sorted(attachments, key=lambda one: _key_of(one.name)):
        specification = pdf.make_indirect(_file_specification(pdf, attachment))
        entries += [pikepdf.String(_key_of(attachment.name)), specification]
        specified.append(specification)
    if "/Names" not in pdf.Root:
        pdf.Root.Names = pdf.make_indirect(pikepdf.Dictionary())
    tree = pikepdf.Dictionary(Names=pikepdf.Array(entries))
    pdf.Root.Names.EmbeddedFiles = pdf.make_indirect(tree)
    pdf.Root.AF = pikepdf.Array(specified)


def _key_of(name: str) -> bytes:
    """Return the key in the name tree, which is sorted by bytes (PDF 1.7, 7.9.6)."""
    return bytes(pikepdf.String(name))


def _file_specification(pdf: pikepdf.Pdf, attachment: Attachment) -> pikepdf.Dictionary:
    """Return the file specification (PDF 1.7, 7.11.3), with both names that ISO 19005-3, 6.8 requires."""
    stream = pdf.make_stream(attachment.content)
    stream.Type = pikepdf.Name.EmbeddedFile
    stream.Subtype = pikepdf.Name("/" + attachment.media_type)
    stream.Params = pikepdf.Dictionary(  # ISO 32000-2, 14.13.2: associated files have a date
        Size=len(attachment.content),
        ModDate=pikepdf.String(write_date(attachment.modified)),
        CheckSum=pikepdf.String(hashlib.md5(attachment.content, usedforsecurity=False).digest()),
    )
    specification = pikepdf.Dictionary(
        Type=pikepdf.Name.Filespec,
        F=pikepdf.String(attachment.name),
        UF=pikepdf.String(attachment.name),
        EF=pikepdf.Dictionary(F=stream, UF=stream),
        AFRelationship=pikepdf.Name(_RELATIONSHIPS[attachment.relationship]),
    )
    if attachment.description:
        specification.Desc = pikepdf.String(attachment.description)
    return specification


def write_date(moment: date | datetime) -> str:
    """Return a date in PDF's format (PDF 1.7, 7.9.4)."""
    if not isinstance(moment, datetime):
        return f"D:{moment:%Y%m%d}"
    offset = moment.utcoffset() or timedelta()
    minutes = int(offset.total_seconds()) // 60
    if not minutes:
        return f"D:{moment:%Y%m%d%H%M%S}Z"
    sign = "-" if minutes < 0 else "+"
    hours, minutes = divmod(abs(minutes), 60)
    return f"D:{moment:%Y%m%d%H%M%S}{sign}{hours:02d}'{minutes:02d}'"


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
