"""The parser of SVG files: a bounded tree of elements, with entities of plain text alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from workers.engine.prepared_images import UndrawableError
from workers.engine.svg.limits import (
    MAX_ATTRIBUTES,
    MAX_BYTES,
    MAX_DEPTH,
    MAX_ELEMENTS,
    MAX_EXPANDED,
    SIMPLER,
    make_limit_error,
)
from workers.engine.xml_reader import UnknownEncodingError, UnreadableXmlError, parse_xml

_SVG: Final = "http://www.w3.org/2000/svg "
_XLINK: Final = "http://www.w3.org/1999/xlink "
_XML: Final = "http://www.w3.org/XML/1998/namespace "
_NOT_REREAD: Final = frozenset({"d", "points", "href", "xlink:href"})
_LONGEST_CLASS: Final = 1000  # characters of a class attribute
# The prolog; possessive, so one pass. For `|(?!)` see decision 0302.
_PROLOG: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s++|<\?(?>.*?\?>)|<!--(?>.*?-->)"
    rb"|<!DOCTYPE(?:[^>\[\"']|\"[^\"]*+\"|'[^']*+'|(?!))*+(?:>|\[)|(?!))*+",
    re.DOTALL,
)
_ROOT: Final = re.compile(rb"<(?:[A-Za-z_][\w.-]{0,40}:)?svg[\s/>]")


class SvgElement:
    """An element of the SVG namespace: local name, attributes, and child elements and texts in order."""

    __slots__ = ("attribute_length", "attributes", "children", "classes", "parent", "tag")

    def __init__(
        self, tag: str, attributes: dict[str, str], parent: SvgElement | None = None
    ) -> None:
        self.parent = parent
        self.tag = tag
        self.attributes = attributes
        self.classes = frozenset(attributes.get("class", "")[:_LONGEST_CLASS].split())
        # Characters that are parsed again for every copy of the element.
        self.attribute_length = sum(
            len(value) for name, value in attributes.items() if name not in _NOT_REREAD
        )
        self.children: list[SvgElement | str] = []

    def child_elements(self) -> Iterator[SvgElement]:
        """Yield the child elements."""
        for child in self.children:
            if isinstance(child, SvgElement):
                yield child

    def walk(self) -> Iterator[SvgElement]:
        """Yield the element and its descendants in document order."""
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(
                child for child in reversed(element.children) if isinstance(child, SvgElement)
            )

    @property
    def text(self) -> str:
        """The text directly inside it."""
        return "".join(child for child in self.children if isinstance(child, str))

    @property
    def href(self) -> str:
        """The target it refers to, empty for none; `href` has priority over `xlink:href` (SVG 2 §16.1.5)."""
        found = self.attributes.get("href")
        return (self.attributes.get("xlink:href", "") if found is None else found).strip()


def is_svg(data: bytes) -> bool:
    """Return whether a file starts like an SVG, in an ASCII-compatible encoding or UTF-16."""
    head = data[:65536]
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        head = head.decode("utf-16", "replace").encode()
    prolog = _PROLOG.match(head)
    if prolog is None:
        return False
    if prolog[0].rstrip().endswith(b"["):  # with declarations, which the parser checks
        return b"<!DOCTYPE svg" in prolog[0]
    return _ROOT.match(head, prolog.end()) is not None


def read_svg(data: bytes) -> SvgElement:
    """Parse a file and return its root.

    A document type is ignored: many drawings have the one of SVG 1.1, and it is never fetched. Of its
    declarations entities of plain text are accepted, as Illustrator writes them for its namespaces.

    Raises:
        UndrawableError: Not well-formed, not SVG, with other declarations, or over a limit.
    """
    if len(data) > MAX_BYTES:
        raise UndrawableError(
            f"The SVG has {len(data):,} bytes; at most {MAX_BYTES:,} are drawn", advice=SIMPLER
        )
    root = _Reader().read(data)
    if root is None or root.tag != "svg":
        raise UndrawableError("The SVG is damaged: its root is not an `svg` element")
    return root


class _Reader:
    """Handles expat's events for one text."""

    def __init__(self) -> None:
        self.root: SvgElement | None = None
        self._open: list[SvgElement] = []
        self._foreign = 0  # open elements of other namespaces
        self._element_count = 0
        self._references = 0
        self._longest_entity = 0

    def read(self, data: bytes) -> SvgElement | None:
        self._references = data.count(b"&")
        handlers = {
            "StartElementHandler": self._start,
            "EndElementHandler": self._end,
            "CharacterDataHandler": self._characters,
            "EntityDeclHandler": self._check_entity,
            "ElementDeclHandler": self._refuse_declaration,
            "AttlistDeclHandler": self._refuse_declaration,
        }
        try:
            parse_xml(data, handlers, separator=" ")
        except UnknownEncodingError:
            raise UndrawableError("The SVG is written in an unknown encoding") from None
        except UnreadableXmlError as error:
            raise UndrawableError(f"The SVG is not well-formed at {error}") from None
        return self.root

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._element_count += 1
        if self._element_count > MAX_ELEMENTS:
            raise make_limit_error("elements", MAX_ELEMENTS)
        if len(self._open) + self._foreign >= MAX_DEPTH:
            raise UndrawableError(f"The SVG nests elements deeper than {MAX_DEPTH}", advice=SIMPLER)
        if len(attributes) > MAX_ATTRIBUTES:
            raise make_limit_error("attributes on one element", MAX_ATTRIBUTES)
        if self._foreign or (" " in name and not name.startswith(_SVG)):
            self._foreign += 1
            return
        parent = self._open[-1] if self._open else None
        element = SvgElement(name.removeprefix(_SVG), _strip_namespaces(attributes), parent)
        if parent is not None:
            parent.children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def _end(self, _name: str) -> None:
        if self._foreign:
            self._foreign -= 1
        else:
            self._open.pop()

    def _characters(self, text: str) -> None:
        if self._open and not self._foreign:
            self._open[-1].children.append(text)

    def _check_entity(self, _name: str, is_parameter: bool, value: str | None, *_: object) -> None:
        """Refuse an entity that is external, contains markup or others, or grows the text much."""
        if is_parameter or value is None or any(mark in value for mark in "&<%"):
            self._refuse_declaration()
        self._longest_entity = max(self._longest_entity, len(value or ""))
        if self._longest_entity * self._references > MAX_EXPANDED:
            raise make_limit_error("characters in its entities", MAX_EXPANDED)

    def _refuse_declaration(self, *_: object) -> None:
        raise UndrawableError(
            "The SVG declares entities in its document type that are not plain text",
            advice="Save it as plain SVG, without declarations.",
        )


def _strip_namespaces(attributes: dict[str, str]) -> dict[str, str]:
    """Return the attributes of SVG, and those of XLink and XML with their usual prefixes."""
    found: dict[str, str] = {}
    for name, value in attributes.items():
        if " " not in name:
            found[name] = value
        elif name.startswith(_XLINK):
            found["xlink:" + name.removeprefix(_XLINK)] = value
        elif name.startswith(_XML):
            found["xml:" + name.removeprefix(_XML)] = value
    return found
