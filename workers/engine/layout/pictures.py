"""The pictures of one document: each is loaded and prepared once, however often it is used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from workers.engine.diagnostics import Findings, SourceLocation
from workers.engine.layout.context import ContentProblem, LayoutContext
from workers.engine.layout.display import Drawable
from workers.engine.layout.images.prepare import load_image
from workers.engine.pdf_pages import ImportedPage
from workers.engine.ports import NoResources, Resources
from workers.engine.prepared_images import PreparedImage
from workers.engine.svg import VectorImage
from workers.engine.tree.compiler.builders import VALIDATION_PAGE
from workers.engine.tree.document import Document, PageMaster, RunningBox, Watermark
from workers.engine.tree.memo import Kind
from workers.engine.tree.node_values import (
    ImageSource,
    RemoteImage,
    StoredImage,
    parse_image_source,
)
from workers.engine.tree.nodes import (
    Block,
    Break,
    Container,
    Contents,
    Grid,
    Image,
    Index,
    InlineBlock,
    ListBlock,
    Occurrence,
    Paragraph,
    Row,
    Source,
    Table,
    TableRow,
)
from workers.engine.tree.page_values import FragmentValues
from workers.engine.units import mm

_MAX_STRETCHED: Final = 1.03  # a bleed of 3 mm beside an A5 page without one


_PICTURES: Final[Kind[ImageSource, Drawable | ContentProblem]] = Kind()


def find_picture(
    context: LayoutContext, picture: ImageSource | str | bytes, source: Source | None
) -> Drawable | ContentProblem:
    """Return a prepared picture, or the problem why it cannot be drawn.

    Styles hold the unparsed value, which is parsed here. Parts of an SVG or PDF that are not drawn, and
    characters of an SVG without a glyph, are reported once, at the first element that draws it.
    """
    parsed = parse_image_source(picture) if isinstance(picture, str | bytes) else picture

    def load() -> Drawable | ContentProblem:
        image = load_image(parsed, context.resources)
        if not isinstance(image, ContentProblem):
            warn_of_omissions(image, None if source is None else source.location, context.findings)
        if isinstance(image, VectorImage) and image.missing:
            context.report_missing_glyphs(image.missing, source)
        return image

    return context.memo.remember(_PICTURES, parsed, load)


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


def find_fallback(context: LayoutContext, node: Image) -> Container | None:
    """Return what is laid out in place of an image that cannot be drawn, None for other images."""
    if node.fallback is None:
        return None
    prepared = find_picture(context, node.picture, node.source)
    if not isinstance(prepared, ContentProblem):
        return None
    warn_of_missing(context, node, prepared)
    return node.fallback


def warn_of_missing(context: LayoutContext, node: Image, problem: ContentProblem) -> None:
    """Warn about an optional image that cannot be drawn."""
    message = f"{problem.text}; {describe_consequence(node)}"
    context.findings.warn(problem.code, message, node.source.location)


def describe_consequence(node: Image) -> str:
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
_OTHER_FRAGMENTS: Final = (Occurrence.REST, Occurrence.LAST, Occurrence.NOT_LAST)


class _Use(NamedTuple):
    """A use of a picture. One `is_certain` is drawn by every render of the document."""

    picture: ImageSource
    place: SourceLocation | None
    what: str = ""
    is_certain: bool = True
    consequence: str = ""  # of an optional one that cannot be drawn
    advice: str = ""
    paper: tuple[float, float] | None = None  # that the picture fills


def check_pictures(document: Document, *, resources: Resources | None, findings: Findings) -> None:
    """Report the stored and embedded pictures that cannot be drawn, as a render does.

    Remote pictures are not fetched. Without `resources`, stored pictures are not looked up.
    """
    known: dict[ImageSource, ContentProblem | None] = {}
    for use in _walk_document(document):
        picture = use.picture
        if isinstance(picture, RemoteImage) or (
            resources is None and isinstance(picture, StoredImage)
        ):
            continue
        if picture not in known:
            known[picture] = _check(use, resources or NoResources(), findings)
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
        for use in walk.blocks(flow.blocks):
            # Additional flows fill areas, which not every page has.
            yield use if flow is document.flows[0] else _as_uncertain(use)
    for mark in document.watermarks:
        yield from _walk_watermark(mark)
    first_page = "" if walk.changes_pages or not document.flows else document.flows[0].page
    members = Counter(master.name for master in document.masters)
    for master in document.masters:
        is_drawn = master.name == first_page and (
            master.on is Occurrence.FIRST
            or (master.on is Occurrence.ALL and members[master.name] == 1)
        )
        for use in _walk_master(master, walk):
            yield use if is_drawn else _as_uncertain(use)


def _as_uncertain(use: _Use) -> _Use:
    """Return a use that a render may do without."""
    return use._replace(is_certain=False)


def _walk_master(master: PageMaster, walk: _Walk) -> Iterator[_Use]:
    if master.background_image is not None:
        place = None if master.source is None else master.source.location
        across, down = (side + 2 * master.bleed for side in (master.width, master.height))
        yield _Use(
            master.background_image, place, ", for the background of the page", paper=(across, down)
        )
    for mark in master.watermarks:
        yield from _walk_watermark(mark)
    for running in (master.header, master.footer):
        if running is not None:
            yield from _walk_running_box(running, walk)
    if master.boxes is not None:
        is_static = master.boxes.is_static
        for use in walk.blocks(master.boxes.evaluate(VALIDATION_PAGE)):
            yield use if is_static else _as_uncertain(use)


def _walk_running_box(running: RunningBox, walk: _Walk) -> Iterator[_Use]:
    for use in walk.blocks(running.content.evaluate(VALIDATION_PAGE)):
        yield use if running.content.is_static else _as_uncertain(use)


def _walk_watermark(mark: Watermark) -> Iterator[_Use]:
    if mark.picture is not None:
        place = None if mark.source is None else mark.source.location
        yield _Use(mark.picture, place, ", for the watermark")


class _Walk:
    """Walks blocks and records whether any of them requires a page family."""

    def __init__(self) -> None:
        self.changes_pages = False

    def blocks(self, blocks: Iterable[Block]) -> Iterator[_Use]:
        for block in blocks:
            yield from self._block(block)

    def _block(self, block: Block) -> Iterator[_Use]:
        if isinstance(block, Break):
            return
        style = block.style
        self.changes_pages = self.changes_pages or style.breaks.page is not None
        named = style.box.background_image
        if named is not None:
            tag = block.source.location.tag_name
            text = f", for the background of `{tag}`"
            yield _Use(parse_image_source(named), block.source.location, text)
        match block:
            case Image():
                yield _image_use(block)
            case Paragraph():
                for inline in block.inlines:
                    if isinstance(inline, InlineBlock) and isinstance(inline.block, Image):
                        yield _image_use(inline.block)
            case Container() | Row() | Grid():
                yield from self.blocks(block.children)
            case ListBlock():
                for item in block.items:
                    yield from self.blocks(item.children)
            case Table():
                yield from self._table(block)
            case Contents() | Index():
                yield from self._entries(block)
            case _:
                pass

    def _entries(self, block: Contents | Index) -> Iterator[_Use]:
        for entry in block.entries:
            named = entry.style.box.background_image
            if named is not None:
                text = f", for the background of `{block.source.location.tag_name}`"
                use = _Use(parse_image_source(named), block.source.location, text)
                yield _as_uncertain(use)  # a level may be without entries

    def _table(self, table: Table) -> Iterator[_Use]:
        for body in table.bodies:
            yield from self._rows(body.rows)
        for caption in table.captions:
            for use in self._block(caption.block):
                yield _as_uncertain(use) if caption.on in _OTHER_FRAGMENTS else use
        starts = tuple(total.start for total in table.totals)
        values = FragmentValues(starts, starts, starts, starts, VALIDATION_PAGE)
        for group in (*table.heads, *table.feet):
            is_certain = group.rows.is_static and group.on not in _OTHER_FRAGMENTS
            for use in self._rows(group.rows.evaluate(values)):
                yield use if is_certain else _as_uncertain(use)

    def _rows(self, rows: Iterable[TableRow]) -> Iterator[_Use]:
        for row in rows:
            for content in row.cells:
                if not isinstance(content, str):
                    yield from self.blocks(content)


def _image_use(image: Image) -> _Use:
    return _Use(
        image.picture,
        image.source.location,
        consequence=describe_consequence(image) if image.is_optional else "",
        advice=' With optional="true" it is left out.',
    )
