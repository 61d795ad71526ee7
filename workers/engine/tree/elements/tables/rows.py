"""Rows of a table and their cells; a row of plain text is one compiled function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Final

from workers.engine.caches import BoundedCache
from workers.engine.diagnostics import SourceLocation, format_count
from workers.engine.syntax.nodes import Element, Text
from workers.engine.syntax.vocabulary import read_attribute
from workers.engine.tree.build_state import Evaluation, Scope
from workers.engine.tree.compiler.attributes import ElementStyle
from workers.engine.tree.compiler.builders import NodeBuilder, Nodes, collect, source_maker
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.compiler.control_flow import (
    compile_controlled,
    compile_in_groups,
    compile_with_lets,
    controlled,
)
from workers.engine.tree.elements.block_builder import read_id
from workers.engine.tree.elements.tables.columns import (
    RunningTotals,
    TableColumns,
    TotalsCompiler,
    count_cells,
)
from workers.engine.tree.expressions.compiler import compile_texts
from workers.engine.tree.expressions.environment import TOTALS
from workers.engine.tree.expressions.grammar import Expression, TextTemplate
from workers.engine.tree.expressions.running_text import (
    apply_text_transform,
    check_length,
    collapse,
    collapse_and_trim,
)
from workers.engine.tree.expressions.runtime import EVALUATION_ERRORS
from workers.engine.tree.nodes import (
    CellContent,
    CellTemplate,
    Role,
    RowTemplate,
    Source,
    SpanningCell,
    TableRow,
)
from workers.engine.tree.styles.cascade import MAX_CACHED, ComputedStyle
from workers.engine.tree.styles.computed import WhiteSpace


class SectionCells:
    """The cells of the current row of a section, and those of rows above that span it as `covers`."""

    __slots__ = ("_covered", "_next", "_overlaps", "cells", "contents", "covers", "starts")

    def __init__(self) -> None:
        self.covers: tuple[SpanningCell, ...] = ()

    def begin_row(self) -> None:
        """Start a row without cells."""
        self.cells: list[CellTemplate] = []
        self.contents: list[CellContent] = []
        self.starts: list[int] = []  # the column each cell begins at
        self._covered = {column for each in self.covers for column in range(each.first, each.last)}
        self._next = 0
        self._overlaps = False

    def next_column(self) -> int:
        """Return the next column that no cell covers."""
        while self._next in self._covered:
            self._next += 1
        return self._next

    def add(self, cell: CellTemplate, content: CellContent) -> None:
        """Add a cell in the next free columns."""
        start = self.next_column()
        self._next = start + cell.colspan
        if not self._covered.isdisjoint(range(start, self._next)):
            self._overlaps = True
        self.cells.append(cell)
        self.contents.append(content)
        self.starts.append(start)

    def end_row(
        self, columns: int, scope: Scope, location: SourceLocation, *, repeats: bool
    ) -> None:
        """Report cells that do not fill the columns; those that span further rows cover the next."""
        findings = scope.state.findings
        own = sum(cell.colspan for cell in self.cells)
        above = len(self._covered)
        if own + above != columns or self._overlaps:
            findings.error("cell-count", cell_count_message(own, columns, above), location)
        spanning = [
            SpanningCell(cell, start, cell.rowspan - 1)
            for start, cell in zip(self.starts, self.cells, strict=True)
            if cell.rowspan > 1
        ]
        if repeats and (above or spanning):
            message = 'A row with repeat="true" is printed alone on later fragments; no cell may span into it or out of it'
            findings.error("rowspan", message, location)
        left = [replace(each, rows=each.rows - 1) for each in self.covers if each.rows > 1]
        self.covers = (*left, *spanning)

    def finish(self, scope: Scope) -> None:
        """Report cells that span more rows than their section has."""
        for each in self.covers:
            scope.state.findings.error(
                "rowspan",
                f"The cell spans {format_count(each.rows, 'row')} more than its section has. "
                "Make its rowspan smaller, or add rows",
                each.cell.source.location,
            )


def cell_count_message(count: int, wanted: int, above: int = 0) -> str:
    """Return the message about a row that does not fill the columns, with `above` cells covering it."""
    spanned = f" and {above} covered by cells above" if above else ""
    advice = "Add or remove cells, or change a colspan"
    if not wanted:
        advice = "Data decide the cells of every row: declare the columns with `col`"
    return f"The row has cells for {format_count(count, 'column')}{spanned}, the table has {wanted}. {advice}"


_ROLES: Final = {"td": Role.CELL, "th": Role.HEAD_CELL}
_NOT_PLAIN: Final = frozenset({"for", "if", "lang", "id", "term", "rowspan"})
_OF_BODIES: Final = frozenset({"repeat", "count"})

# Makes the cells of a row in a style, with their template.
MakeCells = Callable[[Scope, ComputedStyle], tuple[RowTemplate, Sequence[CellContent]]]


@dataclass(frozen=True, slots=True)
class RowCompiler:
    """Compiles the rows of one table: of its bodies, or of its heads and feet."""

    width: int | None  # of the table, in columns; None where data decide
    totals: TotalsCompiler
    has_spans: bool
    is_body: bool

    def rows(self, parent: Element, context: CompileContext) -> NodeBuilder:
        """Compile the rows in a section or group."""
        children = [child for child in parent.elements() if child.tag in ("tr", "group", "let")]
        return compile_with_lets(children, context, self.row_or_group)

    def row_or_group(self, element: Element, context: CompileContext) -> NodeBuilder:
        """Compile a row, or a group of rows."""
        if element.tag == "group":
            return compile_controlled(element, context, self.rows)
        if not self.is_body:
            _report_in_section(element, context)
        return compile_controlled(element, context, self._compile_row)

    def check_width(self, element: Element, context: CompileContext) -> None:
        """Report a row that does not fill the columns, if its cells do not depend on data."""
        count, wanted = count_cells(element), self.width
        if count is not None and wanted is not None and count != wanted and not self.has_spans:
            context.findings.error(
                "cell-count", cell_count_message(count, wanted), element.location
            )

    def counting(self, element: Element, context: CompileContext) -> list[Evaluation] | None:
        """Compile a row's contributions to totals, if it has `for` or states `count`."""
        counts = "for" in element.attributes
        if "count" in element.attributes:
            counts = read_attribute(element, "count")
            if not self.totals.elements:
                message = "`count` has an effect in a table with a `total` only"
                context.findings.error("misplaced-attribute", message, element.location)
        return self.totals.count(context) if counts and self.is_body else None

    def _compile_row(self, element: Element, outer: CompileContext) -> NodeBuilder:
        """Compile a row; its cells are texts where none depends on data in number or style."""
        context = replace(outer, used=set())
        element_style = context.compile_style(element)
        counts = self.counting(element, context)
        repeats = self.is_body and bool(read_attribute(element, "repeat"))
        general = partial(self._general_cells, element, context, repeats=repeats)
        is_plain = not {"id", "lang"} & element.attributes.keys() and all(
            _is_plain(cell) for cell in element.elements()
        )
        make_cells = (
            _TextCells(element, context, general, repeats=repeats) if is_plain else general()
        )
        self.check_width(element, context)
        uses_totals = self.is_body and bool(self.totals.elements) and TOTALS in context.used
        outer.used.update(context.used)

        def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
            own, inner = element_style.compute(scope, parent), element_style.enter(scope)
            running: RunningTotals = scope.running_totals
            counted = () if counts is None else running.count(counts, inner)
            if uses_totals:
                inner = inner.fork()
                inner.names[TOTALS] = running.record()
            template, contents = make_cells(inner, own)
            out.append(TableRow(template, contents, scope.loop, counted, running.carried))

        return build

    def _general_cells(
        self, element: Element, context: CompileContext, *, repeats: bool
    ) -> MakeCells:
        """Compile cells that hold more than text, or depend on data in number or style."""
        source, identity = source_maker(element.location), context.compile_attribute(element, "id")
        cells = compile_in_groups(element, context, controlled(self._compile_cell), "td", "th")

        def make(scope: Scope, computed: ComputedStyle) -> tuple[RowTemplate, list[CellContent]]:
            row: SectionCells = scope.row
            row.begin_row()
            cells(scope, computed, [])
            template = RowTemplate(
                *(source(scope), computed.style, tuple(row.cells), repeats),
                tuple(row.starts) if row.covers else (),
                covers=row.covers,
                id=read_id(identity, scope),
            )
            row.end_row(len(scope.columns.columns), scope, element.location, repeats=repeats)
            if template.id is not None:
                scope.state.references.add_cells(
                    template.id, zip(row.cells, row.contents, strict=True)
                )
            return template, row.contents

        return make

    def _compile_cell(self, element: Element, context: CompileContext) -> NodeBuilder:
        cell, source = _CellCompiler(element, context), source_maker(element.location)
        identity = context.compile_attribute(element, "id")
        evaluation = None
        if cell.text is not None:
            evaluation = context.compile_text(cell.text, element.location, isolates=True)
        rich = context.compile_blocks(element.children, owner=element)

        def build(scope: Scope, parent: ComputedStyle, _out: Nodes) -> None:
            row: SectionCells = scope.row
            own = cell.styles[scope.columns, row.next_column()].compute(scope, parent)
            inner = cell.plain_style.enter(scope)
            content: CellContent
            if evaluation is not None and is_one_line(own):
                text = collapse_and_trim(evaluation.evaluate(inner))
                content = apply_text_transform(text, own.transform)
            else:
                content = collect(rich, inner, own)
            spans = cell.colspan.read(scope), cell.rowspan.read(scope)
            own_id = read_id(identity, scope)
            template = cell.make_template(source(scope), own, *spans, own_id)
            if own_id is not None:
                scope.state.references.add_cells(own_id, [(template, content)])
            row.add(template, content)

        return build


