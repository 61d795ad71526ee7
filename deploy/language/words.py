"""How the reference words things in Markdown: lists, links, pictures, attributes and their values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from workers.engine.syntax import values as v
from workers.engine.syntax.values import Kind
from workers.engine.syntax.vocabulary import AttributeSpec

_PICTURES: Final = "../../deploy/pictures/language"  # from where LANGUAGE.md lies
_LENGTH: Final = re.compile(
    r"a number with a unit \(([^)]*)\)(, not negative|, from (\S+)pt to (\S+)pt)?"
)
_COLOR: Final = "a colour name, #rgb, #rrggbb, rgb(r g b) or cmyk(c m y k)"


def code(text: str) -> str:
    """Write text as code, in a cell of a table or anywhere else."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text.replace('|', chr(92) + '|')}{fence}"


def link(name: str) -> str:
    """Write the name of an element as a link to its section."""
    return f"[`{name}`](#{name})"


def picture(name: str, widths: Mapping[str, int]) -> str:
    """Show a picture by its name without suffix; `widths` are by file name."""
    file = f"{name}.png"
    return f'<img src="{_PICTURES}/{file}" width="{widths[file]}" alt="{name}, rendered">'


def listed(items: Iterable[str]) -> str:
    """Write a list in a sentence."""
    *most, last = items
    return f"{', '.join(most)} and {last}" if most else last


def without_sides(names: Sequence[str]) -> list[str]:
    """Write `margin` with all its sides as one; the same for other shorthands."""
    said = list(names)
    for name in names:
        sides = [f"{name}-{side}" for side in ("top", "right", "bottom", "left")]
        if all(side in said for side in sides):
            said = [other for other in said if other not in sides]
            said[said.index(name)] = f"{name}, {name}-…"
    return said


def row(*cells: str) -> str:
    """Write a row of a table."""
    return f"| {' | '.join(cells)} |"


def describe_attributes(specs: Sequence[AttributeSpec]) -> str:
    """Write a table of attributes: name, meaning, values, default."""
    lines = [row("Attribute", "", "Values", "Default"), row("---", "---", "---", "---")]
    return "\n".join([*lines, *map(_describe_attribute, specs)])


def _describe_attribute(spec: AttributeSpec) -> str:
    marks = ("†" if spec.is_fixed else "") + ("↓" if spec.is_inherited else "")
    name = code(spec.name) + (f" {marks}" if marks else "")
    default = "required" if spec.is_required else code(spec.default) if spec.default else "–"
    return row(name, spec.doc, describe_kind(spec.kind), default)


def describe_kind(kind: Kind[Any]) -> str:
    """Say what a kind accepts, in the words of the chapter on values."""
    if kind.choices and kind.accepts == v.choice(*kind.choices).accepts:
        return " ".join(code(word) for word in kind.choices)
    text = _LENGTH.sub(_describe_length, kind.accepts)
    text = text.replace(f"{_COLOR}, or the name of a color element", "a [colour](#values)")
    return text.replace("|", "\\|")


def _describe_length(found: re.Match[str]) -> str:
    units, low, high = found[1].split(), found[3], found[4]
    name = "a [length](#values)"
    if low:
        name += ", negative too" if float(low) < 0 else f" from {low}pt to {high}pt"
    extra = [code(unit) for unit in ("%", "fr") if unit in units]
    return name + (f", in {listed(extra)} too" if extra else "")
