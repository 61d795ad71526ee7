"""Blocks out of the flow: positioned boxes, figures that float, and boxes at the foot of the paper.

A positioned box is at offsets from the edges of its containing block (CSS 2.2, 10.1). It is laid out
when it is drawn, because only then are the size of its containing block and its page known. A box at
the foot of the paper takes the rest of its area, and is drawn below it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import inf
from typing import Any, Final

from workers.engine.diagnostics import Severity
from workers.engine.layout.context import (
    EPSILON,
    AnyBlock,
    DrawnFragment,
    Fragment,
    FreeZone,
    LayoutContext,
    LayoutProblem,
    PageCanvas,
    PrintedFooter,
    Rectangle,
    Region,
    Resume,
    format_mm,
    shorten_value,
)
from workers.engine.layout.display import Stroke
from workers.engine.syntax.address_windows import AddressWindow
from workers.engine.tree.memo import Kind
from workers.engine.tree.nodes import Container, PageFoot, Position, Source
from workers.engine.tree.styles.computed import BoxStyle
from workers.engine.units import BLACK, Length, LengthKind, mm

# Printers leave the outer 5 mm of the paper empty.
_MARK_LEFT, _FOLD_LENGTH, _PUNCH_LENGTH = 5.0, 4.0, 6.0
_MARK_WIDTH: Final = 0.3
_NOWHERE: Final = Position()


def is_positioned(block: AnyBlock) -> bool:
    """Return whether a block is out of flow."""
    return type(block) is Container and block.position is not None


def make_positioned(context: LayoutContext, node: AnyBlock) -> Fragment:
    """Return the fragment of a positioned block: without height, and drawn at its offsets."""
    assert isinstance(node, Container)
    return DrawnFragment(lambda canvas, _x, _y: draw_positioned(context, node, canvas))


def draw_positioned(context: LayoutContext, node: Container, canvas: PageCanvas) -> None:
    """Lay out and draw a positioned box in the containing block of `canvas`."""
    containing_block, position = canvas.containing_block, node.position or _NOWHERE
    if node.envelope is not None:
        containing_block = Rectangle(0.0, 0.0, canvas.page.width, canvas.page.height)
    if containing_block.width == inf:
        return  # a dry run without paper
    box = node.style.box
    across, down = containing_block.width, containing_block.height
    left, right = _resolve(position.left, across), _resolve(position.right, across)
    top, bottom = _resolve(position.top, down), _resolve(position.bottom, down)
    x, width = resolve_axis(left, right, _stated_width(box, across), across)
    node = _with_height(context, node, down, top, bottom)
    region = Region(max(width, 0.0), inf, True, None, has_fixed_width=True)
    fragment = context.lay_out(node, region)
    assert fragment is not None
    margin_top, margin_bottom = (
        side.resolve(across) or 0.0 for side in (box.margin.top, box.margin.bottom)
    )
    y, height = resolve_axis(top, bottom, fragment.height + margin_top + margin_bottom, down)
    area = Rectangle(containing_block.x + x, containing_block.y + y, width, height)
    if width <= 0:
        canvas.report(_describe_no_room(context, node, containing_block.width))
    elif not box.rotate and not canvas.is_rotated:
        report_outside(context, node.source, area, canvas)
    first = len(canvas.items)
    fragment.draw(canvas, area.x, area.y + margin_top)
    if node.envelope is not None:
        window = area._replace(height=mm(node.envelope.window.height))
        canvas.zones.append(
            FreeZone(window, partial(_describe_ink, node), first, len(canvas.items))
        )
        _check_lines(context, node, canvas)
        if node.envelope.has_fold_marks:
            _draw_fold_marks(node.envelope.window, canvas)


def _check_lines(context: LayoutContext, address: Container, canvas: PageCanvas) -> None:
    """Warn of lines of an address that are wider than its window."""
    envelope, lines = address.envelope, address.children[-1]
    assert envelope is not None
    assert isinstance(lines, Container)
    available = mm(envelope.window.width - envelope.window.inset)
    for number, line in enumerate(lines.children, 1):
        needed = context.measure(line)[1]
        if needed <= available + EPSILON:
            continue
        canvas.report(
            LayoutProblem(
                code="address-width",
                message=f"Line {number} of the address needs {format_mm(needed)}, "
                f"{envelope.standard} allows {format_mm(available)}",
                advice="It is set in two lines; shorten it, or make the text smaller.",
                chain=context.chain(address.source),
                severity=Severity.WARNING,
            )
        )


def _describe_ink(address: Container, text: str) -> LayoutProblem:
    """Return the warning of ink in the window of an address."""
    assert address.envelope is not None
    return LayoutProblem(
        code="address-window",
        message=f"{'Text' if text else 'Something else'} is printed in the window of "
        f"{address.envelope.standard}, beside the address",
        advice="Move it out of the window.",
        chain=(address.source,),
        excerpt=shorten_value(text),
        severity=Severity.WARNING,
    )


def _draw_fold_marks(window: AddressWindow, canvas: PageCanvas) -> None:
    lengths = dict.fromkeys(window.folds, _FOLD_LENGTH)
    if window.punch is not None:
        lengths[window.punch] = _PUNCH_LENGTH
    for height, length in lengths.items():
        left, y = mm(_MARK_LEFT), mm(height)
        mark = Stroke(left, y, left + mm(length), y, _MARK_WIDTH, BLACK, None)
        canvas.items.append(mark)


def report_outside(
    context: LayoutContext, source: Source, area: Rectangle, canvas: PageCanvas
) -> None:
    """Report content that extends beyond the paper and its bleed."""
    page, bleed = canvas.page, canvas.page.bleed
    beyond = {
        "left": -bleed - area.x,
        "upper": -bleed - area.y,
        "right": area.x + area.width - page.width - bleed,
        "lower": area.y + area.height - page.height - bleed,
    }
    edge, distance = max(beyond.items(), key=lambda item: item[1])
    if distance <= EPSILON:
        return
    tag = source.location.tag_name
    canvas.report(
        LayoutProblem(
            code="outside-paper",
            message=f"The `{tag}` stands {format_mm(distance)} beyond the {edge} edge of the paper",
            advice=f"Move the {tag}, or make it smaller.",
            chain=context.chain(source),
        )
    )


def _resolve(offset: Length | None, base: float) -> float | None:
    return None if offset is None else offset.resolve(base)


def resolve_axis(
    start: float | None, end: float | None, size: float | None, available: float
) -> tuple[float, float]:
    """Return the start and length along one axis of what has offsets or a size, in points."""
    if size is None:
        return start or 0.0, available - (start or 0.0) - (end or 0.0)
    if start is None and end is not None:
        return available - end - size, size
    return start or 0.0, size


def _stated_width(box: BoxStyle, available: float) -> float | None:
    """Return the outer width that a box states."""
    stated = box.width.resolve(available)
    margins = (side.resolve(available) or 0.0 for side in (box.margin.left, box.margin.right))
    return None if stated is None else stated + sum(margins)


_STRETCHED: Final[Kind[tuple[Container, float], Container]] = Kind()


def _with_height(
    context: LayoutContext,
    node: Container,
    available: float,
    top: float | None,
    bottom: float | None,
) -> Container:
    """Return the box with the height between its offsets, if it states both and no height."""
    box = node.style.box
    if top is None or bottom is None or box.height.kind is LengthKind.POINTS:
        return node
    height = available - top - bottom
    height -= sum(side.resolve(available) or 0.0 for side in (box.margin.top, box.margin.bottom))

    def stretch() -> Container:
        own = replace(box, height=Length(max(height, 0.0)))
        return replace(node, style=replace(node.style, box=own))

    return context.memo.remember(_STRETCHED, (node, height), stretch)


def _describe_no_room(context: LayoutContext, node: Container, available: float) -> LayoutProblem:
    return LayoutProblem(
        code="no-room",
        message=f"The offsets of the `{node.source.location.tag_name}` leave nothing of the "
        f"{format_mm(available)} of width there are",
        advice="Make left or right smaller.",
        chain=context.chain(node.source),
    )


# --- figures that float: in the text they leave an anchor without height (CSS Page Floats 3) --------


def is_out_of_flow(block: AnyBlock) -> bool:
    """Return whether a block takes no space where it is written."""
    return type(block) is Container and (block.position is not None or block.floating is not None)


def make_out_of_flow(context: LayoutContext, block: AnyBlock) -> Fragment | None:
    """Return the fragment of a block that is out of flow here, None for one in the flow."""
    if is_positioned(block):
        return make_positioned(context, block)
    if not (context.places_floats and is_out_of_flow(block)):
        return None

    def draw(canvas: PageCanvas, _x: float, _y: float) -> None:
        """Record the figure; in the structure tree it stands where it is written."""
        with canvas.part(block, "Div"):
            canvas.add_float(block)

    return DrawnFragment(draw)


def lay_out_rotated(
    context: LayoutContext, block: Any, region: Region, _resume: Resume
) -> Fragment | None:
    """Lay out a block rotated by 90 or 270 degrees, as wide as its max-content width."""
    _, width = context.measure(block)
    if width > region.height + EPSILON and not region.is_top:
        return None
    fragment = context.layouts[type(block)](context, block, Region(width), None)
    assert fragment is not None
    problem: LayoutProblem | None = None
    if fragment.height > region.width + EPSILON:
        problem = context.too_wide(
            block.source, needed=fragment.height, available=region.width, advice="Make it lower."
        )
    elif width > region.height + EPSILON:
        problem = context.too_tall(block.source, needed=width, available=region.height)
    shift = (fragment.height - width) / 2

    def draw(canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the fragment, which is rotated about its centre, centred in the space it takes."""
        canvas.report(problem)
        fragment.draw(canvas, x + shift, y - shift)

    return DrawnFragment(draw, width)


