"""A PDF under construction on ReportLab's canvas, to which pages, fonts and images are added.

PDF objects are serialised as bytes, in the form that ReportLab's document accepts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from io import BytesIO
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reportlab import rl_config
from reportlab.pdfbase import pdfdoc, pdfmetrics
from reportlab.pdfgen.canvas import Canvas

from workers.engine.caches import BoundedCache
from workers.engine.layout.display import Owner
from workers.engine.paint import draft_mark
from workers.engine.pdf_writer import (
    AppendedObjects,
    FormattedObjects,
    compress,
    write_file,
    write_information,
    write_number,
    write_references,
    write_text,
)
from workers.engine.ports import OutputIntent, PdfMetadata
from workers.engine.units import Color, ColorSpace

# The parts of an object: bytes, and objects to which it refers.
ObjectPart = Any


_FLATE: Final = b" /Filter /FlateDecode"


class WrittenObject(pdfdoc.PDFObject):  # type: ignore[misc]
    """A PDF object serialised as bytes.

    An object among its parts becomes a reference, numbered when ReportLab writes the file; a
    referenced object is in the file once.
    """

    def __init__(self, *parts: ObjectPart) -> None:
        self._parts = parts

    def define(self, *parts: ObjectPart) -> None:
        """Set the parts, for an object that others refer to before it is known."""
        self._parts = parts

    def format(self, document: object) -> bytes:
        """Return the body of the object. ReportLab calls this when it writes the file."""
        return b"".join(
            [part if isinstance(part, bytes) else _refer(document, part) for part in self._parts]
        )

    @property
    def dictionary(self) -> dict[str, object]:
        """The entries that ReportLab adds to a form XObject: none, the parts have their own."""
        return {}


class DeferredObject(pdfdoc.PDFObject):  # type: ignore[misc]
    """An object that is made when the file is written, once its content is known."""

    def __init__(self, make: Callable[[], WrittenObject]) -> None:
        self._make = make

    def format(self, document: object) -> bytes:
        """Return the body of the object. ReportLab calls this when it writes the file."""
        return self._make().format(document)


def write_stream(entries: Iterable[ObjectPart], data: bytes) -> WrittenObject:
    """Return a stream with `data`; `entries` are parts of its dictionary."""
    return WrittenObject(
        b"<< ", *entries, b" /Length %d >>\nstream\n" % len(data), data, b"\nendstream"
    )


def write_deflated(entries: Iterable[ObjectPart], data: bytes) -> WrittenObject:
    """Return a stream with `data` compressed."""
    return write_stream((*entries, _FLATE), compress(data))


def write_dictionary(entries: Iterable[tuple[bytes, Iterable[ObjectPart]]]) -> list[ObjectPart]:
    """Return names and the parts of their values as the parts of a dictionary."""
    parts: list[ObjectPart] = [b"<< "]
    for name, value in entries:
        parts += [name, b" ", *value, b" "]
    parts.append(b">>")
    return parts


def _refer(document: Any, part: object) -> bytes:
    written: bytes = document.Reference(part).format(document)
    return written


# Numbers in hundredths: pages use the same ones repeatedly.
HUNDREDTHS: Final = BoundedCache[int, bytes](lambda hundredths: b"%.10g" % (hundredths / 100))


def refer_to_page(number: int) -> pdfdoc.PDFObject:
    """Return a reference to a page by its number."""
    return pdfdoc.PDFObjectReference(f"Page{number}")


# Rectangles of bar codes: all symbols share a few thousand.
RECTANGLES: Final = BoundedCache[tuple[int, int, int, int], bytes](b"%d %d %d %d re\n".__mod__)
# Moves along a baseline, by the distance in hundredths of a point.
ALONG: Final = BoundedCache[int, bytes](lambda distance: HUNDREDTHS[distance] + b" 0 Td ")
# Places in hundredths of a point: those of a column of texts recur.
ROUNDED: Final = BoundedCache[float, int](lambda value: round(value * 100))


@lru_cache(256)
def write_fill_color(color: Color) -> bytes:
    """Return the operator that sets the colour of fills and text, without its ink."""
    return _color_operator(color, b"g\n", b"rg\n", b"k\n")


@lru_cache(256)
def write_stroke_color(color: Color) -> bytes:
    """Return the operator that sets the colour of strokes, without its ink."""
    return _color_operator(color, b"G\n", b"RG\n", b"K\n")


def _color_operator(color: Color, gray: bytes, rgb: bytes, cmyk: bytes) -> bytes:
    components = color.components
    if color.space is ColorSpace.CMYK:
        return b" ".join(map(write_number, components)) + b" " + cmyk
    if components[0] == components[1] == components[2]:
        return write_number(components[0]) + b" " + gray
    return b" ".join(map(write_number, components)) + b" " + rgb


def write_fraction(value: float) -> bytes:
    """Return a number with up to six decimals, such as a part of a matrix."""
    return b"%.10g" % (round(value * 1_000_000) / 1_000_000 + 0.0)


if TYPE_CHECKING:
    from workers.engine.paint.structure_tree import StructureTree

rl_config.useA85 = 0  # streams are binary: in ASCII they would be a quarter larger

_SURROGATES: Final = re.compile(r"[\ud800-\udfff]")


class PaintedContent(NamedTuple):
    """The operators of a page or form, and the names of the external objects that they call."""

    marks: bytes
    calls: Sequence[str]


class _Link(NamedTuple):
    """A link annotation of a page, counted from 1: its entries without what `destination` adds."""

    page: int
    entries: bytes
    destination: str | None


# Keys are sorted, so that it stands before the title.
_OUTLINE_PLACE: Final = re.compile(rb"/Dest \[ \d+ 0 R /XYZ (\d+) ")


class _Target(NamedTuple):
    """A destination: its page, counted from 1, the place on it, and its structure element."""

    page: int
    place: bytes
    owner: Owner


class _NoFont:
    """The initial font of a page in place of Helvetica, which would be a font that is not embedded."""

    _dynamicFont = True  # noqa: N815, the name is ReportLab's
    _multiByte = False  # noqa: N815, the name is ReportLab's
    fontName = "Pressroom"  # noqa: N815, the name is ReportLab's
    face = SimpleNamespace(name=fontName, builtIn=False)


pdfmetrics.registerFont(_NoFont())


class _DocumentCanvas(Canvas):  # type: ignore[misc]
    """A canvas whose fonts belong to its document alone, not to the process, and whose pages have content of ours."""

    def __init__(self, **options: object) -> None:
        super().__init__(BytesIO(), **options)
        self._contents: list[WrittenObject] = []  # of the pages: nothing, until they are written

    def end_page(self, resources: WrittenObject) -> None:
        """End the page, with its resources and a place for its content."""
        name = self._doc.thisPageName()
        self.showPage()
        self._contents.append(WrittenObject(b"null"))
        page = self._doc.idToObject[name]
        page.Contents, page.Resources = self._contents[-1], resources
        page.Rotate = page.Trans = None  # the defaults, which it would write

    def format_objects(self, information: bytes, contents: Sequence[bytes]) -> FormattedObjects:
        """Return the objects with the document information and the compressed contents of the pages.

        Nothing can be added afterwards.
        """
        document = self._doc
        about = WrittenObject(information)
        document.Reference(document.Catalog)
        document.Reference(about)
        document.Outlines.prepare(document, self)
        if document.Outlines.ready < 0:  # it has no entries
            document.Catalog.Outlines = None
        bodies: list[bytes] = []
        names = document.numberToId  # which grows as objects refer to others
        while len(bodies) < len(names):
            written = document.idToObject[names[len(bodies) + 1]]
            bodies.append(pdfdoc.format(written, document, toplevel=1).rstrip())
        for place, content in zip(self._contents, contents, strict=True):
            entries = b"<< /Filter /FlateDecode /Length %d >>" % len(content)
            number = _number_of(document, place)
            bodies[number - 1] = b"%b\nstream\n%b\nendstream" % (entries, content)
        numbers = document.idToObjectNumberAndVersion
        pages = [numbers[f"Page{page}"][0] for page in range(1, len(contents) + 1)]
        root = _number_of(document, document.Catalog)
        return FormattedObjects(bodies, root, _number_of(document, about), pages)

    def add_font(self, name: str, font: pdfdoc.PDFObject) -> None:
        """Add a font to the resources of all pages."""
        fonts = self._doc.idToObject[pdfdoc.BasicFonts]
        fonts[name] = self._doc.Reference(font, name)

    def name_object(self, name: str, written: WrittenObject) -> None:
        """Add an object that others refer to by name."""
        self._doc.Reference(written, name)


class CanvasFile:
    """A PDF in memory, written through ReportLab's canvas. Equal calls write equal bytes."""

    def __init__(self, description: PdfMetadata) -> None:
        self._description = description
        self._canvas = _DocumentCanvas(
            invariant=1,
            pageCompression=0,  # their contents are ours, see `_draw`
            pdfVersion=(1, 7),
            lang=description.lang or None,
            initialFontName=_NoFont.fontName,
        )
        self._information = b"<< >>"
        self._is_pdf2 = description.is_pdf2
        self._size = (0.0, 0.0)
        self._outside = 0.0
        self._links: list[_Link] = []
        self._targets: dict[str, _Target] = {}  # of links
        self._names: dict[bytes, _Target] = {}  # which other files can link to
        self._outline_owners: list[Owner] = []
        self._color_spaces: list[tuple[bytes, list[ObjectPart]]] = []
        self._shared_spaces = WrittenObject()
        self._intents: NumberingObject | None = None
        self._attachments: Sequence[tuple[bytes, WrittenObject]] = ()
        self._form: NumberingObject | None = None
        self._widget_pages: list[int] = []
        self._contents: list[bytes] = []  # of the pages, compressed
        if description.packet:
            self._describe(description)
        if description.output_intent is not None:
            self._add_intent(description.output_intent)
        if description.is_draft:
            word = draft_mark.write_word(is_print=self.is_print)
            self.add_xobject(draft_mark.NAME, write_deflated([draft_mark.ENTRIES], word))

    @property
    def page_number(self) -> int:
        """The number of the page under construction, from 1."""
        number: int = self._canvas.getPageNumber()
        return number

    @property
    def is_print(self) -> bool:
        """Whether the file is for print: greys are black ink, and pages have boxes."""
        intent = self._description.output_intent
        return intent is not None and intent.srgb is not None

    def add_font(self, name: str, font: pdfdoc.PDFObject) -> None:
        """Add a font, which content selects by `name`."""
        self._canvas.add_font(name, font)

    def add_color_space(self, name: bytes, written: WrittenObject) -> None:
        """Add a colour space, which all content selects by `name`."""
        if not self._color_spaces:
            self._canvas.name_object(COLOR_SPACES.name, self._shared_spaces)
        self._color_spaces.append((name, [written]))
        self._shared_spaces.define(*write_dictionary(self._color_spaces))

    def add_xobject(self, name: str, written: WrittenObject) -> None:
        """Add an external object (ISO 32000-1, 8.8), which content calls by `name`."""
        self._canvas.beginForm(name)
        self._canvas.endForm(Contents=written)

    def begin_page(self, width: float, height: float, *, bleed: float, slug: float) -> None:
        """Start a page of a trimmed paper size, in points.

        Its page boxes (ISO 32000-1, 14.11.2) start at the corner of the whole sheet; content, links
        and destinations are relative to the corner of the trimmed paper.
        """
        canvas, outside = self._canvas, bleed + slug
        size = (round(width + 2 * outside, 3), round(height + 2 * outside, 3))
        if size != self._size:
            canvas.setPageSize(size)
            self._size = size
        if outside or self._outside or self.is_print:
            has_boxes = outside or self.is_print
            canvas.setBleedBox(_box(outside - bleed, size) if has_boxes else None)
            canvas.setTrimBox(_box(outside, size) if has_boxes else None)
            self._outside = outside

    def end_page(self, content: PaintedContent) -> None:
        """End the page with its content, moved inwards by what is outside the trimmed paper."""
        marks, calls = content
        if self._outside:
            edge = write_number(self._outside)
            marks = b"1 0 0 1 %b %b cm\n%b" % (edge, edge, marks)
        if self._description.is_draft:
            marks = draft_mark.mark_page(marks, *self._size, write_call(draft_mark.NAME))
            calls = [*calls, draft_mark.NAME]
        # Compressed at once, so that a file under construction is not larger than a finished one.
        self._contents.append(compress(marks))
        self._canvas.end_page(WrittenObject(*write_resources(calls)))

    def add_link(
        self,
        corners: tuple[float, float, float, float],
        *,
        destination: str | None = None,
        address: str = "",
        contents: str = "",
    ) -> int:
        """Link a rectangle of this page and return the number of the link.

        It leads to a destination, which some page must have, or else to a URI; `contents` is its
        alternate description.
        """
        action = b"/Dest"
        if destination is None:
            action = b"/A <</S/URI/URI" + write_text(address) + b">>"
        edges = b" ".join([write_number(edge + self._outside) for edge in corners])
        described = b"/Contents" + write_text(_clean(contents)) if contents else b""
        # Flag 3 is Print, which PDF/A requires (ISO 19005-2, 6.3.2).
        entries = b"<</Type/Annot/Subtype/Link/Border[0 0 0]/F 4/Rect[%b]%b%b" % (
            edges,
            described,
            action,
        )
        self._links.append(_Link(self.page_number, entries, destination))
        return len(self._links) - 1

    def to_media_box(self, x: float, y: float) -> tuple[float, float]:
        """Return a point of the trimmed paper in the coordinates of the sheet."""
        return round(x + self._outside, 3), round(y + self._outside, 3)

    def add_destination(
        self, destination: str | bytes, *, left: float, top: float, owner: Owner
    ) -> None:
        """Add a destination at a point of the sheet: for links, or as bytes the name for other files.

        The first of equal ones counts.
        """
        place = b"/XYZ %b %b null" % (write_number(left), write_number(top))
        target = _Target(self.page_number, place, owner)
        if isinstance(destination, bytes):
            self._names.setdefault(destination, target)
        else:
            self._targets.setdefault(destination, target)

    def add_outline_entry(
        self, title: str, destination: str, level: int, *, top: float, owner: Owner
    ) -> None:
        """Add a closed entry to the outline, at most one level below the one before.

        It leads to a height of this sheet; `destination` is a name of its own.
        """
        mark = len(self._outline_owners) if self._is_pdf2 else None  # see `_lead_to_elements`
        self._outline_owners.append(owner)
        self._canvas.bookmarkPage(destination, fit="XYZ", left=mark, top=top)
        self._canvas.addOutlineEntry(_clean(title), destination, level=level, closed=1)

    def set_catalog(self, name: str, written: pdfdoc.PDFObject) -> None:
        """Set an entry of the document catalogue."""
        self._canvas.setCatalogEntry(name, written)

    def embed_files(self, files: Sequence[tuple[bytes, WrittenObject]]) -> None:
        """Embed files: the names of all in the order of a tree of names, and their specifications."""
        self._attachments = files

    def set_form(
        self, entries: Sequence[ObjectPart], widgets: Sequence[tuple[int, WrittenObject]]
    ) -> None:
        """Set the interactive form; `widgets` are annotations with their pages, from 1."""
        self._widget_pages = [page for page, _ in widgets]
        self._form = NumberingObject([widget for _, widget in widgets], *entries)
        self.set_catalog("AcroForm", self._form)

    def write(self, tree: StructureTree | None = None) -> bytes:
        """Return the finished file with its structure tree; nothing can be added afterwards."""
        root, names = None, NumberingObject([file for _, file in self._attachments], b"null")
        if self._names or self._attachments:
            self.set_catalog("Names", names)
        if tree is not None:
            root = NumberingObject(tree.find_objects(), b"<< /Type /StructTreeRoot >>")
            self.set_catalog("StructTreeRoot", root)
            self.set_catalog("MarkInfo", WrittenObject(b"<< /Marked true >>"))
        objects = self._canvas.format_objects(self._information, self._contents)
        if self._is_pdf2:
            objects = objects._replace(information=None)
        del self._canvas, self._contents
        pages, bodies = objects.pages, objects.bodies

        def append(first: int) -> AppendedObjects:
            appended = AppendedObjects((), {})
            after = first + len(self._links)
            if tree is not None and root is not None:
                numbers = [*pages, *root.numbers]
                appended = tree.write(
                    after, root.number, numbers, first_link=first, targets=self._link_owners()
                )
            additions = {**appended.additions}
            # ReportLab's catalog does not know these entries.
            if self._intents is not None:
                additions[objects.root] = b"/OutputIntents %d 0 R" % self._intents.number
            if names.numbers:
                files = b"/AF[%b]" % write_references(names.numbers)
                additions[objects.root] = additions.get(objects.root, b"") + files
            for page, numbers in self._find_annotations(pages, first).items():
                annotations = b"/Annots[%b]" % write_references(numbers)
                additions[page] = additions.get(page, b"") + annotations
            links = self._write_links(pages, first, additions, tree)
            if names.number:
                bodies[names.number - 1] = self._write_names(pages, tree, names.numbers)
            if self._is_pdf2 and tree is not None:
                self._lead_to_elements(bodies, tree)
            return appended._replace(bodies=[*links, *appended.bodies], additions=additions)

        return write_file(objects, append=append, version=b"1.6" if self.is_print else b"1.7")

    def _write_links(
        self,
        pages: Sequence[int],
        first: int,
        additions: Mapping[int, bytes],
        tree: StructureTree | None,
    ) -> list[bytes]:
        """Return the links as objects; `pages` are the numbers of the pages, by page."""
        written = []
        for number, (_, entries, destination) in enumerate(self._links, first):
            place = b""
            if destination is not None:
                target = self._targets[destination]
                place = b"[%d 0 R%b]" % (self._number_of_target(target, pages, tree), target.place)
            key = additions.get(number, b"")
            written.append(b"%b%b%b>>" % (entries, place, key))
        return written

    def _write_names(
        self, pages: Sequence[int], tree: StructureTree | None, files: Sequence[int]
    ) -> bytes:
        """Return the named destinations and embedded files, of which `files` are the numbers."""
        places = [
            b"%b [%d 0 R %b] " % (name, self._number_of_target(target, pages, tree), target.place)
            for name, target in sorted(self._names.items())
        ]
        embedded = [
            b"%b %d 0 R " % (name, number)
            for (name, _), number in zip(self._attachments, files, strict=True)
        ]
        trees = zip((b"/Dests", b"/EmbeddedFiles"), (places, embedded), strict=True)
        named = [b"%b << /Names [%b] >> " % (kind, b"".join(all_)) for kind, all_ in trees if all_]
        return b"<< %b>>" % b"".join(named)

    def _number_of_target(
        self, target: _Target, pages: Sequence[int], tree: StructureTree | None
    ) -> int:
        """Return the object to which a destination leads: a page, in PDF 2.0 an element (12.3.2.3)."""
        if self._is_pdf2 and tree is not None and isinstance(target.owner, int):
            return tree.find_number(target.owner)
        return pages[target.page - 1]

    def _link_owners(self) -> dict[int, int]:
        """Return the elements to which links lead, by the number of the link; none before PDF 2.0."""
        if not self._is_pdf2:
            return {}
        return {
            number: owner
            for number, link in enumerate(self._links)
            if link.destination is not None
            and isinstance(owner := self._targets[link.destination].owner, int)
        }

    def _lead_to_elements(self, bodies: list[bytes], tree: StructureTree) -> None:
        """Let the outline lead to elements, as PDF 2.0 asks; its entries are marked by their order."""

        def lead(found: re.Match[bytes]) -> bytes:
            owner = self._outline_owners[int(found[1])]
            assert isinstance(owner, int)
            return b"/Dest [ %d 0 R /XYZ null " % tree.find_number(owner)

        for at, body in enumerate(bodies):
            if b"/Parent" in body and b"/Dest [" in body:
                bodies[at] = _OUTLINE_PLACE.sub(lead, body, count=1)

    def _find_annotations(self, pages: Sequence[int], first: int) -> dict[int, list[int]]:
        """Return the numbers of the links and widgets of each page, by the number of the page."""
        found: dict[int, list[int]] = {}
        for number, link in enumerate(self._links, first):
            found.setdefault(pages[link.page - 1], []).append(number)
        if self._form is not None:
            for widget, page in zip(self._form.numbers, self._widget_pages, strict=True):
                found.setdefault(pages[page - 1], []).append(widget)
        return found

    def _describe(self, description: PdfMetadata) -> None:
        """Set the document information and the XMP packet.

        ReportLab's own information would contain the current date.
        """
        self._information = write_information(description.information, is_print=self.is_print)
        if "Title" in description.information:
            self.set_catalog("ViewerPreferences", WrittenObject(b"<< /DisplayDocTitle true >>"))
        # Uncompressed: programs without PDF support search the file for the packet.
        packet = write_stream([b"/Type /Metadata /Subtype /XML"], description.packet)
        self.set_catalog("Metadata", packet)

    def _add_intent(self, intent: OutputIntent) -> None:
        """Add the output intent; for print, the colours of RGB pictures, and the graphics states of black text."""
        about = write_text(_clean(intent.description))
        kind = (b"GTS_PDFA1", about) if intent.srgb is None else (b"GTS_PDFX", b"(Custom)")
        self._intents = NumberingObject(
            (),
            b"[<< /Type /OutputIntent /S /%b /OutputConditionIdentifier %b /Info "
            b"%b /OutputCondition %b /DestOutputProfile " % (*kind, about, about),
            write_stream([b"/N %d" % (3 if intent.srgb is None else 4), _FLATE], intent.profile),
            b" >>]",
        )
        self._canvas.name_object("PressroomIntents", self._intents)
        if intent.srgb is None:
            return
        calibrated = write_stream([b"/N 3 /Alternate /DeviceRGB", _FLATE], intent.srgb)
        self.add_color_space(b"/DefaultRGB", WrittenObject(b"[/ICCBased ", calibrated, b"]"))
        self._canvas.name_object(
            GRAPHICS_STATES.name,
            WrittenObject(
                b"<< /Over << /OP true /op true /OPM 1 >> /Knock << /OP false /op false /OPM 0 >> >>"
            ),
        )


