"""Computed styles of SVG elements: presentation attributes, rules and `style`, with inheritance."""

from __future__ import annotations

from typing import Final

from workers.engine.svg.reader import SvgElement
from workers.engine.svg.stylesheets import (
    ATTRIBUTES,
    FONT_SIZES,
    INHERITED,
    KNOWN,
    NON_INHERITED,
    Declarations,
    RuleIndex,
)
from workers.engine.svg.values import RGB, to_color, to_length, to_opacity

SvgStyle = dict[str, str]

INITIAL: Final[SvgStyle] = INHERITED | NON_INHERITED


def resolve_style(element: SvgElement, parent: SvgStyle, sheet: RuleIndex) -> SvgStyle:
    """Return the computed style of an element; font sizes are in px, colours as written."""
    declared = _collect_declarations(element, sheet)
    style = {name: parent[name] for name in INHERITED}
    style |= NON_INHERITED
    if not declared:
        return style
    for name, value in declared.items():
        if value == "inherit":
            style[name] = parent[name]
        elif value in ("initial", "unset", "revert"):
            style[name] = (
                parent[name] if name in INHERITED and value != "initial" else INITIAL[name]
            )
        else:
            style[name] = value
    style["font-size"] = _font_size(style["font-size"], parent["font-size"])
    return style


def _collect_declarations(element: SvgElement, sheet: RuleIndex) -> Declarations:
    """Return the declarations for an element in cascade order (CSS Cascade 5 §6)."""
    declared = {
        name: value
        for name, written in element.attributes.items()
        if name in ATTRIBUTES and sheet.is_accepted(name, value := written.strip())
    }
    important: Declarations = {}
    for rule in sheet.find(element):
        declared |= rule.declarations
        important |= rule.important
    if "style" in element.attributes:
        plain, inline_important = sheet.read_style_attribute(element)
        declared |= plain
        important |= inline_important
    declared |= important
    if "font" in declared:
        declared = _expand_font(declared["font"]) | declared
    if "marker" in declared:
        declared = (
            dict.fromkeys(("marker-start", "marker-mid", "marker-end"), declared["marker"])
            | declared
        )
    return {name: value for name, value in declared.items() if name in KNOWN}


def _expand_font(text: str) -> Declarations:
    """Expand the shorthand `font: italic bold 12px/1.2 family`."""
    found: Declarations = {}
    tokens = text.split()
    for at, token in enumerate(tokens):
        if token in ("italic", "oblique"):
            found["font-style"] = token
        elif token in ("bold", "bolder", "lighter") or token.isdigit():
            found["font-weight"] = token
        elif token[:1].isdigit() or token[:1] == "." or token in FONT_SIZES:
            found["font-size"] = token.partition("/")[0]
            found["font-family"] = " ".join(tokens[at + 1 :])
            break
    return found


def _font_size(text: str, parent: str) -> str:
    parent_size = float(parent)
    if text in FONT_SIZES:
        return repr(FONT_SIZES[text])
    if text in ("smaller", "larger"):
        return repr(parent_size / 1.2 if text == "smaller" else parent_size * 1.2)
    size = to_length(text, parent_size, parent_size)
    return parent if size is None or size < 0 else repr(size)


def font_size(style: SvgStyle) -> float:
    """Return the font size in user units."""
    return float(style["font-size"])


def is_bold(style: SvgStyle) -> bool:
    """Return whether text is bold; `bolder` is, as fonts have two weights."""
    weight = style["font-weight"]
    return weight in ("bold", "bolder") or (weight.isdigit() and int(weight[:4]) >= 600)


def parse_color(text: str, style: SvgStyle) -> tuple[RGB, float] | None:
    """Return a colour of an element and its opacity, None where it is none or invalid."""
    return to_color(style["color"] if text.lower() == "currentcolor" else text)


def opacity(style: SvgStyle, name: str = "opacity") -> float:
    """Return an opacity from 0 to 1."""
    return to_opacity(style[name])
