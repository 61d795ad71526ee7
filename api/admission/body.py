"""Request bodies: received within a size limit, large ones on disk."""

from __future__ import annotations

import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import IO, BinaryIO, Final, TypeVar, cast

from flask import Request
from gunicorn.http.errors import (
    ChunkMissingTerminator,
    InvalidChunkExtension,
    InvalidChunkSize,
    ParseException,
)
from werkzeug.exceptions import ClientDisconnected

from api.admission.framing import ChunkTooLargeError
from api.admission.json_body import MAX_PARSED_BYTES, decode_record
from api.http import require_content_type
from shared.errors import ServiceError
from shared.limits import KB, MB
from shared.records import Record
from shared.settings import get_limits

_NAMES: Final = ("gzip", "x-gzip")
_ACCEPTED: Final = {"Accept-Encoding": "gzip"}
_CHUNK_BYTES: Final = 64 * KB
# Some writers split a body into gzip members of 64 KB; each member has its own cost.
_MOST_MEMBERS: Final = 10_000
_GZIP: Final = 16 + zlib.MAX_WBITS
R = TypeVar("R", bound=Record)


def is_packed(request: Request) -> bool:
    """Return whether the body is compressed.

    Raises:
        ServiceError: 415 for an unaccepted Content-Encoding.
    """
    coding = request.headers.get("Content-Encoding")
    if coding is None or (name := coding.strip().lower()) in ("", "identity"):
        return False
    if name in _NAMES:
        return True
    raise ServiceError(
        415,
        f"Unaccepted Content-Encoding {coding[:100]!r}; accepted is gzip, or no encoding.",
        headers=_ACCEPTED,
    )


class UnpackedStream:
    """The decompressed content of a gzip stream, in bounded memory whatever the compression ratio.

    `read_packed` reads up to a number of compressed bytes, none at the end. Reading raises
    `ServiceError`: 400 for invalid or truncated gzip.
    """

    def __init__(self, read_packed: Callable[[int], bytes]) -> None:
        self._read_packed = read_packed
        self._packed = b""
        self._member = zlib.decompressobj(_GZIP)
        self._members = 1
        self._is_begun = False

    def read(self, size: int) -> bytes:
        """Return the next bytes, up to `size`; empty at the end."""
        while True:
            if not self._packed:
                self._packed = self._read_packed(_CHUNK_BYTES)
            if not self._packed:
                return self._end(size)
            if self._member.eof:
                self._begin_member()
            self._is_begun = True
            try:
                chunk = self._member.decompress(self._packed, size)
            except zlib.error as error:
                raise _broken("it is not valid gzip") from error
            self._packed = self._member.unconsumed_tail or self._member.unused_data
            if chunk:
                return chunk

    def _begin_member(self) -> None:
        self._members += 1
        if self._members > _MOST_MEMBERS:
            raise _broken(f"it has more than {_MOST_MEMBERS:,} members")
        self._member = zlib.decompressobj(_GZIP)

    def _end(self, size: int) -> bytes:
        if not self._is_begun or self._member.eof:
            return b""
        # Output that the library held back, because of `size`.
        rest = self._member.decompress(b"", size)
        if not rest and not self._member.eof:
            raise _broken("it is truncated")
        return rest


def _broken(reason: str) -> ServiceError:
    return ServiceError(400, f"The body cannot be decompressed: {reason}; send it again.")


SPOOL_BYTES: Final = 1 * MB  # larger bodies are spooled to disk
_CHUNK: Final = 256 * KB
# Of each chunk, however few bytes it is unpacked from: other requests are answered. gevent runs many
# greenlets that sleep for 0 s before it looks at sockets again.
_PAUSE_SECONDS: Final = 0.0001
_MALFORMED: Final = (ChunkMissingTerminator, InvalidChunkExtension, InvalidChunkSize)
_BROKEN: Final = (OSError, ParseException, ClientDisconnected)


@dataclass(frozen=True, slots=True)
class Body:
    """A received body; `file` is at its start."""

    file: BinaryIO
    size: int

    def read(self) -> bytes:
        """Return the whole body."""
        return self.file.read()


