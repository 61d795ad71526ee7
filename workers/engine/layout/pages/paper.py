"""The paper of a page: its background, watermarks, crop marks, and marks for inserting machines.

An output plan that orders documents after they were laid out draws the latter by `write_marks` onto
finished pages; the clear zones around them are checked when the pages are laid out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import cos, inf, radians, sin
from typing import Final

from workers.engine.barcodes import BarcodeSpec
from workers.engine.diagnostics import Severity
from workers.engine.layout.context import (
    EPSILON,
    ContentProblem,
    LayoutContext,
    LayoutProblem,
    PageCanvas,
    Rectangle,
    shorten_value,
)
from workers.engine.layout.display import (
    Fill,
    GlyphRun,
    Item,
    LaidOutPage,
    Picture,
    Restore,
    Save,
    ShapedRun,
    Stroke,
)
from workers.engine.layout.elements.barcodes import encode_barcode
from workers.engine.layout.lines.drawing import phrase_items, set_phrase
from workers.engine.layout.pages.source_map import find_ink
from workers.engine.layout.pictures import find_picture, warn_of_stretching
from workers.engine.syntax.names import fill_mark_format
from workers.engine.tree.document import PageMaster, SheetMarks, Watermark
from workers.engine.tree.node_values import ImageSource
from workers.engine.tree.nodes import Source
from workers.engine.tree.styles.computed import TextStyle
from workers.engine.units import BLACK, mm

_WATERMARK_SHARE: Final = 0.7  # of the diagonal, for a watermark without a size
# For watermarks: bold, and of size 1 so that the text can be measured before its size is known.
_MARK_STYLE: Final = TextStyle((), 1.0, 700, False)
_MARK_LENGTH: Final = mm(5)
_MARK_DISTANCE: Final = mm(3)  # from the edge of the paper, or the bleed if that is more
_MARK_WIDTH: Final = 0.25


def make_page(master: PageMaster) -> LaidOutPage:
    """Return an empty page of a master, with bleed and slug around the paper."""
    marks = max(_MARK_DISTANCE - master.bleed, 0.0) + _MARK_LENGTH
    return LaidOutPage(
        master.width,
        master.height,
        bleed=master.bleed,
        slug=marks if master.has_crop_marks else 0.0,
        media=master.media,
    )


def draw_background(context: LayoutContext, master: PageMaster, items: list[Item]) -> None:
    """Draw the background colour and image of a page, including the bleed."""
    bleed = master.bleed
    area = (-bleed, -bleed, master.width + 2 * bleed, master.height + 2 * bleed)
    if master.background is not None:
        items.append(Fill(*area, master.background, None))
    if master.background_image is None:
        return
    place = None if master.source is None else master.source.location
    image = find_picture(context, master.background_image, master.source)
    if isinstance(image, ContentProblem):
        context.findings.error(image.code, f"{image.text}, for the background of the page", place)
        return
    warn_of_stretching(image, *area[2:], place, context.findings)
    items.append(Picture(*area, image, None, master))


def draw_crop_marks(page: LaidOutPage) -> None:
    """Draw two short lines at each corner to mark where the paper is trimmed."""
    if not page.slug:
        return
    near = max(page.bleed, _MARK_DISTANCE)
    far = near + _MARK_LENGTH
    for edge in (0.0, page.height):
        for start, end in ((-far, -near), (page.width + near, page.width + far)):
            page.items.append(Stroke(start, edge, end, edge, _MARK_WIDTH, BLACK, None))
    for edge in (0.0, page.width):
        for start, end in ((-far, -near), (page.height + near, page.height + far)):
            page.items.append(Stroke(edge, start, edge, end, _MARK_WIDTH, BLACK, None))


def draw_watermarks(
    context: LayoutContext, marks: Sequence[Watermark], page: LaidOutPage, *, are_over: bool
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
    context: LayoutContext, mark: Watermark, picture: ImageSource, page: LaidOutPage
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
    page.items.append(Save(rotate=(-mark.rotate, *centre), opacity=mark.opacity))
    page.items.append(Picture(left, top, width, height, image, None))
    page.items.append(Restore())


def _draw_watermark(context: LayoutContext, mark: Watermark, page: LaidOutPage) -> None:
    """Draw text in the centre of the page; `rotate` is counter-clockwise."""
    style = replace(_MARK_STYLE, color=mark.color)
    width = sum(part.width for part in set_phrase(context.fonts, style, mark.text))
    if width <= 0:
        return
    size = mark.size or _diagonal(page, mark.rotate) * _WATERMARK_SHARE / width
    centre = (page.width / 2, page.height / 2)
    left = centre[0] - width * size / 2
    baseline = centre[1] + context.fonts.find(style).cap_height * size / 2
    page.items.append(Save(rotate=(-mark.rotate, *centre), opacity=mark.opacity))
    parts = set_phrase(context.fonts, replace(style, size=size), mark.text)
    page.items += phrase_items(parts, left, baseline)
    page.items.append(Restore())


def _diagonal(page: LaidOutPage, angle: float) -> float:
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
    marks: SheetMarks, *, number: int, sequence: int, sheet: int, sheets: int, page_height: float
) -> bytes:
    """Return the operators that draw the marks of a sheet on a page: of set `number`, whose first sheet
    is `sequence` in its run.

    Raises:
        ValueError: the content of a bar code is not one of its type.
    """
    placed = place_marks(replace(marks, set_number=number, sequence=sequence), sheet, sheets)
    if isinstance(placed, ContentProblem):
        raise ValueError(placed.text)
    drawn = b"".join(
        b"%.3f %.3f %.3f %.3f re\n"
        % (one.x, page_height - one.y - one.height, one.width, one.height)
        for one in placed[0]
    )
    return b"q 0 g\n" + drawn + b"f Q\n"


def draw_marks(
    context: LayoutContext, canvas: PageCanvas, marks: Sequence[SheetMarks], start: int
) -> None:
    """Draw the marks of a page that is a front; warn of items from `start` on in their zones."""
    values = canvas.values
    if not marks or not values.is_front:
        return
    check_zones(context, canvas, [(find_zone(one), one.source) for one in marks], start)
    for one in marks:
        source = () if one.source is None else context.chain(one.source)
        placed = place_marks(one, values.sheet, values.sheets)
        if isinstance(placed, ContentProblem):
            canvas.report(LayoutProblem("marks-value", placed.text, "Change `format`.", source))
            continue
        rectangles, wrapped = placed
        canvas.items += [Fill(*rectangle, BLACK, None) for rectangle in rectangles]
        if wrapped:
            text = f"`{' and '.join(wrapped)}` of `marks` is shown without its first digits"
            advice = "Give it more digits in `format`."
            canvas.report(
                LayoutProblem("marks-wrap", text, advice, source, severity=Severity.WARNING)
            )


def check_zones(
    context: LayoutContext,
    canvas: PageCanvas,
    zones: Sequence[tuple[Rectangle, Source | None]],
    start: int,
) -> None:
    """Warn of items from `start` on in the zones of marks, if the page is a front."""
    if not zones or not canvas.values.is_front:
        return
    for at, item, (left, top, right, bottom) in find_ink(canvas.items):
        for (x, y, width, height), source in zones:
            if at >= start and left < x + width and right > x and top < y + height and bottom > y:
                text = item.text if isinstance(item, GlyphRun | ShapedRun) else ""
                canvas.report(_describe_touch(context, source, text))


def _describe_touch(context: LayoutContext, source: Source | None, text: str) -> LayoutProblem:
    return LayoutProblem(
        code="marks-zone",
        message=f"{'Text' if text else 'Something else'} is printed in the clear zone of the marks for the "
        "inserting machine",
        advice="Move it out of the zone.",
        chain=() if source is None else context.chain(source),
        excerpt=shorten_value(text),
        severity=Severity.WARNING,
    )
