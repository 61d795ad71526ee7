"""Rows of a table and their cells; a row of plain text is one compiled function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from workers.engine.diagnostics import format_count
from workers.engine.syntax.nodes import Element, Text
from workers.engine.tree.build_state import BuildState, Evaluation, Scope
from workers.engine.tree.compiler.builders import NodeBuilder, sequence, source_maker
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.compiler.control_flow import compile_controlled
from workers.engine.tree.compiler.loops import compile_loop
from workers.engine.tree.compiler.styles import ElementStyle
from workers.engine.tree.elements.figures import read_id
from workers.engine.tree.elements.lets import compile_with_lets
from workers.engine.tree.elements.tables.columns import TableColumns, count_cells, rows_of
from workers.engine.tree.elements.tables.spans import RowBuilder, SpannedColumns
from workers.engine.tree.elements.tables.totals import RunningTotals, TotalsCompiler
from workers.engine.tree.expressions.compiler import compile_texts
from workers.engine.tree.expressions.environment import TOTALS
from workers.engine.tree.expressions.grammar import Expression, TextTemplate
from workers.engine.tree.expressions.runtime import EVALUATION_ERRORS
from workers.engine.tree.expressions.white_space import (
    apply_text_transform,
    check_length,
    collapse,
    collapse_and_trim,
)
from workers.engine.tree.nodes import (
    CellContent,
    CellTemplate,
    Role,
    RowTemplate,
    Source,
    TableRow,
    TotalValues,
)
from workers.engine.tree.styles.cascade import MAX_CACHED, ComputedStyle
from workers.engine.tree.styles.computed import WhiteSpace

_ROLES: Final = {"td": Role.CELL, "th": Role.HEAD_CELL}
_OF_BODIES: Final = frozenset({"repeat", "count"})


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
        plain = [_plain_text(cell) for cell in element.elements()]
        is_plain = all(text is not None for text in plain) and not self.has_spans
        if is_plain and not {"id", "lang"} & element.attributes.keys():
            return _PlainRows(self, element, context).builder()
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
            counts = context.read_constant(element, "count")
            if not self.totals.elements:
                context.findings.error(
                    "misplaced-attribute",
                    "`count` has an effect in a table with a `total` only",
                    element.location,
                )
        return self.totals.count(context) if counts and self.is_body else None

    def repeats(self, element: Element, context: CompileContext) -> bool:
        """Return whether a row is repeated on each fragment."""
        return self.is_body and bool(context.read_constant(element, "repeat"))

    def uses_totals(self, context: CompileContext) -> bool:
        """Return whether a row, compiled in a context of its own, shows running totals."""
        return self.is_body and bool(self.totals.elements) and TOTALS in context.used

    def _compile_row(self, element: Element, outer: CompileContext) -> NodeBuilder:
        """Compile a row whose cells hold more than text, or depend on data in number or style."""
        context = replace(outer, used=set())
        element_style = context.compile_style(element)
        location = element.location
        source = source_maker(location)
        identity = context.compile_attribute(element, "id")
        counts, repeats = self.counting(element, context), self.repeats(element, context)
        cells = self._compile_cells(element, context)
        self.check_width(element, context)
        uses_totals = self.uses_totals(context)
        outer.used.update(context.used)

        def build(scope: Scope, parent: ComputedStyle, out: list[Any]) -> None:
            own = element_style.compute(scope, parent)
            inner = element_style.enter(scope).fork()
            counted = _count(counts, inner, uses_totals=uses_totals)
            inner.row = row = RowBuilder(scope.spanned)
            cells.build(inner, own, [])
            own_id = read_id(identity, scope)
            template = RowTemplate(
                source(scope), own.style, tuple(row.cells), repeats, own_id, row.starts
            )
            row.finish(len(scope.columns.columns), scope, location, repeats=repeats)
            out.append(TableRow(template, row.contents, scope.loop, counted))

        return NodeBuilder(build, is_static=False)

    def _compile_cells(self, parent: Element, context: CompileContext) -> NodeBuilder:
        return sequence(
            [
                compile_controlled(
                    child,
                    context,
                    self._compile_cells if child.tag == "group" else self._compile_cell,
                )
                for child in parent.elements()
                if child.tag in ("td", "th", "group")
            ]
        )

    def _compile_cell(self, element: Element, context: CompileContext) -> NodeBuilder:
        cell_styles = CellStyles(element, context)
        spans = [context.compile_attribute(element, name) for name in ("colspan", "rowspan")]
        identity = context.compile_attribute(element, "id")
        source, role = source_maker(element.location), _ROLES[element.tag]
        scope_of = _scope_of(element, context)
        text = _texts_alone(element)
        template = None if text is None else _cell_template(text, element, context)
        evaluation = (
            None
            if template is None
            else context.compile_text(template, element.location, isolates=template.sole is None)
        )
        rich = context.compile_blocks(element.children, owner=element) if text is None else None

        def build(scope: Scope, parent: ComputedStyle, _out: list[Any]) -> None:
            row: RowBuilder = scope.row
            own = cell_styles.at(scope.columns, row.next_column()).compute(scope, parent)
            inner = cell_styles.enter(scope)
            content: CellContent
            if evaluation is not None and is_one_line(own):
                content = apply_text_transform(
                    collapse_and_trim(evaluation.evaluate(inner)), own.transform
                )
            else:
                blocks: list[Any] = []
                (rich or cell_styles.blocks()).build(inner, own, blocks)
                content = tuple(blocks)
            colspan, rowspan = (span.read(scope) for span in spans)
            own_id = read_id(identity, scope)
            location = source(scope)
            cell = CellTemplate(location, role, own.style, colspan, rowspan, own_id, scope_of)
            row.add(cell, content)

        return NodeBuilder(build, is_static=False)


def has_spans(table: Element) -> bool:
    """Return whether a cell of the table may span rows."""
    return any("rowspan" in cell.attributes for cell in _cells_of(table))


def enter_section(rows: RowCompiler, scope: Scope) -> Scope:
    """Return the scope for the rows of one section, over which cells may span."""
    if not rows.has_spans and scope.spanned is None:
        return scope
    covered = SpannedColumns(len(scope.columns.columns)) if rows.has_spans else None
    return scope.enter(spanned=covered)


def close_section(scope: Scope) -> None:
    """Report cells that span more rows than their section has."""
    covered: SpannedColumns | None = scope.spanned
    if covered is not None:
        covered.finish(scope)


def cell_count_message(count: int, wanted: int) -> str:
    """Return the message about a row that does not fill the columns."""
    return (
        f"The row has cells for {format_count(count, 'column')}, the table has {wanted}. "
        "Add or remove cells, or change a colspan"
    )


class CellStyles:
    """The styles of a cell, one for each set of column defaults."""

    def __init__(self, element: Element, context: CompileContext) -> None:
        self._element = element
        self._context = context
        self._by_column: dict[tuple[TableColumns, int], ElementStyle] = {}
        self._plain = context.compile_style(element)
        self._blocks: NodeBuilder | None = None

    def at(self, columns: TableColumns, position: int) -> ElementStyle:
        """Return the style in a column: its defaults override the element's styles, not its classes."""
        key = (columns, position)
        found = self._by_column.get(key)
        if found is None:
            if len(self._by_column) > MAX_CACHED:
                self._by_column.clear()
            own_styles = self._context.sheet.element_properties(self._element.tag)
            defaults = {**columns.padding, **own_styles, **columns.defaults_at(position)}
            found = self._by_column[key] = self._context.compile_style(
                self._element, defaults=defaults
            )
        return found

    def enter(self, scope: Scope) -> Scope:
        """Return the scope inside the cell."""
        return self._plain.enter(scope)

    def blocks(self) -> NodeBuilder:
        """Return a text cell compiled as blocks, for styles that keep its line ends."""
        if self._blocks is None:
            self._blocks = self._context.compile_blocks(self._element.children, owner=self._element)
        return self._blocks


