"""Paragraphs and headings: their numbers, outline entries and ids."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from workers.engine.syntax.nodes import Element
from workers.engine.tree import nodes
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.elements.block_builder import BlockBuilder, Frame
from workers.engine.tree.elements.inlines import (
    collect_inlines,
    compile_inlines,
    translate_figure_number,
)
from workers.engine.tree.expressions.running_text import remove_isolates
from workers.engine.tree.references.resolver import FIGURE, HEADINGS, TABLE, ReferenceFeatures
from workers.engine.tree.styles.cascade import ComputedStyle
from workers.engine.tree.styles.computed import Numbering, Style

HEADING_ROLES: Final = {
    "h1": nodes.Role.H1, "h2": nodes.Role.H2, "h3": nodes.Role.H3, "h4": nodes.Role.H4, "h5": nodes.Role.H5, "h6": nodes.Role.H6,
}  # fmt: skip


_PARAGRAPH_ROLES: Final = {**HEADING_ROLES, "pre": nodes.Role.CODE, "caption": nodes.Role.CAPTION}


class ParagraphBuilder(BlockBuilder):
    """Builds a paragraph, heading, `pre` or caption. A class with slots, as a document may have half a million."""

    __slots__ = ("features", "kind", "outline", "repeats", "role", "span")

    def __init__(self, element: Element, context: CompileContext) -> None:
        super().__init__(element, context)
        self.counts = False  # it does so with the number that it shows
        is_heading = element.tag in HEADING_ROLES
        self.role = _PARAGRAPH_ROLES.get(element.tag, nodes.Role.P)
        self.outline = context.compile_attribute(element, "outline") if is_heading else None
        self.span = context.compile_attribute(element, "span") if is_heading else None
        self.features = context.features
        self.repeats = context.is_page_time  # on pages or in heads of tables, where nothing counts
        self.kind = HEADINGS if is_heading else ""
        if element.tag == "caption":
            self.kind = FIGURE if context.is_in_figure else TABLE
        self.inner = compile_inlines(element.children, context, owner=element)

    def make(self, frame: Frame) -> nodes.Paragraph:
        """Return the paragraph."""
        scope, computed, own_id = frame.scope, frame.computed, frame.read_id()
        numbering = frame.style.numbering
        label = self._number(numbering, frame) if numbering and not self.repeats else None
        inlines = collect_inlines(self.inner, frame.enter(), computed, self.plain.location)
        outline = self.outline
        entry = None
        if outline is not None and outline.read(scope):
            entry = _plain_text(inlines)
            if label is not None:
                entry = f"{label.text.strip()} {entry}".rstrip()
        is_collected = self.features.needs_collection and not self.repeats
        name, references = own_id, scope.state.references
        if is_collected and self.kind in self.features.titles and name is None:
            name = references.make_anchor_name()
        extra = make_extras(label, inlines, self.features)
        if self.span is not None and self.span.read(scope) == "columns":
            extra = replace(extra or nodes.ParagraphExtras(), spans_columns=True)
        style = style_for(inlines, computed)
        made = nodes.Paragraph(frame.source, self.role, style, inlines, entry or None, name, extra)
        if is_collected:
            if self.kind == FIGURE and scope.figure_id is not None:
                references.add_blocks(scope.figure_id, (made,))
            if self.kind and (entry or outline is None):
                references.add_title(self.kind, made)
        return made

    def _number(self, numbering: Numbering, frame: Frame) -> nodes.Label | None:
        """Advance the counter of the paragraph; return the label before it."""
        number = frame.state.count_element(numbering, frame.location)
        if number is None:
            return None
        if self.kind == FIGURE:
            number = translate_figure_number(number, numbering, frame.style.text.lang)
        return nodes.Label(number, numbering.width)


def make_extras(
    label: nodes.Label | None, inlines: tuple[nodes.Inline, ...], features: ReferenceFeatures
) -> nodes.ParagraphExtras | None:
    """Return the rare parts of a paragraph, None for most."""
    may_refer = features.has_references or features.has_notes
    has_references = may_refer and any(isinstance(each, nodes.Reference) for each in inlines)
    return (
        nodes.ParagraphExtras(label, None, has_references)
        if label is not None or has_references
        else None
    )


def style_for(inlines: tuple[nodes.Inline, ...], computed: ComputedStyle) -> Style:
    """Return the style of a paragraph, whose direction may be that of its first letter."""
    if not computed.inherited.is_auto:
        return computed.style
    return computed.for_text(_plain_text(inlines))


def _plain_text(inlines: Iterable[nodes.Inline]) -> str:
    texts = [
        inline.text if isinstance(inline, nodes.TextRun) else " "
        for inline in inlines
        if not isinstance(inline, nodes.InlineAnchor | nodes.NoteCall)
        and not (isinstance(inline, nodes.Reference) and inline.show == "note")
    ]
    return " ".join(remove_isolates("".join(texts)).split())
