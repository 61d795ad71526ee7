"""Inline content: text, marks, links, breaks and small images, gathered into a paragraph's runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from workers.engine.diagnostics import Place
from workers.engine.syntax.nodes import Element, MarkdownElement, Text
from workers.engine.tree import figures
from workers.engine.tree.cascade import Look
from workers.engine.tree.compiler import (
    Attribute,
    Build,
    Context,
    ElementLook,
    Part,
    in_order,
    source_at,
)
from workers.engine.tree.figures import read_id
from workers.engine.tree.gathered import Gathered
from workers.engine.tree.nodes import Inline, Reference, Run, Spot
from workers.engine.tree.run import FRAGMENTS, RUN, Link
from workers.engine.tree.runtime import Scope
from workers.engine.tree.whitespace import InlineGatherer, check_length, transform

# While inline parts are built, the scope leads to what they are gathered into, and to their link.
_GATHERER: Final = "#gatherer"
_LINK: Final = "#link"

# An element that reads the other way is set apart from the text around it, as HTML's `dir` does.
_ISOLATES: Final = {False: "\u2066", True: "\u2067"}
_END_OF_ISOLATE: Final = "\u2069"

_MAX_SPAN: Final = 1000  # characters of a mark that references show
MARKS: Final = frozenset({"span", "b", "i", "u", "s", "sub", "sup", "code"})


def compile_inlines(
    children: Iterable[Element | Text], context: Context, *, owner: Element
) -> Part:
    """Compile the inline children of a paragraph; what they make goes to a gatherer."""
    return in_order(_compile_child(child, context, owner) for child in children)


def gather(
    build: Build, scope: Scope, look: Look, names: list[str], place: Place
) -> tuple[Inline, ...]:
    """Build the inline content of a paragraph into runs; ids of marks are added to `names`.

    Raises:
        AuthoringError: the document has too many paragraphs.
    """
    scope[RUN].count_paragraph(place)
    gatherer = InlineGatherer()
    build({**scope, _GATHERER: gatherer, _LINK: None}, look, names)
    inlines = gatherer.finish()
    if gatherer.spans and scope[RUN].gathered.uses.has_references:
        _note_spans(gatherer, inlines, look, scope[RUN].gathered)
    return inlines


def _note_spans(
    gatherer: InlineGatherer, inlines: tuple[Inline, ...], look: Look, gathered: Gathered
) -> None:
    """Note the texts of the marks in a paragraph that have an id, for references to them."""
    text = "".join(_text_of(inline) for inline in inlines)
    for name, start, end in gatherer.spans:
        inner = text[start:end][:_MAX_SPAN]
        gathered.note_named(name, "", (Run(inner, look.style.text),) if inner.strip() else ())


def _text_of(inline: Inline) -> str:
    match inline:
        case Run():
            return inline.text
        case Reference() | Spot():
            return ""
        case _:
            return " "


def _compile_child(child: Element | Text, context: Context, owner: Element) -> Part:
    if isinstance(child, Text):
        return _compile_text(child, context, owner)
    return context.controlled(child, _compile_element)


def _compile_text(child: Text, context: Context, owner: Element) -> Part:
    check_length(child.text, owner.place, context.findings)
    template = context.template(child.text, owner.place, is_literal=child.is_literal)
    literal = template.literal
    if literal is not None:
        return Part(_Literal(literal), is_static=True)
    evaluation = context.text(template, owner.place)

    def build_text(scope: Scope, parent: Look, _out: list[Any]) -> None:
        _add(scope, parent, evaluation.evaluate(scope))

    return Part(build_text, is_static=False)


class _Literal:
    """Builds a text that holds no expressions."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __call__(self, scope: Scope, parent: Look, _out: list[Any]) -> None:
        _add(scope, parent, self.text)


def _add(scope: Scope, look: Look, text: str) -> None:
    style = look.style
    if look.transform != "none":
        text = transform(text, look.transform)
    scope[_GATHERER].add_text(text, style.text, style.paragraph.white_space, scope[_LINK])


def _compile_element(element: Element, context: Context) -> Part:
    match element.tag:
        case "br":
            return Part(_build_break, is_static=True)
        case "group" if not {"class", "lang", "id"} & element.attributes.keys():
            return compile_inlines(element.children, context, owner=element)
        case "group":
            return _compile_mark(element, context)
        case "img" | "barcode":
            return _compile_figure(element, context)
        case "a":
            return _compile_link(element, context)
        case "ref":
            return _compile_reference(element, context)
        case "mark":
            return _compile_index_mark(element, context)
        case tag if tag in MARKS:
            return _compile_mark(element, context)
        case _:  # told by the checks of the text
            return compile_inlines(element.children, context, owner=element)


def _build_break(scope: Scope, parent: Look, _out: list[Any]) -> None:
    scope[_GATHERER].add_break(parent.style.text)


def _compile_mark(element: Element, context: Context) -> Part:
    made = _Mark(element, context)
    inner = compile_inlines(element.children, context, owner=element)
    made.inner = inner.build
    is_static = made.look.is_static and inner.is_static and "id" not in element.attributes
    return Part(made, is_static)


