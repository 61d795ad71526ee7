"""The PDF under construction: ReportLab's canvas, which our pages, fonts and pictures are put on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import BytesIO
from typing import Any, Final, NamedTuple

from reportlab import rl_config
from reportlab.pdfbase import pdfdoc, pdfmetrics
from reportlab.pdfgen.canvas import Canvas

from workers.engine.packing import repack
from workers.engine.paint.objects import Written, write_stream, write_text
from workers.engine.ports import Description

rl_config.useA85 = 0  # streams are binary: as text they would be a quarter larger

_SURROGATES: Final = re.compile("[\ud800-\udfff]")


class Call(NamedTuple):
    """A call of an external object (PDF 1.7, 8.8) in place of operators, by its name."""

    name: str


# The content of a page or form: operators as ASCII text, and calls between them.
Content = Sequence[str | Call]


class _Outlines:
    """The typeface of a font as ReportLab asks about it."""

    builtIn = False  # noqa: N815, the name is ReportLab's

    def __init__(self, name: str) -> None:
        self.name = name


class EmbeddedFont:
    """A font for ReportLab's registry (`pdfmetrics.registerFont`) that writes itself into a file.

    It has what ReportLab asks of a registered font: its name, its face, what kind it is, and
    `addObjects`, which a canvas calls with its document when the font is first set on it. The
    registry is of the whole process and keeps a font until another of its name is registered, so
    it lets go of its objects when it has added them.
    """

    _dynamicFont = False  # noqa: N815, the name is ReportLab's
    _multiByte = False  # noqa: N815, the name is ReportLab's

    def __init__(self, name: str, font: pdfdoc.PDFObject) -> None:
        self.fontName = f"Pressroom {name}"
        self.face = _Outlines(self.fontName)
        self.name = name
        self.font: pdfdoc.PDFObject | None = font

    def addObjects(self, document: Any) -> None:  # noqa: N802, the name is ReportLab's
        """Add the font to the fonts of a document, as the fonts that come with ReportLab do."""
        fonts = document.idToObject[pdfdoc.BasicFonts]
        fonts[self.name] = document.Reference(self.font, self.name)
        document.fontMapping[self.fontName] = "/" + self.name
        self.font = None


class _NoFont:
    """What a page begins with in place of Helvetica, which would be a font that is not embedded."""

    _dynamicFont = True  # noqa: N815, the name is ReportLab's
    _multiByte = False  # noqa: N815, the name is ReportLab's
    fontName = "Pressroom"  # noqa: N815, the name is ReportLab's
    face = _Outlines(fontName)


pdfmetrics.registerFont(_NoFont())


class CanvasFile:
    """A PDF in memory, written through ReportLab's canvas. Equal calls give equal bytes."""

    def __init__(self, description: Description | None = None) -> None:
        self._canvas = Canvas(
            BytesIO(),
            invariant=1,
            pageCompression=1,
            pdfVersion=(1, 7),
            lang=description.lang if description else None,
            initialFontName=_NoFont.fontName,
        )
        self._information = b"<< >>"
        self._size = (0.0, 0.0)
        self._outside = 0.0
        if description is not None:
            self._describe(description)

    @property
    def page_number(self) -> int:
        """Return the number of the page under construction, from 1."""
        number: int = self._canvas.getPageNumber()
        return number

    def add_font(self, name: str, font: pdfdoc.PDFObject) -> None:
        """Add a font, which content sets by `name`."""
        registered = EmbeddedFont(name, font)
        pdfmetrics.registerFont(registered)
        self._canvas.setFont(registered.fontName, 1)
        self._canvas.setFont(_NoFont.fontName, 1)  # else pages of another size begin with the font
        if registered.font is not None:
            raise RuntimeError("two threads write documents at once: the registry of fonts is one")

    def add_external(self, name: str, written: Written) -> None:
        """Add an external object (PDF 1.7, 8.8), which content calls by `name`."""
        self._canvas.beginForm(name)
        self._canvas.endForm(Contents=written)

    def add_form(
        self, name: str, corners: tuple[float, float, float, float], content: Content
    ) -> None:
        """Add content that several pages call (PDF 1.7, 8.10) by `name`."""
        self._canvas.beginForm(name, *corners)
        self._draw(content)
        self._canvas.endForm()

    def begin_page(self, width: float, height: float, *, bleed: float, slug: float) -> None:
        """Begin a page whose trimmed paper is as large as this.

        Its boxes (PDF 1.7, 14.11.2) begin at the corner of the whole sheet; content, links and
        places are counted from the corner of the trimmed paper.
        """
        canvas, outside = self._canvas, bleed + slug
        size = (round(width + 2 * outside, 3), round(height + 2 * outside, 3))
        if size != self._size:
            canvas.setPageSize(size)
            self._size = size
        if outside or self._outside:
            canvas.setBleedBox(_box(outside - bleed, size) if outside else None)
            canvas.setTrimBox(_box(outside, size) if outside else None)
            self._outside = outside
        if outside:
            canvas.translate(outside, outside)

    def end_page(self, content: Content) -> None:
        """Draw the content of the page and end it."""
        self._draw(content)
        self._canvas.showPage()

    def link_address(self, address: str, corners: tuple[float, float, float, float]) -> None:
        """Lead from a rectangle of this page to an address."""
        # Flag 3 lets it be printed, which PDF/A demands (ISO 19005-2, 6.3.2).
        self._canvas.linkURL(address, corners, relative=1, F=4)

    def link_place(self, place: str, corners: tuple[float, float, float, float]) -> None:
        """Lead from a rectangle of this page to a place, which some page has to have."""
        self._canvas.linkRect("", place, corners, F=4)

    def from_paper(self, x: float, y: float) -> tuple[float, float]:
        """Return a point of the trimmed paper as a point of the sheet."""
        return round(x + self._outside, 3), round(y + self._outside, 3)

    def add_place(self, place: str, *, left: float | None, top: float) -> None:
        """Name a point of the sheet of this page, which links and the outline lead to."""
        self._canvas.bookmarkPage(place, fit="XYZ", left=left, top=top)

    def add_outline_entry(self, title: str, place: str, level: int) -> None:
        """Add an entry to the outline, at most one level below the one before; it is shown closed."""
        title = _SURROGATES.sub("\ufffd", title)
        self._canvas.addOutlineEntry(title, place, level=level, closed=1)

    def set_catalog(self, name: str, written: Written) -> None:
        """Set an entry of the document catalogue."""
        self._canvas.setCatalogEntry(name, written)

    def write(self) -> bytes:
        """Return the finished file; nothing can be added afterwards."""
        written: bytes = self._canvas.getpdfdata()
        del self._canvas  # with the content of all pages
        return repack(written, information=self._information)

    def _describe(self, description: Description) -> None:
        """Set the document information and the XMP packet.

        ReportLab's own information would have a date, which is not when the document was made.
        """
        entries = description.information.items()
        self._information = b"<< %b >>" % b" ".join(
            b"/%b %b" % (name.encode("ascii"), write_text(value)) for name, value in entries
        )
        if "Title" in description.information:
            self.set_catalog("ViewerPreferences", Written(b"<< /DisplayDocTitle true >>"))
        # Not compressed: programs that know no PDF look for the packet in the bytes of the file.
        packet = write_stream([b"/Type /Metadata /Subtype /XML"], description.packet)
        self.set_catalog("Metadata", packet)

    def _draw(self, content: Content) -> None:
        for part in content:
            if isinstance(part, Call):
                self._canvas.doForm(part.name)
            else:
                self._canvas.addLiteral(part)


def refer_to_page(number: int) -> pdfdoc.PDFObject:
    """Return a reference to a page by its number, for parts of objects."""
    return pdfdoc.PDFObjectReference(f"Page{number}")


def refer_to_external(name: str) -> pdfdoc.PDFObject:
    """Return a reference to an external object by its name, for parts of objects."""
    return pdfdoc.PDFObjectReference(pdfdoc.xObjectName(name))


def resource_name(name: str) -> bytes:
    """Return how content calls an external object."""
    called: str = pdfdoc.xObjectName(name)
    return b"/" + called.encode("ascii")


def refer_to_font(name: str) -> pdfdoc.PDFObject:
    """Return a reference to a font by its name, for parts of objects."""
    return pdfdoc.PDFObjectReference(name)


ALL_FONTS: Final = pdfdoc.PDFObjectReference(pdfdoc.BasicFonts)


def _box(edge: float, size: tuple[float, float]) -> tuple[float, float, float, float]:
    return edge, edge, size[0] - edge, size[1] - edge
