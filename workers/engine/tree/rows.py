"""Rows of a table and their cells; rows of plain text cost one compiled function each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from workers.engine.diagnostics import counted
from workers.engine.syntax.nodes import Element, Text
from workers.engine.tree.cascade import MAX_CACHED, Look
from workers.engine.tree.columns import COLUMNS, Columns, count_cells, rows_of
from workers.engine.tree.compiler import (
    Context,
    ElementLook,
    Part,
    in_order,
    loop_record,
    source_at,
)
from workers.engine.tree.expressions import compile_texts
from workers.engine.tree.figures import read_id
from workers.engine.tree.grammar import TOTALS, Expression, TextTemplate
from workers.engine.tree.lets import compile_with_lets
from workers.engine.tree.nodes import (
    Carried,
    CellContent,
    CellTemplate,
    LoopStep,
    Role,
    RowTemplate,
    Source,
    TableRow,
)
from workers.engine.tree.run import LOOP, RUN, Evaluation, Run
from workers.engine.tree.runtime import FAILURES, Scope
from workers.engine.tree.spans import Covered, RowInMaking
from workers.engine.tree.styles import WhiteSpace
from workers.engine.tree.totals import LEDGER, Ledger, TotalsCompiler
from workers.engine.tree.whitespace import check_length, collapse, squeeze, transform

CompileBlocks = Callable[..., Part]

# While rows are built, the scope leads to the row in making, and to what rows above cover.
_ROW: Final = "#row"
COVERED: Final = "#covered"
_ROLES: Final = {"td": Role.CELL, "th": Role.HEAD_CELL}
_OF_BODIES: Final = frozenset({"repeat", "count"})


@dataclass(frozen=True, slots=True)
class RowCompiler:
    """Compiles the rows of one table: of its bodies, or of its heads and feet."""

    width: int | None  # of the table, in columns; None where data decide
    compile_blocks: CompileBlocks
    totals: TotalsCompiler
    has_spans: bool
    is_body: bool

    def rows(self, parent: Element, context: Context) -> Part:
        """Compile the rows in a section or group."""
        children = [child for child in parent.elements() if child.tag in ("tr", "group", "let")]
        return compile_with_lets(children, context, self.row_or_group)

    def row_or_group(self, element: Element, context: Context) -> Part:
        """Compile a row, or a group of rows."""
        if element.tag == "group":
            return context.controlled(element, self.rows)
        if not self.is_body:
            _refuse_in_section(element, context)
        plain = [_plain_text(cell) for cell in element.elements()]
        is_plain = all(text is not None for text in plain) and not self.has_spans
        if is_plain and not {"id", "lang"} & element.attributes.keys():
            return _PlainRows(self, element, context).part()
        return context.controlled(element, self._compile_row)

    def check_width(self, element: Element, context: Context) -> None:
        """Tell a row whose cells are certain and do not fill the columns."""
        count, wanted = count_cells(element), self.width
        if count is not None and wanted is not None and count != wanted and not self.has_spans:
            context.findings.error("cell-count", tell_count(count, wanted), element.place)

    def counting(self, element: Element, context: Context) -> list[Evaluation] | None:
        """Compile what the row counts for the table's totals: rows that carry `for`, or say so."""
        counts = "for" in element.attributes
        if "count" in element.attributes:
            counts = context.value(element, "count")
            if not self.totals.elements:
                context.findings.error(
                    "misplaced-attribute",
                    "`count` has an effect in a table with a `total` only",
                    element.place,
                )
        return self.totals.count(context) if counts and self.is_body else None

    def repeats(self, element: Element, context: Context) -> bool:
        """Tell whether a row is a group head."""
        return self.is_body and bool(context.value(element, "repeat"))

    def uses_totals(self, context: Context) -> bool:
        """Tell whether a row, compiled in a context of its own, shows running totals."""
        return self.is_body and bool(self.totals.elements) and TOTALS in context.used

    def _compile_row(self, element: Element, outer: Context) -> Part:
        """Compile a row whose cells hold more than text, or depend on data in number or look."""
        context = replace(outer, used=set())
        look = context.look(element)
        place = element.place
        source = source_at(place)
        identity = context.attribute(element, "id")
        counts, repeats = self.counting(element, context), self.repeats(element, context)
        cells = self._compile_cells(element, context)
        self.check_width(element, context)
        uses_totals = self.uses_totals(context)
        outer.used.update(context.used)

        def build(scope: Scope, parent: Look, out: list[Any]) -> None:
            own = look.find(scope, parent)
            inner = dict(look.enter(scope))
            counted = _count(counts, inner, uses_totals=uses_totals)
            inner[_ROW] = row = RowInMaking(scope.get(COVERED))
            cells.build(inner, own, [])
            own_id = read_id(identity, scope)
            template = RowTemplate(
                source(scope), own.style, tuple(row.cells), repeats, own_id, row.starts
            )
            row.finish(len(scope[COLUMNS].columns), scope, place, repeats=repeats)
            out.append(TableRow(template, row.contents, scope[LOOP], counted))

        return Part(build, is_static=False)

    def _compile_cells(self, parent: Element, context: Context) -> Part:
        return in_order(
            [
                context.controlled(
                    child, self._compile_cells if child.tag == "group" else self._compile_cell
                )
                for child in parent.elements()
                if child.tag in ("td", "th", "group")
            ]
        )

    def _compile_cell(self, element: Element, context: Context) -> Part:
        look = CellLook(element, context)
        spans = [context.attribute(element, name) for name in ("colspan", "rowspan")]
        identity = context.attribute(element, "id")
        source, role = source_at(element.place), _ROLES[element.tag]
        text = _texts_alone(element)
        template = None if text is None else _cell_template(text, element, context)
        evaluation = None if template is None else context.text(template, element.place)
        rich = (
            self.compile_blocks(element.children, context, owner=element) if text is None else None
        )

        def build(scope: Scope, parent: Look, _out: list[Any]) -> None:
            row: RowInMaking = scope[_ROW]
            own = look.at(scope[COLUMNS], row.next_column()).find(scope, parent)
            inner = look.enter(scope)
            content: CellContent
            if evaluation is not None and is_one_line(own):
                content = transform(squeeze(evaluation.evaluate(inner)), own.transform)
            else:
                blocks: list[Any] = []
                (rich or look.blocks(self.compile_blocks)).build(inner, own, blocks)
                content = tuple(blocks)
            colspan, rowspan = (span.read(scope) for span in spans)
            own_id = read_id(identity, scope)
            row.add(CellTemplate(source(scope), role, own.style, colspan, rowspan, own_id), content)

        return Part(build, is_static=False)


