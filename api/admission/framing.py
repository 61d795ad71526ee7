"""Framing of requests by RFC 9112: headers that gunicorn does not check, and chunks whose declared sizes are bounded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from gunicorn.http.body import Body, ChunkedReader
from gunicorn.http.errors import ParseException

from shared.errors import ServiceError
from shared.limits import MB
from shared.settings import get_limits

# Bodies up to this length are read to their end after an early response.
DRAIN_BYTES: Final = 64 * MB


class ChunkTooLargeError(ParseException):  # type: ignore[misc] # gunicorn has no types
    """A chunk is larger than the body that is accepted."""


class BoundedChunks(ChunkedReader):  # type: ignore[misc]
    """Reads a chunked body, and refuses a chunk by its size line, before its data have been sent.

    `most` are the bytes of the body that the operation accepts. After an error nobody knows where the next request begins, so the connection is closed.
    """

    def __init__(self, req: Any, unreader: Any) -> None:
        super().__init__(req, unreader)
        self.most = get_limits().batch_bytes

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
        if size > self.most:
            raise ChunkTooLargeError
        return size, rest


def bound_body(req: Any) -> None:
    """Bound the body of a request, as gunicorn hands it to `pre_request`."""
    reader = req.body.reader
    if isinstance(reader, ChunkedReader):
        req.body = Body(BoundedChunks(req, req.unreader))
    elif getattr(reader, "length", 0) > DRAIN_BYTES:
        req.force_close()


if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

# uri-host [ ":" port ] of RFC 3986, or nothing at all.
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+,;=%-]*)(:[0-9]*)?\Z")


def check_framing(environ: WSGIEnvironment) -> None:
    """Check the Host and Transfer-Encoding headers; gunicorn rejects several Host headers.

    Raises:
        ServiceError: 400 for HTTP/1.1 without a Host, or an invalid Host (section 3.2); 501 for a
            transfer coding other than chunked (section 6.1).
    """
    host = environ.get("HTTP_HOST")
    if host is None:
        if environ["SERVER_PROTOCOL"] == "HTTP/1.1":
            raise ServiceError(400, "The Host header is missing; HTTP/1.1 requires it.")
    elif not _HOST.match(host):
        raise ServiceError(
            400, "The Host header is malformed: accepted is a host name or address with a port."
        )
    coding = environ.get("HTTP_TRANSFER_ENCODING")
    if coding is not None and coding.lower() != "chunked":
        raise ServiceError(
            501, f"Unsupported Transfer-Encoding {coding[:100]!r}: accepted is chunked."
        )
