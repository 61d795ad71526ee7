"""Blocks: paragraphs, headings, boxes, rows, lists, rules, breaks, and content put in place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any, Final

from workers.engine.diagnostics import Place
from workers.engine.syntax.nodes import Element, MarkdownElement, Text
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree import contents, figures, grids, markdown, tables
from workers.engine.tree.cascade import Look
from workers.engine.tree.compiler import (
    Attribute,
    Build,
    Context,
    ElementLook,
    Part,
    in_order,
    remembering,
    source_at,
)
from workers.engine.tree.figures import read_id
from workers.engine.tree.gathered import HEADINGS, TABLE, Gathered, Uses
from workers.engine.tree.inlines import MARKS, compile_inlines, compile_spot, gather
from workers.engine.tree.lets import compile_let, keep_names
from workers.engine.tree.nodes import (
    Block,
    Break,
    Container,
    Extra,
    Inline,
    Label,
    ListBlock,
    ListItem,
    Paragraph,
    Reference,
    Role,
    Row,
    Rule,
    Source,
    Spot,
)
from workers.engine.tree.nodes import Run as TextRun
from workers.engine.tree.numbering import CHECK_BOXES, write_marker
from workers.engine.tree.positions import (
    compile_columns,
    compile_position,
    is_placed_alike,
    is_positioned,
)
from workers.engine.tree.run import LOOP, RUN, Evaluation, Run
from workers.engine.tree.runtime import Scope
from workers.engine.tree.styles import BreakTo, Numbering
from workers.engine.units import BLACK, NO_BORDER, Border, BorderStyle, Sides

MAX_INSERT_DEPTH: Final = 32
# While the items of a list are built, the scope leads to the kind of markers and the first number.
_MARKERS: Final = "#markers"
_FIGURES: Final = frozenset({"img", "barcode"})
_NO_BLOCKS: Final = frozenset({*_FIGURES, "mark"})
_INLINE_TAGS: Final = MARKS | {"a", "br", "ref"}
_COUNTED: Final = "counter-set"  # of every element that may count


def compile_blocks(children: Sequence[Element | Text], context: Context, *, owner: Element) -> Part:
    """Compile children where blocks may stand; loose text and marks become unnamed paragraphs."""
    parts: list[Part] = []
    loose: list[Element | Text] = []
    has_names = False
    for child in children:
        if _standing(child) is _Standing.BLOCK:
            parts += _close_loose(loose, context, owner)
            loose = []
            assert isinstance(child, Element)
            if child.tag == "let":
                has_names = True
                parts.append(compile_let(child, context))
                context = context.knowing(child.attributes.get("name", ""))
            else:
                parts.append(context.controlled(child, _compile_element))
        else:
            loose.append(child)
    parts += _close_loose(loose, context, owner)
    part = remembering(parts)
    return keep_names(part) if has_names else part


# --- what is a block, and what is loose text ----------------------------------------------------------


class _Standing(Enum):
    """How a child stands where both blocks and text may."""

    BLOCK = "a block"
    LOOSE = "in a line"
    EITHER = "in a line if text is beside it, else a block"


def _standing(child: Element | Text) -> _Standing:
    if isinstance(child, Text):
        return _Standing.LOOSE if child.text.strip() else _Standing.EITHER
    if child.tag in _INLINE_TAGS:
        return _Standing.LOOSE
    if child.tag in _NO_BLOCKS:
        has_text = child.tag == "mark" and any(
            _standing(inner) is _Standing.LOOSE for inner in child.children
        )
        return _Standing.LOOSE if has_text else _Standing.EITHER
    if child.tag != "group":
        return _Standing.BLOCK
    inside = {_standing(inner) for inner in child.children}
    for standing in (_Standing.BLOCK, _Standing.LOOSE):
        if standing in inside:
            return standing
    return _Standing.EITHER


def _close_loose(
    children: Sequence[Element | Text], context: Context, owner: Element
) -> list[Part]:
    """Compile a run of loose content: one paragraph if there is text in it, else its figures."""
    if any(_standing(child) is _Standing.LOOSE for child in children):
        return [_compile_loose(children, context, owner)]
    return [
        context.controlled(child, _compile_element)
        for child in children
        if isinstance(child, Element)
    ]


def _compile_loose(children: Sequence[Element | Text], context: Context, owner: Element) -> Part:
    inner = compile_inlines(children, context, owner=owner)
    source, sheet = source_at(owner.place), context.sheet

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        names: list[str] = []
        inlines = gather(inner.build, scope, parent, names, owner.place)
        if inlines:
            look = sheet.anonymous(parent)
            first = names[0] if names else None
            extra = _extra_of(None, inlines, context.uses)
            paragraph = Paragraph(source(scope), Role.P, look.style, inlines, None, first, extra)
            out.append(_with_names(paragraph, names[1:], look))

    return Part(build, inner.is_static)


# --- elements -------------------------------------------------------------------------------------------


def _compile_element(element: Element, context: Context) -> Part:
    compile_tag = _COMPILERS.get(element.tag)
    if compile_tag is None:  # told by the checks of the text
        return in_order(())
    part = compile_tag(element, context)
    if context.uses.counters and element.tag not in _NUMBERED:
        return _counting(element, context, part)
    return part


def _counting(element: Element, context: Context, part: Part) -> Part:
    """Make an element that shows no number set the counters that it states."""
    if _COUNTED not in ELEMENTS[element.tag].attributes or context.is_page_time:
        return part
    look = context.look(element)
    if not look.may_count:
        return part

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        numbering = look.find(scope, parent).style.numbering
        if numbering is not None:
            scope[RUN].count_number(numbering, element.place, is_shown=False)
        part.build(scope, parent, out)

    return Part(build, is_static=False)


class _Common:
    """What every block has: its source, look, id, and whether all of them are the same each time."""

    __slots__ = ("identity", "look", "plain", "slug")

    def __init__(self, element: Element, context: Context) -> None:
        self.look: ElementLook = context.look(element)
        self.identity: Attribute[str | None] = context.attribute(element, "id")
        self.plain = Source(element.place)
        self.slug = element.slug if isinstance(element, MarkdownElement) else ""

    @property
    def is_static(self) -> bool:
        """Tell whether the block is the same for all data as far as this goes."""
        is_named = bool(self.slug) or self.identity.constant is not None
        return self.look.is_static and self.identity.is_static and not is_named

    def source(self, scope: Scope) -> Source:
        """Return the source of a node: one for all where no loop is around."""
        loop = scope[LOOP]
        return Source(self.plain.place, loop) if loop else self.plain

    def read_id(self, scope: Scope) -> str | None:
        """Give the element's id, noted in the run."""
        if self.slug:
            run: Run = scope[RUN]
            return run.note_fragment(self.slug, scope, self.plain.place)
        if self.identity.is_static and self.identity.constant is None:
            return None
        return read_id(self.identity, scope)


