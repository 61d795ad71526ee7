"""Dry runs: drawing on a canvas that records anchors and discards everything else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Self

from workers.engine.diagnostics import Findings
from workers.engine.layout.context import LayoutProblem, PageCanvas
from workers.engine.layout.display import LaidOutPage, LinkArea
from workers.engine.tree.page_values import PageValues


class DryRunCanvas(PageCanvas):
    """A canvas for locating anchors: subclasses override `add_anchor`."""

    __slots__ = ()

    def __init__(self, page: LaidOutPage, values: PageValues) -> None:
        super().__init__(page, values=values, outline=[], findings=_UNUSED, reported=set())
        self.items = _DiscardingList()
        self.is_dry_run = True

    def add_link(self, area: LinkArea) -> None:
        """Discard a link."""

    def report(self, problem: LayoutProblem) -> None:
        """Discard a problem: the final drawing reports it."""


_UNUSED: Final = Findings()  # of all dry runs, which report nothing


class _DiscardingList(list[Any]):
    """A list that discards every item added to it."""

    def append(self, _: object) -> None:
        """Discard an item."""

    def extend(self, _: Iterable[object]) -> None:
        """Discard items."""

    def __iadd__(self, _: Iterable[object]) -> Self:  # type: ignore[misc]
        """Discard items."""
        return self
