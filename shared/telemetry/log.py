"""Structured logging of a process and its libraries: a constant event and fields, one line each."""

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

# One context variable for all fields: structlog's own uses one each, and scans all of them for every line.
_context: Final[ContextVar[Mapping[str, Any]]] = ContextVar("log_context", default={})  # noqa: B039 - never changed
_QUIET: Final = ("celery", "kombu", "urllib3", "minio", "PIL", "paramiko")


def set_up_logging(*, level: str, log_format: str) -> None:
    """Send the logs of the process and its libraries to stderr, as JSON lines or as text.

    Call it once, before any logging and before a fork. Noisy libraries log from WARNING up.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[_add_standard_fields, structlog.stdlib.ExtraAdder()],
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
    # Own log lines bypass `logging`: its records, formatters and locks took three quarters of the time.
    descriptor = sys.stderr.fileno()
    structlog.configure(
        processors=[_add_standard_fields, *_writers(log_format)],
        logger_factory=lambda name: _LineWriter(name, descriptor),
        wrapper_class=structlog.make_filtering_bound_logger(root.level),
        cache_logger_on_first_use=True,
    )


def get_logger(name: str) -> FilteringBoundLogger:
    """Return a module's logger: `log.info("render finished", pages=3)`.

    Events are constant phrases, fields are identifiers and numbers: never a key, a password, a body or
    text of a document.
    """
    logger: FilteringBoundLogger = structlog.get_logger(name)
    return logger


@contextmanager
def log_context(**fields: Any) -> Iterator[None]:
    """Add fields, such as the request id, to every line logged within the block."""
    before = _context.set({**_context.get(), **fields})
    try:
        yield
    finally:
        _context.reset(before)


def get_log_fields(names: Iterable[str]) -> dict[str, Any]:
    """Return the named fields of the current `log_context`, to pass them to another process."""
    fields = _context.get()
    return {name: fields[name] for name in names if name in fields}


class _LineWriter:
    """Writes each line with one system call, so that lines of threads and processes do not mix.

    It needs no lock, which a fork could leave locked in the child. Lines that cannot be written, as on a
    full disk, are dropped, so that logging never fails a request.
    """

    _is_cut = False  # whether the process's last line was written in part

    def __init__(self, name: str, descriptor: int) -> None:
        self.name = name
        self._descriptor = descriptor

    def _write(self, line: str) -> None:
        data = f"{line}\n".encode("utf-8", "backslashreplace")
        if _LineWriter._is_cut:
            data = b"\n" + data
        left = data
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError:
            _LineWriter._is_cut |= 0 < len(left) < len(data)
        else:
            _LineWriter._is_cut = False

    debug = info = warning = error = critical = _write


def _add_standard_fields(logger: Any, method: str, event: EventDict) -> EventDict:
    """Add the standard fields to an event, in one processor instead of structlog's five."""
    record = event.get("_record")  # set for lines of libraries
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
                # The default formatter shows local variables, which may be keys and documents.
                exception_formatter=structlog.dev.plain_traceback,
            )
        ]
    return [structlog.processors.format_exc_info, _write_json]


def _write_json(_logger: Any, _method: str, event: EventDict) -> str:
    line = json_text.encode(event, default=repr).decode()
    # Escaped, since control characters could affect a terminal.
    return line if line.isascii() else json.dumps(event, default=repr, separators=(",", ":"))
