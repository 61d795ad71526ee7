"""Usage of recorded jobs that Redis lost reaches the ledger from their records, each page once."""

import time
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from sqlalchemy import func, insert, select

from shared.blobs.factory import open_store
from shared.clock import follow_clock, now, ticks
from shared.db.tables import batches, jobs, usage_ledger, usage_totals
from shared.jobs.lifecycle import JobLifecycle
from shared.jobs.records import Allowance
from shared.jobs.repository import find_job
from shared.queue.states import CompletionNotices, JobStates
from shared.usage.metering import Usage, UsageEvent
from shared.usage.repository import (
    find_totals,
    list_unmetered_items,
    list_unmetered_jobs,
    record_events,
)
from tests.batches import accept, numbers
from tests.farm.conftest import PERIOD
from workers.maintenance import reconciliation
from workers.maintenance.ledger import prune_usage_ledger
from workers.maintenance.reconciliation import ReconcileUsage
from workers.maintenance.recorded_work import expire_batches, expire_jobs

ENDED_AT = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def add_jobs(database, front):
    def add_jobs(count, *, finished_at, status="succeeded", pages=2):
        made = [front.job() for _ in range(count)]
        with database.session() as session:
            session.execute(
                insert(jobs),
                [
                    {
                        "id": job.id, "account_id": "acc_1", "user_id": "usr_1", "status": status,
                        "lane": "batch", "message": job.encode(), "is_draft": False, "pages": pages,
                        "created_at": finished_at, "queued_at": finished_at,
                        "finished_at": finished_at, "sweep_at": finished_at,
                    }
                    for job in made
                ],
            )  # fmt: skip
        return [job.id for job in made]

    return add_jobs


@pytest.fixture
def task(database, front):
    since = ENDED_AT - timedelta(days=1)
    return ReconcileUsage(list_unmetered_jobs, database, front.admissions, _looked_until=since)


def count_rows(database):
    with database.snapshot() as session:
        return session.scalar(select(func.count()).select_from(usage_ledger))


def test_a_round_is_bounded_and_the_next_continues(database, task, add_jobs, monkeypatch):
    monkeypatch.setattr(reconciliation, "ROWS_PER_TRANSACTION", 4)
    add_jobs(6, finished_at=ENDED_AT)
    add_jobs(3, finished_at=ENDED_AT + timedelta(seconds=1))
    monkeypatch.setattr(reconciliation, "ROUND_SECONDS", 0.0)
    assert [task.run_once() for _ in range(4)] == [4, 4, 1, 0]
    assert count_rows(database) == 9
    add_jobs(1, finished_at=ENDED_AT + timedelta(seconds=2))
    assert task.run_once() == 0  # it has looked until a minute ago


def test_all_is_recorded_in_one_round_where_there_is_time(database, task, add_jobs, monkeypatch):
    monkeypatch.setattr(reconciliation, "ROWS_PER_TRANSACTION", 4)
    add_jobs(11, finished_at=ENDED_AT)
    assert [task.run_once(), task.run_once()] == [11, 0]
    with database.snapshot() as session:
        assert find_totals(session, "acc_1", PERIOD).production == Usage(22, 11)


def test_a_job_that_is_removed_is_in_the_ledger_first(database, flow, add_jobs):
    [done] = add_jobs(1, finished_at=now(), pages=3)
    [failed] = add_jobs(1, finished_at=now(), status="failed", pages=None)
    for job_id in (done, failed):
        with database.snapshot() as session:
            record = find_job(session, job_id)
        assert flow.remove(record)
        assert not flow.remove(record)
    with database.snapshot() as session:
        rows = session.execute(select(usage_ledger.c.job_id, usage_ledger.c.pages)).all()
    assert rows == [(done, 3)]


@pytest.fixture
def pass_days():
    """Return a function that moves the clock of the product on by a number of days."""
    yield lambda days: follow_clock(time.time() + days * 86_400, at=ticks())
    follow_clock(time.time(), at=ticks())


@pytest.fixture
def flow(database, front, blob_url):
    states, completions = JobStates(front.redis), CompletionNotices(front.redis)
    return JobLifecycle(database, states, completions, open_store(blob_url))


@pytest.mark.parametrize("tasks_before_pruning", [0, 1, 2, 4])
def test_a_farm_aged_by_seventy_days_counts_each_page_once(
    caller,
    numbered,
    slices,
    database,
    front,
    flow,
    add_jobs,
    pass_days,
    set_limits,
    tasks_before_pruning,
):
    accept(caller, numbered, numbers(12))
    slices.work_off()
    add_jobs(5, finished_at=now())
    with database.session() as session:
        record_events(session, [UsageEvent.decode(e) for e in usage_events(front)], at=now())
        unmetered = list_unmetered_jobs(session, after=ENDED_AT, until=now(), limit=9)
        record_events(session, unmetered, at=now())
    before = read_totals(database)
    assert sum(pages for *_, pages in before) == 12 + 5 * 2
    # The maintenance was off meanwhile, or the database is restored from an old backup.
    pass_days(70)
    set_limits(record_days=2)
    prune = partial(prune_usage_ledger, database, 1)
    others = [
        *(
            ReconcileUsage(find, database, front.admissions, _looked_until=ENDED_AT).run_once
            for find in (list_unmetered_jobs, list_unmetered_items)
        ),
        partial(expire_batches, slices.batch_context.flow),
        partial(expire_jobs, flow),
    ]
    for task in [*others[:tasks_before_pruning], prune, *others[tasks_before_pruning:], *others]:
        task()
    assert count_records(database) == 0
    assert read_totals(database) == before
    prune()
    assert (count_rows(database), read_totals(database)) == (0, before)


def test_a_row_recorded_late_stays_while_its_event_may_come_again(database, set_limits):
    set_limits(record_days=2)
    at = now()
    event = UsageEvent("job_1", "acc_1", PERIOD, Allowance.PRODUCTION, 2, at - timedelta(days=90))
    prune = partial(prune_usage_ledger, database, 1)
    with database.session() as session:
        record_events(session, [event], at=at)
    assert prune() == 0
    with database.session() as session:
        assert record_events(session, [event], at=at) == 0


def usage_events(front):
    return [fields[b"event"] for _, fields in front.redis.xrange("usage")]


def read_totals(database):
    columns = usage_totals.c
    with database.snapshot() as session:
        return sorted(
            map(tuple, session.execute(select(columns.account_id, columns.period, columns.pages)))
        )


def count_records(database):
    with database.snapshot() as session:
        return sum(
            session.scalar(select(func.count()).select_from(table)) for table in (jobs, batches)
        )
