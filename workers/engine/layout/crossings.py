"""What references, contents and an index show: texts and numbers, and the pages that layout found.

Pages are found by tracing: the settled pages of a pass are drawn on sheets that keep nothing but
named places. What stands in running text or an index asks for another pass where its page is
another than it was laid out with. Contents do not: their pages stand in room that is kept for
them, and are read as they are drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Self

from workers.engine.diagnostics import Findings
from workers.engine.layout.context import Context, Misfit, Sheet
from workers.engine.layout.display import LinkArea, Page
from workers.engine.layout.plans import ASSUMED_PAGES, Assumed, PagePlan
from workers.engine.tree.nodes import (
    Inline,
    PageValues,
    Reference,
    Run,
    Source,
)
from workers.engine.tree.titles import Crossings, Pieces, Title
from workers.engine.tree.whitespace import transform

LEAST_DIGITS: Final = 3  # for which contents keep room
# What is kept between passes and depends on the widths of references and page numbers.
_ENTRIES: Final = frozenset({"entries"})
_DEPENDENT: Final = _ENTRIES | {"measure", "grid", "shrunk"}
_OF_DIGITS: Final = frozenset({"beside"})


class FoundPage(NamedTuple):
    """The page a place is on: its place in the document, its number as printed, its numbering run."""

    position: int
    number: int
    run: int


@dataclass(slots=True)
class CrossState:
    """What the passes of one document know so far.

    `is_measured` says that widths depend on what references show.
    """

    crossings: Crossings
    pages: dict[str, FoundPage] = field(default_factory=dict)
    digits: int = LEAST_DIGITS
    is_measured: bool = False

    def titles(self, kind: str) -> Sequence[Title]:
        """Return the titles of a kind that contents list."""
        return self.crossings.titles.get(kind, ())

    def page_text(self, name: str) -> str:
        """Return the page of a place as printed; two digits before it is known."""
        found = self.pages.get(name)
        return str(ASSUMED_PAGES if found is None else found.number)

    def text_of(self, reference: Reference) -> str:
        """Return what a reference shows."""
        if reference.show == "page":
            return self.page_text(reference.target)
        if reference.show == "number":
            text = self.crossings.numbers.get(reference.target, "")
        else:
            text = self.text_of_pieces(self.crossings.texts.get(reference.target, ()))
        return transform(text, reference.transform)

    def text_of_pieces(self, pieces: Pieces) -> str:
        """Return a text with the pages of the references in it."""
        return "".join(p if isinstance(p, str) else self.page_text(p.target) for p in pieces)

    def texts_in(self, inlines: Iterable[Inline]) -> tuple[str, ...]:
        """Return what each reference in a text shows: all that may change from pass to pass."""
        return tuple(self.text_of(each) for each in inlines if isinstance(each, Reference))

    def resolve(self, inlines: Iterable[Inline]) -> tuple[Inline, ...]:
        """Return inline content with its references written out, each a link to its target."""
        return tuple(
            Run(self.text_of(each), each.style, f"#{each.target}")
            if isinstance(each, Reference)
            else each
            for each in inlines
        )

    def update(self, context: Context, found: dict[str, FoundPage]) -> list[str]:
        """Take the pages of a pass; return the names of places whose page is another than before."""
        before = self.pages
        moved = [name for name in self.crossings.asked if found.get(name) != before.get(name)]
        digits = max((len(str(page.number)) for page in found.values()), default=0)
        stale = _DEPENDENT if self.is_measured else _ENTRIES
        if digits > self.digits:
            self.digits = digits
            stale |= _OF_DIGITS
            moved += [title.target for titles in self.crossings.titles.values() for title in titles]
        self.pages = found
        if moved:
            for key in [key for key in context.memory if key[0] in stale]:
                del context.memory[key]
        return moved

    def unplaced(self) -> list[tuple[str, Source]]:
        """Return the places whose page is asked for and that stand on none."""
        return [item for item in self.crossings.asked.items() if item[0] not in self.pages]


def find_pages(pages: Sequence[PagePlan], numbers: Assumed) -> dict[str, FoundPage]:
    """Find the page of every named place; of places of one name, the first counts."""
    found: dict[str, FoundPage] = {}
    for index, plan in enumerate(pages, start=1):
        sheet = _TracingSheet(plan, numbers.values(plan, index), found)
        for poured in plan.poured:
            poured.piece.draw(sheet, poured.rectangle.x, poured.rectangle.y)
    return found


class _TracingSheet(Sheet):
    """A sheet that keeps the names of places, and nothing that is drawn."""

    __slots__ = ("_found", "_page")

    def __init__(self, plan: PagePlan, values: PageValues, found: dict[str, FoundPage]) -> None:
        page = Page(plan.master.width, plan.master.height, bleed=plan.master.bleed)
        super().__init__(page, values=values, outline=[], findings=Findings(), told=set())
        self.items = _Nothing()
        self.is_tracing = True
        self._found = found
        self._page = FoundPage(values.index, plan.number, plan.run)

    def link(self, area: LinkArea) -> None:
        """Keep no link."""

    def report(self, misfit: Misfit) -> None:
        """Report nothing: pages are drawn again when they are settled."""

    def anchor(self, name: str, x: float, y: float) -> None:
        """Keep the page of a place."""
        if not self.is_furniture:
            self._found.setdefault(name, self._page)


class _Nothing(list[Any]):
    """A list that keeps nothing, added to as those of drawn things are."""

    def append(self, _: object) -> None:
        """Drop a thing."""

    def extend(self, _: Iterable[object]) -> None:
        """Drop things."""

    def __iadd__(self, _: Iterable[object]) -> Self:  # type: ignore[misc]
        """Drop things."""
        return self