def build_section(
    rows: NodeBuilder, scope: Scope, computed: ComputedStyle, out: list[TableRow]
) -> None:
    """Append the rows of one section, over which cells may span."""
    inner = scope.enter(row=SectionCells())
    rows(inner, computed, out)
    inner.row.finish(scope)


class _CellCompiler:
    """What is compiled of every cell; `text` is None for one with elements in it."""

    def __init__(self, element: Element, context: CompileContext) -> None:
        self._element = element
        self._context = context
        self.styles = BoundedCache(self._style_in, max_entries=MAX_CACHED)  # by column
        self.plain_style = context.compile_style(element)
        self.colspan, self.rowspan = context.compile_attributes(element, "colspan", "rowspan")
        heads = str(read_attribute(element, "scope") or "") if element.tag == "th" else ""
        self._role, self._heads = _ROLES[element.tag], heads
        has_elements = any(isinstance(child, Element) for child in element.children)
        self.text = None if has_elements else _cell_template(element, context)

    def _style_in(self, place: tuple[TableColumns, int]) -> ElementStyle:
        """Return the style in a column: its defaults override the element's styles, not its classes."""
        columns, position = place
        own_styles = self._context.sheet.element_properties(self._element.tag)
        defaults = {**columns.padding, **own_styles, **columns.defaults_at(position)}
        return self._context.compile_style(self._element, defaults=defaults)

    def make_template(
        self,
        source: Source,
        computed: ComputedStyle,
        colspan: int,
        rowspan: int,
        own_id: str | None = None,
    ) -> CellTemplate:
        """Return the common part of cells in a style."""
        style = computed.style
        return CellTemplate(source, self._role, style, colspan, rowspan, own_id, self._heads)


