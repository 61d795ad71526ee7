"""Conformance to PDF/A (ISO 19005): the output intent, and what the metadata say of it.

Layout and paint see to the rest: every font is embedded, colours are RGB or grey, nothing runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import pikepdf

from workers.engine.finish.invoices import INVOICE_SCHEMA, Invoice
from workers.engine.finish.srgb import make_srgb_profile
from workers.engine.ports import Profile

_CONDITION: Final = "sRGB IEC61966-2.1"


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema of properties that XMP itself does not know, described as ISO 19005-2, 6.6.2.3 asks."""

    title: str
    namespace: str
    prefix: str
    properties: tuple[tuple[str, str, str], ...]  # name, type of value, description


PROVENANCE_SCHEMA: Final = Schema(
    "Pressroom provenance",
    "urn:pressroom:provenance:1",
    "pressroom",
    (
        ("template", "Text", "Identifier of the template"),
        ("templateVersion", "Text", "Version of the template"),
        ("templateSha256", "Text", "SHA-256 of the template's text"),
        ("payloadSha256", "Text", "SHA-256 of the payload"),
        ("draft", "Text", "Whether the document is a draft"),
    ),
)


def add_output_intent(pdf: pikepdf.Pdf) -> None:
    """Say that the document's colours are meant for sRGB (ISO 19005-2, 6.2.3)."""
    profile = pdf.make_stream(make_srgb_profile())
    profile.N = 3
    intent = pikepdf.Dictionary(
        Type=pikepdf.Name.OutputIntent,
        S=pikepdf.Name.GTS_PDFA1,
        OutputConditionIdentifier=pikepdf.String(_CONDITION),
        Info=pikepdf.String(_CONDITION),
        DestOutputProfile=profile,
    )
    pdf.Root.OutputIntents = pikepdf.Array([pdf.make_indirect(intent)])


def describe_conformance(profile: Profile, invoice: Invoice | None) -> str:
    """Write the parts of the XMP packet that a profile needs, as RDF descriptions."""
    identification = (
        '<rdf:Description rdf:about="" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/">\n'
        f"<pdfaid:part>{profile.part}</pdfaid:part>\n"
        "<pdfaid:conformance>B</pdfaid:conformance>\n"
        "</rdf:Description>\n"
    )
    if invoice is None:
        return identification + _describe_schemas((PROVENANCE_SCHEMA,))
    schemas = _describe_schemas((PROVENANCE_SCHEMA, Schema(*INVOICE_SCHEMA)))
    return identification + schemas + invoice.describe()


def _describe_schemas(schemas: Iterable[Schema]) -> str:
    described = "\n".join(map(_describe_schema, schemas))
    return (
        '<rdf:Description rdf:about=""\n'
        ' xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/"\n'
        ' xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#"\n'
        ' xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">\n'
        f"<pdfaExtension:schemas><rdf:Bag>\n{described}\n</rdf:Bag></pdfaExtension:schemas>\n"
        "</rdf:Description>\n"
    )


def _describe_schema(schema: Schema) -> str:
    properties = "\n".join(
        '<rdf:li rdf:parseType="Resource">'
        f"<pdfaProperty:name>{name}</pdfaProperty:name>"
        f"<pdfaProperty:valueType>{kind}</pdfaProperty:valueType>"
        "<pdfaProperty:category>external</pdfaProperty:category>"
        f"<pdfaProperty:description>{text}</pdfaProperty:description></rdf:li>"
        for name, kind, text in schema.properties
    )
    return (
        '<rdf:li rdf:parseType="Resource">'
        f"<pdfaSchema:schema>{schema.title}</pdfaSchema:schema>"
        f"<pdfaSchema:namespaceURI>{schema.namespace}</pdfaSchema:namespaceURI>"
        f"<pdfaSchema:prefix>{schema.prefix}</pdfaSchema:prefix>"
        f"<pdfaSchema:property><rdf:Seq>\n{properties}\n</rdf:Seq></pdfaSchema:property></rdf:li>"
    )
