"""Slices of accepted renders: each claims renders of its account while it runs, and releases the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update

from shared.batches.records import JobSlice
from shared.batches.slice_scheduling import CLOCK_SLACK, IS_DUE
from shared.db.session import Session
from shared.db.tables import IS_CLAIMED, job_slices, jobs

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
