"""Documents of a CSV row each: the first row names the paths their cells go to (RFC 4180)."""

from __future__ import annotations

import csv
import io
import json
import re
from array import array
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Final

from shared.batches.ndjson import check_number, too_long
from shared.batches.records import CsvHead
from shared.encodings import UnacceptedEncodingError, find_text_codec, measure_mark
from shared.errors import ServiceError
from shared.limits import MAX_BATCH_ROW, MAX_CSV_COLUMNS, MAX_JSON_DEPTH

_BUFFER_BYTES: Final = 256 * 1024
_DELIMITERS: Final = (",", ";", "\t", "|")
_QUOTED: Final = re.compile(r'"[^"]*+"')


class CsvBody(io.RawIOBase):
    """A CSV body, given on in UTF-8; it notes where its rows begin, and what the first one names.

    Raises `ServiceError` while reading: 413 for too many rows, or one too long; 400 for what is
    no CSV, or names its columns in a way that no row could follow.
    """

    def __init__(self, source: Any, *, charset: str | None) -> None:
        self._lines = _Lines(_decoded(source, charset))
        self._rows: Iterator[list[str]] | None = None
        self._ready = bytearray()
        self.starts = array("Q")
        self.size = 0
        self.head: CsvHead | None = None

    def readable(self) -> bool:
        """Tell that it is for reading."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Give the next bytes, in UTF-8."""
        try:
            while (size < 0 or len(self._ready) < size) and self._take_row():
                pass
        except UnicodeDecodeError as error:
            raise ServiceError(
                400,
                f"The CSV is not in {error.encoding}: after line {self._lines.number} come bytes that "
                "stand for no character in it.",
            ) from error
        except csv.Error as error:
            line = self._lines.row_at
            raise ServiceError(400, f"CSV line {line}: {_in_plain_words(str(error))}.") from error
        piece = bytes(self._ready[:size] if size >= 0 else self._ready)
        del self._ready[: len(piece)]
        return piece

    def _take_row(self) -> bool:
        if self._rows is None:
            self._rows = self._read_head()
        cells = next(self._rows, None)
        taken = self._lines.take().encode()
        if cells:
            check_number(len(self.starts))
            self.starts.append(self.size)
        self._ready += taken
        self.size += len(taken)
        return cells is not None

    def _read_head(self) -> Iterator[list[str]]:
        first = next((line for line in self._lines if line.strip()), "")
        delimiter = _detect_delimiter(first)
        # The first row may be more than one line, where a name has a line break in quotes.
        rows = csv.reader(_chained(first, self._lines), delimiter=delimiter, strict=True)
        names = next(rows, [])
        self.head = CsvHead(tuple(_check_names(names)), delimiter)
        head = self._lines.take().encode()
        self._ready += head
        self.size += len(head)
        return rows


class Fault(Exception):
    """A row that is no document of its batch; the text says why."""


def read_rows(stream: BinaryIO, head: CsvHead) -> Iterator[tuple[int, bytes | Fault]]:
    """Give the rows of a stretch that begins and ends between rows, each as a JSON object with the
    number of bytes up to its end. An empty cell is no member of it.
    """
    text = io.TextIOWrapper(
        io.BufferedReader(stream, _BUFFER_BYTES),  # type: ignore[type-var] # it is raw
        encoding="utf-8",
        newline="",
    )
    lines = _Lines(text)
    paths = [tuple(name.split(".")) for name in head.columns]
    end = 0
    for cells in csv.reader(lines, delimiter=head.delimiter, strict=True):
        end += len(lines.take().encode())
        if cells:
            yield end, _to_json(cells, paths, head)


def _to_json(cells: list[str], paths: list[tuple[str, ...]], head: CsvHead) -> bytes | Fault:
    if len(cells) != len(paths):
        sign = "tab" if head.delimiter == "\t" else head.delimiter
        return Fault(
            f'The row has {len(cells)} cells separated by "{sign}", accepted are {len(paths)}, as '
            "many as there are columns."
        )
    document: dict[str, Any] = {}
    for path, cell in zip(paths, cells, strict=True):
        if not cell:
            continue
        members = document
        for name in path[:-1]:
            members = members.setdefault(name, {})
        members[path[-1]] = cell
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


class _Lines:
    """The lines of a text, with what was read since the last look."""

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
            raise too_long(max(self._rows, 1), most=MAX_BATCH_ROW)
        return line

    def take(self) -> str:
        """Give what was read since the last time: one row, and the blank lines before it."""
        text = "".join(self._taken)
        self._taken.clear()
        self._taken_characters = 0
        self._rows += 1
        self.row_at = self.number + 1
        return text


def _decoded(source: Any, charset: str | None) -> io.TextIOWrapper:
    head = _read_beginning(source)
    try:
        codec = find_text_codec(head, charset)
    except UnacceptedEncodingError as error:
        raise ServiceError(400, f"{error}.") from error
    raw = _Raw(source, head[measure_mark(head) :])
    return io.TextIOWrapper(io.BufferedReader(raw, _BUFFER_BYTES), encoding=codec, newline="")


def _read_beginning(source: Any) -> bytes:
    """Read as much as the longest byte order mark, of a source that may return less at once."""
    head = b""
    while len(head) < 4:
        piece: bytes = source.read(4 - len(head))
        if not piece:
            break
        head += piece
    return head


class _Raw(io.RawIOBase):
    """A stream that can only be read, as the library's buffers want one; `head` comes before it."""

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


def _detect_delimiter(first: str) -> str:
    """Choose the sign that is most frequent in the first line, outside of quotes."""
    bare = _QUOTED.sub("", first)
    return max(_DELIMITERS, key=bare.count)


def _check_names(names: list[str]) -> list[str]:
    columns = [name.strip() for name in names]
    if not any(columns):
        raise ServiceError(400, "The CSV is empty; its first row names the columns.")
    if len(columns) > MAX_CSV_COLUMNS:
        raise ServiceError(
            400, f"The CSV has {len(columns)} columns; accepted are at most {MAX_CSV_COLUMNS}."
        )
    seen: set[tuple[str, ...]] = set()
    for name in columns:
        path = tuple(name.split("."))
        if not all(path) or len(path) > MAX_JSON_DEPTH:
            raise ServiceError(
                400,
                f"The CSV names a column {_shown(name)}; accepted is the path of a field, such as "
                "number or buyer.name.",
            )
        if path in seen:
            raise ServiceError(400, f"The CSV names the column {_shown(name)} twice.")
        seen.add(path)
    for path in seen:
        for length in range(1, len(path)):
            if path[:length] in seen:
                outer, inner = ".".join(path[:length]), ".".join(path)
                raise ServiceError(
                    400,
                    f"The CSV names the columns {_shown(outer)} and {_shown(inner)}: the one would "
                    "be inside the other.",
                )
    return columns


def _shown(text: str) -> str:
    return repr(text if len(text) <= 100 else text[:100] + "…")


def _in_plain_words(message: str) -> str:
    if "end of data" in message:
        return "the quote that opens here is not closed"
    if "expected after" in message:
        return "something follows a closing quote; accepted are the separator or the end of the row"
    if "field larger" in message:
        return f"a cell is longer than the {csv.field_size_limit():,} characters accepted"
    return message
