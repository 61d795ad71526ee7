"""The job table: jobs recorded before they run and kept for days after their end, and the slices that claim them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, Final

from msgspec import structs
from sqlalchemy import RowMapping, Select, bindparam, delete, func, insert, literal, select, update

from shared.batches.records import JobSlice
from shared.batches.slice_scheduling import CLOCK_SLACK, IS_DUE
from shared.db.queries import belongs_to_slots, find_retention, is_not_held, select_newest
from shared.db.session import Database, Session
from shared.db.tables import IS_CLAIMED, job_slices, jobs
from shared.errors import write_error_body
from shared.jobs.records import JobOutcome, Lane, OutcomeStatus
from shared.records import Record, ShownRecord, Timestamp, doc
from shared.webhooks.destinations import FileSource, end_deliveries, enqueue_result
from shared.webhooks.repository import WebhookEvent, WebhookNotification, enqueue, has_pending


class JobStatus(StrEnum):
    """The state of a job."""

    QUEUED = "queued"
    RUNNING = "running"  # only known in the queue: the table has `queued` until the end
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether the job has ended."""
        return self not in (JobStatus.QUEUED, JobStatus.RUNNING)


_EVENTS: Final = {
    OutcomeStatus.SUCCEEDED: WebhookEvent.JOB_SUCCEEDED,
    OutcomeStatus.FAILED: WebhookEvent.JOB_FAILED,
}
_FINAL: Final = tuple(status.value for status in JobStatus if status.is_final)
# Built once: building a statement takes as long as running it, and every job uses these.
_IS_JOB: Final = jobs.c.id == bindparam("of_job")
_FIND: Final = select(jobs).where(_IS_JOB)
# In a fixed order, to avoid deadlocks between processes that end the same jobs.
_TAKE_OPEN: Final = (
    select(jobs)
    .where(jobs.c.id.in_(bindparam("of_jobs", expanding=True)), jobs.c.status.not_in(_FINAL))
    .order_by(jobs.c.id)
    .with_for_update()
)
# Without the message, which may be 64 KB and is in no list.
_LIST: Final[Select[Any]] = (
    select(
        *(column for column in jobs.c if column is not jobs.c.message), literal("").label("message")
    )
    .where(jobs.c.id.in_(bindparam("of_jobs", expanding=True)))
    .order_by(jobs.c.id.desc())
)
_END: Final = update(jobs).where(_IS_JOB)


class JobRecord(Record, frozen=True):
    """A row of the job table. `error` is the error body for the client."""

    id: str
    account_id: str
    workspace_id: str | None
    user_id: str
    status: JobStatus
    lane: Lane
    message: str
    is_draft: bool
    created_at: datetime
    queued_at: datetime
    template: str | None = None
    pages: int | None = None
    filename: str | None = None
    timings: Mapping[str, float] | None = None
    error: Mapping[str, Any] | None = None
    pdf_key: str | None = None
    pdf_size: int | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    expires_at: datetime | None = None
    sweep_at: datetime | None = None
    warnings: Sequence[Mapping[str, Any]] | None = None
    slice_id: str | None = None
    deliver_to: str | None = None
    send_at: datetime | None = None
    subject: str | None = None


class Job(ShownRecord, frozen=True):
    """The record of a job as clients see it; `error` is an error body."""

    id: str
    status: JobStatus
    draft: Annotated[bool, doc("Whether the PDF has the draft watermark.")]
    created_at: Annotated[Timestamp, doc("When it was accepted.")]
    template: Annotated[str | None, doc("The template reference, as requested.")] = None
    pages: Annotated[int | None, doc("Number of pages of a job that succeeded.", minimum=0)] = None
    error: Mapping[str, Any] | None = None
    warnings: Sequence[Mapping[str, Any]] | None = None
    started_at: Annotated[Timestamp | None, doc("When a worker first started it.")] = None
    finished_at: Annotated[Timestamp | None, doc("When it ended.")] = None
    expires_at: Annotated[Timestamp | None, doc("When its PDF is deleted.")] = None
    send_at: Annotated[
        Timestamp | None, doc("The moment before which it is not delivered, as asked for.")
    ] = None


def write_job(job: JobRecord) -> dict[str, Any]:
    """Write the record as clients see it."""
    return Job.of_row(structs.asdict(job), draft=job.is_draft).show()


def add_jobs(session: Session, records: Sequence[JobRecord]) -> None:
    """Insert new jobs."""
    if records:
        session.execute(insert(jobs), [record.to_builtins() for record in records])


