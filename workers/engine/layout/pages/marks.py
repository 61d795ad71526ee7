"""Marks for inserting machines on the fronts of sheets, and the clear zones around them.

An output plan that orders documents after they were laid out draws its marks by `write_marks` onto
finished pages; their zones are checked when the pages are laid out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from workers.engine.barcodes import BarcodeSpec
from workers.engine.diagnostics import Severity
from workers.engine.layout.context import (
    ContentProblem,
    LayoutContext,
    LayoutProblem,
    PageCanvas,
    Rectangle,
    shorten_value,
)
from workers.engine.layout.display import Fill, GlyphRun, ShapedRun
from workers.engine.layout.elements.barcodes.encoding import encode_barcode
from workers.engine.layout.pages.source_map import find_ink
from workers.engine.syntax.names import fill_mark_format
from workers.engine.tree.document import SheetMarks
from workers.engine.tree.nodes import Source
from workers.engine.units import BLACK, mm

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
