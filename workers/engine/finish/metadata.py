"""Document information and XMP metadata, with the provenance from template and data.

Conformance to PDF/A (ISO 19005) and PDF/UA adds the XMP identification. Layout and paint ensure the
rest: embedded fonts, RGB or grey colours and their profile, no scripts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final
from xml.sax.saxutils import escape

from workers.engine.characters import NOT_XML
from workers.engine.ports import (
    NO_PROFILES,
    UNDATED,
    Attachment,
    ConformanceProfiles,
    Metadata,
    OutputIntent,
    PdfMetadata,
)

PRODUCER: Final = "Pressroom"
PROVENANCE: Final = "urn:pressroom:provenance:1"

# No dates: the engine has no clock, and output is deterministic.
_PACKET: Final = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about=""
 xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:pdf="http://ns.adobe.com/pdf/1.3/"
 xmlns:pressroom="{namespace}">
{properties}
</rdf:Description>
{conformance}</rdf:RDF>
</x:xmpmeta>
<?xpacket end="r"?>"""


def build_pdf_metadata(
    metadata: Metadata,
    *,
    profiles: ConformanceProfiles = NO_PROFILES,
    attachments: Sequence[Attachment] = (),
    output_intent: OutputIntent | None = None,
) -> PdfMetadata:
    """Return the metadata of a file, for paint to write."""
    conformance = describe_conformance(profiles, attachments)
    conformance += describe_print(metadata) if profiles.print else ""
    return PdfMetadata(
        list_information(metadata),
        metadata.info.lang,
        write_xmp_packet(metadata, conformance),
        profiles.is_pdf2,
        output_intent,
        attachments,
        metadata.options.is_draft,
    )


# What ISO 15930-7 asks for. No dates are known; the identity is that of the template and the data.
_PRINT: Final = """<rdf:Description rdf:about=""
 xmlns:pdf="http://ns.adobe.com/pdf/1.3/"
 xmlns:pdfxid="http://www.npes.org/pdfx/ns/id/"
 xmlns:xmp="http://ns.adobe.com/xap/1.0/"
 xmlns:xmpMM="http://ns.adobe.com/xap/1.0/mm/">
<pdfxid:GTS_PDFXVersion>PDF/X-4</pdfxid:GTS_PDFXVersion>
<pdf:Trapped>False</pdf:Trapped>
<xmp:CreateDate>{date}</xmp:CreateDate>
<xmp:ModifyDate>{date}</xmp:ModifyDate>
<xmp:MetadataDate>{date}</xmp:MetadataDate>
<xmpMM:DocumentID>urn:pressroom:document:{identity}</xmpMM:DocumentID>
<xmpMM:VersionID>1</xmpMM:VersionID>
<xmpMM:RenditionClass>default</xmpMM:RenditionClass>
</rdf:Description>
"""
# What ISO 16612-2 asks for beside that.
_PRINT_RUN: Final = """<rdf:Description rdf:about="" xmlns:pdfvtid="http://www.npes.org/pdfvt/ns/id/">
<pdfvtid:GTS_PDFVTVersion>PDF/VT-1</pdfvtid:GTS_PDFVTVersion>
<pdfvtid:GTS_PDFVTModDate>{date}</pdfvtid:GTS_PDFVTModDate>
</rdf:Description>
"""


def describe_print(metadata: Metadata, *, is_run: bool = False) -> str:
    """Return the RDF descriptions of a PDF/X-4 file, or of a PDF/VT-1 file, which has many documents."""
    source = f"{metadata.options.template_sha256} {metadata.payload_sha256} {metadata.info.title}"
    identity = sha256(source.encode("utf-8", "replace")).hexdigest()[:32]
    described = _PRINT + (_PRINT_RUN if is_run else "")
    return described.format(date=UNDATED.isoformat(), identity=identity)


def list_information(metadata: Metadata) -> dict[str, str]:
    """Return the entries of the document information that are not empty."""
    entries = {
        "Title": metadata.info.title,
        "Author": metadata.info.author,
        "Subject": metadata.info.subject,
        "Keywords": metadata.info.keywords,
        "Producer": PRODUCER,
        "PressroomDraft": "true" if metadata.options.is_draft else "",
    }
    return {name: _clean(value) for name, value in entries.items() if value}


_ANY_LANGUAGE: Final = ' xml:lang="x-default"'


