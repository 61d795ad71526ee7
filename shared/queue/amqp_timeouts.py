"""Time-outs of calls on an open AMQP connection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

# Of each reply.
_READ_SECONDS: Final = 1.0


@contextmanager
def within_read_timeout(transport: Any) -> Iterator[None]:
    """Limit what has no time-out of its own on an open connection, such as opening a channel.

    The time-out is that of the socket, which also works under gevent. The block may replace the connection,
    as kombu does when it publishes on one that the broker has closed.
    """
    is_done = False
    try:
        with transport.having_timeout(_READ_SECONDS):
            yield
            is_done = True
    except OSError:
        # Resetting the time-out of a closed socket fails.
        if not is_done:
            raise
