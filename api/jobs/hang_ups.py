"""Detection of clients that close their connection while they wait for a response."""

from __future__ import annotations

import socket
from select import select

from flask import request

from shared.errors import ServiceError

# nginx's status for a closed connection: for metrics and the log, since no client receives it.
_CLIENT_CLOSED_REQUEST = 499


class ClientGoneError(ServiceError):
    """The client of a request has closed its connection."""


def check_client() -> None:
    """Check that the client of the current request is still connected.

    A client that closes only its sending side counts as gone, as it does for nginx.

    Raises:
        ClientGoneError: it is not.
    """
    connection = request.environ.get("gunicorn.socket")
    if connection is not None and _has_closed(connection):
        raise ClientGoneError(_CLIENT_CLOSED_REQUEST, "The client closed its connection.")


def _has_closed(connection: socket.socket) -> bool:
    try:
        # Readable at the end of the stream, and if the next request was sent early.
        is_readable, _, _ = select([connection], [], [], 0)
        return bool(is_readable) and not connection.recv(1, socket.MSG_PEEK)
    except OSError:
        return True
