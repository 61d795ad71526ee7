"""Responses with stored files: whole or a range, and conditional (RFC 9110, 13 and 14)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from flask import Request, Response

from api.conditional_requests import make_etag, read_preconditions, write_not_modified
from api.http import start_stream
from shared.blobs.store import BlobMissingError, BlobStore, ByteRange
from shared.errors import ServiceError
from shared.limits import KB

_CHUNK_BYTES: Final = 256 * KB
# Several ranges in one request, other units and invalid ranges are ignored, as RFC 9110, 14.2 allows.
_RANGE: Final = re.compile(r"bytes=[ \t]*([0-9]{0,19})-([0-9]{0,19})[ \t]*", re.IGNORECASE)


class StoredFile(Protocol):
    """A file that never changes; `read` raises `BlobMissingError` once it is deleted."""

    @property
    def etag(self) -> str:
        """The strong entity tag of its bytes."""

    @property
    def size(self) -> int:
        """The number of its bytes."""

    def read(self, part: ByteRange) -> Iterator[bytes]:
        """Yield the bytes of a range."""


@dataclass(frozen=True, slots=True)
class BlobFile:
    """A blob, or `size` bytes of it from `offset` on."""

    blobs: BlobStore
    key: str
    size: int
    offset: int = 0

    @property
    def etag(self) -> str:
        """The entity tag; the key of a result is never used for other bytes."""
        return make_etag(self.key, str(self.offset))

    def read(self, part: ByteRange) -> Iterator[bytes]:
        """Yield the bytes of a range."""
        within = ByteRange(self.offset + part.offset, part.length)
        with self.blobs.open(self.key, byte_range=within) as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                yield chunk


def send_whole(file: StoredFile, headers: Mapping[str, str], *, what: str) -> Response:
    """Return a file in the response of a call that is not a read; `what` names it in errors.

    Raises:
        ServiceError: 410, it has expired.
    """
    return _send(file, ByteRange(0, file.size), 200, headers, what)


def send_file(
    request: Request, file: StoredFile, headers: Mapping[str, str], *, what: str
) -> Response:
    """Return the response of a read of a file; `what` names it in errors.

    Raises:
        ServiceError: 410, it has expired; 416 for a range beyond its end; 400 and 412, see
            `Preconditions`.
    """
    if read_preconditions(request).is_not_modified(file.etag):
        return write_not_modified(file.etag)
    headers = {**headers, "ETag": file.etag, "Accept-Ranges": "bytes"}
    part = _read_range(request, file)
    if part is None:
        return _send(file, ByteRange(0, file.size), 200, headers, what)
    last = part.offset + part.length - 1
    headers["Content-Range"] = f"bytes {part.offset}-{last}/{file.size}"
    return _send(file, part, 206, headers, what)


def expired(what: str) -> ServiceError:
    """Return the error of a result that is no longer kept."""
    return ServiceError(410, f"The {what} has expired: it is no longer kept.")


def _send(
    file: StoredFile, part: ByteRange, status: int, headers: Mapping[str, str], what: str
) -> Response:
    try:
        chunks = start_stream(file.read(part))
    except BlobMissingError as error:
        raise expired(what) from error
    return Response(chunks, status, {**headers, "Content-Length": str(part.length)})


def _read_range(request: Request, file: StoredFile) -> ByteRange | None:
    """Return the requested range, None for the whole file."""
    found = _RANGE.fullmatch(request.headers.get("Range", ""))
    if request.method != "GET" or found is None:
        return None
    # A date never matches, since there is no Last-Modified; entity tags are compared strongly.
    if request.headers.get("If-Range", file.etag).strip() != file.etag:
        return None
    first, last = found.groups()
    if not first and not last:
        return None
    if not first:
        start, end = max(file.size - int(last), 0), file.size
    else:
        start, end = int(first), min(int(last) + 1, file.size) if last else file.size
        if last and int(last) < start:
            return None
    if start >= file.size:
        raise ServiceError(
            416,
            f"The Range header asks for bytes beyond the end: the file has {file.size:,} bytes.",
            headers={"Content-Range": f"bytes */{file.size}"},
        )
    return ByteRange(start, end - start)
