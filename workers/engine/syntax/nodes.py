"""The syntax tree: elements and text as written, each with its source location.

A declaration has a key: it is declared once in a text, and replaced by that of a text laid over it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from workers.engine.diagnostics import Diagnostic, Findings, SourceLocation

JSON_TAGS: Final = frozenset({"json", "sample"})  # elements whose text is JSON


class PartParameter(NamedTuple):
    """A parameter of a part: its name, and the expression of its default if it has one."""

    name: str
    default: str | None


@dataclass(slots=True)
class Text:
    """Character data with its white space; `line` and `column` (from 1) are of its first character.

    Literal text comes from Markdown: `{{` in it does not start an expression.
    """

    text: str
    line: int
    column: int
    is_literal: bool = False


@dataclass(slots=True)
class CDataText(Text):
    """A CDATA section with the line ends of the source, which XML parsers normalise."""


@dataclass(slots=True, eq=False)
class Element:
    """One element: tag, attributes as written, children in order, source location.

    Elements are compared by identity. The attributes of a literal element, which comes from
    Markdown, hold no expressions.
    """

    tag: str
    attributes: dict[str, str]
    location: SourceLocation
    children: list[Element | Text] = field(default_factory=list)
    is_literal: bool = False

    def elements(self, tag: str | None = None) -> Iterator[Element]:
        """Yield the child elements, all or those of one tag."""
        for child in self.children:
            if isinstance(child, Element) and (tag is None or child.tag == tag):
                yield child

    def walk(self) -> Iterator[Element]:
        """Yield the element and its descendants in document order."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            if element.children:
                # Not by `elements`: the checks walk the whole document some twenty times.
                waiting += [each for each in element.children[::-1] if isinstance(each, Element)]

    def find(self, tag: str) -> Element | None:
        """Return the first child element of a tag, None without one."""
        return next(self.elements(tag), None)

    @property
    def text(self) -> str:
        """The character data directly inside the element, joined."""
        return "".join(child.text for child in self.children if isinstance(child, Text))


ALERTS: Final = ("note", "tip", "important", "warning", "caution")  # of GitHub's Markdown


@dataclass(slots=True, eq=False)
class MarkdownElement(Element):
    """An element made from Markdown.

    The `slug` of a heading is its id; a link within the document has a `fragment`. Both follow
    GitHub's rules, which allow more characters than an `id` of the language. `styles` are names of built-in
    styles, which those of the document extend. `alert` is the kind of an alert, of which this is the title.
    """

    slug: str = ""
    fragment: str = ""
    styles: tuple[str, ...] = ()
    alert: str = ""


@dataclass(slots=True, eq=False)
class Expansion(Element):
    """A `group` that replaces an `else`, `use` or `slot` (part_expansion.py)."""

    @property
    def source_location(self) -> SourceLocation:
        """The location of the element that it replaces."""
        return self.location


@dataclass(slots=True, eq=False)
class ElseExpansion(Expansion):
    """The content of an `else`; `condition` is the `if` of the element at `condition_location`."""

    condition: str = ""
    condition_location: SourceLocation | None = None


@dataclass(slots=True, eq=False)
class PartExpansion(Expansion):
    """The content of a part in place of a `use`; its `location` is that of the `part`.

    `arguments` are as written in the `use`. `fills_slot` is set if the `use` has content of its own,
    `is_unused` if no `use` names the part.
    """

    name: str = ""
    use_location: SourceLocation | None = None
    parameters: tuple[PartParameter, ...] = ()
    arguments: dict[str, str] = field(default_factory=dict)
    fills_slot: bool = False
    is_unused: bool = False

    @property
    def source_location(self) -> SourceLocation:
        """The location of the `use`."""
        return self.use_location or self.location


@dataclass(slots=True, eq=False)
class SlotExpansion(Expansion):
    """The content of a `use` in place of the `slot` of its part; its location is that of the `use`."""


@dataclass(slots=True)
class SyntaxTree:
    """The result of parsing: the root element, None if the text is not well-formed, and the findings.

    `moving_links` are the warnings of links that name other content once that changes.
    """

    root: Element | None
    findings: Findings
    moving_links: tuple[Diagnostic, ...] = ()


# What is declared, what tells it from others of its name, and its name.
Key = tuple[str, str, str]

_IMPLIED_NAMES: Final = {"flow": "body", "page": "default"}
_NAMED: Final = frozenset(
    {"setting", "field", "dataset", "let", "style", "color", "flow", "page", "attachment", "part"}
)
_SINGLE: Final = frozenset({"data", "security", "einvoice"})
_WEIGHTS: Final = {"normal": "400", "bold": "700"}


def key_of(element: Element) -> Key | None:
    """Return the key of a declaration, None for an element that may be repeated."""
    tag, attributes = element.tag, element.attributes
    if tag in _SINGLE:
        return tag, "", ""
    if tag == "messages":
        return tag, "", attributes.get("lang", "").lower()
    if tag == "message":
        forms = (
            f"{name} {attributes[name]}" for name in ("plural", "ordinal") if name in attributes
        )
        return tag, ", ".join(forms), attributes.get("key", "")
    if tag == "style" and "element" in attributes:
        return tag, "element", attributes["element"]
    if tag == "font":
        return tag, _uses_of_font(attributes), attributes.get("family", "").strip().casefold()
    if tag in _NAMED:
        name = attributes.get("name", _IMPLIED_NAMES.get(tag))
        return None if name is None else (tag, attributes.get("on", "all"), name)
    return None


def _uses_of_font(attributes: Mapping[str, str]) -> str:
    """Return the weight, style and width of a font, or of one that declares none its `src` and `index`."""
    weights = attributes.get("font-weight", "").split()
    uses = [
        " ".join(_WEIGHTS.get(word, word) for word in weights),
        *(attributes.get(name, "").strip() for name in ("font-style", "font-stretch")),
    ]
    if not any(uses):
        uses = [attributes.get(name, "").strip() for name in ("src", "index")]
    return ",".join(uses)
