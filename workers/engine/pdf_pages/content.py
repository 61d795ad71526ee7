"""Content streams of other programs (ISO 32000-1, 7.8.2), as qpdf reads them: rewritten with known operators only.

Marked content loses its marks: its numbers belong to the structure of the file it comes from. What
an optional layer hides is not painted. Saved graphics states are balanced, so that what a page
leaves behind never reaches the content around it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pikepdf

from workers.engine.pdf_pages.objects import SIMPLIFY, UnusablePdfError, damaged

MAX_INSTRUCTIONS: Final = 2_000_000  # of a page, forms as often as they are drawn
MAX_PIXELS: Final = 100_000_000  # of one picture, as for pictures of other formats
PIXELS_PER_INSTRUCTION: Final = 1_000  # painting a picture costs as much as this many operators
MAX_SAVED: Final = 100  # graphics states in each other

# A number as viewers accept it, which may be written together with an operator.
_WRITTEN_NUMBER: Final = re.compile(rb"[+-]*+[0-9.][0-9.+-]*+")
_NUMBER: Final = re.compile(rb"(?:[0-9]++\.?[0-9]*+|\.[0-9]++)")
# With the usual 15 errors qpdf leaves out the rest without a word. This is the only setting of qpdf
# that is changed: it holds for all files of the process, which cost the same and lose less.
pikepdf.settings.set_qpdf_limits(parser_max_errors=1_000)

# The number of operands of each operator; None where it varies (ISO 32000-1, annex A).
_OPERANDS: Final[Mapping[bytes, int | None]] = {
    **dict.fromkeys(b"q Q h S s f F f* B B* b b* n W W* BT ET T*".split(), 0),
    **dict.fromkeys(b"w J j M ri i gs Tc Tw Tz TL Tr Ts Tj TJ ' CS cs G g sh Do".split(), 1),
    **dict.fromkeys(b"d m l Tf Td TD d0".split(), 2),
    **dict.fromkeys(b'RG rg "'.split(), 3),
    **dict.fromkeys(b"v y re K k".split(), 4),
    **dict.fromkeys(b"cm c Tm d1".split(), 6),
    **dict.fromkeys(b"SC SCN sc scn".split()),
}
_PAINTS: Final = frozenset(b"S s f F f* B B* b b*".split())
_SHOWS: Final = frozenset(b"Tj TJ ' \" Do sh".split())
_TEXTS: Final = frozenset(b"Tj TJ ' \"".split())
_INVISIBLE: Final = b"3"  # the text rendering mode
# The category of resources that the last operand of an operator names.
_RESOURCES: Final[Mapping[bytes, str]] = {
    b"Tf": "Font",
    b"Do": "XObject",
    b"gs": "ExtGState",
    b"sh": "Shading",
    b"CS": "ColorSpace",
    b"cs": "ColorSpace",
    b"SCN": "Pattern",
    b"scn": "Pattern",
}
_DEVICE_CMYK: Final = (b"/DeviceCMYK", b"/CMYK")


@dataclass(slots=True)
class CleanContent:
    """Rewritten content, and how often it uses which resources, by category and name."""

    data: bytes = b""
    used: defaultdict[str, Counter[bytes]] = field(default_factory=lambda: defaultdict(Counter))
    instructions: int = 0
    shown_bytes: int = 0  # of text, for the cost of glyphs that are drawings
    # What is shown in each font, by its name, and whether it is visible; the name is empty for a
    # font that the content does not set.
    shown: defaultdict[bytes, dict[bytes, bool]] = field(default_factory=lambda: defaultdict(dict))
    depth: int = 0
    has_cmyk: bool = False
    has_lzw: bool = False


def clean_content(data: bytes, is_hidden: Callable[[str, bytes], bool]) -> CleanContent:
    """Return content with known operators only, balanced, without marks and hidden layers.

    `is_hidden` takes a category, `Properties` or `XObject`, and the name of a resource as written.

    Raises:
        UnusablePdfError: too many instructions or saved states.
    """
    return _Cleaner(data, is_hidden).clean()


class _Cleaner(pikepdf.StreamParser):
    """Rewrites content, of which qpdf reports the operands and operators in their order."""

    def __init__(self, data: bytes, is_hidden: Callable[[str, bytes], bool]) -> None:
        super().__init__()
        self._data = data
        self._is_hidden = is_hidden
        self._out: list[bytes] = []
        self._operands: list[bytes] = []
        self._marks: list[bool] = []  # whether each open marked content is hidden
        self._font, self._mode = b"", b"0"
        self._saved: list[tuple[bytes, bytes]] = []
        self._in_text = False
        self._image: bytes | None = None  # the entries of the inline image whose data follow
        self._result = CleanContent()

    def clean(self) -> CleanContent:
        result, errors = self._result, pikepdf.settings.qpdf_limit_errors()
        file = pikepdf.new()
        page = file.add_blank_page()
        page.obj.Contents = file.make_stream(self._data)
        page.parse_contents(self)
        if pikepdf.settings.qpdf_limit_errors() > errors:
            raise damaged("its content cannot be read")
        if self._image is not None:
            raise damaged("an inline image does not end")
        if self._in_text:
            self._out.append(b"ET\n")
        self._out.append(b"Q\n" * len(self._saved))
        result.data = b"".join(self._out)
        return result

    def handle_object(self, value: Any, offset: int, length: int) -> None:
        """Take an operand or operator; a word may be a number that only viewers accept."""
        token = self._data[offset : offset + length]
        if isinstance(value, pikepdf.Operator):
            number = _WRITTEN_NUMBER.match(token)
            if number is not None:
                self._operands.append(_repair_number(number[0]))
                token = token[number.end() :]
            if token:
                self._take_operator(token)
        elif self._image is not None:
            self._copy_image(self._image, token)
        elif isinstance(value, pikepdf.Object | bool) or token == b"null":
            if isinstance(value, pikepdf.String):
                self._result.shown_bytes += length
            self._operands.append(token)
        elif _WRITTEN_NUMBER.fullmatch(token):  # what is none of these is damaged
            self._operands.append(_repair_number(token))

    def handle_eof(self) -> None:
        """Do nothing at the end."""

    def _take_operator(self, operator: bytes) -> None:
        if operator == b"ID":
            self._image = b" ".join(self._operands)
        elif operator not in (b"BI", b"EI"):
            self._write_operator(operator)
        if operator != b"ID":
            self._operands.clear()
        self._result.instructions += 1
        if self._result.instructions > MAX_INSTRUCTIONS:
            raise too_complex()

    def _write_operator(self, operator: bytes) -> None:
        if operator in (b"BMC", b"BDC", b"EMC"):
            self._mark(operator)
            return
        if operator not in _OPERANDS:
            return
        count = _OPERANDS[operator]
        operands = self._operands if not count else self._operands[-count:]
        if count == 0:
            operands = []
        elif count is not None and len(operands) < count:
            return
        if any(self._marks):
            if operator in _PAINTS:
                operator = b"n"
            elif operator in _SHOWS:
                return
        if not self._balance(operator) or not self._record(operator, operands):
            return
        self._out.append(b" ".join([*operands, operator]) + b"\n")

    def _balance(self, operator: bytes) -> bool:
        """Follow saved states and text objects; return whether the operator is allowed here."""
        if operator == b"q":
            self._saved.append((self._font, self._mode))
            if len(self._saved) > MAX_SAVED:
                raise UnusablePdfError(
                    f"The PDF has more than {MAX_SAVED} graphics states in each other",
                    advice=SIMPLIFY,
                )
            self._result.depth = max(self._result.depth, len(self._saved))
        elif operator == b"Q":
            if not self._saved:
                return False
            self._font, self._mode = self._saved.pop()
        elif operator in (b"BT", b"ET"):
            if self._in_text is (operator == b"BT"):
                return False
            self._in_text = operator == b"BT"
        return True

    def _record(self, operator: bytes, operands: list[bytes]) -> bool:
        """Record what an operator uses; return False for an XObject of a hidden layer."""
        if operator in (b"k", b"K"):
            self._result.has_cmyk = True
        elif operator == b"Tr":
            self._mode = operands[0]
        elif operator in _TEXTS:
            shown = self._result.shown[self._font]
            shown[operands[-1]] = shown.get(operands[-1], False) or self._mode != _INVISIBLE
        category = _RESOURCES.get(operator)
        if category is None:
            return True
        name = operands[0] if operator == b"Tf" else (operands or [b""])[-1]
        if not name.startswith(b"/"):
            return category == "Pattern"
        if category == "ColorSpace" and name in _DEVICE_CMYK:
            self._result.has_cmyk = True
        if operator == b"Do" and self._is_hidden("XObject", name):
            return False
        if operator == b"Tf":
            self._font = name
        self._result.used[category][name] += 1
        return True

    def _mark(self, operator: bytes) -> None:
        if operator == b"EMC":
            if self._marks:
                self._marks.pop()
            return
        operands = self._operands
        self._marks.append(
            operator == b"BDC"
            and len(operands) >= 2
            and operands[-2] == b"/OC"
            and self._is_hidden("Properties", operands[-1])
        )

    def _copy_image(self, entries: bytes, data: bytes) -> None:
        """Copy an inline image (8.9.7), whose entries are the operands."""
        sides = {b"/W": 1, b"/H": 1}
        for key, value in zip(self._operands[::2], self._operands[1::2], strict=False):
            side = {b"/Width": b"/W", b"/Height": b"/H"}.get(key, key)
            if side in sides and value.isdigit():
                sides[side] = int(value)
            if key in (b"/CS", b"/ColorSpace") and value.startswith(b"/"):
                self._result.used["ColorSpace"][value] += 1
                self._result.has_cmyk = self._result.has_cmyk or value in _DEVICE_CMYK
            self._result.has_lzw = self._result.has_lzw or b"/LZW" in value
        width, height = sides.values()
        if width * height > MAX_PIXELS:
            raise too_many_pixels(width, height)
        self._result.instructions += width * height // PIXELS_PER_INSTRUCTION
        if not any(self._marks):
            self._out += (b"BI ", entries, b" ID ", data, b"\nEI\n")
        self._image = None


def too_complex() -> UnusablePdfError:
    """Return the error for a page with too many instructions."""
    return UnusablePdfError(
        f"The page of the PDF has more than {MAX_INSTRUCTIONS:,} instructions", advice=SIMPLIFY
    )


def too_many_pixels(width: int, height: int) -> UnusablePdfError:
    """Return the error for a picture that is too large."""
    return UnusablePdfError(
        f"The PDF has a picture of {width} × {height} pixels; at most "
        f"{MAX_PIXELS // 1_000_000} megapixels are drawn",
        advice="Make it smaller.",
    )


def _repair_number(token: bytes) -> bytes:
    """Return a number that every viewer reads: one sign, one point, no exponent."""
    found = _NUMBER.search(token)
    if found is None:
        return b"0"
    return (b"-" if token.startswith(b"-") else b"") + found[0]