class NumberingObject(WrittenObject):
    """An object that reveals the numbers of other objects when it is written.

    What is appended after ReportLab's objects refers to them: the structure tree to forms and widgets,
    pages to their widgets.
    """

    def __init__(self, objects: Sequence[pdfdoc.PDFObject], *parts: ObjectPart) -> None:
        super().__init__(*parts)
        self._objects = objects
        self.number = 0
        self.numbers: list[int] = []

    def format(self, document: object) -> bytes:
        """Return the body of the object. ReportLab calls this when it writes the file."""
        self.number = _number_of(document, self)
        self.numbers = [_number_of(document, each) for each in self._objects]
        return super().format(document)


def _number_of(document: Any, part: pdfdoc.PDFObject) -> int:
    return int(document.Reference(part).format(document).split()[0])


def _clean(text: str) -> str:
    """Replace lone surrogates, which no text string can represent."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def write_call(name: str) -> bytes:
    """Return the operator that paints an external object."""
    return b"%b Do\n" % resource_name(name)


def refer_to_xobject(name: str) -> pdfdoc.PDFObject:
    """Return a reference to an external object by its name."""
    return pdfdoc.PDFObjectReference(pdfdoc.xObjectName(name))


def resource_name(name: str) -> bytes:
    """Return the resource name by which content calls an external object."""
    resource: str = pdfdoc.xObjectName(name)
    return b"/" + resource.encode("ascii")


def write_resources(calls: Iterable[str]) -> list[ObjectPart]:
    """Return the resources of a page or form: the fonts of the document, and the external objects it calls."""
    return [b"<< /Font ", ALL_FONTS, COLOR_SPACES, GRAPHICS_STATES, *write_xobjects(calls), b" >>"]


def write_xobjects(calls: Iterable[str]) -> list[ObjectPart]:
    """Return the external objects that content calls as an entry of its resources."""
    called = [(resource_name(call), [refer_to_xobject(call)]) for call in dict.fromkeys(calls)]
    return [b" /XObject ", *write_dictionary(called)]


class SharedResources:
    """An entry of resources that all content of a document shares; nothing in a document without them."""

    def __init__(self, kind: str) -> None:
        self.name = f"Pressroom{kind}"
        self._key = kind.encode("ascii")

    def format(self, document: Any) -> bytes:
        """Return the entry. This is called when ReportLab writes the file."""
        found = document.idToObjectNumberAndVersion.get(self.name)
        return b" /%b %d 0 R" % (self._key, found[0]) if found else b""


COLOR_SPACES: Final = SharedResources("ColorSpace")
GRAPHICS_STATES: Final = SharedResources("ExtGState")  # of a file for print
ALL_FONTS: Final = pdfdoc.PDFObjectReference(pdfdoc.BasicFonts)


def _box(edge: float, size: tuple[float, float]) -> tuple[float, float, float, float]:
    return edge, edge, size[0] - edge, size[1] - edge
