"""Chunked bodies (RFC 9112, 7.1) whose declared sizes are bounded."""

from __future__ import annotations

from typing import Any, Final

from gunicorn.http.body import Body, ChunkedReader
from gunicorn.http.errors import ParseException

from shared.limits import MB
from shared.settings import get_limits

# Bodies up to this length are read to their end after an early response.
DRAIN_BYTES: Final = 64 * MB


class ChunkTooLargeError(ParseException):  # type: ignore[misc] # gunicorn has no types
    """A chunk is larger than any body that is accepted."""


class BoundedChunks(ChunkedReader):  # type: ignore[misc]
    """Reads a chunked body, and refuses a chunk by its size line, before its data have been sent.

    After an error nobody knows where the next request begins, so the connection is closed.
    """

    def read(self, size: int) -> bytes:
        """Return the next bytes, up to `size`."""
        try:
            data: bytes = super().read(size)
        except Exception:
            self.req.force_close()
            raise
        return data

    def parse_chunk_size(self, unreader: Any, data: bytes | None = None) -> Any:
        """Return the size of the next chunk, and the data read beyond its size line."""
        size, rest = super().parse_chunk_size(unreader, data)
        if size > get_limits().batch_bytes:
            raise ChunkTooLargeError
        return size, rest


def bound_body(req: Any) -> None:
    """Bound the body of a request, as gunicorn hands it to `pre_request`."""
    reader = req.body.reader
    if isinstance(reader, ChunkedReader):
        req.body = Body(BoundedChunks(req, req.unreader))
    elif getattr(reader, "length", 0) > DRAIN_BYTES:
        req.force_close()
