"""Fonts that a document declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from workers.engine.syntax.nodes import Element
from workers.engine.tree.compiler import Context
from workers.engine.tree.nodes import DeclaredFont, Source


def compile_fonts(elements: Iterable[Element], context: Context) -> Iterator[DeclaredFont]:
    """Read the declarations that are complete; what others lack is reported by the checks."""
    for element in elements:
        family, name = (context.value(element, key) for key in ("family", "src"))
        if family and name:
            yield _read(element, context, family, name)


def _read(element: Element, context: Context, family: str, name: str) -> DeclaredFont:
    def value(key: str) -> Any:
        return context.value(element, key)

    style = value("font-style")
    return DeclaredFont(
        Source(element.place),
        family,
        name,
        value("index") or 0,
        value("font-weight"),
        value("font-stretch"),
        None if style is None else style == "italic",
        value("font-variation-settings") or (),
    )
