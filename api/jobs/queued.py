"""Synchronous jobs: publish, wait within the time budget, and return the outcome."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from select import select
from typing import Any, Final

from flask import g, request

from api.admission.body import Body
from api.admission.gate import Ticket
from api.jobs.remote_images import fetch_images
from api.long_poll import quitting
from api.ports import Cell, Ports
from shared.clock import epoch
from shared.errors import ErrorCode, ServiceError, Unavailable, retry_while_unavailable
from shared.identifiers import new_id
from shared.jobs.records import BodyKind, Claim, JobOutcome, OutcomeStatus, Purpose, RenderJob
from shared.queue.admission_places import PlaceRequest, PlaceState, WaitingLimitError
from shared.queue.broker import PublishedJob, queue_of_job
from shared.queue.names import queue_for
from shared.queue.states import AWAITED_SECONDS, CANCELLED

_DOING: Final = {
    Purpose.RENDER: "render",
    Purpose.VALIDATE: "validation",
    Purpose.INSPECT: "inspection of the upload",
    Purpose.PREVIEW: "preview",
}
_TO_DO: Final = {
    Purpose.RENDER: "render the document",
    Purpose.VALIDATE: "validate the document",
    Purpose.INSPECT: "inspect the upload",
    Purpose.PREVIEW: "draw the preview",
}
# An operator drains a queue for minutes, longer than the seconds of a restart.
_DRAINED_RETRY_SECONDS: Final = 30
_UNTAKEN_RETRY_SECONDS: Final = 10
_RESTART_RETRY_SECONDS: Final = 5
_RECONNECT_SECONDS: Final = 0.1


class ImagesOverdueError(Exception):
    """The remote images of a suspended job were not fetched by its deadline."""


def name_job(ports: Ports) -> str:
    """Return the id of a new job of the request, for its log line and trace."""
    job_id = g.job_id = new_id("job")
    ports.traces.set_attributes(job=job_id)
    return job_id


def make_job(
    job_id: str, ticket: Ticket, purpose: Purpose, kind: BodyKind, body: Claim, ports: Ports
) -> RenderJob:
    """Return the job of a ticket."""
    ahead = ticket.cell.clock_ahead()
    return RenderJob(
        id=job_id,
        request_id=g.request_id,
        workspace_id=ticket.principal.state.workspace_id,
        meter=ticket.meter,
        body_kind=kind,
        body=body,
        charset=None,
        template=None,
        flow=None,
        admitted_at=ticket.admitted_at + ahead,
        deadline=ticket.deadline + ahead,
        purpose=purpose,
        traceparent=ports.traces.traceparent(),
    )


def run_body(
    job_id: str,
    ticket: Ticket,
    purpose: Purpose,
    kind: BodyKind,
    body: Body,
    ports: Ports,
    *,
    in_memory: bool = False,
    **fields: Any,
) -> JobOutcome:
    """Run the job of a body, which is at its start, with further `fields`; return its outcome, a success.

    Raises:
        ServiceError: as `run_queued`, and the error body of a job that failed.
    """
    claim = ticket.cell.claims.store_stream(job_id, body.file, body.size, in_memory=in_memory)
    job = make_job(job_id, ticket, purpose, kind, claim, ports)
    job = job.replace(is_fetched_for=not job.is_in_memory, **fields)
    outcome = run_queued(job, ticket, ports)
    raise_failure(outcome)
    return outcome


def run_queued(job: RenderJob, ticket: Ticket, ports: Ports) -> JobOutcome:
    """Queue a job and return its outcome, by the deadline of the ticket.

    Raises:
        ServiceError: 504 at the deadline; 503, no worker started the job by then, or the queue is
            drained; 429, too many jobs of the account are waiting; 499, the client has closed its
            connection. The job is not metered after any of these, unless it was committed before the
            client closed, and its body is deleted: without a worker it would remain.
    """
    cell = ticket.cell
    try:
        with place_left_on_failure(job.id, cell):
            outcome = _run_until_deadline(job, ticket, ports)
        if outcome is None:
            raise timed_out(job.purpose, ticket.budget_seconds)
    except ServiceError:
        with suppress(Unavailable):
            cell.claims.delete_claim(job.body)
        raise
    return outcome


def _run_until_deadline(job: RenderJob, ticket: Ticket, ports: Ports) -> JobOutcome | None:
    """Run a job and return its outcome, None if it was abandoned at the deadline."""
    cell, deadline = ticket.cell, ticket.deadline
    outcome = None
    try:
        if await_place(_ask_place(job), job.purpose, cell, deadline=deadline, between=check_client):
            outcome = _run_placed(job, ticket, ports)
        if outcome is None and cell.jobs.states.withdraw(job.id):
            raise untaken(job.purpose, ticket.budget_seconds)
    except ImagesOverdueError:
        pass
    except ClientGoneError:
        # Neither committed nor metered, unless it was before; a worker that runs it stops.
        cell.jobs.states.close(job.id, CANCELLED)
        raise
    # Abandoning is atomic: the job has either ended before it, or is never committed.
    return outcome or cell.replies.abandon(job.id)


@contextmanager
def place_left_on_failure(job_id: str, cell: Cell) -> Iterator[None]:
    """Release the place of a job if the block raises: the job is not published, or has ended."""
    try:
        yield
    except BaseException:
        with suppress(Unavailable):  # it expires within seconds
            cell.places.release(job_id)
        raise


def await_place(
    asked: PlaceRequest,
    purpose: Purpose,
    cell: Cell,
    *,
    deadline: float,
    between: Callable[[], object] = lambda: None,
) -> bool:
    """Wait until a job may be published; return False at the deadline or if the job has ended.

    `between` is called every second.

    Raises:
        ServiceError: 429, too many jobs of the account are waiting; 503, the queue is drained.
    """
    is_held = _take_place(asked, cell)
    while not is_held:
        left = deadline - epoch()
        if left <= 0:
            return False
        _refuse_if_not_taken(purpose, asked.queue, cell)
        between()
        state = retry_while_unavailable(
            lambda: cell.places.wait(asked.job_id, seconds=deadline - epoch()),
            seconds=min(left, AWAITED_SECONDS),
            pause_seconds=_RECONNECT_SECONDS,
        )
        if state is PlaceState.ENDED:
            return False
        is_held = state is PlaceState.HELD
        if state is None:  # Redis has lost its data
            is_held = _take_place(asked, cell)
    return True


def _take_place(asked: PlaceRequest, cell: Cell) -> bool:
    try:
        return cell.places.acquire(asked)
    except WaitingLimitError as full:
        raise _waiting_limit_reached(full) from full


def resume_suspended(
    job: RenderJob,
    outcome: JobOutcome,
    ticket: Ticket,
    ports: Ports,
    *,
    between: Callable[[], object] = lambda: None,
) -> RenderJob | None:
    """Fetch the images that a job is suspended for, and wait until it may be published again.

    Returns the job with the images, or None at the deadline or if it has ended. An outcome of an earlier
    round returns the job itself, which must not be published again. `between` is called every second.

    Raises:
        ImagesOverdueError: the images were not fetched by the deadline.
        ServiceError: 503, the queue is drained.
    """
    if outcome.round != job.round:
        return job
    cell, deadline = ticket.cell, ticket.deadline

    def renew_place() -> None:
        between()
        with suppress(Unavailable):
            cell.places.renew(job.id)

    fetched = fetch_images(
        job,
        outcome.wanted,
        fetcher=ports.fetcher,
        claims=cell.claims,
        deadline=deadline,
        between=renew_place,
    )
    if fetched is None:
        raise ImagesOverdueError
    is_placed = await_place(_ask_place(job), job.purpose, cell, deadline=deadline, between=between)
    return fetched if is_placed else None


def _ask_place(job: RenderJob) -> PlaceRequest:
    return PlaceRequest(job.id, job.meter.account_id, queue_of_job(job))


def _run_placed(job: RenderJob, ticket: Ticket, ports: Ports) -> JobOutcome | None:
    cell = ticket.cell
    published = cell.broker.publish(job)
    outcome = None
    try:
        while True:
            outcome = cell.replies.wait(
                job.id,
                timeout_seconds=ticket.deadline - epoch(),
                between=partial(_requeue_or_withdraw, published, cell),
            )
            if outcome is None or outcome.status is not OutcomeStatus.SUSPENDED:
                return outcome
            resumed = resume_suspended(job, outcome, ticket, ports, between=check_client)
            outcome = None
            if resumed is None:
                return None
            if resumed is not job:
                job = resumed
                published = cell.broker.publish(job)
    finally:
        if outcome is None and job.images:
            _drop_images(job, cell)


def _drop_images(job: RenderJob, cell: Cell) -> None:
    """Delete the images of an abandoned job; for other jobs the worker deletes them."""
    with suppress(Unavailable):
        for claim in job.claims[1:]:
            cell.claims.delete_claim(claim)


def raise_failure(outcome: JobOutcome) -> None:
    """Raise the error of a failed job.

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
    """Check that the queue of a purpose is not drained.

    Raises:
        ServiceError: 503, an operator has drained the queue, or this process is about to exit.
    """
    _refuse_if_not_taken(purpose, queue_for(purpose), cell)


