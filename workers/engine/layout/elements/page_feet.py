"""Boxes at the foot of the paper: they take the rest of their area, and are drawn below it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from workers.engine.layout.context import (
    EPSILON,
    Fragment,
    LayoutContext,
    LayoutProblem,
    PageCanvas,
    Region,
    Resume,
    format_mm,
)
from workers.engine.tree.nodes import PageFoot, Source


@dataclass(slots=True)
class FootFragment:
    """A box at the foot of the paper; `height` is what it takes of its area.

    `width` is that of the paper it needs.
    """

    content: Fragment
    width: float
    height: float
    chain: tuple[Source, ...]
    problem: LayoutProblem | None
    resume: Resume = None
    forced: str = ""
    first_baseline: float | None = None

    def draw(self, canvas: PageCanvas, _x: float, _y: float) -> None:
        """Draw the box at the lower left corner of the paper."""
        page = canvas.page
        if self.problem is not None:
            canvas.report(self.problem)
        elif page.width < inf and abs(page.width - self.width) > EPSILON:
            canvas.report(_describe_width(self, page.width))
        self.content.draw(canvas, 0.0, page.height - self.content.height)


def lay_out_foot(
    context: LayoutContext, node: PageFoot, region: Region, _resume: Resume
) -> Fragment | None:
    """Lay out a box at the foot of the paper; None if too little of the area is left."""
    (box,) = node.children
    width = box.style.box.width.value
    content = context.lay_out(box, Region(width))
    assert content is not None
    needed = max(content.height + box.style.box.margin.top.value - context.area_foot, 0.0)
    problem = None
    if region.height + EPSILON < needed:
        if not region.is_top:
            return None
        problem = context.too_tall(node.source, needed=needed, available=region.height)
    height = needed if region.height == inf else max(region.height, 0.0)
    return FootFragment(content, width, height, context.chain(node.source), problem)


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