_HEADINGS: Final = {
    "h1": Role.H1, "h2": Role.H2, "h3": Role.H3, "h4": Role.H4, "h5": Role.H5, "h6": Role.H6,
}  # fmt: skip

_NUMBERED: Final = frozenset({"p", *_HEADINGS, "caption"})  # these count as they are built
_PARAGRAPHS: Final = {**_HEADINGS, "pre": Role.CODE, "caption": Role.CAPTION}


def _compile_paragraph(element: Element, context: Context) -> Part:
    made = _Paragraph(element, context)
    inner = compile_inlines(element.children, context, owner=element)
    made.inner = inner.build
    outline = made.outline
    is_static = made.is_static and inner.is_static and not made.look.may_count
    is_listed = made.kind in context.uses.titles
    return Part(made, is_static and not is_listed and (outline is None or outline.is_static))


class _Paragraph(_Common):
    """Builds a paragraph. An object and no function: a document may have half a million."""

    __slots__ = ("inner", "kind", "outline", "repeats", "role", "sheet", "uses")
    inner: Build

    def __init__(self, element: Element, context: Context) -> None:
        super().__init__(element, context)
        is_heading = element.tag in _HEADINGS
        self.role = _PARAGRAPHS.get(element.tag, Role.P)
        self.outline = context.attribute(element, "outline") if is_heading else None
        self.sheet = context.sheet
        self.uses = context.uses
        self.repeats = context.is_page_time  # on pages or in heads of tables, where nothing counts
        self.kind = HEADINGS if is_heading else TABLE if element.tag == "caption" else ""

    def __call__(self, scope: Scope, parent: Look, out: list[Any]) -> None:
        look = self.look.find(scope, parent)
        names = [name for name in (self.read_id(scope),) if name is not None]
        numbering = look.style.numbering
        label = self._number(numbering, scope) if numbering and not self.repeats else None
        own = len(names)
        inlines = gather(self.inner, self.look.enter(scope), look, names, self.plain.place)
        outline = self.outline
        entry = None
        if outline is not None and outline.read(scope):
            entry = _text_of(inlines)
            if label is not None:
                entry = f"{label.text.strip()} {entry}".rstrip()
        gathers = self.uses.gathers and not self.repeats
        if gathers and self.kind in self.uses.titles and not names:
            names = [scope[RUN].gathered.make_name()]
        first = names[0] if names else None
        source = self.source(scope)
        extra = _extra_of(label, inlines, self.uses)
        made = Paragraph(source, self.role, look.style, inlines, entry or None, first, extra)
        if gathers:
            self._note(made, scope[RUN].gathered, names[:own])
        others = names[1:]
        out.append(_with_names(made, others, self.sheet.anonymous(parent)) if others else made)

    def _number(self, numbering: Numbering, scope: Scope) -> Label | None:
        """Count the paragraph; return the number in front of it."""
        run: Run = scope[RUN]
        number = run.count_number(numbering, self.plain.place)
        return None if number is None else Label(number, numbering.width)

    def _note(self, made: Paragraph, gathered: Gathered, names: Iterable[str]) -> None:
        """Note the paragraph for what looks elsewhere in the document."""
        label = made.extra.label if made.extra else None
        for name in names:
            gathered.note_named(name, label.text if label else "", made.inlines)
        if self.kind and (made.outline is not None or self.outline is None):
            gathered.note_title(self.kind, made)


