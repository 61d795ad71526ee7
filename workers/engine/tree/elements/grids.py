"""Grids: cells of fixed size, filled in order."""

from __future__ import annotations

from typing import Any, Final

from workers.engine.syntax.nodes import Element
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.builders import NodeBuilder, source_maker
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.elements.figures import read_id
from workers.engine.tree.nodes import Grid
from workers.engine.tree.styles.cascade import ComputedStyle
from workers.engine.units import LengthKind

_ATTRIBUTES: Final = (
    *("grid-template-columns", "grid-auto-rows", "grid-auto-flow"),
    *("column-gap", "row-gap", "skip", "id"),
)


def compile_grid(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile a grid; each block in it takes one cell."""
    element_style, sheet = context.compile_style(element), context.sheet
    source, location = source_maker(element.location), element.location
    read = {name: context.compile_attribute(element, name) for name in _ATTRIBUTES}
    inner = context.compile_blocks(element.children, owner=element)

    def build(scope: Scope, parent: ComputedStyle, out: list[Any]) -> None:
        own = element_style.compute(scope, parent)
        values = {name: read[name].read(scope) for name in _ATTRIBUTES if name != "id"}
        tracks = values["grid-template-columns"] or ()
        height = sheet.to_length(values["grid-auto-rows"], own)
        fills_columns = values["grid-auto-flow"] == "column"
        if fills_columns and height.kind is LengthKind.AUTO:
            scope.state.findings.error(
                "grid-rows",
                "A grid that fills its columns first needs rows of one height: give it grid-auto-rows",
                location,
            )
        blocks: list[Any] = []
        inner.build(element_style.enter(scope), own, blocks)
        out.append(
            Grid(
                source(scope),
                own.style,
                tuple(blocks),
                tuple(sheet.to_length(track, own) for track in tracks),
                None if height.kind is LengthKind.AUTO else height.value,
                sheet.to_points(values["column-gap"], own),
                sheet.to_points(values["row-gap"], own),
                values["skip"],
                fills_columns,
                read_id(read["id"], scope),
            )
        )

    is_static = (
        element_style.is_static and inner.is_static and all(a.is_static for a in read.values())
    )
    return NodeBuilder(build, is_static and read["id"].constant is None)
