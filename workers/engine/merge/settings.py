"""The settings of a template: values that belong to a version of it, and that no payload changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from workers.engine.diagnostics import Findings, Origin
from workers.engine.syntax import values as v
from workers.engine.syntax.checks import shorten_text
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.suggestions import join_words, suggest_name
from workers.engine.syntax.values import ValueType

NAME: Final = "settings"  # by which expressions read them
_TYPES: Final[Mapping[str, ValueType[Any]]] = {
    "string": v.TEXT,
    "text": v.TEXT,
    "color": v.PLAIN_COLOR,
    "image": v.STORED_IMAGE,
    "boolean": v.BOOLEAN,
    "language": v.LANG,
    "paper": v.PAPER,
}
# Stand for values that are not accepted, which would be reported again where they are used.
_FALLBACKS: Final = {"color": "black", "boolean": "false", "language": "en", "paper": "A4"}
_MAY_BE_EMPTY: Final = frozenset({"string", "text", "image"})
_MAX_LENGTH: Final = 4_000
_USE: Final = re.compile(r"\{\{\s*settings\.(\w+)\s*\}\}", re.ASCII)


def apply_settings(root: Element, findings: Findings) -> tuple[Element, dict[str, Any]]:
    """Return a document with its settings in the attributes that name them, and their values.

    An attribute that is read before any data are known can thus depend on a setting. Reports values
    that do not fit their type, and settings of a payload.
    """
    settings = {
        each.attributes["name"]: each
        for each in root.elements("setting")
        if "name" in each.attributes
    }
    if not settings:
        return root, {}
    texts = {name: _read_text(each, findings) for name, each in settings.items()}
    flags = {name for name, each in settings.items() if each.attributes.get("type") == "boolean"}
    values = {name: text == "true" if name in flags else text for name, text in texts.items()}
    for let in (let for data in root.elements("data") for let in data.elements("let")):
        if let.attributes.get("name") == NAME:
            findings.error(
                "duplicate-key", "`let` hides the settings of the template", let.location
            )
    return _substitute(root, texts, findings), values


def _read_text(element: Element, findings: Findings) -> str:
    """Return the text of a setting; of one that is not accepted, which is reported, that of its type."""
    name = shorten_text(element.attributes.get("label") or element.attributes["name"])
    text = element.attributes.get("value", "").strip()
    if element.location.origin is Origin.PAYLOAD:
        findings.error(
            "final",
            f'The setting "{name}" belongs to the template; a payload may not set it',
            element.location,
        )
        return ""
    kind = element.attributes.get("type", "string")
    choices: tuple[str, ...] = ()
    try:
        if "values" in element.attributes:
            choices = v.WORD_LIST.parse(element.attributes["values"])
        if not text and kind in _MAY_BE_EMPTY:
            return ""
        if len(text) > _MAX_LENGTH:
            raise ValueError(f"at most {_MAX_LENGTH:,} characters")
        if choices and text not in choices:
            raise ValueError(f"{join_words(choices, 'or')}{suggest_name(text, choices)}")
        if kind in _TYPES:
            _TYPES[kind].parse(text)
    except ValueError as error:
        findings.error(
            "wrong-value",
            f'The setting "{name}" is "{shorten_text(text)}", accepted is {error}',
            element.location,
        )
        return next(iter(choices), _FALLBACKS.get(kind, ""))
    return text


def _substitute(element: Element, texts: Mapping[str, str], findings: Findings) -> Element:
    """Return an element with the settings in its attributes and those of its descendants.

    An empty setting stays an expression, for an `if` to leave the element out.
    """
    if element.is_literal:
        return element
    attributes = dict(element.attributes)
    for name, text in element.attributes.items():
        for used in _USE.findall(text):
            if used not in texts:
                findings.error(
                    "unknown-setting",
                    f'There is no setting "{shorten_text(used)}"{suggest_name(used, texts)}',
                    element.location,
                )
        attributes[name] = _USE.sub(lambda use: texts.get(use[1]) or use[0], text)
    children = [
        _substitute(child, texts, findings) if isinstance(child, Element) else child
        for child in element.children
    ]
    return replace(element, attributes=attributes, children=children)
