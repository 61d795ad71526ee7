"""The usage ledger: one row for each metered job, totals, statistics of the farm, and what is missing from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import UTC, date, datetime
from itertools import chain
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    Column,
    ColumnElement,
    Select,
    String,
    Table,
    and_,
    cast,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    tuple_,
    union_all,
    update,
)

from shared.db.queries import insert_ignoring_conflicts, insert_or_ignore, slot_expression
from shared.db.session import Database, Session
from shared.db.tables import (
    IS_CLAIMED,
    IS_OPEN,
    IS_UNFINISHED,
    IS_WAITING,
    Instant,
    accounts,
    batch_chunks,
    batch_items,
    batch_parts,
    batches,
    images,
    jobs,
    templates,
    usage_days,
    usage_ledger,
    usage_templates,
    usage_totals,
)
from shared.identifiers import ID_LENGTH
from shared.jobs.records import Allowance, Meter, RenderJob
from shared.jobs.repository import JobStatus
from shared.limits import MAX_WORKSPACE_BYTES, MAX_WORKSPACE_IMAGES
from shared.telemetry.readings import AccountUsage, Backlog
from shared.templates.repository import PUBLIC_ACCOUNT
from shared.usage.metering import Totals, Usage, UsageDay, UsageEvent, UsageTemplate
from shared.usage.periods import find_period


def record_events(session: Session, events: Iterable[UsageEvent], *, at: datetime) -> int:
    """Insert events into the ledger, each job once, and add new ones to the totals; return how many are new.

    Ledger and totals change in the caller's unit of work, so repeating a committed batch changes nothing.
    """
    # In a fixed order, here and below, to avoid deadlocks between counters on PostgreSQL.
    in_order = sorted(events, key=lambda event: event.job_id)
    fresh = _write_new(session, in_order, at)
    spent = [(event, Usage(event.pages, 1, event.cpu_us)) for event in fresh]
    known = {event.job_id for event in fresh}
    late = [event for event in in_order if event.job_id not in known and event.cpu_us]
    spent += [(event, Usage(cpu_us=event.cpu_us)) for event in late if _write_time(session, event)]
    _increment_totals(session, usage_totals, spent, lambda event: (event.period,))
    _increment_totals(session, usage_days, spent, lambda event: (_day_of(event),))
    _increment_totals(
        session, usage_templates, spent, lambda event: (event.period, event.template_id or "")
    )
    return len(fresh)


def find_totals(session: Session, account_id: str, period: str) -> Totals:
    """Return the usage of an account in a billing period, zeros if there is none.

    Events that are still in the stream are not included.
    """
    rows = session.execute(
        select(usage_totals.c.allowance, *_counted(usage_totals)).where(
            usage_totals.c.account_id == account_id, usage_totals.c.period == period
        )
    )
    return _totals({Allowance(allowance): Usage(*counted) for allowance, *counted in rows})


def list_days(session: Session, account_id: str, *, first: date, end: date) -> Sequence[UsageDay]:
    """Return the usage of an account on each day from `first` to before `end`, in order.

    Days without a render are omitted. Events that are still in the stream are not included.
    """
    columns = usage_days.c
    rows = session.execute(
        select(columns.day, columns.allowance, *_counted(usage_days))
        .where(
            columns.account_id == account_id,
            columns.day >= first.isoformat(),
            columns.day < end.isoformat(),
        )
        .order_by(columns.day)
    )
    days: dict[str, dict[Allowance, Usage]] = {}
    for day, allowance, *counted in rows:
        days.setdefault(day, {})[Allowance(allowance)] = Usage(*counted)
    return [UsageDay.of(_totals(used), date=day) for day, used in days.items()]


def list_templates(
    session: Session, account_id: str, period: str, *, limit: int, by: str = "pages"
) -> tuple[Sequence[UsageTemplate], bool]:
    """Return the templates with most pages, or `cpu_us`, in a billing period, and whether there are more than `limit`.

    Production and drafts are added for the order. Events that are still in the stream are not
    included, nor are renders from before templates were recorded.
    """
    columns = usage_templates.c
    is_own = and_(columns.account_id == account_id, columns.period == period)
    most = func.sum(columns[by]).label("most")
    ranked = (
        select(columns.template_id, most)
        .where(is_own)
        .group_by(columns.template_id)
        .order_by(most.desc(), columns.template_id)
        .limit(limit + 1)
        .subquery()
    )
    is_named = and_(
        templates.c.id == columns.template_id,
        or_(templates.c.account_id == account_id, templates.c.account_id == PUBLIC_ACCOUNT),
    )
    rows = session.execute(
        select(columns.template_id, templates.c.name, columns.allowance, *_counted(usage_templates))
        .join(ranked, ranked.c.template_id == columns.template_id)
        .outerjoin(templates, is_named)
        .where(is_own)
        .order_by(ranked.c.most.desc(), columns.template_id)
    )
    found: dict[tuple[str, str | None], dict[Allowance, Usage]] = {}
    for template_id, name, allowance, *counted in rows:
        found.setdefault((template_id, name), {})[Allowance(allowance)] = Usage(*counted)
    listed = [
        UsageTemplate.of(_totals(used), template=key or None, name=name)
        for (key, name), used in found.items()
    ]
    return listed[:limit], len(listed) > limit


def _counted(table: Table) -> Sequence[Column[int]]:
    return [table.c[each.name] for each in fields(Usage)]


def _totals(used: Mapping[Allowance, Usage]) -> Totals:
    return Totals(used.get(Allowance.PRODUCTION, Usage()), used.get(Allowance.DRAFT, Usage()))


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
            "cpu_us": event.cpu_us,
        }
        for event in by_job.values()
    ]
    written = insert_ignoring_conflicts(session, usage_ledger).returning(usage_ledger.c.job_id)
    return [by_job[job_id] for job_id in session.scalars(written, rows)]


def _write_time(session: Session, event: UsageEvent) -> bool:
    """Add the time of an event to a row without one, which was written from the record of a job or document that was
    deleted before its event was read; return whether there was such a row.
    """
    row = usage_ledger.c
    changed = session.execute(
        update(usage_ledger)
        .where(row.job_id == event.job_id, row.cpu_us == 0)
        .values(cpu_us=event.cpu_us)
    )
    return bool(changed.rowcount)


def _increment_totals(
    session: Session,
    table: Table,
    spent: Sequence[tuple[UsageEvent, Usage]],
    values: Callable[[UsageEvent], tuple[str, ...]],
) -> None:
    """Add what was spent to the sums of a table, keyed by account, the values of an event, and allowance."""
    sums: defaultdict[tuple[str, ...], Usage] = defaultdict(Usage)
    for event, used in spent:
        key = (event.account_id, *values(event), event.allowance)
        before = sums[key]
        sums[key] = Usage(
            before.pages + used.pages, before.calls + used.calls, before.cpu_us + used.cpu_us
        )
    for key in sorted(sums):
        _increment_total(session, table, key, sums[key])


def _increment_total(session: Session, table: Table, key: tuple[str, ...], used: Usage) -> None:
    names = dict(zip((column.name for column in table.primary_key), key, strict=True))
    # Inserting first makes the increment safe against concurrent inserts.
    session.execute(insert_or_ignore(session, table, {**names, **asdict(Usage())}))
    more = {name: table.c[name] + amount for name, amount in asdict(used).items()}
    session.execute(update(table).filter_by(**names).values(more))


class LedgerRow(NamedTuple):
    """One metered job. `period` is the first day of its account's billing period."""

    job_id: str
    account_id: str
    period: str
    allowance: str
    pages: int
    occurred_at: datetime
    recorded_at: datetime
    cpu_us: int


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


