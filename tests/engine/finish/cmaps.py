"""Codes in the strings of composite fonts, by their encodings (ISO 32000-1, 9.7.5 and 9.7.6)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pikepdf

_RANGE = re.compile(rb"<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>")
_CID_RANGE = re.compile(rb"<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>\s*(\d+)")
_CID_CHAR = re.compile(rb"<([0-9A-Fa-f]+)>\s*(\d+)")


@dataclass(frozen=True)
class Encoding:
    """The codespace of an encoding, and its ranges of codes with the first CID of each."""

    spaces: tuple[tuple[bytes, bytes], ...]
    ranges: tuple[tuple[bytes, bytes, int], ...]

    def split(self, string: bytes) -> Iterator[bytes]:
        """Yield the codes of a string; bytes in no codespace are one code together."""
        at = 0
        while at < len(string):
            lengths = (len(low) for low, high in self.spaces if _is_in(string, at, low, high))
            size = next(lengths, len(string))
            yield string[at : at + size]
            at += size

    def has(self, code: bytes) -> bool:
        """Return whether a code is in the codespace."""
        return any(
            len(low) == len(code) and _is_in(code, 0, low, high) for low, high in self.spaces
        )

    def cid_of(self, code: bytes) -> int:
        """Return the CID of a code, 0 for one without."""
        for low, high, first in self.ranges:
            if len(low) == len(code) and low <= code <= high:
                return first + int.from_bytes(code) - int.from_bytes(low)
        return 0


def _is_in(string: bytes, at: int, low: bytes, high: bytes) -> bool:
    part = string[at : at + len(low)]
    return len(part) == len(low) and all(
        first <= byte <= last for first, byte, last in zip(low, part, high, strict=True)
    )


IDENTITY = Encoding(((b"\0\0", b"\xff\xff"),), ((b"\0\0", b"\xff\xff", 0),))
SIMPLE = Encoding(((b"\0", b"\xff"),), ((b"\0", b"\xff", 0),))


def read_encoding(font: Any) -> Encoding:
    """Return the encoding of a font: of two bytes, of one, or by the CMap in the file."""
    if "/DescendantFonts" not in font:
        return SIMPLE
    if not isinstance(font.get("/Encoding"), pikepdf.Stream):
        return IDENTITY
    return read_cmap(font.Encoding.read_bytes())


def read_cmap(cmap: bytes) -> Encoding:
    """Return what a CMap says of codes and CIDs."""
    spaces = [
        (_bytes(low), _bytes(high))
        for section in _sections(cmap, b"codespacerange")
        for low, high in _RANGE.findall(section)
    ]
    ranges = [
        (_bytes(low), _bytes(high), int(cid))
        for section in _sections(cmap, b"cidrange")
        for low, high, cid in _CID_RANGE.findall(section)
    ]
    ranges += [
        (_bytes(code), _bytes(code), int(cid))
        for section in _sections(cmap, b"cidchar")
        for code, cid in _CID_CHAR.findall(section)
    ]
    return Encoding(tuple(spaces), tuple(ranges))


def _sections(cmap: bytes, kind: bytes) -> list[bytes]:
    return re.findall(rb"begin%b(.*?)end%b" % (kind, kind), cmap, re.DOTALL)


def _bytes(digits: bytes) -> bytes:
    return bytes.fromhex(digits.decode())