def _refuse_if_not_taken(purpose: Purpose, queue: str, cell: Cell) -> None:
    if quitting.is_set():
        raise _cut_off(purpose)
    if cell.drains.is_drained(queue):
        raise drained(purpose)


def drained(purpose: Purpose) -> ServiceError:
    """Return the error of a request whose queue is drained."""
    return _unavailable(
        f"No {_DOING[purpose]} can start at the moment: the service is paused for maintenance",
        seconds=_DRAINED_RETRY_SECONDS,
    )


def _requeue_or_withdraw(published: PublishedJob, cell: Cell) -> None:
    """Withdraw a job whose queue is drained, requeue a lost one, and abandon any on shutdown."""
    job_id, purpose = published.job_id, published.job.purpose
    check_client()
    # If the job has ended just before, the next look finds its outcome.
    if quitting.is_set() and cell.replies.abandon(job_id) is None:
        raise _cut_off(purpose)
    # Without Redis nothing can be done here: the wait itself fails.
    with suppress(Unavailable):
        cell.places.renew(job_id)
        if cell.drains.is_drained(published.queue) and cell.jobs.states.withdraw(job_id):
            raise drained(purpose)
    cell.broker.requeue_lost(published)


def _cut_off(purpose: Purpose) -> ServiceError:
    return _unavailable(
        f"The {_DOING[purpose]} was not completed, because the service is shutting down",
        seconds=_RESTART_RETRY_SECONDS,
    )


