"""One log for everything a process runs: a constant event, fields beside it, one line each."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import structlog
from structlog.types import EventDict, Processor

_QUIET: Final = ("celery", "kombu", "urllib3", "minio", "alembic", "PIL")


def set_up_logging(*, level: str, log_format: str) -> None:
    """Send our log and every library's to stderr, as JSON lines or as text.

    Call it once, before anything logs and before a fork. Libraries log from WARNING up.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_shared_processors(),
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_writers(log_format),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.captureWarnings(True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    structlog.configure(
        processors=[
            *_shared_processors(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """Give a module's logger: `log.info("render finished", pages=3)`.

    The event is a constant phrase and fields are identifiers and numbers: never a key, a
    password, a body or a document's text.
    """
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return logger


@contextmanager
def log_context(**fields: Any) -> Iterator[None]:
    """Add fields to every line that is logged within, such as the request id and the job id."""
    with structlog.contextvars.bound_contextvars(**fields):
        yield


def _shared_processors() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _add_process,
    ]


def _writers(log_format: str) -> list[Processor]:
    if log_format == "text":
        return [
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(),
                # The pretty one shows local variables: keys and documents.
                exception_formatter=structlog.dev.plain_traceback,
            )
        ]
    return [
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(default=repr),
    ]


def _add_process(_logger: Any, _method: str, event: EventDict) -> EventDict:
    event["pid"] = os.getpid()
    return event
