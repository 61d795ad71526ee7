"""One log for everything a process runs: a constant event, fields beside it, one line each."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor

from shared import json_text
from shared.clock import now

# One for all fields: structlog's own has one each, and looks through all of a thread for every line.
_context: Final[ContextVar[Mapping[str, Any]]] = ContextVar("log_context", default={})  # noqa: B039 - never changed
_QUIET: Final = ("celery", "kombu", "urllib3", "minio", "alembic", "PIL")


def set_up_logging(*, level: str, log_format: str) -> None:
    """Send our log and every library's to stderr, as JSON lines or as text.

    Call it once, before anything logs and before a fork. Libraries log from WARNING up.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[_describe, structlog.stdlib.ExtraAdder()],
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
    # Our own lines do not pass through `logging`: its record, its two formatters and its locks
    # took three quarters of what a line costs.
    descriptor = sys.stderr.fileno()
    structlog.configure(
        processors=[_describe, *_writers(log_format)],
        logger_factory=lambda name: _Lines(name, descriptor),
        wrapper_class=structlog.make_filtering_bound_logger(root.level),
        cache_logger_on_first_use=True,
    )


def get_logger(name: str) -> FilteringBoundLogger:
    """Give a module's logger: `log.info("render finished", pages=3)`.

    The event is a constant phrase and fields are identifiers and numbers: never a key, a
    password, a body or a document's text.
    """
    logger: FilteringBoundLogger = structlog.get_logger(name)
    return logger


@contextmanager
def log_context(**fields: Any) -> Iterator[None]:
    """Add fields to every line that is logged within, such as the request id and the job id."""
    before = _context.set({**_context.get(), **fields})
    try:
        yield
    finally:
        _context.reset(before)


def find_log_fields(names: Iterable[str]) -> dict[str, Any]:
    """Give those of the named fields that `log_context` adds here, to be added elsewhere too."""
    fields = _context.get()
    return {name: fields[name] for name in names if name in fields}


class _Lines:
    """Writes each line with one call, so that neither threads nor processes mix theirs.

    No lock is held: a process that is forked meanwhile could never take it. A line that cannot be
    written, as on a full disk, is dropped: no request fails for want of a log.
    """

    _is_cut = False  # of the process: the last line was written in part

    def __init__(self, name: str, descriptor: int) -> None:
        self.name = name
        self._descriptor = descriptor

    def _write(self, line: str) -> None:
        data = f"{line}\n".encode("utf-8", "backslashreplace")
        if _Lines._is_cut:
            data = b"\n" + data
        left = data
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError:
            _Lines._is_cut |= 0 < len(left) < len(data)
        else:
            _Lines._is_cut = False

    debug = info = warning = error = critical = _write


def _describe(logger: Any, method: str, event: EventDict) -> EventDict:
    """Say of an event what holds for all; in one step, of which there are five in structlog."""
    record = event.get("_record")  # a library's
    return {
        **_context.get(),
        **event,
        "logger": logger.name if record is None else record.name,
        "level": method,
        "timestamp": f"{now().isoformat()[:-6]}Z",  # in place of +00:00
        "pid": os.getpid(),
    }


def _writers(log_format: str) -> list[Processor]:
    if log_format == "text":
        return [
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(),
                # The pretty one shows local variables: keys and documents.
                exception_formatter=structlog.dev.plain_traceback,
            )
        ]
    return [structlog.processors.format_exc_info, _write_json]


def _write_json(_logger: Any, _method: str, event: EventDict) -> str:
    line = json_text.encode(event, default=repr).decode()
    # Escapes, where characters could mean something to the terminal that shows them.
    return line if line.isascii() else json.dumps(event, default=repr, separators=(",", ":"))
