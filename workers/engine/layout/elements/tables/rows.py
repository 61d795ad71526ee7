"""Rows of a table: their layout and drawing.

A cell of plain text that fits on one line is only its string and its width: no paragraph, line or
box is made for it. The geometry that does not depend on the text is computed once for a template
and a set of column widths, in a `RowPlan`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, chain, compress, repeat
from operator import le
from typing import Any, Final, NamedTuple

from workers.engine.characters import has_right_to_left
from workers.engine.layout.blocks.boxes import draw_border
from workers.engine.layout.blocks.stacks import lay_out_stack
from workers.engine.layout.context import Fragment, LayoutContext, PageCanvas, Region, Resume
from workers.engine.layout.display import Fill, GlyphRun, Owner, TextRows
from workers.engine.layout.elements.tables.row_plans import CellPlan, RowPlan, RunPlan, bare_style
from workers.engine.layout.fonts import needs_shaping
from workers.engine.layout.lines import make_glyphs
from workers.engine.tree.nodes import (
    CellTemplate,
    Paragraph,
    Role,
    Source,
    TableRow,
    TextRun,
)
from workers.engine.tree.styles.computed import VerticalAlign

DONE: Final[object] = ("done",)  # the resume position of a finished cell while others continue

# Text without a direction in a right-to-left line: a number, or one word.
_DIRECTION_NEUTRAL: Final = re.compile(r"\d+(?:[.,]\d+)*|[A-Za-z]*")

# Making a named tuple from a tuple takes half the time, and a table makes two for each cell.
_new: Final = tuple.__new__

_ASCII: Final = bytes(range(0x20, 0x7F)).decode()
_ONLY_TEXT: Final = {str}
_ONLY_WIDTHS: Final = {float}

# A laid-out cell: the width of its line of text, a fragment, or None if it was finished on an
# earlier page.
CellLayout = float | Fragment | None


class CellOwner(NamedTuple):
    """The cell of one row: its template is shared, the row identifies it."""

    row: TableRow
    template: CellTemplate

    @property
    def role(self) -> Role:
        """The structure type of the cell."""
        return self.template.role

    @property
    def source(self) -> Source:
        """The source of the cell, with the loop iteration of its row."""
        return Source(self.template.source.location, self.row.loop)


class ContinuedCell(NamedTuple):
    """The part after a break of cell number `at` of a row before it."""

    cell: CellPlan
    row: TableRow
    at: int
    value: CellLayout
    height: float


class LaidOutRow(NamedTuple):
    """A row, laid out.

    `resumes` are the resume positions of the cells of a split row, None for a whole one; `heights`
    those of the cells if one of them spans rows, None if all are as high as the row. A row `is_plain`
    if each cell is a line of text at most, drawn in one of the runs of the plan.
    """

    plan: RowPlan
    row: TableRow
    height: float
    contents: list[CellLayout]
    resumes: tuple[Resume, ...] | None = None
    heights: tuple[float, ...] | None = None
    is_plain: bool = False
    continued: tuple[ContinuedCell, ...] = ()  # cells that span into it from before a break


def lay_out_plain_rows(plan: RowPlan, rows: Sequence[TableRow]) -> list[LaidOutRow | None]:
    """Lay out rows of one plan whose cells are all ASCII text that fits on one line, None for others.

    Others are left to `lay_out_other_row`.
    """
    draws_ascii = [run.glyph_style.face.draws_simply(_ASCII) for run in plan.runs]
    if not draws_ascii or not all(draws_ascii) or not plan.limits:
        return [None] * len(rows)
    columns = len(plan.cells)
    if not _are_simple(rows, columns):
        flags = [_are_simple([row], columns) for row in rows]
        simple = [*compress(rows, flags)]
        found = iter(lay_out_plain_rows(plan, simple) if simple else ())
        return [next(found) if is_simple else None for is_simple in flags]
    texts = [*chain.from_iterable([row.cells for row in rows])]
    widths = _measure_texts(plan, texts)  # type: ignore[arg-type]  # as above
    height = plan.plain_height
    starts = range(0, len(texts), columns)
    limits = plan.limits
    if all(max(widths[at::columns]) <= limit for at, limit in enumerate(limits)):
        return [
            _new(
                LaidOutRow,
                (plan, row, height, widths[start : start + columns], None, None, True, ()),
            )
            for row, start in zip(rows, starts, strict=True)
        ]
    laid_out: list[LaidOutRow | None] = []
    for row, start in zip(rows, starts, strict=True):
        own: list[CellLayout] = [*widths[start : start + columns]]
        fits = all(map(le, own, limits))  # type: ignore[arg-type]  # all are widths
        laid_out.append(LaidOutRow(plan, row, height, own, is_plain=True) if fits else None)
    return laid_out


def _are_simple(rows: Sequence[TableRow], columns: int) -> bool:
    """Return whether all cells of rows are ASCII text."""
    texts = [*chain.from_iterable([row.cells for row in rows])]
    return (
        {len(row.cells) for row in rows} == {columns}
        and {*map(type, texts)} == _ONLY_TEXT
        and "".join(texts).isascii()  # type: ignore[arg-type]  # all are text
    )


def _measure_texts(plan: RowPlan, texts: Sequence[str]) -> list[float]:
    """Return the widths of the texts of rows, row by row."""
    columns = len(plan.cells)
    if len(plan.runs) == 1:
        glyph_style = plan.runs[0].glyph_style
        size = glyph_style.style.size
        return [em * size for em in glyph_style.face.measure_all(texts)]
    widths = [0.0] * len(texts)
    for run in plan.runs:
        size, face = run.glyph_style.style.size, run.glyph_style.face
        for at in range(run.cells.start, run.cells.stop):
            widths[at::columns] = [em * size for em in face.measure_all(texts[at::columns])]
    return widths


def lay_out_table_row(context: LayoutContext, plan: RowPlan, row: TableRow) -> LaidOutRow:
    """Lay out a row at its natural height."""
    return lay_out_plain_rows(plan, [row])[0] or lay_out_other_row(context, plan, row)


def lay_out_other_row(context: LayoutContext, plan: RowPlan, row: TableRow) -> LaidOutRow:
    """Lay out a row that is not one of `lay_out_plain_rows`."""
    contents: list[CellLayout] = []
    for cell, content in zip(plan.cells, row.cells, strict=False):
        if (
            type(content) is str
            and cell.allows_plain_text
            and (not cell.is_rtl or _DIRECTION_NEUTRAL.fullmatch(content))
        ):
            width = cell.measure(content)
            limit = cell.limit
            if cell.decimal_alignment is not None:
                limit -= cell.decimal_alignment.shift(content)
            if width <= limit and (
                cell.glyph_style.face.draws_simply(content) or _has_one_face(context, cell, content)
            ):
                contents.append(width)
                continue
        contents.append(lay_out_cell(context, plan, row, len(contents), Region(cell.room), None))
    is_plain = (
        bool(plan.runs)
        and len(contents) == len(plan.cells)
        and {*map(type, contents)} == _ONLY_WIDTHS
    )
    return LaidOutRow(plan, row, own_height(plan, contents), contents, is_plain=is_plain)


def own_height(plan: RowPlan, contents: Sequence[CellLayout]) -> float:
    """Return the height that a row needs for its cells, without those that span rows."""
    heights = [
        cell_height(cell, value)
        for cell, value in zip(plan.cells, contents, strict=False)
        if cell.template.rowspan == 1
    ]
    on_baseline = _height_on_baseline(plan, contents) if plan.has_baselines else 0.0
    return max(plan.plain_height, on_baseline, *heights)


def spanning_heights(laid_row: LaidOutRow) -> list[tuple[int, float]]:
    """Return the row span and minimum height of each cell of a row that spans rows."""
    return [
        (cell.template.rowspan, max(cell.plain_height, cell_height(cell, value)))
        for cell, value in zip(laid_row.plan.cells, laid_row.contents, strict=False)
        if cell.template.rowspan > 1
    ]


def with_heights(laid_row: LaidOutRow, heights: Sequence[float], at: int) -> LaidOutRow:
    """Return a row with its final height; `heights` are those of all joined rows, its own is at
    `at`.
    """
    spans = [cell.template.rowspan for cell in laid_row.plan.cells]
    if max(spans, default=1) == 1:
        return laid_row._replace(height=heights[at])
    own = tuple(sum(heights[at : at + rows]) for rows in spans)
    return laid_row._replace(height=heights[at], heights=own)


def draw_rows(
    canvas: PageCanvas,
    rows: Sequence[LaidOutRow],
    x: float,
    y: float,
    elements: Sequence[range] | None = None,
) -> None:
    """Draw the contents of the cells of a row, or of plain rows of one template.

    `elements` are the structure elements of the cells of each row.
    """
    plan = rows[0].plan
    tops = [*accumulate([row.height for row in rows[:-1]], initial=y)]
    for left, name in plan.anchors:
        for top in tops:
            canvas.add_anchor(name, x + left, top)
    if rows[0].is_plain and not canvas.records_boxes:
        if not canvas.is_dry_run:  # which looks for anchors
            _draw_plain(canvas, rows, x, tops, elements)
        return
    for row, top, own in zip(rows, tops, elements or repeat(None), strict=False):
        if canvas.records_boxes:
            _add_cell_boxes(canvas, row, x, top)
        _draw_each(canvas, row, x, top, own)


def _draw_each(
    canvas: PageCanvas, laid_row: LaidOutRow, x: float, y: float, elements: range | None
) -> None:
    """Draw the cells of a row one by one."""
    plan, row, height, contents, _, heights, _, continued = laid_row
    line = _baseline_of(plan, contents) if plan.has_baselines else 0.0
    is_artifact = canvas.is_artifact
    append = canvas.items.append
    for each in continued:
        background = each.cell.template.style.box.background
        if background is not None:
            append(Fill(x + each.cell.x, y, each.cell.width, each.height, background, None))
        tree = canvas.tree
        begun = None if tree is None else tree.cells_in(each.row)[each.at]
        _draw_in(canvas, begun, each.cell, each.value, (x, y), each.height, line)
    cells = zip(
        plan.cells,
        row.cells,
        contents,
        heights or repeat(height),
        elements or repeat(None),
        strict=False,
    )
    for cell, content, value, own, element in cells:
        if cell.template.rowspan > 1 and cell.template.style.box.background is not None:
            append(Fill(x + cell.x, y, cell.width, own, cell.template.style.box.background, None))
        if type(value) is not float:
            _draw_in(canvas, element, cell, value, (x, y), own, line)
        elif content:
            style, face, _, _, is_shaped, _ = cell.glyph_style
            left = x + cell.left + (cell.room - value) * cell.align_share
            if cell.decimal_alignment is not None:
                left -= cell.decimal_alignment.shift(content)
            baseline = y + _baseline_in(cell, own, line)
            owner: Owner = element
            if element is None and not is_artifact:
                owner = _new(CellOwner, (row, cell.template))
            if is_shaped:
                append(make_glyphs(cell.glyph_style, content, left, baseline, owner))  # type: ignore[arg-type]  # a width: it is text
                continue
            append(
                _new(
                    GlyphRun,
                    (
                        left,
                        baseline,
                        face,
                        style.size,
                        style.color,
                        face.encode(content),  # type: ignore[arg-type]  # as above
                        content,
                        value,
                        owner,
                        style.letter_spacing,
                        "",
                    ),
                )
            )


def _draw_plain(
    canvas: PageCanvas,
    rows: Sequence[LaidOutRow],
    x: float,
    tops: Sequence[float],
    elements: Sequence[range] | None,
) -> None:
    """Draw plain rows of one plan: together where all cells are one run, in the order of reading."""
    runs = rows[0].plan.runs
    if len(runs) == 1:
        _draw_run(canvas, runs[0], rows, (x, tops), elements)
        return
    for at, top in enumerate(tops):
        for run in runs:
            own = None if elements is None else [elements[at][run.cells]]
            _draw_run(canvas, run, rows[at : at + 1], (x, [top]), own)


def _draw_run(
    canvas: PageCanvas,
    run: RunPlan,
    rows: Sequence[LaidOutRow],
    place: tuple[float, Sequence[float]],
    elements: Sequence[range] | None,
) -> None:
    """Draw the cells of a run in some rows; `place` is their left edge, and the top of each row."""
    x, tops = place
    cells, glyph_style, baseline, plain_height, share, places, decimals, templates = run
    texts: list[Any] = [*chain.from_iterable([row.row.cells[cells] for row in rows])]
    if not any(texts):
        return
    widths: list[Any] = [*chain.from_iterable([row.contents[cells] for row in rows])]
    columns = len(places)
    xs = [0.0] * len(texts)
    for at, (left, room, align_share) in enumerate(places):
        start = x + left
        xs[at::columns] = (
            [start + (room - width) * align_share for width in widths[at::columns]]
            if align_share
            else [start] * len(rows)
        )
    for at, alignment in decimals:
        for index in range(at, len(texts), columns):
            xs[index] -= alignment.shift(texts[index])
    owners: Sequence[Sequence[Owner]] | None = elements
    if elements is None and not canvas.is_artifact:
        owners = _CellOwners([row.row for row in rows], templates)
    ys = [
        top + (baseline + (row.height - plain_height) * share)
        for row, top in zip(rows, tops, strict=True)
    ]
    style, face, *_ = glyph_style
    drawn = (xs, ys, face, style.size, style.color, face.encode_all(texts), texts, widths, owners)
    canvas.items.append(TextRows(*drawn, style.letter_spacing))


class _CellOwners(Sequence[Sequence[CellOwner]]):
    """The owners of the cells of rows, made when asked for: untagged files need none."""

    __slots__ = ("_rows", "_templates")

    def __init__(self, rows: Sequence[TableRow], templates: Sequence[CellTemplate]) -> None:
        self._rows = rows
        self._templates = templates

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, at: Any) -> Any:
        """Return the owners of the cells of one row."""
        row = self._rows[at]
        return [CellOwner(row, template) for template in self._templates]


def _add_cell_boxes(canvas: PageCanvas, laid_row: LaidOutRow, x: float, y: float) -> None:
    """Report the border boxes of a row's cells to the canvas."""
    heights = laid_row.heights or repeat(laid_row.height)
    for cell, height in zip(laid_row.plan.cells, heights, strict=False):
        canvas.add_box(CellOwner(laid_row.row, cell.template), (x + cell.x, y, cell.width, height))
    for cell, row, _, _, height in laid_row.continued:
        canvas.add_box(CellOwner(row, cell.template), (x + cell.x, y, cell.width, height))


