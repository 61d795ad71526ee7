"""Tables of contents and indexes, whose entries are known once the whole document is built."""

from __future__ import annotations

from typing import Any, Final

from workers.engine.syntax.nodes import Element
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.builders import NodeBuilder, Nodes
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.elements.block_builder import BlockBuilder, report_page_time
from workers.engine.tree.nodes import Contents, EntryStyle, Index
from workers.engine.tree.styles.cascade import ComputedStyle, StyleSheet

_CONTENTS: Final = tuple(f"toc-{level}" for level in range(1, 7))
_INDEX: Final = tuple(f"index-{level}" for level in range(1, 4))
_LETTER: Final = "index-letter"  # lies over index-1


def compile_contents(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile a table of contents."""
    if context.is_page_time:
        return report_page_time(element, context)
    common = BlockBuilder(element, context, "levels", "of", "leader")

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        own = common.compute(scope, parent)
        (first, last), kind, leader = common.read(scope)
        entries = tuple(_entry_style(common.sheet, own, name) for name in _CONTENTS)
        name = common.read_id(scope)
        contents = Contents(
            common.source(scope), own.style, kind, first, last, leader, entries, name
        )
        scope.state.references.contents.append(contents)
        out.append(contents)

    return NodeBuilder(build, is_static=False)


def compile_index(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile an index."""
    if context.is_page_time:
        return report_page_time(element, context)
    common, sheet = BlockBuilder(element, context), context.sheet

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        own = common.compute(scope, parent)
        styles = [_entry_style(sheet, own, name) for name in _INDEX]
        styles.append(_entry_style(sheet, own, _INDEX[0], _LETTER))
        index = Index(common.source(scope), own.style, tuple(styles), common.read_id(scope))
        scope.state.references.add_index(index, own.inherited.lang)
        out.append(index)

    return NodeBuilder(build, is_static=False)


def _entry_style(sheet: StyleSheet, parent: ComputedStyle, *names: str) -> EntryStyle:
    properties: dict[str, Any] = {}
    for name in names:
        properties |= sheet.entry_properties(name)
    computed = sheet.compute(parent, properties)
    return EntryStyle(computed.style, computed.transform)
