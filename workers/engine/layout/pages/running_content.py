"""Running content: headers and footers that grow with their content, and the positioned boxes of pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final, NamedTuple

from workers.engine.layout.blocks.boxes import lay_out_box
from workers.engine.layout.blocks.positioning import draw_positioned
from workers.engine.layout.blocks.stacks import lay_out_stack
from workers.engine.layout.context import (
    EPSILON,
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
from workers.engine.layout.lines.breaking import describe_text
from workers.engine.layout.lines.hyphenation import can_hyphenate
from workers.engine.layout.pages.plans import PagePlan, RunningContent
from workers.engine.tree.document import PageMaster, RunningBox
from workers.engine.tree.memo import Kind
from workers.engine.tree.nodes import Block, Container, Paragraph, Role, Row, TextRun
from workers.engine.tree.page_values import PageValues
from workers.engine.tree.styles.computed import Overflow, Style
from workers.engine.units import Length, LengthKind, mm

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
