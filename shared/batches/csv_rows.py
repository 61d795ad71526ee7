"""CSV batches (RFC 4180): one document for each row; the header names the path of each cell.

A byte order mark (BOM) selects the encoding, before `charset`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, BinaryIO, Final

from shared.batches.json_documents import (
    DocumentStream,
    check_document_count,
    document_too_large,
    read_beginning,
)
from shared.batches.records import CsvHeader
from shared.encodings import (
    UnacceptedEncodingError,
    detect_delimiter,
    detect_text_codec,
    explain_csv_error,
    find_named_delimiter,
    measure_bom,
)
from shared.errors import ServiceError
from shared.limits import MAX_BATCH_ROW, MAX_CSV_COLUMNS, MAX_JSON_DEPTH

_BUFFER_BYTES: Final = 256 * 1024


class CsvBody(DocumentStream):
    """A CSV body as a UTF-8 stream that records the header and the byte offset of each row.

    Reading raises `ServiceError`: 413 for too many rows or a row that is too long, 400 for malformed CSV
    or column names that conflict.
    """

    def __init__(self, source: Any, *, charset: str | None, most: int | None = None) -> None:
        self._rows = self._read_rows()
        super().__init__(text for text, _ in self._rows)
        self._lines = _LineReader(_decode(source, charset))
        self._most = most
        self.head: CsvHeader | None = None

    def read_documents(self) -> Iterator[bytes | InvalidRow]:
        """Yield the rows as JSON objects, as `read_rows` does from the stored body; instead of `read`."""
        for _, cells in self._rows:
            assert self.head is not None, "it is read before the first row"
            if cells:
                yield _to_json(cells, self.head)

    def _read_rows(self) -> Iterator[tuple[bytes, list[str]]]:
        """Yield the text and the cells of each row; the header and blank ones have no cells."""
        try:
            rows = self._read_header()
            yield self._take_text(), []
            for cells in rows:
                if cells:
                    check_document_count(len(self.starts), most=self._most)
                    self.starts.append(self.size)
                yield self._take_text(), cells
        except UnicodeDecodeError as error:
            raise ServiceError(
                400,
                f"The CSV is not valid {error.encoding}: the bytes after line {self._lines.number} cannot "
                "be decoded.",
            ) from error
        except csv.Error as error:
            line = self._lines.row_at
            raise ServiceError(400, f"CSV line {line}: {explain_csv_error(error)}.") from error

    def _take_text(self) -> bytes:
        text = self._lines.take_read().encode()
        self.size += len(text)
        return text

    def _read_header(self) -> Iterator[list[str]]:
        first = self._read_line()
        named = find_named_delimiter(first)
        if named is not None:
            first = self._read_line()
        delimiter = detect_delimiter(first) if named is None else named[0]
        # The header may span several lines if a quoted name contains a line break.
        rows = csv.reader(_chained(first, self._lines), delimiter=delimiter, strict=True)
        names = next(rows, [])
        self.head = CsvHeader(tuple(_check_names(names)), delimiter)
        return rows

    def _read_line(self) -> str:
        """Return the next line that is not blank, or an empty text."""
        return next((line for line in self._lines if line.strip()), "")


class InvalidRow(Exception):
    """A row that is not a document of its batch; the message states the reason."""


def read_rows(stream: BinaryIO, head: CsvHeader) -> Iterator[tuple[int, bytes | InvalidRow]]:
    """Yield the rows of a range that begins and ends between rows: the number of bytes up to the end of
    the row, and the row as a JSON object. Empty cells are omitted.
    """
    text = io.TextIOWrapper(
        io.BufferedReader(stream, _BUFFER_BYTES),  # type: ignore[type-var] # it is raw
        encoding="utf-8",
        newline="",
    )
    lines = _LineReader(text)
    end = 0
    for cells in csv.reader(lines, delimiter=head.delimiter, strict=True):
        end += len(lines.take_read().encode())
        if cells:
            yield end, _to_json(cells, head)


def _to_json(cells: list[str], head: CsvHeader) -> bytes | InvalidRow:
    paths = _split_columns(head.columns)
    if len(cells) != len(paths):
        sign = "tab" if head.delimiter == "\t" else head.delimiter
        return InvalidRow(
            f'The row has {len(cells)} cells separated by "{sign}"; accepted are {len(paths)}, one for '
            "each column."
        )
    document: dict[str, Any] = {}
    for path, cell in zip(paths, cells, strict=True):
        if not cell:
            continue
        if path == ("",):
            return InvalidRow(f"The row has {_shorten(cell)} in a column without a name.")
        members = document
        for name in path[:-1]:
            members = members.setdefault(name, {})
        members[path[-1]] = cell
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


@lru_cache(maxsize=8)
def _split_columns(columns: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [tuple(name.split(".")) for name in columns]


class _LineReader:
    """Iterates over the lines of a text and collects them until `take_read`."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self._taken: list[str] = []
        self._taken_characters = 0
        self._rows = 0
        self.number = 0
        self.row_at = 1

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._text.readline(MAX_BATCH_ROW)
        if not line:
            raise StopIteration
        self.number += 1
        self._taken.append(line)
        self._taken_characters += len(line)
        if self._taken_characters >= MAX_BATCH_ROW:
            raise document_too_large(max(self._rows, 1), most=MAX_BATCH_ROW)
        return line

    def take_read(self) -> str:
        """Return the text read since the last call: one row and the blank lines before it."""
        text = "".join(self._taken)
        self._taken.clear()
        self._taken_characters = 0
        self._rows += 1
        self.row_at = self.number + 1
        return text


