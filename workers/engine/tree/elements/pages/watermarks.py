"""Watermarks of the document and of single pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from workers.engine.syntax.nodes import Element
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.compiler.styles import find_color
from workers.engine.tree.document import Watermark
from workers.engine.tree.elements.figures import read_image_source
from workers.engine.tree.nodes import Occurrence, Source
from workers.engine.tree.styles.cascade import ComputedStyle
from workers.engine.units import BLACK

_NAMES: Final = ("text", "src", "layer", "opacity", "rotate", "font-size", "color", "on")

BuildWatermark = Callable[[Scope, ComputedStyle], Watermark | None]


def compile_watermark(element: Element, context: CompileContext) -> BuildWatermark:
    """Compile a watermark, built once for all its pages; None if its `if` fails."""
    read = {name: context.compile_attribute(element, name) for name in _NAMES}
    condition = context.compile_condition(element)
    sheet, location = context.sheet, element.location

    def build(scope: Scope, root: ComputedStyle) -> Watermark | None:
        if not condition.evaluate(scope):
            return None
        values = {name: attribute.read(scope) for name, attribute in read.items()}
        size = values["font-size"]
        return Watermark(
            " ".join((values["text"] or "").split()),
            values["layer"] == "over",
            values["opacity"],
            values["rotate"],
            None if size is None else sheet.to_points(size, root),
            find_color(sheet, values["color"], scope, location) or BLACK,
            Source(location),
            read_image_source(values["src"]),
            Occurrence(values["on"]),
        )

    return build
