"""A PDF file: its objects and pages as qpdf reads and repairs them, as Python values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from io import BytesIO
from typing import Final, TypeVar

import pikepdf

from workers.engine.pdf_pages.filters import Decoded, DecodedBudget, FilterStep, decode, long_name
from workers.engine.pdf_pages.lexer import Lexer
from workers.engine.pdf_pages.objects import (
    IndirectReference,
    Name,
    PdfObject,
    Stream,
    UnusablePdfError,
    damaged,
)

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
    OverflowError,
    RuntimeError,
)

Result = TypeVar("Result")


def is_pdf(data: bytes) -> bool:
    """Return whether a file has the signature of a PDF near its start, as viewers accept it."""
    return _SIGNATURE in data[:_SIGNATURE_WITHIN]


class PdfFile:
    """The objects of a PDF. A damaged cross-reference is replaced by a search for objects.

    qpdf reads objects when they are asked for. Their syntax is taken from it in its own, canonical
    form, since pikepdf cannot read names that are not UTF-8.

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
            _try(lambda: _parse(self._pdf.Root))
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
        page = _try(lambda: _parse(self._pdf.pages[number - 1].obj))
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
            self._objects[reference] = _try(lambda: _parse(self._pdf.get_object(*reference)))
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


def _parse(found: PdfObject) -> PdfObject:
    """Return an object of pikepdf as Python values, with references to other indirect objects.

    Raises:
        UnusablePdfError: it is nested too deeply.
    """
    if isinstance(found, pikepdf.Stream):
        entries = Lexer(found.stream_dict.unparse(resolved=True)).read_object()
        return Stream(entries, found.read_raw_bytes())
    if isinstance(found, pikepdf.Object):
        return Lexer(found.unparse(resolved=True)).read_object()
    # pikepdf has values of Python for null, booleans and numbers.
    return float(found) if isinstance(found, Decimal) else found


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
