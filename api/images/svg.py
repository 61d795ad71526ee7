"""An SVG as it is uploaded: well-formed, within the bounds of what is drawn, and the size it states.

The engine draws it and checks it again, with the same numbers and words (tests/api/test_refusals.py).
"""

from __future__ import annotations

import re
from typing import Any, BinaryIO, Final
from xml.parsers import expat

from api.images.refusal import SIMPLER, RefusedImageError, too_much
from api.images.svg_work import DECISIVE, Element, check_rules, check_segments
from shared.limits import (
    MAX_SVG_ATTRIBUTES,
    MAX_SVG_BYTES,
    MAX_SVG_DEPTH,
    MAX_SVG_DRAWN,
    MAX_SVG_ELEMENTS,
    MAX_SVG_SIDE,
)

_SVG: Final = "http://www.w3.org/2000/svg "
_XLINK_HREF: Final = "http://www.w3.org/1999/xlink href"
# Attributes that decide; others would take twenty times their bytes in memory.
_KEPT: Final = (*DECISIVE, "id", "d", "points", "width", "height", "viewBox", "preserveAspectRatio")
_HEAD_BYTES: Final = 65536
# What stands before the root; possessive, so one pass. For `|(?!)` see decision 0173.
_PROLOG: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s++|<\?(?>.*?\?>)|<!--(?>.*?-->)"
    rb"|<!DOCTYPE(?:[^>\[\"']|\"[^\"]*+\"|'[^']*+'|(?!))*+(?:>|\[)|(?!))*+",
    re.DOTALL,
)
_ROOT: Final = re.compile(rb"<(?:[A-Za-z_][\w.-]{0,40}:)?svg[\s/>]")
_NUMBER: Final = r"[+-]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d++|(?!))?+"
_LENGTH: Final = re.compile(rf"\s*+({_NUMBER})\s*+([a-zA-Z]{{1,3}})?\s*+\Z")
_PIXELS: Final = {
    "": 1.0,
    "px": 1.0,
    "pt": 96 / 72,
    "pc": 16.0,
    "in": 96.0,
    "q": 24 / 25.4,
    "mm": 96 / 25.4,
    "cm": 960 / 25.4,
    "em": 16.0,
    "rem": 16.0,
    "ex": 8.0,
    "ch": 8.0,
}
_LARGEST: Final = 1e9
_DEFAULT: Final = (300.0, 150.0)  # of what says nothing (CSS 2.2, 10.3.2)


def is_svg(file: BinaryIO) -> bool:
    """Tell whether a file begins as an SVG does; it stands at its start again afterwards."""
    head = file.read(_HEAD_BYTES)
    file.seek(0)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        head = head.decode("utf-16", "replace").encode()
    prolog = _PROLOG.match(head)
    if prolog is None:
        return False
    if prolog[0].rstrip().endswith(b"["):  # with declarations, which are refused with a reason
        return b"<!DOCTYPE svg" in prolog[0]
    return _ROOT.match(head, prolog.end()) is not None


def read_svg_size(file: BinaryIO, size: int) -> tuple[int, int]:
    """Return width and height in whole px, as stated or as large as the view box.

    Raises:
        RefusedImageError: not well-formed, with declarations, over a bound, or without a size.
    """
    if size > MAX_SVG_BYTES:
        raise RefusedImageError(
            f"The SVG has {size:,} bytes; at most {MAX_SVG_BYTES:,} are drawn", advice=SIMPLER
        )
    reader = _Reader()
    reader.read(file.read())
    file.seek(0)
    root = reader.root
    if root is None or root.tag != "svg":
        raise RefusedImageError("The SVG is damaged: its root is no `svg` element")
    width, height = _find_size(root.attributes)
    if not (width > 0 and height > 0):
        raise RefusedImageError("The SVG has no size: its width or height is 0")
    if max(width, height) > MAX_SVG_SIDE or min(width, height) < 1 / MAX_SVG_SIDE:
        raise RefusedImageError(
            f"The SVG is {width:g} × {height:g} px, which is no size for a page"
        )
    _count_drawn(root, reader.identities)
    check_rules(reader.sheets)
    check_segments(root, reader.identities, reader.sheets)
    return max(1, round(width)), max(1, round(height))


