"""Page plans: the master of each page, its numbers and anchors, and the numbers a pass assumes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from workers.engine.layout.context import DryRunCanvas, Fragment, Rectangle
from workers.engine.layout.display import LaidOutPage
from workers.engine.layout.references import ASSUMED_PAGES, PageLocation
from workers.engine.tree.document import Area, PageMaster
from workers.engine.tree.nodes import Occurrence
from workers.engine.tree.page_values import PageValues, RunningValue

Families = Mapping[str, Mapping[Occurrence, PageMaster]]


@dataclass(slots=True)
class RunningContent:
    """The laid-out header and footer of one page; heights include their outer margins."""

    header: Fragment | None = None
    footer: Fragment | None = None
    header_height: float = 0.0
    footer_height: float = 0.0


@dataclass(slots=True)
class FilledArea:
    """The content of an area of a page; the area is None for the whole page area.

    `anchors` are the names of the anchors in it, None before they are looked for.
    """

    area: Area | None
    rectangle: Rectangle
    fragment: Fragment
    anchors: Sequence[str] | None = None


@dataclass(slots=True)
class PagePlan:
    """A page before it is drawn; `run` is its numbering run, which starts at `first`."""

    master: PageMaster
    number: int
    run: int
    first: int
    is_blank: bool
    is_added: bool = False  # as the back of the last sheet
    running_content: RunningContent = field(default_factory=RunningContent)
    filled_areas: list[FilledArea] = field(default_factory=list)


@dataclass(slots=True)
class PageNumbers:
    """The page numbers a pass works with: the total, and the last number of each run.

    An `extended` run has a last page even if no content is left for it, because the content of the
    page before does not fit on a last page.
    """

    total: int = ASSUMED_PAGES
    runs: dict[int, int] = field(default_factory=dict)
    extended: frozenset[int] = frozenset()
    running: Sequence[tuple[RunningValue, ...]] = ()  # of each page of the pass before
    is_duplex: bool = False
    is_estimated: bool = False  # headers and footers are only as high as those of similar pages

    def values(self, plan: PagePlan, index: int) -> PageValues:
        """Return the page values of a page by its index in the document, from 1."""
        count = self.runs.get(plan.run, ASSUMED_PAGES)
        return PageValues(
            number=plan.number,
            count=count if plan.is_blank else max(count, plan.number),
            index=index,
            total=max(self.total, index),
            name=plan.master.name,
            is_blank=plan.is_blank,
            first=plan.first,
            is_duplex=self.is_duplex,
            running=self.running[min(index, len(self.running)) - 1] if self.running else (),
        )

    def is_last(self, plan: PagePlan) -> bool:
        """Return whether a page is the last of its run; False before the runs are known."""
        return not plan.is_blank and plan.number == self.runs.get(plan.run)


def count_pages(pages: Sequence[PagePlan], before: PageNumbers) -> PageNumbers:
    """Return the page numbers of a finished pass; `before` are those it assumed.

    Blank pages at the end of a run are not counted in it.
    """
    runs: dict[int, int] = {}
    for page in pages:
        if not page.is_blank:
            runs[page.run] = page.number
    grown = {run for run, last in runs.items() if last > before.runs.get(run, last)}
    return PageNumbers(len(pages), runs, before.extended | grown, is_duplex=before.is_duplex)


def group_by_family(masters: Iterable[PageMaster]) -> Families:
    """Return the masters of every page family, by the pages they are for."""
    families: dict[str, dict[Occurrence, PageMaster]] = {}
    for master in masters:
        families.setdefault(master.name, {})[master.on] = master
    return families


def select_master(families: Families, family: str, plan: PagePlan, *, is_last: bool) -> PageMaster:
    """Return the master of a family for a page, the most specific one.

    A blank page without one of its own is the paper alone.
    """
    members = families[family]
    applying = applying_occurrences(plan, is_last=is_last)
    chosen = next((members[on] for on in applying if on in members), None)
    chosen = chosen or next(iter(members.values()))
    if not plan.is_blank or chosen.on is Occurrence.BLANK:
        return chosen
    return replace(
        chosen, header=None, footer=None, boxes=None, background_image=None, watermarks=()
    )


def applying_occurrences(plan: PagePlan, *, is_last: bool) -> tuple[Occurrence, ...]:
    """Return the values of `on` that a page has, from the specific to the general."""
    order = (
        (Occurrence.BLANK, plan.is_blank),
        (Occurrence.FIRST, plan.number == plan.first),
        (Occurrence.LAST, is_last),
        (Occurrence.ODD, plan.number % 2 == 1),
        (Occurrence.EVEN, plan.number % 2 == 0),
        (Occurrence.REST, plan.number != plan.first),
        (Occurrence.NOT_LAST, not is_last),
        (Occurrence.CONTENT, not plan.is_blank),
        (Occurrence.ALL, True),
    )
    return tuple(on for on, holds in order if holds)


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
            page_size = LaidOutPage(plan.master.width, plan.master.height, bleed=plan.master.bleed)
            canvas = DryRunCanvas(page_size, values)
            filled.fragment.draw(canvas, filled.rectangle.x, filled.rectangle.y)
            filled.anchors = tuple(canvas.anchors)
        for name in filled.anchors:
            found.setdefault(name, page)
