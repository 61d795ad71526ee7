"""The columns of a table: widths, the defaults of their cells, and how many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from workers.engine.diagnostics import Findings
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.values import LengthValue, RelativeLength
from workers.engine.tree.cascade import MAX_CACHED, Look, StyleSheet
from workers.engine.tree.compiler import Attribute, Context, Part, in_order
from workers.engine.tree.looks import NO_PROPERTIES, Properties, spread
from workers.engine.tree.nodes import Column
from workers.engine.tree.run import RUN
from workers.engine.tree.runtime import Scope
from workers.engine.units import AUTO, ZERO, Length, Sides

MAX_COLUMNS: Final = 200
# While rows are built, the scope leads to the table's columns.
COLUMNS: Final = "#columns"
# Of a col's properties these are the column's own; all others are defaults of its cells.
_OF_COLUMN: Final = frozenset({"width", "min-width", "max-width"})
_AUTO_COLUMN: Final = Column(AUTO, ZERO, None)


class Columns:
    """The columns of one table: widths, and for each the defaults of its cells. Compared by identity."""

    __slots__ = ("_defaults", "columns", "padding")

    def __init__(
        self,
        columns: tuple[Column, ...],
        defaults: tuple[Properties, ...],
        padding: Properties,
    ) -> None:
        self.columns = columns
        self.padding = padding
        self._defaults = defaults

    def defaults_at(self, position: int) -> Properties:
        """Give the defaults of a cell that begins at a column."""
        return self._defaults[position] if position < len(self._defaults) else NO_PROPERTIES


def compile_columns(
    table: Element, context: Context
) -> Callable[[Scope, Look, Sides[LengthValue]], Columns]:
    """Compile the cols: once for all documents where nothing in them depends on data."""
    parts = [
        context.controlled(child, _compile_column)
        for child in table.elements()
        if child.tag == "col"
    ]
    part = in_order(parts)
    missing = 0 if parts else count_first_row(table) or 0
    known: dict[tuple[Look, Sides[LengthValue]], Columns] = {}

    def make(scope: Scope, look: Look, padding: Sides[LengthValue]) -> Columns:
        columns = known.get((look, padding))
        if columns is None:
            made: list[tuple[Column, Properties]] = []
            findings: Findings = scope[RUN].findings
            reports_before = findings.reports
            part.build(scope, look, made)
            is_sound = findings.reports == reports_before
            made += [(_AUTO_COLUMN, NO_PROPERTIES)] * missing
            columns = Columns(
                tuple(column for column, _ in made),
                tuple(defaults for _, defaults in made),
                spread({"padding": padding}),
            )
            if part.is_static and is_sound and len(known) < MAX_CACHED:
                known[look, padding] = columns
        return columns

    return make


def declared_width(table: Element) -> int | None:
    """Count the columns the cols declare, or those of the first row; None if data decide."""
    cols = list(table.elements("col"))
    if not cols:
        return count_first_row(table)
    if any({"for", "if"} & col.attributes.keys() for col in cols):
        return None
    spans = [col.attributes.get("span", "1") for col in cols]
    return sum(map(int, spans)) if all(span.isdecimal() for span in spans) else None


def count_first_row(table: Element) -> int | None:
    """Count the cells of the first row whose number data do not decide, spans minded.

    Gives None when data decide it in every row, 0 without rows.
    """
    count: int | None = 0
    for row in rows_of(table):
        count = count_cells(row)
        if count is not None:
            return count
    return count


def rows_of(element: Element) -> Iterable[Element]:
    """Give the rows of a table, of all its sections and groups."""
    for child in element.elements():
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot", "group"):
            yield from rows_of(child)


def count_cells(row: Element) -> int | None:
    """Count the columns a row's cells fill; None if data decide."""
    count = 0
    for cell in row.elements():
        span = cell.attributes.get("colspan", "1")
        if cell.tag == "group" or {"for", "if"} & cell.attributes.keys() or not span.isdecimal():
            return None
        count += int(span)
    return count


def _compile_column(element: Element, context: Context) -> Part:
    look = context.look(element)
    span = context.attribute(element, "span")
    width = context.attribute(element, "width")
    least, most = (
        context.attribute(element, name) if name in element.attributes else None
        for name in ("min-width", "max-width")
    )
    sheet = context.sheet

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        own, properties = look.resolve(scope, parent)
        column = Column(
            sheet.to_length(properties.get("width", width.read(scope)), own),
            _length(sheet, least, properties.get("min-width"), own, scope) or ZERO,
            _length(sheet, most, properties.get("max-width"), own, scope),
        )
        defaults = {k: v for k, v in properties.items() if k not in _OF_COLUMN}
        out.extend([(column, defaults)] * span.read(scope))

    attributes = (span, width)
    return Part(build, look.is_static and all(a.is_static for a in attributes))


def _length(
    sheet: StyleSheet,
    attribute: Attribute[Any] | None,
    styled: Length | RelativeLength | None,
    look: Look,
    scope: Scope,
) -> Length | None:
    value = styled if attribute is None else attribute.read(scope)
    return None if value is None else sheet.to_length(value, look)