def untaken(purpose: Purpose, budget_seconds: float) -> ServiceError:
    """Return the error of a job that no worker started within its time budget."""
    return _unavailable(
        f"No worker was free to {_TO_DO[purpose]} within {budget_seconds:g} s",
        seconds=_UNTAKEN_RETRY_SECONDS,
    )


def _unavailable(cause: str, *, seconds: int) -> ServiceError:
    return ServiceError(
        503, f"{cause}; try again in {seconds} s.", headers={"Retry-After": str(seconds)}
    )


def _waiting_limit_reached(full: WaitingLimitError) -> ServiceError:
    seconds = full.retry_after_seconds
    return ServiceError(
        429,
        f"Too many waiting requests: {full.waiting} renders of the account are already waiting; try again "
        f"in {seconds} s, or send the documents as a batch to /v2/batches.",
        code=ErrorCode.RATE_LIMITED,
        headers={"Retry-After": str(seconds)},
    )


def timed_out(purpose: Purpose, budget_seconds: float) -> ServiceError:
    """Return the error of a job that exceeded its time budget."""
    cause = (
        "the file is too large or too complex"
        if purpose is Purpose.INSPECT
        else "the document is too large, or remote assets are too slow"
    )
    return ServiceError(
        504,
        f"The {_DOING[purpose]} exceeded its time budget of {budget_seconds:g} s and was stopped; {cause}.",
        code=ErrorCode.RENDER_TIMEOUT,
    )


# nginx's status for a closed connection: for metrics and the log, since no client receives it.
_CLIENT_CLOSED_REQUEST = 499


class ClientGoneError(ServiceError):
    """The client of a request has closed its connection."""


def check_client() -> None:
    """Check that the client of the current request is still connected.

    A client that closes only its sending side counts as gone, as it does for nginx.

    Raises:
        ClientGoneError: it is not.
    """
    connection = request.environ.get("gunicorn.socket")
    if connection is not None and _has_closed(connection):
        raise ClientGoneError(_CLIENT_CLOSED_REQUEST, "The client closed its connection.")


def _has_closed(connection: socket.socket) -> bool:
    try:
        # Readable at the end of the stream, and if the next request was sent early.
        is_readable, _, _ = select([connection], [], [], 0)
        return bool(is_readable) and not connection.recv(1, socket.MSG_PEEK)
    except OSError:
        return True