def draw_vertical_borders(
    canvas: PageCanvas, plan: RowPlan, x: float, top: float, bottom: float
) -> None:
    """Draw the borders between the cells of a row."""
    for at, border in plan.vertical_borders:
        draw_border(canvas.items, border, (x + at, top), (x + at, bottom), None)


# --- cells that are more than one line of text --------------------------------------------------------


def _has_one_face(context: LayoutContext, cell: CellPlan, text: str) -> bool:
    if needs_shaping(text) or has_right_to_left(text):
        return False
    faces = context.fonts.split(cell.glyph_style.style, text)
    if len(faces) != 1 or faces[0][0] is not cell.glyph_style.face:
        return False
    context.report_missing_glyphs(text, cell.template.source)
    return True


def lay_out_cell(
    context: LayoutContext, plan: RowPlan, row: TableRow, at: int, region: Region, resume: Resume
) -> Fragment | None:
    """Lay out the content of cell number `at` of a row as high as its cell at most.

    None where nothing of it fits, which is not so at the top of an area.
    """
    cell, content = plan.cells[at], row.cells[at]
    edges = cell.insets.top + cell.insets.bottom
    width = cell.room
    if cell.decimal_alignment is not None:
        # Aligned right in the remaining width, so that its decimal sign is in line.
        width = max(width - cell.decimal_alignment.shift(content), 0.0)
    region = region._replace(width=width, height=max(region.height - edges, 0.0))
    context.path.append(Source(plan.template.source.location, row.loop))
    if isinstance(content, str):
        fragment = context.lay_out(_paragraph_of(context, cell, row, content), region, resume)
    else:
        context.path.append(Source(cell.template.source.location, row.loop))
        fragment = lay_out_stack(context, content, region, resume)
        context.path.pop()
    context.path.pop()
    return fragment