def has_spans(table: Element) -> bool:
    """Tell whether a cell of the table may cover columns of the rows below its own."""
    return any("rowspan" in cell.attributes for cell in _cells_of(table))


def new_covered(rows: RowCompiler, scope: Scope) -> Scope:
    """Give the scope for the rows of one section, over which cells may span."""
    if not rows.has_spans and COVERED not in scope:
        return scope
    covered = Covered(len(scope[COLUMNS].columns)) if rows.has_spans else None
    return {**scope, COVERED: covered}


def close_covered(scope: Scope) -> None:
    """Tell cells that span more rows than their section has."""
    covered: Covered | None = scope.get(COVERED)
    if covered is not None:
        covered.finish(scope)


def tell_count(count: int, wanted: int) -> str:
    """Say that a row does not fill the columns."""
    return (
        f"The row has cells for {counted(count, 'column')}, the table has {wanted}. "
        "Add or remove cells, or change a colspan"
    )


class CellLook:
    """The looks of a cell, one for each set of column defaults it meets."""

    def __init__(self, element: Element, context: Context) -> None:
        self._element = element
        self._context = context
        self._by_column: dict[tuple[Columns, int], ElementLook] = {}
        self._plain = context.look(element)
        self._blocks: Part | None = None

    def at(self, columns: Columns, position: int) -> ElementLook:
        """Give the look in a column: its defaults lie over the element's styles, under classes."""
        key = (columns, position)
        found = self._by_column.get(key)
        if found is None:
            if len(self._by_column) > MAX_CACHED:
                self._by_column.clear()
            own_styles = self._context.sheet.properties_of(self._element.tag)
            under = {**columns.padding, **own_styles, **columns.defaults_at(position)}
            found = self._by_column[key] = self._context.look(self._element, under=under)
        return found

    def enter(self, scope: Scope) -> Scope:
        """Give the scope inside the cell."""
        return self._plain.enter(scope)

    def blocks(self, compile_blocks: CompileBlocks) -> Part:
        """Compile a text cell as blocks, for styles that keep its line ends."""
        if self._blocks is None:
            self._blocks = compile_blocks(
                self._element.children, self._context, owner=self._element
            )
        return self._blocks


