"""Dry runs: drawing on a canvas that records anchors and discards everything else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from workers.engine.layout.context import LayoutProblem, PageCanvas
from workers.engine.layout.display import LaidOutPage, LinkArea
from workers.engine.tree.page_values import PageValues


class DryRunCanvas(PageCanvas):
    """A canvas that locates anchors, note calls among them, and figures that float."""

    __slots__ = ("anchors", "floats")

    def __init__(self, page: LaidOutPage, values: PageValues) -> None:
        super().__init__(page, values=values)
        self.items = _DiscardingList()
        self.is_dry_run = True
        self.anchors: dict[str, float] = {}  # the distance of each from the top of the page
        self.floats: dict[Any, None] = {}

    def add_anchor(self, name: str, x: float, y: float) -> None:
        """Record an anchor; the first of equal names counts."""
        if not self.is_artifact:
            self.anchors.setdefault(name, y)

    def add_float(self, node: Any) -> None:
        """Record a figure."""
        self.floats[node] = None

    def add_link(self, area: LinkArea) -> None:
        """Discard a link."""

    def report(self, problem: LayoutProblem) -> None:
        """Discard a problem: the final drawing reports it."""


class _DiscardingList(list[Any]):
    """A list that discards every item added to it."""

    def append(self, _: object) -> None:
        """Discard an item."""

    def extend(self, _: Iterable[object]) -> None:
        """Discard items."""

    def __iadd__(self, _: Iterable[object]) -> Self:  # type: ignore[misc]
        """Discard items."""
        return self
