"""A payload document over a template: keyed parts replace, settings merge, the rest is added."""

from __future__ import annotations

from typing import Final

from workers.engine.diagnostics import Findings
from workers.engine.syntax.checks import describe_font, shown
from workers.engine.syntax.nodes import Element

# Parts of one kind whose attributes merge; every attribute of the payload replaces the template's.
_SETTINGS: Final = frozenset({"security"})
# Parts that are found by their name and replaced whole; `flow` and `page` have one that is implied.
_IMPLIED_NAMES: Final = {"flow": "body", "page": "default"}
_NAMED: Final = frozenset(
    {"field", "dataset", "let", "style", "color", "flow", "page", "attachment"}
)

_Key = tuple[str, str, str]


def overlay_document(template: Element, payload: Element, findings: Findings) -> Element:
    """Lay a payload's root over a template's (language.md 1.3). Gives a new root; neither is changed,
    and the parts keep the places of the text they came from.

    Adds an error for each part that would replace one with final="true".
    """
    merged = _overlay_children(template, payload, findings)
    merged.attributes = template.attributes | payload.attributes
    if payload.attributes:
        merged.place = payload.place  # what is wrong in them is the payload's, as far as is new
    return merged


def _overlay_children(template: Element, payload: Element, findings: Findings) -> Element:
    merged = Element(template.tag, template.attributes, template.place, list(template.children))
    positions: dict[_Key | None, int] = {
        _key_of(child): position
        for position, child in enumerate(merged.children)
        if isinstance(child, Element)
    }
    positions.pop(None, None)  # parts without a key are added
    for child in payload.children:
        # Each part is replaced once; a second of its key stays, and is told as declared twice.
        position = positions.pop(_key_of(child), None) if isinstance(child, Element) else None
        present = None if position is None else merged.children[position]
        if position is not None and isinstance(present, Element) and isinstance(child, Element):
            merged.children[position] = _replace(present, child, findings)
        else:
            merged.children.append(child)
    return merged


def _replace(present: Element, child: Element, findings: Findings) -> Element:
    """Give what stands in a part's stead: the payload's, or a merger of both, or itself if final."""
    if present.attributes.get("final", "").strip() == "true":
        findings.error(
            "final",
            f"{_named(child)} may not be replaced: the template declares it final",
            child.place,
        )
        return present
    if child.tag == "data":
        return _overlay_children(present, child, findings)
    if child.tag in _SETTINGS:
        return Element(
            child.tag, present.attributes | child.attributes, child.place, child.children
        )
    return child


def _key_of(element: Element) -> _Key | None:
    """Give what a part is replaced by: two parts with one key are one part."""
    tag, attributes = element.tag, element.attributes
    if tag == "data" or tag in _SETTINGS:
        return tag, "", ""
    if tag == "style" and "element" in attributes:
        return tag, "element", attributes["element"]
    if tag == "font":
        return tag, *describe_font(attributes)
    if tag in _NAMED:
        name = attributes.get("name", _IMPLIED_NAMES.get(tag))
        return None if name is None else (tag, attributes.get("on", "all"), name)
    return None


def _named(element: Element) -> str:
    keys = ("name", "element", "family")
    name = next(filter(None, map(element.attributes.get, keys)), None)
    return f'`{element.tag}` "{shown(name)}"' if name else f"`{element.tag}`"