def _paragraph_of(context: LayoutContext, cell: CellPlan, row: TableRow, text: str) -> Paragraph:
    """Return the paragraph of a cell that needs more than a line, cached for split rows."""
    key = ("cell", row, cell.first)
    paragraph: Paragraph | None = context.cache.get(key)
    if paragraph is None:
        style = bare_style(context, cell.template.style)
        source = Source(cell.template.source.location, row.loop)
        paragraph = Paragraph(source, cell.template.role, style, (TextRun(text, style.text),))
        context.cache[key] = paragraph
    return paragraph


def _draw_in(
    canvas: PageCanvas,
    element: int | None,
    cell: CellPlan,
    value: CellLayout,
    at: tuple[float, float],
    height: float,
    line: float,
) -> None:
    """Draw a cell's fragment, inside its structure element if there is one."""
    if value is None or isinstance(value, float):
        return
    tree = None if element is None else canvas.structure
    if tree is not None and element is not None:
        tree.enter_cell(element)
    value.draw(canvas, at[0] + cell.left, at[1] + _content_top(cell, value, height, line))
    if tree is not None:
        tree.leave()


def _baseline_in(cell: CellPlan, height: float, line: float) -> float:
    """Return the distance from a row's top to the baseline of a cell with one line of text."""
    if line and cell.template.style.box.vertical_align is VerticalAlign.BASELINE:
        return line
    return cell.baseline + (height - cell.plain_height) * cell.vertical_share


