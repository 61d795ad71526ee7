"""The syntax tree: elements and text as written, each with its place in the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from workers.engine.diagnostics import Findings, Place


@dataclass(slots=True)
class Text:
    """Character data as written, white space kept; `line` and `column` (from 1) are of its first character.

    Literal text comes from Markdown: it holds no expressions, a `{{` in it is two braces.
    """

    text: str
    line: int
    column: int
    is_literal: bool = False


@dataclass(slots=True)
class VerbatimText(Text):
    """A CDATA section exactly as it stands in the source, with the line ends written there."""


@dataclass(slots=True, eq=False)
class Element:
    """One element of the text: tag, attributes as written, children in order, place.

    Identity is meaningful: two elements are the same only when they are the same object. The
    attributes of a literal element (one made from Markdown) hold no expressions.
    """

    tag: str
    attributes: dict[str, str]
    place: Place
    children: list[Element | Text] = field(default_factory=list)
    is_literal: bool = False

    def elements(self, tag: str | None = None) -> Iterator[Element]:
        """Walk the child elements, all or those of one tag."""
        for child in self.children:
            if isinstance(child, Element) and (tag is None or child.tag == tag):
                yield child

    def walk(self) -> Iterator[Element]:
        """Walk the element and all below it, in document order."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting += reversed(list(element.elements()))

    def find(self, tag: str) -> Element | None:
        """Find the first child element of a tag."""
        return next(self.elements(tag), None)

    @property
    def text(self) -> str:
        """Give the character data directly inside the element, joined."""
        return "".join(child.text for child in self.children if isinstance(child, Text))


@dataclass(slots=True, eq=False)
class MarkdownElement(Element):
    """An element made from Markdown.

    A heading has a `slug`, which is its id, and a link within the document a `fragment`. They
    follow GitHub's rules for names, which accept more than an `id` of the language does.
    """

    slug: str = ""
    fragment: str = ""


@dataclass(slots=True)
class SyntaxTree:
    """What the parser made of a text: its root, None when it is not well-formed, and the findings."""

    root: Element | None
    findings: Findings
