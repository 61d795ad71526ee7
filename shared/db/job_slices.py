"""Slices of accepted renders: each claims renders of its account as it runs, and frees what is left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update

from shared.batches.records import JobSlice
from shared.db.feeding import CLOCK_SLACK, IS_DUE
from shared.db.session import Session
from shared.db.tables import IS_CLAIMED, job_slices, jobs

# Until it is tried again what could not be rendered, or put on record, through no fault of its own.
POSTPONED_BY = timedelta(seconds=5)


def start_job_slice(session: Session, asked: JobSlice) -> Sequence[str] | None:
    """Note that a worker is at a slice and return the encoded jobs that a run before it has left
    claimed, oldest first; None when the slice is done.
    """
    is_this = job_slices.c.id == asked.id
    noted = update(job_slices).where(is_this).values(is_running=True).returning(job_slices.c.id)
    if session.execute(noted).first() is None:
        return None
    left = select(jobs.c.message).where(jobs.c.slice_id == asked.id, IS_CLAIMED)
    return session.scalars(left.order_by(jobs.c.queued_at, jobs.c.id)).all()


def claim_jobs(session: Session, asked: JobSlice, *, limit: int, at: datetime) -> Sequence[str]:
    """Claim up to `limit` accepted renders for a slice and return them encoded, oldest first.

    The slice ends where there are none, or it is done already. Call it before anything else is
    written in the unit of work: whoever does more with a slice locks the slice first.
    """
    account_id = session.scalar(
        select(job_slices.c.account_id).where(job_slices.c.id == asked.id).with_for_update()
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
        end_job_slice(session, asked)
        return ()
    ids = [row.id for row in found]
    session.execute(update(jobs).where(jobs.c.id.in_(ids)).values(slice_id=asked.id))
    return [row.message for row in found]


def end_job_slice(session: Session, asked: JobSlice) -> None:
    """Remove a slice, and free what it has claimed and not ended."""
    session.execute(delete(job_slices).where(job_slices.c.id == asked.id))
    _free(session, asked)


def requeue_job_slice(session: Session, asked: JobSlice) -> None:
    """Note that a slice goes back to the queue with what it has claimed."""
    session.execute(update(job_slices).where(job_slices.c.id == asked.id).values(is_running=False))


def postpone_jobs(session: Session, job_ids: Iterable[str], *, at: datetime) -> None:
    """Free claimed jobs, to be claimed again some seconds later, behind those that wait by then."""
    session.execute(
        update(jobs)
        .where(jobs.c.id.in_(list(job_ids)), IS_CLAIMED)
        .values(slice_id=None, queued_at=at + POSTPONED_BY)
    )


def _free(session: Session, asked: JobSlice) -> None:
    session.execute(
        update(jobs).where(jobs.c.slice_id == asked.id, IS_CLAIMED).values(slice_id=None)
    )
