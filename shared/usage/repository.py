"""The usage ledger: one row for each metered job, and totals by billing period and by day."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import NamedTuple

from sqlalchemy import Table, and_, delete, exists, func, literal, or_, select, tuple_, update

from shared.db.queries import insert_ignoring_conflicts, insert_or_ignore
from shared.db.session import Database, Session
from shared.db.tables import (
    Instant,
    batches,
    jobs,
    templates,
    usage_days,
    usage_ledger,
    usage_templates,
    usage_totals,
)
from shared.identifiers import ID_LENGTH
from shared.jobs.records import Allowance
from shared.templates.repository import PUBLIC_ACCOUNT
from shared.usage.metering import Totals, Usage, UsageDay, UsageEvent, UsageTemplate


def record_events(session: Session, events: Iterable[UsageEvent], *, at: datetime) -> int:
    """Insert events into the ledger, each job once, and add new ones to the totals; return how many are new.

    Ledger and totals change in the caller's unit of work, so repeating a committed batch changes nothing.
    """
    # In a fixed order, here and below, to avoid deadlocks between counters on PostgreSQL.
    in_order = sorted(events, key=lambda event: event.job_id)
    fresh = _write_new(session, in_order, at)
    _increment_totals(session, usage_totals, [(event, (event.period,)) for event in fresh])
    _increment_totals(session, usage_days, [(event, (_day_of(event),)) for event in fresh])
    _increment_totals(
        session, usage_templates, [(e, (e.period, e.template_id or "")) for e in fresh]
    )
    return len(fresh)


def find_totals(session: Session, account_id: str, period: str) -> Totals:
    """Return the usage of an account in a billing period, zeros if there is none.

    Events that are still in the stream are not included.
    """
    rows = session.execute(
        select(usage_totals.c.allowance, usage_totals.c.pages, usage_totals.c.calls).where(
            usage_totals.c.account_id == account_id, usage_totals.c.period == period
        )
    )
    return _totals({Allowance(allowance): Usage(pages, calls) for allowance, pages, calls in rows})


def list_days(session: Session, account_id: str, *, first: date, end: date) -> Sequence[UsageDay]:
    """Return the usage of an account on each day from `first` to before `end`, in order.

    Days without a render are omitted. Events that are still in the stream are not included.
    """
    columns = usage_days.c
    rows = session.execute(
        select(columns.day, columns.allowance, columns.pages, columns.calls)
        .where(
            columns.account_id == account_id,
            columns.day >= first.isoformat(),
            columns.day < end.isoformat(),
        )
        .order_by(columns.day)
    )
    days: dict[str, dict[Allowance, Usage]] = {}
    for day, allowance, pages, calls in rows:
        days.setdefault(day, {})[Allowance(allowance)] = Usage(pages, calls)
    return [UsageDay.of(_totals(used), date=day) for day, used in days.items()]


def list_templates(
    session: Session, account_id: str, period: str, *, limit: int
) -> tuple[Sequence[UsageTemplate], bool]:
    """Return the templates with most pages in a billing period, and whether there are more than `limit`.

    Production and draft pages are added for the order. Events that are still in the stream are not
    included, nor are renders from before templates were recorded.
    """
    columns = usage_templates.c
    is_own = and_(columns.account_id == account_id, columns.period == period)
    pages = func.sum(columns.pages).label("pages")
    ranked = (
        select(columns.template_id, pages)
        .where(is_own)
        .group_by(columns.template_id)
        .order_by(pages.desc(), columns.template_id)
        .limit(limit + 1)
        .subquery()
    )
    is_named = and_(
        templates.c.id == columns.template_id,
        or_(templates.c.account_id == account_id, templates.c.account_id == PUBLIC_ACCOUNT),
    )
    rows = session.execute(
        select(
            columns.template_id, templates.c.name, columns.allowance, columns.pages, columns.calls
        )
        .join(ranked, ranked.c.template_id == columns.template_id)
        .outerjoin(templates, is_named)
        .where(is_own)
        .order_by(ranked.c.pages.desc(), columns.template_id)
    )
    found: dict[tuple[str, str | None], dict[Allowance, Usage]] = {}
    for template_id, name, allowance, count, calls in rows:
        found.setdefault((template_id, name), {})[Allowance(allowance)] = Usage(count, calls)
    listed = [
        UsageTemplate.of(_totals(used), template=key or None, name=name)
        for (key, name), used in found.items()
    ]
    return listed[:limit], len(listed) > limit


def _totals(used: Mapping[Allowance, Usage]) -> Totals:
    return Totals(
        used.get(Allowance.PRODUCTION, Usage()),
        used.get(Allowance.DRAFT, Usage()),
    )


def _day_of(event: UsageEvent) -> str:
    return event.occurred_at.astimezone(UTC).date().isoformat()


def _write_new(session: Session, events: Sequence[UsageEvent], at: datetime) -> list[UsageEvent]:
    """Insert the events that have no row yet, in one statement, and return them."""
    if not events:
        return []
    by_job: dict[str, UsageEvent] = {}
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
    written = insert_ignoring_conflicts(session, usage_ledger).returning(usage_ledger.c.job_id)
    return [by_job[job_id] for job_id in session.scalars(written, rows)]


def _increment_totals(
    session: Session, table: Table, events: Sequence[tuple[UsageEvent, tuple[str, ...]]]
) -> None:
    """Add events to the sums of a table, keyed by account, the given values, and allowance."""
    sums: defaultdict[tuple[str, ...], Usage] = defaultdict(Usage)
    for event, values in events:
        key = (event.account_id, *values, event.allowance)
        sums[key] = Usage(sums[key].pages + event.pages, sums[key].calls + 1)
    for key in sorted(sums):
        _increment_total(session, table, key, sums[key])


def _increment_total(session: Session, table: Table, key: tuple[str, ...], used: Usage) -> None:
    names = dict(zip((column.name for column in table.primary_key), key, strict=True))
    # Inserting first makes the increment safe against concurrent inserts.
    session.execute(insert_or_ignore(session, table, {**names, "pages": 0, "calls": 0}))
    session.execute(
        update(table)
        .filter_by(**names)
        .values(pages=table.c.pages + used.pages, calls=table.c.calls + used.calls)
    )


class LedgerRow(NamedTuple):
    """One metered job. `period` is the first day of its account's billing period."""

    job_id: str
    account_id: str
    period: str
    allowance: str
    pages: int
    occurred_at: datetime
    recorded_at: datetime