def _extra_of(label: Label | None, inlines: tuple[Inline, ...], uses: Uses) -> Extra | None:
    """Return what few paragraphs have, None for most."""
    refers = uses.has_references and any(isinstance(each, Reference) for each in inlines)
    return Extra(label, None, refers) if label is not None or refers else None


def _with_names(block: Block, names: Iterable[str], look: Look) -> Block:
    """Put further ids of a paragraph's marks around it: links to them lead to the paragraph."""
    for name in names:
        block = Container(block.source, Role.DIV, look.style, (block,), None, name)
    return block


def _text_of(inlines: Iterable[Inline]) -> str:
    texts = [
        inline.text if isinstance(inline, TextRun) else " "
        for inline in inlines
        if not isinstance(inline, Spot)
    ]
    return " ".join("".join(texts).split())


_CONTAINERS: Final = {"div": Role.DIV, "box": Role.DIV, "blockquote": Role.BLOCK_QUOTE}


def _compile_container(element: Element, context: Context) -> Part:
    made = _Container(element, context)
    inner = compile_blocks(element.children, context, owner=element)
    made.inner = inner.build
    return Part(made, made.is_static and inner.is_static and is_placed_alike(element))


class _Container(_Common):
    """Builds a box of blocks."""

    __slots__ = ("columns", "inner", "is_box", "position", "role")
    inner: Build

    def __init__(self, element: Element, context: Context) -> None:
        super().__init__(element, context)
        self.role = _CONTAINERS[element.tag]
        self.position = compile_position(element, context) if is_positioned(element) else None
        # On a box the checks refuse the attribute; it must not stop the compiler before they tell it.
        is_columned = element.tag == "div" and "columns" in element.attributes
        self.columns = compile_columns(element, context) if is_columned else None
        self.is_box = element.tag == "box"

    def __call__(self, scope: Scope, parent: Look, out: list[Any]) -> None:
        look = self.look.find(scope, parent)
        blocks: list[Any] = []
        self.inner(self.look.enter(scope), look, blocks)
        out.append(
            Container(
                self.source(scope),
                self.role,
                look.style,
                tuple(blocks),
                self.position(scope, look) if self.position else None,
                self.read_id(scope),
                self.is_box,
                self.columns(scope, look) if self.columns else None,
            )
        )


def _compile_row(element: Element, context: Context) -> Part:
    common = _Common(element, context)
    gap, align = context.attribute(element, "gap"), context.attribute(element, "align-items")
    inner = compile_blocks(element.children, context, owner=element)
    sheet = context.sheet

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        look = common.look.find(scope, parent)
        blocks: list[Any] = []
        inner.build(common.look.enter(scope), look, blocks)
        out.append(
            Row(
                common.source(scope),
                look.style,
                tuple(blocks),
                sheet.to_points(gap.read(scope), look),
                align.read(scope),
                common.read_id(scope),
            )
        )

    return Part(build, common.is_static and inner.is_static and gap.is_static and align.is_static)


