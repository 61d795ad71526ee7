"""Pouring: one pass that fills page after page with the flows of a document.

The first flow that is not finished leads: its content chooses the family of the next page and the
numbering run it is in. Every flow is poured into the areas a page has for it. A flow that has begun
must find an area on every page until it is finished; one that has not begun waits for a page that
has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, NoReturn

from workers.engine.diagnostics import Place
from workers.engine.layout.areas import find_rectangle, pour, takes
from workers.engine.layout.context import EPSILON, AnyBlock, Context, Rectangle, Resume
from workers.engine.layout.furniture import furnish, region_of
from workers.engine.layout.plans import Assumed, PagePlan, Poured, choose_master, group_by_family
from workers.engine.layout.positions import is_aside
from workers.engine.layout.stacks import StackResume, forced_before
from workers.engine.tree.nodes import (
    Area,
    Break,
    Container,
    Document,
    Flow,
    ListBlock,
    ListItem,
)

MAX_PAGES: Final = 10_000
BODY: Final = "body"
_DEFAULT: Final = "default"
_SIDES: Final = ("left", "right")
_NEXT_PAGE: Final = ("page", *_SIDES)
# A leading flow may wait for its first area while others are poured; for so many empty pages.
_MAX_EMPTY: Final = 2


class Start(NamedTuple):
    """What the content a flow goes on with asks of its page; None asks nothing."""

    family: str | None
    first_number: int | None


@dataclass(slots=True)
class _Course:
    """How far one flow has come in a pass."""

    flow: Flow
    resume: Resume = None
    forced: str = ""
    is_done: bool = False
    first_page: int | None = None
    last_page: int = 0
    is_leading: bool = False
    is_waiting: bool = False  # for the next page

    def find_start(self) -> Start:
        return find_start(self.flow.blocks, self.resume)


def pour_document(context: Context, document: Document, assumed: Assumed) -> list[PagePlan]:
    """Make the pages of a document, with assumed page values; at least one.

    Raises:
        AuthoringError: a flow has no place to go to, or there are far too many pages.
    """
    return _Pourer(context, document, assumed).pour()


class _Pourer:
    def __init__(self, context: Context, document: Document, assumed: Assumed) -> None:
        self.context = context
        self.families = group_by_family(document.masters)
        self.no_master = document.masters[0]  # until a page is numbered
        self.assumed = assumed
        self.courses = {flow.name: _begin(flow) for flow in document.flows}
        self.first_family = document.flows[0].page if document.flows else _DEFAULT
        self.pages: list[PagePlan] = []
        self.empty_pages = 0

    def pour(self) -> list[PagePlan]:
        while (leader := self._find_leader()) is not None:
            self._open_for(leader)
            self._fill(leader)
        if not self.pages:
            self._open_page(self.first_family)
        self._end_run()
        for course in self.courses.values():
            self._check_max_pages(course)
        return self.pages

    def _find_leader(self) -> _Course | None:
        return next((course for course in self.courses.values() if not course.is_done), None)

    # --- opening pages -----------------------------------------------------------------------------

    def _open_for(self, leader: _Course) -> None:
        """Open the page a flow goes on with, after a blank one where it must be on the other side."""
        family, first_number = leader.find_start()
        if self.empty_pages:
            first_number = None  # the run has begun, its first block waits for an area
        if first_number is not None and self.pages:
            self._end_run()
        if leader.forced in _SIDES and not _is_on_side(leader.forced, len(self.pages) + 1):
            before = self.pages[-1].master.name if self.pages else family or leader.flow.page
            self._open_page(before, is_blank=True)
        leader.forced = ""
        self._open_page(family or leader.flow.page, first_number=first_number)

    def _open_page(
        self, family: str, *, is_blank: bool = False, first_number: int | None = None
    ) -> PagePlan:
        if len(self.pages) >= MAX_PAGES:
            self._stop(
                "too-many-pages", f"The document has more than {MAX_PAGES:,} pages. Split the data."
            )
        plan = self._number_page(first_number, is_blank=is_blank)
        plan.master = choose_master(self.families, family, plan, is_last=self.assumed.is_last(plan))
        self.pages.append(plan)
        values = self.assumed.values(plan, len(self.pages))
        plan.furniture = furnish(self.context, plan.master, values)
        return plan

    def _number_page(self, first_number: int | None, *, is_blank: bool) -> PagePlan:
        """Number the next page: on in its run, or as the first of a new one."""
        master = self.no_master
        before = self.pages[-1] if self.pages else None
        if before is None:
            first = 1 if first_number is None else first_number
            return PagePlan(master, first, 1, first, is_blank)
        if first_number is not None:
            return PagePlan(master, first_number, before.run + 1, first_number, is_blank)
        return PagePlan(master, before.number + 1, before.run, before.first, is_blank)

    def _end_run(self) -> None:
        """Add the last page of a run that has to have one of its own."""
        run = self.pages[-1].run
        if run not in self.assumed.extended:
            return
        while self.pages[-1].number < self.assumed.runs[run]:
            self._open_page(self.pages[-1].master.name)

    # --- filling areas -----------------------------------------------------------------------------

    def _fill(self, leader: _Course) -> None:
        """Pour every flow into the areas this page has for it."""
        plan = self.pages[-1]
        region = region_of(plan)
        for each in self.courses.values():
            each.is_leading = each is leader
            each.is_waiting = not each.is_done and self._has_to_wait(each, plan)
        areas: Sequence[Area | None] = plan.master.areas or (None,)
        for index, area in enumerate(areas):
            course = self.courses.get(BODY if area is None else area.flow)
            if course is None or course.is_done or course.is_waiting:
                continue
            rectangle = find_rectangle(area, region)
            if rectangle.width <= 0 or rectangle.height <= 0:
                self._stop_without_room(area)
            later = [one for one in areas[index + 1 :] if one and area and one.flow == area.flow]
            if self._goes_on_later(course, rectangle, later, region):
                continue
            self._pour(course, plan, area, rectangle)
        self._check_areas(leader, plan, areas)

    def _goes_on_later(
        self, course: _Course, rectangle: Rectangle, later: Sequence[Area], region: Rectangle
    ) -> bool:
        """Tell whether the next block is too tall for an area, and a later one is taller."""
        if not any(
            find_rectangle(one, region).height > rectangle.height + EPSILON for one in later
        ):
            return False
        at = course.resume
        if isinstance(at, StackResume) and at.inner is not None:
            return False
        return not takes(self.context, course.flow.blocks, rectangle, at)

    def _has_to_wait(self, course: _Course, plan: PagePlan) -> bool:
        """Tell whether a flow's content belongs on another page than this one."""
        if course.forced in _SIDES and not _is_on_side(course.forced, len(self.pages)):
            return True
        family = course.find_start().family or (course.flow.page if course.is_leading else None)
        return family is not None and family != plan.master.name

    def _pour(
        self, course: _Course, plan: PagePlan, area: Area | None, rectangle: Rectangle
    ) -> None:
        piece = pour(self.context, course.flow.blocks, area, rectangle, course.resume)
        plan.poured.append(Poured(area, rectangle, piece))
        course.first_page = course.first_page or len(self.pages)
        course.last_page = len(self.pages)
        if piece.resume is None:
            course.is_done = True
            return
        if piece.resume == course.resume:
            self._stop_at_standstill(course.flow)
        course.resume, course.forced = piece.resume, piece.forced
        course.is_waiting = piece.forced in _NEXT_PAGE or self._has_to_wait(course, plan)

    def _check_areas(self, leader: _Course, plan: PagePlan, areas: Sequence[Area | None]) -> None:
        """Stop where a flow that has begun finds no area, or the leader waits in vain."""
        served = {BODY if area is None else area.flow for area in areas}
        for course in self.courses.values():
            has_begun = course.first_page is not None and not course.is_done
            if has_begun and not course.is_waiting and course.flow.name not in served:
                self._stop_without_area(course.flow, plan)
        self.empty_pages = 0 if plan.poured else self.empty_pages + 1
        if self.empty_pages >= _MAX_EMPTY:
            self._stop_without_area(leader.flow, plan)

    # --- what is wrong -----------------------------------------------------------------------------

    def _check_max_pages(self, course: _Course) -> None:
        flow, first = course.flow, course.first_page
        count = 0 if first is None else course.last_page - first + 1
        if flow.max_pages is None or count <= flow.max_pages:
            return
        self.context.findings.error(
            "max-pages",
            f'Text does not fit: the flow "{flow.name}" needs {count} pages, '
            f"max-pages gives {flow.max_pages}. Shorten the text, or raise max-pages.",
            *_places(flow),
        )

    def _stop_without_area(self, flow: Flow, plan: PagePlan) -> NoReturn:
        source = plan.master.source
        self._stop(
            "no-area",
            f'The flow "{flow.name}" has content left on page {len(self.pages)}, but the page '
            f'"{plan.master.name}" (on="{plan.master.on}") has no area for it. Add '
            f'<area flow="{flow.name}"/> to the page, or shorten the text.',
            *_places(flow),
            *(() if source is None else (source.place,)),
        )

    def _stop_without_room(self, area: Area | None) -> NoReturn:
        places = () if area is None else (area.source.place,)
        self._stop(
            "no-room",
            f"The offsets, sizes and padding of the `area` leave no room in it on page "
            f"{len(self.pages)}. Make them smaller.",
            *places,
        )

    def _stop_at_standstill(self, flow: Flow) -> NoReturn:
        self._stop(
            "no-progress",
            f'Nothing of the flow "{flow.name}" fits on page {len(self.pages)}. '
            "Make the page's margins, header or footer smaller.",
            *_places(flow),
        )

    def _stop(self, code: str, message: str, *places: Place) -> NoReturn:
        self.context.findings.error(code, message, *places)
        raise self.context.findings.to_error()


