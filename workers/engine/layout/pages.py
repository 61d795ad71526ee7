"""Pages: the flow poured into page after page between growing headers and footers.

How many pages there are is known only at the end, and a header that says so may be taller for it.
So the flow is poured with assumed numbers, then headers and footers are laid out with the true
ones; when none is of another height the pages stand, else the flow is poured again with the numbers
just found. Three passes settle every sensible document; one that still moves is an error.
Nothing is drawn before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import cos, inf, radians, sin
from typing import Final

from workers.engine.diagnostics import AuthoringError, Findings
from workers.engine.layout import fonts as fixed_fonts
from workers.engine.layout.context import (
    EPSILON,
    Context,
    Fonts,
    Misfit,
    Piece,
    Resume,
    Sheet,
    Space,
    Typeface,
    in_mm,
)
from workers.engine.layout.display import (
    Fill,
    Glyphs,
    Item,
    LaidOut,
    OutlineEntry,
    Page,
    Picture,
    Restore,
    Save,
)
from workers.engine.layout.frames import lay_out_framed
from workers.engine.layout.pictures import find_picture
from workers.engine.layout.problems import Problem
from workers.engine.layout.registry import LAYOUTS, MEASURES
from workers.engine.layout.stacks import lay_out_stack
from workers.engine.layout.turns import lay_out_turned
from workers.engine.ports import Resources
from workers.engine.tree.nodes import (
    Document,
    Flow,
    On,
    PageMaster,
    PageValues,
    RunningBox,
    Watermark,
)
from workers.engine.tree.styles import TextStyle
from workers.engine.units import mm

MAX_PASSES: Final = 3  # language.md 1.7
MAX_PAGES: Final = 10_000
MIN_BODY_HEIGHT: Final = mm(20)  # language.md 1.9
BODY: Final = "body"

# What page values are before the number of pages is known: two digits, and not the last page.
_ASSUMED_PAGES: Final = 99
_WATERMARK_SHARE: Final = 0.7  # of the diagonal, for a mark that states no size


class FixedFonts:
    """The fonts of the product (layout/fonts.py)."""

    def split(self, style: TextStyle, text: str) -> Sequence[tuple[Typeface, str]]:
        """Cut `text` into runs of one face each."""
        return fixed_fonts.split_by_face(style.families, style.weight, style.is_italic, text)

    def find(self, style: TextStyle) -> Typeface:
        """Find the face of a style's first family."""
        return fixed_fonts.find_face(style.families, style.weight, style.is_italic)

    def find_missing(self, text: str) -> str:
        """Give the characters that no face of the product has."""
        return fixed_fonts.find_missing(text)


def lay_out(
    document: Document,
    *,
    resources: Resources,
    findings: Findings,
    fonts: Fonts | None = None,
) -> LaidOut:
    """Lay out a document. What does not fit is noted in `findings`, and the work goes on.

    Raises:
        AuthoringError: the document cannot be laid out at all; errors of the first kind are the
            caller's to raise.
    """
    context = Context(
        resources=resources,
        findings=findings,
        fonts=fonts or FixedFonts(),
        layouts=LAYOUTS,
        measures=MEASURES,
        turn=lay_out_turned,
    )
    pages = _settle(context, document)
    return _draw(context, document, pages)


@dataclass(slots=True)
class _Furniture:
    """The header and footer of one page, laid out; heights include their outer margins."""

    header: Piece | None
    footer: Piece | None
    header_height: float
    footer_height: float


@dataclass(slots=True)
class _PagePlan:
    """One page before it is drawn; `run` is the numbering run it is in."""

    master: PageMaster
    number: int
    run: int
    is_blank: bool
    furniture: _Furniture
    body: Piece | None = None


@dataclass(slots=True)
class _Assumed:
    """The numbers a pass works with: the pages in all, and the length of each numbering run."""

    total: int = _ASSUMED_PAGES
    runs: dict[int, int] = field(default_factory=dict)

    def values(self, plan: _PagePlan, index: int) -> PageValues:
        """Give the values of a page from its place in the document, from 1."""
        count = self.runs.get(plan.run, _ASSUMED_PAGES)
        return PageValues(
            number=plan.number,
            count=max(count, plan.number),
            index=index,
            total=max(self.total, index),
            name=plan.master.name,
            is_blank=plan.is_blank,
        )


