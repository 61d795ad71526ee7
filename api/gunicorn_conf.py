"""gunicorn's configuration: `gunicorn -c python:api.gunicorn_conf --bind … api.wsgi:app`.

The master loads this before workers are monkey-patched by gevent, so modules that open connections
or hold locks are imported with the application.
"""

from __future__ import annotations

import gc
import resource
import shutil
from pathlib import Path
from typing import Any, Final

from gunicorn import glogging

from shared.parent_death import die_with_parent
from shared.settings import get_settings
from shared.startup import start
from shared.telemetry.log import set_up_logging

_settings = start("front", get_settings, lambda settings: settings)

worker_class = "api.front_worker.FrontWorker"
workers = _settings.api_processes
worker_connections = _settings.api_connections
# Renders in progress can still use their whole time budget during a shutdown.
graceful_timeout = int(_settings.render_budget) + 5
# Also the time limit for the header section of a request, from the connection's last response on.
keepalive = 15
control_socket_disable = True
loglevel = _settings.log_level.lower()
# Where `prometheus_client`, which is imported after this, shares the counts of all processes.
raw_env = [f"PROMETHEUS_MULTIPROC_DIR={_settings.metrics_dir}"] if _settings.metrics_dir else []
# No response depends on the scheme or path that a proxy forwards.
forwarded_allow_ips = ""


class FrontLogger(glogging.Logger):  # type: ignore[misc] # gunicorn has no types
    """gunicorn's logger: writes to the service's log, without data sent by clients."""

    def setup(self, cfg: Any) -> None:
        """Propagate every message to the root logger's handler."""
        super().setup(cfg)
        set_up_logging(level=_settings.log_level, log_format=_settings.log_format)
        self.error_log.handlers.clear()
        self.error_log.propagate = True

    def exception(self, msg: str, *_: Any, **kwargs: Any) -> None:
        """Log an exception without the request's URL, which may contain anything."""
        super().exception(msg.partition(" %s")[0], **kwargs)


logger_class = FrontLogger


# A request may use connections to Redis and the database, and a temporary file.
_FILES_PER_CONNECTION: Final = 3
_OTHER_FILES: Final = 200


def on_starting(_server: Any) -> None:
    """Raise the limit of open files for all connections, and delete metric files of earlier processes."""
    wanted = worker_connections * _FILES_PER_CONNECTION + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
    on_exit(_server)
    if _settings.metrics_dir is not None:
        Path(_settings.metrics_dir).mkdir(parents=True)


def on_exit(_server: Any) -> None:
    """Delete the metric files of ended processes."""
    if _settings.metrics_dir is not None:
        shutil.rmtree(_settings.metrics_dir, ignore_errors=True)


def post_fork(_server: Any, worker: Any) -> None:
    """End the process with the master: its successor must find the port free."""
    die_with_parent(worker.ppid)
    gc.disable()  # while it imports the application, of which nothing is garbage


def post_worker_init(_worker: Any) -> None:
    """Install the shutdown handler, and freeze long-lived objects out of garbage collection."""
    from api.shutdown import install_shutdown_handler
    from api.wsgi import app

    install_shutdown_handler(app)
    gc.freeze()
    gc.set_threshold(10_000)
    gc.enable()


def pre_request(_worker: Any, req: Any) -> None:
    """Bound the body before the application reads it."""
    from api.admission.framing import bound_body

    bound_body(req)


def child_exit(_server: Any, worker: Any) -> None:
    """Remove the live metrics of a process that has ended."""
    if _settings.metrics_dir is not None:
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]
