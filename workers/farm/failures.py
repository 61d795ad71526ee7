"""What goes wrong in a render, as the error body its client gets."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, TypeVar

from shared.errors import ErrorBody, ErrorCode, ErrorKind, ServiceError, space_needed
from shared.telemetry.log import get_logger
from workers.engine.diagnostics import AuthoringError
from workers.farm.budget import REMAINS, BudgetExceeded, time_limit

T = TypeVar("T")

log: Final = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is done, and what it may use, for the messages that say so."""

    doing: str
    budget_seconds: float
    memory_mb: int
    subject: str = "document"


def attempt(work: Callable[[], T], bounds: Bounds, *, deadline: float) -> T | ErrorBody:
    """Do the work by its deadline, in seconds since 1970; whatever goes wrong is an error body.

    Only for the main thread of a process.
    """
    REMAINS.collect()
    return attempt_within(time_limit(deadline), work, bounds)


def attempt_within(
    limit: AbstractContextManager[None], work: Callable[[], T], bounds: Bounds
) -> T | ErrorBody:
    """Do the work inside of what raises `BudgetExceeded` when its time is over; see `attempt`."""
    try:
        with limit, space_needed("worker"):
            return work()
    except AuthoringError as error:
        return _authoring(error)
    except ServiceError as error:
        log.warning("render stopped", kind=error.body.kind.value, cause=repr(error.__cause__))
        return error.body
    except BudgetExceeded:
        return _timeout(bounds)
    except MemoryError:
        return _too_large(bounds)
    except RecursionError:
        return _too_deep(bounds)
    except Exception as error:  # noqa: BLE001 - a defect of ours must cost one job, not the worker
        return _internal(error, bounds)


def brought_worker_down() -> ErrorBody:
    """Make the failure of a document that was given up because its process ended with it."""
    reference = secrets.token_hex(6)
    log.error("render given up, it brought its worker down", reference=reference)
    return _internal_body(reference, doing="render")


def _authoring(error: AuthoringError) -> ErrorBody:
    first, *others = error.diagnostics
    more = len(others) + error.left_out
    message = f"{first.text} (and {more:,} more)" if more else first.text
    return ErrorBody(400, message, ErrorKind.AUTHORING, stack_trace=error.to_stack_trace())


def _timeout(bounds: Bounds) -> ErrorBody:
    message = (
        f"The {bounds.doing} exceeded its time budget of {bounds.budget_seconds:g} s and was "
        f"stopped: the {bounds.subject} is too large or too complex."
    )
    return ErrorBody(504, message, ErrorKind.TIMEOUT, ErrorCode.RENDER_TIMEOUT)


def _too_large(bounds: Bounds) -> ErrorBody:
    advice = (
        "split it, or use smaller images" if bounds.subject == "document" else "make it smaller"
    )
    message = (
        f"The {bounds.subject} needs more memory to render than the {bounds.memory_mb} MB a render "
        f"may use: {advice}."
    )
    return ErrorBody(400, message, ErrorKind.RESOURCE)


def _too_deep(bounds: Bounds) -> ErrorBody:
    message = f"The {bounds.subject} nests deeper than the renderer can follow."
    return ErrorBody(400, message, ErrorKind.RESOURCE)


def _internal(error: Exception, bounds: Bounds) -> ErrorBody:
    reference = secrets.token_hex(6)
    log.error("render failed inside", doing=bounds.doing, reference=reference, exc_info=error)
    return _internal_body(reference, doing=bounds.doing)


def _internal_body(reference: str, *, doing: str) -> ErrorBody:
    message = f"The {doing} failed for a reason inside the service; reference {reference}."
    return ErrorBody(500, message, ErrorKind.INTERNAL)
