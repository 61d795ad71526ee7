"""How gunicorn runs the front: `gunicorn -c python:api.gunicorn_conf --bind … api.wsgi:app`.

The master reads this before a process replaces blocking calls by gevent's: what connects, or locks
for long, is imported with the application.
"""

from __future__ import annotations

import gc
import resource
from typing import Any, Final

from gunicorn import glogging

from shared.settings import get_settings
from shared.startup import start
from shared.telemetry.files import clear_metrics_dir, forget_process
from shared.telemetry.log import set_up_logging

_settings = start("front", get_settings, lambda settings: settings)

worker_class = "gevent"
workers = _settings.api_processes
worker_connections = _settings.api_connections
# Every accepted render may still be answered within its budget when the front is told to stop.
graceful_timeout = int(_settings.render_budget) + 5
# The gevent worker has a head, from its connection's last answer on, come whole in this time.
keepalive = 15
control_socket_disable = True
loglevel = _settings.log_level.lower()
# No answer depends on a scheme or a path that a proxy names.
forwarded_allow_ips = ""


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


# Files of a process beside those of its clients; a request may have Redis, the database and a file.
_FILES_PER_CONNECTION: Final = 3
_OTHER_FILES: Final = 200


def on_starting(_server: Any) -> None:
    """Allow for the files of all connections, and begin with no metric files of an earlier front."""
    wanted = worker_connections * _FILES_PER_CONNECTION + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
    if _settings.metrics_dir is not None:
        clear_metrics_dir(_settings.metrics_dir)


def post_worker_init(_worker: Any) -> None:
    """Prepare the stop, and leave what is loaded by now out of every later collection: it stays."""
    from api.stopping import stop_in_time
    from api.wsgi import app

    stop_in_time(app)
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)


def child_exit(_server: Any, worker: Any) -> None:
    """Take back what a process that ended had live."""
    if _settings.metrics_dir is not None:
        forget_process(worker.pid, _settings.metrics_dir)
