"""Watermarks of the document and of single pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from workers.engine.syntax.nodes import Element
from workers.engine.tree.cascade import Look
from workers.engine.tree.compiler import Context, find_color
from workers.engine.tree.figures import read_picture
from workers.engine.tree.nodes import Source, Watermark
from workers.engine.tree.runtime import Scope
from workers.engine.units import BLACK

_NAMES: Final = ("text", "src", "layer", "opacity", "rotate", "font-size", "color")

BuildWatermark = Callable[[Scope, Look], Watermark | None]


def compile_watermark(element: Element, context: Context) -> BuildWatermark:
    """Compile a mark; it is evaluated once for all its pages, to None where its `if` fails."""
    read = {name: context.attribute(element, name) for name in _NAMES}
    condition = (
        context.expression(element.attributes["if"], element.place)
        if "if" in element.attributes
        else None
    )
    sheet, place = context.sheet, element.place

    def build(scope: Scope, root: Look) -> Watermark | None:
        if condition is not None and not condition.evaluate(scope):
            return None
        values = {name: attribute.read(scope) for name, attribute in read.items()}
        size = values["font-size"]
        return Watermark(
            " ".join((values["text"] or "").split()),
            values["layer"] == "over",
            values["opacity"],
            values["rotate"],
            None if size is None else sheet.to_points(size, root),
            find_color(sheet, values["color"], scope, place) or BLACK,
            Source(place),
            read_picture(values["src"]),
        )

    return build
