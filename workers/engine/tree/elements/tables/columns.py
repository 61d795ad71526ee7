"""The columns of a table: widths, defaults of their cells, and carried totals.

A total is declared by `total` and accumulated by the rows of its table.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from operator import add
from typing import Final

from workers.engine.syntax.nodes import Element
from workers.engine.syntax.values import LengthValue
from workers.engine.syntax.vocabulary import read_attribute
from workers.engine.tree.build_state import Evaluation, Scope
from workers.engine.tree.compiler.builders import NodeBuilder, Nodes
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.compiler.control_flow import compile_in_groups, controlled
from workers.engine.tree.expressions.environment import TOTALS
from workers.engine.tree.expressions.runtime import EVALUATION_ERRORS, ONE, ZERO, describe_type
from workers.engine.tree.nodes import Column, describe_loops
from workers.engine.tree.page_values import FragmentValues, Total, TotalMode, TotalValues
from workers.engine.tree.styles.cascade import (
    MAX_CACHED,
    NO_PROPERTIES,
    ComputedStyle,
    Properties,
    expand_shorthands,
)
from workers.engine.units import AUTO, Length, Sides

# Of a table without `col`; a `colspan` that is none can be of any size.
MAX_COLUMNS: Final = 1_000
# Of a col's properties these are the column's own; all others are defaults of its cells.
_OF_COLUMN: Final = frozenset({"width", "min-width", "max-width"})
_AUTO_COLUMN: Final = Column(AUTO, Length(0.0), None)


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
    """Compile the `col`s; equal columns are one object in all documents, as the styles of cells ask."""
    builder = compile_in_groups(table, context, controlled(_compile_column), "col")
    missing = 0 if any(_find_all(table, "col")) else min(count_first_row(table) or 0, MAX_COLUMNS)
    known: dict[Hashable, TableColumns] = {}

    def make(scope: Scope, computed: ComputedStyle, padding: Sides[LengthValue]) -> TableColumns:
        made: list[tuple[Column, Properties]] = []
        builder(scope, computed, made)
        made += [(_AUTO_COLUMN, NO_PROPERTIES)] * missing
        key = padding, *((column, *defaults.items()) for column, defaults in made)
        columns = known.get(key)
        if columns is None:
            if len(known) > MAX_CACHED:
                known.clear()
            columns = known[key] = TableColumns(
                tuple(column for column, _ in made),
                tuple(defaults for _, defaults in made),
                expand_shorthands({"padding": padding}),
            )
        return columns

    return make


def declared_width(table: Element) -> int | None:
    """Return the number of columns of the `col`s or the first row; None if it depends on data."""
    cols = list(_find_all(table, "col"))
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
    counts = [count_cells(row) for row in _find_all(table, "tr")]
    return next((count for count in counts if count is not None), None if counts else 0)


def _find_all(element: Element, tag: str) -> Iterator[Element]:
    """Yield the rows or the `col`s of a table, of all its sections and groups."""
    for child in element.elements():
        if child.tag == tag:
            yield child
        elif child.tag in ("thead", "tbody", "tfoot", "group"):
            yield from _find_all(child, tag)


def count_cells(row: Element) -> int | None:
    """Return the number of columns a row's cells fill; None if it depends on data."""
    count = 0
    for cell in row.elements():
        span = cell.attributes.get("colspan", "1")
        if cell.tag == "group" or {"for", "if"} & cell.attributes.keys() or not span.isdecimal():
            return None
        count += int(span)
    return count


def _compile_column(element: Element, context: CompileContext) -> NodeBuilder:
    element_style = context.compile_style(element)
    span = context.compile_attribute(element, "span")
    sheet = context.sheet

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        own, properties = element_style.resolve(scope, parent)
        most = properties.get("max-width")
        column = Column(
            sheet.to_length(properties.get("width", AUTO), own),
            sheet.to_length(properties.get("min-width") or Length(0.0), own),
            sheet.to_optional_length(most, own),
        )
        defaults = {k: v for k, v in properties.items() if k not in _OF_COLUMN}
        out.extend([(column, defaults)] * span.read(scope))

    return build


IN_ROWS: Final = frozenset({"running"})
IN_FRAGMENTS: Final = frozenset({"before", "here", "after", "all"})

_ONLY_NUMBERS: Final = {Decimal}
_FROM_ZERO: Final = frozenset({TotalMode.SUM, TotalMode.COUNT})


def add_all(
    totals: Sequence[Total], carried: TotalValues, rows: Iterable[TotalValues]
) -> TotalValues:
    """Return the totals after many rows, added one after the other, total by total."""
    counted = [row for row in rows if row]
    if not counted:
        return carried
    columns = zip(totals, zip(carried, *counted, strict=True), strict=True)
    return tuple([_add_column(total, values) for total, values in columns])


def _add_column(total: Total, values: Iterable[Decimal | None]) -> Decimal | None:
    known = [value for value in values if value is not None]
    return reduce(_ADD[total.mode], known) if known else None


_ADD: Final[Mapping[TotalMode, Callable[[Decimal, Decimal], Decimal]]] = {
    TotalMode.SUM: add,
    TotalMode.COUNT: add,
    TotalMode.LAST: lambda _, value: value,
    TotalMode.MIN: min,
    TotalMode.MAX: max,
}


def initial_values(totals: Sequence[Total]) -> TotalValues:
    """Return the totals before the first row."""
    return tuple(total.start for total in totals)


def zero_values(totals: Sequence[Total]) -> TotalValues:
    """Return the totals of a fragment before its first row, without what is carried into it."""
    return tuple(ZERO if total.mode in _FROM_ZERO else None for total in totals)