_NEARLY_FULL: Final = 0.9
_RENEWAL_DAYS: Final = range(1, 32)


def list_heaviest_accounts(
    session: Session, *, today: date, limit: int
) -> tuple[AccountUsage, ...]:
    """Return the usage of the accounts with the most pages, and of those with the most processor time, in
    their current billing periods; `limit` is of each.
    """
    ranked = (
        _list_heaviest(session, today, limit, by)
        for by in (usage_totals.c.pages, usage_totals.c.cpu_us)
    )
    return tuple(dict.fromkeys(chain.from_iterable(ranked)))


def _list_heaviest(
    session: Session, today: date, limit: int, by: Column[int]
) -> Iterator[AccountUsage]:
    current = [(day, find_period(today, renewal_day=day).key) for day in _RENEWAL_DAYS]
    used = usage_totals.c
    rows = session.execute(
        select(
            used.account_id,
            used.allowance,
            used.pages,
            used.calls,
            used.cpu_us,
            accounts.c.plan,
            accounts.c.max_pages,
            accounts.c.max_draft_pages,
        )
        .join(accounts, accounts.c.id == used.account_id)
        .where(tuple_(accounts.c.renewal_day, used.period).in_(current), by > 0)
        .order_by(by.desc(), used.account_id)
        .limit(limit)
    )
    for account_id, allowance, pages, calls, cpu_us, plan, max_pages, max_draft in rows:
        cap = _cap(plan, max_draft if allowance == Allowance.DRAFT else max_pages)
        yield AccountUsage(account_id, allowance, pages, calls, cpu_us, cap)


