"""Pages without their text: the numbers, master and areas of each, its headers and footers, which grow with
their content, positioned boxes, background, watermarks, crop marks, and marks for inserting machines.

An output plan that orders documents after they were laid out draws the latter by `write_marks` onto
finished pages; the clear zones around them are checked when the pages are laid out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import cos, inf, radians, sin
from typing import Final, NamedTuple

from workers.engine.barcodes import BarcodeSpec
from workers.engine.diagnostics import Findings, Severity
from workers.engine.layout import display
from workers.engine.layout.blocks.positioning import draw_positioned
from workers.engine.layout.blocks.stacks import StackFragment, lay_out_stack
from workers.engine.layout.context import (
    EPSILON,
    ContentProblem,
    Fragment,
    FreeZone,
    LayoutContext,
    LayoutProblem,
    PageCanvas,
    PrintedFooter,
    Rectangle,
    Region,
    format_mm,
    shorten_value,
    trace,
)
from workers.engine.layout.elements.barcodes import encode_barcode
from workers.engine.layout.lines.drawing import phrase_items, set_phrase
from workers.engine.layout.pictures import find_picture, warn_of_stretching
from workers.engine.layout.references import ASSUMED_PAGES, PageLocation, ShownText
from workers.engine.syntax.identifiers import ImageSource
from workers.engine.syntax.names import fill_mark_format
from workers.engine.tree.document import (
    Area,
    Document,
    PageMaster,
    RunningBox,
    SheetMarks,
    Watermark,
)
from workers.engine.tree.memo import Kind
from workers.engine.tree.nodes import Block, Container, Occurrence, Source
from workers.engine.tree.page_values import PageValues, RunningValue
from workers.engine.tree.styles.computed import Overflow, TextStyle
from workers.engine.units import BLACK, Length, LengthKind, mm

_WATERMARK_SHARE: Final = 0.7  # of the diagonal, for a watermark without a size
# For watermarks: bold, and of size 1 so that the text can be measured before its size is known.
_MARK_STYLE: Final = TextStyle((), 1.0, 700, False)
_MARK_LENGTH: Final = mm(5)
_MARK_DISTANCE: Final = mm(3)  # from the edge of the paper, or the bleed if that is more
_MARK_WIDTH: Final = 0.25


def make_page(master: PageMaster) -> display.LaidOutPage:
    """Return an empty page of a master, with bleed and slug around the paper."""
    marks = max(_MARK_DISTANCE - master.bleed, 0.0) + _MARK_LENGTH
    return display.LaidOutPage(
        master.width,
        master.height,
        bleed=master.bleed,
        slug=marks if master.has_crop_marks else 0.0,
        media=master.media,
    )


def draw_background(context: LayoutContext, master: PageMaster, items: list[display.Item]) -> None:
    """Draw the background colour and image of a page, including the bleed."""
    bleed = master.bleed
    area = (-bleed, -bleed, master.width + 2 * bleed, master.height + 2 * bleed)
    if master.background is not None:
        items.append(display.Fill(*area, master.background, None))
    if master.background_image is None:
        return
    place = None if master.source is None else master.source.location
    image = find_picture(context, master.background_image, master.source)
    if isinstance(image, ContentProblem):
        context.findings.error(image.code, f"{image.text}, for the background of the page", place)
        return
    warn_of_stretching(image, *area[2:], place, context.findings)
    items.append(display.Picture(*area, image, None, master))


def draw_crop_marks(page: display.LaidOutPage) -> None:
    """Draw two short lines at each corner to mark where the paper is trimmed."""
    if not page.slug:
        return
    near = max(page.bleed, _MARK_DISTANCE)
    far = near + _MARK_LENGTH
    for edge in (0.0, page.height):
        for start, end in ((-far, -near), (page.width + near, page.width + far)):
            page.items.append(display.Stroke(start, edge, end, edge, _MARK_WIDTH, BLACK, None))
    for edge in (0.0, page.width):
        for start, end in ((-far, -near), (page.height + near, page.height + far)):
            page.items.append(display.Stroke(edge, start, edge, end, _MARK_WIDTH, BLACK, None))


def draw_watermarks(
    context: LayoutContext, marks: Sequence[Watermark], page: display.LaidOutPage, *, are_over: bool
) -> None:
    """Draw the watermarks above the content, or those below it."""
    for mark in marks:
        if mark.is_over is not are_over:
            continue
        if mark.picture is None:
            _draw_watermark(context, mark, page)
        else:
            _draw_picture(context, mark, mark.picture, page)


def _draw_picture(
    context: LayoutContext, mark: Watermark, picture: ImageSource, page: display.LaidOutPage
) -> None:
    """Draw a rotated picture in the centre of the page, scaled to its share of it."""
    image = find_picture(context, picture, mark.source)
    if isinstance(image, ContentProblem):
        place = None if mark.source is None else mark.source.location
        context.findings.error(image.code, f"{image.text}, for the watermark", place)
        return
    width, height = image.width_points, image.height_points
    across, down = abs(cos(radians(mark.rotate))), abs(sin(radians(mark.rotate)))
    scale = _WATERMARK_SHARE * min(
        page.width / (width * across + height * down),
        page.height / (width * down + height * across),
    )
    width, height = width * scale, height * scale
    left, top = (page.width - width) / 2, (page.height - height) / 2
    centre = (page.width / 2, page.height / 2)
    page.items.append(display.Save(rotate=(-mark.rotate, *centre), opacity=mark.opacity))
    page.items.append(display.Picture(left, top, width, height, image, None))
    page.items.append(display.Restore())


def _draw_watermark(context: LayoutContext, mark: Watermark, page: display.LaidOutPage) -> None:
    """Draw text in the centre of the page; `rotate` is counter-clockwise."""
    style = replace(_MARK_STYLE, color=mark.color)
    width = sum(part.width for part in set_phrase(context.fonts, style, mark.text))
    if width <= 0:
        return
    size = mark.size or _diagonal(page, mark.rotate) * _WATERMARK_SHARE / width
    centre = (page.width / 2, page.height / 2)
    left = centre[0] - width * size / 2
    baseline = centre[1] + context.fonts.find(style).cap_height * size / 2
    page.items.append(display.Save(rotate=(-mark.rotate, *centre), opacity=mark.opacity))
    parts = set_phrase(context.fonts, replace(style, size=size), mark.text)
    page.items += phrase_items(parts, left, baseline)
    page.items.append(display.Restore())


def _diagonal(page: display.LaidOutPage, angle: float) -> float:
    """Return the length of a line through the centre of the page at an angle in degrees."""
    across, down = abs(cos(radians(angle))), abs(sin(radians(angle)))
    return min(
        page.width / across if across > EPSILON else inf,
        page.height / down if down > EPSILON else inf,
    )


OMR_LINES: Final = 11
_OMR_WEIGHT: Final = mm(0.5)
_SEQUENCE: Final = 7  # sheets that three lines count
_FEEDERS: Final = (1, 2, 3, 4)


def find_omr_lines(marks: SheetMarks, sheet: int, sheets: int) -> tuple[bool, ...]:
    """Return which lines a sheet has, from the top."""
    sequence = (marks.sequence + sheet - 2) % _SEQUENCE + 1
    counted = [bool(sequence & bit) for bit in (1, 2, 4)]
    fed = [feeder in marks.inserts for feeder in _FEEDERS]
    is_end = sheet == sheets
    is_odd = (2 + is_end + sum(counted) + sum(fed)) % 2 == 1
    return (True, True, is_end, is_odd, *counted, *fed)


def place_marks(
    marks: SheetMarks, sheet: int, sheets: int
) -> tuple[list[Rectangle], tuple[str, ...]] | ContentProblem:
    """Return the dark rectangles of the marks of a sheet, and the names of numbers that wrapped."""
    if marks.kind == "omr":
        lines = find_omr_lines(marks, sheet, sheets)
        return [
            Rectangle(marks.left, marks.top + at * marks.pitch, marks.width, _OMR_WEIGHT)
            for at, is_drawn in enumerate(lines)
            if is_drawn
        ], ()
    inserts = "".join(str(int(feeder in marks.inserts)) for feeder in _FEEDERS)
    numbers = {"set": marks.set_number, "sheet": sheet, "count": sheets}
    value, wrapped = fill_mark_format(
        marks.content, {"job": marks.job, "inserts": inserts, **numbers}
    )
    symbol = encode_barcode(BarcodeSpec(marks.kind, value, has_quiet_zone=False))
    if isinstance(symbol, ContentProblem):
        return symbol
    across = marks.width / symbol.columns
    down = marks.height / symbol.rows if symbol.is_bars else across
    return [
        Rectangle(marks.left + x * across, marks.top + y * down, width * across, height * down)
        for x, y, width, height in symbol.rectangles
    ], wrapped


def check_marks(document: Document) -> None:
    """Hold the marks of all pages, drawn or not, against their code, for the only sheet of a set.

    Raises:
        AuthoringError: a code cannot hold its marks.
    """
    findings = Findings()
    for one in (marks for master in document.masters for marks in master.marks):
        placed = place_marks(one, 1, 1)
        if isinstance(placed, ContentProblem):
            place = None if one.source is None else one.source.location
            findings.error("marks-value", f"{placed.text}. Change `format`.", place)
    findings.raise_errors()


def find_zone(marks: SheetMarks) -> Rectangle:
    """Return what the marks of any sheet may take, and the clear zone around."""
    height = {"omr": (OMR_LINES - 1) * marks.pitch + _OMR_WEIGHT, "datamatrix": marks.width}.get(
        marks.kind, marks.height
    )
    return Rectangle(
        marks.left - marks.clear,
        marks.top - marks.clear,
        marks.width + 2 * marks.clear,
        height + 2 * marks.clear,
    )


def write_marks(
    marks: SheetMarks,
    *,
    number: int,
    sequence: int,
    sheet: int,
    sheets: int,
    page_height: float,
    feeders: Iterable[int] = (),
) -> bytes:
    """Return the operators that draw the marks of a sheet on a page: of set `number`, whose first sheet
    is `sequence` in its run, and which has inserts of these feeders too.

    Raises:
        ValueError: the content of a bar code is not one of its type.
    """
    inserts = marks.inserts.union(feeders)
    own = replace(marks, set_number=number, sequence=sequence, inserts=inserts)
    placed = place_marks(own, sheet, sheets)
    if isinstance(placed, ContentProblem):
        raise ValueError(placed.text)
    drawn = b"".join(
        b"%.3f %.3f %.3f %.3f re\n"
        % (one.x, page_height - one.y - one.height, one.width, one.height)
        for one in placed[0]
    )
    return b"q 0 g\n" + drawn + b"f Q\n"


def draw_marks(
    canvas: PageCanvas, marks: Sequence[SheetMarks], reserved: Iterable[Sequence[float]]
) -> None:
    """Draw the marks of a page that is a front, with their zones, beside those reserved for a plan."""
    values = canvas.values
    if not values.is_front:
        return
    canvas.zones += [FreeZone(Rectangle(*zone), partial(_describe_ink, ())) for zone in reserved]
    for one in marks:
        first, source = len(canvas.items), () if one.source is None else (one.source,)
        placed = place_marks(one, values.sheet, values.sheets)
        if isinstance(placed, ContentProblem):
            canvas.report(LayoutProblem("marks-value", placed.text, "Change `format`.", source))
            continue
        rectangles, wrapped = placed
        canvas.items += [display.Fill(*rectangle, BLACK, None) for rectangle in rectangles]
        tell = partial(_describe_ink, source)
        canvas.zones.append(FreeZone(find_zone(one), tell, first, len(canvas.items)))
        if wrapped:
            text = f"`{' and '.join(wrapped)}` of `marks` is shown without its first digits"
            advice = "Give it more digits in `format`."
            canvas.report(
                LayoutProblem("marks-wrap", text, advice, source, severity=Severity.WARNING)
            )


def _describe_ink(source: tuple[Source, ...], text: str) -> LayoutProblem:
    """Return the warning of ink in the zone of marks."""
    what = "Text" if text else "Something else"
    return LayoutProblem(
        code="marks-zone",
        message=f"{what} is printed in the clear zone of the marks for the inserting machine",
        advice="Move it out of the zone.",
        chain=source,
        excerpt=shorten_value(text),
        severity=Severity.WARNING,
    )


Families = Mapping[str, Mapping[Occurrence, PageMaster]]


_NOTHING: Final = StackFragment([], 0.0)


class RunningContent(NamedTuple):
    """The laid-out header and footer of one page, each with its outer margins; without one, a stack of nothing."""

    header: StackFragment = _NOTHING
    footer: StackFragment = _NOTHING


@dataclass(slots=True)
class FilledArea:
    """The content of an area of a page; the area is None for the whole page area.

    `anchors` are the names of the anchors in it, None before they are looked for, and `shown` the texts
    with references.
    """

    area: Area | None
    rectangle: Rectangle
    fragment: Fragment
    anchors: Sequence[str] | None = None
    shown: Sequence[ShownText] = ()


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
            filled.anchors = tuple(trace(filled.fragment, make_page(plan.master), values).anchors)
        for name in filled.anchors:
            found.setdefault(name, page)


# Header and footer may take the rest; on labels and other small pages, half of what margins leave.
_MIN_BODY_HEIGHT: Final = mm(20)
_MIN_LABEL_HEIGHT: Final = mm(1)

_RUNNING: Final[Kind[tuple[PageMaster, PageValues], RunningContent]] = Kind()
_ESTIMATED: Final[Kind[tuple[PageMaster, bool, bool, int], RunningContent]] = Kind()
_STATIC: Final[Kind[tuple[RunningBox, float], StackFragment]] = Kind()


def lay_out_running_content(
    context: LayoutContext, master: PageMaster, values: PageValues
) -> RunningContent:
    """Lay out the header and footer of a page, once for equal page values; static ones once at all."""

    def lay_out() -> RunningContent:
        region = Region(master.width - master.margin.left - master.margin.right, master.height)
        boxes = master.header, master.footer
        return RunningContent(
            *(_lay_out_running_box(context, box, region, values) for box in boxes)
        )

    return context.memo.remember(_RUNNING, (master, values), lay_out)


def estimate_running_content(
    context: LayoutContext, master: PageMaster, values: PageValues
) -> RunningContent:
    """Lay out the header and footer of a page whose document has not been paginated yet.

    Its values are assumptions, and what is laid out is only as high as the final one, mostly. So
    pages share it, but for what makes headers differ in height: a first page, or the other side.
    """
    key = master, values.is_first, values.is_blank, values.number % 2
    return context.memo.remember(
        _ESTIMATED, key, lambda: lay_out_running_content(context, master, values)
    )


def find_page_area(plan: PagePlan) -> Rectangle:
    """Return the page area: the page without margins, header and footer (CSS Paged Media 3).

    A page area that is too low is reported when the page is drawn; the flow continues in a minimal
    one.
    """
    master, running = plan.master, plan.running_content
    width = master.width - master.margin.left - master.margin.right
    height = master.height - master.margin.top - master.margin.bottom
    height -= running.header.height + running.footer.height
    top = master.margin.top + running.header.height
    return Rectangle(master.margin.left, top, max(width, 1.0), max(height, _least_height(master)))


def _least_height(master: PageMaster) -> float:
    """Return the least height of the page area without header and footer."""
    if master.is_open:
        return 0.0
    inside = master.height - master.margin.top - master.margin.bottom
    return min(_MIN_BODY_HEIGHT, max(inside / 2, _MIN_LABEL_HEIGHT))


def draw_running_content(canvas: PageCanvas, plan: PagePlan) -> None:
    """Draw the header and footer of a page."""
    master, running = plan.master, plan.running_content
    left = master.margin.left
    canvas.is_artifact = True
    running.header.draw(canvas, left, master.margin.top)
    top = master.height - master.margin.bottom - running.footer.height
    running.footer.draw(canvas, left, top)
    inner = _inner_height(running.footer)
    if master.footer is not None and inner > EPSILON:
        bottom = top + running.footer.placed[0].y + inner
        canvas.footer = PrintedFooter(bottom, master.footer.source)
    canvas.is_artifact = False


def draw_page_boxes(
    context: LayoutContext, canvas: PageCanvas, boxes: tuple[Block, ...], *, are_over: bool
) -> None:
    """Draw the boxes of a page above its text, or those below it."""
    canvas.is_artifact = True
    for box in boxes:
        assert isinstance(box, Container)
        if box.position is not None and box.position.is_over is are_over:
            draw_positioned(context, box, canvas)
    canvas.is_artifact = False


def check_room(canvas: PageCanvas, plan: PagePlan) -> None:
    """Report a header or footer above its `max-height`, and a page area that is too low."""
    master, running = plan.master, plan.running_content
    sides = ((master.header, running.header), (master.footer, running.footer))
    for box, fragment in sides:
        if box is None:
            continue
        limit = box.max_height.resolve(master.height)
        if limit is not None and _inner_height(fragment) > limit + EPSILON:
            canvas.report(_too_tall(box, fragment, limit))
    margins = master.margin.top + master.margin.bottom
    height = master.height - margins - running.header.height - running.footer.height
    least = _least_height(master)
    if height < least - EPSILON:
        sources = [box.source for box, _ in sides if box is not None]
        sources += [master.source] if master.source is not None else []
        canvas.report(
            LayoutProblem(
                code="body-too-low",
                message=f"Margins, header and footer leave {format_mm(max(height, 0.0))} for the text of "
                f"the page, at least {format_mm(least)} are needed",
                advice="Make the margins, the header or the footer smaller.",
                chain=tuple(sources),
            )
        )


def _too_tall(box: RunningBox, fragment: StackFragment, limit: float) -> LayoutProblem:
    tag = box.source.location.tag_name
    return LayoutProblem(
        code="running-too-tall",
        message=f"Text does not fit: `{tag}` needs {format_mm(_inner_height(fragment))}, "
        f"its max-height allows {format_mm(limit)}",
        advice=f"Shorten the {tag}, or raise max-height.",
        chain=(box.source,),
    )


def _lay_out_running_box(
    context: LayoutContext, box: RunningBox | None, page: Region, values: PageValues
) -> StackFragment:
    """Lay out a header or footer; `page` has its width, and the height of the paper."""
    if box is None:
        return _NOTHING
    if not box.content.is_static:
        return _lay_out_evaluated(context, box, page, values)
    return context.memo.remember(
        _STATIC, (box, page.width), lambda: _lay_out_evaluated(context, box, page, values)
    )


def _lay_out_evaluated(
    context: LayoutContext, box: RunningBox, page: Region, values: PageValues
) -> StackFragment:
    limit = box.max_height.resolve(page.height)
    blocks = [_limit(block, limit) for block in box.content.evaluate(values)]
    fragment = lay_out_stack(context, blocks, Region(page.width))
    assert fragment is not None
    if fragment.placed:  # a margin inside the box is no distance to the text of the page
        last = fragment.placed[-1].block
        assert isinstance(last, Container)
        fragment.height += last.style.box.margin.bottom.resolve(page.width) or 0.0
    return fragment


def _limit(block: Block, limit: float | None) -> Block:
    """Return a box that shrinks with the height that has to hold it: its own, or else `max-height`."""
    assert isinstance(block, Container)
    own = block.style.box
    if own.overflow is not Overflow.SHRINK or own.height.kind is not LengthKind.AUTO or not limit:
        return block
    own = replace(own, max_height=Length(limit))
    return replace(block, style=replace(block.style, box=own))


def _inner_height(fragment: StackFragment) -> float:
    """Return the height of a header or footer without its margins."""
    if not fragment.placed:
        return 0.0
    first, last = fragment.placed[0], fragment.placed[-1]
    return last.y + last.fragment.height - first.y
