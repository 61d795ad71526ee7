"""Checks of a document's pictures before layout, for the errors that would stop a render."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from workers.engine.diagnostics import Findings, SourceLocation
from workers.engine.layout.images.prepare import load_image
from workers.engine.layout.pictures import (
    describe_consequence,
    warn_of_omissions,
    warn_of_stretching,
)
from workers.engine.layout.problems import ContentProblem
from workers.engine.ports import NoResources, Resources
from workers.engine.tree.document import Document, PageMaster, RunningBox, Watermark
from workers.engine.tree.elements.page_content import VALIDATION_PAGE
from workers.engine.tree.image_sources import (
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
    Table,
    TableRow,
)
from workers.engine.tree.page_values import FragmentValues

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
    places = () if use.place is None else (use.place,)
    if use.consequence:
        findings.warn(problem.code, f"{problem.text}; {use.consequence}", *places)
    elif use.is_certain:
        advice = f". {problem.advice}{use.advice}" if problem.advice else ""
        findings.error(problem.code, f"{problem.text}{use.what}{advice}", *places)
    else:
        findings.warn(problem.code, f"{problem.text}{use.what}{_UNCERTAIN}", *places)


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
            master.background_image,
            place,
            ", for the background of the page",
            paper=(across, down),
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
