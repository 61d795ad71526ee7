"""An SVG as it is uploaded: well-formed, within the bounds of what is drawn, and how large it says it is.

The engine draws it and judges it again; the numbers are the same (shared/limits.py).
"""

from __future__ import annotations

import re
from typing import Any, BinaryIO, Final
from xml.parsers import expat

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
_HEAD_BYTES: Final = 65536
# What stands before the root; possessive, so one pass. For `|(?!)` see decision 0173.
_PROLOG: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s++|<\?(?>.*?\?>)|<!--(?>.*?-->)"
    rb"|<!DOCTYPE(?:[^>\[\"']|\"[^\"]*+\"|'[^']*+'|(?!))*+(?:>|\[)|(?!))*+",
    re.DOTALL,
)
_ROOT: Final = re.compile(rb"<(?:[A-Za-z_][\w.-]{0,40}:)?svg[\s/>]")
_NUMBER: Final = r"[+-]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d++|(?!))?+"
_LENGTH: Final = re.compile(rf"\s*({_NUMBER})\s*([a-zA-Z]{{1,3}})?\s*\Z")
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
    """Give width and height in whole px, as stated or as large as the view box.

    Raises:
        ValueError: not well-formed, with declarations, over a bound, or without a size.
    """
    if size > MAX_SVG_BYTES:
        raise ValueError(f"an SVG has at most {MAX_SVG_BYTES:,} bytes")
    reader = _Reader()
    reader.read(file.read())
    file.seek(0)
    reader.count_copies()
    width, height = _find_size(reader.root)
    if not (width > 0 and height > 0):
        raise ValueError("its width or height is 0")
    if max(width, height) > MAX_SVG_SIDE or min(width, height) < 1 / MAX_SVG_SIDE:
        raise ValueError(f"it is {width:g} × {height:g} px")
    return max(1, round(width)), max(1, round(height))


class _Reader:
    """Takes expat's events for one text, which is fed whole and once (CVE-2023-52425)."""

    def __init__(self) -> None:
        self.root: dict[str, str] = {}
        self._open: list[int] = []
        # By the number of an element: its children, and the id that a `use` copies.
        self._children: list[list[int]] = []
        self._copied: dict[int, str] = {}
        self._identities: dict[str, int] = {}
        self._parser: Any = expat.ParserCreate(namespace_separator=" ")
        self._parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._judge_type
        self._parser.EntityDeclHandler = self._refuse

    def read(self, data: bytes) -> None:
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            raise ValueError(
                f"it is not well-formed at line {error.lineno}, column {error.offset + 1}: "
                f"{expat.ErrorString(error.code)}"
            ) from None
        except LookupError:
            raise ValueError("its encoding is unknown") from None

    def count_copies(self) -> None:
        """Refuse a drawing that `use` multiplies; a copy of what it stands in counts as nothing."""
        counts: dict[int, int] = {}

        def count(element: int, depth: int) -> int:
            if element in counts:
                return max(counts[element], 0)
            if depth > MAX_SVG_DEPTH:
                raise ValueError(f"it nests elements and copies deeper than {MAX_SVG_DEPTH}")
            counts[element] = -1  # being counted
            total = 1 + sum(count(child, depth + 1) for child in self._children[element])
            target = self._identities.get(self._copied.get(element, ""))
            if target is not None:
                total += count(target, depth + 1)
            counts[element] = min(total, MAX_SVG_DRAWN + 1)
            return counts[element]

        if count(0, 0) > MAX_SVG_DRAWN:
            raise ValueError(
                f"it has more than {MAX_SVG_DRAWN:,} elements to draw, each copy of `use` counted"
            )

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        number = len(self._children)
        if not number:
            if name.removeprefix(_SVG) != "svg":
                raise ValueError("its root is no `svg` element")
            self.root = attributes
        if number >= MAX_SVG_ELEMENTS:
            raise ValueError(f"it has more than {MAX_SVG_ELEMENTS:,} elements")
        if len(self._open) >= MAX_SVG_DEPTH:
            raise ValueError(f"it nests elements deeper than {MAX_SVG_DEPTH}")
        if len(attributes) > MAX_SVG_ATTRIBUTES:
            raise ValueError(f"an element has more than {MAX_SVG_ATTRIBUTES} attributes")
        self._children.append([])
        if self._open:
            self._children[self._open[-1]].append(number)
        self._open.append(number)
        if "id" in attributes:
            self._identities.setdefault(attributes["id"], number)
        if name.removeprefix(_SVG) == "use":
            target = attributes.get("href", attributes.get(_XLINK_HREF, ""))
            self._copied[number] = target.strip().removeprefix("#")

    def _end(self, _name: str) -> None:
        self._open.pop()

    def _judge_type(
        self, _name: str, _system: str | None, _public: str | None, has_subset: int
    ) -> None:
        # The document type of SVG 1.1 stands in many drawings: it is passed over, never fetched.
        if has_subset:
            self._refuse()

    def _refuse(self, *_: object) -> None:
        raise ValueError("its document type declares entities, which is not accepted")


def _find_size(root: dict[str, str]) -> tuple[float, float]:
    """Give the stated sides; what is not stated follows from the view box."""
    width, height = _read_length(root, "width"), _read_length(root, "height")
    numbers = [float(number) for number in re.findall(_NUMBER, root.get("viewBox", "")[:400])]
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
    match = _LENGTH.match(root.get(name, "")[:100])
    per_unit = _PIXELS.get((match[2] or "").lower()) if match else None
    return float(match[1]) * per_unit if match and per_unit is not None else None
