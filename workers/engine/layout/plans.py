"""Plans of pages: which master a page has, its numbers, and what a pass assumes of the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from workers.engine.layout.context import Piece, Rectangle
from workers.engine.tree.nodes import Area, On, PageMaster, PageValues

# What page values are before the number of pages is known: two digits, and not the last page.
ASSUMED_PAGES: Final = 99

Families = Mapping[str, Mapping[On, PageMaster]]


@dataclass(slots=True)
class Furniture:
    """The header and footer of one page, laid out; heights include their outer margins."""

    header: Piece | None = None
    footer: Piece | None = None
    header_height: float = 0.0
    footer_height: float = 0.0


@dataclass(slots=True)
class Poured:
    """What was poured into an area of a page; None for the area is the whole region."""

    area: Area | None
    rectangle: Rectangle
    piece: Piece


@dataclass(slots=True)
class PagePlan:
    """One page before it is drawn; `run` is the numbering run it is in, which began with `first`."""

    master: PageMaster
    number: int
    run: int
    first: int
    is_blank: bool
    furniture: Furniture = field(default_factory=Furniture)
    poured: list[Poured] = field(default_factory=list)


@dataclass(slots=True)
class Assumed:
    """The numbers a pass works with: the pages in all, and the number of each run's last page.

    An `extended` run has its last page even if nothing is left for it: what the page before it holds
    does not fit on a page that is the last (language.md 1.7).
    """

    total: int = ASSUMED_PAGES
    runs: dict[int, int] = field(default_factory=dict)
    extended: frozenset[int] = frozenset()

    def values(self, plan: PagePlan, index: int) -> PageValues:
        """Give the values of a page from its place in the document, from 1."""
        count = self.runs.get(plan.run, ASSUMED_PAGES)
        return PageValues(
            number=plan.number,
            count=count if plan.is_blank else max(count, plan.number),
            index=index,
            total=max(self.total, index),
            name=plan.master.name,
            is_blank=plan.is_blank,
            first=plan.first,
        )

    def is_last(self, plan: PagePlan) -> bool:
        """Tell whether a page is the last of its run; no page is before the runs are known."""
        return not plan.is_blank and plan.number == self.runs.get(plan.run)


def count_pages(pages: Sequence[PagePlan], before: Assumed) -> Assumed:
    """Count pages and runs as they came out, to be assumed next; `before` is what was assumed.

    Blank pages that end a run are not counted in it.
    """
    runs: dict[int, int] = {}
    for page in pages:
        if not page.is_blank:
            runs[page.run] = page.number
    grown = {run for run, last in runs.items() if last > before.runs.get(run, last)}
    return Assumed(len(pages), runs, before.extended | grown)


def group_by_family(masters: Iterable[PageMaster]) -> Families:
    """Give the members of every page family, each by the pages it is for."""
    families: dict[str, dict[On, PageMaster]] = {}
    for master in masters:
        families.setdefault(master.name, {})[master.on] = master
    return families


def choose_master(families: Families, family: str, plan: PagePlan, *, is_last: bool) -> PageMaster:
    """Choose the member of a family for a page; which one comes first, language.md 1.7 tells."""
    members = families[family]
    if len(members) == 1:
        return next(iter(members.values()))
    order = (
        (On.BLANK, plan.is_blank),
        (On.FIRST, plan.number == plan.first),
        (On.LAST, is_last),
        (On.ODD, plan.number % 2 == 1),
        (On.EVEN, plan.number % 2 == 0),
        (On.REST, plan.number != plan.first),
        (On.NOT_LAST, not is_last),
    )
    chosen = next((members[on] for on, holds in order if holds and on in members), None)
    return chosen or members.get(On.ALL) or next(iter(members.values()))
