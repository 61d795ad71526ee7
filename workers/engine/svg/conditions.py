"""Conditional processing: required languages and extensions (SVG 2 §5.8)."""

from __future__ import annotations

from typing import Final

from workers.engine.svg.conversion import Conversion
from workers.engine.svg.reader import SvgElement

_LANGUAGE: Final = "en"


def meets_conditions(element: SvgElement, conversion: Conversion) -> bool:
    """Return whether an element is drawn; content for other languages is reported."""
    attributes = element.attributes
    if "requiredExtensions" not in attributes and "systemLanguage" not in attributes:
        return True
    return "requiredExtensions" not in attributes and _matches_language(element, conversion)


def report_other_languages(switch: SvgElement, conversion: Conversion) -> None:
    """Report the children of a `switch` for other languages."""
    for child in switch.child_elements():
        _matches_language(child, conversion)


def _matches_language(element: SvgElement, conversion: Conversion) -> bool:
    value = element.attributes.get("systemLanguage")
    if value is None:
        return True
    tags = [tag.strip().lower() for tag in value[:400].split(",")]
    if any(tag == _LANGUAGE or tag.startswith(f"{_LANGUAGE}-") for tag in tags):
        return True
    if any(tags):
        conversion.omit(f'the content for the language "{value.strip()[:40]}"')
    return False
