"""Recorded renders that are missing from the usage ledger, because their events were lost."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, String, and_, cast, func, literal, select

from shared.db.session import Session
from shared.db.tables import batch_items, batch_parts, batches, jobs, usage_ledger
from shared.jobs.records import Meter, RenderJob
from shared.jobs.repository import JobStatus
from shared.usage.metering import UsageEvent


def list_unmetered_jobs(
    session: Session, *, after: datetime, until: datetime, limit: int
) -> list[UsageEvent]:
    """Return the missing events of jobs that succeeded in a time span, ordered by their end."""
    query = (
        _unmetered_jobs()
        .where(jobs.c.finished_at > after, jobs.c.finished_at <= until)
        .order_by(jobs.c.finished_at, jobs.c.id)
        .limit(limit)
    )
    return _read_jobs(session, query)


def find_unmetered_job(session: Session, job_id: str) -> list[UsageEvent]:
    """Return the missing event of a job; empty if the job failed or is in the ledger."""
    return _read_jobs(session, _unmetered_jobs().where(jobs.c.id == job_id))


def list_unmetered_items(
    session: Session, *, after: datetime, until: datetime, limit: int
) -> list[UsageEvent]:
    """Return the missing events of batch documents whose slices ended in a time span."""
    ended_at = batch_parts.c.created_at
    query = _unmetered_items().where(ended_at > after, ended_at <= until)
    return _read_items(session, query.order_by(ended_at).limit(limit))


def list_unmetered_of_batch(session: Session, batch_id: str, *, before: int) -> list[UsageEvent]:
    """Return the missing events of a batch's documents below an index."""
    items = batch_items.c
    query = _unmetered_items().where(items.batch_id == batch_id, items["index"] < before)
    return _read_items(session, query)


def _unmetered_items() -> Select[Any]:
    items, parts = batch_items.c, batch_parts.c
    # The index range avoids reading all documents of the batch for each part.
    is_part = and_(
        parts.batch_id == items.batch_id,
        parts.first_index == items.part_first_index,
        items["index"] >= parts.first_index,
        items["index"] < parts.first_index + parts["count"],
    )
    job_id = _job_id(items.batch_id, items["index"])
    return (
        select(job_id, batches.c.meter, items.pages, parts.created_at)
        .select_from(
            batch_parts.join(batch_items, is_part)
            .join(batches, batches.c.id == parts.batch_id)
            .outerjoin(usage_ledger, usage_ledger.c.job_id == job_id)
        )
        .where(items.status == JobStatus.SUCCEEDED.value, usage_ledger.c.job_id.is_(None))
    )


def _read_items(session: Session, query: Select[Any]) -> list[UsageEvent]:
    events = []
    for item_job_id, raw_meter, pages, ended_at in session.execute(query):
        meter = Meter.of_builtins(raw_meter)
        events.append(UsageEvent.of(meter, item_job_id, pages=pages, at=ended_at))
    return events


def _unmetered_jobs() -> Select[Any]:
    return (
        select(jobs.c.id, jobs.c.message, jobs.c.pages, jobs.c.finished_at)
        .outerjoin(usage_ledger, usage_ledger.c.job_id == jobs.c.id)
        .where(jobs.c.status == JobStatus.SUCCEEDED.value)
        .where(usage_ledger.c.job_id.is_(None))
    )


def _read_jobs(session: Session, query: Select[Any]) -> list[UsageEvent]:
    events = []
    for job_id, message, pages, finished_at in session.execute(query):
        meter = RenderJob.decode(message).meter
        events.append(UsageEvent.of(meter, job_id, pages=pages, at=finished_at))
    return events


def _job_id(batch_id: ColumnElement[str], index: ColumnElement[int]) -> ColumnElement[str]:
    """Return `shared.batches.records.item_job_id` as an SQL expression."""
    random_part = func.substr(batch_id, len("batch_") + 1)
    return literal("job_") + random_part + literal("-") + cast(index, String)
