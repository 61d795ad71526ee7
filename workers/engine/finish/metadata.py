"""Document information and XMP metadata, with the provenance from template and data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from xml.sax.saxutils import escape

import pikepdf

from workers.engine.characters import NOT_XML
from workers.engine.ports import Metadata, PdfMetadata

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


def build_pdf_metadata(metadata: Metadata, *, conformance: str = "") -> PdfMetadata:
    """Return the metadata of a file, for paint to write."""
    packet = write_xmp_packet(metadata, conformance)
    return PdfMetadata(_information_entries(metadata), metadata.lang, packet)


def write_metadata(pdf: pikepdf.Pdf, metadata: Metadata, *, conformance: str = "") -> None:
    """Set the document information, the language and the XMP packet; empty values are omitted.

    `conformance` has the RDF descriptions that a profile adds to the packet.
    """
    for name, value in _information_entries(metadata).items():
        pdf.docinfo[f"/{name}"] = pikepdf.String(value)
    pdf.Root.Lang = pikepdf.String(metadata.lang)
    if metadata.title:
        pdf.Root.ViewerPreferences = pikepdf.Dictionary(DisplayDocTitle=True)
    pdf.Root.Metadata = pdf.make_stream(
        write_xmp_packet(metadata, conformance),
        {"/Type": pikepdf.Name.Metadata, "/Subtype": pikepdf.Name.XML},
    )


def write_document_information(metadata: Metadata) -> bytes:
    """Return the document information dictionary (PDF 1.7, 14.3.3)."""
    entries = {
        f"/{name}": pikepdf.String(value) for name, value in _information_entries(metadata).items()
    }
    return pikepdf.Dictionary(entries).unparse()


def _information_entries(metadata: Metadata) -> dict[str, str]:
    entries = {
        "Title": metadata.title,
        "Author": metadata.author,
        "Subject": metadata.subject,
        "Keywords": metadata.keywords,
        "Producer": PRODUCER,
        "PressroomDraft": "true" if metadata.is_draft else "",
    }
    return {name: _clean(value) for name, value in entries.items() if value}


def write_xmp_packet(metadata: Metadata, conformance: str = "") -> bytes:
    """Return the XMP packet (ISO 16684-1)."""
    properties = [
        _alternatives("dc:title", metadata.title),
        _sequence("dc:creator", metadata.author),
        _alternatives("dc:description", metadata.subject),
        _simple("pdf:Keywords", metadata.keywords),
        _simple("pdf:Producer", PRODUCER),
        _bag("dc:language", [metadata.lang]),
        _simple("pressroom:template", metadata.template_id),
        _simple("pressroom:templateVersion", metadata.template_version),
        _simple("pressroom:templateSha256", metadata.template_sha256),
        _bag("pressroom:builtOn", [" ".join(link) for link in sorted(metadata.built_on.items())]),
        _simple("pressroom:payloadSha256", metadata.payload_sha256),
        _simple("pressroom:draft", "true" if metadata.is_draft else "false"),
    ]
    written = "\n".join(line for line in properties if line)
    packet = _PACKET.format(namespace=PROVENANCE, properties=written, conformance=conformance)
    return packet.encode("utf-8")


def _simple(name: str, value: str | int | None) -> str:
    return "" if value in ("", None) else f"<{name}>{_text(str(value))}</{name}>"


def _alternatives(name: str, value: str) -> str:
    if not value:
        return ""
    return (
        f'<{name}><rdf:Alt><rdf:li xml:lang="x-default">{_text(value)}</rdf:li></rdf:Alt></{name}>'
    )


def _sequence(name: str, value: str) -> str:
    return f"<{name}><rdf:Seq><rdf:li>{_text(value)}</rdf:li></rdf:Seq></{name}>" if value else ""


def _bag(name: str, values: Iterable[str]) -> str:
    items = "".join(f"<rdf:li>{_text(value)}</rdf:li>" for value in values)
    return f"<{name}><rdf:Bag>{items}</rdf:Bag></{name}>" if items else ""


def _text(value: str) -> str:
    return escape(_clean(value))


def _clean(value: str) -> str:
    return NOT_XML.sub("\ufffd", value)
