"""Tables: columns, totals, captions, and sections of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from workers.engine.syntax.nodes import Element
from workers.engine.syntax.vocabulary import read_attribute
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.attributes import ElementStyle
from workers.engine.tree.compiler.builders import (
    VALIDATION_PAGE,
    NodeBuilder,
    Nodes,
    collect,
    keep_used,
    page_record,
    repeat,
    sequence,
    source_maker,
)
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.compiler.control_flow import (
    compile_controlled,
    compile_in_groups,
    compile_with_lets,
    controlled,
    holds,
    join_loose,
)
from workers.engine.tree.elements.block_builder import BlockBuilder, Frame
from workers.engine.tree.elements.footnotes import check_notes_in_section, has_notes
from workers.engine.tree.elements.tables.columns import (
    IN_FRAGMENTS,
    IN_ROWS,
    TotalsCompiler,
    compile_columns,
    declared_width,
    fragment_record,
    initial_values,
)
from workers.engine.tree.elements.tables.rows import RowCompiler, build_section
from workers.engine.tree.expressions.environment import TOTALS
from workers.engine.tree.nodes import (
    Caption,
    Occurrence,
    Repeated,
    RowGroup,
    Table,
    TableBody,
    TableRow,
)
from workers.engine.tree.page_values import FragmentValues, Total
from workers.engine.tree.styles.cascade import BUILT_IN, ComputedStyle

_RULE: Final = "border-bottom"
_FRAGMENT_NAMES: Final = frozenset({"page", TOTALS})


def compile_table(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile a table."""
    compiler = _TableCompiler(element, context)
    is_padded = "cell-padding" in element.attributes
    columns = compile_columns(element, context)
    captions = compiler.captions()
    heads = compiler.sections("thead")
    bodies = compiler.compile_bodies(element, compiler.in_rows)
    feet = compiler.sections("tfoot")
    compiler.totals.finish(context)

    def make(frame: Frame) -> Table:
        own, properties = frame.computed, frame.properties
        inner = frame.enter().fork()
        stripe, around = frame.read()
        if not is_padded:
            around = properties.get("cell-padding", around)
        inner.columns = columns(inner, own, around)
        running = compiler.totals.open(inner)
        inner.running_totals = running
        colors = stripe or properties.get("stripe") or ()
        titles, tops, middles, bottoms = (
            collect(builder, inner, own) for builder in (captions, heads, bodies, feet)
        )
        running.close(frame.scope)
        return Table(
            frame.source,
            frame.style,
            inner.columns.columns,
            tops,
            middles,
            bottoms,
            tuple(map(frame.find_color, colors)),
            running.totals,
            titles,
            id=frame.read_id(),
        )

    return BlockBuilder(element, context, "stripe", "cell-padding", make=make)


