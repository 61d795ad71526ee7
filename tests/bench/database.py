"""Measure what callers and workers ask of a large database: `python -m tests.bench.database [--rows 50000000]`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, date, datetime, timedelta

from msgspec import structs
from sqlalchemy import text

from shared.batches.records import BatchStatus, Chunk, ItemStatus
from shared.batches.repository import add_batch, count_items, find_item, list_batches, list_items
from shared.batches.slice_scheduling import needs_slices
from shared.db.session import Database, Session
from shared.identifiers import new_id
from shared.jobs.records import Allowance, Meter
from shared.jobs.repository import JobStatus, find_job, list_jobs
from shared.usage.metering import UsageEvent
from shared.usage.repository import (
    find_totals,
    list_days,
    list_heaviest_accounts,
    list_templates,
    list_unmetered_items,
    measure_backlog,
    prune_ledger,
    record_events,
)
from tests.bench.demands import HEAD, at_most, fact, not_measured, show
from tests.bench.feeding import fill, make_batch, postgresql, time_of
from tests.postgresql import NoPostgresqlError

NOTE = """\
PostgreSQL with {rows:,} documents of batches and accepted renders, each with its row of the ledger, and 1,000
unfinished batches; the rows are made by SQL. Milliseconds in the process that asks, median of 40; bytes are those of tables and indexes."""
DOCUMENTS = 100_000  # of a batch
_PART = 500
_PERIOD = "2026-11-01"
_NOW = datetime(2026, 11, 28, tzinfo=UTC)
_FILL = (
    # A batch a minute, its documents evenly in it.
    """INSERT INTO batch_items (batch_id, index, status, pages, part_first_index, "offset", length, crc32)
       SELECT b.id, n, CASE WHEN n % 1000 = 7 THEN 'failed' ELSE 'succeeded' END, 2, n / :part * :part, n, 9000, n
       FROM batches b, generate_series(0, :last) n WHERE b.id = :batch""",
    """INSERT INTO batch_parts (batch_id, first_index, count, blob_key, bytes, created_at)
       SELECT b.id, n, :part, 'blob', 1000, b.created_at + n * interval '500 microseconds'
       FROM batches b, generate_series(0, :last, :part) n WHERE b.id = :batch""",
    """INSERT INTO usage_ledger (job_id, account_id, period, allowance, pages, occurred_at, recorded_at, cpu_us)
       SELECT 'job_' || substr(b.id, 7) || '-' || n, b.account_id, :period, 'production', 2,
              b.created_at + n * interval '500 microseconds', b.created_at + interval '1 minute', 7000
       FROM batches b, generate_series(0, :last) n WHERE b.id = :batch""",
    # A hundredth as many accepted renders.
    """INSERT INTO jobs (id, account_id, user_id, status, lane, message, is_draft, pages, created_at, queued_at, finished_at)
       SELECT 'job_' || substr(b.id, 7) || '_' || lpad(n::text, 6, '0'), b.account_id, 'usr_bench', 'succeeded', 'batch',
              repeat('x', 700), false, 2, b.created_at, b.created_at, b.created_at
       FROM batches b, generate_series(0, :last, 100) n WHERE b.id = :batch""",
    """INSERT INTO usage_ledger (job_id, account_id, period, allowance, pages, occurred_at, recorded_at, cpu_us)
       SELECT j.id, j.account_id, :period, 'production', 2, j.created_at, j.created_at, 7000
       FROM jobs j WHERE j.id LIKE 'job_' || substr(:batch, 7) || '%'""",
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    show(measure(parser.parse_args().rows))


def measure(rows: int) -> Iterator[str]:
    """Yield the table, line by line."""
    yield from (NOTE.format(rows=rows), "", HEAD)
    try:
        with postgresql() as database:
            yield from _measure(database, rows)
    except NoPostgresqlError:
        yield not_measured("a large database", "≤ 20 ms", "apt-get install postgresql")


def fill_ended(database: Database, rows: int) -> str:
    """Make batches that have ended, of 20 accounts; return the account of the last one."""
    accounts = [new_id("acc") for _ in range(20)]
    count = max(rows // DOCUMENTS, 1)
    documents = min(rows, DOCUMENTS)
    for number in range(count):
        begun = _NOW - timedelta(minutes=count - number)
        made = make_batch(accounts[number % len(accounts)], begun)
        batch = structs.replace(
            made, status=BatchStatus.FINISHED, total=documents, finished_at=_NOW
        )
        chunk = Chunk(batch.id, 0, 0, documents, 0, documents)
        with database.session() as session:
            add_batch(session, batch, [chunk])
            values = {"batch": batch.id, "last": documents - 1, "part": _PART, "period": _PERIOD}
            for statement in _FILL:
                names = [name for name in values if f":{name}" in statement]
                session.execute(text(statement), {name: values[name] for name in names})
    with database.session() as session:
        session.execute(text("SET LOCAL statement_timeout = 0"))
        for statement in (
            """UPDATE batch_chunks SET status = 'done', done = count, succeeded = count
               WHERE batch_id IN (SELECT id FROM batches WHERE status = 'finished')""",
            """INSERT INTO usage_totals SELECT account_id, period, allowance, sum(pages), count(*), sum(cpu_us)
               FROM usage_ledger GROUP BY 1, 2, 3""",
        ):
            session.execute(text(statement.replace("usage_totals", f"usage_totals ({_SUMS})")))
    return batch.account_id


Question = tuple[Callable[[], AbstractContextManager[Session]], Callable[[Session], object]]
_SUMS = "account_id, period, allowance, pages, calls, cpu_us"


def _measure(database: Database, rows: int) -> Iterator[str]:
    account_id = fill_ended(database, rows)
    fill(database, batches=1_000, accounts=50)
    with database.session() as session:
        session.execute(text("SET LOCAL statement_timeout = 0"))
        session.execute(text("ANALYZE"))
    ended = (BatchStatus.FINISHED,)
    with database.snapshot() as session:
        [(batch, _), *_] = list_batches(
            session, account_id, statuses=ended, limit=1, start_after=None
        )
        job_id = session.execute(text("SELECT max(id) FROM jobs")).scalar_one()
        size = session.execute(text("SELECT pg_database_size(current_database())")).scalar_one()
    meter = Meter(account_id, _PERIOD, Allowance.PRODUCTION, None)
    middle = batch.total // 2
    days = date(2026, 11, 1), date(2026, 12, 1)

    def record(session: Session) -> None:
        events = [UsageEvent.of(meter, new_id("job"), pages=2, at=_NOW) for _ in range(160)]
        record_events(session, events, at=_NOW)

    def page_of(status: ItemStatus | None) -> Callable[[Session], object]:
        return lambda session: list_items(session, batch, after=middle, limit=100, status=status)

    asked: dict[str, Question] = {
        "jobs of an account: 100": (
            database.snapshot,
            lambda s: list_jobs(
                s, account_id, statuses=(JobStatus.SUCCEEDED,), limit=100, start_after=None
            ),
        ),
        "a job by its id": (database.snapshot, lambda s: find_job(s, job_id)),
        "batches of an account: 20, with their counts": (
            database.snapshot,
            lambda s: list_batches(s, account_id, statuses=ended, limit=20, start_after=None),
        ),
        "a batch's counts": (database.snapshot, lambda s: count_items(s, batch)),
        "documents of a batch: 100 from its middle": (database.snapshot, page_of(None)),
        "its failed documents: 100 from its middle": (
            database.snapshot,
            page_of(ItemStatus.FAILED),
        ),
        "a document of a batch": (database.snapshot, lambda s: find_item(s, batch, middle)),
        "usage of a period": (database.snapshot, lambda s: find_totals(s, account_id, _PERIOD)),
        "usage by day": (
            database.snapshot,
            lambda s: list_days(s, account_id, first=days[0], end=days[1]),
        ),
        "usage by template": (
            database.snapshot,
            lambda s: list_templates(s, account_id, _PERIOD, limit=20),
        ),
        "the heaviest accounts": (
            database.snapshot,
            lambda s: list_heaviest_accounts(s, today=_NOW.date(), limit=20),
        ),
        "the next slice": (
            database.snapshot,
            lambda s: needs_slices(s, window=10**9, at=datetime.now(UTC)),
        ),
    }
    beside: dict[str, Question] = {
        "how many documents are left": (database.snapshot, measure_backlog),
        "recording 160 documents": (database.session, record),
        "what of 10,000 documents is not in the ledger": (
            database.snapshot,
            lambda s: list_unmetered_items(
                s, after=_NOW - timedelta(seconds=15), until=_NOW, limit=1000
            ),
        ),
        "pruning the ledger where nothing is due": (
            database.session,
            lambda s: prune_ledger(s, before=_NOW - timedelta(days=400), limit=1000),
        ),
    }
    for what, (opened, act) in asked.items():
        yield at_most(what, time_of(opened, act), 20, "ms")
    for what, (opened, act) in beside.items():
        yield fact(what, f"{time_of(opened, act):.1f} ms")
    yield fact("bytes of database a document", f"{size / rows:,.0f}")


if __name__ == "__main__":
    main()