def find_start(blocks: Sequence[AnyBlock], resume: Resume) -> Start:
    """Find what a stack of blocks asks of the page it goes on with.

    A numbering run begins only where a block does; the family is that of the innermost block.
    """
    at: StackResume | None = resume if isinstance(resume, StackResume) else None
    index, inner = (0, None) if at is None else (at.child, at.inner)
    while index < len(blocks) and (is_aside(blocks[index]) or isinstance(blocks[index], Break)):
        index += 1
    if index >= len(blocks):
        return Start(None, None)
    block = blocks[index]
    assert not isinstance(block, Break)
    below = Start(None, None)
    if inner is None or isinstance(inner, StackResume):
        below = find_start(_blocks_in(block), inner)
    reset = block.style.breaks.counter_reset if inner is None else None
    return Start(
        below.family or block.style.breaks.page,
        below.first_number if reset is None else reset,
    )


def _blocks_in(block: AnyBlock) -> Sequence[AnyBlock]:
    if isinstance(block, Container | ListItem):
        return block.children
    return block.items if isinstance(block, ListBlock) else ()


def _begin(flow: Flow) -> _Course:
    """Begin a flow; a side that its first block asks for counts before the first page too."""
    first = next((block for block in flow.blocks if not is_aside(block)), None)
    forced = "" if first is None else forced_before(first)
    is_done = not flow.blocks
    return _Course(flow, None, forced if forced in _SIDES else "", is_done)


def _is_on_side(side: str, index: int) -> bool:
    """Tell whether a page of the whole document is on a side; the first is on the right."""
    return (index % 2 == 1) == (side == "right")


def _places(flow: Flow) -> tuple[Place, ...]:
    return () if flow.source is None else (flow.source.place,)
