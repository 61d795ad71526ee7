"""Blocks: children of an element that holds blocks, and those elements that have no module.

An `address` is a box in the window of an envelope; a flow fills pages, or is put in place by `insert`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from enum import Enum
from itertools import count, groupby
from typing import Final

from workers.engine.syntax.address_windows import ADDRESS_WINDOWS
from workers.engine.syntax.element_checks import is_positioned
from workers.engine.syntax.nodes import Element, Text
from workers.engine.syntax.vocabulary import BLOCKS, INLINE
from workers.engine.tree import nodes
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.builders import EMPTY, NodeBuilder, Nodes, sequence, source_maker
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.compiler.control_flow import (
    compile_controlled,
    compile_in_groups,
    compile_with_lets,
    controlled,
    join_loose,
)
from workers.engine.tree.elements import footnotes, markdown
from workers.engine.tree.elements.block_builder import (
    BlockBuilder,
    Frame,
    block,
    compile_columns,
    compile_floating,
    compile_position,
    make_box,
)
from workers.engine.tree.elements.charts import FIGURES
from workers.engine.tree.elements.composed import compile_content
from workers.engine.tree.elements.inlines import FORMATTING, collect_inlines, compile_inlines
from workers.engine.tree.elements.paragraphs import (
    _PARAGRAPH_ROLES,
    ParagraphBuilder,
    make_extras,
    style_for,
)
from workers.engine.tree.elements.payment_slips import compile_payment_slip, compile_qr_bill
from workers.engine.tree.elements.tables import tables
from workers.engine.tree.expressions.grammar import TextTemplate
from workers.engine.tree.references.counters import CHECK_BOXES, format_marker
from workers.engine.tree.styles.cascade import ComputedStyle, StyleSheet
from workers.engine.tree.styles.computed import BreakTo
from workers.engine.units import (
    BLACK,
    NO_BORDER,
    Border,
    BorderStyle,
    Length,
    LengthKind,
    Sides,
    mm,
)

MAX_INSERT_DEPTH: Final = 32


def compile_insert(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile an `insert` of a flow."""
    name, findings = element.attributes.get("flow", ""), context.findings
    if "{{" in name:
        message = "The flow of insert is a name, not an expression"
        findings.error("wrong-value", message, element.location)
        return EMPTY
    if name in context.insertion_path:
        path = " → ".join((*context.insertion_path, name))
        findings.error("flow-cycle", f"The flows insert each other: {path}", element.location)
        return EMPTY
    if name not in context.flows:  # reported by the checks
        return EMPTY
    compiled = compile_flow(name, context)
    needs_box = not element.attributes.keys() <= {"flow", "for", "if", "lang"}
    if needs_box:
        boxed = BlockBuilder(element, context, make=make_box, inner=compiled)
    common = BlockBuilder(element, context)
    has_lang = "lang" in element.attributes

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        scope.state.count_iterations(1, element.location)
        if needs_box:
            boxed(scope, parent, out)
            return
        frame = common.open(scope, parent)
        compiled(frame.enter(), frame.computed if has_lang else parent, out)

    return build


def compile_flow(name: str, context: CompileContext) -> NodeBuilder:
    """Compile a flow's content, which may use the names where it is inserted."""
    element = context.flows[name]
    inner_context = replace(
        context, insertion_path=(*context.insertion_path, name), is_in_list=False
    )
    if len(inner_context.insertion_path) > MAX_INSERT_DEPTH:
        context.findings.error(
            "flow-cycle", "Flows are inserted more than 32 deep", element.location
        )
        return EMPTY
    element_style = context.compile_style(element)
    inner = _compile_flow_once(element, inner_context)
    is_poured = context.features.has_notes and not context.insertion_path

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        own = element_style.compute(scope, parent)
        inner(scope.enter(note_parent=own) if is_poured else scope, own, out)

    return build


def compile_unused(builder: Element, context: CompileContext) -> None:
    """Compile a part that nothing uses, for the errors in it, unless it is of a table or list."""
    if all(
        child.tag in BLOCKS | INLINE for used in builder.elements() for child in used.elements()
    ):
        context.compile_blocks(builder.children, owner=builder)


