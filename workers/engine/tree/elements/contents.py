"""Tables of contents and indexes, whose entries are known once the whole document is built."""

from __future__ import annotations

from typing import Any, Final

from workers.engine.syntax.nodes import Element
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.builders import NodeBuilder, sequence, source_maker
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.elements.figures import read_id
from workers.engine.tree.nodes import Contents, EntryStyle, Index
from workers.engine.tree.styles.cascade import ComputedStyle, StyleSheet

_CONTENTS: Final = tuple(f"toc-{level}" for level in range(1, 7))
_INDEX: Final = tuple(f"index-{level}" for level in range(1, 4))
_LETTER: Final = "index-letter"  # lies over index-1


def compile_contents(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile a table of contents."""
    if _is_repeated(element, context):
        return sequence(())
    element_style, identity = (
        context.compile_style(element),
        context.compile_attribute(element, "id"),
    )
    levels, kind, leader = (
        context.compile_attribute(element, name) for name in ("levels", "of", "leader")
    )
    source, sheet = source_maker(element.location), context.sheet

    def build(scope: Scope, parent: ComputedStyle, out: list[Any]) -> None:
        own = element_style.compute(scope, parent)
        first, last = levels.read(scope)
        contents = Contents(
            source(scope),
            own.style,
            kind.read(scope),
            first,
            last,
            leader.read(scope),
            tuple(_entry_style(sheet, own, name) for name in _CONTENTS),
            read_id(identity, scope),
        )
        scope.state.references.contents.append(contents)
        out.append(contents)

    return NodeBuilder(build, is_static=False)


def compile_index(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile an index."""
    if _is_repeated(element, context):
        return sequence(())
    element_style, identity = (
        context.compile_style(element),
        context.compile_attribute(element, "id"),
    )
    source, sheet = source_maker(element.location), context.sheet

    def build(scope: Scope, parent: ComputedStyle, out: list[Any]) -> None:
        own = element_style.compute(scope, parent)
        styles = [_entry_style(sheet, own, name) for name in _INDEX]
        styles.append(_entry_style(sheet, own, _INDEX[0], _LETTER))
        index = Index(source(scope), own.style, tuple(styles), read_id(identity, scope))
        scope.state.references.add_index(index, own.inherited.lang)
        out.append(index)

    return NodeBuilder(build, is_static=False)


def _entry_style(sheet: StyleSheet, parent: ComputedStyle, *names: str) -> EntryStyle:
    properties: dict[str, Any] = {}
    for name in names:
        properties |= sheet.entry_properties(name)
    computed = sheet.compute(parent, properties)
    return EntryStyle(computed.style, computed.transform)


def _is_repeated(element: Element, context: CompileContext) -> bool:
    """Report a list in content that pages repeat, before the pages of its entries are known."""
    if context.is_page_time:
        context.findings.error(
            "misplaced-element",
            f"`{element.tag}` is not allowed in content that pages repeat: headers, footers, boxes of pages, "
            "and heads and feet of tables",
            element.location,
        )
    return context.is_page_time
