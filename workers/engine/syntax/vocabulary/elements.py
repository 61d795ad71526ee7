"""The elements of the language, as `elements.txt` declares them, and the attributes that many share (`properties.txt`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

from workers.engine.barcodes import SYMBOLOGIES
from workers.engine.einvoices import PROFILES, SYNTAX_NAMES
from workers.engine.syntax import names, numbers, typography
from workers.engine.syntax import values as v
from workers.engine.syntax.address_windows import ADDRESS_WINDOWS
from workers.engine.syntax.values import ValueType
from workers.engine.syntax.vocabulary import charts
from workers.engine.syntax.vocabulary.specs import (
    BLOCKS,
    GROUP_LIKE,
    IN_PARTS,
    INLINE,
    ROWS,
    STRUCTURE_TYPES,
    AttributeGroup,
    AttributeSpec,
    ContentModel,
    ElementSpec,
)
from workers.engine.units import mm

MAX_BLEED: Final = mm(50)

_LIST_STYLES: Final = ("disc", "circle", "square", "dash", "none")
_NUMBER_STYLES: Final = ("decimal", "lower-alpha", "upper-alpha", "lower-roman", "upper-roman")
_KINDS: Final[dict[str, ValueType[Any]]] = {
    **{
        name: kind
        for source in (v, numbers, names, typography)
        for name, kind in vars(source).items()
        if isinstance(kind, ValueType)
    },
    "ANY_LIST_STYLE": v.choice(*_LIST_STYLES, *_NUMBER_STYLES),
    "BARCODE": v.choice(*SYMBOLOGIES),
    "BLEED": v.length(high=MAX_BLEED),
    "CAPS": v.choice(*typography.CAPS),
    "CHART": v.choice(*charts.CHART_KINDS),
    "DPI": v.keywords({"203": 203, "300": 300, "600": 600}),
    "HYPHENATION_ZONE": v.length(percent=True),
    "INVOICE_PROFILE": v.choice(*PROFILES),
    "INVOICE_SYNTAX": v.choice(*SYNTAX_NAMES),
    "LIST_STYLE": v.choice(*_LIST_STYLES),
    "MARK": v.length(low=mm(2)),
    "MODULE": v.length(low=0.1, high=100),
    "NUMBER_STYLE": v.choice(*_NUMBER_STYLES),
    "PITCH": v.length(low=mm(1.5)),
    "REDUCTION": v.length(high=10),
    "SCRIPT": v.choice(*typography.POSITIONS),
    "TABLE_FRAGMENTS": v.choice("all", "first", "rest", "last", "not-last"),
    "WATERMARK_SIZE": v.length(low=0.5, high=2000),
    "WINDOW": v.choice(*ADDRESS_WINDOWS),
}
_EXPRESSIONS: Final = (v.EXPRESSION, v.FILTERS, v.LOOP)
_CHILDREN: Final = {"IN_PARTS": IN_PARTS, "ROWS": ROWS}
_INSIDE: Final = {ContentModel.INLINE: INLINE, ContentModel.BLOCKS: BLOCKS | INLINE}
_LINE: Final = re.compile(
    r"(?P<fixed>fixed )?(?P<inherited>inherited )?(?:\[(?P<types>[\w,]+)(?P<needed>!)?\] )?"
    r"(?:\+ (?P<groups>[^-][\w -]*?)(?: - (?P<left_out>.+))?|(?P<attribute>\S.*))"
)
_ATTRIBUTE: Final = re.compile(
    r"(?P<name>[\w-]+)(?P<required>!)?  (?P<kind>\S+)(?: = ?(?P<default>.*?))?  (?P<doc>.+)"
)
_RANGE: Final = re.compile(r"(-?\d+)\.\.(\d+)")


Groups = Mapping[str, tuple[AttributeSpec, ...]]


def read_groups() -> Groups:
    """Return the attributes of each group of `properties.txt`, and each property as a group of its own."""
    groups: dict[str, tuple[AttributeSpec, ...]] = {}
    for head, lines in _read_blocks("properties.txt"):
        name, *section = head.split()
        group = AttributeGroup(section[0]) if section else AttributeGroup.OWN
        groups[name] = tuple(spec for line in lines for spec in _read_line(line, groups, group))
        if name == "ALL_PROPERTIES":
            groups |= {spec.name: (spec,) for spec in groups[name]}
    return groups


def read_elements(groups: Groups) -> dict[str, ElementSpec]:
    """Return the elements of `elements.txt` by name, in its order."""
    elements: dict[str, ElementSpec] = {}
    for head, lines in _read_blocks("elements.txt"):
        spec = _read_element(head, lines, elements, groups)
        elements[spec.name] = spec
    return elements


def _read_blocks(file: str) -> Iterator[tuple[str, list[str]]]:
    text = files(__package__).joinpath(file).read_text("utf-8")
    for block in re.findall(r"^\w.*\n(?: .*\n)*", text, re.MULTILINE):
        head, *lines = block.splitlines()
        yield head, [line.strip() for line in lines]


def _read_element(
    head: str, lines: Iterable[str], elements: Mapping[str, ElementSpec], groups: Groups
) -> ElementSpec:
    declared, _, doc = head.partition("  ")
    name, model, *arguments = declared.split()
    content = ContentModel[model]
    inside = _INSIDE.get(content, frozenset())
    attributes: dict[str, AttributeSpec] = {}
    for line in lines:
        mark, _, rest = line.partition(" ")
        if mark == ">":
            inside = inside.union(*(_CHILDREN.get(child, (child,)) for child in rest.split()))
        else:
            same = mark == "as"
            for spec in elements[rest].attributes.values() if same else _read_line(line, groups):
                attributes.setdefault(spec.name, spec)
    if "group" in inside:
        inside |= GROUP_LIKE
    return ElementSpec(
        name,
        doc,
        MappingProxyType(attributes),
        content,
        inside,
        STRUCTURE_TYPES.get(name, ""),
        accepts_arguments=bool(arguments),
    )


def _read_line(
    line: str, groups: Groups, group: AttributeGroup = AttributeGroup.OWN
) -> Iterator[AttributeSpec]:
    """Yield the attributes of a line: those of groups, or the one that it declares in `group`."""
    parts = _LINE.fullmatch(line)
    if parts is None:
        raise ValueError(line)
    changes: dict[str, Any] = {"is_fixed": True} if parts["fixed"] else {}
    if parts["types"]:
        types = getattr(charts, parts["types"], None) or tuple(parts["types"].split(","))
        changes |= {"types": types, "needed_by": types if parts["needed"] else ()}
    if parts["attribute"]:
        changes |= {"group": group, "is_inherited": bool(parts["inherited"])}
        yield replace(_read_attribute(parts["attribute"]), **changes)
        return
    left_out = (parts["left_out"] or "").split()
    for name in parts["groups"].split():
        for spec in groups[name]:
            if spec.name not in left_out:
                yield replace(spec, **changes) if changes else spec


def _read_attribute(text: str) -> AttributeSpec:
    parts = _ATTRIBUTE.fullmatch(text)
    if parts is None:
        raise ValueError(text)
    kind = _read_kind(parts["kind"])
    return AttributeSpec(
        parts["name"],
        kind,
        parts["doc"],
        parts["default"],
        is_required=bool(parts["required"]),
        is_expression=kind in _EXPRESSIONS,
    )


def _read_kind(text: str) -> ValueType[Any]:
    if bounds := _RANGE.fullmatch(text):
        return v.count(int(bounds[1]), int(bounds[2]))
    if text.endswith("{1,4}"):
        return v.sides(_KINDS[text.removesuffix("{1,4}")])
    return _KINDS[text] if text.isupper() and "|" not in text else v.choice(*text.split("|"))