class _Mark:
    """Builds text in a mark."""

    __slots__ = ("identity", "inner", "look")
    inner: Build

    def __init__(self, element: Element, context: Context) -> None:
        self.look = context.look(element, is_inline=True)
        self.identity = context.attribute(element, "id")

    def __call__(self, scope: Scope, parent: Look, out: list[Any]) -> None:
        look = self.look
        name = _note_id(self.identity, scope, out)
        start = scope[_GATHERER].position
        _build_inner(self.inner, look.enter(scope), parent, look.find(scope, parent), out)
        if name is not None:
            scope[_GATHERER].spans.append((name, start, scope[_GATHERER].position))


def _compile_reference(element: Element, context: Context) -> Part:
    """Compile a reference to an element."""
    if context.is_page_time:
        _refuse_at_page_time(element, context)
        return in_order(())
    look, identity = context.look(element, is_inline=True), context.attribute(element, "id")
    target, show = context.attribute(element, "to"), context.attribute(element, "show")
    source = source_at(element.place)

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        _note_id(identity, scope, out)
        name = target.read(scope)
        if name is None:
            told = "The reference has no target: `to` came out empty"
            scope[RUN].findings.error("wrong-value", told, element.place)
            return
        own = look.find(scope, parent)
        reference = Reference(name, show.read(scope), own.style.text, source(scope), own.transform)
        scope[RUN].note_reference(reference)
        scope[_GATHERER].add_reference(reference)

    return Part(build, is_static=False)


def _compile_index_mark(element: Element, context: Context) -> Part:
    """Compile a mark of the index: a place, and the text in it."""
    if context.is_page_time:
        _refuse_at_page_time(element, context)
        return in_order(())
    mark = _Mark(element, context)
    mark.inner = compile_inlines(element.children, context, owner=element).build
    note = compile_spot(element, context)

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        name = note(scope)
        if name is not None:
            scope[_GATHERER].add_spot(Spot(name))
        mark(scope, parent, out)

    return Part(build, is_static=False)


def compile_spot(element: Element, context: Context) -> Callable[[Scope], str | None]:
    """Compile what notes the place of a mark; it returns the place's name."""
    term = context.attribute(element, "term")

    def note(scope: Scope) -> str | None:
        value = term.read(scope)
        if value is None:
            told = "The mark has no term: `term` came out empty"
            scope[RUN].findings.error("wrong-value", told, element.place)
            return None
        name: str = scope[RUN].note_mark(value, element.place)
        return name

    return note


def _refuse_at_page_time(element: Element, context: Context) -> None:
    context.findings.error(
        "misplaced-element",
        f"`{element.tag}` may not stand in what pages repeat: headers, footers, boxes of pages, "
        "and heads and feet of tables",
        element.place,
    )


def _compile_link(element: Element, context: Context) -> Part:
    look, identity = context.look(element, is_inline=True), context.attribute(element, "id")
    if isinstance(element, MarkdownElement) and element.fragment:
        return _compile_fragment_link(element, look, context)
    href = context.attribute(element, "href")
    inner = compile_inlines(element.children, context, owner=element)
    place = element.place

    def build_link(scope: Scope, parent: Look, out: list[Any]) -> None:
        name = _note_id(identity, scope, out)
        start = scope[_GATHERER].position
        target = href.read(scope)
        if target and target.startswith("#"):
            scope[RUN].links.append(Link(target[1:], place))
        entered = {**look.enter(scope), _LINK: target}
        _build_inner(inner.build, entered, parent, look.find(scope, parent), out)
        if name is not None:
            scope[_GATHERER].spans.append((name, start, scope[_GATHERER].position))

    leads_inside = href.constant is None or href.constant.startswith("#")
    is_static = href.is_static and not leads_inside and look.is_static and inner.is_static
    return Part(build_link, is_static and "id" not in element.attributes)


def _compile_fragment_link(element: MarkdownElement, look: ElementLook, context: Context) -> Part:
    """Compile a link of Markdown to a heading of the same text, or to an id of the document."""
    fragment, place = element.fragment, element.place
    inner = compile_inlines(element.children, context, owner=element)

    def build_link(scope: Scope, parent: Look, out: list[Any]) -> None:
        target = scope.get(FRAGMENTS, {}).get(fragment, fragment)
        scope[RUN].links.append(Link(target, place, is_markdown=True))
        entered = {**look.enter(scope), _LINK: f"#{target}"}
        _build_inner(inner.build, entered, parent, look.find(scope, parent), out)

    return Part(build_link, is_static=False)


def _build_inner(inner: Build, scope: Scope, parent: Look, own: Look, out: list[Any]) -> None:
    """Build what stands in a mark, as an isolate where it reads another way than its parent."""
    if own.inherited.is_rtl is parent.inherited.is_rtl:
        inner(scope, own, out)
        return
    _add(scope, own, _ISOLATES[own.inherited.is_rtl])
    inner(scope, own, out)
    _add(scope, own, _END_OF_ISOLATE)


def _note_id(identity: Attribute[str | None], scope: Scope, out: list[Any]) -> str | None:
    """Note a mark's id; while inlines are built, `out` is the ids of their paragraph."""
    name = read_id(identity, scope)
    if name is not None:
        out.append(name)
    return name


def _compile_figure(element: Element, context: Context) -> Part:
    part = figures.compile_figure(element, context)

    def build_figure(scope: Scope, parent: Look, _out: list[Any]) -> None:
        made: list[Any] = []
        part.build(scope, parent, made)
        for block in made:
            scope[_GATHERER].add_block(block)

    return Part(build_figure, part.is_static)