def _compile_rule(element: Element, context: Context) -> Part:
    common = _Common(element, context)

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        style = common.look.find(scope, parent).style
        line = style.box.border.top
        if line is NO_BORDER or not line.width:
            line = Border(0.5, BorderStyle.SOLID, BLACK)
        no_top = Sides(NO_BORDER, *style.box.border[1:])
        style = replace(style, box=replace(style.box, border=no_top))  # the line itself is the rule
        out.append(Rule(common.source(scope), style, line))

    return Part(build, common.is_static)


def _compile_break(element: Element, context: Context) -> Part:
    to, need = context.attribute(element, "to"), context.attribute(element, "need")
    source, sheet = source_at(element.place), context.sheet

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        least = need.read(scope)
        points = None if least is None else sheet.to_points(least, parent)
        out.append(Break(source(scope), to.read(scope), points))

    return Part(build, to.is_static and need.is_static)


# --- lists ----------------------------------------------------------------------------------------------


def _compile_list(element: Element, context: Context) -> Part:
    common = _Common(element, context)
    kind = context.attribute(element, "list-style-type")
    start = context.attribute(element, "start") if element.tag == "ol" else None
    items = _compile_items(element, context)
    is_given = "list-style-type" in element.attributes

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        look, properties = common.look.resolve(scope, parent)
        own = kind.read(scope)
        style = own if is_given else properties.get("list-style-type", own)
        first = 1 if start is None else start.read(scope)
        made: list[Any] = []
        items.build({**common.look.enter(scope), _MARKERS: (style, first)}, look, made)
        out.append(ListBlock(common.source(scope), look.style, tuple(made), common.read_id(scope)))

    is_static = common.is_static and items.is_static and kind.is_static
    return Part(build, is_static and (start is None or start.is_static))


def _compile_items(parent: Element, context: Context) -> Part:
    return in_order(
        context.controlled(child, _compile_item)
        for child in parent.elements()
        if child.tag in ("li", "group")
    )


def _compile_item(element: Element, context: Context) -> Part:
    if element.tag == "group":
        return _compile_items(element, context)
    made = _Item(element, context)
    inner = compile_blocks(element.children, replace(context, is_in_list=True), owner=element)
    made.inner = inner.build
    part = Part(made, made.is_static and inner.is_static and made.checked.is_static)
    return _counting(element, context, part) if context.uses.counters else part


class _Item(_Common):
    """Builds an item of a list."""

    __slots__ = ("checked", "inner")
    inner: Build

    def __init__(self, element: Element, context: Context) -> None:
        super().__init__(element, context)
        self.checked = context.attribute(element, "checked")

    def __call__(self, scope: Scope, parent: Look, out: list[Any]) -> None:
        look = self.look.find(scope, parent)
        kind, first = scope[_MARKERS]
        blocks: list[Any] = []
        self.inner(self.look.enter(scope), look, blocks)
        own_id = self.read_id(scope)
        marker = CHECK_BOXES.get(self.checked.read(scope)) or write_marker(kind, first + len(out))
        out.append(ListItem(self.source(scope), look.style, marker, tuple(blocks), own_id))


# --- groups, values, conditions, flows --------------------------------------------------------------------


def _compile_group(element: Element, context: Context) -> Part:
    inner = compile_blocks(element.children, context, owner=element)
    if not {"class", "lang", "id"} & element.attributes.keys():
        return inner
    common, sheet = _Common(element, context), context.sheet

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        look = common.look.find(scope, parent)
        name = common.read_id(scope)
        blocks: list[Any] = []
        inner.build(common.look.enter(scope), look, blocks)
        if name is not None:
            style = sheet.anonymous(parent).style
            blocks = [Container(common.source(scope), Role.DIV, style, tuple(blocks), None, name)]
        out += blocks

    return Part(build, is_static=False)


def compile_assertion(element: Element, context: Context) -> Part:
    """Compile an `assert`: a finding where its test does not hold."""
    return context.controlled(element, _compile_test)