def _settle(context: Context, document: Document) -> list[_PagePlan]:
    assumed = _Assumed()
    moved: list[RunningBox] = []
    for _ in range(MAX_PASSES):
        pages = _Pourer(context, document, assumed).pour()
        assumed = _count(pages)
        moved = _refurnish(context, pages, assumed)
        if not moved:
            return pages
    context.findings.error(
        "not-settled",
        f"The height of the page's header or footer still changes after {MAX_PASSES} attempts, "
        "because it depends on page numbers that depend on it. "
        "Give it a fixed height, or let it say less about the number of pages.",
        *dict.fromkeys(box.source.place for box in moved),
    )
    raise AuthoringError(context.findings.errors)


def _count(pages: Sequence[_PagePlan]) -> _Assumed:
    runs: dict[int, int] = {}
    for page in pages:
        runs[page.run] = page.number
    return _Assumed(len(pages), runs)


def _refurnish(context: Context, pages: Sequence[_PagePlan], assumed: _Assumed) -> list[RunningBox]:
    """Lay out headers and footers with true numbers; give those whose height is another now."""
    moved: list[RunningBox] = []
    for index, plan in enumerate(pages, start=1):
        master, before = plan.master, plan.furniture
        values = assumed.values(plan, index)
        plan.furniture = after = _furnish(context, master, values, before)
        if master.header and abs(after.header_height - before.header_height) > EPSILON:
            moved.append(master.header)
        if master.footer and abs(after.footer_height - before.footer_height) > EPSILON:
            moved.append(master.footer)
    return moved


# --- furniture ----------------------------------------------------------------------------------------


def _furnish(
    context: Context, master: PageMaster, values: PageValues, known: _Furniture | None = None
) -> _Furniture:
    """Lay out the header and footer of a page; one without page values is laid out once."""
    width = master.width - master.margin.left - master.margin.right
    header = _lay_out_running(
        context, master.header, width, values, known.header if known else None
    )
    footer = _lay_out_running(
        context, master.footer, width, values, known.footer if known else None
    )
    return _Furniture(
        header,
        footer,
        _outer_height(header, master.header, width),
        _outer_height(footer, master.footer, width),
    )


def _lay_out_running(
    context: Context,
    box: RunningBox | None,
    width: float,
    values: PageValues,
    known: Piece | None,
) -> Piece | None:
    if box is None:
        return None
    if box.content.is_static:
        if known is not None:
            return known
        key = ("running", id(box), width)
        static: Piece | None = context.memory.get(key)
        if static is None:
            static = context.memory[key] = _lay_out_box(context, box, width, values)
        return static
    return _lay_out_box(context, box, width, values)


def _lay_out_box(context: Context, box: RunningBox, width: float, values: PageValues) -> Piece:
    blocks = box.content.evaluate(values)

    def content(inner: Space, _: Resume) -> Piece | None:
        context.path.append(box.source)
        piece = lay_out_stack(context, blocks, inner)
        context.path.pop()
        return piece

    piece = lay_out_framed(context, box, Space(width), None, content)
    assert piece is not None
    return piece


def _outer_height(piece: Piece | None, box: RunningBox | None, width: float) -> float:
    if piece is None or box is None:
        return 0.0
    margin = box.style.box.margin
    return piece.height + (margin.top.resolve(width) or 0.0) + (margin.bottom.resolve(width) or 0.0)


# --- pouring ------------------------------------------------------------------------------------------


