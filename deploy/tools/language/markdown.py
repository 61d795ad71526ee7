"""Markdown of the reference: its written part, lists, links, pictures, tables of attributes and their values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from workers.engine.ports import Payload, PayloadKind
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


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows))


def anchor_of(attribute: str, *elements: str) -> str:
    """Return the anchor of an attribute in the table of its element, or of its group of properties."""
    return f"{elements[0] if elements else 'property'}.{attribute}"


def describe_attributes(specs: Sequence[AttributeSpec], *elements: str) -> str:
    """Return a table of attributes: name, meaning, values, default; with an anchor for each element."""
    rows = (_describe_attribute(spec, elements) for spec in specs)
    return table(("Attribute", "", "Values", "Default"), rows)


def _describe_attribute(spec: AttributeSpec, elements: Sequence[str]) -> Sequence[str]:
    marks = ("†" if spec.is_fixed else "") + ("↓" if spec.is_inherited else "")
    anchors = [anchor_of(spec.name, each) for each in elements] or [anchor_of(spec.name)]
    name = "".join(f'<a id="{anchor}"></a>' for anchor in anchors) + code(spec.name)
    name += f" {marks}" if marks else ""
    default = "required" if spec.is_required else code(spec.default) if spec.default else "–"
    return name, spec.doc.replace("|", "\\|"), describe_kind(spec.value_type), default


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


_GUIDE: Final = Path(__file__).with_name("guide.md")
RECIPES: Final = Path(__file__).with_name("recipes")
_RECIPE: Final = re.compile(r"<!-- recipe: ([a-z-]+) -->")
_BLOCK: Final = re.compile(
    r"^```(?P<kind>\w+)(?P<payload> payload)?(?: flow=(?P<flow>\w+))?\n(?P<text>.*?)^```$"
    r"(?:\n\n<!-- picture: (?P<picture>[a-z-]+) -->)?",
    re.MULTILINE | re.DOTALL,
)
PICTURE: Final = re.compile(r"<!-- picture: ([a-z-]+) -->")


@dataclass(frozen=True, slots=True)
class Sample:
    """A document of the guide with its payload, and the name of its picture, if any."""

    document: str
    payload: Payload | None
    picture: str | None

    @property
    def shows_pages(self) -> bool:
        """Whether its picture shows whole pages."""
        return "<page" in self.document


def read_guide() -> str:
    """Read the guide, with each recipe as a block of code and its picture.

    Raises:
        FileNotFoundError: The guide names a recipe that is not in the folder.
    """

    def write_recipe(mark: re.Match[str]) -> str:
        document = (RECIPES / f"{mark[1]}.xml").read_text()
        return f"```xml\n{document}```\n\n<!-- picture: {mark[1]} -->"

    return _RECIPE.sub(write_recipe, _GUIDE.read_text())


def find_samples(guide: str) -> tuple[Sample, ...]:
    """Return the documents of a guide in order; a payload is merged into the last document before it."""
    samples: list[Sample] = []
    document = ""
    for block in _BLOCK.finditer(guide):
        payload = None
        if block["payload"]:
            kind = PayloadKind(block["kind"])
            payload = Payload(kind, block["text"].encode(), flow=block["flow"])
        else:
            document = block["text"]
        samples.append(Sample(document, payload, block["picture"]))
    return tuple(samples)
