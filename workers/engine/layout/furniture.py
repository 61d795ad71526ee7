"""Page furniture: headers and footers that grow with their content, and the boxes of pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from workers.engine.layout.context import (
    EPSILON,
    Context,
    Misfit,
    Piece,
    Rectangle,
    Resume,
    Sheet,
    Space,
    in_mm,
)
from workers.engine.layout.frames import lay_out_framed
from workers.engine.layout.plans import Furniture, PagePlan
from workers.engine.layout.positions import draw_aside
from workers.engine.layout.stacks import lay_out_stack
from workers.engine.tree.nodes import (
    Block,
    Container,
    PageMaster,
    PageValues,
    Role,
    RunningBox,
)
from workers.engine.tree.styles import Overflow
from workers.engine.units import Length, LengthKind, mm

MIN_BODY_HEIGHT: Final = mm(20)  # language.md 1.9


def furnish(
    context: Context, master: PageMaster, values: PageValues, known: Furniture | None = None
) -> Furniture:
    """Lay out the header and footer of a page; one without page values is laid out once.

    Where a document is poured again because its pages are shown in it, those of a page whose values
    are the same are the same.
    """
    if context.crossings is None:
        return _furnish(context, master, values, known)
    key = ("furniture", id(master), values)
    made: Furniture | None = context.memory.get(key)
    if made is None:
        made = context.memory[key] = _furnish(context, master, values, known)
    return made


def _furnish(
    context: Context, master: PageMaster, values: PageValues, known: Furniture | None
) -> Furniture:
    width = master.width - master.margin.left - master.margin.right
    space = Space(width, master.height)
    header = _lay_out_running(
        context, master.header, space, values, known.header if known else None
    )
    footer = _lay_out_running(
        context, master.footer, space, values, known.footer if known else None
    )
    return Furniture(
        header,
        footer,
        _outer_height(header, master.header, width),
        _outer_height(footer, master.footer, width),
    )


def region_of(plan: PagePlan) -> Rectangle:
    """Give the body region: what margins, header and footer leave of the page.

    Too little room is told when the page is drawn; the flow goes on as if there were some.
    """
    master, furniture = plan.master, plan.furniture
    width = master.width - master.margin.left - master.margin.right
    height = master.height - master.margin.top - master.margin.bottom
    height -= furniture.header_height + furniture.footer_height
    top = master.margin.top + furniture.header_height
    return Rectangle(master.margin.left, top, max(width, 1.0), max(height, MIN_BODY_HEIGHT))


def draw_running(sheet: Sheet, plan: PagePlan) -> None:
    """Draw the header and footer of a page."""
    master, furniture = plan.master, plan.furniture
    left = master.margin.left
    sheet.is_furniture = True
    if furniture.header is not None and master.header is not None:
        furniture.header.draw(sheet, left, master.margin.top + _top_margin(master, master.header))
    if furniture.footer is not None and master.footer is not None:
        foot = master.height - master.margin.bottom - furniture.footer_height
        furniture.footer.draw(sheet, left, foot + _top_margin(master, master.footer))
    sheet.is_furniture = False


def evaluate_boxes(master: PageMaster, values: PageValues) -> tuple[Block, ...]:
    """Give the boxes of a page, made for its values."""
    return () if master.boxes is None else master.boxes.evaluate(values)


def draw_boxes(context: Context, sheet: Sheet, boxes: tuple[Block, ...], *, are_over: bool) -> None:
    """Draw the boxes of a page that lie over its text, or those that lie under it."""
    sheet.is_furniture = True
    for box in boxes:
        assert isinstance(box, Container)
        if box.position is not None and box.position.is_over is are_over:
            draw_aside(context, box, sheet)
    sheet.is_furniture = False


def check_room(sheet: Sheet, plan: PagePlan) -> None:
    """Tell of a header or footer above its `max-height`, and of a body region that is too low."""
    master, furniture = plan.master, plan.furniture
    sides = ((master.header, furniture.header), (master.footer, furniture.footer))
    for box, piece in sides:
        if box is None or piece is None:
            continue
        limit = box.max_height.resolve(master.height)
        if limit is not None and piece.height > limit + EPSILON:
            sheet.report(_too_tall(box, piece, limit))
    margins = master.margin.top + master.margin.bottom
    height = master.height - margins - furniture.header_height - furniture.footer_height
    if height < MIN_BODY_HEIGHT - EPSILON:
        sources = [box.source for box, _ in sides if box is not None]
        sources += [master.source] if master.source is not None else []
        sheet.report(
            Misfit(
                code="body-too-low",
                what=f"Margins, header and footer leave {in_mm(max(height, 0.0))} for the text of "
                f"the page, at least {in_mm(MIN_BODY_HEIGHT)} are needed",
                advice="Make the margins, the header or the footer smaller.",
                chain=tuple(sources),
            )
        )


def _too_tall(box: RunningBox, piece: Piece, limit: float) -> Misfit:
    tag = box.source.place.tag_name
    return Misfit(
        code="running-too-tall",
        what=f"Text does not fit: `{tag}` needs {in_mm(piece.height)}, "
        f"its max-height gives {in_mm(limit)}",
        advice=f"Shorten the {tag}, or raise max-height.",
        chain=(box.source,),
    )


def _lay_out_running(
    context: Context,
    box: RunningBox | None,
    page: Space,
    values: PageValues,
    known: Piece | None,
) -> Piece | None:
    """Lay out a header or footer; `page` is as wide as it is, and as high as the paper."""
    if box is None:
        return None
    if box.content.is_static:
        if known is not None:
            return known
        key = ("running", id(box), page.width)
        static: Piece | None = context.memory.get(key)
        if static is None:
            static = context.memory[key] = _lay_out_box(context, box, page, values)
        return static
    return _lay_out_box(context, box, page, values)


def _lay_out_box(context: Context, box: RunningBox, page: Space, values: PageValues) -> Piece:
    blocks = box.content.evaluate(values)
    if box.style.box.overflow is Overflow.SHRINK:
        return _lay_out_shrinking(context, box, blocks, page)

    def content(inner: Space, _: Resume) -> Piece | None:
        context.path.append(box.source)
        piece = lay_out_stack(context, blocks, inner)
        context.path.pop()
        return piece

    piece = lay_out_framed(context, box, Space(page.width), None, content)
    assert piece is not None
    return piece


def _lay_out_shrinking(
    context: Context, box: RunningBox, blocks: tuple[Block, ...], page: Space
) -> Piece:
    """Lay out what gets smaller until its height holds it, or max-height where none is stated."""
    limit = box.max_height.resolve(page.height)
    own = box.style.box
    if own.height.kind is LengthKind.AUTO and limit is not None:
        own = replace(own, max_height=Length(limit))
    holder = Container(box.source, Role.DIV, replace(box.style, box=own), blocks)
    piece = context.lay_out(holder, Space(page.width))
    assert piece is not None
    return piece


def _outer_height(piece: Piece | None, box: RunningBox | None, width: float) -> float:
    if piece is None or box is None:
        return 0.0
    margin = box.style.box.margin
    return piece.height + (margin.top.resolve(width) or 0.0) + (margin.bottom.resolve(width) or 0.0)


def _top_margin(master: PageMaster, box: RunningBox) -> float:
    width = master.width - master.margin.left - master.margin.right
    return box.style.box.margin.top.resolve(width) or 0.0
