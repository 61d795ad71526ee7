"""How gunicorn runs the front: `gunicorn -c python:api.gunicorn_conf --bind … api.wsgi:app`."""

from __future__ import annotations

import gc
import json
import socket
from typing import Any

from gunicorn import glogging, util
from gunicorn.http import wsgi
from gunicorn.http.parser import RequestParser

from api.gunicorn_worker import JoinedResponse
from api.heads import RepeatedRequest, create, write_date
from api.problems import make_body
from shared.errors import ServiceError
from shared.settings import get_settings
from shared.startup import start
from shared.telemetry.files import clear_metrics_dir, forget_process
from shared.telemetry.log import set_up_logging

_settings = start("front", get_settings, lambda settings: settings)

worker_class = "api.gunicorn_worker.FrontWorker"
workers = _settings.api_processes
threads = _settings.api_threads  # every render that is waited for holds one
# Every accepted render may still be answered within its budget when the front is told to stop.
graceful_timeout = int(_settings.render_budget) + 5
keepalive = 30
control_socket_disable = True
loglevel = _settings.log_level.lower()


class FrontLog(glogging.Logger):  # type: ignore[misc] # gunicorn has no types
    """gunicorn's own messages, as lines of our log and without what clients sent."""

    def setup(self, cfg: Any) -> None:
        """Hand every message on to the root's one handler."""
        super().setup(cfg)
        set_up_logging(level=_settings.log_level, log_format=_settings.log_format)
        self.error_log.handlers.clear()
        self.error_log.propagate = True

    def warning(self, msg: str, *args: Any, **kwargs: Any) -> None:
        """Log a warning; of a request that is no HTTP only where it came from."""
        if msg.startswith("Invalid request"):
            msg = msg.partition(": ")[0]
        super().warning(msg, *args, **kwargs)

    def exception(self, msg: str, *_: Any, **kwargs: Any) -> None:
        """Log a failure; not the address that was asked for, which may carry anything."""
        super().exception(msg.partition(" %s")[0], **kwargs)


logger_class = FrontLog

# The Server header names the product, not what it is made of.
wsgi.SERVER = "pressroom"
wsgi.Response = JoinedResponse
wsgi.create = create
RequestParser.mesg_class = RepeatedRequest


def _write_error(sock: socket.socket, status: int, reason: str, message: str) -> None:
    """Answer what is no HTTP with the error body, not with a page."""
    body = json.dumps(make_body(ServiceError(status, f"{reason}: {message}"))).encode()
    head = (
        f"HTTP/1.1 {status} {reason}\r\nServer: {wsgi.SERVER}\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    util.write_nonblock(sock, head.encode("ascii") + body)


util.write_error = _write_error
util.http_date = write_date


def on_starting(_server: Any) -> None:
    """Begin with no metric files of an earlier front."""
    if _settings.metrics_dir is not None:
        clear_metrics_dir(_settings.metrics_dir)


def post_worker_init(_worker: Any) -> None:
    """Leave what is loaded by now out of every later collection: it stays as long as the process."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)


def child_exit(_server: Any, worker: Any) -> None:
    """Take back what a process that ended had live."""
    if _settings.metrics_dir is not None:
        forget_process(worker.pid, _settings.metrics_dir)