class TotalsCompiler:
    """Compiles the `total`s of one table: their starts in its scope, their values in each row's."""

    def __init__(self, element: Element, context: CompileContext) -> None:
        self.elements = [child for child in element.elements() if child.tag == "total"]
        self.names = [total.attributes.get("name", "") for total in self.elements]
        self.has_counted_rows = False
        self._modes = [TotalMode(read_attribute(total, "mode")) for total in self.elements]
        self._starts = [
            _number(context, total, total.attributes["start"])
            if "start" in total.attributes
            else None
            for total in self.elements
        ]
        self._check(context)

    def known_in(
        self, context: CompileContext, members: frozenset[str]
    ) -> Mapping[str, frozenset[str]]:
        """Return the totals known in a section of the table: its own and those around it."""
        return {**context.totals, **dict.fromkeys(self.names, members)}

    def count(self, context: CompileContext) -> list[Evaluation] | None:
        """Compile a row's contributions where its names are known; None if there are no totals."""
        if not self.elements:
            return None
        self.has_counted_rows = True
        return [
            _number(context, total, total.attributes.get("value", "1")) for total in self.elements
        ]

    def finish(self, context: CompileContext) -> None:
        """Make the totals known after the table; report totals that no row counts for."""
        context.finished_totals.update(self.names)
        if self.elements and not self.has_counted_rows:
            message = f'No row counts for the total "{self.names[0]}": rows with for or count="true" count'
            context.findings.error("total-without-rows", message, self.elements[0].location)

    def open(self, scope: Scope) -> RunningTotals:
        """Return the running totals at their starts."""
        totals = []
        for name, mode, start, element in zip(
            self.names, self._modes, self._starts, self.elements, strict=True
        ):
            first = ZERO if mode in _FROM_ZERO else None
            if start is not None:
                first = start.evaluate(scope)
                if not isinstance(first, Decimal):
                    _report(scope, element, f'The start of the total "{name}"', first)
                    first = ZERO
            totals.append(Total(name, mode, first))
        return RunningTotals(tuple(totals), self.elements, scope)

    def _check(self, context: CompileContext) -> None:
        for element, mode in zip(self.elements, self._modes, strict=True):
            if mode is not TotalMode.COUNT and "value" not in element.attributes:
                message = (
                    f'`total` has no `value`, which mode="{mode}" needs: an expression over a row'
                )
                context.findings.error("missing-attribute", message, element.location)
        for position, name in enumerate(self.names):
            if name in self.names[:position]:
                message = f'The total "{name}" is declared twice in this table'
                context.findings.error("duplicate-key", message, self.elements[position].location)


class RunningTotals:
    """The totals of one table while its rows are built in order."""

    def __init__(
        self, totals: tuple[Total, ...], elements: Sequence[Element], scope: Scope
    ) -> None:
        self.totals = totals
        self.carried = initial_values(totals)
        self._elements = elements
        self._outer: Mapping[str, object] = scope.names.get(TOTALS, {})
        self._reported: set[int] = set()  # totals whose first error is reported
        self._is_past_bounds = False
        self._has_sums_only = all(total.mode is TotalMode.SUM for total in totals)

    def count(self, values: Iterable[Evaluation], scope: Scope) -> TotalValues:
        """Evaluate and add a row's contributions; return them."""
        found = [value.evaluate(scope) for value in values]
        if not self._has_sums_only or {*map(type, found)} != _ONLY_NUMBERS:
            found = [self._read(at, value, scope) for at, value in enumerate(found)]
        counted = tuple(found)
        try:
            if self._has_sums_only:  # which are never None
                self.carried = tuple(map(add, self.carried, counted))
            else:
                self.carried = add_all(self.totals, self.carried, [counted])
        except EVALUATION_ERRORS:
            self.carried = initial_values(self.totals)
            self._report_bounds(scope)
        return counted

    def record(self) -> dict[str, object]:
        """Return the record that `totals` reads in the row just counted."""
        own = {
            total.name: {"running": value}
            for total, value in zip(self.totals, self.carried, strict=True)
        }
        return {**self._outer, **own}

    def close(self, scope: Scope) -> None:
        """Make the table's totals readable after it."""
        for total, value in zip(self.totals, self.carried, strict=True):
            scope.state.totals[total.name] = {"all": value}

    def _report_bounds(self, scope: Scope) -> None:
        if not self._is_past_bounds:
            message = f"The totals grow too large to be exact{describe_loops(scope.loop)}"
            scope.state.findings.error("total", message, self._elements[0].location)
        self._is_past_bounds = True

    def _read(self, position: int, value: object, scope: Scope) -> Decimal | None:
        total, element = self.totals[position], self._elements[position]
        if total.mode is TotalMode.COUNT:
            return ONE if value else ZERO
        if isinstance(value, Decimal) or (value is None and total.mode is not TotalMode.SUM):
            return value
        if position not in self._reported:
            self._reported.add(position)
            _report(scope, element, f'The total "{total.name}"', value)
        return ZERO


def fragment_record(totals: Sequence[Total], values: FragmentValues) -> dict[str, object]:
    """Return the record that `totals` reads in a head or foot of one fragment."""
    return {
        total.name: {"before": before, "here": here, "after": after, "all": whole}
        for total, before, here, after, whole in zip(
            totals, values.before, values.here, values.after, values.overall, strict=True
        )
    }


def _number(context: CompileContext, total: Element, text: str) -> Evaluation:
    """Compile a numeric expression; one that fails is reported, and counts as zero."""
    evaluation = context.compile_expression(text, total.location)
    evaluation.fallback = ZERO
    return evaluation


def _report(scope: Scope, element: Element, what: str, value: object) -> None:
    hint = "; write (name or 0) where a value may be empty" if value is None else ""
    message = f"{what} needs a number, not {describe_type(value)}{hint}{describe_loops(scope.loop)}"
    scope.state.findings.error("total", message, element.location)
