"""Footnotes and endnotes: the notes, and their calls in running text."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from workers.engine.syntax.nodes import Element, MarkdownElement
from workers.engine.tree import nodes
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.builders import EMPTY, NodeBuilder, source_maker
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.elements.block_builder import BlockBuilder, Frame
from workers.engine.tree.inline_collector import InlineCollector
from workers.engine.tree.references.counters import CalledNote, PageNumberedNote
from workers.engine.tree.styles.cascade import ComputedStyle, StyleSheet
from workers.engine.tree.styles.computed import Style, TextStyle

_CALL: Final = "footnote-call"
_RULE: Final = "footnote-rule"
_TAGS: Final = frozenset({"footnote", "markdown"})


def compile_footnote(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile a note and its call."""
    if isinstance(element, MarkdownElement) and element.fragment and not element.children:
        return _repeat_call(element, context.sheet)
    if _is_misplaced(element, context):
        return EMPTY
    note = _FootnoteBuilder(element, context)
    inner = replace(
        context, is_in_note=True, is_page_time=False, takes_notes=False, is_in_list=False
    )
    note.inner = inner.compile_blocks(element.children, owner=element)
    return note


def compile_endnotes(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile an `endnotes`, which collects the notes before it."""
    if context.is_page_time or context.is_in_note:
        context.findings.error(
            "misplaced-element",
            "`endnotes` is allowed neither in a note nor in content that pages repeat: headers, footers, "
            "boxes of pages, and heads and feet of tables",
            element.location,
        )
        return EMPTY
    return BlockBuilder(element, context, make=_make_endnotes)


def _make_endnotes(frame: Frame) -> nodes.Container:
    state = frame.state
    notes = state.footnotes.collect_endnotes(state.counters)
    if not notes:
        message = "The notes are empty: the flow has no `footnote` before `endnotes`"
        state.findings.warn("empty-endnotes", message, frame.location)
    page = frame.style.breaks.page
    notes = tuple(replace(note, style=_on_pages(note.style, page)) for note in notes)
    return frame.box(notes, frame.read_id())


def _on_pages(style: Style, page: str | None) -> Style:
    """Return the style of a note on pages of a family."""
    return replace(style, breaks=replace(style.breaks, page=page))


def has_notes(element: Element) -> bool:
    """Return whether an element may contain notes."""
    return any(inner.tag in _TAGS for inner in element.walk())


def check_notes_in_section(
    element: Element, context: CompileContext, *, is_printed_once: bool
) -> None:
    """Report notes in a head or foot of a table whose rows are built for each fragment.

    `is_printed_once` is true if the rows are the same on each fragment, and stand on one that is
    not a repetition.
    """
    if is_printed_once:
        return
    for inner in element.walk():
        if inner.tag == "footnote":
            context.findings.error(
                "misplaced-element",
                f"`footnote` has no place in this `{element.tag}`, whose rows differ from piece to piece of "
                "the table: it shows page values or totals, or is on other fragments only. Put the "
                "note in the caption or a row of the body",
                inner.location,
            )


def _is_misplaced(element: Element, context: CompileContext) -> bool:
    """Report a note where it is not allowed; a note of Markdown is left out with a warning."""
    if context.is_in_note:
        code, message = "nested-note", "A note is inside another note, which is not allowed"
        advice = "write it into the text of the note around it"
    elif context.is_page_time and not context.takes_notes:
        code = "misplaced-element"
        message = "`footnote` has no place in headers, footers and boxes of pages"
        advice = "put it in a flow"
    else:
        return False
    if isinstance(element, MarkdownElement):
        context.findings.warn("markdown-note", f"{message}; it is left out", element.location)
    else:
        context.findings.error(code, f"{message}; {advice}", element.location)
    return True


def _call_style(sheet: StyleSheet, around: ComputedStyle) -> TextStyle:
    """Return the style of a call in a text."""
    return sheet.compute_anonymous(around, _CALL, is_inline=True).style.text


class _FootnoteBuilder(BlockBuilder):
    """Builds a note and its call."""

    __slots__ = ("_element",)

    def __init__(self, element: Element, context: CompileContext) -> None:
        super().__init__(element, context)
        self._element = element

    def __call__(self, scope: Scope, parent: ComputedStyle, out: InlineCollector) -> None:
        state = scope.state
        if state.footnotes.is_closed or state.is_page_time:
            return  # in Markdown of a head that is built for each page
        base = scope.note_parent or parent
        computed, properties = self.element_style.resolve(scope, base)
        frame = Frame(self, scope, computed, properties)
        called = self._call(frame)
        _add_call(out, called, _call_style(self.sheet, parent), frame.source)
        blocks, own_id = frame.inside(), frame.read_id()
        if own_id is not None:
            state.references.add_blocks(own_id, blocks, called.number)
            blocks = (frame.box(blocks, own_id, frame.anonymous()),)
        numbering = computed.style.numbering
        note = nodes.Note(
            frame.source,
            computed.style,
            blocks,
            called.number,
            _call_style(self.sheet, computed),
            None if numbering is None else numbering.width,
            called.anchor,
            id=called.name,
        )
        rule = self.sheet.compute_anonymous(base, _RULE).style
        state.footnotes.add(note, rule)
        state.count_toward("too-many-notes", self._element.location)
        if isinstance(self._element, MarkdownElement) and self._element.fragment:
            state.footnotes.by_key[self._element.fragment] = called

    def _call(self, frame: Frame) -> CalledNote:
        """Return the call of the note, with its number."""
        state, numbering = frame.state, frame.style.numbering
        count_per = frame.properties.get("count-per", "document")
        name = state.references.make_anchor_name()
        is_counted = count_per == "page" and numbering is not None and numbering.format is not None
        number: str | None = ""
        if numbering is not None and not is_counted:
            if count_per == "flow":
                state.footnotes.restart_in_flow(numbering.counter, state.counters)
            number = state.count_element(numbering, self._element.location)
        called = CalledNote(name, f"{name}^", number or "", is_counted)
        if is_counted:
            assert numbering is not None
            state.footnotes.page_numbered[called.anchor] = PageNumberedNote(numbering, frame.source)
        return called


def _repeat_call(element: MarkdownElement, sheet: StyleSheet) -> NodeBuilder:
    """Return the builder of a further call of a note of Markdown."""
    source = source_maker(element.location)

    def build(scope: Scope, parent: ComputedStyle, out: InlineCollector) -> None:
        called = scope.state.footnotes.by_key.get(element.fragment)
        if called is not None:
            again = called._replace(anchor="")
            _add_call(out, again, _call_style(sheet, parent), source(scope))

    return build


def _add_call(
    out: InlineCollector, called: CalledNote, style: TextStyle, source: nodes.Source
) -> None:
    if called.is_page_numbered:
        out.add_call(nodes.Reference(called.name, "note", style, source))
    elif called.number:
        out.add_call(nodes.NoteCall(called.number, style, f"#{called.name}"))
    if called.anchor:
        out.add_anchor(called.anchor)