class _PlainRows:
    """The fast path: a `tr` whose cells are plain text and whose number is certain."""

    __slots__ = (
        *("_compile_slow", "_slow", "cells", "condition", "counts", "element", "is_counting"),
        *("look", "loop", "made", "place", "places", "repeats", "spans", "tags", "templates"),
        *("texts", "uses_totals"),
    )

    def __init__(self, rows: RowCompiler, element: Element, context: Context) -> None:
        self.element = element
        self.place = element.place
        attributes = element.attributes
        self.loop = context.loop(element) if "for" in attributes else None
        inner = replace(context if self.loop is None else self.loop.context, used=set())
        self.condition = (
            inner.expression(attributes["if"], element.place) if "if" in attributes else None
        )
        self.look = inner.look(element)
        self.counts, self.repeats = rows.counting(element, inner), rows.repeats(element, inner)
        cells = list(element.elements())
        self.cells = [CellLook(cell, inner) for cell in cells]
        self.tags = [cell.tag for cell in cells]
        self.places = [cell.place for cell in cells]
        self.spans: list[int] = [inner.value(cell, "colspan") for cell in cells]
        templates = [_cell_template(_plain_text(cell) or (), cell, inner) for cell in cells]
        self.templates = templates
        literals = tuple(text for each in templates if (text := each.literal) is not None)
        self.texts: Callable[[Scope], tuple[str, ...]] = (
            compile_texts(templates, squeeze=squeeze)
            if len(literals) < len(templates)
            else _Literals(literals)
        )
        self._compile_slow = partial(rows.compile_blocks, context=inner)
        self._slow: list[Part] = []
        self.made: dict[tuple[Look, Columns], _PlainTemplate] = {}
        rows.check_width(element, context)
        self.uses_totals = rows.uses_totals(inner)
        self.is_counting = self.counts is not None or self.uses_totals
        (context if self.loop is None else self.loop.context).used.update(inner.used)
        if self.loop is not None:
            self.loop.close()

    def part(self) -> Part:
        """Give the compiled rows."""
        return Part(self._build if self.loop is None else self._build_turns, is_static=False)

    def _build(self, scope: Scope, parent: Look, out: list[Any]) -> None:
        if self.condition is None or self.condition.evaluate(scope):
            inner = dict(scope) if self.is_counting else scope
            out.append(self._make(inner, parent, scope[LOOP]))

    def _build_turns(self, scope: Scope, parent: Look, out: list[Any]) -> None:
        assert self.loop is not None
        loop, condition = self.loop, self.condition
        key, name, list_name = loop.clause.key, loop.clause.name, loop.clause.expression.strip()
        items, uses_loop = loop.turns(scope), loop.uses_loop
        outer: tuple[LoopStep, ...] = scope[LOOP]
        inner = dict(scope)
        make = self._make
        for index, item in enumerate(items, 1):
            if key is None:
                inner[name] = item
            else:
                inner[key], inner[name] = item
            if uses_loop:
                inner["loop"] = loop_record(index, len(items))
            steps = (*outer, LoopStep(list_name, index))
            inner[LOOP] = steps
            if condition is None or condition.evaluate(inner):
                out.append(make(inner, parent, steps))

    def _make(self, scope: Scope, parent: Look, steps: tuple[LoopStep, ...]) -> TableRow:
        """Make a row; the scope of one that counts is its own to change."""
        look = self.look.find(scope, parent)
        columns: Columns = scope[COLUMNS]
        template = self.made.get((look, columns))
        if template is None:
            template = self._template(look, columns, scope)
        counted: Carried = ()
        if self.is_counting:
            counted = _count(self.counts, scope, uses_totals=self.uses_totals)
        try:
            texts: Sequence[CellContent] = self.texts(scope)
        except FAILURES:
            self._tell(scope)
            texts = ("",) * len(self.cells)
        if template.changes:
            texts = self._change(texts, template, scope)
        return TableRow(template.row, texts, steps, counted)

    def _template(self, look: Look, columns: Columns, scope: Scope) -> _PlainTemplate:
        cells, looks, at = [], [], 0
        for cell, tag, place, span in zip(
            self.cells, self.tags, self.places, self.spans, strict=True
        ):
            own = cell.at(columns, at).find(scope, look)
            cells.append(CellTemplate(Source(place), _ROLES[tag], own.style, span, 1))
            looks.append(own)
            at += span
        if at != len(columns.columns):  # where data decide the columns it is not told before
            scope[RUN].findings.error(
                "cell-count", tell_count(at, len(columns.columns)), self.place
            )
        row = RowTemplate(Source(self.place), look.style, tuple(cells), self.repeats)
        changes = any(own.transform != "none" or not is_one_line(own) for own in looks)
        template = _PlainTemplate(row, tuple(looks), changes)
        if len(self.made) > MAX_CACHED:
            self.made.clear()
        self.made[look, columns] = template
        return template

    def _change(
        self, texts: Sequence[CellContent], template: _PlainTemplate, scope: Scope
    ) -> list[CellContent]:
        """Apply text-transform, and give cells that keep line ends their blocks."""
        changed: list[CellContent] = []
        for text, look, slow in zip(texts, template.looks, self._slow_cells(), strict=True):
            if is_one_line(look):
                changed.append(transform(str(text), look.transform))
            else:
                blocks: list[Any] = []
                slow.build(scope, look, blocks)
                changed.append(tuple(blocks))
        return changed

    def _slow_cells(self) -> list[Part]:
        """Return the cells compiled as blocks, which most rows never need."""
        if not self._slow:
            cells = self.element.elements()
            self._slow = [self._compile_slow(cell.children, owner=cell) for cell in cells]
        return self._slow

    def _tell(self, scope: Scope) -> None:
        run: Run = scope[RUN]
        for template, place in zip(self.templates, self.places, strict=True):
            for expression in template.expressions:
                run.fail((expression,), scope, place)