_MIN_GAP: Final = mm(3)  # above the box, free for the scissors on its upper edge


def lay_out_foot(
    context: LayoutContext, node: PageFoot, region: Region, _resume: Resume
) -> Fragment | None:
    """Lay out a box at the lower left corner of the paper; None if too little of the area is left.

    It takes the rest of its area, of which it covers the lower end with its upper margin.
    """
    (box,) = node.children
    width, chain = box.style.box.width.value, context.chain(node.source)
    content = context.lay_out(box, Region(width))
    assert content is not None
    gap = 0.0 if region.is_top else max(box.style.box.margin.top.value, _MIN_GAP)
    needed = max(content.height + gap - context.area.foot, 0.0)
    problem = None
    if context.area.columns > 1:
        problem = _describe_columns(chain)
    elif region.height + EPSILON < needed:
        if not region.is_top:
            return None
        problem = context.too_tall(node.source, needed=needed, available=region.height)

    def draw(canvas: PageCanvas, _x: float, _y: float) -> None:
        """Draw the box, and report what of the paper it needs but does not have."""
        page, footer = canvas.page, canvas.footer
        top = page.height - content.height
        if problem is None and page.width < inf and abs(page.width - width) > EPSILON:
            canvas.report(_describe_width(width, page.width, chain))
        canvas.report(problem)
        if footer is not None and footer.bottom > top + EPSILON:
            canvas.report(_describe_footer(content.height, footer, chain))
        content.draw(canvas, 0.0, top)

    height = needed if region.height == inf else max(region.height, 0.0)
    return DrawnFragment(draw, height, needed)


def _describe_width(needed: float, width: float, chain: tuple[Source, ...]) -> LayoutProblem:
    return LayoutProblem(
        code="qr-bill-paper",
        message=f"A `qr-bill` needs paper {format_mm(needed)} wide, "
        f"this page is {format_mm(width)} wide",
        advice='Put it on a page of size="A4".',
        chain=chain,
    )


def _describe_columns(chain: tuple[Source, ...]) -> LayoutProblem:
    return LayoutProblem(
        code="qr-bill-columns",
        message="A `qr-bill` takes the whole width of the paper, and its area has columns",
        advice="Give the area one column, and `columns` to a `div` around the text above the bill.",
        chain=chain,
    )


def _describe_footer(
    height: float, footer: PrintedFooter, chain: tuple[Source, ...]
) -> LayoutProblem:
    return LayoutProblem(
        code="qr-bill-footer",
        message=f"The `footer` of the page prints on a `qr-bill`, which takes the lowest "
        f"{format_mm(height)} of the paper",
        advice='Leave it empty where the bill stands, such as with <page on="last"><footer/></page>.',
        chain=(*chain, footer.source),
    )
