"""Graceful shutdown of a front process: requests in progress are completed, idle connections closed.

On SIGTERM, gunicorn stops accepting connections and waits for the open ones, including idle keep-alive
connections. On SIGQUIT it exits at once. After SIGTERM, this module sends SIGQUIT to its own process
once no request is in progress.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from types import FrameType
from typing import TYPE_CHECKING, Final

import gevent
from werkzeug.wsgi import ClosingIterator

from api.long_poll import stopping

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

# A request may already be in transit on a keep-alive connection.
LINGER_SECONDS: Final = 2.0
_CHECK_SECONDS: Final = 0.1


class InFlightRequests:
    """WSGI middleware that counts the requests in progress."""

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app
        self.count = 0

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Call the application."""
        self.count += 1
        try:
            response = self._app(environ, start_response)
        except BaseException:
            self._release()
            raise
        return ClosingIterator(response, [self._release])

    def _release(self) -> None:
        self.count -= 1


def install_shutdown_handler(requests: InFlightRequests) -> None:
    """On SIGTERM, end long polls, and exit once all requests are completed.

    The existing handler runs too, so call this after the server has installed its own.
    """
    stop = signal.getsignal(signal.SIGTERM)

    def begin(signum: int, frame: FrameType | None) -> None:
        if not stopping.is_set():
            stopping.set()
            gevent.spawn(_quit_when_idle, requests)
        if callable(stop):
            stop(signum, frame)

    signal.signal(signal.SIGTERM, begin)


def _quit_when_idle(requests: InFlightRequests) -> None:
    gevent.sleep(LINGER_SECONDS)
    while requests.count:
        gevent.sleep(_CHECK_SECONDS)
    os.kill(os.getpid(), signal.SIGQUIT)
