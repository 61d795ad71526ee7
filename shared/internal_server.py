"""The HTTP server of a process that serves the farm's own processes: the fetcher, the signer."""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore, Thread
from typing import Any, Final

from shared.clock import ticks
from shared.telemetry.log import get_logger

_POLL_SECONDS: Final = 0.1  # until a stop is noticed

log: Final = get_logger(__name__)


class InternalServer(ThreadingHTTPServer):
    """Serves requests in threads, up to a limit: a handler holds `room` while it serves one."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(
        self,
        address: tuple[str, int],
        handler: type[BaseHTTPRequestHandler],
        *,
        failure: str,
        max_requests: int,
    ) -> None:
        """Listen without serving requests yet; `failure` is the log event of a request that failed.

        Raises:
            OSError: the address cannot be listened on.
        """
        super().__init__(address, handler)
        self.room = BoundedSemaphore(max_requests)
        self._max_requests = max_requests
        self._failure = failure
        self._thread = Thread(
            target=self.serve_forever, args=(_POLL_SECONDS,), name="requests", daemon=True
        )

    @property
    def url(self) -> str:
        """The URL that it listens on."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}"

    def start(self) -> None:
        """Serve requests in threads."""
        self._thread.start()

    def stop(self, *, patience_seconds: float = 0.0) -> None:
        """Stop accepting requests, and finish those in progress within `patience_seconds`."""
        self.shutdown()
        self.server_close()
        give_up_at = ticks() + patience_seconds
        for _ in range(self._max_requests):
            if not self.room.acquire(timeout=max(give_up_at - ticks(), 0)):
                return

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log an error, unless the caller has disconnected, as a render does at its deadline."""
        error = sys.exception()
        if not isinstance(error, OSError):
            log.error(self._failure, exc_info=error)
