"""Layout passes: pagination is repeated until page numbers are stable.

The page count is known only at the end, but a header that shows it may become taller for it, or the
last page may need another master. So each pass paginates with assumed numbers and then lays out
headers and footers with the true ones. If no height and no master changes, the pages are final;
otherwise the next pass assumes the numbers just found. Three passes suffice for every sensible
document. In the first one, headers and footers are only estimated from those of similar pages; a
document that then does not settle gets as many passes without estimates, and one that still changes
is an error. Nothing is drawn before the pages are final.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple, NoReturn

from workers.engine.diagnostics import Findings, Severity
from workers.engine.layout.blocks import columns, positioning, stacks
from workers.engine.layout.blocks.boxes import lay_out_box, measure_box
from workers.engine.layout.charts.plots import lay_out_chart, measure_chart
from workers.engine.layout.context import (
    EPSILON,
    Fonts,
    LayoutContext,
    LayoutFunction,
    LayoutProblem,
    MeasureFunction,
    PageCanvas,
)
from workers.engine.layout.display import LaidOutDocument, LaidOutPage, OutlineEntry
from workers.engine.layout.document_fonts import find_fonts
from workers.engine.layout.elements import figures, forms, lists, rows, text
from workers.engine.layout.elements.tables.layout import lay_out_table, measure_table
from workers.engine.layout.pages import page_checks, paper
from workers.engine.layout.pages.pagination import BODY, fill_pages, resolve_area
from workers.engine.layout.pages.source_map import ElementBox, MappingCanvas
from workers.engine.layout.references import PageReferences
from workers.engine.layout.structure import LogicalStructure
from workers.engine.ports import Resources
from workers.engine.tree import nodes
from workers.engine.tree.document import Document
from workers.engine.tree.memo import DocumentMemo

# How a block is laid out, and how its least and greatest widths are measured: those of its content,
# or of blocks whose content makes the size of their box, as a whole.
_CONTENTS: Final[Mapping[type, tuple[LayoutFunction, MeasureFunction]]] = {
    nodes.Paragraph: (text.lay_out_paragraph, text.measure_paragraph),
    nodes.Rule: (text.lay_out_rule, columns.measure_nothing),
    nodes.Container: (columns.lay_out_container, columns.measure_stack),
    nodes.Row: (rows.lay_out_row, rows.measure_row),
    nodes.Grid: (rows.lay_out_grid, rows.measure_grid),
    nodes.ListBlock: (stacks.lay_out_children, columns.measure_stack),
    nodes.ListItem: (lists.lay_out_item, columns.measure_stack),
    nodes.Table: (lay_out_table, measure_table),
    nodes.Contents: (lists.lay_out_contents, lists.measure_contents),
    nodes.Index: (lists.lay_out_contents, lists.measure_contents),
    nodes.Note: (lists.lay_out_note, lists.measure_note),
}
_WHOLE_BLOCKS: Final[Mapping[type, tuple[LayoutFunction, MeasureFunction]]] = {
    nodes.PageFoot: (positioning.lay_out_foot, columns.measure_nothing),
    nodes.Image: (figures.lay_out_image, figures.measure_image),
    nodes.Barcode: (figures.lay_out_barcode, figures.measure_barcode),
    nodes.Chart: (lay_out_chart, measure_chart),
    nodes.FormField: (forms.lay_out_field, forms.measure_field),
}
_BLOCKS: Final[Mapping[type, tuple[LayoutFunction, MeasureFunction]]] = {
    kind: (partial(lay_out_box, lay_out), partial(measure_box, measure))
    for kind, (lay_out, measure) in _CONTENTS.items()
} | {**_WHOLE_BLOCKS}
LAYOUTS: Final = {kind: lay_out for kind, (lay_out, _) in _BLOCKS.items()}
MEASURES: Final = {kind: measure for kind, (_, measure) in _BLOCKS.items()} | {
    nodes.Break: columns.measure_nothing
}


MAX_PASSES: Final = 3
MAX_REFERENCE_PASSES: Final = 5  # for a document that shows page numbers in its text
_LISTED: Final = 3


def lay_out(
    document: Document, *, resources: Resources, findings: Findings, fonts: Fonts | None = None
) -> LaidOutDocument:
    """Lay out a document; its pages are drawn, and problems reported in `findings`, as they are
    read.

    Raises:
        AuthoringError: The document cannot be paginated. Errors in `findings` are for the
            caller to raise.
    """
    return paginate(document, resources=resources, findings=findings, fonts=fonts).draw()


def paginate(
    document: Document, *, resources: Resources, findings: Findings, fonts: Fonts | None = None
) -> PaginatedDocument:
    """Assign the content of a document to pages without drawing them.

    Raises:
        AuthoringError: The document cannot be paginated.
    """
    paper.check_marks(document)
    if fonts is None:
        fonts = find_fonts(document.fonts, resources, findings)
        findings.raise_errors()
    memo = fonts.find_memo(document.memo)
    context = LayoutContext(
        resources=resources,
        findings=findings,
        fonts=fonts,
        layouts=LAYOUTS,
        measures=MEASURES,
        lay_out_rotated=positioning.lay_out_rotated,
        memo=DocumentMemo(memo),
        has_page_families=len({master.name for master in document.masters}) > 1,
        missing_glyph_severity=_missing_glyph_severity(document),
        places_floats=document.has_floats,
        references=(
            None
            if document.cross_references is None
            else PageReferences(document.cross_references, document.footnotes)
        ),
    )
    memo.begin_document()
    pages, numbers = _paginate(context, document)
    return PaginatedDocument(context, document, pages, numbers)


@dataclass(frozen=True, slots=True)
class PaginatedDocument:
    """A document whose pages are final but not drawn yet."""

    context: LayoutContext
    document: Document
    plans: Sequence[paper.PagePlan]
    numbers: paper.PageNumbers

    def draw(self) -> LaidOutDocument:
        """Return the document; its pages are drawn as they are read."""
        outline: list[OutlineEntry] = []
        structure = None
        if self.document.is_tagged:
            flows = [flow.name for flow in self.document.flows]
            structure = LogicalStructure(self.document.info.lang, flows)
        checks = page_checks.find_page_checks(self.document, structure, self.context.findings)
        return LaidOutDocument(
            _DrawnPages(self, outline, structure, checks),
            outline,
            structure,
            added_pages=int(self.plans[-1].is_added),
        )

    def find_boxes(self, index: int) -> list[ElementBox]:
        """Return the boxes of the elements on a page, counted from 0, in painting order.

        The page is drawn once more for this, and no problem is reported.
        """
        plan = self.plans[index]
        values = self.numbers.values(plan, index + 1)
        canvas = MappingCanvas(paper.make_page(plan.master), values=values)
        _draw_page(self.context, self.document, canvas, plan)
        return canvas.find_boxes()


def _missing_glyph_severity(document: Document) -> Severity:
    """Return the error severity if the author demands it, and for PDF/A and PDF/UA (ISO 19005-2, 6.2.11.8)."""
    has_promise = any(document.profiles)
    is_refused = document.refuses_missing_glyphs or has_promise
    return Severity.ERROR if is_refused else Severity.WARNING


def _paginate(
    context: LayoutContext, document: Document
) -> tuple[list[paper.PagePlan], paper.PageNumbers]:
    """Repeat passes until the pages are stable; return them and their numbers."""
    result = _repeat_passes(
        context, document, paper.PageNumbers(is_duplex=document.is_duplex, is_estimated=True)
    )
    if result.moved or result.names:
        result = _repeat_passes(context, document, paper.PageNumbers(is_duplex=document.is_duplex))
    if result.moved or result.names:
        _raise_not_settled(context, result)
    _report_unplaced(context)
    return result.pages, result.numbers


class _Passes(NamedTuple):
    """The result of the last pass: sources of what moved in it, and names of such references."""

    pages: list[paper.PagePlan]
    numbers: paper.PageNumbers
    moved: Sequence[nodes.Source]
    names: Sequence[str]


def _repeat_passes(
    context: LayoutContext, document: Document, page_numbers: paper.PageNumbers
) -> _Passes:
    """Repeat passes until nothing moves in one, or there were too many."""
    references, running = context.references, document.running_values
    pages: list[paper.PagePlan] = []
    moved: list[nodes.Source] = []
    names: list[str] = []
    for _ in range(MAX_PASSES if references is None else MAX_REFERENCE_PASSES):
        pages = fill_pages(context, document, page_numbers)
        page_numbers = paper.count_pages(pages, page_numbers)
        if running is not None:
            anchors = paper.locate_anchors(pages, page_numbers)
            positions = {name: page.position for name, page in anchors.items()}
            page_numbers.running = running.resolve(positions, len(pages))
        moved = _update_running_content(context, document, pages, page_numbers)
        if references is not None:
            names = references.update(context.memo)
        if not moved and not names:
            break
    if references is not None:
        references.areas_before.clear()  # their contexts have the references
    return _Passes(pages, page_numbers, moved, names)


def _raise_not_settled(context: LayoutContext, result: _Passes) -> NoReturn:
    """Raise the error of pages that change in each pass, with what it is that changes them."""
    references, places = context.references, [source.location for source in result.moved]
    attempts, why = (
        MAX_PASSES,
        (
            ", because their content depends on page numbers that depend on it. Give headers and footers a "
            "fixed height, or let them show less of the page count."
        ),
    )
    if references is not None and result.names:
        attempts = MAX_REFERENCE_PASSES
        counted = {} if references.footnotes is None else references.footnotes.page_numbered
        notes = [counted[name].source.location for name in result.names if name in counted]
        requested = references.cross_references.requested_pages
        named = [f'"{name}"' for name in result.names if name[0] != ":"][:_LISTED]
        what = f" of {', '.join(named)}" if named else ""
        why = (
            f": the page{what} that is shown moves what it is the page of. Put a page break before it, "
            "or show its number or text."
        )
        places = [requested[name].location for name in result.names if name in requested] + places
        if notes:
            why = (
                ": the numbers of notes that count on their pages move their calls to other pages. Let "
                'notes count through the document: count-per="document"'
            )
            places = notes[:_LISTED]
    message = f"The pages still change after {attempts} attempts{why}"
    context.findings.error("not-settled", message, *dict.fromkeys(places))
    raise context.findings.to_error()


def _report_unplaced(context: LayoutContext) -> None:
    """Report page references to content that is on no page."""
    unplaced = () if context.references is None else context.references.find_unplaced()
    for name, source in unplaced:
        if name[0] != ":":  # a clipped index mark is left out of the index
            context.findings.error(
                "no-page",
                f'The page of "{name}" is shown, but it is on no page: it is cut off, or left out',
                source.location,
            )


def _update_running_content(
    context: LayoutContext,
    document: Document,
    pages: Sequence[paper.PagePlan],
    numbers: paper.PageNumbers,
) -> list[nodes.Source]:
    """Lay out headers and footers with the true numbers; return the sources of changed heights and masters."""
    moved: list[nodes.Source] = []
    families = paper.group_by_family(document.masters)
    for index, plan in enumerate(pages, start=1):
        master, before = plan.master, plan.running_content
        is_last = numbers.is_last(plan)
        wanted = paper.select_master(families, master.name, plan, is_last=is_last)
        if wanted.on is not master.on:
            moved += [page.source for page in (wanted, master) if page.source is not None]
            continue
        values = numbers.values(plan, index)
        plan.running_content = after = paper.lay_out_running_content(context, master, values)
        if master.header and abs(after.header.height - before.header.height) > EPSILON:
            moved.append(master.header.source)
        if master.footer and abs(after.footer.height - before.footer.height) > EPSILON:
            moved.append(master.footer.source)
    return moved


@dataclass(frozen=True, slots=True)
class _DrawnPages:
    """The pages of a paginated document, drawn as they are read."""

    paginated: PaginatedDocument
    outline: list[OutlineEntry]
    structure: LogicalStructure | None
    checks: Sequence[page_checks.PageCheck]

    def __len__(self) -> int:
        return len(self.paginated.plans)

    def __iter__(self) -> Iterator[LaidOutPage]:
        self.outline.clear()
        paginated, reported = self.paginated, set[LayoutProblem]()
        for index, plan in enumerate(paginated.plans, start=1):
            page = paper.make_page(plan.master)
            canvas = PageCanvas(
                page,
                values=paginated.numbers.values(plan, index),
                outline=self.outline,
                findings=paginated.context.findings,
                reported=reported,
                structure=self.structure,
            )
            _draw_page(paginated.context, paginated.document, canvas, plan)
            for check in self.checks:
                check(index, page)
            yield page


def _draw_page(
    context: LayoutContext, document: Document, canvas: PageCanvas, plan: paper.PagePlan
) -> None:
    """Draw a page from its background to its foreground."""
    master, page = plan.master, canvas.page
    is_last = canvas.values.is_last and not plan.is_blank
    applying = paper.applying_occurrences(plan, is_last=is_last)
    marks = [mark for mark in (*document.watermarks, *master.watermarks) if mark.on in applying]
    for mark in marks:
        if mark.source is not None:
            context.report_missing_glyphs(mark.text, mark.source)
    boxes = () if master.boxes is None else master.boxes.evaluate(canvas.values)
    paper.check_room(canvas, plan)
    paper.draw_background(context, master, page.items)
    paper.draw_watermarks(context, marks, page, are_over=False)
    start, canvas.checks_codes = len(page.items), document.has_print_checks
    paper.draw_page_boxes(context, canvas, boxes, are_over=False)
    paper.draw_running_content(canvas, plan)
    _check_areas(context, canvas, plan)
    for filled in plan.filled_areas:
        if canvas.structure is not None:
            canvas.structure.enter_flow(BODY if filled.area is None else filled.area.flow)
        filled.fragment.draw(canvas, filled.rectangle.x, filled.rectangle.y)
        if canvas.structure is not None:
            canvas.structure.leave()
    paper.draw_page_boxes(context, canvas, boxes, are_over=True)
    paper.draw_marks(canvas, master.marks, document.reserved_zones)
    page_checks.check_zones(canvas, start)
    paper.draw_watermarks(context, marks, page, are_over=True)
    paper.draw_crop_marks(page)


def _check_areas(context: LayoutContext, canvas: PageCanvas, plan: paper.PagePlan) -> None:
    """Report areas that extend beyond the paper."""
    page_area = paper.find_page_area(plan)
    for area in plan.master.areas:
        positioning.report_outside(context, area.source, resolve_area(area, page_area), canvas)
