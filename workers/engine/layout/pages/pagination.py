"""Pagination: one pass that fills page after page with the flows of a document.

The first unfinished flow leads: its content determines the page family of the next page and its
numbering run. Every flow fills the areas that a page has for it. A flow that has started needs an
area on every page until it is finished; one that has not started waits for a page with one.

A pass takes over areas from the one before. It is there because some pages were not known, and most
areas show none of those. So the content of an area is kept by where it begins and the room it has.
Lines that show another text are broken again; where they take the same room as before they take
their place, and the area is filled again only where not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Final, NamedTuple, NoReturn

from workers.engine.diagnostics import SourceLocation
from workers.engine.layout.blocks.boxes import lay_out_box
from workers.engine.layout.blocks.columns import FillFunction, fill_columns
from workers.engine.layout.blocks.positioning import is_out_of_flow, resolve_axis
from workers.engine.layout.blocks.stacks import (
    StackResume,
    aside_of,
    forced_break_before,
    lay_out_stack,
)
from workers.engine.layout.context import (
    EPSILON,
    AnyBlock,
    FilledRectangle,
    Fragment,
    LayoutContext,
    Rectangle,
    Region,
    Resume,
)
from workers.engine.layout.pages.floats import (
    NO_FLOATS,
    FlowFloats,
    fill_balanced,
    fill_with_floats,
    find_floats,
)
from workers.engine.layout.pages.footnotes import FootnoteFiller, used_height
from workers.engine.layout.pages.paper import (
    FilledArea,
    PageNumbers,
    PagePlan,
    estimate_running_content,
    find_page_area,
    group_by_family,
    lay_out_running_content,
    locate_on_page,
    make_page,
    select_master,
)
from workers.engine.tree.document import Area, Document, Flow
from workers.engine.tree.nodes import Block, Break, Container, ListBlock, ListItem, Role
from workers.engine.tree.styles.computed import Overflow
from workers.engine.units import Length


def resolve_area(area: Area | None, page_area: Rectangle) -> Rectangle:
    """Return the rectangle of an area in the page area, inside its padding; for None the page area.

    A missing offset is that of the page area. The result may be empty or negative.
    """
    if area is None:
        return page_area
    position, padding = area.position, area.padding
    x, width = resolve_axis(
        position.left and position.left.resolve(page_area.width),
        position.right and position.right.resolve(page_area.width),
        area.width and area.width.resolve(page_area.width),
        page_area.width,
    )
    y, height = resolve_axis(
        position.top and position.top.resolve(page_area.height),
        position.bottom and position.bottom.resolve(page_area.height),
        area.height and area.height.resolve(page_area.height),
        page_area.height,
    )
    return Rectangle(
        page_area.x + x + padding.left,
        page_area.y + y + padding.top,
        width - padding.left - padding.right,
        height - padding.top - padding.bottom,
    )


def _lay_out_clipped(
    context: LayoutContext,
    blocks: Sequence[Block],
    area: Area,
    overflow: Overflow,
    resume: Resume,
    width: float,
    height: float,
) -> Fragment | None:
    """Lay out all remaining blocks in a box as high as the area, which reports overflow.

    A block that started in an earlier area cannot shrink here.
    """
    at = resume or StackResume(0, None, False)
    if overflow is Overflow.SHRINK and at.inner is not None:
        overflow = Overflow.ERROR
    box = replace(area.style.box, height=Length(height), overflow=overflow)
    style = replace(area.style, box=box)
    rest = tuple(blocks[at.child :])
    wrapper = Container(area.source, Role.SECT, style, rest, columns=area.columns)
    region = Region(width, height, True, height, top=0.0)
    if at.inner is None:
        return context.lay_out(wrapper, region)

    def content(own: LayoutContext, _: Container, inner: Region, _at: Resume) -> Fragment | None:
        from_here = StackResume(0, at.inner, at.is_forced)
        return fill_columns(own, rest, area.columns, inner, from_here, is_bound=True)

    return lay_out_box(content, context, wrapper, region, None)


MAX_PAGES: Final = 10_000
_LEAST_CONTENT: Final = 1.0  # points, of a page as high as its content
BODY: Final = "body"
_DEFAULT: Final = "default"
_SIDES: Final = ("left", "right")
_STACKS: Final = (Container, ListBlock, ListItem)
_NEXT_PAGE: Final = ("page", *_SIDES)
# A leading flow may wait for its first area while others fill up to this many pages.
_MAX_EMPTY: Final = 2


class PageRequirement(NamedTuple):
    """The page family and numbering that the next content of a flow requires, None for any."""

    family: str | None
    first_number: int | None


@dataclass(slots=True)
class _FlowProgress:
    """The progress of one flow in a pass."""

    flow: Flow
    resume: StackResume | None = None
    forced: str = ""
    is_done: bool = False
    first_page: int | None = None
    last_page: int = 0
    is_leading: bool = False
    waits_for_next_page: bool = False  # for the next page
    floating: FlowFloats = NO_FLOATS  # all figures of the flow that float
    family: str | None = None  # of its last page

    def find_requirement(self) -> PageRequirement:
        if aside_of(self.resume).held_break:  # the figures before the break come first
            return PageRequirement(self.family, None)
        return find_requirement(self.flow.blocks, self.resume)


def fill_pages(
    context: LayoutContext, document: Document, page_numbers: PageNumbers
) -> list[PagePlan]:
    """Paginate a document with assumed page numbers; return at least one page.

    Raises:
        AuthoringError: A flow has no area to continue in, or there are more than MAX_PAGES
            pages.
    """
    return _Paginator(context, document, page_numbers).fill()


class _Paginator:
    def __init__(
        self, context: LayoutContext, document: Document, page_numbers: PageNumbers
    ) -> None:
        self.context = context
        self.families = group_by_family(document.masters)
        self.no_master = document.masters[0]  # a placeholder until the page is numbered
        self.page_numbers = page_numbers
        self.progress = {flow.name: _begin(flow) for flow in document.flows}
        self.first_family = document.flows[0].page if document.flows else _DEFAULT
        self.pages: list[PagePlan] = []
        self.footnotes = document.footnotes
        self.has_floats = document.has_floats
        if self.has_floats:
            for flow_progress in self.progress.values():
                flow_progress.floating = find_floats(flow_progress.flow.blocks)
        self.empty_pages = 0
        self.is_measuring = False  # the height of a page

    def fill(self) -> list[PagePlan]:
        while (leader := self._find_leading()) is not None:
            self._open_for(leader)
            self._fill_page(leader)
        if not self.pages:
            self._open_page(self.first_family)
        self._end_run()
        if self.page_numbers.is_duplex and len(self.pages) % 2:
            self._open_page(self.pages[-1].master.name, is_blank=True).is_added = True
        for plan in self.pages:
            if plan.master.is_open and not plan.filled_areas:
                _close(plan)
        for flow_progress in self.progress.values():
            self._check_max_pages(flow_progress)
        return self.pages

    def _find_leading(self) -> _FlowProgress | None:
        return next((each for each in self.progress.values() if not each.is_done), None)

    # --- opening pages -----------------------------------------------------------------------------

    def _open_for(self, leader: _FlowProgress) -> None:
        """Open the next page of a flow, after a blank one if it must be on the other side."""
        family, first_number = leader.find_requirement()
        if self.empty_pages:
            first_number = None  # the run has started, its first block still waits for an area
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
            self._raise_error(
                "too-many-pages", f"The document has more than {MAX_PAGES:,} pages. Split the data."
            )
        plan = self._number_page(first_number, is_blank=is_blank)
        plan.master = select_master(
            self.families, family, plan, is_last=self.page_numbers.is_last(plan)
        )
        self.pages.append(plan)
        values = self.page_numbers.values(plan, len(self.pages))
        is_estimated = self.page_numbers.is_estimated
        lay_out = estimate_running_content if is_estimated else lay_out_running_content
        plan.running_content = lay_out(self.context, plan.master, values)
        return plan

    def _number_page(self, first_number: int | None, *, is_blank: bool) -> PagePlan:
        """Number the next page: in its run, or as the first of a new one."""
        master = self.no_master
        before = self.pages[-1] if self.pages else None
        if before is None:
            first = 1 if first_number is None else first_number
            return PagePlan(master, first, 1, first, is_blank)
        if first_number is not None:
            return PagePlan(master, first_number, before.run + 1, first_number, is_blank)
        return PagePlan(master, before.number + 1, before.run, before.first, is_blank)

    def _end_run(self) -> None:
        """Add the last page of a run if it needs a separate one."""
        run = self.pages[-1].run
        if run not in self.page_numbers.extended:
            return
        while self.pages[-1].number < self.page_numbers.runs[run]:
            self._open_page(self.pages[-1].master.name)

    # --- filling areas -----------------------------------------------------------------------------

    def _fill_page(self, leader: _FlowProgress) -> None:
        """Fill the areas of this page with their flows."""
        plan = self.pages[-1]
        if plan.master.is_open:
            self._measure_page(leader, plan)
        areas = self._fill_areas(leader, plan)
        self._check_areas(leader, plan, areas)
        if self.context.references is not None:
            values = self.page_numbers.values(plan, len(self.pages))
            locate_on_page(plan, values, self.context.references.placed)

    def _measure_page(self, leader: _FlowProgress, plan: PagePlan) -> None:
        """Fill an open page for its height alone."""
        before = self.progress
        self.progress = {name: replace(each) for name, each in before.items()}
        self.is_measuring = True
        self._fill_areas(leader, plan)
        self.is_measuring, self.progress = False, before
        _close(plan)
        plan.filled_areas.clear()

    def _fill_areas(self, leader: _FlowProgress, plan: PagePlan) -> Sequence[Area | None]:
        page_area = find_page_area(plan)
        for each in self.progress.values():
            each.is_leading = each.flow is leader.flow
            each.waits_for_next_page = not each.is_done and self._has_to_wait(each, plan)
        areas: Sequence[Area | None] = plan.master.areas or (None,)
        rectangles = [resolve_area(area, page_area) for area in areas]
        tallest: dict[str, float] = {}  # of the areas after each, by flow
        later = []
        for area, rectangle in zip(reversed(areas), reversed(rectangles), strict=True):
            name = BODY if area is None else area.flow
            later.append(tallest.get(name, 0.0))
            tallest[name] = max(later[-1], rectangle.height)
        for area, rectangle, height in zip(areas, rectangles, reversed(later), strict=True):
            flow_progress = self.progress.get(BODY if area is None else area.flow)
            if flow_progress is None or flow_progress.is_done or flow_progress.waits_for_next_page:
                continue
            if rectangle.width <= 0 or rectangle.height <= 0:
                self._raise_no_room(area)
            if height > rectangle.height + EPSILON and self._goes_on_later(
                flow_progress, rectangle
            ):
                continue
            self._fill_area(flow_progress, plan, area, rectangle)
        return areas

    def _goes_on_later(self, flow_progress: _FlowProgress, rectangle: Rectangle) -> bool:
        """Return whether the next block is too tall for an area; a later one is taller."""
        at, blocks = flow_progress.resume, flow_progress.flow.blocks
        if at is not None and at.inner is not None:
            return False
        region = Region(rectangle.width, rectangle.height, False, rectangle.height, top=0.0)
        return lay_out_stack(self.context, blocks, region, at) is None

    def _has_to_wait(self, flow_progress: _FlowProgress, plan: PagePlan) -> bool:
        """Return whether the next content of a flow requires another page than this one."""
        if flow_progress.forced in _SIDES and not _is_on_side(
            flow_progress.forced, len(self.pages)
        ):
            return True
        family = flow_progress.find_requirement().family or (
            flow_progress.flow.page if flow_progress.is_leading else None
        )
        return family is not None and family != plan.master.name

    def _fill_area(
        self, flow_progress: _FlowProgress, plan: PagePlan, area: Area | None, rectangle: Rectangle
    ) -> None:
        filled = self._find_content(flow_progress, plan, area, rectangle)
        plan.filled_areas.append(filled)
        fragment = filled.fragment
        flow_progress.first_page = flow_progress.first_page or len(self.pages)
        flow_progress.last_page, flow_progress.family = len(self.pages), plan.master.name
        if fragment.resume is None:
            flow_progress.is_done = True
            return
        if fragment.resume == flow_progress.resume:
            self._raise_no_progress(flow_progress.flow)
        flow_progress.resume, flow_progress.forced = fragment.resume, fragment.forced
        flow_progress.waits_for_next_page = fragment.forced in _NEXT_PAGE or self._has_to_wait(
            flow_progress, plan
        )

    def _find_content(
        self, flow_progress: _FlowProgress, plan: PagePlan, area: Area | None, rectangle: Rectangle
    ) -> FilledArea:
        """Return an area of a page with its content, that of the pass before where it would be the same."""
        references = self.context.references
        # Figures that wait to float decide about the end of an area too.
        if references is None or self.has_floats or self.is_measuring:
            return self._fill_anew(flow_progress, plan, area, rectangle)
        key = (
            flow_progress.flow.name,
            flow_progress.resume,
            id(area),
            rectangle,
            plan.master.height,
            references.digits,
        )
        filled: FilledArea | None = references.find_area(self.context, key)
        if filled is None:
            references.shown = []
            filled = self._fill_anew(flow_progress, plan, area, rectangle)
            filled.shown, references.shown = references.shown, None
        references.areas[key] = filled
        return filled

    def _fill_anew(
        self, flow_progress: _FlowProgress, plan: PagePlan, area: Area | None, rectangle: Rectangle
    ) -> FilledArea:
        """Return an area of a page, filled."""
        filled = FilledRectangle(
            inf if self.is_measuring else rectangle.height,
            1 if area is None else area.columns.count,
            plan.master.height - rectangle.y - rectangle.height,
            make_page(plan.master),
            self.page_numbers.values(plan, len(self.pages)),
        )
        context = self.context._replace(area=filled)
        notes = None if self.footnotes is None else FootnoteFiller(context, self.footnotes)
        blocks, resume = flow_progress.flow.blocks, flow_progress.resume
        width, height = rectangle.width, rectangle.height
        bottom = None if self.is_measuring else height
        region = Region(width, height, True, bottom, top=0.0)
        columns = None if area is None or area.columns.count == 1 else area.columns
        fill: FillFunction = lay_out_stack if notes is None else notes.fill
        fragment: Fragment | None
        if area is not None and area.overflow is not None:
            placeless = context._replace(places_floats=False)
            fill_to = partial(
                _lay_out_clipped, placeless, blocks, area, area.overflow, resume, width
            )
            fragment = (
                fill_to(height)
                if notes is None
                else notes.fill_clipped(fill_to, width, height, aside_of(resume).notes)
            )
        elif self.has_floats:
            floats = flow_progress.floating
            fragment = fill_with_floats(
                context, blocks, region, resume, floats=floats, notes=notes, columns=columns
            )
        elif columns is not None:
            fragment = fill_balanced(context, blocks, columns, region, resume, fill, notes)
        else:
            fragment = fill(context, blocks, region, resume)
        assert fragment is not None
        return FilledArea(area, rectangle, fragment)

    def _check_areas(
        self, leader: _FlowProgress, plan: PagePlan, areas: Sequence[Area | None]
    ) -> None:
        """Raise an error if a started flow has no area, or the leading flow waits for one without end."""
        served = {BODY if area is None else area.flow for area in areas}
        for flow_progress in self.progress.values():
            flow = flow_progress.flow
            goes_on = not flow_progress.is_done and not flow_progress.waits_for_next_page
            if flow_progress.first_page is not None and goes_on and flow.name not in served:
                self._raise_no_area(flow, plan)
        self.empty_pages = 0 if plan.filled_areas else self.empty_pages + 1
        if self.empty_pages >= _MAX_EMPTY:
            self._raise_no_area(leader.flow, plan)

    # --- errors -----------------------------------------------------------------------------

    def _check_max_pages(self, flow_progress: _FlowProgress) -> None:
        flow, first = flow_progress.flow, flow_progress.first_page
        count = 0 if first is None else flow_progress.last_page - first + 1
        if flow.max_pages is None or count <= flow.max_pages:
            return
        self.context.findings.error(
            "max-pages",
            f'Text does not fit: the flow "{flow.name}" needs {count} pages, '
            f"max-pages allows {flow.max_pages}. Shorten the text, or raise max-pages.",
            _place_of(flow),
        )

    def _raise_no_area(self, flow: Flow, plan: PagePlan) -> NoReturn:
        source = plan.master.source
        self._raise_error(
            "no-area",
            f'The flow "{flow.name}" has content left on page {len(self.pages)}, but the page '
            f'"{plan.master.name}" (on="{plan.master.on}") has no area for it. Add '
            f'<area flow="{flow.name}"/> to the page, or shorten the text.',
            _place_of(flow),
            None if source is None else source.location,
        )

    def _raise_no_room(self, area: Area | None) -> NoReturn:
        self._raise_error(
            "no-room",
            f"The offsets, sizes and padding of the `area` leave no room in it on page "
            f"{len(self.pages)}. Make them smaller.",
            None if area is None else area.source.location,
        )

    def _raise_no_progress(self, flow: Flow) -> NoReturn:
        self._raise_error(
            "no-progress",
            f'Nothing of the flow "{flow.name}" fits on page {len(self.pages)}. '
            "Make the page's margins, header or footer smaller.",
            _place_of(flow),
        )

    def _raise_error(self, code: str, message: str, *places: SourceLocation | None) -> NoReturn:
        self.context.findings.error(code, message, *places)
        raise self.context.findings.to_error()


def find_requirement(blocks: Sequence[AnyBlock], resume: Resume) -> PageRequirement:
    """Return the page requirement of a stack of blocks at a resume position.

    A numbering run starts only where a block does; the family is that of the innermost block.
    """
    at: StackResume | None = resume if isinstance(resume, StackResume) else None
    index, inner = (0, None) if at is None else (at.child, at.inner)
    while index < len(blocks) and (
        is_out_of_flow(blocks[index]) or isinstance(blocks[index], Break)
    ):
        index += 1
    if index >= len(blocks):
        return PageRequirement(None, None)
    block = blocks[index]
    below = PageRequirement(None, None)
    if inner is None or isinstance(inner, StackResume):
        children = block.children if isinstance(block, _STACKS) else ()
        below = find_requirement(children, inner)
    reset = block.style.breaks.counter_reset if inner is None else None
    return PageRequirement(
        below.family or block.style.breaks.page, below.first_number if reset is None else reset
    )


def _begin(flow: Flow) -> _FlowProgress:
    """Start a flow; a side required by its first block applies to the first page too."""
    first = next((block for block in flow.blocks if not is_out_of_flow(block)), None)
    forced = "" if first is None else forced_break_before(first)
    is_done = not flow.blocks
    return _FlowProgress(flow, None, forced if forced in _SIDES else "", is_done)


def _is_on_side(side: str, index: int) -> bool:
    """Return whether a page of the document is on a side; the first is on the right."""
    return (index % 2 == 1) == (side == "right")


def _place_of(flow: Flow) -> SourceLocation | None:
    return None if flow.source is None else flow.source.location


def _close(plan: PagePlan) -> None:
    """Give an open page the height of its content."""
    page_area = find_page_area(plan)
    used = [area.rectangle.y + used_height(area.fragment) for area in plan.filled_areas]
    content = max(used, default=page_area.y) - page_area.y + EPSILON
    master = plan.master
    around = page_area.y + plan.running_content.footer.height + master.margin.bottom
    height = min(around + max(content, _LEAST_CONTENT), master.height)
    plan.master = replace(master, height=height)
