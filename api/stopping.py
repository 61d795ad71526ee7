"""The stop of a front process: what has begun is answered, connections that wait are closed.

gunicorn stops a process on SIGTERM: it accepts nothing more and waits for its connections, also for
those that are kept open and have no request. On SIGQUIT it leaves at once. Here a process that was
told to stop, and has answered what it had begun, sends itself the second one.
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

# A request may be on its way on a connection that was kept open for it.
LINGER_SECONDS: Final = 2.0
_CHECK_SECONDS: Final = 0.1


class Requests:
    """WSGI middleware: counts the requests that have begun and are not answered."""

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app
        self.under_way = 0

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer as the application does."""
        self.under_way += 1
        try:
            answer = self._app(environ, start_response)
        except BaseException:
            self._end()
            raise
        return ClosingIterator(answer, [self._end])

    def _end(self) -> None:
        self.under_way -= 1


def stop_in_time(requests: Requests) -> None:
    """On SIGTERM, let long polls return, and leave once all requests are answered.

    The handler that is there runs too; call this when the server has installed its own.
    """
    stop = signal.getsignal(signal.SIGTERM)

    def begin(signum: int, frame: FrameType | None) -> None:
        if not stopping.is_set():
            stopping.set()
            gevent.spawn(_leave, requests)
        if callable(stop):
            stop(signum, frame)

    signal.signal(signal.SIGTERM, begin)


def _leave(requests: Requests) -> None:
    gevent.sleep(LINGER_SECONDS)
    while requests.under_way:
        gevent.sleep(_CHECK_SECONDS)
    os.kill(os.getpid(), signal.SIGQUIT)
