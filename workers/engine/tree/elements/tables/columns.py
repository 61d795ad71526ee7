"""The columns of a table: widths, defaults of their cells, and their number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from workers.engine.syntax.nodes import Element
from workers.engine.syntax.values import LengthValue
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.builders import NodeBuilder, Nodes, sequence
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.compiler.control_flow import compile_controlled
from workers.engine.tree.nodes import Column
from workers.engine.tree.styles.cascade import MAX_CACHED, ComputedStyle
from workers.engine.tree.styles.user_agent import NO_PROPERTIES, Properties, expand_shorthands
from workers.engine.units import AUTO, ZERO, Sides

MAX_COLUMNS: Final = 200
# Of a col's properties these are the column's own; all others are defaults of its cells.
_OF_COLUMN: Final = frozenset({"width", "min-width", "max-width"})
_AUTO_COLUMN: Final = Column(AUTO, ZERO, None)


@dataclass(frozen=True, slots=True, eq=False)
class TableColumns:
    """The columns of one table, each with its width and the defaults of its cells."""

    columns: tuple[Column, ...]
    defaults: tuple[Properties, ...]
    padding: Properties

    def defaults_at(self, position: int) -> Properties:
        """Return the defaults of a cell that begins at a column."""
        return self.defaults[position] if position < len(self.defaults) else NO_PROPERTIES


def compile_columns(
    table: Element, context: CompileContext
) -> Callable[[Scope, ComputedStyle, Sides[LengthValue]], TableColumns]:
    """Compile the `col`s; they are built once for all documents if they do not depend on data."""
    builder = _compile_group(table, context)
    has_columns = any(_columns_of(table))
    missing = 0 if has_columns else count_first_row(table) or 0
    known: dict[tuple[ComputedStyle, Sides[LengthValue]], TableColumns] = {}

    def make(scope: Scope, computed: ComputedStyle, padding: Sides[LengthValue]) -> TableColumns:
        columns = known.get((computed, padding))
        if columns is None:
            made: list[tuple[Column, Properties]] = []
            findings = scope.state.findings
            reports_before = findings.report_count
            builder.build(scope, computed, made)
            is_sound = findings.report_count == reports_before
            made += [(_AUTO_COLUMN, NO_PROPERTIES)] * missing
            columns = TableColumns(
                tuple(column for column, _ in made),
                tuple(defaults for _, defaults in made),
                expand_shorthands({"padding": padding}),
            )
            if builder.is_static and is_sound and len(known) < MAX_CACHED:
                known[computed, padding] = columns
        return columns

    return make


def declared_width(table: Element) -> int | None:
    """Return the number of columns of the `col`s or the first row; None if it depends on data."""
    cols = list(_columns_of(table))
    if not cols:
        return count_first_row(table)
    if any({"for", "if"} & col.attributes.keys() for col in cols):
        return None
    if len(cols) > sum(1 for _ in table.elements("col")):  # some are in groups
        return None
    spans = [col.attributes.get("span", "1") for col in cols]
    return sum(map(int, spans)) if all(span.isdecimal() for span in spans) else None


def count_first_row(table: Element) -> int | None:
    """Return the number of columns of the first row in which it does not depend on data.

    None if it does in every row, 0 without rows.
    """
    counts = [count_cells(row) for row in rows_of(table)]
    return next((count for count in counts if count is not None), None if counts else 0)


def rows_of(element: Element) -> Iterable[Element]:
    """Yield the rows of a table, of all its sections and groups."""
    for child in element.elements():
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot", "group"):
            yield from rows_of(child)


def count_cells(row: Element) -> int | None:
    """Return the number of columns a row's cells fill; None if it depends on data."""
    count = 0
    for cell in row.elements():
        span = cell.attributes.get("colspan", "1")
        if cell.tag == "group" or {"for", "if"} & cell.attributes.keys() or not span.isdecimal():
            return None
        count += int(span)
    return count


def _columns_of(element: Element) -> Iterator[Element]:
    """Yield the `col`s of a table, including those in groups."""
    for child in element.elements():
        if child.tag == "col":
            yield child
        elif child.tag == "group":
            yield from _columns_of(child)


def _compile_group(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile the `col`s in a table or group."""
    return sequence(
        [
            compile_controlled(
                child, context, _compile_column if child.tag == "col" else _compile_group
            )
            for child in element.elements()
            if child.tag == "col" or (child.tag == "group" and any(_columns_of(child)))
        ]
    )


def _compile_column(element: Element, context: CompileContext) -> NodeBuilder:
    element_style = context.compile_style(element)
    span = context.compile_attribute(element, "span")
    sheet = context.sheet

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        own, properties = element_style.resolve(scope, parent)
        most = properties.get("max-width")
        column = Column(
            sheet.to_length(properties.get("width", AUTO), own),
            sheet.to_length(properties.get("min-width") or ZERO, own),
            None if most is None else sheet.to_length(most, own),
        )
        defaults = {k: v for k, v in properties.items() if k not in _OF_COLUMN}
        out.extend([(column, defaults)] * span.read(scope))

    return NodeBuilder(build, element_style.is_static and span.is_static)
