"""Pictures: their format is detected by their bytes, equal bytes are prepared once, and a document loads
each once, however often it is used.

The name and the declared type of an image do not count.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Final, NamedTuple

from workers.engine.diagnostics import Findings, SourceLocation
from workers.engine.layout.context import ContentProblem, LayoutContext
from workers.engine.layout.display import Drawable
from workers.engine.layout.images import (
    PNG_SIGNATURE,
    prepare_decoded,
    prepare_jpeg,
    prepare_png,
    prepare_webp,
)
from workers.engine.layout.output_intents import MEDIA_TYPE, describe_profile, is_icc_profile
from workers.engine.pdf_pages import ImportedPage, UnusablePdfError, import_page, is_pdf
from workers.engine.ports import ImageUnavailableError, Resources
from workers.engine.prepared_images import (
    DECODER_ERRORS,
    EXPORT_AGAIN,
    POINTS_PER_PIXEL,
    PreparedImage,
    UndrawableError,
)
from workers.engine.svg import VectorImage, convert_svg, is_svg
from workers.engine.syntax.identifiers import ImageSource
from workers.engine.tree import nodes
from workers.engine.tree.compiler.builders import VALIDATION_PAGE
from workers.engine.tree.document import Document, PageMaster, Watermark
from workers.engine.tree.memo import Kind
from workers.engine.tree.page_values import FragmentValues
from workers.engine.tree.styles.computed import Style
from workers.engine.units import mm


@dataclass(frozen=True, slots=True)
class ImageFormat:
    """A format of pictures in pixels, and how a file of it is prepared.

    Those that are not `is_stored` are drawn where a document has or names them, and cannot be uploaded.
    """

    label: str
    media_type: str
    suffixes: tuple[str, ...]
    signature: re.Pattern[bytes]
    prepare: Callable[[bytes, str], PreparedImage]
    is_stored: bool = False


def _decoded(label: str, *suffixes: str, signature: bytes) -> ImageFormat:
    return ImageFormat(
        label,
        f"image/{label.lower()}",
        suffixes,
        re.compile(signature, re.DOTALL),
        partial(prepare_decoded, kind=label),
    )


FORMATS: Final = (
    ImageFormat(
        "PNG", "image/png", (".png",), re.compile(re.escape(PNG_SIGNATURE)), prepare_png, True
    ),
    ImageFormat(
        "JPEG", "image/jpeg", (".jpg", ".jpeg"), re.compile(rb"\xff\xd8\xff"), prepare_jpeg, True
    ),
    ImageFormat(
        "WebP",
        "image/webp",
        (".webp",),
        re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
        prepare_webp,
        True,
    ),
    _decoded("AVIF", ".avif", signature=rb".{4}ftypavi[fs]"),
    _decoded("GIF", ".gif", signature=rb"GIF8[79]a"),
    _decoded("BMP", ".bmp", signature=rb"BM.{4}\0\0\0\0"),
    _decoded("TIFF", ".tif", ".tiff", signature=rb"II\*\0|MM\0\*"),
)
# Drawings and pages of PDFs are no pixels.
SUFFIXES: Final = (*(suffix for each in FORMATS for suffix in each.suffixes), ".svg", ".pdf")


def find_format(data: bytes) -> ImageFormat | None:
    """Return the format of pixels by the signature of a file, None for other files."""
    return next((each for each in FORMATS if each.signature.match(data)), None)


def list_labels(*more: str, stored: bool = False) -> str:
    """Return the names of the formats, or of those that are stored, for `neither`."""
    labels = [each.label for each in FORMATS if each.is_stored or not stored]
    *first, last = (*labels, *more)
    return f"{', '.join(first)} nor {last}"


CHECKED_PAGES: Final = 10  # of a PDF; renders check each page that they draw


@dataclass(frozen=True, slots=True)
class ImageProperties:
    """Media type and size of a drawable image.

    `width` and `height` are pixels as stored in the file, before EXIF orientation; of an SVG, and of
    the first page of a PDF, they are CSS px, rounded, at least 1.
    """

    media_type: str
    width: int
    height: int


def read_image_properties(data: bytes) -> ImageProperties | ContentProblem:
    """Return the properties of an image, or the problem with which a render refuses it.

    ICC profiles for print are stored as images are; they have no pixels.
    """
    if is_icc_profile(data):
        try:
            describe_profile(data)
        except ValueError as error:
            return ContentProblem(CODE, f"The file is {error}", "Store that of the printer.")
        return ImageProperties(MEDIA_TYPE, 0, 0)
    found = find_format(data)
    if (found is None and not (is_svg(data) or is_pdf(data))) or (found and not found.is_stored):
        labels = list_labels("SVG", "PDF", stored=True)
        return ContentProblem(CODE, f"The image is neither {labels}", CONVERT)
    image = prepare_image(data)
    if isinstance(image, ContentProblem):
        return image
    if isinstance(image, ImportedPage):
        return _read_pdf_properties(data, image)
    if isinstance(image, VectorImage):
        return ImageProperties(
            "image/svg+xml", max(1, round(image.width)), max(1, round(image.height))
        )
    assert found is not None, "an image that was prepared has a known signature"
    return ImageProperties(found.media_type, image.pixels.width, image.pixels.height)


def _read_pdf_properties(data: bytes, first: ImportedPage) -> ImageProperties | ContentProblem:
    for number in range(2, min(first.pages, CHECKED_PAGES) + 1):
        page = prepare_image(data, number)
        if isinstance(page, ContentProblem):
            return ContentProblem(page.code, f"Page {number}: {page.text}", page.advice)
    width, height = (
        max(1, round(side / POINTS_PER_PIXEL)) for side in (first.width_points, first.height_points)
    )
    return ImageProperties("application/pdf", width, height)


CODE: Final = "image-data"
MISSING_CODE: Final = "image-missing"
STORE: Final = "Store the image, or correct its name."
CHECK_ADDRESS: Final = "Correct the address, or store the image in the workspace."
NO_PAGE: Final = "Remove the number of the page, or store a PDF."
CONVERT: Final = "Convert it to one of these."
CACHED_BYTES: Final = 48 * 1024 * 1024  # of prepared images per process


def load_image(picture: ImageSource, resources: Resources) -> Drawable | ContentProblem:
    """Fetch and prepare an image that a document names, or return the problem."""
    value = picture.value
    if isinstance(value, bytes):
        return prepare_image(value, picture.page)
    text, advice = f'The workspace holds no image named "{value}"', STORE
    if picture.is_remote:
        text, advice = f'The image at "{value}" cannot be fetched', CHECK_ADDRESS
    try:
        find = resources.find_remote_image if picture.is_remote else resources.find_image
        data = find(value)
    except ImageUnavailableError as error:
        return ContentProblem(MISSING_CODE, f"{text}: {error}", advice)
    if data is None:
        return ContentProblem(MISSING_CODE, text, advice)
    return prepare_image(data, picture.page)


def prepare_image(data: bytes, page: int = 1) -> Drawable | ContentProblem:
    """Check and prepare image bytes, or a page of a PDF.

    Equal bytes are prepared once while they are cached, each page of a PDF on its own.
    """
    digest = sha256(data).hexdigest()
    key = digest if page == 1 else f"p{page}-{digest}"
    cached = _cache.find(key)
    if cached is not None:
        return cached
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of damaged Exif data, which are ignored
            prepared = _prepare(data, key, page)
    except (UndrawableError, UnusablePdfError) as error:
        return ContentProblem(CODE, str(error), error.advice)
    except DECODER_ERRORS:
        return ContentProblem(
            CODE, "The image is damaged: its data cannot be decoded", EXPORT_AGAIN
        )
    _cache.put(prepared)
    return prepared


class _ImageCache:
    """Prepared images, least recently used first, up to `CACHED_BYTES`."""

    def __init__(self) -> None:
        self._images: OrderedDict[str, Drawable] = OrderedDict()
        self._size = 0

    def find(self, key: str) -> Drawable | None:
        image = self._images.get(key)
        if image is not None:
            self._images.move_to_end(key)
        return image

    def put(self, image: Drawable) -> None:
        self._images[image.key] = image
        self._size += _size(image)
        while self._size > CACHED_BYTES:
            _, oldest = self._images.popitem(last=False)
            self._size -= _size(oldest)


_cache = _ImageCache()


def _size(image: Drawable) -> int:
    if isinstance(image, VectorImage | ImportedPage):
        return image.memory_bytes
    return len(image.pixels.data) + (len(image.mask.data) if image.mask else 0)


def _prepare(data: bytes, key: str, page: int) -> Drawable:
    if find_format(data) is None and is_pdf(data):
        return import_page(data, page, key)
    if page != 1:
        raise UndrawableError(
            f"The image is not a PDF, and its page {page} is drawn", advice=NO_PAGE
        )
    if is_svg(data):
        return convert_svg(data, key, _prepare_raster)
    return _prepare_pixels(data, key, f"The image is neither {list_labels('SVG', 'PDF')}")


def _prepare_raster(data: bytes) -> PreparedImage:
    """Prepare an image embedded in an SVG."""
    key = sha256(data).hexdigest()
    return _prepare_pixels(data, key, f"The image is neither {list_labels()}")


def _prepare_pixels(data: bytes, key: str, message: str) -> PreparedImage:
    found = find_format(data)
    if found is None:
        raise UndrawableError(message, advice=CONVERT)
    return found.prepare(data, key)


_MAX_STRETCHED: Final = 1.03  # a bleed of 3 mm beside an A5 page without one


_PICTURES: Final[Kind[ImageSource, Drawable | ContentProblem]] = Kind()


def find_picture(
    context: LayoutContext, picture: ImageSource, source: nodes.Source | None
) -> Drawable | ContentProblem:
    """Return a prepared picture, or the problem why it cannot be drawn.

    Parts of an SVG or PDF that are not drawn, and
    characters of an SVG without a glyph, are reported once, at the first element that draws it.
    """

    def load() -> Drawable | ContentProblem:
        image = load_image(picture, context.resources)
        if not isinstance(image, ContentProblem):
            warn_of_omissions(image, None if source is None else source.location, context.findings)
        if isinstance(image, VectorImage) and image.missing:
            context.report_missing_glyphs(image.missing, source)
        return image

    return context.memo.remember(_PICTURES, picture, load)


def warn_of_stretching(
    image: Drawable, width: float, height: float, place: SourceLocation | None, findings: Findings
) -> None:
    """Warn of a page of a PDF that fills paper of other proportions, such as one across."""
    if not isinstance(image, ImportedPage):
        return
    stretched = width * image.height_points / (height * image.width_points)
    if max(stretched, 1 / stretched) > _MAX_STRETCHED:
        across, down = (side / mm(1) for side in (image.width_points, image.height_points))
        findings.warn(
            "background-stretched",
            f"The page of the PDF has {across:.0f} × {down:.0f} mm and is stretched to the "
            f"{width / mm(1):.0f} × {height / mm(1):.0f} mm of the paper; use one of its proportions",
            place,
        )


def find_fallback(context: LayoutContext, node: nodes.Image) -> nodes.Container | None:
    """Return what is laid out in place of an image that cannot be drawn, None for other images."""
    if node.fallback is None:
        return None
    prepared = find_picture(context, node.picture, node.source)
    if not isinstance(prepared, ContentProblem):
        return None
    warn_of_missing(context, node, prepared)
    return node.fallback


def warn_of_missing(context: LayoutContext, node: nodes.Image, problem: ContentProblem) -> None:
    """Warn about an optional image that cannot be drawn."""
    message = f"{problem.text}; {describe_consequence(node)}"
    context.findings.warn(problem.code, message, node.source.location)


def describe_consequence(node: nodes.Image) -> str:
    """Return the end of a message about an optional image that cannot be drawn."""
    return "it is left out" if node.fallback is None else "its alternative text is drawn"


def warn_of_omissions(image: Drawable, place: SourceLocation | None, findings: Findings) -> None:
    """Warn about the parts of an SVG, or of a page of a PDF, that are not drawn."""
    if isinstance(image, PreparedImage) or not image.omitted:
        return
    what = ", ".join(image.omitted)
    if isinstance(image, VectorImage):
        findings.warn("svg-left-out", f"The SVG image is drawn without {what}", place)
    else:
        findings.warn("pdf-left-out", f"The page of the PDF is drawn without {what}", place)


_UNCERTAIN: Final = "; it is on some pages only, so a render may succeed without it"
_OTHER_FRAGMENTS: Final = (nodes.Occurrence.REST, nodes.Occurrence.LAST, nodes.Occurrence.NOT_LAST)


class _Use(NamedTuple):
    """A use of a picture. One `is_certain` is drawn by every render of the document."""

    picture: ImageSource
    place: SourceLocation | None
    what: str = ""
    is_certain: bool = True
    consequence: str = ""  # of an optional one that cannot be drawn
    advice: str = ""
    paper: tuple[float, float] | None = None  # that the picture fills
    behind: ImageSource | None = None  # the optional one without which it is not drawn


def check_pictures(document: Document, *, resources: Resources | None, findings: Findings) -> None:
    """Report the stored and embedded pictures that cannot be drawn, as a render does.

    Remote pictures are not fetched. Without `resources`, stored pictures are not looked up.
    """
    known: dict[ImageSource, ContentProblem | None] = {}
    for use in _walk_document(document):
        picture = use.picture
        if use.behind is not None and known.get(use.behind) is not None:
            continue
        if picture.is_remote or (resources is None and isinstance(picture.value, str)):
            continue
        if picture not in known:
            known[picture] = _check(use, resources or Resources(), findings)
        problem = known[picture]
        if problem is not None:
            _report(use, problem, findings)


def _check(use: _Use, resources: Resources, findings: Findings) -> ContentProblem | None:
    found = load_image(use.picture, resources)
    if isinstance(found, ContentProblem):
        return found
    warn_of_omissions(found, use.place, findings)
    if use.paper is not None:
        warn_of_stretching(found, *use.paper, use.place, findings)
    return None


def _report(use: _Use, problem: ContentProblem, findings: Findings) -> None:
    if use.consequence:
        findings.warn(problem.code, f"{problem.text}; {use.consequence}", use.place)
    elif use.is_certain:
        advice = f". {problem.advice}{use.advice}" if problem.advice else ""
        findings.error(problem.code, f"{problem.text}{use.what}{advice}", use.place)
    else:
        findings.warn(problem.code, f"{problem.text}{use.what}{_UNCERTAIN}", use.place)


# --- where pictures are ---------------------------------------------------------------------------------


def _walk_document(document: Document) -> Iterator[_Use]:
    walk = _Walk()
    for flow in document.flows:
        # Additional flows fill areas, which not every page has.
        yield from walk.blocks(flow.blocks, flow is document.flows[0])
    if document.footnotes is not None:
        yield from walk.blocks(document.footnotes.by_call.values(), len(document.flows) == 1)
    for mark in document.watermarks:
        yield from _walk_watermark(mark, True)
    first_page = "" if walk.changes_pages or not document.flows else document.flows[0].page
    members = Counter(master.name for master in document.masters)
    for master in document.masters:
        is_drawn = master.name == first_page and (
            master.on is nodes.Occurrence.FIRST
            or (master.on is nodes.Occurrence.ALL and members[master.name] == 1)
        )
        yield from _walk_master(master, walk, is_drawn)


def _walk_master(master: PageMaster, walk: _Walk, is_certain: bool) -> Iterator[_Use]:
    if master.background_image is not None:
        place = None if master.source is None else master.source.location
        paper = (master.width + 2 * master.bleed, master.height + 2 * master.bleed)
        what = ", for the background of the page"
        yield _Use(master.background_image, place, what, is_certain, paper=paper)
    for mark in master.watermarks:
        yield from _walk_watermark(mark, is_certain)
    running = [box.content for box in (master.header, master.footer) if box is not None]
    for content in running if master.boxes is None else [*running, master.boxes]:
        yield from walk.blocks(content.evaluate(VALIDATION_PAGE), is_certain and content.is_static)


def _walk_watermark(mark: Watermark, is_certain: bool) -> Iterator[_Use]:
    if mark.picture is not None:
        place = None if mark.source is None else mark.source.location
        yield _Use(mark.picture, place, ", for the watermark", is_certain)


class _Walk:
    """Walks blocks and records whether any of them requires a page family."""

    def __init__(self) -> None:
        self.changes_pages = False

    def blocks(
        self, blocks: Iterable[nodes.Block | nodes.ListItem], is_certain: bool
    ) -> Iterator[_Use]:
        for block in blocks:
            yield from self._block(block, is_certain)

    def _block(self, block: nodes.Block | nodes.ListItem, is_certain: bool) -> Iterator[_Use]:
        self.changes_pages = self.changes_pages or block.style.breaks.page is not None
        if isinstance(block, nodes.Image):
            yield from _image_uses(block, is_certain)
            return
        yield from _background_use(block, block.style, is_certain)
        match block:
            case nodes.Paragraph():
                for inline in block.inlines:
                    if isinstance(inline, nodes.InlineBlock):
                        yield from self._block(inline.block, is_certain)
            case nodes.Table():
                yield from self._table(block, is_certain)
            case nodes.Contents() | nodes.Index():
                for entry in block.entries:  # a level may be without entries
                    yield from _background_use(block, entry.style, is_certain=False)
            case _:
                yield from self.blocks(nodes.child_blocks(block), is_certain)

    def _table(self, table: nodes.Table, is_certain: bool) -> Iterator[_Use]:
        for body in table.bodies:
            yield from self._rows(body.rows, is_certain)
        for caption in table.captions:
            yield from self._block(caption.block, is_certain and caption.on not in _OTHER_FRAGMENTS)
        starts = tuple(total.start for total in table.totals)
        values = FragmentValues(starts, starts, starts, starts, VALIDATION_PAGE)
        for group in (*table.heads, *table.feet):
            is_drawn = group.rows.is_static and group.on not in _OTHER_FRAGMENTS
            yield from self._rows(group.rows.evaluate(values), is_certain and is_drawn)

    def _rows(self, rows: Iterable[nodes.TableRow], is_certain: bool) -> Iterator[_Use]:
        for row in rows:
            for content in row.cells:
                if not isinstance(content, str):
                    yield from self.blocks(content, is_certain)


def _background_use(block: nodes.SourceNode, style: Style, is_certain: bool) -> Iterator[_Use]:
    named = style.box.background_image
    if named is not None:
        place = block.source.location
        text = f", for the background of `{place.tag_name}`"
        yield _Use(named, place, text, is_certain)


def _image_uses(image: nodes.Image, is_certain: bool) -> Iterator[_Use]:
    yield _Use(
        image.picture,
        image.source.location,
        is_certain=is_certain,
        consequence=describe_consequence(image) if image.is_optional else "",
        advice=' With optional="true" it is left out.',
    )
    # One that is left out has no background; a remote one is not fetched here.
    is_there = not (image.is_optional and image.picture.is_remote)
    for use in _background_use(image, image.style, is_certain and is_there):
        yield use._replace(behind=image.picture if image.is_optional else None)
