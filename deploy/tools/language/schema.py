"""The RELAX NG schema for editors: elements, content models, attributes and closed sets of values."""

from __future__ import annotations

from functools import cache
from typing import Any, Final
from xml.etree import ElementTree as ET

from workers.engine.syntax.values import ValueType
from workers.engine.syntax.vocabulary import (
    COMMON,
    ELEMENTS,
    PROPERTIES,
    AttributeSpec,
    ContentModel,
    ElementSpec,
)

_RNG: Final = "http://relaxng.org/ns/structure/1.0"
_NOTES: Final = "http://relaxng.org/ns/compatibility/annotations/1.0"
_TYPES: Final = "http://www.w3.org/2001/XMLSchema-datatypes"
_HEAD: Final = (
    "The document language of Pressroom, for editors. Written by `make language` from the "
    "vocabulary of the engine, which checks far more: values, references, data and expressions."
)
_SHARED: Final = {spec.name: spec for spec in (*COMMON, *PROPERTIES.values())}
_WITH_EXPRESSION: Final = "value-with-expression"
_WITH_SETTING: Final = "value-with-setting"


def write_schema() -> str:
    """Return the schema as XML text.

    It accepts every document that validates without findings, and rejects unknown and misplaced
    elements, unknown and missing attributes, and values outside a closed set or without a unit.
    """
    grammar = ET.Element("grammar", {"xmlns": _RNG, "xmlns:a": _NOTES, "datatypeLibrary": _TYPES})
    ET.SubElement(grammar, "a:documentation").text = _HEAD
    ET.SubElement(ET.SubElement(grammar, "start"), "ref", name="document")
    for element in ELEMENTS.values():
        if element.content is not ContentModel.TRANSPARENT:
            _define_element(grammar, element)
    for names, owner in _find_sharers().items():
        define = ET.SubElement(grammar, "define", name=f"shared-by-{owner}")
        for name in names:
            ET.SubElement(ET.SubElement(define, "optional"), "ref", name=f"attribute-{name}")
    for attribute in _SHARED.values():
        define = ET.SubElement(grammar, "define", name=f"attribute-{attribute.name}")
        _write_attribute(define, attribute)
    _define_expression(grammar)
    ET.indent(grammar)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(grammar, "unicode") + "\n"


# --- elements -------------------------------------------------------------------------------------------


def _define_element(grammar: ET.Element, spec: ElementSpec) -> None:
    """Define an element, and a variant of each transparent element allowed inside it."""
    _write_element(ET.SubElement(grammar, "define", name=spec.name), spec, inside=spec)
    for child in sorted(spec.children):
        if ELEMENTS[child].content is ContentModel.TRANSPARENT:
            define = ET.SubElement(grammar, "define", name=f"{child}-in-{spec.name}")
            _write_element(define, ELEMENTS[child], inside=spec)


def _write_element(define: ET.Element, spec: ElementSpec, *, inside: ElementSpec) -> None:
    element = ET.SubElement(define, "element", name=spec.name)
    ET.SubElement(element, "a:documentation").text = spec.doc
    for attribute in spec.attributes.values():
        if attribute != _SHARED.get(attribute.name):
            holder = element if attribute.is_required else ET.SubElement(element, "optional")
            _write_attribute(holder, attribute)
    if names := _shared_names(spec):
        ET.SubElement(element, "ref", name=f"shared-by-{_find_sharers()[names]}")
    if spec.accepts_arguments:
        _write_arguments(element, spec)
    _write_content(element, inside)


def _shared_names(spec: ElementSpec) -> tuple[str, ...]:
    return tuple(name for name, own in spec.attributes.items() if own == _SHARED.get(name))


@cache
def _find_sharers() -> dict[tuple[str, ...], str]:
    """Return each set of shared attributes with the first element that has it."""
    sharers: dict[tuple[str, ...], str] = {}
    for spec in ELEMENTS.values():
        if names := _shared_names(spec):
            sharers.setdefault(names, spec.name)
    return sharers


def _write_content(element: ET.Element, spec: ElementSpec) -> None:
    if spec.content is ContentModel.TEXT:
        ET.SubElement(element, "text")
    elif spec.children:
        holder = ET.SubElement(element, "mixed") if spec.allows_text else element
        choices = ET.SubElement(ET.SubElement(holder, "zeroOrMore"), "choice")
        for child in sorted(spec.children):
            is_parent = ELEMENTS[child].content is ContentModel.TRANSPARENT
            ET.SubElement(choices, "ref", name=f"{child}-in-{spec.name}" if is_parent else child)
    elif not spec.attributes:
        ET.SubElement(element, "empty")


# --- attributes -----------------------------------------------------------------------------------------


def _write_attribute(parent: ET.Element, spec: AttributeSpec) -> None:
    attribute = ET.SubElement(parent, "attribute", name=spec.name)
    default = f" Default: {spec.default}." if spec.default is not None else ""
    ET.SubElement(attribute, "a:documentation").text = spec.doc + default
    kind = spec.value_type
    words, pattern = kind.choices if kind.is_closed else (), _pattern(kind)
    if spec.is_expression or not (words or pattern):
        ET.SubElement(attribute, "text")
        return
    choice = ET.SubElement(attribute, "choice")
    for word in words:
        ET.SubElement(choice, "value").text = word
    if pattern:
        _write_pattern(choice, pattern)
    ET.SubElement(choice, "ref", name=_WITH_SETTING if spec.is_fixed else _WITH_EXPRESSION)


def _write_arguments(element: ET.Element, spec: ElementSpec) -> None:
    """Accept attributes of any other name: the schema does not know the arguments of a part."""
    attribute = ET.SubElement(ET.SubElement(element, "zeroOrMore"), "attribute")
    others = ET.SubElement(ET.SubElement(attribute, "anyName"), "except")
    for name in spec.attributes:
        ET.SubElement(others, "name").text = name
    ET.SubElement(attribute, "text")


# A pattern accepts all values of its kind and little more; ranges are checked by the engine.
_WHOLE_NUMBER: Final = r"[+\-]?[0-9]{1,9}"


def _pattern(kind: ValueType[Any]) -> str | None:
    if kind.is_whole:
        return _WHOLE_NUMBER
    if not kind.units:
        return None
    sign = r"[+\-]?" if kind.minimum is not None and kind.minimum < 0 else "[+]?"
    others = "".join(f"|{word}" for word in kind.choices)
    return rf"{sign}([0-9]+(\.[0-9]+)?|\.[0-9]+)({'|'.join(kind.units)})|[+\-]?0+(\.0+)?{others}"


def _write_pattern(parent: ET.Element, pattern: str) -> None:
    data = ET.SubElement(parent, "data", type="token")
    ET.SubElement(data, "param", name="pattern").text = pattern


def _define_expression(grammar: ET.Element) -> None:
    define = ET.SubElement(grammar, "define", name=_WITH_EXPRESSION)
    _write_pattern(define, r"[\s\S]*\{\{[\s\S]*")
    define = ET.SubElement(grammar, "define", name=_WITH_SETTING)
    _write_pattern(define, r"[\s\S]*\{\{\s*settings\.[\s\S]*")
