"""Streaming decompression of bodies with `Content-Encoding: gzip` (RFC 9110, 8.4)."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Final

from flask import Request

from shared.errors import ServiceError
from shared.limits import KB

_NAMES: Final = ("gzip", "x-gzip")
_ACCEPTED: Final = {"Accept-Encoding": "gzip"}
_CHUNK_BYTES: Final = 64 * KB
# Some writers split a body into gzip members of 64 KB; each member has its own cost.
_MOST_MEMBERS: Final = 10_000
_GZIP: Final = 16 + zlib.MAX_WBITS


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
