"""What PDF/A forbids in copied fonts and pictures, and import cannot repair (ISO 19005-2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from workers.engine.pdf_pages.file import PdfFile, is_name
from workers.engine.pdf_pages.objects import PdfObject, Stream

_SYMBOLIC: Final = 4  # ISO 32000-1, table 123
_LATIN: Final = ("MacRomanEncoding", "WinAnsiEncoding")
_IDENTITY: Final = ("Identity-H", "Identity-V")
# Of the CMaps of ISO 32000-1, table 118, which need not be embedded.
_PREDEFINED: Final = re.compile(
    r"Identity-[HV]|(GB|GBK|GBKp|GBK2K|GBpc|UniGB|B5pc|HKscs|ETen|ETenms|CNS|UniCNS|83pv|90ms|90msp|90pv|"
    r"Add|EUC|Ext|H|V|UniJIS|KSC|KSCms|KSCpc|UniKS)(-[A-Za-z0-9]+){0,3}"
)
_CHANNELS: Final = (1, 3, 4)
_CIE_JAB: Final = 19
_BOX_HEADER: Final = 8
_SECTIONS: Final = re.compile(rb"beginbf(char|range)(.*?)endbf", re.DOTALL)
_CODES: Final = re.compile(rb"<\s*([0-9A-Fa-f]*)\s*>|\[|\]")


def check_font(file: PdfFile, font: Mapping[str, PdfObject]) -> Iterator[str]:
    """Yield what the dictionary of a font breaks, each with its clause."""
    if is_name(font.get("Subtype"), "Type0"):
        yield from _check_composite(file, font)
    elif is_name(font.get("Subtype"), "TrueType"):
        descriptor = file.resolve_dictionary(font.get("FontDescriptor"))
        flags = file.resolve(descriptor.get("Flags"))
        encoding = file.resolve(font.get("Encoding"))
        if isinstance(encoding, dict):
            encoding = file.resolve(encoding.get("BaseEncoding"))
        is_symbolic = isinstance(flags, int) and bool(flags & _SYMBOLIC)
        if is_symbolic and "Encoding" in font:
            yield "a symbolic TrueType font that has an encoding (6.2.11.6)"
        elif not is_symbolic and not is_name(encoding, *_LATIN):
            yield "a TrueType font without a standard encoding (6.2.11.6)"


def _check_composite(file: PdfFile, font: Mapping[str, PdfObject]) -> Iterator[str]:
    encoding = file.resolve(font.get("Encoding"))
    if is_name(encoding, *_IDENTITY):
        return
    if not isinstance(encoding, Stream):
        if not _PREDEFINED.fullmatch(str(encoding)):
            yield "a font whose CMap is not embedded (6.2.11.3.3)"
        return
    used = file.resolve(encoding.entries.get("UseCMap"))
    if used is not None and not _PREDEFINED.fullmatch(str(used)):
        yield "a font whose CMap uses another one (6.2.11.3.3)"
    descendants = file.resolve_list(font.get("DescendantFonts"))
    descendant = file.resolve_dictionary(descendants[0] if descendants else None)
    own, other = (
        file.resolve_dictionary(each.get("CIDSystemInfo"))
        for each in (descendant, encoding.entries)
    )
    if any(file.resolve(own.get(key)) != file.resolve(other.get(key)) for key in _COLLECTION):
        yield "a font and a CMap of different characters (6.2.11.3.1)"


_COLLECTION: Final = ("Registry", "Ordering")


def check_jpeg2000(data: bytes) -> Iterator[str]:
    """Yield what a JPEG 2000 picture breaks, each with its clause."""
    channels, spaces = 0, []
    for kind, body in _read_boxes(data):
        if kind == b"ihdr" and len(body) >= 10:
            channels = int.from_bytes(body[8:10], "big")
        elif kind == b"colr" and len(body) >= 3:
            spaces.append(body)
    if channels not in _CHANNELS:
        yield "a JPEG 2000 picture with another number of channels than 1, 3 or 4 (6.2.8.3)"
    best = spaces if len(spaces) == 1 else [body for body in spaces if body[2] == 1]
    if len(best) != 1:
        yield "a JPEG 2000 picture without one best colour space (6.2.8.3)"
    elif best[0][0] not in (1, 2, 3) or best[0][3:7] == _CIE_JAB.to_bytes(4, "big"):
        yield "a JPEG 2000 picture in a colour space of its own (6.2.8.3)"


def _read_boxes(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the boxes of a JP2 file in front of its picture, those of its header among them."""
    at = 0
    while at + _BOX_HEADER <= len(data):
        length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        if kind == b"jp2h":
            at += _BOX_HEADER
            continue
        if length < _BOX_HEADER or kind == b"jp2c":
            return
        yield kind, data[at + _BOX_HEADER : at + length]
        at += length


def has_private_characters(cmap: bytes) -> bool:
    """Return whether a ToUnicode CMap has characters of private use, or none, for a code."""
    for section in _SECTIONS.finditer(cmap):
        is_range, place, depth = section[1] == b"range", 0, 0
        for code in _CODES.finditer(section[2]):
            if code[1] is None:
                depth += 1 if code[0] == b"[" else -1
                place += not depth
                continue
            is_target = depth > 0 or place == (2 if is_range else 1)
            if is_target and _is_private(code[1]):
                return True
            place += not depth
            place %= 3 if is_range else 2
    return False


def _is_private(digits: bytes) -> bool:
    units = [int(digits[at : at + 4] or b"0", 16) for at in range(0, len(digits), 4)]
    private = (0xE000 <= unit <= 0xF8FF or 0xDB80 <= unit <= 0xDBFF for unit in units)
    return not units or any(private) or bool({0, 0xFEFF, 0xFFFE}.intersection(units))