def read_ledger(
    database: Database,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    account_id: str | None = None,
    at_once: int = 5_000,
) -> Iterator[LedgerRow]:
    """Yield the rows of events from `since` to before `until`, ordered by time.

    Reads `at_once` rows in each unit of work, so that no other process waits for it. Rows never change;
    rows recorded meanwhile may be missing.

    Raises:
        Unavailable: the database does not answer.
    """
    last: LedgerRow | None = None
    while True:
        with database.snapshot() as session:
            rows = _list_rows(session, last, since, until, account_id, at_once)
        yield from rows
        if len(rows) < at_once:
            return
        last = rows[-1]


def prune_ledger(session: Session, *, before: datetime, limit: int) -> int:
    """Delete up to `limit` rows of events before an instant and return how many.

    A row is kept while its job or its batch is on record, whatever their age: without it the usage would
    be recorded again. So is one recorded since then, whose event may still be delivered again. The totals
    of billing periods are kept.
    """
    columns = usage_ledger.c
    # As `item_job_id` makes it; the id of no batch if the row is that of a job.
    batch_id = literal("batch_") + func.substr(columns.job_id, len("job_") + 1, ID_LENGTH)
    old = (
        select(columns.job_id)
        .where(
            columns.occurred_at < before,
            columns.recorded_at < before,
            ~exists().where(jobs.c.id == columns.job_id),
            ~exists().where(batches.c.id == batch_id),
        )
        .order_by(columns.occurred_at, columns.job_id)
        .limit(limit)
    )
    return session.execute(delete(usage_ledger).where(columns.job_id.in_(old))).rowcount


def _list_rows(
    session: Session,
    last: LedgerRow | None,
    since: datetime | None,
    until: datetime | None,
    account_id: str | None,
    limit: int,
) -> list[LedgerRow]:
    columns = usage_ledger.c
    read = [columns[name] for name in LedgerRow._fields]
    query = select(*read).order_by(columns.occurred_at, columns.job_id).limit(limit)
    if account_id is not None:
        query = query.where(columns.account_id == account_id)
    if until is not None:
        query = query.where(columns.occurred_at < until)
    if last is not None:
        seen = tuple_(literal(last.occurred_at, Instant), literal(last.job_id))
        query = query.where(tuple_(columns.occurred_at, columns.job_id) > seen)
    elif since is not None:
        query = query.where(columns.occurred_at >= since)
    return [LedgerRow(*row) for row in session.execute(query)]