class _TextCells:
    """Cells of text whose number and styles do not depend on data: one function evaluates them all.

    Rows that need more are made by `general`: those that cells above span, keep line ends, or fail.
    """

    def __init__(
        self,
        element: Element,
        context: CompileContext,
        general: Callable[[], MakeCells],
        *,
        repeats: bool,
    ) -> None:
        self._location, self._repeats = element.location, repeats
        self._general = cache(general)
        cells = list(element.elements())
        self._cells = [(_CellCompiler(cell, context), Source(cell.location)) for cell in cells]
        templates = tuple(cell.text for cell, _ in self._cells if cell.text is not None)
        literals = tuple(text for each in templates if (text := each.literal) is not None)
        self._texts: Callable[[Scope], tuple[str, ...]] = (
            compile_texts(templates, collapse=collapse_and_trim)
            if len(literals) < len(templates)
            else lambda _: literals
        )
        self._made: dict[
            tuple[ComputedStyle, TableColumns], tuple[RowTemplate, tuple[str, ...]]
        ] = {}

    def __call__(
        self, scope: Scope, computed: ComputedStyle
    ) -> tuple[RowTemplate, Sequence[CellContent]]:
        """Return the cells of one row with their template."""
        if scope.row.covers:
            return self._general()(scope, computed)
        columns: TableColumns = scope.columns
        made = self._made.get((computed, columns))
        if made is None:
            if len(self._made) > MAX_CACHED:
                self._made.clear()
            made = self._made[computed, columns] = self._make_template(scope, computed)
        template, transforms = made
        if not template.is_text:
            return self._general()(scope, computed)
        try:
            texts = self._texts(scope)
        except EVALUATION_ERRORS:
            return self._general()(scope, computed)
        return template, [*map(apply_text_transform, texts, transforms)] if transforms else texts

    def _make_template(
        self, scope: Scope, computed: ComputedStyle
    ) -> tuple[RowTemplate, tuple[str, ...]]:
        """Return the template of rows in one style, and the text-transforms of their cells if any."""
        columns: TableColumns = scope.columns
        cells, styles, at = [], [], 0
        for cell, source in self._cells:
            own, span = cell.styles[columns, at].compute(scope, computed), cell.colspan.constant
            cells.append(cell.make_template(source, own, span, 1))
            styles.append(own)
            at += span
        # A row that does not fill the columns is made, and reported, by `general` in each document.
        is_text = at == len(columns.columns) and all(map(is_one_line, styles))
        source = Source(self._location)
        template = RowTemplate(source, computed.style, tuple(cells), self._repeats, is_text=is_text)
        transforms = tuple(own.transform for own in styles)
        return template, () if {*transforms} == {"none"} else transforms