def _content_top(cell: CellPlan, fragment: Fragment, height: float, line: float) -> float:
    if cell.template.style.box.vertical_align is VerticalAlign.BASELINE:
        return line - (fragment.first_baseline or 0.0)
    free = height - fragment.height - cell.insets.top - cell.insets.bottom
    return cell.insets.top + max(free, 0.0) * cell.vertical_share


def _baseline_of(plan: RowPlan, contents: Sequence[CellLayout]) -> float:
    """Return the distance from the row's top to the common baseline of its `baseline` cells."""
    return max(
        (_own_baseline(cell, value) for cell, value in _on_baseline(plan, contents)), default=0.0
    )


def _height_on_baseline(plan: RowPlan, contents: Sequence[CellLayout]) -> float:
    line = _baseline_of(plan, contents)
    return max(
        (
            line - _own_baseline(cell, value) + cell_height(cell, value)
            for cell, value in _on_baseline(plan, contents)
        ),
        default=0.0,
    )


def _on_baseline(
    plan: RowPlan, contents: Sequence[CellLayout]
) -> list[tuple[CellPlan, CellLayout]]:
    return [
        (cell, value)
        for cell, value in zip(plan.cells, contents, strict=False)
        if value is not None and cell.template.style.box.vertical_align is VerticalAlign.BASELINE
    ]


def _own_baseline(cell: CellPlan, value: CellLayout) -> float:
    if isinstance(value, float):
        return cell.baseline
    return cell.insets.top + ((value.first_baseline or 0.0) if value else 0.0)


def cell_height(cell: CellPlan, value: CellLayout) -> float:
    """Return the height that a cell needs for its content."""
    if isinstance(value, float):
        return cell.plain_height
    return (value.height if value else 0.0) + cell.insets.top + cell.insets.bottom
