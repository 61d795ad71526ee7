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
        canvas = _LocatingCanvas(plan, numbers.values(plan, index), found)
        for filled in plan.filled_areas:
            filled.fragment.draw(canvas, filled.rectangle.x, filled.rectangle.y)
    return found


class _LocatingCanvas(DryRunCanvas):
    """A canvas that records the page of each anchor."""

    __slots__ = ("_found", "_page")

    def __init__(self, plan: PagePlan, values: PageValues, found: dict[str, PageLocation]) -> None:
        super().__init__(
            LaidOutPage(plan.master.width, plan.master.height, bleed=plan.master.bleed), values
        )
        self._found = found
        self._page = PageLocation(values.index, plan.number, plan.run)

    def add_anchor(self, name: str, x: float, y: float) -> None:
        """Record the page of an anchor."""
        if not self.is_artifact:
            self._found.setdefault(name, self._page)
