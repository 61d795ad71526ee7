"""Receiving a body within its limit, large ones on disk (hazards.md 7)."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import IO, Any, BinaryIO, Final, cast

from flask import Request
from gunicorn.http.errors import (
    ChunkMissingTerminator,
    InvalidChunkExtension,
    InvalidChunkSize,
    ParseException,
)
from werkzeug.exceptions import ClientDisconnected

from api.admission.unpacking import UnpackedStream, is_packed
from api.exchange import parse_json_object, read_content_type
from shared.errors import ServiceError
from shared.limits import KB, MB

SPOOL_BYTES: Final = 1 * MB  # a larger body waits on disk
_FIELDS_BYTES: Final = 1 * MB
_CHUNK: Final = 256 * KB
_MALFORMED: Final = (ChunkMissingTerminator, InvalidChunkExtension, InvalidChunkSize)
_BROKEN: Final = (OSError, ParseException, ClientDisconnected)


@dataclass(frozen=True, slots=True)
class Body:
    """A received body: `file` stands at its start."""

    file: BinaryIO
    size: int

    def read(self) -> bytes:
        """Give all of it."""
        return self.file.read()


@contextmanager
def receive_body(request: Request, *, limit: int) -> Iterator[Body]:
    """Receive the body; it is gone when the block ends.

    Raises:
        ServiceError: 413, before any is read when its Content-Length passes `limit` bytes, else as
            soon as it does, unpacked where it is compressed; 400 when it ends before its end; 415
            for a Content-Encoding other than gzip.
    """
    source = _open_source(request, limit=limit)
    with _open_spool(source.declared) as file:
        size = 0
        # Never get_data(): it cuts a chunked body off at a limit and says nothing.
        while size != source.declared and (chunk := source.read(_CHUNK)):
            size += len(chunk)
            if size > limit:
                raise _too_large(limit)
            file.write(chunk)
        # The server hands a body that broke off as if it had ended.
        if source.declared is not None and size != source.declared:
            raise _broken_off()
        file.seek(0)
        yield Body(file, size)


class BodyStream:
    """A body that is read as it comes, however large: nothing of it is kept here.

    Raises `ServiceError` while reading: 413 as soon as it passes the limit, 400 when it ends before
    its end. `note` is told of each piece.
    """

    def __init__(
        self, request: Request, *, limit: int, note: Callable[[bytes], object] = lambda _: None
    ) -> None:
        """Begin; a body that is declared too large is refused before it is read.

        Raises:
            ServiceError: 413, 415.
        """
        self._source = _open_source(request, limit=limit)
        self._limit = limit
        self._note = note
        self._size = 0

    def read(self, size: int = -1) -> bytes:
        """Give the next bytes, up to `size`; none at the end."""
        declared = self._source.declared
        chunk = self._source.read(_CHUNK if size < 0 else min(size, _CHUNK))
        self._size += len(chunk)
        if self._size > self._limit:
            raise _too_large(self._limit)
        if not chunk and declared is not None and self._size != declared:
            raise _broken_off()
        self._note(chunk)
        return chunk


def receive_fields(request: Request, fields: tuple[str, ...]) -> dict[str, Any]:
    """Receive a small JSON object of known fields; without a body there is none of them.

    Raises:
        ServiceError: 415 for another type, 413 above 1 MB, 400 for what is no such object.
    """
    content_type = read_content_type(request)
    if content_type is not None and content_type.media != "application/json":
        raise ServiceError(
            415, f"Unaccepted Content-Type {content_type.media!r}; accepted is application/json."
        )
    with receive_body(request, limit=_FIELDS_BYTES) as body:
        data = body.read()
    if content_type is None and data:
        raise ServiceError(415, "A Content-Type is required; accepted is application/json.")
    return parse_json_object(data, fields=fields) if data else {}


def _open_spool(declared: int | None) -> BinaryIO:
    if declared is not None and declared <= SPOOL_BYTES:
        return BytesIO()  # the server gives no more than was declared
    return cast("BinaryIO", tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES))


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a body is read from, and of how many bytes it is; None where only its end tells."""

    read: Callable[[int], bytes]
    declared: int | None


def _open_source(request: Request, *, limit: int) -> _Source:
    packed = is_packed(request)
    declared = request.content_length
    if declared is not None and declared > limit:
        raise _too_large(limit)
    if packed:
        return _Source(UnpackedStream(_PackedBody(request, limit=limit).read).read, None)
    return _Source(partial(_read_chunk, request.stream), declared)


class _PackedBody:
    """The bytes of a compressed body as they come."""

    def __init__(self, request: Request, *, limit: int) -> None:
        self._stream = request.stream
        self._declared = request.content_length
        self._limit = limit
        self._size = 0

    def read(self, size: int) -> bytes:
        """Return the next bytes, up to `size`; none at the end."""
        if self._size == self._declared:
            return b""
        chunk = _read_chunk(self._stream, size)
        self._size += len(chunk)
        if self._size > self._limit:
            raise _too_large(self._limit)
        if not chunk and self._declared is not None:
            raise _broken_off()
        return chunk


def _read_chunk(stream: IO[bytes], size: int) -> bytes:
    try:
        return stream.read(size)
    except TimeoutError as error:
        raise ServiceError(408, "The body came too slowly; send it again.") from error
    except _MALFORMED as error:
        raise ServiceError(
            400, "The body is not in the chunked transfer coding of HTTP/1.1 (RFC 9112, 7.1)."
        ) from error
    except _BROKEN as error:
        raise _broken_off() from error


def _broken_off() -> ServiceError:
    return ServiceError(400, "The body ended before its end; send it whole.")


def _too_large(limit: int) -> ServiceError:
    return ServiceError(
        413, f"The body is larger than {limit // MB} MB, which is the most accepted."
    )
