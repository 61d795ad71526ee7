"""Markdown of the reference: lists, links, pictures, tables of attributes and their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from workers.engine.syntax import values as v
from workers.engine.syntax.values import ValueType
from workers.engine.syntax.vocabulary import AttributeSpec

_PICTURES: Final = "pictures"  # relative to LANGUAGE.md


def code(text: str) -> str:
    """Return text as inline code, escaped for tables."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text.replace('|', chr(92) + '|')}{fence}"


def link(name: str) -> str:
    """Return a link to the section of an element."""
    return f"[`{name}`](#{name})"


def picture(name: str, widths: Mapping[str, int]) -> str:
    """Return the HTML of a picture by its name without suffix; `widths` are by file name."""
    file = f"{name}.png"
    return f'<img src="{_PICTURES}/{file}" width="{widths[file]}" alt="{name}, rendered">'


def join_list(items: Iterable[str]) -> str:
    """Return items as a list in a sentence."""
    *most, last = items
    return f"{', '.join(most)} and {last}" if most else last


def collapse_sides(names: Sequence[str]) -> list[str]:
    """Return names with a shorthand and all its sides merged into one."""
    collapsed = list(names)
    for name in names:
        sides = [f"{name}-{side}" for side in ("top", "right", "bottom", "left")]
        if all(side in collapsed for side in sides):
            collapsed = [other for other in collapsed if other not in sides]
            collapsed[collapsed.index(name)] = f"{name}, {name}-…"
    return collapsed


def row(*cells: str) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(cells)} |"


def anchor_of(attribute: str, *elements: str) -> str:
    """Return the anchor of an attribute in the table of its element, or of its group of properties."""
    return f"{elements[0] if elements else 'property'}.{attribute}"


def describe_attributes(specs: Sequence[AttributeSpec], *elements: str) -> str:
    """Return a table of attributes: name, meaning, values, default; with an anchor for each element."""
    lines = [row("Attribute", "", "Values", "Default"), row("---", "---", "---", "---")]
    return "\n".join([*lines, *(_describe_attribute(spec, elements) for spec in specs)])


def _describe_attribute(spec: AttributeSpec, elements: Sequence[str]) -> str:
    marks = ("†" if spec.is_fixed else "") + ("↓" if spec.is_inherited else "")
    anchors = [anchor_of(spec.name, each) for each in elements] or [anchor_of(spec.name)]
    name = "".join(f'<a id="{anchor}"></a>' for anchor in anchors) + code(spec.name)
    name += f" {marks}" if marks else ""
    default = "required" if spec.is_required else code(spec.default) if spec.default else "–"
    return row(name, spec.doc.replace("|", "\\|"), describe_kind(spec.value_type), default)


def describe_kind(kind: ValueType[Any]) -> str:
    """Return the accepted values of a kind, in the terms of the chapter on values."""
    if kind.is_closed:
        return " ".join(code(word) for word in kind.choices)
    return _describe(kind).replace("|", "\\|")


def _describe(kind: ValueType[Any]) -> str:
    if kind is v.COLOR:
        return "a [colour](#values)"
    if kind.units:
        return _describe_length(kind)
    return kind.form.format(*map(_describe, kind.parts)) if kind.parts else kind.form


def _describe_length(kind: ValueType[Any]) -> str:
    text = "a [length](#values)"
    if (kind.minimum, kind.maximum) != (0.0, v.MAX_LENGTH):
        low, high = kind.minimum or 0.0, kind.maximum or 0.0
        text += ", negative too" if low < 0 else f" from {low:g}pt to {high:g}pt"
    extra = [code(unit) for unit in ("%", "fr") if unit in kind.units]
    text += f", in {join_list(extra)} too" if extra else ""
    return text + "".join(f", or {word}" for word in kind.choices)