def _compile_test(element: Element, context: Context) -> Part:
    test = context.expression(element.attributes.get("test", "true"), element.place)
    message = element.attributes.get("message")
    told = _compile_message(message, element.place, context)
    is_warning = element.attributes.get("severity") == "warning"

    def build(scope: Scope, _parent: Look, _out: list[Any]) -> None:
        errors_before = scope[RUN].findings.error_count
        if test.evaluate(scope) or scope[RUN].findings.error_count > errors_before:
            return
        text = told.evaluate(scope) if told else f"The condition does not hold: {test_text}"
        findings = scope[RUN].findings
        (findings.warn if is_warning else findings.error)("assert", text, element.place)

    test_text = element.attributes.get("test", "")[:80]
    return Part(build, is_static=False)


def _compile_message(message: str | None, place: Place, context: Context) -> Evaluation | None:
    return None if message is None else context.text(context.template(message, place), place)


def _compile_insert(element: Element, context: Context) -> Part:
    name = element.attributes.get("flow", "")
    if "{{" in name:
        context.findings.error(
            "wrong-value", "The flow of insert is a name, not an expression", element.place
        )
        return in_order(())
    if name in context.inserting:
        path = " → ".join((*context.inserting, name))
        context.findings.error("flow-cycle", f"The flows insert each other: {path}", element.place)
        return in_order(())
    if name not in context.flows:  # told by the checks of the text
        return in_order(())
    common = _Common(element, context)
    needs_box = not element.attributes.keys() <= {"flow", "for", "if", "lang"}
    has_lang = "lang" in element.attributes
    compiled = compile_flow(name, context)

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        scope[RUN].count_turns(1, element.place)
        look = common.look.find(scope, parent)
        entered = common.look.enter(scope)
        if not needs_box:
            compiled.build(entered, look if has_lang else parent, out)
            return
        blocks: list[Any] = []
        compiled.build(entered, look, blocks)
        out.append(
            Container(
                common.source(scope),
                Role.DIV,
                look.style,
                tuple(blocks),
                None,
                common.read_id(scope),
            )
        )

    return Part(build, is_static=False)


def compile_flow(name: str, context: Context) -> Part:
    """Compile a flow's content; inserted where loop variables are known, it may use them."""
    element = context.flows[name]
    inner_context = replace(context, inserting=(*context.inserting, name), is_in_list=False)
    if len(inner_context.inserting) > MAX_INSERT_DEPTH:
        context.findings.error("flow-cycle", "Flows are inserted more than 32 deep", element.place)
        return in_order(())
    look = context.look(element)
    inner = _compiled_once(element, inner_context)

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        inner.build(scope, look.find(scope, parent), out)

    return Part(build, inner.is_static and look.is_static)


def _compiled_once(element: Element, context: Context) -> Part:
    """Compile a flow's blocks once for all places that know the same names."""
    name = element.attributes.get("name", "body")
    key = (name, context.names, context.is_page_time)
    found = context.inserted.get(key)
    if found is None:
        own = replace(context, used=set())
        part = compile_blocks(element.children, own, owner=element)
        found = context.inserted[key] = (part, frozenset(own.used))
    part, used = found
    context.used.update(used)
    return part


def _compile_spot(element: Element, context: Context) -> Part:
    """Compile a mark of the index that stands among blocks: a place before the next one."""
    note, source, sheet = compile_spot(element, context), source_at(element.place), context.sheet

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        name = note(scope)
        if name is not None:
            style = sheet.anonymous(parent).style
            style = replace(style, breaks=replace(style.breaks, after=BreakTo.AVOID))
            out.append(Container(source(scope), Role.DIV, style, (), None, name))

    return Part(build, is_static=False)


_Compile = Callable[[Element, Context], Part]
_COMPILERS: Final[dict[str, _Compile]] = {
    **dict.fromkeys(("p", *_PARAGRAPHS), _compile_paragraph),
    **dict.fromkeys(_CONTAINERS, _compile_container),
    **dict.fromkeys(("ul", "ol"), _compile_list),
    "row": _compile_row,
    "hr": _compile_rule,
    "break": _compile_break,
    **dict.fromkeys(_FIGURES, figures.compile_figure),
    "grid": lambda element, context: grids.compile_grid(element, context, compile_blocks),
    "markdown": lambda element, context: markdown.compile_markdown(
        element, context, compile_blocks
    ),
    "table": lambda element, context: tables.compile_table(element, context, compile_blocks),
    "group": _compile_group,
    "assert": _compile_test,
    "mark": _compile_spot,
    "toc": contents.compile_contents,
    "index": contents.compile_index,
    "insert": _compile_insert,
}
