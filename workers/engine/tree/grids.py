"""Grids: fixed cells that their children fill in order."""

from __future__ import annotations

from typing import Any, Final

from workers.engine.syntax.nodes import Element
from workers.engine.tree.cascade import Look
from workers.engine.tree.compiler import Context, Part, source_at
from workers.engine.tree.figures import read_id
from workers.engine.tree.nodes import Grid
from workers.engine.tree.rows import CompileBlocks
from workers.engine.tree.run import RUN
from workers.engine.tree.runtime import Scope
from workers.engine.units import LengthKind

_ATTRIBUTES: Final = (
    *("grid-template-columns", "grid-auto-rows", "grid-auto-flow"),
    *("column-gap", "row-gap", "skip", "id"),
)


def compile_grid(element: Element, context: Context, compile_blocks: CompileBlocks) -> Part:
    """Compile a grid; each block in it takes one cell."""
    look, sheet = context.look(element), context.sheet
    source, place = source_at(element.place), element.place
    read = {name: context.attribute(element, name) for name in _ATTRIBUTES}
    inner = compile_blocks(element.children, context, owner=element)

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        own = look.find(scope, parent)
        values = {name: read[name].read(scope) for name in _ATTRIBUTES if name != "id"}
        tracks = values["grid-template-columns"] or ()
        height = sheet.to_length(values["grid-auto-rows"], own)
        fills_columns = values["grid-auto-flow"] == "column"
        if fills_columns and height.kind is LengthKind.AUTO:
            scope[RUN].findings.error(
                "grid-rows",
                "A grid that fills its columns first needs rows of one height: give it grid-auto-rows",
                place,
            )
        blocks: list[Any] = []
        inner.build(look.enter(scope), own, blocks)
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

    is_static = look.is_static and inner.is_static and all(a.is_static for a in read.values())
    return Part(build, is_static and read["id"].constant is None)
