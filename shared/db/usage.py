"""The usage ledger: one row for each metered job, and the totals that are its sums."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import select, update

from shared.db.session import Session
from shared.db.tables import usage_ledger, usage_totals
from shared.db.upsert import insert_new, insert_or_ignore
from shared.jobs import Allowance
from shared.metering import PageEvent, Totals, Usage


def record_events(session: Session, events: Iterable[PageEvent], *, at: datetime) -> int:
    """Write events to the ledger, each job once, and raise the totals by what was new.

    Ledger and totals change in the caller's one unit of work, so repeating a batch that was
    committed changes nothing. Gives how many events were new.
    """
    # In order, here and below: two counters that meet would deadlock on PostgreSQL otherwise.
    in_order = sorted(events, key=lambda event: event.job_id)
    fresh = _write_new(session, in_order, at)
    sums: defaultdict[tuple[str, str, Allowance], Usage] = defaultdict(Usage)
    for event in fresh:
        key = (event.account_id, event.period, event.allowance)
        sums[key] = Usage(sums[key].pages + event.pages, sums[key].calls + 1)
    for key in sorted(sums):
        _raise_total(session, key, sums[key])
    return len(fresh)


def find_totals(session: Session, account_id: str, period: str) -> Totals:
    """Give what an account used in a billing period, zeros when nothing is recorded.

    The stream may hold events that are not recorded yet.
    """
    rows = session.execute(
        select(usage_totals.c.allowance, usage_totals.c.pages, usage_totals.c.calls).where(
            usage_totals.c.account_id == account_id, usage_totals.c.period == period
        )
    )
    used = {Allowance(allowance): Usage(pages, calls) for allowance, pages, calls in rows}
    return Totals(
        used.get(Allowance.PRODUCTION, Usage()),
        used.get(Allowance.DRAFT, Usage()),
    )


def _write_new(session: Session, events: Sequence[PageEvent], at: datetime) -> list[PageEvent]:
    """Write rows for those events that have none, all in one statement, and give those events."""
    if not events:
        return []
    by_job: dict[str, PageEvent] = {}
    for event in events:
        by_job.setdefault(event.job_id, event)
    rows = [
        {
            "job_id": event.job_id,
            "account_id": event.account_id,
            "period": event.period,
            "allowance": event.allowance.value,
            "pages": event.pages,
            "occurred_at": event.occurred_at,
            "recorded_at": at,
        }
        for event in by_job.values()
    ]
    written = insert_new(session, usage_ledger).returning(usage_ledger.c.job_id)
    return [by_job[job_id] for job_id in session.scalars(written, rows)]


def _raise_total(session: Session, key: tuple[str, str, Allowance], used: Usage) -> None:
    account_id, period, allowance = key
    columns = usage_totals.c
    names = {"account_id": account_id, "period": period, "allowance": allowance.value}
    # The row is made first and raised then, whoever else makes it at the same moment.
    session.execute(insert_or_ignore(session, usage_totals, {**names, "pages": 0, "calls": 0}))
    session.execute(
        update(usage_totals)
        .filter_by(**names)
        .values(pages=columns.pages + used.pages, calls=columns.calls + used.calls)
    )