class _Pourer:
    """One pass: the flow poured into pages, with assumed page values."""

    def __init__(self, context: Context, document: Document, assumed: _Assumed) -> None:
        self.context = context
        self.document = document
        self.assumed = assumed
        self.pages: list[_PagePlan] = []

    def pour(self) -> list[_PagePlan]:
        """Make the pages of the body flow; a document without one has one empty page."""
        flow = next((flow for flow in self.document.flows if flow.name == BODY), None)
        if flow is None:
            self._open_page("default")
            return self.pages
        self._pour_flow(flow)
        return self.pages

    def _pour_flow(self, flow: Flow) -> None:
        resume: Resume = None
        first = len(self.pages)
        while True:
            plan = self._open_page(flow.page)
            space = self._region(plan)
            piece = lay_out_stack(self.context, flow.blocks, space, resume)
            assert piece is not None
            plan.body = piece
            if piece.resume is None:
                break
            if piece.resume == resume:
                self._stop_at_standstill(flow)
            resume = piece.resume
            self._fill_to_side(flow, piece.forced)
        self._check_max_pages(flow, len(self.pages) - first)

    def _open_page(self, family: str, *, is_blank: bool = False) -> _PagePlan:
        if len(self.pages) >= MAX_PAGES:
            self._stop(
                "too-many-pages", f"The document has more than {MAX_PAGES:,} pages. Split the data."
            )
        number = self.pages[-1].number + 1 if self.pages else 1
        run = self.pages[-1].run if self.pages else 1
        master = _choose_master(self.document.masters, family, number, is_blank=is_blank)
        plan = _PagePlan(master, number, run, is_blank, _Furniture(None, None, 0.0, 0.0))
        self.pages.append(plan)
        values = self.assumed.values(plan, len(self.pages))
        plan.furniture = _furnish(self.context, master, values)
        return plan

    def _fill_to_side(self, flow: Flow, forced: str) -> None:
        """Leave a page blank where the flow goes on on the other side (`left` is even)."""
        if forced not in ("left", "right"):
            return
        is_next_even = (self.pages[-1].number + 1) % 2 == 0
        if is_next_even != (forced == "left"):
            self._open_page(flow.page, is_blank=True)

    def _region(self, plan: _PagePlan) -> Space:
        master, furniture = plan.master, plan.furniture
        width = master.width - master.margin.left - master.margin.right
        height = master.height - master.margin.top - master.margin.bottom
        height -= furniture.header_height + furniture.footer_height
        # Too little room is told when the page is drawn; the flow goes on as if there were some.
        height = max(height, MIN_BODY_HEIGHT)
        return Space(max(width, 1.0), height, True, height)

    def _check_max_pages(self, flow: Flow, count: int) -> None:
        if flow.max_pages is None or count <= flow.max_pages:
            return
        places = () if flow.source is None else (flow.source.place,)
        self.context.findings.error(
            "max-pages",
            f'Text does not fit: the flow "{flow.name}" needs {count} pages, '
            f"max-pages gives {flow.max_pages}. Shorten the text, or raise max-pages.",
            *places,
        )

    def _stop_at_standstill(self, flow: Flow) -> None:
        self._stop(
            "no-progress",
            f'Nothing of the flow "{flow.name}" fits on page {len(self.pages)}. '
            "Make the page's margins, header or footer smaller.",
            flow,
        )

    def _stop(self, code: str, message: str, flow: Flow | None = None) -> None:
        places = () if flow is None or flow.source is None else (flow.source.place,)
        self.context.findings.error(code, message, *places)
        raise AuthoringError(self.context.findings.errors)


def _choose_master(
    masters: Sequence[PageMaster], family: str, number: int, *, is_blank: bool
) -> PageMaster:
    """Choose the member of a family for a page; which one comes first, language.md 1.7 tells."""
    members = {master.on: master for master in masters if master.name == family}
    if not members:
        return masters[0]
    order = [
        (On.BLANK, is_blank),
        (On.FIRST, number == 1),
        (On.ODD, number % 2 == 1),
        (On.EVEN, number % 2 == 0),
        (On.REST, number > 1),
    ]
    chosen = next((members[on] for on, holds in order if holds and on in members), None)
    return chosen or members.get(On.ALL) or next(iter(members.values()))


# --- drawing ------------------------------------------------------------------------------------------


def _draw(context: Context, document: Document, plans: Sequence[_PagePlan]) -> LaidOut:
    outline: list[OutlineEntry] = []
    told: set[Misfit] = set()
    numbers = _count(plans)
    pages = []
    under = [mark for mark in document.watermarks if not mark.is_over]
    over = [mark for mark in document.watermarks if mark.is_over]
    for index, plan in enumerate(plans, start=1):
        page = Page(plan.master.width, plan.master.height)
        values = numbers.values(plan, index)
        sheet = Sheet(page, values=values, outline=outline, findings=context.findings, told=told)
        _check_room(context, sheet, plan)
        _draw_background(context, plan.master, page.items)
        _draw_watermarks(context, under, page)
        _draw_page(sheet, plan)
        _draw_watermarks(context, over, page)
        pages.append(page)
    return LaidOut(pages, outline)


