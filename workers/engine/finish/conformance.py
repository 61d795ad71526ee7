"""Conformance to PDF/A (ISO 19005) and PDF/UA: the output intent and the XMP identification.

Layout and paint ensure the rest: embedded fonts, RGB or grey colours, no scripts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

import pikepdf
from PIL import ImageCms

from workers.engine.finish.invoices import INVOICE_SCHEMA, AttachedInvoice
from workers.engine.ports import ArchiveProfile

_CONDITION: Final = "sRGB IEC61966-2.1"


@dataclass(frozen=True, slots=True)
class XmpSchema:
    """An XMP extension schema (ISO 19005-2, 6.6.2.3)."""

    title: str
    namespace: str
    prefix: str
    properties: tuple[tuple[str, str, str], ...]  # name, value type, description


PROVENANCE_SCHEMA: Final = XmpSchema(
    "Pressroom provenance",
    "urn:pressroom:provenance:1",
    "pressroom",
    (
        ("template", "Text", "Identifier of the template"),
        ("templateVersion", "Text", "Version of the template"),
        ("templateSha256", "Text", "SHA-256 of the template's text"),
        (
            "builtOn",
            "bag Text",
            "References and SHA-256 of the templates that it extends or imports",
        ),
        ("payloadSha256", "Text", "SHA-256 of the payload"),
        ("draft", "Text", "Whether the document is a draft"),
    ),
)


def add_output_intent(pdf: pikepdf.Pdf) -> None:
    """Add an output intent of sRGB (ISO 19005-2, 6.2.3)."""
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


ACCESSIBILITY_SCHEMA: Final = XmpSchema(
    "PDF/UA Universal Accessibility",
    "http://www.aiim.org/pdfua/ns/id/",
    "pdfuaid",
    (("part", "Integer", "Part of ISO 14289 that the file conforms to"),),
)

# ISO 14289-1, clause 5.
DESCRIBED_ACCESSIBILITY: Final = (
    f'<rdf:Description rdf:about="" xmlns:pdfuaid="{ACCESSIBILITY_SCHEMA.namespace}">\n'
    "<pdfuaid:part>1</pdfuaid:part>\n"
    "</rdf:Description>\n"
)


def describe_conformance(
    profile: ArchiveProfile | None, invoice: AttachedInvoice | None, *, is_accessible: bool = False
) -> str:
    """Return the RDF descriptions that profiles add to the XMP packet."""
    accessibility = DESCRIBED_ACCESSIBILITY if is_accessible else ""
    if profile is None:
        return accessibility
    schemas = [PROVENANCE_SCHEMA]
    if is_accessible:
        schemas.append(ACCESSIBILITY_SCHEMA)
    if invoice is not None:
        schemas.append(XmpSchema(*INVOICE_SCHEMA))
    identification = (
        '<rdf:Description rdf:about="" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/">\n'
        f"<pdfaid:part>{profile.part}</pdfaid:part>\n"
        f"<pdfaid:conformance>{profile.level}</pdfaid:conformance>\n"
        "</rdf:Description>\n"
    )
    described = "" if invoice is None else invoice.describe()
    return identification + accessibility + _describe_schemas(schemas) + described


def _describe_schemas(schemas: Iterable[XmpSchema]) -> str:
    described = "\n".join(map(_describe_schema, schemas))
    return (
        '<rdf:Description rdf:about=""\n'
        ' xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/"\n'
        ' xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#"\n'
        ' xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">\n'
        f"<pdfaExtension:schemas><rdf:Bag>\n{described}\n</rdf:Bag></pdfaExtension:schemas>\n"
        "</rdf:Description>\n"
    )


def _describe_schema(schema: XmpSchema) -> str:
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


# --- the colour profile -----------------------------------------------------------------------

_CREATED: Final = slice(24, 36)  # of the header (ICC.1:2010, 7.2)
_SRGB_PUBLISHED: Final = b"".join(part.to_bytes(2, "big") for part in (1999, 10, 18, 0, 0, 0))


@cache
def make_srgb_profile() -> bytes:
    """Return the profile with the date of the standard instead of its own; the result is constant."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    profile[_CREATED] = _SRGB_PUBLISHED
    return bytes(profile)
