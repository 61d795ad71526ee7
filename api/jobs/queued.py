"""Queueing a job that its client waits for: publish, wait within the budget, then its outcome."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from api.lane import give_way
from api.ports import Cell
from shared.clock import epoch
from shared.errors import ErrorCode, ErrorKind, ServiceError, Unavailable
from shared.jobs import JobOutcome, Purpose, RenderJob
from shared.queue.broker import Published
from shared.queue.names import INTERACTIVE, VALIDATE

_DOING: Final = {
    Purpose.RENDER: "render",
    Purpose.VALIDATE: "validation",
    Purpose.INSPECT: "inspection of the upload",
}
_QUEUES: Final = {
    Purpose.RENDER: INTERACTIVE,
    Purpose.VALIDATE: VALIDATE,
    Purpose.INSPECT: VALIDATE,
}
# A drained queue is an operator's doing: minutes, rather than the seconds of a restart.
_DRAINED_RETRY_SECONDS: Final = 30
_UNTAKEN_RETRY_SECONDS: Final = 10


def run_queued(job: RenderJob, cell: Cell, *, deadline: float, budget_seconds: float) -> JobOutcome:
    """Queue a job and return its outcome; `deadline` is the front's, in seconds since 1970.

    Raises:
        ServiceError: 504 at the deadline, 503 where workers take nothing from the queue; nothing
            of the job is metered after either.
    """
    published = cell.broker.publish(job)
    give_way()
    outcome = cell.replies.wait(
        job.id,
        timeout_seconds=deadline - epoch(),
        between=lambda: _look_after(published, job.purpose, cell),
    )
    if outcome is None and job.purpose is Purpose.INSPECT and cell.broker.withdraw(published):
        raise _untaken(budget_seconds)
    # The last word is said in one atomic step: either the job ended before it, or never will.
    outcome = outcome or cell.replies.abandon(job.id)
    if outcome is None:
        raise _timed_out(job.purpose, budget_seconds)
    return outcome


def raise_failure(outcome: JobOutcome) -> None:
    """Raise the failure of a job, where it failed.

    Raises:
        ServiceError: the worker's error body.
    """
    error = outcome.error
    if error is None:
        return
    raise ServiceError(
        error.status,
        error.message,
        kind=error.kind,
        code=error.code,
        data=error.data,
        stack_trace=error.stack_trace,
        headers={"Retry-After": "2"} if error.status == 503 else {},
    )


def refuse_if_drained(purpose: Purpose, cell: Cell) -> None:
    """Refuse what would wait for a worker in vain.

    Raises:
        ServiceError: 503, the operator has drained the queue of this kind of work.
    """
    if cell.drains.holds(_QUEUES[purpose]):
        raise drained(purpose)


def drained(purpose: Purpose) -> ServiceError:
    """Make the refusal of what would wait in a drained queue."""
    return ServiceError(
        503,
        f"No {_DOING[purpose]} is begun at the moment, while the service is looked after; try again later.",
        kind=ErrorKind.UNAVAILABLE,
        headers={"Retry-After": str(_DRAINED_RETRY_SECONDS)},
    )


def _look_after(published: Published, purpose: Purpose, cell: Cell) -> None:
    """Queue a job again that was forgotten; take it back when no worker is going to come for it."""
    # Without Redis there is nothing to look after: who waits finds that out by himself.
    with suppress(Unavailable):
        if cell.drains.holds(published.queue) and cell.broker.withdraw(published):
            raise drained(purpose)
    cell.broker.requeue_forgotten(published)


def _untaken(budget_seconds: float) -> ServiceError:
    return ServiceError(
        503,
        f"No worker was free to inspect the upload within {budget_seconds:g} s; try again later.",
        kind=ErrorKind.UNAVAILABLE,
        headers={"Retry-After": str(_UNTAKEN_RETRY_SECONDS)},
    )


def _timed_out(purpose: Purpose, budget_seconds: float) -> ServiceError:
    cause = (
        "the file is too large or too complex"
        if purpose is Purpose.INSPECT
        else "the document is too large, or remote assets are too slow"
    )
    return ServiceError(
        504,
        f"The {_DOING[purpose]} took longer than {budget_seconds:g} s, its time budget, and was "
        f"stopped; {cause}.",
        kind=ErrorKind.TIMEOUT,
        code=ErrorCode.RENDER_TIMEOUT,
    )
