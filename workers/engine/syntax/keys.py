"""The keys of declarations: each is declared once in a text, and replaced by that of a text laid over it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from workers.engine.syntax.nodes import Element

# What is declared, what tells it from others of its name, and its name.
Key = tuple[str, str, str]

_IMPLIED_NAMES: Final = {"flow": "body", "page": "default"}
_NAMED: Final = frozenset(
    {"setting", "field", "dataset", "let", "style", "color", "flow", "page", "attachment", "part"}
)
_SINGLE: Final = frozenset({"data", "security", "einvoice"})
_WEIGHTS: Final = {"normal": "400", "bold": "700"}


def key_of(element: Element) -> Key | None:
    """Return the key of a declaration, None for an element that may be repeated."""
    tag, attributes = element.tag, element.attributes
    if tag in _SINGLE:
        return tag, "", ""
    if tag == "messages":
        return tag, "", attributes.get("lang", "").lower()
    if tag == "message":
        forms = (
            f"{name} {attributes[name]}" for name in ("plural", "ordinal") if name in attributes
        )
        return tag, ", ".join(forms), attributes.get("key", "")
    if tag == "style" and "element" in attributes:
        return tag, "element", attributes["element"]
    if tag == "font":
        return tag, _uses_of_font(attributes), attributes.get("family", "").strip().casefold()
    if tag in _NAMED:
        name = attributes.get("name", _IMPLIED_NAMES.get(tag))
        return None if name is None else (tag, attributes.get("on", "all"), name)
    return None


def _uses_of_font(attributes: Mapping[str, str]) -> str:
    """Return the weight, style and width of a font, or of one that declares none its `src` and `index`."""
    weights = attributes.get("font-weight", "").split()
    uses = [
        " ".join(_WEIGHTS.get(word, word) for word in weights),
        *(attributes.get(name, "").strip() for name in ("font-style", "font-stretch")),
    ]
    if not any(uses):
        uses = [attributes.get(name, "").strip() for name in ("src", "index")]
    return ",".join(uses)
