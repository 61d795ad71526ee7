"""A PDF file: its objects and pages as qpdf reads and repairs them, as Python values.

Filters of streams (ISO 32000-1, 7.4) are decoded within a budget, so that a small file stays small.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import Final, NamedTuple, TypeVar

import pikepdf

from workers.engine.pdf_pages.objects import (
    SIMPLIFY,
    IndirectReference,
    Name,
    PdfObject,
    Stream,
    UnusablePdfError,
    damaged,
    read_object,
)

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


MAX_PAGES: Final = 10_000
_MAX_LINKS: Final = 20  # references to references
_SIGNATURE: Final = b"%PDF-"
_SIGNATURE_WITHIN: Final = 1024
# Raised by pikepdf for damaged files; a C++ exception without a class of its own is a RuntimeError.
_QPDF_ERRORS: Final = (
    pikepdf.PdfError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    ArithmeticError,
    RuntimeError,
)

Result = TypeVar("Result")


def is_pdf(data: bytes) -> bool:
    """Return whether a file has the signature of a PDF near its start, as viewers accept it."""
    return _SIGNATURE in data[:_SIGNATURE_WITHIN]


class PdfFile:
    """The objects of a PDF. A damaged cross-reference is replaced by a search for objects.

    qpdf reads objects when they are asked for.

    Files that are encrypted without a password, to restrict printing or copying, are read only with
    `accepts_restricted`.

    Raises:
        UnusablePdfError: the file is encrypted, or cannot be read.
    """

    def __init__(
        self, data: bytes, budget: DecodedBudget, *, accepts_restricted: bool = False
    ) -> None:
        self._budget = budget
        self._objects: dict[IndirectReference, PdfObject] = {}
        self._pdf = _open(data)
        if self._pdf.is_encrypted and not accepts_restricted:
            raise _encrypted()
        self.catalog: dict[str, PdfObject] = self.resolve_dictionary(
            _try(lambda: read_object(self._pdf.Root))
        )

    def find_page(self, number: int) -> tuple[dict[str, PdfObject] | None, int]:
        """Return a page by its number from 1 with the attributes it inherits, and the number of pages.

        Raises:
            UnusablePdfError: the page tree is damaged or too large.
        """
        count = self._count_pages()
        return (self._read_page(number) if 1 <= number <= count else None), count

    def iterate_pages(self) -> Iterator[dict[str, PdfObject]]:
        """Yield the pages in their order.

        Raises:
            UnusablePdfError: the page tree is damaged or too large.
        """
        for number in range(1, self._count_pages() + 1):
            yield self._read_page(number)

    def _count_pages(self) -> int:
        count = _try(lambda: len(self._pdf.pages))
        if count > MAX_PAGES:
            raise UnusablePdfError(
                f"The PDF has more than {MAX_PAGES:,} pages",
                advice="Use a PDF with the pages that are needed.",
            )
        if not count:
            raise damaged("it has no pages")
        return count

    def _read_page(self, number: int) -> dict[str, PdfObject]:
        page = _try(lambda: read_object(self._pdf.pages[number - 1].obj))
        return page if isinstance(page, dict) else {}

    def resolve(self, value: PdfObject) -> PdfObject:
        """Return the object that a reference stands for, any other value itself; null if it is missing.

        Raises:
            UnusablePdfError: the object is damaged, or references lead to each other.
        """
        for _ in range(_MAX_LINKS):
            if not isinstance(value, IndirectReference):
                return value
            value = self._load(value)
        raise damaged("references lead to each other")

    def resolve_dictionary(self, value: PdfObject) -> dict[str, PdfObject]:
        """Return a dictionary, that of a stream too, and an empty one for anything else."""
        value = self.resolve(value)
        if isinstance(value, Stream):
            return value.entries
        return value if isinstance(value, dict) else {}

    def resolve_list(self, value: PdfObject) -> list[PdfObject]:
        """Return an array, and an empty one for anything else."""
        value = self.resolve(value)
        return value if isinstance(value, list) else []

    def decode(self, stream: Stream) -> Decoded:
        """Decode a stream within the budget, up to a filter for pictures."""
        return decode(stream.data, self.read_filters(stream), self._budget)

    def read_filters(self, stream: Stream) -> list[FilterStep]:
        """Return the filters of a stream in the order in which they are decoded.

        Raises:
            UnusablePdfError: its data are in another file.
        """
        if "F" in stream.entries:
            raise UnusablePdfError("The PDF refers to data in another file")
        names = self._as_list(stream.entries.get("Filter"))
        parameters = self._as_list(stream.entries.get("DecodeParms"))
        parameters += [None] * (len(names) - len(parameters))
        return [
            FilterStep(
                long_name(str(self.resolve(name))),
                {key: self.resolve(each) for key, each in self.resolve_dictionary(given).items()},
            )
            for name, given in zip(names, parameters, strict=False)
        ]

    def _as_list(self, value: PdfObject) -> list[PdfObject]:
        value = self.resolve(value)
        if value is None:
            return []
        return list(value) if isinstance(value, list) else [value]

    def _load(self, reference: IndirectReference) -> PdfObject:
        if reference not in self._objects:
            self._objects[reference] = _try(lambda: read_object(self._pdf.get_object(*reference)))
        return self._objects[reference]


def _open(data: bytes) -> pikepdf.Pdf:
    try:
        return pikepdf.open(BytesIO(data))
    except pikepdf.PasswordError:
        raise _encrypted() from None
    except _QPDF_ERRORS:
        raise damaged("its objects cannot be found") from None


def _encrypted() -> UnusablePdfError:
    return UnusablePdfError(
        "The PDF is encrypted", advice="Save it without a password and without restrictions."
    )


def _try(read: Callable[[], Result]) -> Result:
    try:
        return read()
    except _QPDF_ERRORS:
        raise damaged("an object cannot be read") from None


def parse_object(written: bytes) -> PdfObject:
    """Return an object of which the syntax is given, such as an operand.

    Raises:
        UnusablePdfError: it cannot be read.
    """
    return _try(lambda: read_object(pikepdf.Object.parse(written)))


def is_name(value: PdfObject, *names: str) -> bool:
    """Return whether a value is one of some names."""
    return isinstance(value, Name) and value in names


def read_numbers(file: PdfFile, values: Sequence[PdfObject]) -> list[float]:
    """Return numbers, none if one of the values is something else."""
    found = [file.resolve(value) for value in values]
    if not all(isinstance(each, int | float) and not isinstance(each, bool) for each in found):
        return []
    return [float(each) for each in found]


class Layers:
    """The layers of a file in the state of its default configuration."""

    def __init__(self, file: PdfFile) -> None:
        self._file = file
        properties = file.resolve_dictionary(file.catalog.get("OCProperties"))
        default = file.resolve_dictionary(properties.get("D"))
        self._is_off = is_name(default.get("BaseState"), "OFF")
        self._on = _numbers(file.resolve_list(default.get("ON")))
        self._off = _numbers(file.resolve_list(default.get("OFF")))

    def is_hidden(self, value: PdfObject) -> bool:
        """Return whether a layer, or a membership in several of them, is hidden."""
        entries = self._file.resolve_dictionary(value)
        if not is_name(entries.get("Type"), "OCMD"):
            return isinstance(value, IndirectReference) and self._is_layer_hidden(value.number)
        groups = self._file.resolve(entries.get("OCGs"))
        found = groups if isinstance(groups, list) else [entries.get("OCGs")]
        hidden = [
            self._is_layer_hidden(each.number)
            for each in found
            if isinstance(each, IndirectReference)
        ]
        match entries.get("P", "AnyOn"):
            case "AllOn":
                return any(hidden)
            case "AnyOff":
                return bool(hidden) and not any(hidden)
            case "AllOff":
                return bool(hidden) and not all(hidden)
            case _:
                return bool(hidden) and all(hidden)

    def _is_layer_hidden(self, number: int) -> bool:
        return number in self._off or (self._is_off and number not in self._on)


def _numbers(values: list[PdfObject]) -> frozenset[int]:
    return frozenset(value.number for value in values if isinstance(value, IndirectReference))
