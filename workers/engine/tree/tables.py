"""Tables: columns, totals, captions, and sections of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import localcontext
from functools import partial
from typing import Any, Final

from workers.engine.syntax.nodes import Element
from workers.engine.tree.cascade import Look
from workers.engine.tree.columns import COLUMNS, compile_columns, declared_width
from workers.engine.tree.compiler import Context, Part, find_color, in_order, source_at
from workers.engine.tree.figures import read_id
from workers.engine.tree.grammar import TOTALS
from workers.engine.tree.lets import compile_let, compile_with_lets
from workers.engine.tree.looks import BUILT_IN, NO_PROPERTIES
from workers.engine.tree.nodes import (
    Caption,
    On,
    PieceValues,
    RowGroup,
    Table,
    TableBody,
    TableRow,
    Total,
)
from workers.engine.tree.pagetime import TRIAL_PAGE, narrow, page_record
from workers.engine.tree.rows import (
    CompileBlocks,
    RowCompiler,
    close_covered,
    has_spans,
    new_covered,
)
from workers.engine.tree.run import RUN
from workers.engine.tree.runtime import ARITHMETIC, Scope
from workers.engine.tree.totals import (
    IN_PIECES,
    IN_ROWS,
    LEDGER,
    Ledger,
    TotalsCompiler,
    piece_record,
    starts_of,
)

_RULE: Final = "border-bottom"
_PIECE_TIME: Final = frozenset({"page", TOTALS})


def compile_table(element: Element, context: Context, compile_blocks: CompileBlocks) -> Part:
    """Compile a table."""
    compiler = _TableCompiler(element, context, compile_blocks)
    look = context.look(element)
    source = source_at(element.place)
    identity = context.attribute(element, "id")
    stripe, padding = (context.attribute(element, name) for name in ("stripe", "cell-padding"))
    is_padded = "cell-padding" in element.attributes
    columns = compile_columns(element, context)
    captions = compiler.captions()
    heads = compiler.sections("thead")
    bodies = compiler.bodies()
    feet = compiler.sections("tfoot")
    compiler.totals.finish(context)
    sheet = context.sheet

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        own, properties = look.resolve(scope, parent)
        inner = dict(look.enter(scope))
        around = padding.read(scope)
        if not is_padded:
            around = properties.get("cell-padding", around)
        inner[COLUMNS] = columns(inner, own, around)
        ledger = compiler.totals.open(inner)
        inner[LEDGER] = ledger
        colors = stripe.read(scope) or properties.get("stripe") or ()
        made: dict[str, list[Any]] = {"captions": [], "heads": [], "bodies": [], "feet": []}
        parts = zip(made, (captions, heads, bodies, feet), strict=True)
        for name, part in parts:
            part.build(inner, own, made[name])
        if ledger is not None:
            ledger.close(scope)
        out.append(
            Table(
                source(scope),
                own.style,
                inner[COLUMNS].columns,
                tuple(made["heads"]),
                tuple(made["bodies"]),
                tuple(made["feet"]),
                tuple(find_color(sheet, color, scope, element.place) for color in colors),
                () if ledger is None else ledger.totals,
                tuple(made["captions"]),
                read_id(identity, scope),
            )
        )

    return Part(build, is_static=False)


class _TableCompiler:
    """Compiles the parts of one table, which share its columns and its totals."""

    def __init__(self, element: Element, context: Context, compile_blocks: CompileBlocks) -> None:
        self.element = element
        self.compile_blocks = compile_blocks
        self.context = context
        self.totals = TotalsCompiler(element, context)
        self.in_rows = replace(context, totals=self.totals.known_in(context, IN_ROWS))
        self.in_pieces = replace(
            context, totals=self.totals.known_in(context, IN_PIECES), is_page_time=True
        )
        width = declared_width(element)
        rows = partial(RowCompiler, element, compile_blocks, self.totals, has_spans(element), width)
        self.body_rows, self.piece_rows = rows(is_body=True), rows(is_body=False)

    def captions(self) -> Part:
        """Compile the captions."""
        return in_order(
            [
                self._compile_caption(child)
                for child in self.element.elements()
                if child.tag == "caption"
            ]
        )

    def _compile_caption(self, element: Element) -> Part:
        on = On(self.context.value(element, "on"))
        inner = self.compile_blocks((element,), self.context, owner=self.element)

        def build(scope: Scope, parent: Look, out: list[Any]) -> None:
            blocks: list[Any] = []
            inner.build(scope, parent, blocks)
            out += [Caption(block, on) for block in blocks]

        return Part(build, is_static=False)

    def sections(self, tag: str) -> Part:
        """Compile the theads or tfoots."""
        return in_order(
            [
                self.in_pieces.controlled(child, self._compile_section)
                for child in self.element.elements()
                if child.tag == tag
            ]
        )

    def _compile_section(self, element: Element, context: Context) -> Part:
        look = context.look(element)
        source = source_at(element.place)
        used: set[str] = set()
        rows = self.piece_rows.rows(element, replace(context, used=used))
        is_static = not used & _PIECE_TIME
        context.used.update(used)
        on = On(context.value(element, "on"))

        def build(scope: Scope, parent: Look, out: list[Any]) -> None:
            own, properties = look.resolve(scope, parent)
            inner = new_covered(self.piece_rows, narrow(look.enter(scope), used))
            ledger: Ledger | None = scope[LEDGER]
            totals = () if ledger is None else ledger.totals
            pieces = PieceContent(rows, inner, own, totals, is_static=is_static)
            if scope[RUN].is_trial:
                pieces.try_out()
            # Told by identity: an author may ask for a rule of the same look.
            is_built_in = properties.get(_RULE) is BUILT_IN["thead"][_RULE]
            out.append(RowGroup(source(scope), own.style, on, pieces, is_built_in))

        return Part(build, is_static=False)

    def bodies(self) -> Part:
        """Compile the tbodies; rows directly in the table stand in an unnamed one."""
        parts: list[Part] = []
        loose: list[Element] = []
        for child in self.element.elements():
            if child.tag == "let":
                parts += [*self._close_rows(loose), compile_let(child, self.in_rows)]
                loose = []
                self.in_rows = self.in_rows.knowing(child.attributes.get("name", ""))
            elif child.tag == "tr" or (child.tag == "group" and _holds_rows(child)):
                loose.append(child)
            elif child.tag in ("tbody", "group"):
                parts += self._close_rows(loose)
                loose = []
                parts.append(self.in_rows.controlled(child, self._compile_body))
        return in_order([*parts, *self._close_rows(loose)])

    def _close_rows(self, rows: Sequence[Element]) -> list[Part]:
        if not rows:
            return []
        part = in_order([self.body_rows.row_or_group(row, self.in_rows) for row in rows])
        source, sheet = source_at(self.element.place), self.context.sheet

        def build(scope: Scope, parent: Look, out: list[Any]) -> None:
            look = sheet.compute(parent, NO_PROPERTIES, in_table=True)
            rows = self._build_rows(part, scope, look)
            out.append(TableBody(source(scope), look.style, rows))

        return [Part(build, is_static=False)]

    def _compile_body(self, element: Element, context: Context) -> Part:
        if element.tag == "group":
            children = [
                child for child in element.elements() if child.tag in ("tbody", "group", "let")
            ]
            return compile_with_lets(
                children, context, lambda child, inner: inner.controlled(child, self._compile_body)
            )
        look = context.look(element)
        source = source_at(element.place)
        part = self.body_rows.rows(element, context)

        def build(scope: Scope, parent: Look, out: list[Any]) -> None:
            own = look.find(scope, parent)
            rows = self._build_rows(part, look.enter(scope), own)
            out.append(TableBody(source(scope), own.style, rows))

        return Part(build, is_static=False)

    def _build_rows(self, part: Part, scope: Scope, look: Look) -> list[TableRow]:
        inner = new_covered(self.body_rows, scope)
        made: list[TableRow] = []
        part.build(inner, look, made)
        close_covered(inner)
        return made


class PieceContent:
    """Head or foot rows, evaluated for each piece of the table; static ones once."""

    __slots__ = ("_look", "_made", "_rows", "_scope", "_totals", "is_static")

    def __init__(
        self,
        rows: Part,
        scope: Scope,
        look: Look,
        totals: tuple[Total, ...],
        *,
        is_static: bool,
    ) -> None:
        self._rows = rows
        self._scope = scope
        self._look = look
        self._totals = totals
        self._made: tuple[TableRow, ...] | None = None
        self.is_static = is_static

    def evaluate(self, values: PieceValues) -> tuple[TableRow, ...]:
        """Give the rows for one piece."""
        if self._made is not None:
            return self._made
        scope = {**self._scope, "page": page_record(values.page)}
        if self._totals:
            scope[TOTALS] = {**scope[TOTALS], **piece_record(self._totals, values)}
        made: list[TableRow] = []
        with localcontext(ARITHMETIC):
            self._rows.build(scope, self._look, made)
            close_covered(scope)
        rows = tuple(made)
        self._made = rows if self.is_static else None
        return rows

    def try_out(self) -> None:
        """Evaluate the rows where no pieces are made, for what is wrong in them."""
        starts = starts_of(self._totals)
        self.evaluate(PieceValues(starts, starts, starts, starts, TRIAL_PAGE))


def _holds_rows(group: Element) -> bool:
    return any(
        child.tag == "tr" or (child.tag == "group" and _holds_rows(child))
        for child in group.elements()
    )