class _TableCompiler:
    """Compiles the sections of one table, which share its columns and totals."""

    def __init__(self, element: Element, context: CompileContext) -> None:
        if context.is_in_figure:  # its caption is that of a table
            context = replace(context, is_in_figure=False)
        self.element = element
        self.context = context
        self.totals = TotalsCompiler(element, context)
        self.in_rows = replace(context, totals=self.totals.known_in(context, IN_ROWS))
        self.in_fragments = replace(
            context, totals=self.totals.known_in(context, IN_FRAGMENTS), is_page_time=True
        )
        width = declared_width(element)
        # A nested one counts too: rows that are not checked here are when they are built.
        has_spans = any("rowspan" in each.attributes for each in element.walk())
        rows = partial(RowCompiler, width, self.totals, has_spans)
        self.body_rows, self.fragment_rows = rows(is_body=True), rows(is_body=False)

    def captions(self) -> NodeBuilder:
        """Compile the captions."""
        return compile_in_groups(self.element, self.context, self._compile_caption, "caption")

    def _compile_caption(self, element: Element, context: CompileContext) -> NodeBuilder:
        on = Occurrence(read_attribute(element, "on"))
        inner = context.compile_blocks((element,), owner=self.element)

        def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
            out += [Caption(block, on) for block in collect(inner, scope, parent)]

        return build

    def sections(self, tag: str) -> NodeBuilder:
        """Compile the `thead`s or `tfoot`s."""
        compile_section = controlled(self._compile_section)
        return compile_in_groups(self.element, self.in_fragments, compile_section, tag)

    def _compile_section(self, element: Element, context: CompileContext) -> NodeBuilder:
        element_style = context.compile_style(element)
        source = source_maker(element.location)
        used: set[str] = set()
        rows = self.fragment_rows.rows(element, replace(context, used=used, takes_notes=True))
        is_static = not used & _FRAGMENT_NAMES
        context.used.update(used)
        on = Occurrence(read_attribute(element, "on"))
        first_or_last = Occurrence.FIRST if element.tag == "thead" else Occurrence.LAST
        takes_notes = is_static and on in (Occurrence.ALL, first_or_last)
        check_notes_in_section(element, context, is_printed_once=takes_notes)
        makes_notes = takes_notes and has_notes(element)

        def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
            own, properties = element_style.resolve(scope, parent)
            inner = keep_used(element_style.enter(scope), used)
            totals = scope.running_totals.totals
            content = repeat(
                partial(build_section, rows),
                *(inner, own, partial(_fragment_names, inner, totals)),
                is_static=is_static,
                is_once=makes_notes,
            )
            if makes_notes or scope.state.validator is not None:
                _evaluate_early(content, scope, totals)
            # Compared by identity: an author may declare an equal rule.
            is_built_in = properties.get(_RULE) is BUILT_IN["thead"][_RULE]
            out.append(RowGroup(source(scope), own.style, on, content, is_built_in))

        return build

    def compile_bodies(self, parent: Element, context: CompileContext) -> NodeBuilder:
        """Compile the bodies in the table, or in a group of bodies; loose rows form an anonymous one."""
        children = [
            child
            for child in parent.elements()
            if child.tag in ("let", "tbody", "tr") or holds(child, "tbody", "tr")
        ]
        return compile_with_lets(join_loose(children, _is_loose), context, self._compile_part)

    def _compile_part(self, part: Element | list[Element], context: CompileContext) -> NodeBuilder:
        if not isinstance(part, Element):
            rows = sequence([self.body_rows.row_or_group(row, context) for row in part])
            return self._make_body(self.element, None, rows)
        compile_inner = self.compile_bodies if part.tag == "group" else self._compile_body
        return compile_controlled(part, context, compile_inner)

    def _compile_body(self, element: Element, context: CompileContext) -> NodeBuilder:
        style = context.compile_style(element)
        return self._make_body(element, style, self.body_rows.rows(element, context))

    def _make_body(
        self, element: Element, style: ElementStyle | None, rows: NodeBuilder
    ) -> NodeBuilder:
        source, sheet = source_maker(element.location), self.context.sheet
        builder = partial(build_section, rows)

        def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
            if style is None:
                own, inner = sheet.compute_anonymous(parent, in_table=True), scope
            else:
                own, inner = style.compute(scope, parent), style.enter(scope)
            out.append(TableBody(source(scope), own.style, collect(builder, inner, own)))

        return build


def _fragment_names(
    scope: Scope, totals: Sequence[Total], values: FragmentValues
) -> dict[str, object]:
    """Return the names that heads and feet read."""
    names: dict[str, object] = {"page": page_record(values.page)}
    if totals:
        names[TOTALS] = {**scope.names[TOTALS], **fragment_record(totals, values)}
    return names


def _evaluate_early(
    rows: Repeated[FragmentValues, TableRow], scope: Scope, totals: Sequence[Total]
) -> None:
    """Evaluate the rows once without a layout, for the errors and notes in them."""
    starts = initial_values(totals)
    terms = scope.state.rendered_terms
    was_paused = terms.is_paused
    terms.is_paused = was_paused or bool(totals)
    rows.evaluate(FragmentValues(starts, starts, starts, starts, VALIDATION_PAGE))
    terms.is_paused = was_paused


def _is_loose(child: Element) -> bool:
    """Return whether a child of a table is a row, or a group of rows."""
    return child.tag == "tr" or (holds(child, "tr") and not holds(child, "tbody"))
