"""Usage of recorded jobs that Redis lost reaches the ledger from their records."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, insert, select

from shared.blobs.factory import open_store
from shared.clock import now
from shared.db.jobs import find_job
from shared.db.tables import jobs, usage_ledger
from shared.db.unmetered import list_unmetered_jobs
from shared.db.usage import find_totals
from shared.job_lifecycle import JobLifecycle
from shared.metering import Usage
from shared.queue.completions import CompletionNotices
from shared.queue.states import JobStates
from shared.redis_state.admission import AdmissionCache
from tests.farm.conftest import PERIOD
from workers.maintenance import reconciliation
from workers.maintenance.reconciliation import ReconcileUsage

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
                        "finished_at": finished_at,
                    }
                    for job in made
                ],
            )  # fmt: skip
        return [job.id for job in made]

    return add_jobs


@pytest.fixture
def task(database, front):
    since = ENDED_AT - timedelta(days=1)
    admissions = AdmissionCache(front.redis)
    return ReconcileUsage("jobs", list_unmetered_jobs, database, admissions, _looked_until=since)


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


def test_a_job_that_is_removed_is_in_the_ledger_first(database, front, blob_url, add_jobs):
    flow = JobLifecycle(
        database, JobStates(front.redis), CompletionNotices(front.redis), open_store(blob_url)
    )
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
