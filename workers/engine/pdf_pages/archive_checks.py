"""What PDF/A forbids in copied fonts and pictures, and import cannot repair (ISO 19005-2).

The glyphs and widths of the codes that a page shows are compared with embedded font programs. Type 3
fonts and CMaps other than Identity are not followed.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any, Final

import uharfbuzz as hb
from fontTools import agl
from fontTools.cffLib import CFFFontSet
from fontTools.encodings.StandardEncoding import StandardEncoding
from fontTools.misc import eexec
from fontTools.misc.psCharStrings import T1CharString, T2CharString, calcSubrBias

from workers.engine.pdf_pages.file import DecodedBudget, PdfFile, is_name, parse_object
from workers.engine.pdf_pages.objects import FONT_FILES, PdfObject, Stream

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
    own, other = (
        file.resolve_dictionary(each.get("CIDSystemInfo"))
        for each in (_find_descendant(file, font), encoding.entries)
    )
    if any(file.resolve(own.get(key)) != file.resolve(other.get(key)) for key in _COLLECTION):
        yield "a font and a CMap of different characters (6.2.11.3.1)"


_COLLECTION: Final = ("Registry", "Ordering")


def find_descriptor(file: PdfFile, font: Mapping[str, PdfObject]) -> dict[str, PdfObject]:
    """Return the descriptor of a font, which a composite one has in its descendant."""
    is_composite = is_name(font.get("Subtype"), "Type0")
    described = _find_descendant(file, font) if is_composite else font
    return file.resolve_dictionary(described.get("FontDescriptor"))


def _find_descendant(file: PdfFile, font: Mapping[str, PdfObject]) -> dict[str, PdfObject]:
    descendants = file.resolve_list(font.get("DescendantFonts"))
    return file.resolve_dictionary(descendants[0] if descendants else None)


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


# Returns the width of the glyph of a code in thousandths of an em, None without a glyph.
_Measure = Callable[[int], float | None]
_Font = Mapping[str, PdfObject]

_UNREADABLE: Final = (
    *(AssertionError, AttributeError, LookupError, NotImplementedError, OverflowError),
    *(RecursionError, TypeError, ValueError, ZeroDivisionError, struct.error),
)
_TOLERANCE: Final = 1.0  # thousandths of an em, as validators have it
_COST_OF_CODE: Final = 20  # bytes of content that are read in the time of measuring a glyph
_MAX_CODES: Final = 65_536
_MAX_STEPS: Final = 200  # numbers and calls in front of the width of a glyph
_CODECS: Final = {"WinAnsiEncoding": "cp1252", "MacRomanEncoding": "mac_roman"}


def check_text(
    file: PdfFile, budget: DecodedBudget, font: _Font, shown: Mapping[bytes, bool]
) -> Iterator[str]:
    """Yield what text breaks, each with its clause of ISO 19005-2.

    `shown` are the operands of the operators that show it, and whether it is visible.

    Raises:
        UnusablePdfError: the fonts are larger than the budget.
    """
    is_composite = is_name(font.get("Subtype"), "Type0")
    described = _find_descendant(file, font) if is_composite else font
    descriptor = find_descriptor(file, font)
    programs = [file.resolve(descriptor.get(key)) for key in FONT_FILES]
    program = next((each for each in programs if isinstance(each, Stream)), None)
    if program is None or (
        is_composite and not is_name(file.resolve(font.get("Encoding")), "Identity-H", "Identity-V")
    ):
        return
    data = file.decode(program).data
    codes = _read_codes(shown, 2 if is_composite else 1)
    budget.take_content(len(data) + _COST_OF_CODE * len(codes))
    try:
        if is_composite:
            widths = _read_composite_widths(file, budget, described)
            measure = _open_composite(file, described, data)
        else:
            widths, measure = _read_widths(file, font), _open_simple(file, font, data)
        found = {
            _compare(measure(code), widths(code), is_visible=is_visible)
            for code, is_visible in codes.items()
        }
    except _UNREADABLE:
        found = {"a font program that cannot be read (6.2.11.4.1)"}
    yield from sorted(found - {""})


def _compare(measured: float | None, stated: float, *, is_visible: bool) -> str:
    if measured is None:
        return "text without a glyph in its font (6.2.11.8)"
    if is_visible and abs(measured - stated) > _TOLERANCE:
        return "a font whose widths are not those of its glyphs (6.2.11.5)"
    return ""


def _read_codes(shown: Mapping[bytes, bool], size: int) -> dict[int, bool]:
    codes: dict[int, bool] = {}
    for operand, is_visible in shown.items():
        text = parse_object(operand)
        for string in text if isinstance(text, list) else [text]:
            if isinstance(string, bytes):
                for at in range(0, len(string), size):
                    code = int.from_bytes(string[at : at + size], "big")
                    codes[code] = codes.get(code, False) or is_visible
    return codes


# --- widths of the PDF ------------------------------------------------------------------------


def _read_widths(file: PdfFile, font: _Font) -> Callable[[int], float]:
    first = file.resolve(font.get("FirstChar")) or 0
    widths = [file.resolve(each) for each in file.resolve_list(font.get("Widths"))[:256]]
    descriptor = file.resolve_dictionary(font.get("FontDescriptor"))
    missing = file.resolve(descriptor.get("MissingWidth")) or 0
    return lambda code: widths[code - first] if 0 <= code - first < len(widths) else missing


def _read_composite_widths(
    file: PdfFile, budget: DecodedBudget, font: _Font
) -> Callable[[int], float]:
    """Read the widths of a CIDFont (ISO 32000-1, 9.7.4.3)."""
    widths: dict[int, float] = {}
    found = file.resolve_list(font.get("W"))
    budget.take_content(len(found))
    items = iter([file.resolve(each) for each in found])
    for first, second in zip(items, items, strict=False):
        if isinstance(second, list):
            several = [file.resolve(each) for each in second]
        else:
            several = [next(items, 0)] * min(second - first + 1, _MAX_CODES)
        budget.take_content(len(several))
        widths.update(enumerate(several, first))
    default = file.resolve(font.get("DW"))
    return lambda code: widths.get(code, 1000 if default is None else default)


# --- composite fonts --------------------------------------------------------------------------


def _open_composite(file: PdfFile, font: _Font, data: bytes) -> _Measure:
    if is_name(font.get("Subtype"), "CIDFontType2"):
        measure = _open_sfnt(data)[1]
        table = file.resolve(font.get("CIDToGIDMap"))
        if not isinstance(table, Stream):
            return measure
        glyphs = file.decode(table).data
        return lambda cid: measure(int.from_bytes(glyphs[2 * cid : 2 * cid + 2], "big"))
    top, measure_name = _open_cff(data)
    if not hasattr(top, "ROS"):
        names = top.charset
        return lambda cid: measure_name(names[cid] if cid < len(names) else "")
    return lambda cid: measure_name(f"cid{cid:05d}")


# --- simple fonts -----------------------------------------------------------------------------


def _open_simple(file: PdfFile, font: _Font, data: bytes) -> _Measure:
    encoding = file.resolve(font.get("Encoding"))
    names: dict[int, str] = {}
    if isinstance(encoding, dict):
        code = 0
        for each in file.resolve_list(encoding.get("Differences"))[:512]:
            item = file.resolve(each)
            if isinstance(item, str):
                names[code] = str(item)
                code += 1
            else:
                code = int(item)
        encoding = file.resolve(encoding.get("BaseEncoding"))
    if codec := _CODECS.get(str(encoding)):
        names = dict(enumerate(_name_characters(codec))) | names
    if is_name(font.get("Subtype"), "TrueType"):
        descriptor = file.resolve_dictionary(font.get("FontDescriptor"))
        is_symbolic = bool((file.resolve(descriptor.get("Flags")) or 0) & _SYMBOLIC)
        return _open_truetype(data, {} if is_symbolic else names)
    if data.startswith((b"%!", b"\x80\x01")):
        built_in, measure = _open_type1(data)
    else:
        top, measure = _open_cff(data)
        own = top.Encoding
        built_in = dict(enumerate(StandardEncoding if isinstance(own, str) else own))
    return lambda code: measure(names.get(code, "" if codec else built_in.get(code, "")))


def _name_characters(codec: str) -> Iterator[str]:
    for code in range(256):
        character = bytes((code,)).decode(codec, "replace")
        character = {"\xa0": " ", "\xad": "-", "\ufffd": "\u2022"}.get(character, character)
        yield agl.UV2AGL.get(ord(character), "")


def _open_truetype(data: bytes, names: Mapping[int, str]) -> _Measure:
    """Measure by the rules for simple TrueType fonts (ISO 32000-1, 9.6.6.4).

    HarfBuzz takes the subtable of symbols if there is one, and that of Mac OS only if it is alone, as
    PDF/A has it (ISO 19005-2, 6.2.11.6).
    """
    font, measure = _open_sfnt(data)

    def find(code: int) -> int:
        name = names.get(code, "")
        text = agl.toUnicode(name) if names else bytes((code,)).decode("mac_roman")
        glyph = 0 if names else font.get_nominal_glyph(0xF000 + code)
        glyph = glyph or (font.get_nominal_glyph(ord(text)) if len(text) == 1 else 0)
        return glyph or font.get_glyph_from_name(name) or 0

    return lambda code: measure(find(code))


# --- programs ---------------------------------------------------------------------------------


def _open_sfnt(data: bytes) -> tuple[Any, _Measure]:
    face = hb.Face(data)
    font = hb.Font(face)
    count, scale = face.glyph_count, 1000 / face.upem
    if not count:
        raise ValueError("no glyphs")
    return (
        font,
        lambda glyph: font.get_glyph_h_advance(glyph) * scale if 0 < glyph < count else None,
    )


def _open_cff(data: bytes) -> tuple[Any, Callable[[str], float | None]]:
    if data.startswith(b"OTTO"):
        data = hb.Face(data).reference_table("CFF ").data
    fonts: Any = CFFFontSet()
    fonts.decompile(BytesIO(data), None)
    top = fonts[0]
    glyphs, scale = top.CharStrings, top.FontMatrix[0] * 1000

    def measure(name: str) -> float | None:
        if name in (".notdef", "cid00000") or name not in glyphs:
            return None
        glyph = glyphs[name]
        private = glyph.private
        width = _read_cff_width(glyph, getattr(private, "Subrs", ()), fonts.GlobalSubrs)
        found = private.defaultWidthX if width is None else private.nominalWidthX + width
        return float(found * scale)

    return top, measure


# Operators that clear the stack, and how many operands they have besides a width.
_STEMS: Final = ("hstem", "vstem", "hstemhm", "vstemhm", "hintmask", "cntrmask")
_CLEARING: Final[Mapping[str, Sequence[int]]] = {
    "rmoveto": (2,),
    "hmoveto": (1,),
    "vmoveto": (1,),
    "endchar": (0, 4),
    **dict.fromkeys(_STEMS, range(0, 48, 2)),
}


def _read_cff_width(program: T2CharString, own: Any, shared: Any) -> float | None:
    """Return the width in front of the first operator of a glyph (Adobe technical note 5177, 3.1)."""
    stack: list[Any] = []
    running = [_read_program(program)]
    for _ in range(_MAX_STEPS):
        item = next(running[-1], "return")
        if not isinstance(item, str):
            stack.append(item)
        elif item in ("callsubr", "callgsubr"):
            subroutines = own if item == "callsubr" else shared
            running.append(_read_program(subroutines[stack.pop() + calcSubrBias(subroutines)]))
        elif item == "return":
            running.pop()
        else:
            return stack[0] if len(stack) - 1 in _CLEARING.get(item, ()) else None
    raise ValueError("no width")


def _read_program(program: Any) -> Iterator[object]:
    """Yield the numbers and names of operators of a glyph."""
    item, _, at = program.getToken(0)
    while item is not None:
        yield item
        item, _, at = program.getToken(at)


_GLYPHS: Final = re.compile(rb"/(\S{1,99}) (\d{1,5}) (?:RD|-\|) ")
_TYPE1_CODES: Final = re.compile(rb"dup\s+(\d{1,3})\s*/(\S{1,99})\s+put")


def _open_type1(data: bytes) -> tuple[dict[int, str], Callable[[str], float | None]]:
    """Read the encoding and the glyphs of a Type 1 font (Adobe Type 1 Font Format, 7)."""
    clear, _, secret = data.partition(b"eexec")
    secret = secret.lstrip(b" \t\r\n")
    if re.match(rb"[0-9A-Fa-f]{8}", secret):
        secret = bytes.fromhex(re.sub(rb"[^0-9A-Fa-f].*|\s", b"", secret).decode())
    private = eexec.decrypt(secret, 55665)[0]
    glyphs: dict[str, bytes] = {}
    at = 0
    while (found := _GLYPHS.search(private, at)) is not None:
        at = found.end() + int(found[2])
        glyphs[found[1].decode("latin-1")] = private[found.end() : at]
    skipped = re.search(rb"/lenIV (\d)", private)
    skip = int(skipped[1]) if skipped else 4
    encoding = dict(enumerate(StandardEncoding)) if b"StandardEncoding def" in clear else {}
    encoding |= {int(code): name.decode("latin-1") for code, name in _TYPE1_CODES.findall(clear)}

    def measure(name: str) -> float | None:
        if name == ".notdef" or name not in glyphs:
            return None
        stack: list[Any] = []
        for item in _read_program(T1CharString(eexec.decrypt(glyphs[name], 4330)[0][skip:])):
            if item == "div":
                divisor = stack.pop()
                stack.append(stack.pop() / divisor)
            elif isinstance(item, str):
                return float(stack[{"hsbw": 1, "sbw": 2}[item]])
            else:
                stack.append(item)
        raise ValueError("no width")

    return encoding, measure
