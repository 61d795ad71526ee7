"""Failures of a render as error bodies for the client, and the warnings of its record."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from shared.errors import ErrorBody, ErrorCode, ErrorKind, ServiceError, full_disk_as_unavailable
from shared.jobs.records import Purpose, RenderJob
from shared.limits import MAX_WARNING_CODES, MAX_WARNING_TEXT
from shared.telemetry.log import get_logger
from workers.engine.diagnostics import AuthoringError, Diagnostic
from workers.render.budget import GARBAGE, BudgetExceeded, time_limit

T = TypeVar("T")

log: Final = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RenderLimits:
    """An operation and its limits, for error messages."""

    operation: str
    budget_seconds: float
    memory_mb: int
    subject: str = "document"


def run_with_deadline(
    work: Callable[[], T], limits: RenderLimits, *, deadline: float
) -> T | ErrorBody:
    """Call `work` with a deadline, in seconds since 1970, and return its result or an error body.

    Main thread only.
    """
    GARBAGE.collect()
    return run_within(time_limit(deadline), work, limits)


def run_within(
    limit: AbstractContextManager[None], work: Callable[[], T], limits: RenderLimits
) -> T | ErrorBody:
    """Call `work` in a context that raises `BudgetExceeded` at the time limit; see `run_with_deadline`."""
    try:
        with limit, full_disk_as_unavailable("worker"):
            return work()
    except AuthoringError as error:
        return _authoring(error)
    except ServiceError as error:
        log.warning("render stopped", kind=error.body.kind.value, cause=repr(error.__cause__))
        return error.body
    except BudgetExceeded:
        return _timeout(limits)
    except MemoryError:
        return _too_large(limits)
    except RecursionError:
        return _too_deep(limits)
    except Exception as error:  # noqa: BLE001 - a defect of the engine fails one job, not the worker
        return _internal(error, limits)


_CRASHES: Final = {
    Purpose.INSPECT: "The {kind} cannot be read: its inspection ended abnormally each time it was tried. "
    "Export it again from its source, or use another one",
    Purpose.PREVIEW: "The page cannot be drawn: its preview ended abnormally each time it was tried. "
    "Use smaller images, or a smaller scale",
}


def make_crash_error(job: RenderJob | None = None) -> ErrorBody:
    """Return the error of a job, or of a document of a batch, whose process ended at each attempt."""
    reference = secrets.token_hex(6)
    purpose = Purpose.RENDER if job is None else job.purpose
    log.error("job failed permanently, it crashed its worker", doing=purpose, reference=reference)
    if job is None or purpose not in _CRASHES:
        return _internal_body(reference, operation="render")
    told = _CRASHES[purpose].format(kind=job.body_kind)
    return ErrorBody(400, f"{told}; reference {reference}.", ErrorKind.RESOURCE)


def _authoring(error: AuthoringError) -> ErrorBody:
    first, *others = error.diagnostics
    more = len(others) + error.left_out
    message = f"{first.text} (and {more:,} more)" if more else first.text
    return ErrorBody(400, message, ErrorKind.AUTHORING, stack_trace=error.to_stack_trace())


def _timeout(limits: RenderLimits) -> ErrorBody:
    message = (
        f"The {limits.operation} exceeded its time budget of {limits.budget_seconds:g} s and was "
        f"stopped: the {limits.subject} is too large or too complex."
    )
    return ErrorBody(504, message, ErrorKind.TIMEOUT, ErrorCode.RENDER_TIMEOUT)


def _too_large(limits: RenderLimits) -> ErrorBody:
    advice = (
        "split it, or use smaller images" if limits.subject == "document" else "make it smaller"
    )
    message = (
        f"The {limits.subject} needs more memory to render than the {limits.memory_mb} MB a render "
        f"may use: {advice}."
    )
    return ErrorBody(400, message, ErrorKind.RESOURCE)


def _too_deep(limits: RenderLimits) -> ErrorBody:
    message = f"The {limits.subject} is nested too deeply."
    return ErrorBody(400, message, ErrorKind.RESOURCE)


def _internal(error: Exception, limits: RenderLimits) -> ErrorBody:
    reference = secrets.token_hex(6)
    log.error("render failed inside", doing=limits.operation, reference=reference, exc_info=error)
    return _internal_body(reference, operation=limits.operation)


def _internal_body(reference: str, *, operation: str) -> ErrorBody:
    message = f"The {operation} failed for a reason inside the service; reference {reference}."
    return ErrorBody(500, message, ErrorKind.INTERNAL)


MORE: Final = "more-warnings"


def summarise(found: Iterable[Diagnostic], *, left_out: int) -> Sequence[Mapping[str, Any]]:
    """Return an entry for each code in order of occurrence, with its count and its first warning.

    Further codes are counted in a last entry, so that the counts add up to the total.
    """
    first: dict[str, Diagnostic] = {}
    counts: dict[str, int] = {}
    for warning in found:
        first.setdefault(warning.code, warning)
        counts[warning.code] = counts.get(warning.code, 0) + 1
    if not counts and not left_out:
        return ()
    listed = list(counts)[:MAX_WARNING_CODES]
    entries = [_write(first[code], counts[code]) for code in listed]
    more = left_out + sum(counts.values()) - sum(counts[code] for code in listed)
    if more:
        text = "Further warnings, which POST /v2/validate may list"
        entries.append({"code": MORE, "message": text, "count": more})
    return entries


def _write(warning: Diagnostic, count: int) -> Mapping[str, Any]:
    text = warning.message
    if len(text) > MAX_WARNING_TEXT:
        text = text[: MAX_WARNING_TEXT - 1] + "…"
    entry: dict[str, Any] = {"code": warning.code, "message": text, "count": count}
    if warning.location is not None:
        entry["source"] = warning.location.to_source()
    return entry
