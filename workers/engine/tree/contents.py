"""Contents and indexes: places for what is known when the whole document is built."""

from __future__ import annotations

from typing import Any, Final

from workers.engine.syntax.nodes import Element
from workers.engine.tree.cascade import Look, StyleSheet
from workers.engine.tree.compiler import Context, Part, in_order, source_at
from workers.engine.tree.figures import read_id
from workers.engine.tree.nodes import Contents, EntryStyle, Index
from workers.engine.tree.run import RUN
from workers.engine.tree.runtime import Scope

_CONTENTS: Final = tuple(f"toc-{level}" for level in range(1, 7))
_INDEX: Final = tuple(f"index-{level}" for level in range(1, 4))
_LETTER: Final = "index-letter"  # lies over index-1


def compile_contents(element: Element, context: Context) -> Part:
    """Compile a table of contents."""
    if _is_repeated(element, context):
        return in_order(())
    look, identity = context.look(element), context.attribute(element, "id")
    levels, kind, leader = (context.attribute(element, name) for name in ("levels", "of", "leader"))
    source, sheet = source_at(element.place), context.sheet

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        own = look.find(scope, parent)
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
        scope[RUN].gathered.contents.append(contents)
        out.append(contents)

    return Part(build, is_static=False)


def compile_index(element: Element, context: Context) -> Part:
    """Compile an index."""
    if _is_repeated(element, context):
        return in_order(())
    look, identity = context.look(element), context.attribute(element, "id")
    source, sheet = source_at(element.place), context.sheet

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        own = look.find(scope, parent)
        styles = [_entry_style(sheet, own, name) for name in _INDEX]
        styles.append(_entry_style(sheet, own, _INDEX[0], _LETTER))
        index = Index(source(scope), own.style, tuple(styles), read_id(identity, scope))
        scope[RUN].gathered.note_index(index, own.inherited.lang)
        out.append(index)

    return Part(build, is_static=False)


def _entry_style(sheet: StyleSheet, parent: Look, *names: str) -> EntryStyle:
    properties: dict[str, Any] = {}
    for name in names:
        properties |= sheet.properties_of_entry(name)
    look = sheet.compute(parent, properties)
    return EntryStyle(look.style, look.transform)


def _is_repeated(element: Element, context: Context) -> bool:
    """Refuse a list where pages repeat it, and its pages are not known yet."""
    if context.is_page_time:
        context.findings.error(
            "misplaced-element",
            f"`{element.tag}` may not stand in what pages repeat: headers, footers, boxes of pages, "
            "and heads and feet of tables",
            element.place,
        )
    return context.is_page_time
