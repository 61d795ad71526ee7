"""Boxes at the foot of the paper: they take the rest of their area, and are drawn below it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Final

from workers.engine.layout.context import (
    EPSILON,
    Fragment,
    LayoutContext,
    LayoutProblem,
    PageCanvas,
    PrintedFooter,
    Region,
    Resume,
    UnbrokenFragment,
    format_mm,
)
from workers.engine.layout.display import LaidOutPage
from workers.engine.tree.nodes import PageFoot, Source
from workers.engine.units import mm

_MIN_GAP: Final = mm(3)  # above the box, free for the scissors on its upper edge


@dataclass(slots=True)
class FootFragment(UnbrokenFragment):
    """A box at the foot of the paper; `height` is what it takes of its area.

    `width` is that of the paper it needs, `foot_height` how much of the lower end of its area it
    covers with its upper margin.
    """

    content: Fragment
    width: float
    height: float
    foot_height: float
    chain: tuple[Source, ...]
    problem: LayoutProblem | None

    def draw(self, canvas: PageCanvas, _x: float, _y: float) -> None:
        """Draw the box at the lower left corner of the paper."""
        page = canvas.page
        if self.problem is not None:
            canvas.report(self.problem)
        elif page.width < inf and abs(page.width - self.width) > EPSILON:
            canvas.report(_describe_width(self, page.width))
        footer = canvas.footer
        if footer is not None and footer.area.y + footer.area.height > self._top(page) + EPSILON:
            canvas.report(_describe_footer(self, footer))
        self.content.draw(canvas, 0.0, self._top(page))

    def _top(self, page: LaidOutPage) -> float:
        return page.height - self.content.height


def lay_out_foot(
    context: LayoutContext, node: PageFoot, region: Region, _resume: Resume
) -> Fragment | None:
    """Lay out a box at the foot of the paper; None if too little of the area is left."""
    (box,) = node.children
    width = box.style.box.width.value
    content = context.lay_out(box, Region(width))
    assert content is not None
    gap = 0.0 if region.is_top else max(box.style.box.margin.top.value, _MIN_GAP)
    needed = max(content.height + gap - context.area.foot, 0.0)
    problem = None
    if context.area.columns > 1:
        problem = _describe_columns(context.chain(node.source))
    elif region.height + EPSILON < needed:
        if not region.is_top:
            return None
        problem = context.too_tall(node.source, needed=needed, available=region.height)
    height = needed if region.height == inf else max(region.height, 0.0)
    return FootFragment(content, width, height, needed, context.chain(node.source), problem)


def measure_foot(_context: LayoutContext, _node: PageFoot) -> tuple[float, float]:
    """Return zero widths: the box is as wide as the paper, not as its container."""
    return 0.0, 0.0


def _describe_width(fragment: FootFragment, width: float) -> LayoutProblem:
    return LayoutProblem(
        code="qr-bill-paper",
        message=f"A `qr-bill` needs paper {format_mm(fragment.width)} wide, "
        f"this page is {format_mm(width)} wide",
        advice='Put it on a page of size="A4".',
        chain=fragment.chain,
    )


def _describe_columns(chain: tuple[Source, ...]) -> LayoutProblem:
    return LayoutProblem(
        code="qr-bill-columns",
        message="A `qr-bill` takes the whole width of the paper, and its area has columns",
        advice="Give the area one column, and `columns` to a `div` around the text above the bill.",
        chain=chain,
    )


def _describe_footer(fragment: FootFragment, footer: PrintedFooter) -> LayoutProblem:
    return LayoutProblem(
        code="qr-bill-footer",
        message=f"The `footer` of the page prints on a `qr-bill`, which takes the lowest "
        f"{format_mm(fragment.content.height)} of the paper",
        advice='Leave it empty where the bill stands, such as with <page on="last"><footer/></page>.',
        chain=(*fragment.chain, footer.source),
    )
