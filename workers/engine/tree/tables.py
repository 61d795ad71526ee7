"""Tables: columns, sections and rows; rows of plain text cost one compiled function each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import localcontext
from typing import Any, Final

from workers.engine.diagnostics import Place
from workers.engine.syntax.nodes import Element, Text
from workers.engine.syntax.values import LengthValue, RelativeLength
from workers.engine.tree.cascade import MAX_CACHED, Look, StyleSheet
from workers.engine.tree.compiler import (
    Attribute,
    Context,
    ElementLook,
    Part,
    find_color,
    in_order,
    loop_record,
    source_at,
)
from workers.engine.tree.expressions import compile_texts
from workers.engine.tree.figures import read_id
from workers.engine.tree.grammar import (
    Expression,
    TextTemplate,
)
from workers.engine.tree.looks import NO_PROPERTIES, Properties, spread
from workers.engine.tree.nodes import (
    CellContent,
    CellTemplate,
    Column,
    LoopStep,
    On,
    PieceValues,
    Role,
    RowGroup,
    RowTemplate,
    Source,
    Table,
    TableBody,
    TableRow,
)
from workers.engine.tree.pagetime import TRIAL_PAGE, page_record
from workers.engine.tree.run import LOOP, RUN, Run
from workers.engine.tree.runtime import ARITHMETIC, FAILURES, Scope
from workers.engine.tree.styles import WhiteSpace
from workers.engine.tree.whitespace import collapse, squeeze, transform
from workers.engine.units import AUTO, ZERO, Length, Sides

CompileBlocks = Callable[..., Part]

MAX_COLUMNS: Final = 200
# While rows are built, the scope leads to the table's columns.
_COLUMNS: Final = "#columns"
# Of a col's properties these are the column's own; all others are defaults of its cells.
_OF_COLUMN: Final = frozenset({"width", "min-width", "max-width"})


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


def compile_table(element: Element, context: Context, compile_blocks: CompileBlocks) -> Part:
    """Compile a table."""
    compiler = _TableCompiler(element, context, compile_blocks)
    look = context.look(element)
    source = source_at(element.place)
    identity = context.attribute(element, "id")
    stripe, padding = (context.attribute(element, name) for name in ("stripe", "cell-padding"))
    is_padded = "cell-padding" in element.attributes
    columns = compiler.columns()
    heads = compiler.sections("thead")
    bodies = compiler.bodies()
    feet = compiler.sections("tfoot")
    sheet = context.sheet

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        own, properties = look.resolve(scope, parent)
        inner = dict(look.enter(scope))
        around = padding.read(scope)
        if not is_padded:
            around = properties.get("cell-padding", around)
        inner[_COLUMNS] = columns(inner, own, around)
        colors = stripe.read(scope) or properties.get("stripe") or ()
        made: dict[str, list[Any]] = {"heads": [], "bodies": [], "feet": []}
        for name, parts in (("heads", heads), ("bodies", bodies), ("feet", feet)):
            parts.build(inner, own, made[name])
        out.append(
            Table(
                source(scope),
                own.style,
                inner[_COLUMNS].columns,
                tuple(made["heads"]),
                tuple(made["bodies"]),
                tuple(made["feet"]),
                tuple(find_color(sheet, color, scope, element.place) for color in colors),
                id=read_id(identity, scope),
            )
        )

    return Part(build, is_static=False)


class _TableCompiler:
    """Compiles the parts of one table, which share its columns and its cells' padding."""

    def __init__(self, element: Element, context: Context, compile_blocks: CompileBlocks) -> None:
        self.element = element
        self.context = context
        self.compile_blocks = compile_blocks
        self.width = self._count_columns()

    # --- columns ---------------------------------------------------------------------------------

    def columns(self) -> Callable[[Scope, Look, Sides[LengthValue]], Columns]:
        """Compile the cols: once for all documents where nothing in them depends on data."""
        parts = [
            self.context.controlled(child, self._compile_column)
            for child in self.element.elements()
            if child.tag == "col"
        ]
        part = in_order(parts)
        missing = 0 if parts else self.width or 0
        known: dict[tuple[Look, Sides[LengthValue]], Columns] = {}

        def make(scope: Scope, look: Look, padding: Sides[LengthValue]) -> Columns:
            columns = known.get((look, padding))
            if columns is None:
                made: list[tuple[Column, Properties]] = []
                part.build(scope, look, made)
                made += [(_AUTO_COLUMN, NO_PROPERTIES)] * missing
                columns = Columns(
                    tuple(column for column, _ in made),
                    tuple(defaults for _, defaults in made),
                    spread({"padding": padding}),
                )
                if part.is_static and len(known) < MAX_CACHED:
                    known[look, padding] = columns
            return columns

        return make

    def _compile_column(self, element: Element, context: Context) -> Part:
        look = context.look(element)
        span = context.attribute(element, "span")
        width = context.attribute(element, "width")
        least = (
            context.attribute(element, "min-width") if "min-width" in element.attributes else None
        )
        most = (
            context.attribute(element, "max-width") if "max-width" in element.attributes else None
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

    def _count_columns(self) -> int | None:
        """Count the columns where no col says it: the cells of the first row, if they are certain."""
        for row in _rows_of(self.element):
            return _count_cells(row)
        return 0

    # --- sections --------------------------------------------------------------------------------

    def sections(self, tag: str) -> Part:
        """Compile the theads or tfoots."""
        return in_order(
            self.context.controlled(child, self._compile_section)
            for child in self.element.elements()
            if child.tag == tag
        )

    def _compile_section(self, element: Element, context: Context) -> Part:
        look = context.look(element)
        source = source_at(element.place)
        used: set[str] = set()
        page_context = replace(context, is_page_time=True, used=used)
        rows = self._compile_rows(element, page_context)
        is_static = not used & {"page", "totals"}
        context.used.update(used)
        on = On.ALL if element.tag == "thead" else On.LAST

        def build(scope: Scope, parent: Look, out: list[Any]) -> None:
            own = look.find(scope, parent)
            inner = look.enter(scope)
            pieces = PieceContent(rows, inner, own, is_static=is_static)
            if scope[RUN].is_trial:
                pieces.evaluate(TRIAL_PIECE)
            out.append(RowGroup(source(scope), own.style, on, pieces))

        return Part(build, is_static=False)

    def bodies(self) -> Part:
        """Compile the tbodies; rows directly in the table stand in an unnamed one."""
        parts: list[Part] = []
        loose: list[Element] = []
        for child in self.element.elements():
            if child.tag == "tr" or (child.tag == "group" and _holds_rows(child)):
                loose.append(child)
            elif child.tag in ("tbody", "group"):
                parts += self._close_rows(loose)
                loose = []
                parts.append(self.context.controlled(child, self._compile_body))
        return in_order([*parts, *self._close_rows(loose)])

    def _close_rows(self, rows: Sequence[Element]) -> list[Part]:
        if not rows:
            return []
        part = in_order([self._compile_row_or_group(row, self.context) for row in rows])
        source, sheet = source_at(self.element.place), self.context.sheet

        def build(scope: Scope, parent: Look, out: list[Any]) -> None:
            look = sheet.compute(parent, NO_PROPERTIES, in_table=True)
            made: list[TableRow] = []
            part.build(scope, look, made)
            out.append(TableBody(source(scope), look.style, made))

        return [Part(build, is_static=False)]

    def _compile_body(self, element: Element, context: Context) -> Part:
        if element.tag == "group":
            return in_order(
                context.controlled(child, self._compile_body)
                for child in element.elements()
                if child.tag in ("tbody", "group")
            )
        look = context.look(element)
        source = source_at(element.place)
        rows = self._compile_rows(element, context)

        def build(scope: Scope, parent: Look, out: list[Any]) -> None:
            own = look.find(scope, parent)
            made: list[TableRow] = []
            rows.build(look.enter(scope), own, made)
            out.append(TableBody(source(scope), own.style, made))

        return Part(build, is_static=False)

    # --- rows ------------------------------------------------------------------------------------

    def _compile_rows(self, parent: Element, context: Context) -> Part:
        return in_order(
            [
                self._compile_row_or_group(child, context)
                for child in parent.elements()
                if child.tag in ("tr", "group")
            ]
        )

    def _compile_row_or_group(self, element: Element, context: Context) -> Part:
        if element.tag == "group":
            return context.controlled(element, self._compile_rows)
        plain = [_plain_text(cell) for cell in element.elements()]
        is_plain = all(text is not None for text in plain)
        if is_plain and not {"id", "lang"} & element.attributes.keys():
            return _PlainRows(self, element, context).part()
        return context.controlled(element, self._compile_row)

    def _compile_row(self, element: Element, context: Context) -> Part:
        """Compile a row whose cells hold more than text, or depend on data in number or look."""
        look = context.look(element)
        place = element.place
        source = source_at(place)
        identity = context.attribute(element, "id")
        cells = self._compile_cells(element, context)
        self.check_width(element, context)

        def build(scope: Scope, parent: Look, out: list[Any]) -> None:
            own = look.find(scope, parent)
            made: list[tuple[CellTemplate, CellContent]] = []
            inner = dict(look.enter(scope))
            inner[_CELLS] = made
            cells.build(inner, own, made)
            own_id = read_id(identity, scope)
            cell_templates = tuple(cell for cell, _ in made)
            template = RowTemplate(source(scope), own.style, cell_templates, False, own_id)
            check_built_width(made, scope, place)
            out.append(TableRow(template, [content for _, content in made], scope[LOOP]))

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
        span = context.attribute(element, "colspan")
        identity = context.attribute(element, "id")
        source, role = source_at(element.place), _ROLES[element.tag]
        text = _texts_alone(element)
        template = None if text is None else _cell_template(text, element, context)
        evaluation = None if template is None else context.text(template, element.place)
        rich = (
            self.compile_blocks(element.children, context, owner=element) if text is None else None
        )

        def build(scope: Scope, parent: Look, out: list[Any]) -> None:
            position = sum(t.colspan for t, _ in scope[_CELLS])
            own = look.at(scope[_COLUMNS], position).find(scope, parent)
            inner = look.enter(scope)
            content: CellContent
            if evaluation is not None and is_one_line(own):
                content = transform(squeeze(evaluation.evaluate(inner)), own.transform)
            else:
                blocks: list[Any] = []
                (rich or look.blocks(self.compile_blocks)).build(inner, own, blocks)
                content = tuple(blocks)
            own_id = read_id(identity, scope)
            cell = CellTemplate(source(scope), role, own.style, span.read(scope), 1, own_id)
            out.append((cell, content))

        return Part(build, is_static=False)

    def check_width(self, element: Element, context: Context) -> None:
        """Tell a row whose cells are certain and do not fill the columns."""
        count = _count_cells(element)
        wanted = self._declared_width()
        if count is not None and wanted is not None and count != wanted:
            context.findings.error(
                "cell-count",
                f"The row has cells for {count} columns, the table has {wanted}. "
                "Add or remove cells, or change a colspan",
                element.place,
            )

    def _declared_width(self) -> int | None:
        """Count the columns the cols declare, or those of the first row; None if data decide."""
        cols = [child for child in self.element.elements() if child.tag == "col"]
        if not cols:
            return self.width
        if any({"for", "if"} & col.attributes.keys() for col in cols):
            return None
        spans = [col.attributes.get("span", "1") for col in cols]
        return sum(map(int, spans)) if all(span.isdecimal() for span in spans) else None


TRIAL_PIECE: Final = PieceValues((), (), (), (), TRIAL_PAGE)
_AUTO_COLUMN: Final = Column(AUTO, ZERO, None)
_CELLS: Final = "#cells"
_ROLES: Final = {"td": Role.CELL, "th": Role.HEAD_CELL}


def check_built_width(
    made: Sequence[tuple[CellTemplate, CellContent]], scope: Scope, place: Place
) -> None:
    """Tell a row that, built, does not fill the columns."""
    count, wanted = sum(cell.colspan for cell, _ in made), len(scope[_COLUMNS].columns)
    if count != wanted:
        scope[RUN].findings.error(
            "cell-count",
            f"The row has cells for {count} columns, the table has {wanted}. "
            "Add or remove cells, or change a colspan",
            place,
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

    def __init__(self, table: _TableCompiler, element: Element, context: Context) -> None:
        self.element = element
        self.place = element.place
        attributes = element.attributes
        self.loop = context.loop(element) if "for" in attributes else None
        inner = context if self.loop is None else self.loop.context
        self.condition = (
            inner.expression(attributes["if"], element.place) if "if" in attributes else None
        )
        self.look = inner.look(element)
        cells = list(element.elements())
        self.cells = [CellLook(cell, inner) for cell in cells]
        self.tags = [cell.tag for cell in cells]
        self.places = [cell.place for cell in cells]
        self.spans: list[int] = [inner.value(cell, "colspan") for cell in cells]
        templates = [_cell_template(_plain_text(cell) or (), cell, inner) for cell in cells]
        self.templates = templates
        self.texts = compile_texts(templates, squeeze=squeeze) if templates else _no_texts
        self.slow = [table.compile_blocks(cell.children, inner, owner=cell) for cell in cells]
        self.made: dict[tuple[Look, Columns], _PlainTemplate] = {}
        table.check_width(element, context)
        if self.loop is not None:
            self.loop.close()

    def part(self) -> Part:
        """Give the compiled rows."""
        return Part(self._build if self.loop is None else self._build_turns, is_static=False)

    def _build(self, scope: Scope, parent: Look, out: list[Any]) -> None:
        if self.condition is None or self.condition.evaluate(scope):
            out.append(self._make(scope, parent, scope[LOOP]))

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
        look = self.look.find(scope, parent)
        columns: Columns = scope[_COLUMNS]
        template = self.made.get((look, columns))
        if template is None:
            template = self._template(look, columns, scope)
        try:
            texts: Sequence[CellContent] = self.texts(scope)
        except FAILURES:
            self._tell(scope)
            texts = ("",) * len(self.cells)
        if template.changes:
            texts = self._change(texts, template, scope)
        return TableRow(template.row, texts, steps)

    def _template(self, look: Look, columns: Columns, scope: Scope) -> _PlainTemplate:
        cells, looks, at = [], [], 0
        for cell, tag, place, span in zip(
            self.cells, self.tags, self.places, self.spans, strict=True
        ):
            own = cell.at(columns, at).find(scope, look)
            cells.append(CellTemplate(Source(place), _ROLES[tag], own.style, span, 1))
            looks.append(own)
            at += span
        row = RowTemplate(Source(self.place), look.style, tuple(cells), False)
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
        for text, look, slow in zip(texts, template.looks, self.slow, strict=True):
            if is_one_line(look):
                changed.append(transform(str(text), look.transform))
            else:
                blocks: list[Any] = []
                slow.build(scope, look, blocks)
                changed.append(tuple(blocks))
        return changed

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


class PieceContent:
    """Head or foot rows, evaluated for each piece of the table; static ones once."""

    __slots__ = ("_look", "_made", "_rows", "_scope", "is_static")

    def __init__(self, rows: Part, scope: Scope, look: Look, *, is_static: bool) -> None:
        self._rows = rows
        self._scope = scope
        self._look = look
        self._made: tuple[TableRow, ...] | None = None
        self.is_static = is_static

    def evaluate(self, values: PieceValues) -> tuple[TableRow, ...]:
        """Give the rows for one piece."""
        if self._made is not None:
            return self._made
        scope = {**self._scope, "page": page_record(values.page)}
        made: list[TableRow] = []
        with localcontext(ARITHMETIC):
            self._rows.build(scope, self._look, made)
        rows = tuple(made)
        self._made = rows if self.is_static else None
        return rows


# --- reading the tree -----------------------------------------------------------------------------------


def is_one_line(look: Look) -> bool:
    """Tell whether white space collapses under a look, so that a text cell is one text."""
    return look.style.paragraph.white_space in (WhiteSpace.NORMAL, WhiteSpace.NOWRAP)


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
        template = context.template(text.text, cell.place, is_literal=text.is_literal)
        parts += [collapse(part) if isinstance(part, str) else part for part in template.parts]
    if parts and isinstance(parts[0], str):
        parts[0] = parts[0].lstrip(" ")
    if parts and isinstance(parts[-1], str):
        parts[-1] = parts[-1].rstrip(" ")
    return TextTemplate(tuple(part for part in parts if part != "") or ("",))


def _holds_rows(group: Element) -> bool:
    return any(
        child.tag == "tr" or (child.tag == "group" and _holds_rows(child))
        for child in group.elements()
    )


def _rows_of(element: Element) -> Iterable[Element]:
    for child in element.elements():
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot", "group"):
            yield from _rows_of(child)


def _count_cells(row: Element) -> int | None:
    """Count the columns a row's cells fill; None if data decide."""
    count = 0
    for cell in row.elements():
        span = cell.attributes.get("colspan", "1")
        if cell.tag == "group" or {"for", "if"} & cell.attributes.keys() or not span.isdecimal():
            return None
        count += int(span)
    return count


def _length(
    sheet: StyleSheet,
    attribute: Attribute[Any] | None,
    styled: Length | RelativeLength | None,
    look: Look,
    scope: Scope,
) -> Length | None:
    value = styled if attribute is None else attribute.read(scope)
    return None if value is None else sheet.to_length(value, look)


def _no_texts(_: Scope) -> tuple[str, ...]:
    return ()