class _PlainTemplate:
    """What all plain rows under one look share; `changes` when texts need more than collapsing."""

    __slots__ = ("changes", "looks", "row")

    def __init__(self, row: RowTemplate, looks: tuple[Look, ...], changes: bool) -> None:
        self.row = row
        self.looks = looks
        self.changes = changes


def _count(counts: list[Evaluation] | None, scope: Scope, *, uses_totals: bool) -> Carried:
    """Count a row for the totals of its table, and let its cells read what they run up to."""
    ledger: Ledger | None = scope.get(LEDGER)
    counted: Carried = ()
    if counts is not None and ledger is not None:
        counted = ledger.count(counts, scope)
    if uses_totals and ledger is not None:
        scope[TOTALS] = ledger.running()
    return counted


# --- reading the tree -----------------------------------------------------------------------------------


def is_one_line(look: Look) -> bool:
    """Tell whether white space collapses under a look, so that a text cell is one text."""
    return look.style.paragraph.white_space in (WhiteSpace.NORMAL, WhiteSpace.NOWRAP)


def _refuse_in_section(row: Element, context: Context) -> None:
    for name in sorted(_OF_BODIES & row.attributes.keys()):
        context.findings.error(
            "misplaced-attribute",
            f"`{name}` has an effect on body rows only; heads and feet say by `on` where they stand",
            row.place,
        )


def _cells_of(table: Element) -> Iterable[Element]:
    """Give the cells of a table, those in groups too; not those of tables in it."""
    waiting = list(rows_of(table))
    while waiting:
        for child in waiting.pop().elements():
            if child.tag in ("td", "th"):
                yield child
            elif child.tag == "group":
                waiting.append(child)


def _plain_text(cell: Element) -> tuple[Text, ...] | None:
    """Give the texts of a cell that holds nothing else and looks the same for all data, else None."""
    if cell.tag not in ("td", "th") or {"for", "if", "lang", "id"} & cell.attributes.keys():
        return None
    if any("{{" in value for value in cell.attributes.values()) and not cell.is_literal:
        return None
    return _texts_alone(cell)


def _texts_alone(cell: Element) -> tuple[Text, ...] | None:
    """Give the texts of a cell that holds no elements, else None."""
    if any(isinstance(child, Element) for child in cell.children):
        return None
    return tuple(child for child in cell.children if isinstance(child, Text))


def _cell_template(texts: Iterable[Text], cell: Element, context: Context) -> TextTemplate:
    """Parse the text of a cell, the white space of what is literal collapsed once."""
    parts: list[str | Expression] = []
    for text in texts:
        check_length(text.text, cell.place, context.findings)
        template = context.template(text.text, cell.place, is_literal=text.is_literal)
        parts += [collapse(part) if isinstance(part, str) else part for part in template.parts]
    if parts and isinstance(parts[0], str):
        parts[0] = parts[0].lstrip(" ")
    if parts and isinstance(parts[-1], str):
        parts[-1] = parts[-1].rstrip(" ")
    return TextTemplate(tuple(part for part in parts if part != "") or ("",))


class _Literals:
    """The texts of a row that hold no expressions."""

    __slots__ = ("texts",)

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.texts = texts

    def __call__(self, _: Scope) -> tuple[str, ...]:
        return self.texts
