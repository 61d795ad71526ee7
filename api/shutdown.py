"""Shutdown of a front process: requests in progress are completed, or abandoned, before it exits.

On SIGTERM, gunicorn stops accepting connections and waits for the open ones, including idle keep-alive
connections. On SIGQUIT it exits at once. After SIGTERM, this module sends SIGQUIT to its own process
once no request is in progress. SIGQUIT, its own or an operator's, is delayed until clients are answered:
a worker could otherwise commit, and so meter, a render whose client is gone.
"""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Iterable
from types import FrameType
from typing import TYPE_CHECKING, Final

import gevent
from werkzeug.wsgi import ClosingIterator

from api.long_poll import quitting, stopping
from shared.clock import ticks

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

# A request may already be in transit on a keep-alive connection.
LINGER_SECONDS: Final = 2.0
# A render notices within a second that it is abandoned. gunicorn waits two seconds if SIGTERM came before.
QUIT_SECONDS: Final = 2.0
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
    """On SIGTERM, end long polls, and exit once all requests are completed; on SIGQUIT, abandon renders first.

    The existing handlers run too, so call this after the server has installed its own.
    """
    stop, leave = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGQUIT)

    def begin(signum: int, frame: FrameType | None) -> None:
        if not stopping.is_set():
            stopping.set()
            gevent.spawn(_quit_when_idle, requests)
        if callable(stop):
            stop(signum, frame)

    def abandon(signum: int, frame: FrameType | None) -> None:
        if not quitting.is_set():
            stopping.set()
            quitting.set()
            gevent.spawn(leave_when_answered, signum, frame)

    def leave_when_answered(signum: int, frame: FrameType | None) -> None:
        _wait_until_idle(requests, QUIT_SECONDS)
        if callable(leave):
            leave(signum, frame)

    signal.signal(signal.SIGTERM, begin)
    signal.signal(signal.SIGQUIT, abandon)


def _quit_when_idle(requests: InFlightRequests) -> None:
    gevent.sleep(LINGER_SECONDS)
    _wait_until_idle(requests, math.inf)
    os.kill(os.getpid(), signal.SIGQUIT)


def _wait_until_idle(requests: InFlightRequests, seconds: float) -> None:
    give_up_at = ticks() + seconds
    while requests.count and ticks() < give_up_at:
        gevent.sleep(_CHECK_SECONDS)
