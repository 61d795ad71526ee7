"""How an element of an SVG looks: presentation attributes, rules and its own style, inherited as CSS says."""

from __future__ import annotations

from typing import Final

from workers.engine.layout.svg.properties import (
    ATTRIBUTES,
    FONT_SIZES,
    INHERITED,
    KNOWN,
    OWN,
)
from workers.engine.layout.svg.reader import Node
from workers.engine.layout.svg.sheets import Declarations, StyleSheet
from workers.engine.layout.svg.values import RGB, to_color, to_length, to_opacity

Look = dict[str, str]

INITIAL: Final[Look] = INHERITED | OWN


def resolve_look(node: Node, parent: Look, sheet: StyleSheet) -> Look:
    """Give the look of an element in a parent of a look; font sizes are px, colours stay words."""
    given = _declared(node, sheet)
    look = {name: parent[name] for name in INHERITED}
    look |= OWN
    if not given:
        return look
    for name, value in given.items():
        if value == "inherit":
            look[name] = parent[name]
        elif value in ("initial", "unset", "revert"):
            look[name] = parent[name] if name in INHERITED and value != "initial" else INITIAL[name]
        else:
            look[name] = value
    look["font-size"] = _font_size(look["font-size"], parent["font-size"])
    return look


def _declared(node: Node, sheet: StyleSheet) -> Declarations:
    """Give what is declared for an element, the stronger over the weaker (CSS Cascade 5, 6)."""
    given = {
        name: value
        for name, written in node.attributes.items()
        if name in ATTRIBUTES and sheet.accepts(name, value := written.strip())
    }
    important: Declarations = {}
    for rule in sheet.find(node):
        given |= rule.declarations
        important |= rule.important
    if "style" in node.attributes:
        plain, strong = sheet.read_own(node)
        given |= plain
        important |= strong
    given |= important
    if "font" in given:
        given = _from_shorthand(given["font"]) | given
    if "marker" in given:
        given = dict.fromkeys(("marker-start", "marker-mid", "marker-end"), given["marker"]) | given
    return {name: value for name, value in given.items() if name in KNOWN}


def _from_shorthand(text: str) -> Declarations:
    """Read `font: italic bold 12px/1.2 family`."""
    found: Declarations = {}
    words = text.split()
    for at, word in enumerate(words):
        if word in ("italic", "oblique"):
            found["font-style"] = word
        elif word in ("bold", "bolder", "lighter") or word.isdigit():
            found["font-weight"] = word
        elif word[:1].isdigit() or word[:1] == "." or word in FONT_SIZES:
            found["font-size"] = word.partition("/")[0]
            found["font-family"] = " ".join(words[at + 1 :])
            break
    return found


def _font_size(text: str, parent: str) -> str:
    around = float(parent)
    if text in FONT_SIZES:
        return repr(FONT_SIZES[text])
    if text in ("smaller", "larger"):
        return repr(around / 1.2 if text == "smaller" else around * 1.2)
    size = to_length(text, around, around)
    return parent if size is None or size < 0 else repr(size)


def font_size(look: Look) -> float:
    """Give the font size in user units."""
    return float(look["font-size"])


def is_bold(look: Look) -> bool:
    """Tell whether text is bold; `bolder` is, in a set of two weights."""
    weight = look["font-weight"]
    return weight in ("bold", "bolder") or (weight.isdigit() and int(weight[:4]) >= 600)


def find_color(look: Look, name: str) -> tuple[RGB, float] | None:
    """Give the colour of a property and its opacity; None where it is none, or wrong."""
    value = look[name]
    if value.lower() == "currentcolor":
        value = look["color"]
    return to_color(value)


def opacity(look: Look, name: str = "opacity") -> float:
    """Give an opacity, from 0 to 1."""
    return to_opacity(look[name])