class _PlainRows:
    """The fast path: a `tr` whose cells are plain text and do not depend on data in number."""

    __slots__ = (
        *(
            "_blocks_by_cell",
            "_compile_blocks",
            "cells",
            "condition",
            "counts",
            "element",
            "is_counting",
        ),
        *(
            "element_style",
            "loop",
            "made",
            "location",
            "locations",
            "repeats",
            "scopes",
            "spans",
            "tags",
            "templates",
        ),
        *("texts", "uses_totals"),
    )

    def __init__(self, rows: RowCompiler, element: Element, context: CompileContext) -> None:
        self.element = element
        self.location = element.location
        attributes = element.attributes
        self.loop = compile_loop(element, context) if "for" in attributes else None
        inner = replace(context if self.loop is None else self.loop.context, used=set())
        self.condition = (
            inner.compile_expression(attributes["if"], element.location)
            if "if" in attributes
            else None
        )
        self.element_style = inner.compile_style(element)
        self.counts, self.repeats = rows.counting(element, inner), rows.repeats(element, inner)
        cells = list(element.elements())
        self.cells = [CellStyles(cell, inner) for cell in cells]
        self.tags = [cell.tag for cell in cells]
        self.locations = [cell.location for cell in cells]
        self.spans: list[int] = [inner.read_constant(cell, "colspan") for cell in cells]
        self.scopes = [_scope_of(cell, inner) for cell in cells]
        templates = [_cell_template(_plain_text(cell) or (), cell, inner) for cell in cells]
        self.templates = templates
        literals = tuple(text for each in templates if (text := each.literal) is not None)
        self.texts: Callable[[Scope], tuple[str, ...]] = (
            compile_texts(tuple(templates), collapse=collapse_and_trim)
            if len(literals) < len(templates)
            else _Literals(literals)
        )
        self._compile_blocks = inner.compile_blocks
        self._blocks_by_cell: list[NodeBuilder] = []
        self.made: dict[tuple[ComputedStyle, TableColumns], _PlainTemplate] = {}
        rows.check_width(element, context)
        self.uses_totals = rows.uses_totals(inner)
        self.is_counting = self.counts is not None or self.uses_totals
        (context if self.loop is None else self.loop.context).used.update(inner.used)
        if self.loop is not None:
            self.loop.propagate_names()

    def builder(self) -> NodeBuilder:
        """Return the compiled rows."""
        return NodeBuilder(
            self._build if self.loop is None else self._build_iterations, is_static=False
        )

    def _build(self, scope: Scope, parent: ComputedStyle, out: list[Any]) -> None:
        if self.condition is None or self.condition.evaluate(scope):
            inner = scope.fork() if self.is_counting else scope
            out.append(self._make(inner, parent))

    def _build_iterations(self, scope: Scope, parent: ComputedStyle, out: list[Any]) -> None:
        assert self.loop is not None
        condition, make = self.condition, self._make
        out += [
            make(inner, parent)
            for inner in self.loop.iterate(scope, self.loop.evaluate_items(scope))
            if condition is None or condition.evaluate(inner)
        ]

    def _make(self, scope: Scope, parent: ComputedStyle) -> TableRow:
        """Build a row; a row that counts may change its scope."""
        computed = self.element_style.compute(scope, parent)
        columns: TableColumns = scope.columns
        template = self.made.get((computed, columns))
        if template is None:
            template = self._template(computed, columns, scope)
        counted: TotalValues = ()
        if self.is_counting:
            counted = _count(self.counts, scope, uses_totals=self.uses_totals)
        try:
            texts: Sequence[CellContent] = self.texts(scope)
        except EVALUATION_ERRORS:
            self._report_failures(scope)
            texts = ("",) * len(self.cells)
        if template.changes:
            texts = self._convert_cells(texts, template, scope)
        return TableRow(template.row, texts, scope.loop, counted)

    def _template(
        self, computed: ComputedStyle, columns: TableColumns, scope: Scope
    ) -> _PlainTemplate:
        cells, styles, at = [], [], 0
        for cell, tag, location, span, scope_of in zip(
            self.cells, self.tags, self.locations, self.spans, self.scopes, strict=True
        ):
            own = cell.at(columns, at).compute(scope, computed)
            cells.append(
                CellTemplate(Source(location), _ROLES[tag], own.style, span, 1, None, scope_of)
            )
            styles.append(own)
            at += span
        if at != len(columns.columns):  # columns that depend on data are not checked before
            scope.state.findings.error(
                "cell-count", cell_count_message(at, len(columns.columns)), self.location
            )
        is_text = all(map(is_one_line, styles))
        row = RowTemplate(
            Source(self.location), computed.style, tuple(cells), self.repeats, is_text=is_text
        )
        changes = not is_text or any(own.transform != "none" for own in styles)
        template = _PlainTemplate(row, tuple(styles), changes)
        if len(self.made) > MAX_CACHED:
            self.made.clear()
        self.made[computed, columns] = template
        return template

    def _convert_cells(
        self, texts: Sequence[CellContent], template: _PlainTemplate, scope: Scope
    ) -> list[CellContent]:
        """Apply text-transform, and convert cells that keep line ends to blocks."""
        changed: list[CellContent] = []
        for text, computed, blocks_of_cell in zip(
            texts, template.styles, self._block_cells(), strict=True
        ):
            if is_one_line(computed):
                changed.append(apply_text_transform(str(text), computed.transform))
            else:
                blocks: list[Any] = []
                blocks_of_cell.build(scope, computed, blocks)
                changed.append(tuple(blocks))
        return changed

    def _block_cells(self) -> list[NodeBuilder]:
        """Return the cells compiled as blocks, which most rows never need."""
        if not self._blocks_by_cell:
            cells = self.element.elements()
            self._blocks_by_cell = [
                self._compile_blocks(cell.children, owner=cell) for cell in cells
            ]
        return self._blocks_by_cell

    def _report_failures(self, scope: Scope) -> None:
        state: BuildState = scope.state
        for template, location in zip(self.templates, self.locations, strict=True):
            for expression in template.expressions:
                state.report_failure((expression,), scope, location)