def find_job(session: Session, job_id: str) -> JobRecord | None:
    """Return a job of any account, None if there is none."""
    row = session.execute(_FIND, {"of_job": job_id}).mappings().first()
    return None if row is None else JobRecord.of_row(row)


def list_jobs(
    session: Session,
    account_id: str,
    *,
    statuses: Iterable[JobStatus],
    limit: int,
    start_after: str | None,
) -> Sequence[JobRecord]:
    """Return up to `limit` jobs of an account, newest first, without their messages.

    `statuses` are those of the table, which has no running jobs; `start_after` is the last job of the
    previous page.
    """
    words = [status.value for status in statuses]
    query = select_newest(jobs, account_id, statuses=words, limit=limit, start_after=start_after)
    newest = session.scalars(query).all()
    found = session.execute(_LIST, {"of_jobs": newest}).mappings() if newest else ()
    return [JobRecord.of_row(row) for row in found]


def end_jobs(session: Session, ends: Mapping[str, JobOutcome], *, at: datetime) -> AbstractSet[str]:
    """Record the ends of jobs and enqueue their webhooks; return the ids of jobs that were open.

    Jobs that have already ended or were deleted are left unchanged.
    """
    rows = session.execute(_TAKE_OPEN, {"of_jobs": list(ends)}).mappings().all()
    if not rows:
        return frozenset()
    kept = {
        account_id: find_retention(session, account_id)[0]
        for account_id in {row["account_id"] for row in rows}
    }
    values = {row["id"]: _end_values(ends[row["id"]], at, kept[row["account_id"]]) for row in rows}
    session.execute(_END, [{"of_job": job_id, **each} for job_id, each in values.items()])
    enqueue(session, _make_notifications(rows, ends, values), at=at)
    for row in rows:
        end = ends[row["id"]]
        if row["deliver_to"] and end.pdf is not None:
            file = FileSource(key=end.pdf.key, size=end.pdf.size, values=end.values)
            enqueue_result(
                session,
                row["deliver_to"],
                file,
                job_id=row["id"],
                key=row["subject"],
                send_at=row["send_at"],
                at=at,
            )
    return values.keys()


def remove_job(session: Session, job_id: str) -> bool:
    """Delete an ended job; its idempotency key stays. Return whether there was one. What was to be delivered fails."""
    end_deliveries(session, job_id)
    gone = delete(jobs).where(jobs.c.id == job_id, jobs.c.status.in_(_FINAL))
    return session.execute(gone.returning(jobs.c.id)).first() is not None


def list_unfinished_jobs(
    session: Session,
    lane: Lane,
    *,
    before: datetime,
    limit: int,
    slots: AbstractSet[str] | None = None,
) -> Sequence[JobRecord]:
    """Return unfinished jobs that were queued last before an instant, oldest first.

    `slots` selects the accounts of a shard; None means all accounts.
    """
    found = (
        select(jobs)
        .where(jobs.c.status == JobStatus.QUEUED.value, jobs.c.queued_at < before)
        .where(jobs.c.lane == lane.value, belongs_to_slots(jobs.c.account_id, slots))
        .order_by(jobs.c.queued_at, jobs.c.id)
        .limit(limit)
    )
    return [JobRecord.of_row(row) for row in session.execute(found).mappings()]


def mark_jobs_requeued(session: Session, job_ids: Iterable[str], *, at: datetime) -> None:
    """Record that jobs were queued again."""
    open_ones = update(jobs).where(jobs.c.id.in_(list(job_ids)), jobs.c.status.not_in(_FINAL))
    session.execute(open_ones.values(queued_at=at))


def count_unfinished_jobs(session: Session) -> int:
    """Return the number of unfinished jobs."""
    counted = select(func.count()).where(jobs.c.status == JobStatus.QUEUED.value)
    return session.scalar(counted) or 0


def list_due_jobs(
    session: Session, *, at: datetime, limit: int, slots: AbstractSet[str] | None = None
) -> Sequence[JobRecord]:
    """Return jobs of some accounts that are due for cleanup, longest due first.

    Those whose PDF has still to be delivered are not, nor ended ones of an account with a legal hold.
    """
    found = (
        select(jobs)
        .where(jobs.c.sweep_at <= at, belongs_to_slots(jobs.c.account_id, slots))
        .where(~has_pending(jobs.c.id))
        .where(jobs.c.finished_at.is_(None) | is_not_held(jobs.c.account_id))
        .order_by(jobs.c.sweep_at)
        .limit(limit)
    )
    return [JobRecord.of_row(row) for row in session.execute(found).mappings()]


def is_awaited(job: JobRecord, database: Database) -> bool:
    """Return whether a job's PDF has still to be delivered."""
    with database.snapshot() as session:
        return bool(session.scalar(select(has_pending(literal(job.id)))))


