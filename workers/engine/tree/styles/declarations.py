"""Declared styles and colours: the `style` and `color` elements of a document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workers.engine.syntax.checks import find_color_names
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.numbers import counter_of
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.styles.cascade import StyleSheet
from workers.engine.tree.styles.computed import DEFAULT_PAGE_FAMILY
from workers.engine.tree.styles.user_agent import NO_PROPERTIES, Properties, expand_shorthands
from workers.engine.units import BLACK


def make_style_sheet(root: Element) -> StyleSheet:
    """Return the style sheet of the colours and styles a document declares.

    Errors in them are reported by the checks of the text and left out here: a style refers only to
    what is declared.
    """
    kind = ELEMENTS["color"].attributes["value"].value_type
    colors = {}
    for element in root.elements("color"):
        parsed = _try_parse(kind.parse, element.attributes.get("value", ""))
        colors[element.attributes.get("name", "")] = BLACK if parsed is None else parsed
    families = {page.attributes.get("name", DEFAULT_PAGE_FAMILY) for page in root.elements("page")}
    families.add(DEFAULT_PAGE_FAMILY)
    read = _StyleReader(root, frozenset(colors), frozenset(families)).read
    styles = list(root.elements("style"))
    by_element = {e.attributes["element"]: read(e) for e in styles if "element" in e.attributes}
    by_name = {e.attributes["name"]: read(e) for e in styles if "name" in e.attributes}
    return StyleSheet(colors, by_name, by_element, frozenset(families))


class _StyleReader:
    """Reads `style` elements with the names that their properties may refer to."""

    def __init__(self, root: Element, colors: frozenset[str], families: frozenset[str]) -> None:
        self._colors = colors
        self._families = families
        self._named = {
            e.attributes["name"]: e for e in root.elements("style") if "name" in e.attributes
        }
        self._read: dict[str, Properties] = {}

    def read(self, element: Element) -> Properties:
        """Return the properties of a style and of those it extends, each of which is read once."""
        chain: list[Element] = []
        below: Properties = NO_PROPERTIES
        following: Element | None = element
        while following is not None and len(chain) <= len(self._named):  # more is a circle
            chain.append(following)
            name = following.attributes.get("extends", "")
            if name in self._read:
                below = self._read[name]
                break
            following = self._named.get(name)
        for style in reversed(chain):
            below = {**below, **self._own(style)}
            if self._named.get(style.attributes.get("name", "")) is style:
                self._read[style.attributes["name"]] = below
        return below

    def _own(self, element: Element) -> Properties:
        own: dict[str, Any] = {}
        for name, text in element.attributes.items():
            spec = ELEMENTS["style"].attributes.get(name)
            if spec is None or name in ("name", "element", "extends", "final"):
                continue
            try:
                value = spec.value_type.parse(text)
            except ValueError:
                continue  # reported by the checks of the text; the property keeps its default
            is_none = text.strip() in ("none", "transparent")
            if (value is not None or is_none) and self._is_declared(name, value):
                own[name] = value
        if own.get("number") is not None:
            own.setdefault("counter", counter_of(element))
        return expand_shorthands(own)

    def _is_declared(self, name: str, value: Any) -> bool:
        if name == "page":
            return value in self._families
        return all(color in self._colors for color in find_color_names(value))


def _try_parse(parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except ValueError:
        return None
