"""Codes of characters in the strings of a page (ISO 32000-1, 9.7.6): one to three bytes, or two.

Most text is ASCII. A face that can have *mixed codes* writes ASCII in one byte and its other
characters in two, which are the character with its highest bit set. A face with two characters that
differ in that bit alone, as Chinese, Japanese and Korean ones have, writes two bytes for each
character. What a face lacks, and would have the code of another, has three bytes: Poppler and PDFium
draw its empty box, but extract nothing.
"""

from __future__ import annotations

import re
from codecs import charmap_encode, utf_16_be_encode
from collections.abc import Set as AbstractSet
from typing import Final, Protocol

from workers.engine.layout.fonts.ligatures import STAND_INS, code_of, encode_stand_ins

_STAND_IN: Final = re.compile(f"[{STAND_INS}]")
# The specials, as the replacement character: their codes are those of control characters, which are
# in no text.
_SPECIALS: Final = range(0xFFF0, 0x10000)
_CONTROLS: Final = 0x8000
_REPLACEMENT: Final = "\ufffd"
# Characters with which a face cannot have mixed codes: those with the codes of the specials, of
# stand-ins for ligatures, or of three bytes.
_UNMIXED: Final = re.compile("[\u8000-\u801f\u5c00-\u5fff\u7f00-\u7fff\uff00-\uffef]")
_LACKING: Final = 0xFF  # the first byte of a code of three
_ESCAPED: Final = re.compile(rb"[\\()\r]")


class Codes(Protocol):
    """The codes of a face."""

    is_mixed: bool
    space: bytes

    def write(self, text: str) -> bytes:
        """Return the codes of a text; stand-ins of ligatures are characters."""

    def find(self, char: str) -> bytes:
        """Return the code of a character."""

    def find_cid(self, char: str) -> int:
        """Return the number by which the font finds the glyph of a character, 0 without one."""


class MixedCodes:
    """Codes of one, two and three bytes."""

    is_mixed = True
    space = b" "

    def __init__(self, covered: AbstractSet[str]) -> None:
        self._table = _MixedTable(covered)

    def write(self, text: str) -> bytes:
        """Return the codes of a text."""
        if text.isascii():
            return text.encode()
        # The documented codec of `charmap`, whose mapping has bytes of any length as values.
        return charmap_encode(text, "strict", self._table)[0]

    def find(self, char: str) -> bytes:
        """Return the code of a character."""
        return self._table[ord(char)]

    def find_cid(self, char: str) -> int:
        """Return the code itself, so that MuPDF finds the character of a CID."""
        code = self.find(char)
        return 0 if len(code) == 3 else int.from_bytes(code, "big")


class WideCodes:
    """Codes of two bytes, which are those of the characters in UTF-16."""

    is_mixed = False
    space = b"\0 "

    def write(self, text: str) -> bytes:
        """Return the codes of a text."""
        if not text.isascii() and _STAND_IN.search(text):
            return encode_stand_ins(text)
        return utf_16_be_encode(text)[0]  # `str.encode` takes three times as long

    def find(self, char: str) -> bytes:
        """Return the code of a character."""
        return code_of(char).to_bytes(2, "big")

    def find_cid(self, char: str) -> int:
        """Return the code itself."""
        return code_of(char)


def find_codes(covered: AbstractSet[str]) -> Codes:
    """Return the codes of a face with some characters."""
    upper = [char for char in covered if "\u8000" <= char <= "\uffff"]
    if any(chr(ord(char) - 0x8000) in covered for char in upper) or any(
        map(_UNMIXED.match, covered)
    ):
        return WideCodes()
    return MixedCodes(covered)


def escape(codes: bytes) -> bytes:
    """Return codes as the inside of a PDF string (ISO 32000-1, 7.3.4.2)."""
    if not _ESCAPED.search(codes):
        return codes
    return _ESCAPED.sub(_escape, codes)


def _escape(match: re.Match[bytes]) -> bytes:
    # A reader would take a carriage return in a string for a line feed.
    return b"\\r" if match[0] == b"\r" else b"\\" + match[0]


class _MixedTable(dict[int, bytes]):
    """Mixed codes by character; one that is missing is added."""

    def __init__(self, covered: AbstractSet[str]) -> None:
        super().__init__((code, bytes([code])) for code in range(0x80))
        self._covered = covered

    def __missing__(self, char: int) -> bytes:
        code = code_of(chr(char))
        is_own = code != char or chr(char) in self._covered or chr(char) == _REPLACEMENT
        if is_own and code in _SPECIALS:
            written = (_CONTROLS | code & 0xF).to_bytes(2, "big")
        elif is_own or self._is_free(code):
            written = (code | 0x8000).to_bytes(2, "big")
        else:
            written = bytes([_LACKING, code >> 8, code & 0xFF])
        self[char] = written  # at most one for each character of Unicode's first plane
        return written

    def _is_free(self, lacking: int) -> bool:
        """Return whether a character that the face lacks can have a code of two bytes."""
        twin = chr(lacking | 0x8000)
        return lacking < 0x7F00 and twin not in self._covered and not _UNMIXED.match(chr(lacking))