def measure_backlog(session: Session) -> dict[str, Backlog]:
    """Return the unfinished batches and the remaining documents and accepted renders, by the slot of
    their account (`shared.shards`).
    """
    chunks = batch_chunks.c
    left = (
        select(func.sum(chunks["count"] - chunks.done))
        .where(chunks.batch_id == batches.c.id, IS_OPEN)
        .correlate(batches)
        .scalar_subquery()
    )
    slot = slot_expression(batches.c.account_id)
    per_slot = (
        select(slot, func.count(), func.sum(left), func.min(batches.c.created_at))
        .where(IS_UNFINISHED)
        .group_by(slot)
    )
    found = {
        name: Backlog(int(count), int(documents or 0), oldest_at)
        for name, count, documents, oldest_at in session.execute(per_slot)
    }
    for name, count, oldest_at in session.execute(_ACCEPTED_PER_SLOT):
        found[name] = found.get(name, Backlog()) + Backlog(0, int(count), oldest_at)
    return found


def _count_per_slot(condition: ColumnElement[bool]) -> Select[str, int, Any]:
    slot = slot_expression(jobs.c.account_id).label("slot")
    counted = select(slot, func.count().label("count"), func.min(jobs.c.queued_at).label("oldest"))
    return counted.where(condition).group_by(slot)


# Each part is an index-only scan.
_ACCEPTED: Final = union_all(_count_per_slot(IS_WAITING), _count_per_slot(IS_CLAIMED)).subquery()
_ACCEPTED_PER_SLOT: Final = select(
    _ACCEPTED.c.slot, func.sum(_ACCEPTED.c.count), func.min(_ACCEPTED.c.oldest)
).group_by(_ACCEPTED.c.slot)


def sum_image_bytes(session: Session) -> int:
    """Return the total bytes of all image records."""
    return int(session.execute(select(func.coalesce(func.sum(images.c.bytes), 0))).scalar_one())


def count_nearly_full(session: Session) -> int:
    """Count the workspaces that use at least 90 % of their bytes or names."""
    full = (
        select(literal(1))
        .select_from(images)
        .group_by(images.c.workspace_id)
        .having(
            (func.sum(images.c.bytes) >= _NEARLY_FULL * MAX_WORKSPACE_BYTES)
            | (func.count() >= _NEARLY_FULL * MAX_WORKSPACE_IMAGES)
        )
    )
    return int(session.execute(select(func.count()).select_from(full.subquery())).scalar_one())


def _cap(plan: str, allowed: int | None) -> int | None:
    return allowed if plan == "free" else None


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
