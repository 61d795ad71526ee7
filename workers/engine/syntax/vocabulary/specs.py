"""Declarations of elements and attributes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from workers.engine.data_tables import read_groups
from workers.engine.syntax.values import ValueType

STRUCTURE_TYPES: Final[Mapping[str, str]] = {
    element: structure_type
    for structure_type, lists in read_groups(__package__, "structure_types.txt").items()
    for elements in lists.values()
    for element in elements.split()
}


FIELDS: Final = ("input", "textarea", "select", "signature")
HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
INLINE: Final = frozenset(
    (
        *("span", "b", "i", "u", "s", "sub", "sup", "code", "bdi", "a", "br"),
        *("img", "barcode", "chart", "group", "ref", "mark", "footnote", "running", *FIELDS),
    )
)
BLOCKS: Final = frozenset(
    (
        *("p", *HEADINGS, "div", "row", "grid", "box", "figure", "ul", "ol", "table", "img", "hr"),
        *("pre", "blockquote", "barcode", "chart", "payment-slip", "address", "markdown", "insert"),
        *("break", "group", "let", "assert", "toc", "index", "endnotes", *FIELDS),
    )
)
ROWS: Final = frozenset(("tr", "group", "let"))
# Children of a part beside blocks, for uses in lists and tables.
IN_PARTS: Final = ("li", "tr", "td", "th", "thead", "tbody", "tfoot", "col", "caption")
GROUP_LIKE: Final = frozenset(("else", "use", "slot"))  # allowed wherever a group is


class AttributeGroup(Enum):
    """Groups of attributes, as the manual lists them."""

    OWN = "own"
    COMMON = "common"
    TEXT = "text"
    BOX = "box"
    BREAK = "break"
    POSITION = "position"
    NUMBER = "number"


class ContentModel(Enum):
    """Content models: what is allowed in an element beside the children it lists."""

    EMPTY = "nothing"
    LISTED = "only the elements listed"
    TEXT = "text without elements"
    INLINE = "text and inline elements"
    BLOCKS = "blocks, text and inline elements"
    TRANSPARENT = "the content of its parent"


@dataclass(frozen=True, slots=True)
class AttributeSpec:
    """An attribute: its name, value type and description.

    `default` is as an author would write it. An expression attribute holds an expression without
    braces; a fixed one is parsed before data are available and must not contain `{{ }}`; all others
    may contain `{{ }}` and are parsed after evaluation. Of an element with a `type`, `types` are those
    that it has an effect on, all if there are none, and `needed_by` those that need it.
    """

    name: str
    value_type: ValueType[Any]
    doc: str
    default: str | None = None
    group: AttributeGroup = AttributeGroup.OWN
    is_inherited: bool = False
    is_required: bool = False
    is_expression: bool = False
    is_fixed: bool = False
    types: tuple[str, ...] = ()
    needed_by: tuple[str, ...] = ()

    def read(self, text: str | None) -> Any:
        """Return the value of a text; the default without one, or if it is not accepted."""
        for written in (text, self.default):
            if written is not None:
                with suppress(ValueError):
                    return self.value_type.parse(written)
        return None


@dataclass(frozen=True, slots=True)
class ElementSpec:
    """An element: its attributes, content model and children.

    `structure_type` is that of tagged documents, "none" for an element without one.
    """

    name: str
    doc: str
    attributes: Mapping[str, AttributeSpec]
    content: ContentModel
    children: frozenset[str]
    structure_type: str = ""
    accepts_arguments: bool = False  # any other attribute is an argument of a part

    @property
    def allows_text(self) -> bool:
        """Whether the element may directly contain character data."""
        return self.content in (ContentModel.TEXT, ContentModel.INLINE, ContentModel.BLOCKS)