class _PlainTemplate:
    """The template of all plain rows in one style; `changes` if texts need more than collapsing."""

    __slots__ = ("changes", "row", "styles")

    def __init__(self, row: RowTemplate, styles: tuple[ComputedStyle, ...], changes: bool) -> None:
        self.row = row
        self.styles = styles
        self.changes = changes


def _count(counts: list[Evaluation] | None, scope: Scope, *, uses_totals: bool) -> TotalValues:
    """Add a row to the totals of its table, and set the running totals its cells read."""
    running: RunningTotals | None = scope.running_totals
    counted: TotalValues = ()
    if counts is not None and running is not None:
        counted = running.count(counts, scope)
    if uses_totals and running is not None:
        scope.names[TOTALS] = running.record()
    return counted


# --- reading the tree -----------------------------------------------------------------------------------


def is_one_line(computed: ComputedStyle) -> bool:
    """Return whether a text cell is a single text: white space collapses, and the direction is known."""
    is_collapsed = computed.style.paragraph.white_space in (WhiteSpace.NORMAL, WhiteSpace.NOWRAP)
    return is_collapsed and not computed.inherited.is_auto


def _report_in_section(row: Element, context: CompileContext) -> None:
    for name in sorted(_OF_BODIES & row.attributes.keys()):
        context.findings.error(
            "misplaced-attribute",
            f"`{name}` has an effect on body rows only; `on` sets the fragments that heads and feet are on",
            row.location,
        )