def write_xmp_packet(metadata: Metadata, conformance: str = "") -> bytes:
    """Return the XMP packet (ISO 16684-1)."""
    properties = [
        _several("Alt", "dc:title", [metadata.info.title], _ANY_LANGUAGE),
        _several("Seq", "dc:creator", [metadata.info.author]),
        _several("Alt", "dc:description", [metadata.info.subject], _ANY_LANGUAGE),
        _simple("pdf:Keywords", metadata.info.keywords),
        _simple("pdf:Producer", PRODUCER),
        _several("Bag", "dc:language", [metadata.info.lang]),
        _simple("pressroom:template", metadata.options.template_id),
        _simple("pressroom:templateVersion", metadata.options.template_version),
        _simple("pressroom:templateSha256", metadata.options.template_sha256),
        _several(
            "Bag", "pressroom:builtOn", map(" ".join, sorted(metadata.options.built_on.items()))
        ),
        _simple("pressroom:payloadSha256", metadata.payload_sha256),
        _simple("pressroom:draft", "true" if metadata.options.is_draft else "false"),
    ]
    written = "\n".join(line for line in properties if line)
    packet = _PACKET.format(namespace=PROVENANCE, properties=written, conformance=conformance)
    return packet.encode("utf-8")


def _simple(name: str, value: str | int | None) -> str:
    return "" if value in ("", None) else f"<{name}>{_text(str(value))}</{name}>"


def _several(kind: str, name: str, values: Iterable[str], about: str = "") -> str:
    """Return an array of values that are not empty: of a `kind` Alt, Bag or Seq."""
    items = "".join(f"<rdf:li{about}>{_text(value)}</rdf:li>" for value in values if value)
    return f"<{name}><rdf:{kind}>{items}</rdf:{kind}></{name}>" if items else ""


def _text(value: str) -> str:
    return escape(_clean(value))


def _clean(value: str) -> str:
    return NOT_XML.sub("\ufffd", value)


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


ACCESSIBILITY_SCHEMA: Final = XmpSchema(
    "PDF/UA Universal Accessibility",
    "http://www.aiim.org/pdfua/ns/id/",
    "pdfuaid",
    (("part", "Integer", "Part of ISO 14289 that the file conforms to"),),
)

# Factur-X 1.0, 6.2: title, namespace, prefix and properties of the extension schema.
INVOICE_SCHEMA: Final = XmpSchema(
    "Factur-X PDFA Extension Schema",
    "urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#",
    "fx",
    (
        ("DocumentFileName", "Text", "Name of the embedded XML invoice file"),
        ("DocumentType", "Text", "INVOICE"),
        ("Version", "Text", "Version of the Factur-X XML schema"),
        ("ConformanceLevel", "Text", "Conformance level of the embedded Factur-X data"),
    ),
)


# A PDF/UA-2 of this engine is a Well-Tagged PDF too (WTPDF 1.0, 6.1.3).
_WELL_TAGGED: Final = """<rdf:Description rdf:about="" xmlns:pdfd="http://pdfa.org/declarations/">
<pdfd:declarations><rdf:Bag><rdf:li rdf:parseType="Resource">
<pdfd:conformsTo>http://pdfa.org/declarations/wtpdf#accessibility1.0</pdfd:conformsTo>
</rdf:li></rdf:Bag></pdfd:declarations>
</rdf:Description>
"""
_ARCHIVE_NAMESPACE: Final = "http://www.aiim.org/pdfa/ns/id/"


def describe_conformance(profiles: ConformanceProfiles, attachments: Iterable[Attachment]) -> str:
    """Return the RDF descriptions that profiles add to the XMP packet.

    PDF/A-4 takes properties of any schema; PDF/A-2 and -3 ask for descriptions of the schemas.
    """
    archive, accessibility, _ = profiles
    described, schemas = "", [PROVENANCE_SCHEMA]
    if archive is not None:
        level = {"conformance": archive.level} if archive.level else {}
        year = {"rev": "2020"} if profiles.is_pdf2 else {}
        properties = {"part": str(archive.part), **year, **level}
        described += _describe_standard("pdfaid", _ARCHIVE_NAMESPACE, properties)
    if accessibility is not None:
        schemas.append(ACCESSIBILITY_SCHEMA)
        year = {"rev": "2024"} if profiles.is_pdf2 else {}
        properties = {"part": str(accessibility.part), **year}
        described += _describe_standard("pdfuaid", ACCESSIBILITY_SCHEMA.namespace, properties)
        described += _WELL_TAGGED if profiles.is_pdf2 else ""
    if archive is None or profiles.is_pdf2:
        return described
    invoice = next((one for one in attachments if one.invoice_level), None)
    if invoice is None:
        return described + _describe_schemas(schemas)
    properties = {
        "DocumentType": "INVOICE",
        "DocumentFileName": escape(invoice.name),
        "Version": "1.0",
        "ConformanceLevel": invoice.invoice_level,
    }
    described += _describe_schemas([*schemas, INVOICE_SCHEMA])
    return described + _describe_standard("fx", INVOICE_SCHEMA.namespace, properties)


def _describe_standard(prefix: str, namespace: str, properties: Mapping[str, str]) -> str:
    written = "".join(
        f"<{prefix}:{name}>{value}</{prefix}:{name}>\n" for name, value in properties.items()
    )
    return f'<rdf:Description rdf:about="" xmlns:{prefix}="{namespace}">\n{written}</rdf:Description>\n'


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
