"""Anchors located on their pages by a dry run."""

from __future__ import annotations

from collections.abc import Sequence

from workers.engine.layout.display import LaidOutPage
from workers.engine.layout.dry_run import DryRunCanvas
from workers.engine.layout.pages.plans import PageNumbers, PagePlan
from workers.engine.layout.references import PageLocation
from workers.engine.tree.page_values import PageValues


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
            canvas = _LocatingCanvas(plan, values)
            filled.fragment.draw(canvas, filled.rectangle.x, filled.rectangle.y)
            filled.anchors = tuple(canvas.names)
        for name in filled.anchors:
            found.setdefault(name, page)


class _LocatingCanvas(DryRunCanvas):
    """A canvas that records the names of anchors."""

    __slots__ = ("names",)

    def __init__(self, plan: PagePlan, values: PageValues) -> None:
        super().__init__(
            LaidOutPage(plan.master.width, plan.master.height, bleed=plan.master.bleed), values
        )
        self.names: dict[str, None] = {}

    def add_anchor(self, name: str, x: float, y: float) -> None:
        """Record the name of an anchor."""
        if not self.is_artifact:
            self.names[name] = None