def _cells_of(table: Element) -> Iterable[Element]:
    """Yield the cells of a table, including those in groups, without those of nested tables."""
    waiting = list(rows_of(table))
    while waiting:
        for child in waiting.pop().elements():
            if child.tag in ("td", "th"):
                yield child
            elif child.tag == "group":
                waiting.append(child)


def _scope_of(cell: Element, context: CompileContext) -> str:
    """Return the `scope` of a header cell, empty for none."""
    return str(context.read_constant(cell, "scope") or "") if cell.tag == "th" else ""


def _plain_text(cell: Element) -> tuple[Text, ...] | None:
    """Return the texts of a cell that holds nothing else and has a constant style, else None."""
    if cell.tag not in ("td", "th") or {"for", "if", "lang", "id", "term"} & cell.attributes.keys():
        return None
    if any("{{" in value for value in cell.attributes.values()) and not cell.is_literal:
        return None
    return _texts_alone(cell)


def _texts_alone(cell: Element) -> tuple[Text, ...] | None:
    """Return the texts of a cell without elements, else None."""
    if any(isinstance(child, Element) for child in cell.children):
        return None
    return tuple(child for child in cell.children if isinstance(child, Text))


def _cell_template(texts: Iterable[Text], cell: Element, context: CompileContext) -> TextTemplate:
    """Parse the text of a cell; white space of literal text is collapsed once."""
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


class _Literals:
    """The texts of a row without expressions."""

    __slots__ = ("texts",)

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.texts = texts

    def __call__(self, _: Scope) -> tuple[str, ...]:
        return self.texts