class _Reader:
    """Takes expat's events for one text, which is fed whole and once (CVE-2023-52425)."""

    def __init__(self) -> None:
        self.root: Element | None = None
        self.identities: dict[str, Element] = {}
        self._open: list[Element] = []
        self._foreign = 0  # how many elements of other namespaces are open
        self._elements = 0
        self._styles: list[list[str]] = []
        self._parser: Any = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._judge_type
        self._parser.EntityDeclHandler = self._refuse

    def read(self, data: bytes) -> None:
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            raise RefusedImageError(
                f"The SVG is not well-formed at line {error.lineno}, column {error.offset + 1}: "
                f"{expat.ErrorString(error.code)}"
            ) from None
        except (LookupError, ValueError):
            raise RefusedImageError("The SVG is written in an unknown encoding") from None
        finally:
            del self._parser  # it holds this reader by its handlers, and the text

    @property
    def sheets(self) -> list[str]:
        """Return the texts of the `style` elements."""
        return ["".join(parts) for parts in self._styles]

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        if self._elements > MAX_SVG_ELEMENTS:
            raise too_much("elements", MAX_SVG_ELEMENTS)
        if len(self._open) + self._foreign >= MAX_SVG_DEPTH:
            raise RefusedImageError(
                f"The SVG nests elements deeper than {MAX_SVG_DEPTH}", advice=SIMPLER
            )
        if len(attributes) > MAX_SVG_ATTRIBUTES:
            raise too_much("attributes on one element", MAX_SVG_ATTRIBUTES)
        if self._foreign or (" " in name and not name.startswith(_SVG)):
            self._foreign += 1
            return
        kept = {name: attributes[name] for name in _KEPT if name in attributes}
        self._add(Element(name.removeprefix(_SVG), kept, _reference(attributes)))

    def _add(self, element: Element) -> None:
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)
        if element.attributes.get("id"):
            self.identities.setdefault(element.attributes["id"], element)
        if element.tag == "style":
            self._styles.append([])
            element.text = self._styles[-1]

    def _end(self, _name: str) -> None:
        if self._foreign:
            self._foreign -= 1
        else:
            self._open.pop()

    def _characters(self, text: str) -> None:
        if self._open and not self._foreign and self._open[-1].text is not None:
            self._open[-1].text.append(text)

    def _judge_type(
        self, _name: str, _system: str | None, _public: str | None, has_subset: int
    ) -> None:
        # The document type of SVG 1.1 stands in many drawings: it is passed over, never fetched.
        if has_subset:
            self._refuse()

    def _refuse(self, *_: object) -> None:
        raise RefusedImageError(
            "The SVG declares entities in its document type, which is not accepted",
            advice="Save it as plain SVG, without declarations.",
        )


def _reference(attributes: dict[str, str]) -> str:
    return attributes.get("href", attributes.get(_XLINK_HREF, "")).strip()


def _count_drawn(root: Element, identities: dict[str, Element]) -> None:
    """Refuse a drawing that `use` multiplies; a copy of what it stands in counts as nothing."""
    counts: dict[Element, int] = {}

    def count(element: Element, depth: int) -> int:
        if element in counts:
            return max(counts[element], 0)
        if depth > MAX_SVG_DEPTH:
            raise RefusedImageError(
                f"The SVG nests elements and copies of `use` deeper than {MAX_SVG_DEPTH}",
                advice=SIMPLER,
            )
        counts[element] = -1  # being counted
        total = 1 + sum(count(child, depth + 1) for child in element.children)
        target = identities.get(element.href.removeprefix("#")) if element.tag == "use" else None
        if target is not None:
            total += count(target, depth + 1)
        counts[element] = min(total, MAX_SVG_DRAWN + 1)
        return counts[element]

    if count(root, 0) > MAX_SVG_DRAWN:
        raise too_much("elements to draw, each copy of `use` counted", MAX_SVG_DRAWN)


def _find_size(root: dict[str, str]) -> tuple[float, float]:
    """Return the stated sides; what is not stated follows from the view box."""
    width, height = _read_length(root, "width"), _read_length(root, "height")
    numbers = [float(number) for number in re.findall(_NUMBER, root.get("viewBox", ""))]
    box = tuple(numbers[2:]) if len(numbers) == 4 and min(numbers[2:]) > 0 else None
    if width is None and height is None:
        return (box[0], box[1]) if box else _DEFAULT
    if width is None:
        assert height is not None
        return (height * box[0] / box[1] if box else _DEFAULT[0]), height
    if height is None:
        return width, (width * box[1] / box[0] if box else _DEFAULT[1])
    return width, height


def _read_length(root: dict[str, str], name: str) -> float | None:
    match = _LENGTH.match(root.get(name, ""))
    per_unit = _PIXELS.get((match[2] or "").lower()) if match else None
    return min(float(match[1]), _LARGEST) * per_unit if match and per_unit is not None else None