@contextmanager
def receive_body(request: Request, *, limit: int | None = None) -> Iterator[Body]:
    """Receive the body into a file, which is deleted when the block ends; `limit` is that of renders by default.

    Raises:
        ServiceError: 413, the Content-Length is above `limit` bytes, or as soon as the decompressed body
            is; 400, the body is cut short; 415 for a Content-Encoding other than gzip.
    """
    stream = BodyStream(request, limit=get_limits().body_bytes if limit is None else limit)
    with _open_spool(stream.declared) as file:
        # Never get_data(): it silently truncates a chunked body at a limit.
        while chunk := stream.read():
            file.write(chunk)
        size = file.tell()
        file.seek(0)
        yield Body(file, size)


class _CountedBytes:
    """The bytes of a body, of which there are `declared` ones unless that is None, and `limit` at most."""

    def __init__(
        self, read: Callable[[int], bytes], *, limit: int, declared: int | None = None
    ) -> None:
        self._read = read
        self._limit = limit
        self._declared = declared
        self._size = 0

    def read(self, size: int) -> bytes:
        """Return the next bytes, up to `size`; empty at the end."""
        if self._size == self._declared:
            return b""
        chunk = self._read(size)
        self._size += len(chunk)
        if self._size > self._limit:
            raise _too_large(self._limit)
        # The server reports a truncated body as if it had ended.
        if not chunk and self._declared is not None:
            raise _broken_off()
        return chunk


class BodyStream:
    """A body that is streamed without being stored; `declared` is its length if that is known.

    Reading raises `ServiceError`: 413 as soon as it passes the limit, 400 if it is cut short. `note` is
    called with each chunk.
    """

    def __init__(
        self, request: Request, *, limit: int, note: Callable[[bytes], object] = lambda _: None
    ) -> None:
        """Open the body; one with a Content-Length above the limit is rejected before it is read.

        Raises:
            ServiceError: 413, 415.
        """
        packed, self.declared = is_packed(request), request.content_length
        if self.declared is not None and self.declared > limit:
            raise _too_large(limit)
        if hasattr(stream := request.environ["wsgi.input"], "bound"):
            stream.bound(limit)
        received = partial(_read_chunk, request.stream, limit)
        self._bytes = _CountedBytes(received, limit=limit, declared=self.declared)
        if packed:
            self._bytes = _CountedBytes(UnpackedStream(self._bytes.read).read, limit=limit)
            self.declared = None
        self._note = note

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, up to `size`; empty at the end."""
        time.sleep(_PAUSE_SECONDS)
        chunk = self._bytes.read(_CHUNK if size < 0 else min(size, _CHUNK))
        self._note(chunk)
        return chunk


class NoFields(Record, frozen=True, forbid_unknown_fields=True):
    """A body that says nothing."""


def receive_record(
    request: Request,
    kind: type[R],
    *,
    what: str = "request",
    is_required: bool = False,
    limit: int = MAX_PARSED_BYTES,
) -> R:
    """Receive a small JSON object as a record; without a body its fields are missing, unless one is required.

    Raises:
        ServiceError: 415 for another Content-Type, 413 above `limit` bytes, 400 for invalid JSON or fields.
    """
    return decode_record(
        _receive_object(request, is_required=is_required, limit=limit), kind, what=what
    )


def _receive_object(
    request: Request, *, is_required: bool = False, limit: int = MAX_PARSED_BYTES
) -> bytes:
    if "Content-Type" in request.headers:
        require_content_type(request, ("application/json",))
    with receive_body(request, limit=limit) as body:
        data = body.read()
    if not data and is_required:
        raise ServiceError(400, "The body is empty; send a JSON object.")
    if data:
        require_content_type(request, ("application/json",))
    return data or b"{}"


def _open_spool(declared: int | None) -> BinaryIO:
    if declared is not None and declared <= SPOOL_BYTES:
        return BytesIO()  # the server returns at most the declared length
    return cast("BinaryIO", tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES))


def _read_chunk(stream: IO[bytes], limit: int, size: int) -> bytes:
    try:
        return stream.read(size)
    except TimeoutError as error:
        raise ServiceError(408, "The request body was sent too slowly; send it again.") from error
    except ChunkTooLargeError as error:
        raise _too_large(limit) from error
    except _MALFORMED as error:
        raise ServiceError(
            400, "The request body is not valid chunked transfer coding (RFC 9112, 7.1)."
        ) from error
    except _BROKEN as error:
        raise _broken_off() from error


def _broken_off() -> ServiceError:
    return ServiceError(400, "The request body was cut short; send it again.")


def _too_large(limit: int) -> ServiceError:
    accepted = f"{limit // MB} MB" if limit >= MB else f"{limit // KB} KB"
    return ServiceError(413, f"The request body is too large; at most {accepted} are accepted.")
