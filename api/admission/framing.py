"""Checks of request headers that RFC 9112 requires and gunicorn does not make."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from shared.errors import ServiceError

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
