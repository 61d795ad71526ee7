"""What an element and an attribute are, and the words to declare them with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType
from typing import Any, Final

from workers.engine.syntax import values as v
from workers.engine.syntax.examples import EXAMPLES
from workers.engine.syntax.values import Kind

HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
INLINE: Final = frozenset(
    {
        *("span", "b", "i", "u", "s", "sub", "sup", "code", "a", "br", "img", "barcode"),
        *("group", "ref", "mark"),
    }
)
BLOCKS: Final = frozenset(
    {
        "p",
        *HEADINGS,
        "div",
        "row",
        "grid",
        "box",
        "ul",
        "ol",
        "table",
        "img",
        "hr",
        "pre",
        "blockquote",
    }
    | {"barcode", "markdown", "insert", "break", "group", "let", "assert", "toc", "index"}
)
ROWS: Final = frozenset(("tr", "group", "let"))


class Group(Enum):
    """The groups of attributes that many elements share."""

    OWN = "own"
    COMMON = "common"
    TEXT = "text"
    BOX = "box"
    BREAK = "break"
    POSITION = "position"
    NUMBER = "number"


class Content(Enum):
    """What may stand inside an element beside the children it lists."""

    EMPTY = "nothing"
    LISTED = "only the elements listed"
    TEXT = "text without elements"
    INLINE = "text and inline elements"
    BLOCKS = "blocks, text and inline elements"
    PARENT = "what its parent may hold"


@dataclass(frozen=True, slots=True)
class AttributeSpec:
    """One attribute: its kind of value and what it is for.

    `default` is as an author would write it. An expression attribute holds one without braces; a
    fixed one is read before any data are known and takes no `{{ }}`; all others may hold `{{ }}`
    and are read by `kind` once evaluated.
    """

    name: str
    kind: Kind[Any]
    doc: str
    default: str | None = None
    group: Group = Group.OWN
    is_inherited: bool = False
    is_required: bool = False
    is_expression: bool = False
    is_fixed: bool = False


@dataclass(frozen=True, slots=True)
class ElementSpec:
    """One element: its attributes, what it may hold, and a small example of its use."""

    name: str
    doc: str
    attributes: Mapping[str, AttributeSpec]
    content: Content
    children: frozenset[str]
    example: str

    @property
    def takes_text(self) -> bool:
        """Tell whether character data may stand directly inside."""
        return self.content in (Content.TEXT, Content.INLINE, Content.BLOCKS)


def element(
    name: str,
    doc: str,
    content: Content,
    *attributes: AttributeSpec | tuple[AttributeSpec, ...],
    children: Iterable[str] = (),
    example: str = "",
) -> ElementSpec:
    """Compose an element; an own attribute replaces one of the same name from a group.

    A worked example of examples.py stands before a short one given here.
    """
    flat: dict[str, AttributeSpec] = {}
    for entry in attributes:
        for spec in (entry,) if isinstance(entry, AttributeSpec) else entry:
            if spec.name not in flat:
                flat[spec.name] = spec
    inside = frozenset(children)
    if content is Content.INLINE:
        inside |= INLINE
    if content is Content.BLOCKS:
        inside |= BLOCKS | INLINE
    return ElementSpec(
        name, doc, MappingProxyType(flat), content, inside, EXAMPLES.get(name, example)
    )


def attribute(name: str, kind: Kind[Any], doc: str, default: str | None = None) -> AttributeSpec:
    """Declare an attribute of its own."""
    return AttributeSpec(name, kind, doc, default)


def required(name: str, kind: Kind[Any], doc: str) -> AttributeSpec:
    """Declare an attribute that must be given."""
    return AttributeSpec(name, kind, doc, is_required=True)


def expression(name: str, doc: str, *, is_required: bool = False) -> AttributeSpec:
    """Declare an attribute that holds an expression without braces."""
    return AttributeSpec(name, v.EXPRESSION, doc, is_required=is_required, is_expression=True)


def fixed(*specs: AttributeSpec) -> tuple[AttributeSpec, ...]:
    """Make attributes be read before any data are known."""
    return tuple(replace(spec, is_fixed=True) for spec in specs)