def _draw_page(sheet: Sheet, plan: _PagePlan) -> None:
    master, furniture = plan.master, plan.furniture
    left, top = master.margin.left, master.margin.top
    sheet.is_furniture = True
    if furniture.header is not None and master.header is not None:
        furniture.header.draw(sheet, left, top + _top_margin(master, master.header))
    if furniture.footer is not None and master.footer is not None:
        foot = master.height - master.margin.bottom - furniture.footer_height
        furniture.footer.draw(sheet, left, foot + _top_margin(master, master.footer))
    sheet.is_furniture = False
    if plan.body is not None:
        plan.body.draw(sheet, left, top + furniture.header_height)


def _top_margin(master: PageMaster, box: RunningBox) -> float:
    width = master.width - master.margin.left - master.margin.right
    return box.style.box.margin.top.resolve(width) or 0.0


def _check_room(context: Context, sheet: Sheet, plan: _PagePlan) -> None:
    """Tell of a header or footer above its `max-height`, and of a body region that is too low."""
    master, furniture = plan.master, plan.furniture
    sides = ((master.header, furniture.header), (master.footer, furniture.footer))
    for box, piece in sides:
        if box is None or piece is None:
            continue
        limit = box.max_height.resolve(master.height)
        if limit is not None and piece.height > limit + EPSILON:
            tag = box.source.place.tag_name
            misfit = Misfit(
                code="running-too-tall",
                what=f"Text does not fit: `{tag}` needs {in_mm(piece.height)}, "
                f"its max-height gives {in_mm(limit)}",
                advice=f"Shorten the {tag}, or raise max-height.",
                chain=(box.source,),
            )
            sheet.report(misfit)
    margins = master.margin.top + master.margin.bottom
    height = master.height - margins - furniture.header_height - furniture.footer_height
    if height < MIN_BODY_HEIGHT - EPSILON:
        sources = [box.source for box, _ in sides if box is not None]
        sources += [master.source] if master.source is not None else []
        sheet.report(
            Misfit(
                code="body-too-low",
                what=f"Margins, header and footer leave {in_mm(max(height, 0.0))} for the text of "
                f"the page, at least {in_mm(MIN_BODY_HEIGHT)} are needed",
                advice="Make the margins, the header or the footer smaller.",
                chain=tuple(sources),
            )
        )


def _draw_background(context: Context, master: PageMaster, items: list[Item]) -> None:
    width, height = master.width, master.height
    if master.background is not None:
        items.append(Fill(0.0, 0.0, width, height, master.background, None))
    if master.background_image is None:
        return
    image = find_picture(context, master.background_image)
    if isinstance(image, Problem):
        places = () if master.source is None else (master.source.place,)
        context.findings.error(image.code, f"{image.text}, for the background of the page", *places)
        return
    items.append(Picture(0.0, 0.0, width, height, image, None))


def _draw_watermarks(context: Context, marks: Sequence[Watermark], page: Page) -> None:
    for mark in marks:
        _draw_watermark(context, mark, page)


def _draw_watermark(context: Context, mark: Watermark, page: Page) -> None:
    """Draw a mark in the middle of the page; `rotate` is against the clock."""
    face = fixed_fonts.find_face((), 700, False)
    width = face.measure(mark.text)
    if width <= 0:
        return
    size = mark.size or _diagonal(page, mark.rotate) * _WATERMARK_SHARE / width
    centre = (page.width / 2, page.height / 2)
    left = centre[0] - width * size / 2
    baseline = centre[1] + face.cap_height * size / 2
    page.items.append(Save(rotate=(-mark.rotate, *centre), opacity=mark.opacity))
    codes = face.encode(mark.text)
    page.items.append(
        Glyphs(left, baseline, face, size, mark.color, codes, mark.text, width * size, None)
    )
    page.items.append(Restore())


def _diagonal(page: Page, angle: float) -> float:
    """Give how long a line through the middle of the page is, at an angle in degrees."""
    across, down = abs(cos(radians(angle))), abs(sin(radians(angle)))
    return min(
        page.width / across if across > EPSILON else inf,
        page.height / down if down > EPSILON else inf,
    )