# --- reading the tree -----------------------------------------------------------------------------------


def is_one_line(computed: ComputedStyle) -> bool:
    """Return whether a text cell is a single text: white space collapses, and the direction is known."""
    is_collapsed = computed.style.paragraph.white_space in (WhiteSpace.NORMAL, WhiteSpace.NOWRAP)
    return is_collapsed and not computed.inherited.is_auto


def _report_in_section(row: Element, context: CompileContext) -> None:
    for name in sorted(_OF_BODIES & row.attributes.keys()):
        message = f"`{name}` has an effect on body rows only; `on` sets the fragments that heads and feet are on"
        context.findings.error("misplaced-attribute", message, row.location)


def _is_plain(cell: Element) -> bool:
    """Return whether a cell holds nothing but text, and its number and style are constant."""
    if cell.tag not in ("td", "th") or _NOT_PLAIN & cell.attributes.keys():
        return False
    if any("{{" in value for value in cell.attributes.values()) and not cell.is_literal:
        return False
    return not any(isinstance(child, Element) for child in cell.children)


def _cell_template(cell: Element, context: CompileContext) -> TextTemplate:
    """Parse the text of a cell without elements; white space of literal text is collapsed once."""
    texts = [child for child in cell.children if isinstance(child, Text)]
    parts: list[str | Expression] = []
    for text in texts:
        check_length(text.text, cell.location, context.findings)
        template = context.parse_template(text.text, cell.location, is_literal=text.is_literal)
        parts += [collapse(part) if isinstance(part, str) else part for part in template.parts]
    if parts and isinstance(parts[0], str):
        parts[0] = parts[0].lstrip(" ")
    if parts and isinstance(parts[-1], str):
        parts[-1] = parts[-1].rstrip(" ")
    return TextTemplate(tuple(part for part in parts if part != "") or ("",))
