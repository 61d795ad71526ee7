"""Overlay of a payload document on a template: elements with a key replace, others are appended."""

from __future__ import annotations

from typing import Final

from workers.engine.diagnostics import Findings
from workers.engine.syntax.checks import shorten_text
from workers.engine.syntax.keys import Key, key_of
from workers.engine.syntax.nodes import Element

# Elements whose attributes are merged; those of the payload override those of the template.
_SETTINGS: Final = frozenset({"security", "setting"})
# Elements whose children are overlaid.
_SECTIONS: Final = frozenset({"data", "messages"})


def overlay_document(template: Element, payload: Element, findings: Findings) -> Element:
    """Return the overlay of a payload's root on a template's.

    Neither root is modified; elements keep the locations of their own text. Reports each element
    that would replace one with final="true".
    """
    merged = _overlay_children(template, payload, findings)
    if payload.attributes:
        merged.location = payload.location  # errors in attributes are reported at the payload
    return merged


def _overlay_children(template: Element, payload: Element, findings: Findings) -> Element:
    attributes = template.attributes | payload.attributes
    merged = Element(template.tag, attributes, template.location, list(template.children))
    positions: dict[Key | None, int] = {
        key_of(child): position
        for position, child in enumerate(merged.children)
        if isinstance(child, Element)
    }
    positions.pop(None, None)  # elements without a key are appended
    for child in payload.children:
        # Each element is replaced once; a second one of its key is appended and reported later.
        position = positions.pop(key_of(child), None) if isinstance(child, Element) else None
        present = None if position is None else merged.children[position]
        if position is not None and isinstance(present, Element) and isinstance(child, Element):
            merged.children[position] = _replace(present, child, findings)
        else:
            merged.children.append(child)
    return merged


def _replace(present: Element, child: Element, findings: Findings) -> Element:
    """Return the replacement of an element: that of the payload, both merged, or itself if final."""
    if present.attributes.get("final", "").strip() == "true":
        findings.error(
            "final",
            f"{_describe_part(child)} may not be replaced: the template declares it final",
            child.location,
        )
        return present
    if child.tag in _SECTIONS:
        return _overlay_children(present, child, findings)
    if child.tag in _SETTINGS:
        return Element(
            child.tag, present.attributes | child.attributes, child.location, child.children
        )
    return child


def _describe_part(element: Element) -> str:
    keys = ("name", "element", "family", "key")
    name = next(filter(None, map(element.attributes.get, keys)), None)
    return f'`{element.tag}` "{shorten_text(name)}"' if name else f"`{element.tag}`"
