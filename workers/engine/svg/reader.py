"""The parser of SVG files: a bounded tree of elements, with entities of plain text alone, and its size.

Limits are checked before drawing, and a budget is counted while it is drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from workers.engine.prepared_images import Matrix, UndrawableError
from workers.engine.svg.values import IDENTITY, Viewport, to_length, to_numbers
from workers.engine.xml_reader import UnknownEncodingError, UnreadableXmlError, parse_xml

MAX_BYTES: Final = 8_000_000
MAX_ELEMENTS: Final = 50_000
MAX_DEPTH: Final = 100
MAX_EXPANDED: Final = 1_000_000  # characters: the longest entity, as often as any is referred to
MAX_ATTRIBUTES: Final = 200
MAX_DRAWN: Final = 50_000  # elements, `use` expanded
MAX_SEGMENTS: Final = 300_000  # of all paths, `use` expanded; some 2 s
_FEW_DRAWN: Final = 5_000  # whatever the size of the file
_DRAWN_PER_BYTE: Final = 4
_FEW_SEGMENTS: Final = 50_000
_SEGMENTS_PER_BYTE: Final = 30
MAX_RULES: Final = 2_000  # per drawing
MAX_STYLE_WORK: Final = 1_000_000  # comparisons of rules with elements
MAX_SIDE: Final = 1_000_000.0  # CSS px

MAX_IMAGES: Final = 200  # in one drawing
MAX_DAMAGED: Final = 5  # damaged images; later ones are not decoded

_LONG_ATTRIBUTES: Final = 2000  # characters; a hundred cost as much as a segment
SIMPLER: Final = "Simplify the drawing, or export it as a PNG."


class DrawingBudget:
    """Counts drawing operations and raises when a limit is exceeded.

    The limits grow with the bytes of the file up to those above, so that a file of a kilobyte is
    drawn or refused within a second.
    """

    def __init__(self, size: int) -> None:
        self._max_elements = min(_FEW_DRAWN + _DRAWN_PER_BYTE * size, MAX_DRAWN)
        self._max_segments = min(_FEW_SEGMENTS + _SEGMENTS_PER_BYTE * size, MAX_SEGMENTS)
        self.memory_bytes = 0  # of the forms so far, approximately
        self._elements = 0
        self._segments = 0
        self._compared = 0

    def count_element(self, attribute_length: int = 0) -> None:
        """Count an element, and the length of its attributes where it is large."""
        self._elements += 1
        if attribute_length >= _LONG_ATTRIBUTES:
            self.count_segments(attribute_length // 100)
        if self._elements > self._max_elements:
            what = "elements to draw for its size, each copy of `use` counted"
            raise make_limit_error(what, self._max_elements)

    def count_segments(self, number: int) -> None:
        """Count path segments."""
        self._segments += number
        if self._segments > self._max_segments:
            raise make_limit_error("path segments for its size", self._max_segments)

    def count_rules(self, number: int) -> None:
        """Count style rules that are compared with an element."""
        self._compared += number
        if self._compared > MAX_STYLE_WORK:
            raise make_limit_error("comparisons of its style rules", MAX_STYLE_WORK)


def make_limit_error(what: str, limit: int) -> UndrawableError:
    """Return the error for an exceeded limit."""
    return UndrawableError(
        f"The SVG has too many {what}: at most {limit:,} are drawn", advice=SIMPLER
    )


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
    declarations entities of plain text and values of attributes are followed, as drawing programs write
    them for namespaces.

    Raises:
        UndrawableError: Not well-formed, not SVG, with other entities, or over a limit.
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
        self._tags = 0
        self._defaults = 0

    def read(self, data: bytes) -> SvgElement | None:
        self._references = data.count(b"&")
        self._tags = data.count(b"<")
        handlers = {
            "StartElementHandler": self._start,
            "EndElementHandler": self._end,
            "CharacterDataHandler": self._characters,
            "EntityDeclHandler": self._check_entity,
            "AttlistDeclHandler": self._check_default,
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
            raise UndrawableError(
                "The SVG declares entities in its document type that are not plain text",
                advice="Save it as plain SVG, without declarations.",
            )
        self._longest_entity = max(self._longest_entity, len(value))
        if self._longest_entity * self._references > MAX_EXPANDED:
            raise make_limit_error("characters in its entities", MAX_EXPANDED)

    def _check_default(self, _tag: str, _name: str, _type: str, value: str | None, _: bool) -> None:
        """Refuse values of attributes that each of the elements may have, if they grow the text much."""
        self._defaults += len(value or "")
        if self._defaults * self._tags > MAX_BYTES:
            raise make_limit_error("characters in its declared attributes", MAX_BYTES)


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


DEFAULT_WIDTH, DEFAULT_HEIGHT = 300.0, 150.0  # of replaced elements (CSS 2 §10.3.2)
_ALIGNMENTS: Final = {"Min": 0.0, "Mid": 0.5, "Max": 1.0}


class ViewBox(NamedTuple):
    """A rectangle of user units that is fitted into a viewport."""

    x: float
    y: float
    width: float
    height: float


def find_size(root: SvgElement) -> tuple[float, float]:
    """Return width and height of a drawing in CSS px.

    A missing or percentage side follows from the view box: by its aspect ratio where the other side
    is given, else by its size.

    Raises:
        UndrawableError: A side is 0 or out of range.
    """
    width, height = _read_stated_side(root, "width"), _read_stated_side(root, "height")
    box = read_view_box(root)
    if width is None and height is None:
        width, height = (box.width, box.height) if box else (DEFAULT_WIDTH, DEFAULT_HEIGHT)
    elif width is None:
        assert height is not None
        width = height * box.width / box.height if box else DEFAULT_WIDTH
    elif height is None:
        height = width * box.height / box.width if box else DEFAULT_HEIGHT
    if not (width > 0 and height > 0):
        raise UndrawableError("The SVG has no size: its width or height is 0")
    if max(width, height) > MAX_SIDE or min(width, height) < 1 / MAX_SIDE:
        raise UndrawableError(
            f"The SVG is {width:g} × {height:g} px, which is out of range for a page"
        )
    return width, height


def _read_stated_side(root: SvgElement, name: str) -> float | None:
    text = root.attributes.get(name, "")
    return None if text.strip().endswith("%") else to_length(text, 0.0)


def read_view_box(element: SvgElement) -> ViewBox | None:
    """Return the view box, None for none or one without area."""
    numbers = to_numbers(element.attributes.get("viewBox", ""))
    if len(numbers) != 4 or not (numbers[2] > 0 and numbers[3] > 0):
        return None
    return ViewBox(*numbers)


def fit_content(element: SvgElement, width: float, height: float) -> tuple[Matrix, Viewport]:
    """Return the matrix that fits the content of an element into a size, and its viewport."""
    box = read_view_box(element)
    matrix = fit_view_box(box, element.attributes.get("preserveAspectRatio", ""), width, height)
    return matrix, Viewport(box.width, box.height) if box else Viewport(width, height)


def fit_view_box(box: ViewBox | None, aspect: str, width: float, height: float) -> Matrix:
    """Return the matrix that fits a view box into a viewport (SVG 2 §8.6, preserveAspectRatio)."""
    if box is None:
        return IDENTITY
    across, down = width / box.width, height / box.height
    keywords = aspect.split()
    align = keywords[0] if keywords else "xMidYMid"
    if align == "none":
        return across, 0, 0, down, -box.x * across, -box.y * down
    scale = max(across, down) if "slice" in keywords[1:] else min(across, down)
    align_x, align_y = _ALIGNMENTS.get(align[1:4], 0.5), _ALIGNMENTS.get(align[5:8], 0.5)
    x = (width - box.width * scale) * align_x - box.x * scale
    y = (height - box.height * scale) * align_y - box.y * scale
    return scale, 0, 0, scale, x, y
