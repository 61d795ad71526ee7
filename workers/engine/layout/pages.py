"""Pages: the flows poured into page after page between growing headers and footers.

How many pages there are is known only at the end, and a header that says so may be taller for it,
or the last page be another one. So the flows are poured with assumed numbers, then headers and
footers are laid out with the true ones; when none is of another height and every page is of the
right master the pages stand, else the flows are poured again with the numbers just found. Three
passes settle every sensible document; one that still moves is an error. Nothing is drawn before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

from workers.engine.diagnostics import Findings, Severity
from workers.engine.layout.areas import find_rectangle
from workers.engine.layout.conformance import watch_conformance
from workers.engine.layout.context import (
    EPSILON,
    Context,
    Fonts,
    Misfit,
    Sheet,
)
from workers.engine.layout.crossings import CrossState, find_pages
from workers.engine.layout.declared_fonts import find_fonts
from workers.engine.layout.display import LaidOut, OutlineEntry, Page
from workers.engine.layout.furniture import (
    check_room,
    draw_boxes,
    draw_running,
    evaluate_boxes,
    furnish,
    region_of,
)
from workers.engine.layout.paper import (
    draw_background,
    draw_crop_marks,
    draw_watermarks,
    make_page,
)
from workers.engine.layout.plans import (
    Assumed,
    PagePlan,
    choose_master,
    count_pages,
    group_by_family,
)
from workers.engine.layout.positions import report_outside
from workers.engine.layout.pouring import pour_document
from workers.engine.layout.registry import LAYOUTS, MEASURES
from workers.engine.layout.turns import lay_out_turned
from workers.engine.ports import Resources
from workers.engine.tree.nodes import Document, Source

MAX_PASSES: Final = 3  # language.md 1.7
MAX_CROSSING_PASSES: Final = 5  # language-2.md, of a document that shows pages
_LISTED: Final = 3


def lay_out(
    document: Document,
    *,
    resources: Resources,
    findings: Findings,
    fonts: Fonts | None = None,
) -> LaidOut:
    """Lay out a document. What does not fit is noted in `findings` as pages are read.

    Raises:
        AuthoringError: the document cannot be laid out at all; errors of the first kind are the
            caller's to raise.
    """
    if fonts is None:
        fonts = find_fonts(document.fonts, resources, findings)
        findings.raise_errors()
    context = Context(
        resources=resources,
        findings=findings,
        fonts=fonts,
        layouts=LAYOUTS,
        measures=MEASURES,
        turn=lay_out_turned,
        has_families=len({master.name for master in document.masters}) > 1,
        missing_glyphs=_severity_of_missing_glyphs(document),
    )
    if document.crossings is not None:
        context.crossings = CrossState(document.crossings)
    pages, numbers = _settle(context, document)
    outline: list[OutlineEntry] = []
    drawn = LaidOut(_DrawnPages(context, document, pages, numbers, outline), outline)
    return watch_conformance(drawn, document, findings)


def _severity_of_missing_glyphs(document: Document) -> Severity:
    """Return an error where the author asks for it, and in PDF/A (ISO 19005-2, 6.2.11.8)."""
    is_refused = document.refuses_missing_glyphs or document.profile is not None
    return Severity.ERROR if is_refused else Severity.WARNING


def _settle(context: Context, document: Document) -> tuple[list[PagePlan], Assumed]:
    """Pour the document until its pages stand; gives them and their numbers."""
    assumed = Assumed()
    moved: list[Source] = []
    crossings = context.crossings
    names: list[str] = []
    for _ in range(MAX_PASSES if crossings is None else MAX_CROSSING_PASSES):
        pages = pour_document(context, document, assumed)
        assumed = count_pages(pages, assumed)
        moved = _refurnish(context, document, pages, assumed)
        if crossings is not None:
            names = crossings.update(context, find_pages(pages, assumed))
        if not moved and not names:
            _check_places(context)
            return pages, assumed
    if crossings is not None and names:
        _stop_at_moving(context, crossings, names, moved)
    context.findings.error(
        "not-settled",
        f"The pages still change after {MAX_PASSES} attempts, because what stands on them depends "
        "on page numbers that depend on it. Give headers and footers a fixed height, or let them "
        "say less about the number of pages.",
        *dict.fromkeys(source.place for source in moved),
    )
    raise context.findings.to_error()


def _stop_at_moving(
    context: Context, crossings: CrossState, names: Sequence[str], moved: Sequence[Source]
) -> NoReturn:
    """Stop at places that are on another page in each pass."""
    asking = [crossings.crossings.asked[n] for n in names if n in crossings.crossings.asked]
    named = [f'"{name}"' for name in names if name[0] != ":"][:_LISTED]
    what = f" of {', '.join(named)}" if named else ""
    context.findings.error(
        "not-settled",
        f"The pages still change after {MAX_CROSSING_PASSES} attempts: the page{what} that is "
        "shown moves what it is the page of. Put a page break before it, or show its number or "
        "text.",
        *dict.fromkeys(source.place for source in (*asking, *moved)),
    )
    raise context.findings.to_error()


def _check_places(context: Context) -> None:
    """Report references to the page of something that stands on no page."""
    unplaced = () if context.crossings is None else context.crossings.unplaced()
    for name, source in unplaced:
        if name[0] != ":":  # a mark of the index that is cut off is left out
            context.findings.error(
                "no-page",
                f'The page of "{name}" is shown, but it stands on no page: it is cut off, or left '
                "out",
                source.place,
            )


def _refurnish(
    context: Context, document: Document, pages: Sequence[PagePlan], numbers: Assumed
) -> list[Source]:
    """Lay out headers and footers with true numbers; give what is of another height or page now."""
    moved: list[Source] = []
    families = group_by_family(document.masters)
    for index, plan in enumerate(pages, start=1):
        master, before = plan.master, plan.furniture
        is_last = numbers.is_last(plan)
        wanted = choose_master(families, master.name, plan, is_last=is_last)
        if wanted is not master:
            moved += [page.source for page in (wanted, master) if page.source is not None]
            continue
        values = numbers.values(plan, index)
        plan.furniture = after = furnish(context, master, values, before)
        if master.header and abs(after.header_height - before.header_height) > EPSILON:
            moved.append(master.header.source)
        if master.footer and abs(after.footer_height - before.footer_height) > EPSILON:
            moved.append(master.footer.source)
    return moved


@dataclass(frozen=True, slots=True)
class _DrawnPages:
    """The settled pages of a document, drawn as they are read."""

    context: Context
    document: Document
    plans: Sequence[PagePlan]
    numbers: Assumed
    outline: list[OutlineEntry]

    def __len__(self) -> int:
        return len(self.plans)

    def __iter__(self) -> Iterator[Page]:
        self.outline.clear()
        told: set[Misfit] = set()
        for index, plan in enumerate(self.plans, start=1):
            page = make_page(plan.master)
            sheet = Sheet(
                page,
                values=self.numbers.values(plan, index),
                outline=self.outline,
                findings=self.context.findings,
                told=told,
            )
            _draw_page(self.context, self.document, sheet, plan)
            yield page


def _draw_page(context: Context, document: Document, sheet: Sheet, plan: PagePlan) -> None:
    """Draw a page from what lies lowest to what lies highest."""
    master, page = plan.master, sheet.page
    marks = (*document.watermarks, *master.watermarks)
    for mark in marks:
        if mark.source is not None:
            context.tell_missing(mark.text, mark.source)
    boxes = evaluate_boxes(master, sheet.values)
    check_room(sheet, plan)
    draw_background(context, master, page.items)
    draw_watermarks(context, marks, page, are_over=False)
    draw_boxes(context, sheet, boxes, are_over=False)
    draw_running(sheet, plan)
    _check_areas(context, sheet, plan)
    for poured in plan.poured:
        poured.piece.draw(sheet, poured.rectangle.x, poured.rectangle.y)
    draw_boxes(context, sheet, boxes, are_over=True)
    draw_watermarks(context, marks, page, are_over=True)
    draw_crop_marks(page)


def _check_areas(context: Context, sheet: Sheet, plan: PagePlan) -> None:
    """Tell of areas that are not wholly on the paper."""
    region = region_of(plan)
    for area in plan.master.areas:
        report_outside(context, area.source, find_rectangle(area, region), sheet)
