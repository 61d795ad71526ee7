"""Fonts that a document declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from workers.engine.syntax.nodes import Element
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.document import DeclaredFont
from workers.engine.tree.nodes import Source


def compile_fonts(elements: Iterable[Element], context: CompileContext) -> Iterator[DeclaredFont]:
    """Yield the complete declarations; the checks report what others lack."""
    for element in elements:
        family, name = (context.read_constant(element, key) for key in ("family", "src"))
        if family and name:
            yield _read(element, context, family, name)


def _read(element: Element, context: CompileContext, family: str, name: str) -> DeclaredFont:
    def value(key: str) -> Any:
        return context.read_constant(element, key)

    style = value("font-style")
    return DeclaredFont(
        Source(element.location),
        family,
        name,
        value("index") or 0,
        value("font-weight"),
        value("font-stretch"),
        None if style is None else style == "italic",
        value("font-variation-settings") or (),
    )
