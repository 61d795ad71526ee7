"""Pages before they are drawn: their masters, numbers and anchors, their headers and footers, which
grow with their content, and their positioned boxes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from workers.engine.layout.blocks.boxes import lay_out_box
from workers.engine.layout.blocks.positioning import draw_positioned
from workers.engine.layout.blocks.stacks import lay_out_stack
from workers.engine.layout.context import (
    EPSILON,
    DryRunCanvas,
    Fragment,
    LayoutContext,
    LayoutProblem,
    PageCanvas,
    PrintedFooter,
    Rectangle,
    Region,
    Resume,
    format_mm,
)
from workers.engine.layout.display import LaidOutPage
from workers.engine.layout.lines.breaking import describe_text
from workers.engine.layout.lines.hyphenation import can_hyphenate
from workers.engine.layout.references import ASSUMED_PAGES, PageLocation
from workers.engine.tree.document import Area, PageMaster, RunningBox
from workers.engine.tree.memo import Kind
from workers.engine.tree.nodes import Block, Container, Occurrence, Paragraph, Role, Row, TextRun
from workers.engine.tree.page_values import PageValues, RunningValue
from workers.engine.tree.styles.computed import Overflow, Style
from workers.engine.units import Length, LengthKind, mm

Families = Mapping[str, Mapping[Occurrence, PageMaster]]


@dataclass(slots=True)
class RunningContent:
    """The laid-out header and footer of one page; heights include their outer margins."""

    header: Fragment | None = None
    footer: Fragment | None = None
    header_height: float = 0.0
    footer_height: float = 0.0


@dataclass(slots=True)
class FilledArea:
    """The content of an area of a page; the area is None for the whole page area.

    `anchors` are the names of the anchors in it, None before they are looked for.
    """

    area: Area | None
    rectangle: Rectangle
    fragment: Fragment
    anchors: Sequence[str] | None = None


@dataclass(slots=True)
class PagePlan:
    """A page before it is drawn; `run` is its numbering run, which starts at `first`."""

    master: PageMaster
    number: int
    run: int
    first: int
    is_blank: bool
    is_added: bool = False  # as the back of the last sheet
    running_content: RunningContent = field(default_factory=RunningContent)
    filled_areas: list[FilledArea] = field(default_factory=list)


@dataclass(slots=True)
class PageNumbers:
    """The page numbers a pass works with: the total, and the last number of each run.

    An `extended` run has a last page even if no content is left for it, because the content of the
    page before does not fit on a last page.
    """

    total: int = ASSUMED_PAGES
    runs: dict[int, int] = field(default_factory=dict)
    extended: frozenset[int] = frozenset()
    running: Sequence[tuple[RunningValue, ...]] = ()  # of each page of the pass before
    is_duplex: bool = False
    is_estimated: bool = False  # headers and footers are only as high as those of similar pages

    def values(self, plan: PagePlan, index: int) -> PageValues:
        """Return the page values of a page by its index in the document, from 1."""
        count = self.runs.get(plan.run, ASSUMED_PAGES)
        return PageValues(
            number=plan.number,
            count=count if plan.is_blank else max(count, plan.number),
            index=index,
            total=max(self.total, index),
            name=plan.master.name,
            is_blank=plan.is_blank,
            first=plan.first,
            is_duplex=self.is_duplex,
            running=self.running[min(index, len(self.running)) - 1] if self.running else (),
        )

    def is_last(self, plan: PagePlan) -> bool:
        """Return whether a page is the last of its run; False before the runs are known."""
        return not plan.is_blank and plan.number == self.runs.get(plan.run)


def count_pages(pages: Sequence[PagePlan], before: PageNumbers) -> PageNumbers:
    """Return the page numbers of a finished pass; `before` are those it assumed.

    Blank pages at the end of a run are not counted in it.
    """
    runs: dict[int, int] = {}
    for page in pages:
        if not page.is_blank:
            runs[page.run] = page.number
    grown = {run for run, last in runs.items() if last > before.runs.get(run, last)}
    return PageNumbers(len(pages), runs, before.extended | grown, is_duplex=before.is_duplex)


def group_by_family(masters: Iterable[PageMaster]) -> Families:
    """Return the masters of every page family, by the pages they are for."""
    families: dict[str, dict[Occurrence, PageMaster]] = {}
    for master in masters:
        families.setdefault(master.name, {})[master.on] = master
    return families


def select_master(families: Families, family: str, plan: PagePlan, *, is_last: bool) -> PageMaster:
    """Return the master of a family for a page, the most specific one.

    A blank page without one of its own is the paper alone.
    """
    members = families[family]
    applying = applying_occurrences(plan, is_last=is_last)
    chosen = next((members[on] for on in applying if on in members), None)
    chosen = chosen or next(iter(members.values()))
    if not plan.is_blank or chosen.on is Occurrence.BLANK:
        return chosen
    return replace(
        chosen, header=None, footer=None, boxes=None, background_image=None, watermarks=()
    )


def applying_occurrences(plan: PagePlan, *, is_last: bool) -> tuple[Occurrence, ...]:
    """Return the values of `on` that a page has, from the specific to the general."""
    order = (
        (Occurrence.BLANK, plan.is_blank),
        (Occurrence.FIRST, plan.number == plan.first),
        (Occurrence.LAST, is_last),
        (Occurrence.ODD, plan.number % 2 == 1),
        (Occurrence.EVEN, plan.number % 2 == 0),
        (Occurrence.REST, plan.number != plan.first),
        (Occurrence.NOT_LAST, not is_last),
        (Occurrence.CONTENT, not plan.is_blank),
        (Occurrence.ALL, True),
    )
    return tuple(on for on, holds in order if holds)


def locate_anchors(pages: Sequence[PagePlan], numbers: PageNumbers) -> dict[str, PageLocation]:
    """Return the page of every anchor, in document order; the first of equal names counts."""
    found: dict[str, PageLocation] = {}
    for index, plan in enumerate(pages, start=1):
        locate_on_page(plan, numbers.values(plan, index), found)
    return found


def locate_on_page(plan: PagePlan, values: PageValues, found: dict[str, PageLocation]) -> None:
    """Add the anchors of a page to those of the pages before, in document order."""
    page = PageLocation(values.index, plan.number, plan.run)
    for filled in plan.filled_areas:
        if filled.anchors is None:
            page_size = LaidOutPage(plan.master.width, plan.master.height, bleed=plan.master.bleed)
            canvas = DryRunCanvas(page_size, values)
            filled.fragment.draw(canvas, filled.rectangle.x, filled.rectangle.y)
            filled.anchors = tuple(canvas.anchors)
        for name in filled.anchors:
            found.setdefault(name, page)


# Header and footer may take the rest; on labels and other small pages, half of what margins leave.
_MIN_BODY_HEIGHT: Final = mm(20)
_MIN_LABEL_HEIGHT: Final = mm(1)

_RUNNING: Final[Kind[tuple[PageMaster, PageValues], RunningContent]] = Kind()
_ESTIMATED: Final[Kind[tuple[PageMaster, bool, bool, int], RunningContent]] = Kind()
_STATIC: Final[Kind[tuple[RunningBox, float], Fragment]] = Kind()


def lay_out_running_content(
    context: LayoutContext,
    master: PageMaster,
    values: PageValues,
    known: RunningContent | None = None,
) -> RunningContent:
    """Lay out the header and footer of a page; static ones are laid out once.

    In a document with page references, results are also cached by page values for the next pass.
    """
    if context.references is None:
        return _lay_out_running_content(context, master, values, known)
    return context.memo.remember(
        _RUNNING, (master, values), lambda: _lay_out_running_content(context, master, values, known)
    )


def _lay_out_running_content(
    context: LayoutContext, master: PageMaster, values: PageValues, known: RunningContent | None
) -> RunningContent:
    width = master.width - master.margin.left - master.margin.right
    region = Region(width, master.height)
    header = _lay_out_running_box(
        context, master.header, region, values, known.header if known else None
    )
    footer = _lay_out_running_box(
        context, master.footer, region, values, known.footer if known else None
    )
    return RunningContent(
        header,
        footer,
        _outer_height(header, master.header, width),
        _outer_height(footer, master.footer, width),
    )


def estimate_running_content(
    context: LayoutContext, master: PageMaster, values: PageValues
) -> RunningContent:
    """Lay out the header and footer of a page whose document has not been paginated yet.

    Its values are assumptions, and what is laid out is only as high as the final one, mostly. So
    pages share it, but for what makes headers differ in height: a first page, or the other side.
    """
    key = master, values.is_first, values.is_blank, values.number % 2
    return context.memo.remember(
        _ESTIMATED, key, lambda: lay_out_running_content(context, master, values)
    )


def find_page_area(plan: PagePlan) -> Rectangle:
    """Return the page area: the page without margins, header and footer (CSS Paged Media 3).

    A page area that is too low is reported when the page is drawn; the flow continues in a minimal
    one.
    """
    master, running = plan.master, plan.running_content
    width = master.width - master.margin.left - master.margin.right
    height = master.height - master.margin.top - master.margin.bottom
    height -= running.header_height + running.footer_height
    top = master.margin.top + running.header_height
    return Rectangle(master.margin.left, top, max(width, 1.0), max(height, _least_height(master)))


def _least_height(master: PageMaster) -> float:
    """Return the least height of the page area without header and footer."""
    if master.is_open:
        return 0.0
    inside = master.height - master.margin.top - master.margin.bottom
    return min(_MIN_BODY_HEIGHT, max(inside / 2, _MIN_LABEL_HEIGHT))


def draw_running_content(canvas: PageCanvas, plan: PagePlan) -> None:
    """Draw the header and footer of a page."""
    master, running = plan.master, plan.running_content
    left = master.margin.left
    canvas.is_artifact = True
    if running.header is not None and master.header is not None:
        running.header.draw(canvas, left, master.margin.top + _top_margin(master, master.header))
    if running.footer is not None and master.footer is not None:
        foot = master.height - master.margin.bottom - running.footer_height
        top, width = foot + _top_margin(master, master.footer), master.width - 2 * left
        running.footer.draw(canvas, left, top)
        if running.footer.height > EPSILON:
            area = Rectangle(left, top, width, running.footer.height)
            canvas.footer = PrintedFooter(area, master.footer.source)
    canvas.is_artifact = False


def evaluate_page_boxes(master: PageMaster, values: PageValues) -> tuple[Block, ...]:
    """Return the positioned boxes of a page, evaluated for its page values."""
    return () if master.boxes is None else master.boxes.evaluate(values)


def draw_page_boxes(
    context: LayoutContext, canvas: PageCanvas, boxes: tuple[Block, ...], *, are_over: bool
) -> None:
    """Draw the boxes of a page above its text, or those below it."""
    canvas.is_artifact = True
    for box in boxes:
        assert isinstance(box, Container)
        if box.position is not None and box.position.is_over is are_over:
            draw_positioned(context, box, canvas)
    canvas.is_artifact = False


def check_room(canvas: PageCanvas, plan: PagePlan) -> None:
    """Report a header or footer above its `max-height`, and a page area that is too low."""
    master, running = plan.master, plan.running_content
    sides = ((master.header, running.header), (master.footer, running.footer))
    for box, fragment in sides:
        if box is None or fragment is None:
            continue
        limit = box.max_height.resolve(master.height)
        if limit is not None and fragment.height > limit + EPSILON:
            canvas.report(_too_tall(box, fragment, limit))
    margins = master.margin.top + master.margin.bottom
    height = master.height - margins - running.header_height - running.footer_height
    least = _least_height(master)
    if height < least - EPSILON:
        sources = [box.source for box, _ in sides if box is not None]
        sources += [master.source] if master.source is not None else []
        canvas.report(
            LayoutProblem(
                code="body-too-low",
                message=f"Margins, header and footer leave {format_mm(max(height, 0.0))} for the text of "
                f"the page, at least {format_mm(least)} are needed",
                advice="Make the margins, the header or the footer smaller.",
                chain=tuple(sources),
            )
        )


def _too_tall(box: RunningBox, fragment: Fragment, limit: float) -> LayoutProblem:
    tag = box.source.location.tag_name
    return LayoutProblem(
        code="running-too-tall",
        message=f"Text does not fit: `{tag}` needs {format_mm(fragment.height)}, "
        f"its max-height allows {format_mm(limit)}",
        advice=f"Shorten the {tag}, or raise max-height.",
        chain=(box.source,),
    )


def _lay_out_running_box(
    context: LayoutContext,
    box: RunningBox | None,
    page: Region,
    values: PageValues,
    known: Fragment | None,
) -> Fragment | None:
    """Lay out a header or footer; `page` has its width, and the height of the paper."""
    if box is None:
        return None
    if box.content.is_static:
        if known is not None:
            return known
        return context.memo.remember(
            _STATIC, (box, page.width), lambda: _lay_out_evaluated(context, box, page, values)
        )
    return _lay_out_evaluated(context, box, page, values)


def _lay_out_evaluated(
    context: LayoutContext, box: RunningBox, page: Region, values: PageValues
) -> Fragment:
    blocks = box.content.evaluate(values)
    if box.style.box.overflow is Overflow.SHRINK:
        return _lay_out_shrinking(context, box, blocks, page)

    def content(inner: Region, _: Resume) -> Fragment | None:
        return lay_out_stack(context.inside(box.source), blocks, inner)

    def lay_out() -> _LaidOutText:
        reports_before = context.findings.report_count
        fragment = lay_out_box(context, box, Region(page.width), None, content)
        assert fragment is not None
        has_reported = context.findings.report_count > reports_before
        return _LaidOutText(fragment, None if has_reported else 100 * len(described))

    # The text of most headers and footers is the same in every document of a template.
    described: list[Any] = [id(box.style), id(box.source.location), page.width]
    if not _is_plain(box.style) or not _describe(blocks, described):
        return lay_out().fragment
    memo, key = context.memo.template, tuple(described)
    return memo.remember(TEXTS, key, lay_out, holds=(box, blocks)).fragment


class _LaidOutText(NamedTuple):
    """A header or footer of text, and its bytes; None for one that has reported something."""

    fragment: Fragment
    size: int | None


TEXTS: Final[Kind[tuple[Any, ...], _LaidOutText]] = Kind(size_of=lambda text: text.size)


def _describe(blocks: Iterable[Block], out: list[Any]) -> bool:
    """Append what the layout of blocks depends on; return False unless all of them are text whose
    styles ask for nothing that is reported once.
    """
    for block in blocks:
        if isinstance(block, Paragraph):
            if block.extra is not None or block.outline is not None or _may_report(block):
                return False
            out += (Paragraph, id(block.style), len(block.inlines))
            is_text = describe_text(block.inlines, out)
        elif isinstance(block, Row):
            out += (Row, id(block.style), block.gap, block.align, len(block.children))
            is_text = _describe(block.children, out)
        elif isinstance(block, Container):
            if block.position or block.floating or block.columns:
                return False
            out += (Container, id(block.style), block.is_box, len(block.children))
            is_text = _describe(block.children, out)
        else:
            return False
        if not is_text or block.id is not None or not _is_plain(block.style):
            return False
        # The place is in messages about content that does not fit.
        out += (id(block.source.location), block.source.loop)
    return True


def _is_plain(style: Style) -> bool:
    return (
        style.box.background_image is None
        and style.box.overflow is not Overflow.SHRINK
        and style.paragraph.initial_letter is None
        and style.paragraph.line_grid is None
    )


def _may_report(node: Paragraph) -> bool:
    """Return whether a font may lack what a style asks for, or a language has no hyphenation."""
    hyphenates = node.style.paragraph.hyphens == "auto"
    texts = [inline.style for inline in node.inlines if isinstance(inline, TextRun)]
    return any(text.features or (hyphenates and not can_hyphenate(text.lang)) for text in texts)


def _lay_out_shrinking(
    context: LayoutContext, box: RunningBox, blocks: tuple[Block, ...], page: Region
) -> Fragment:
    """Lay out content that shrinks until its height, or else `max-height`, holds it."""
    limit = box.max_height.resolve(page.height)
    own = box.style.box
    if own.height.kind is LengthKind.AUTO and limit is not None:
        own = replace(own, max_height=Length(limit))
    wrapper = Container(box.source, Role.DIV, replace(box.style, box=own), blocks)
    fragment = context.lay_out(wrapper, Region(page.width))
    assert fragment is not None
    return fragment


def _outer_height(fragment: Fragment | None, box: RunningBox | None, width: float) -> float:
    if fragment is None or box is None:
        return 0.0
    margin = box.style.box.margin
    return (
        fragment.height + (margin.top.resolve(width) or 0.0) + (margin.bottom.resolve(width) or 0.0)
    )


def _top_margin(master: PageMaster, box: RunningBox) -> float:
    width = master.width - master.margin.left - master.margin.right
    return box.style.box.margin.top.resolve(width) or 0.0