def _compile_flow_once(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile a flow's blocks once for all places that know the same names."""
    name = element.attributes.get("name", "body")
    names = frozenset(context.names.items())
    key = (name, names, context.is_page_time, context.is_in_note, context.takes_notes)
    found = context.compiled_flows.get(key)
    if found is None:
        own = replace(context, used=set())
        builder = own.compile_blocks(element.children, owner=element)
        found = context.compiled_flows[key] = (builder, frozenset(own.used))
    builder, used = found
    context.used.update(used)
    return builder


_OF_ADDRESS: Final = ("lower", "upper", "inset", "sender", "remarks", "lines")


def compile_address(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile an `address`: a box where its standard has the window, with the lines of the address."""
    location = element.location
    value, remarks = (
        context.compile_expression(element.attributes.get(name, "none"), location)
        for name in ("value", "remarks")
    )
    content = compile_content(element, context, *_OF_ADDRESS)

    def make(frame: Frame) -> nodes.Container | None:
        standard, sender, has_marks = frame.read()
        if standard is None:  # reported before
            return None
        window, scope = ADDRESS_WINDOWS[standard], frame.scope
        lines, above = _read_lines(value.evaluate(scope)), _read_lines(remarks.evaluate(scope))
        if len(lines) > window.lines:
            frame.state.findings.warn(
                "address-lines",
                f"The address has {len(lines)} lines, {standard} allows {window.lines}: join some of "
                f"them{nodes.describe_loops(scope.loop)}",
                location,
            )
        measures = (window.height - window.remarks, window.remarks, window.inset)
        shown = (*(Decimal(str(round(each, 3))) for each in measures), sender, above, lines)
        blocks = content(scope, frame.computed, dict(zip(_OF_ADDRESS, shown, strict=True)))
        place = nodes.Position(Length(mm(window.top)), None, None, Length(mm(window.left)))
        envelope = nodes.Envelope(standard, window, has_marks)
        width = {"width": Length(mm(window.width))}
        style = context.sheet.compute(frame.computed, width).style
        box = frame.box(blocks, frame.read_id())
        return replace(box, style=style, position=place, is_box=True, envelope=envelope)

    return BlockBuilder(element, context, "standard", "sender", "fold-marks", make=make)


def _read_lines(value: object) -> list[str]:
    """Return the lines of a text, or of lists in each other, without blank ones as postal rules ask."""
    if isinstance(value, list | tuple):
        return [line for entry in value for line in _read_lines(entry)]
    text = "" if value is None else str(value)
    return [line.strip() for line in text.splitlines() if line.strip()]


def compile_list(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile an `ul` or `ol`."""
    items = compile_in_groups(element, context, controlled(_compile_item), "li")
    is_given = "list-style-type" in element.attributes
    names = ("list-style-type", "start") if element.tag == "ol" else ("list-style-type",)

    def make(frame: Frame) -> nodes.ListBlock:
        own, *start = frame.read()
        style = own if is_given else frame.properties.get("list-style-type", own)
        made = frame.inside(markers=(style, count(*start or (1,))))
        return nodes.ListBlock(frame.source, frame.style, made, style, id=frame.read_id())

    return BlockBuilder(element, context, *names, make=make, inner=items)


def _compile_item(element: Element, context: CompileContext) -> NodeBuilder:
    inner = replace(context, is_in_list=True).compile_blocks(element.children, owner=element)

    def make(frame: Frame) -> nodes.ListItem:
        style, numbers = frame.scope.markers
        blocks, own_id = frame.inside(), frame.read_id()
        (checked,) = frame.read()
        marker = CHECK_BOXES.get(checked) or format_marker(style, next(numbers))
        return nodes.ListItem(frame.source, frame.style, marker, blocks, id=own_id)

    return BlockBuilder(element, context, "checked", make=make, inner=inner)


_CONTENTS: Final = tuple(f"toc-{level}" for level in range(1, 7))
_INDEX: Final = tuple(f"index-{level}" for level in range(1, 4))
_LETTER: Final = "index-letter"  # lies over index-1


@block("levels", "of", "leader")
def _make_contents(frame: Frame) -> nodes.Contents:
    (first, last), kind, leader = frame.read()
    entries = tuple(map(frame.anonymous, _CONTENTS))
    own_id = frame.read_id()
    contents = nodes.Contents(
        frame.source, frame.style, kind, first, last, leader, entries, id=own_id
    )
    frame.state.references.contents.append(contents)
    return contents


@block()
def _make_index(frame: Frame) -> nodes.Index:
    styles = (*map(frame.anonymous, _INDEX), frame.anonymous(_INDEX[0], _LETTER))
    index = nodes.Index(frame.source, frame.style, styles, id=frame.read_id())
    frame.state.references.add_index(index, frame.style.text.lang)
    return index


_ANCHORS: Final = frozenset({"mark", "running"})
_NO_BLOCKS: Final = _ANCHORS | FIGURES.keys()
_GRID_ATTRIBUTES: Final = (
    *("grid-template-columns", "grid-auto-rows", "grid-auto-flow"),
    *("column-gap", "row-gap", "skip"),
)
_INLINE_TAGS: Final = FORMATTING | {"a", "br", "ref", "footnote"}


def compile_blocks(
    children: Sequence[Element | Text], context: CompileContext, *, owner: Element
) -> NodeBuilder:
    """Compile children where blocks are allowed; loose text becomes anonymous paragraphs."""

    def compile_part(part: Element | list[Element | Text], inner: CompileContext) -> NodeBuilder:
        if isinstance(part, Element):
            return compile_controlled(part, inner, _compile_element)
        return _compile_loose_run(part, inner, owner)

    return compile_with_lets(join_loose(children, _is_loose), context, compile_part)


def _is_loose(child: Element | Text) -> bool:
    return _find_placement(child) is not _Placement.BLOCK


# --- blocks and loose text ----------------------------------------------------------


class _Placement(Enum):
    """Whether a child is a block where both blocks and text are allowed."""

    BLOCK = "a block"
    LOOSE = "in a line"
    EITHER = "in a line if text is beside it, else a block"


def _find_placement(child: Element | Text) -> _Placement:
    if isinstance(child, Text):
        return _Placement.LOOSE if child.text.strip() else _Placement.EITHER
    if child.tag in _INLINE_TAGS:
        return _Placement.LOOSE
    if child.tag in _NO_BLOCKS:
        has_text = child.tag == "mark" and any(
            _find_placement(inner) is _Placement.LOOSE for inner in child.children
        )
        return _Placement.LOOSE if has_text else _Placement.EITHER
    if child.tag != "group":
        return _Placement.BLOCK
    inside = {_find_placement(inner) for inner in child.children}
    for standing in (_Placement.BLOCK, _Placement.LOOSE):
        if standing in inside:
            return standing
    return _Placement.EITHER


def _compile_loose_run(
    children: Sequence[Element | Text], context: CompileContext, owner: Element
) -> NodeBuilder:
    """Compile a run of loose content: a paragraph if it has text, else its figures and anchors."""
    if any(_find_placement(child) is _Placement.LOOSE for child in children):
        return _compile_loose(children, context, owner)
    return sequence(
        _compile_loose((child,), context, owner)
        if child.tag in _ANCHORS
        else compile_controlled(child, context, _compile_element)
        for child in children
        if isinstance(child, Element)
    )


def _compile_loose(
    children: Sequence[Element | Text], context: CompileContext, owner: Element
) -> NodeBuilder:
    inner = compile_inlines(children, context, owner=owner)
    source, sheet = source_maker(owner.location), context.sheet

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        inlines = collect_inlines(inner, scope, parent, owner.location)
        anchors = [each.name for each in inlines if isinstance(each, nodes.InlineAnchor)]
        if len(anchors) == len(inlines):  # nothing that takes a line
            out.extend(_make_anchor(name, source(scope), sheet, parent) for name in anchors)
        else:
            style = style_for(inlines, sheet.compute_anonymous(parent))
            extra = make_extras(None, inlines, context.features)
            out.append(
                nodes.Paragraph(source(scope), nodes.Role.P, style, inlines, None, None, extra)
            )

    return build


# --- elements -------------------------------------------------------------------------------------------


def _compile_element(element: Element, context: CompileContext) -> NodeBuilder:
    compile_tag = _COMPILERS.get(element.tag)  # None is reported by the checks
    return EMPTY if compile_tag is None else compile_tag(element, context)


_CONTAINERS: Final = frozenset({"div", "box", "figure", "blockquote"})


def _compile_container(element: Element, context: CompileContext) -> NodeBuilder:
    outer, tag = context, element.tag
    role = nodes.Role.BLOCK_QUOTE if tag == "blockquote" else nodes.Role.DIV
    place = compile_position(element, context) if is_positioned(element) else None
    # On a box the checks report the attribute; compiling must not fail before they do.
    is_columned = tag == "div" and "columns" in element.attributes
    columns = compile_columns(element, context) if is_columned else None
    floating = None
    if tag == "figure":
        floating = compile_floating(element, context)
        context = replace(context, is_in_figure=True)
    inner = context.compile_blocks(element.children, owner=element)

    def make(frame: Frame) -> nodes.Container:
        scope, computed, name = frame.scope, frame.computed, frame.read_id()
        blocks = frame.inside(figure_id=name) if tag == "figure" else frame.inside()
        columned = columns(scope, computed) if columns else None
        if columned is not None and any(map(_spans_columns, blocks)):
            plain = frame.box((), None, frame.anonymous())
            blocks, columned = tuple(_split_columns(blocks, plain, columned)), None
        return nodes.Container(
            frame.source,
            role,
            frame.style,
            blocks,
            place(scope, computed) if place else None,
            name,
            tag == "box",
            columned,
            floating(scope) if floating else None,
        )

    return BlockBuilder(element, outer, make=make, inner=inner)


def _spans_columns(block: nodes.Block) -> bool:
    while isinstance(block, nodes.Container) and len(block.children) == 1:
        block = block.children[0]
    extra = block.extra if isinstance(block, nodes.Paragraph) else None
    return extra is not None and extra.spans_columns


def _split_columns(
    blocks: Iterable[nodes.Block], plain: nodes.Container, columns: nodes.ColumnLayout
) -> Iterator[nodes.Block]:
    """Yield the headings that span columns, and containers in columns between them.

    Those above a heading are balanced, whatever the last ones are (CSS Multi-column 1, 6.1).
    """
    groups = [(spans, tuple(group)) for spans, group in groupby(blocks, _spans_columns)]
    for number, (spans, group) in enumerate(groups, 1):
        if spans:
            yield from group
            continue
        is_balanced = columns.is_balanced or number < len(groups)
        inner = replace(columns, is_balanced=is_balanced)
        yield replace(plain, children=group, columns=inner)


@block("gap", "align-items", holds_blocks=True)
def _make_row(frame: Frame) -> nodes.Row:
    blocks = frame.inside()
    gap, align = frame.read()
    points = frame.to_points(gap)
    return nodes.Row(frame.source, frame.style, blocks, points, align, id=frame.read_id())


@block(*_GRID_ATTRIBUTES, holds_blocks=True)
def _make_grid(frame: Frame) -> nodes.Grid:
    """Make a grid; each block in it takes one cell."""
    tracks, rows, direction, column_gap, row_gap, skip = frame.read()
    height = frame.to_length(rows)
    fills_columns = direction == "column"
    if fills_columns and height.kind is LengthKind.AUTO:
        message = (
            "A grid that fills its columns first needs rows of one height: give it grid-auto-rows"
        )
        frame.state.findings.error("grid-rows", message, frame.location)
    return nodes.Grid(
        frame.source,
        frame.style,
        frame.inside(),
        tuple(map(frame.to_length, tracks or ())),
        None if height.kind is LengthKind.AUTO else height.value,
        frame.to_points(column_gap),
        frame.to_points(row_gap),
        skip,
        fills_columns,
        id=frame.read_id(),
    )


@block()
def _make_rule(frame: Frame) -> nodes.Rule:
    style = frame.style
    line = style.box.border.top
    if line is NO_BORDER or not line.width:
        line = Border(0.5, BorderStyle.SOLID, BLACK)
    no_top = Sides(NO_BORDER, *style.box.border[1:])
    style = replace(style, box=replace(style.box, border=no_top))  # the line itself is the rule
    return nodes.Rule(frame.source, style, line, id=frame.read_id())


def _compile_break(element: Element, context: CompileContext) -> NodeBuilder:
    to, need = context.compile_attributes(element, "to", "need")
    source, sheet = source_maker(element.location), context.sheet

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        least = need.read(scope)
        points = None if least is None else sheet.to_points(least, parent)
        style = sheet.compute_anonymous(parent).style
        out.append(nodes.Break(source(scope), style, to.read(scope), points))

    return build


# --- groups, values, conditions, flows --------------------------------------------------------------------


def _compile_group(element: Element, context: CompileContext) -> NodeBuilder:
    inner = context.compile_blocks(element.children, owner=element)
    if not {"class", "lang", "id"} & element.attributes.keys():
        return inner
    common, sheet = BlockBuilder(element, context, inner=inner), context.sheet

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        frame = common.open(scope, parent)
        name, blocks = frame.read_id(), frame.inside()
        if name is not None:
            blocks = (frame.box(blocks, name, sheet.compute_anonymous(parent)),)
            frame.state.references.add_blocks(name, blocks)
        out += blocks

    return build


def compile_assertion(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile an `assert`, which reports a finding if its test fails."""
    return compile_controlled(element, context, _compile_test)


def _compile_test(element: Element, context: CompileContext) -> NodeBuilder:
    test = context.compile_expression(element.attributes.get("test", "true"), element.location)
    written = element.attributes.get("test", "")[:80]
    stated = element.attributes.get("message")
    parts = (f"The condition does not hold: {written}",)
    template = (
        TextTemplate(parts) if stated is None else context.parse_template(stated, element.location)
    )
    message = context.compile_text(template, element.location)
    is_warning = element.attributes.get("severity") == "warning"

    def build(scope: Scope, _parent: ComputedStyle, _out: Nodes) -> None:
        findings = scope.state.findings
        holds, is_sound = test.try_evaluate(scope)
        if is_sound and not holds:
            report = findings.warn if is_warning else findings.error
            report("assert", message.evaluate(scope), element.location)

    return build


def _make_anchor(
    name: str, source: nodes.Source, sheet: StyleSheet, parent: ComputedStyle
) -> nodes.Container:
    """Return an anchor among blocks, without height and kept with the block after it."""
    style = sheet.compute_anonymous(parent).style
    style = replace(style, breaks=replace(style.breaks, after=BreakTo.AVOID))
    return nodes.Container(source, nodes.Role.DIV, style, (), None, name)


_Compile = Callable[[Element, CompileContext], NodeBuilder]
_COMPILERS: Final[dict[str, _Compile]] = {
    **dict.fromkeys(("p", *_PARAGRAPH_ROLES), ParagraphBuilder),
    **dict.fromkeys(_CONTAINERS, _compile_container),
    **dict.fromkeys(("ul", "ol"), compile_list),
    "row": _make_row,
    "hr": _make_rule,
    "break": _compile_break,
    **FIGURES,
    "qr-bill": compile_qr_bill,
    "payment-slip": compile_payment_slip,
    "address": compile_address,
    "grid": _make_grid,
    "markdown": markdown.compile_markdown,
    "table": tables.compile_table,
    "group": _compile_group,
    "assert": _compile_test,
    "toc": _make_contents,
    "index": _make_index,
    "endnotes": footnotes.compile_endnotes,
    "insert": compile_insert,
}
