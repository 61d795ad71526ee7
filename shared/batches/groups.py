"""Batches whose documents are several rows: consecutive rows of one key become one document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any, Final

import msgspec

from shared.batches.csv_rows import CsvBody, InvalidRow
from shared.batches.json_documents import (
    READ_BYTES,
    DocumentStream,
    JsonArrayBody,
    NdjsonBody,
    check_document_count,
    document_too_large,
)
from shared.errors import ServiceError
from shared.limits import MAX_BATCH_ROW, MAX_JSON_DEPTH, MB
from shared.settings import get_limits

ROWS: Final = "rows"  # the member of a document that has its rows
MAX_KEY_LENGTH: Final = 200
_MAX_PATH_LENGTH: Final = 300
_BOM: Final = b"\xef\xbb\xbf"
_LINE_BREAKS: Final = re.compile(rb"\n\s*")  # with blank lines, of which a body may have millions
# The first level of a row: values stay as they were sent.
_ROW: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_KEY: Final = msgspec.json.Decoder(str | int | float)


class GroupedBody(DocumentStream):
    """A body as NDJSON with one document for the consecutive rows of one key.

    A document has the fields of its first row, and all its rows as the list `rows`. Reading raises
    `ServiceError`: 400 for a row without the key, or for a key that returns after another one; 413 for too
    many rows or documents, or a document that is too large; and the errors of the body.
    """

    def __init__(self, body: NdjsonBody | JsonArrayBody | CsvBody, path: str) -> None:
        rows = body.read_documents() if isinstance(body, CsvBody) else _read_lines(body)
        super().__init__(self._group(rows))
        self._path = path
        self._names = path.split(".")
        self._seen: set[bytes] = set()  # digests, since 100,000 keys may be long

    def _group(self, rows: Iterator[bytes | InvalidRow]) -> Iterator[bytes]:
        same: list[bytes] = []
        current: str | None = None
        size = 0
        for number, row in enumerate(rows, start=1):
            if isinstance(row, InvalidRow):
                raise ServiceError(400, f"Row {number:,}: {row}")
            key = self._read_key(row, number)
            if key != current:
                if same:
                    yield self._write_document(same)
                self._begin(key, number)
                current, same, size = key, [], len(row)
            same.append(row)
            size += len(row) + 1
            if size > (most := get_limits().body_bytes):
                raise document_too_large(len(self._seen), most=most)
        if same:
            yield self._write_document(same)

    def _write_document(self, rows: Sequence[bytes]) -> bytes:
        """Return a line with the first row's members and the list of all rows, as they were sent."""
        members = rows[0][:-1].rstrip()
        document = members + b',"' + ROWS.encode() + b'":[' + b",".join(rows) + b"]}\n"
        self.starts.append(self.size)
        self.size += len(document)
        return document

    def _begin(self, key: str, number: int) -> None:
        """Note the key of a new document."""
        digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if digest in self._seen:
            raise ServiceError(
                400,
                f"Row {number:,}: {self._path} {_shorten(key)} has returned after rows of others. The rows "
                f"of a document must follow each other: sort them by {self._path}.",
            )
        check_document_count(len(self._seen))
        self._seen.add(digest)

    def _read_key(self, row: bytes, number: int) -> str:
        """Return the text of a row's key; numbers are compared as they are written."""
        if len(row) > MAX_BATCH_ROW:
            raise ServiceError(
                413, f"Row {number:,} is larger than {MAX_BATCH_ROW // MB} MB, the limit."
            )
        try:
            members = _ROW.decode(row)
            has_rows = ROWS in members
            for name in self._names[:-1]:
                members = _ROW.decode(members[name])
            value = members[self._names[-1]]
            key = _KEY.decode(value)
        except KeyError:
            raise self._invalid(number, "it is missing") from None
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise self._invalid(number, "the row is no JSON object, or has another value") from None
        if has_rows:
            raise ServiceError(
                400,
                f"Row {number:,} has a field {ROWS}, which is the list of a document's rows in a batch with "
                "group: rename it.",
            )
        text = key if isinstance(key, str) else bytes(value).decode()
        if not text or len(text) > MAX_KEY_LENGTH:
            raise self._invalid(number, f"it has {len(text)} characters")
        return text

    def _invalid(self, number: int, reason: str) -> ServiceError:
        return ServiceError(
            400,
            f"Row {number:,} cannot be grouped by {self._path}: {reason}; accepted is a text of 1 to "
            f"{MAX_KEY_LENGTH} characters or a number.",
        )


def check_group_path(path: str) -> None:
    """Check the path of a key.

    Raises:
        ServiceError: 400, with what is accepted.
    """
    names = path.split(".")
    if len(path) > _MAX_PATH_LENGTH or len(names) > MAX_JSON_DEPTH or not all(names):
        raise ServiceError(
            400,
            f"Invalid group {_shorten(path)}: accepted is the path of a field of the rows, such as number "
            "or order.number.",
        )
    if names[0] == ROWS:
        raise ServiceError(
            400, f"Invalid group {_shorten(path)}: {ROWS} is the list of a document's rows."
        )


def _read_lines(body: NdjsonBody | JsonArrayBody) -> Iterator[bytes]:
    """Yield the lines that are not blank."""
    parts: list[bytes] = []
    while piece := body.read(READ_BYTES):
        first, *others = _LINE_BREAKS.split(piece)
        parts.append(first)
        for line in others:
            yield from _strip(parts)
            parts = [line]
    yield from _strip(parts)


def _strip(parts: Sequence[bytes]) -> Iterator[bytes]:
    line = b"".join(parts).removeprefix(_BOM).strip()  # joined files have one in their middle
    if line:
        yield line


def _shorten(value: Any) -> str:
    text = str(value)
    return repr(text if len(text) <= 100 else text[:100] + "…")