def mark_result_deleted(session: Session, job: JobRecord) -> None:
    """Record that a job's PDF is deleted, and when its record expires."""
    assert job.finished_at is not None
    expires_at = job.finished_at + find_retention(session, job.account_id)[1]
    session.execute(
        update(jobs).where(jobs.c.id == job.id).values(pdf_key=None, sweep_at=expires_at)
    )


def _make_notifications(
    rows: Sequence[RowMapping], ends: Mapping[str, JobOutcome], values: Mapping[str, dict[str, Any]]
) -> list[WebhookNotification]:
    """Return the webhook notifications for the ends of jobs; `rows` are the rows before the update."""

    def write(row: RowMapping) -> Mapping[str, Any]:
        end = values[row["id"]] | {"status": JobStatus(ends[row["id"]].status)}
        return write_job(JobRecord.of_row(row).replace(**end))

    return [
        WebhookNotification(row["account_id"], _EVENTS[status], partial(write, row))
        for row in rows
        if (status := ends[row["id"]].status) in _EVENTS
    ]


def _end_values(end: JobOutcome, at: datetime, kept: timedelta) -> dict[str, Any]:
    started, pdf = end.started_at, end.pdf
    return {
        "status": end.status.value,
        "started_at": None if started is None else datetime.fromtimestamp(started, UTC),
        "pages": end.pages if pdf else None,
        "filename": end.filename,
        "timings": end.timings if pdf else None,
        "error": write_error_body(end.error, at=at) if end.error else None,
        "pdf_key": pdf.key if pdf else None,
        "pdf_size": pdf.size if pdf else None,
        "warnings": end.warnings or None,
        "finished_at": at,
        "expires_at": at + kept,
        "sweep_at": at + kept,
    }


# The delay before a job is retried that failed because of an outage.
POSTPONED_BY = timedelta(seconds=5)


def start_job_slice(session: Session, requested: JobSlice) -> Sequence[str] | None:
    """Mark a slice as running and return the encoded jobs that an earlier run left claimed, oldest first;
    None if the slice is done.
    """
    is_this = job_slices.c.id == requested.id
    noted = update(job_slices).where(is_this).values(is_running=True).returning(job_slices.c.id)
    if session.execute(noted).first() is None:
        return None
    left = select(jobs.c.message).where(jobs.c.slice_id == requested.id, IS_CLAIMED)
    return session.scalars(left.order_by(jobs.c.queued_at, jobs.c.id)).all()


def claim_jobs(session: Session, requested: JobSlice, *, limit: int, at: datetime) -> Sequence[str]:
    """Claim up to `limit` accepted renders for a slice and return them encoded, oldest first.

    The slice ends if there are none. Call it before any other write of the unit of work: all code locks
    the slice first.
    """
    account_id = session.scalar(
        select(job_slices.c.account_id).where(job_slices.c.id == requested.id).with_for_update()
    )
    if account_id is None:
        return ()
    waiting = (
        select(jobs.c.id, jobs.c.message)
        .where(jobs.c.account_id == account_id, IS_DUE)
        .order_by(jobs.c.queued_at, jobs.c.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    found = session.execute(waiting, {"due_at": at + CLOCK_SLACK}).all()
    if not found:
        end_job_slice(session, requested)
        return ()
    ids = [row.id for row in found]
    session.execute(update(jobs).where(jobs.c.id.in_(ids)).values(slice_id=requested.id))
    return [row.message for row in found]


def end_job_slice(session: Session, requested: JobSlice) -> None:
    """Delete a slice, and release its claimed jobs that have not ended."""
    session.execute(delete(job_slices).where(job_slices.c.id == requested.id))
    _free(session, requested)


def requeue_job_slice(session: Session, requested: JobSlice) -> None:
    """Mark a slice as queued again; its claims remain."""
    session.execute(
        update(job_slices).where(job_slices.c.id == requested.id).values(is_running=False)
    )


def postpone_jobs(session: Session, job_ids: Iterable[str], *, at: datetime) -> None:
    """Release claimed jobs, to be claimed again after a delay, behind those waiting then."""
    ids = list(job_ids)
    if not ids:
        return
    session.execute(
        update(jobs)
        .where(jobs.c.id.in_(ids), IS_CLAIMED)
        .values(slice_id=None, queued_at=at + POSTPONED_BY)
    )


def _free(session: Session, requested: JobSlice) -> None:
    session.execute(
        update(jobs).where(jobs.c.slice_id == requested.id, IS_CLAIMED).values(slice_id=None)
    )
