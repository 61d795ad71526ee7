"""Windows of envelopes: whatever is printed beside the address would be seen through them."""

from __future__ import annotations

from typing import Final

from workers.engine.diagnostics import Severity
from workers.engine.layout.context import (
    LayoutContext,
    LayoutProblem,
    PageCanvas,
    PrintedAddress,
    shorten_value,
)
from workers.engine.layout.display import GlyphRun, ShapedRun, SingleItem
from workers.engine.layout.pages.source_map import find_ink
from workers.engine.units import mm

_TOLERANCE: Final = mm(0.5)  # of the room above and below letters


def check_windows(context: LayoutContext, canvas: PageCanvas, start: int) -> None:
    """Warn of items from `start` on that stand in the window of an address of the page."""
    if not canvas.addresses:
        return
    for at, item, (left, top, right, bottom) in find_ink(canvas.items):
        if at < start:
            continue
        for address in canvas.addresses:
            x, y, width, height = address.window
            is_inside = (
                left < x + width - _TOLERANCE
                and right > x + _TOLERANCE
                and top < y + height - _TOLERANCE
                and bottom > y + _TOLERANCE
            )
            if is_inside and not address.first <= at < address.end:
                canvas.report(_describe(context, address, item))


def _describe(context: LayoutContext, address: PrintedAddress, item: SingleItem) -> LayoutProblem:
    assert address.node.envelope is not None
    is_text = isinstance(item, GlyphRun | ShapedRun)
    return LayoutProblem(
        code="address-window",
        message=f"{'Text' if is_text else 'Something else'} is printed in the window of "
        f"{address.node.envelope.standard}, beside the address",
        advice="Move it out of the window.",
        chain=context.chain(address.node.source),
        excerpt=shorten_value(item.text) if isinstance(item, GlyphRun | ShapedRun) else "",
        severity=Severity.WARNING,
    )
