"""Filters of streams (ISO 32000-1, 7.4), decoded within a budget so that a small file stays small."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import pikepdf

from workers.engine.pdf_pages.objects import SIMPLIFY, PdfObject, UnusablePdfError, damaged

# Of all streams of one import together: an A4 page in colour at 600 dpi is 100 MB.
MAX_DECODED_BYTES: Final = 128 * 1024 * 1024
FLATE: Final = "FlateDecode"
_CHUNK: Final = 1024 * 1024
MAX_FILTERS: Final = 4
_FREE_CONTENT: Final = 1_000_000
_CONTENT_PER_BYTE: Final = 100  # dense drawings are compressed to a tenth or twentieth
_MAX_GROWTH: Final = 4  # of data that another filter follows: what is compressed well is so once
_GROWING: Final = frozenset({FLATE, "LZWDecode", "RunLengthDecode"})

IMAGE_FILTERS: Final = frozenset({"DCTDecode", "JPXDecode", "CCITTFaxDecode", "JBIG2Decode"})
_LONG_NAMES: Final = {
    "Fl": FLATE,
    "LZW": "LZWDecode",
    "A85": "ASCII85Decode",
    "AHx": "ASCIIHexDecode",
    "RL": "RunLengthDecode",
    "DCT": "DCTDecode",
    "CCF": "CCITTFaxDecode",
}
_WHITE: Final = re.compile(rb"[\0\t\n\f\r ]++")
_CLEAR, _END, _FIRST = 256, 257, 258  # codes of LZW
_MAX_CODES: Final = 4096


class DecodedBudget:
    """The bytes that may still be decoded, and those of content, by the size of their file.

    Content is read instruction by instruction: what a file of a kilobyte may ask for takes a second.
    """

    def __init__(self, size: int) -> None:
        self.remaining = MAX_DECODED_BYTES
        self._content = self._max_content = _FREE_CONTENT + _CONTENT_PER_BYTE * size

    def take_content(self, size: int) -> None:
        """Subtract bytes of content.

        Raises:
            UnusablePdfError: more than the budget.
        """
        self._content -= size
        if self._content < 0:
            raise UnusablePdfError(
                f"The PDF has more than {self._max_content:,} bytes of drawing instructions, the most "
                "for its size",
                advice=SIMPLIFY,
            )

    def take(self, size: int) -> None:
        """Subtract decoded bytes.

        Raises:
            UnusablePdfError: more than the budget.
        """
        self.remaining -= size
        if self.remaining < 0:
            limit = MAX_DECODED_BYTES // (1024 * 1024)
            raise UnusablePdfError(
                f"The PDF is larger than {limit} MB when it is decompressed", advice=SIMPLIFY
            )


class FilterStep(NamedTuple):
    """A filter of a stream and its parameters."""

    name: str
    parameters: Mapping[str, PdfObject]


class Decoded(NamedTuple):
    """Data of a stream without the filters that are decoded here; `rest` is what remains to decode."""

    data: bytes
    rest: FilterStep | None


def decode(data: bytes, steps: Sequence[FilterStep], budget: DecodedBudget) -> Decoded:
    """Decode data up to a filter for pictures, which is left to the viewer.

    Raises:
        UnusablePdfError: a filter is unknown, its data are damaged, or the budget is spent.
    """
    if len(steps) > MAX_FILTERS:
        raise damaged(f"a stream has more than {MAX_FILTERS} filters")
    largest = _MAX_GROWTH * len(data) + _CHUNK // 64
    has_grown = False
    for at, step in enumerate(steps):
        if step.name in IMAGE_FILTERS:
            if at + 1 < len(steps):
                raise damaged("a filter for pictures is followed by another one")
            return Decoded(data, step)
        if has_grown and len(data) > largest:
            raise UnusablePdfError("The PDF has data that are compressed twice", advice=SIMPLIFY)
        data = _decode_step(data, step, budget)
        has_grown = has_grown or step.name in _GROWING
    return Decoded(data, None)


def long_name(name: str) -> str:
    """Return the name of a filter for its abbreviation."""
    return _LONG_NAMES.get(name, name)


def _decode_step(data: bytes, step: FilterStep, budget: DecodedBudget) -> bytes:
    match step.name:
        case "FlateDecode":
            return _undo_predictor(inflate(data, budget), step.parameters)
        case "LZWDecode":
            early = step.parameters.get("EarlyChange", 1) != 0
            return _undo_predictor(_decode_lzw(data, budget, early=early), step.parameters)
        case "ASCII85Decode":
            decoded = _decode_base85(data)
        case "ASCIIHexDecode":
            digits = re.sub(rb"[^0-9A-Fa-f]", b"", data.partition(b">")[0])
            decoded = binascii.unhexlify(digits + b"0" * (len(digits) % 2))
        case "RunLengthDecode":
            decoded = _decode_runs(data)
        case other:
            raise UnusablePdfError(f'The PDF has data in the unknown format "{other[:40]}"')
    budget.take(len(decoded))
    return decoded


def inflate(data: bytes, budget: DecodedBudget) -> bytes:
    """Return decompressed data; a missing end is not an error, as in viewers."""
    inflater = zlib.decompressobj()
    try:
        decoded = inflater.decompress(data, budget.remaining + 1)
    except zlib.error:
        raise damaged("compressed data cannot be decoded") from None
    budget.take(len(decoded))
    return decoded


def check_inflated(data: bytes, budget: DecodedBudget) -> None:
    """Check compressed data as `inflate` does, without holding them in memory."""
    inflater = zlib.decompressobj()
    rest = data
    try:
        while rest and not inflater.eof:
            budget.take(len(inflater.decompress(rest, _CHUNK)))
            rest = inflater.unconsumed_tail
    except zlib.error:
        raise damaged("compressed data cannot be decoded") from None


def _decode_base85(data: bytes) -> bytes:
    digits = _WHITE.sub(b"", data.partition(b"~")[0]).removeprefix(b"<~")
    try:
        return base64.a85decode(digits)
    except ValueError:
        raise damaged("data in base 85 cannot be decoded") from None


def _decode_runs(data: bytes) -> bytes:
    out: list[bytes] = []
    at = 0
    while at < len(data) and (length := data[at]) != 128:
        if length < 128:
            out.append(data[at + 1 : at + 2 + length])
            at += 2 + length
        else:
            out.append(data[at + 1 : at + 2] * (257 - length))
            at += 2
    return b"".join(out)


def _decode_lzw(data: bytes, budget: DecodedBudget, *, early: bool) -> bytes:
    """Return data decoded from codes of 9 to 12 bits (7.4.4)."""
    table: list[bytes] = []
    out: list[bytes] = []
    bits = held = 0
    width, before = 9, b""
    for byte in data:
        held, bits = held << 8 | byte, bits + 8
        if bits < width:
            continue
        bits -= width
        code, held = held >> bits, held & (1 << bits) - 1
        if code == _END:
            break
        if code == _CLEAR:
            table.clear()
            width, before = 9, b""
            continue
        entry = _lzw_entry(table, code, before)
        budget.take(len(entry))
        out.append(entry)
        if before and _FIRST + len(table) < _MAX_CODES:
            table.append(before + entry[:1])
        before = entry
        width = min(max((_FIRST + len(table) + early).bit_length(), 9), 12)
    return b"".join(out)


def _lzw_entry(table: Sequence[bytes], code: int, before: bytes) -> bytes:
    if code < _CLEAR:
        return bytes((code,))
    if code - _FIRST < len(table):
        return table[code - _FIRST]
    if code - _FIRST == len(table) and before:
        return before + before[:1]
    raise damaged("data in LZW cannot be decoded")


# --- predictors (7.4.4.4)


def _undo_predictor(data: bytes, parameters: Mapping[str, PdfObject]) -> bytes:
    """Return data without their predictor, undone by qpdf."""
    given = {
        f"/{name}": _read_parameter(parameters, name, default, most)
        for name, default, most in (
            ("Predictor", 1, 15),
            ("Colors", 1, 32),
            ("BitsPerComponent", 8, 16),
            ("Columns", 1, 1_000_000),
        )
    }
    if given["/Predictor"] == 1:
        return data
    file = pikepdf.new()
    stream = file.make_stream(b"")
    stream.write(
        zlib.compress(data, 0),
        filter=pikepdf.Name.FlateDecode,
        decode_parms=pikepdf.Dictionary(given),
    )
    try:
        return bytes(stream.read_bytes())
    except (pikepdf.PdfError, ValueError, RuntimeError):
        raise damaged("data with a predictor cannot be decoded") from None


def _read_parameter(parameters: Mapping[str, PdfObject], name: str, default: int, most: int) -> int:
    value = parameters.get(name, default)
    if not isinstance(value, int) or not 1 <= value <= most:
        raise damaged(f"the parameter {name} of a filter is not valid")
    return value