def _decode(source: Any, charset: str | None) -> io.TextIOWrapper:
    head = read_beginning(source)
    try:
        codec = detect_text_codec(head, charset)
    except UnacceptedEncodingError as error:
        raise ServiceError(400, f"{error}.") from error
    raw = _PrefixedStream(source, head[measure_bom(head) :])
    return io.TextIOWrapper(io.BufferedReader(raw, _BUFFER_BYTES), encoding=codec, newline="")


class _PrefixedStream(io.RawIOBase):
    """A raw stream of `head` followed by the source, as `io.BufferedReader` requires."""

    def __init__(self, source: Any, head: bytes) -> None:
        self._source = source
        self._head = head

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece: bytes = self._head[: len(buffer)] or self._source.read(len(buffer))
        self._head = self._head[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)


def _chained(first: str, rest: Iterable[str]) -> Iterator[str]:
    if first:
        yield first
    yield from rest


def _check_names(names: list[str]) -> list[str]:
    columns = [name.strip() for name in names]
    if not any(columns):
        raise ServiceError(400, "The CSV is empty; its first row names the columns.")
    if len(columns) > MAX_CSV_COLUMNS:
        raise ServiceError(
            400, f"The CSV has {len(columns)} columns; accepted are at most {MAX_CSV_COLUMNS}."
        )
    seen: set[tuple[str, ...]] = set()
    # Spreadsheets end rows in separators where cells beside them were used once.
    for name in columns[: 1 + max(at for at, name in enumerate(columns) if name)]:
        path = tuple(name.split("."))
        if not all(path) or len(path) > MAX_JSON_DEPTH:
            raise ServiceError(
                400,
                f"The CSV has a column named {_shorten(name)}; accepted is the path of a field, such as "
                "number or buyer.name.",
            )
        if path in seen:
            raise ServiceError(400, f"The CSV has two columns named {_shorten(name)}.")
        seen.add(path)
    for path in seen:
        for length in range(1, len(path)):
            if path[:length] in seen:
                outer, inner = ".".join(path[:length]), ".".join(path)
                raise ServiceError(
                    400,
                    f"The CSV has columns named {_shorten(outer)} and {_shorten(inner)}: a field cannot be "
                    "both a value and an object.",
                )
    return columns


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 100 else text[:100] + "…")
