"""Accepting jobs from many threads, gathered or one by one: each is on record and queued once."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace
from sqlalchemy import text

from api.jobs.accepting import make_record
from shared.batches.lifecycle import WINDOW, BatchLifecycle
from shared.clock import epoch
from shared.db.session import open_database
from shared.errors import Unavailable
from shared.identifiers import new_id
from shared.jobs.intake import JobIntake
from shared.jobs.records import Allowance, BodyKind, Claim, ClaimStorage, Lane, Meter, RenderJob
from shared.jobs.repository import add_jobs, count_unfinished_jobs, find_job
from shared.queue.broker import Broker, Publisher
from shared.queue.names import BATCH, INTERACTIVE
from shared.queue.slice_commits import SliceQueue
from shared.queue.states import CompletionNotices


def make_intake(database, redis, redis_url):
    publisher = Publisher(redis_url)
    queue = SliceQueue(redis, publisher, render_budget=60)
    batches = BatchLifecycle(database, None, queue, CompletionNotices(redis))
    return JobIntake(database, Broker(redis, publisher), batches)


@pytest.fixture
def make(account):
    def make():
        job = RenderJob(
            id=new_id("job"),
            request_id="req_1",
            workspace_id=account.workspace_id,
            meter=Meter(account.account_id, "2026-11-01", Allowance.PRODUCTION, None),
            body_kind=BodyKind.XML,
            body=Claim(ClaimStorage.INLINE, 4, data=b"<p/>"),
            charset=None,
            template=None,
            flow=None,
            admitted_at=epoch(),
            deadline=epoch() + 60,
            lane=Lane.BATCH,
            is_recorded=True,
        )
        return job, make_record(job, user_id=account.user.id, template=None)

    return make


def test_jobs_of_many_threads_are_each_written_once(database, redis, make, redis_url):
    intake = make_intake(database, redis, redis_url)
    with ThreadPoolExecutor(12) as pool:
        assert [pool.submit(intake.accept, *make()).result() for _ in range(20)] == [None] * 20
        accepted = [pool.submit(intake.accept, *make()) for _ in range(220)]
        assert [each.result() for each in accepted] == [None] * 220
    with database.snapshot() as session:
        assert count_unfinished_jobs(session) == 240
    assert redis.llen(BATCH) == WINDOW  # slices: the worker that takes one claims the waiting jobs
    assert redis.llen(INTERACTIVE) == 0


def test_a_waited_job_has_its_own_message(database, redis, make, redis_url):
    intake = make_intake(database, redis, redis_url)
    for _ in range(3):
        job = replace(make()[0], lane=Lane.INTERACTIVE)
        intake.accept(job, make_record(job, user_id="usr_1", template=None))
    intake.accept(*make())
    assert (redis.llen(INTERACTIVE), redis.llen(BATCH)) == (3, 1)


def test_the_stored_record_equals_the_accepted_job(database, redis, make, redis_url):
    job, record = make()
    odd = replace(
        record, template="a\tb\n\\N\\.'\u2028é", sweep_at=None, is_draft=True, workspace_id=None
    )
    plain = replace(
        record, id=new_id("job"), created_at=datetime(2026, 2, 28, 23, 59, 59, 7, tzinfo=UTC)
    )
    intake = make_intake(database, redis, redis_url)
    for each in (odd, plain):
        intake.accept(job, each)
    with database.snapshot() as session:
        assert find_job(session, odd.id) == odd
        assert find_job(session, plain.id) == plain


def add_on_a_connection_that_breaks(database, record):
    with database.session() as session:
        (pid,) = session.execute(text("SELECT pg_backend_pid()")).one()
        with database.session() as other:
            other.execute(text(f"SELECT pg_terminate_backend({pid})"))
        add_jobs(session, [record])


@pytest.mark.services
def test_a_connection_that_broke_is_an_outage_and_the_next_is_another(
    make_postgresql, migrated_postgresql, redis, make, account, redis_url
):
    database = open_database(make_postgresql(template=migrated_postgresql))
    intake = make_intake(database, redis, redis_url)
    intake.accept(*make())
    with pytest.raises(Unavailable):
        add_on_a_connection_that_breaks(database, make()[1])
    intake.accept(*make())
    with database.snapshot() as session:
        assert count_unfinished_jobs(session) == 2
    database.close()


def test_every_caller_is_told_of_an_unavailable_database(
    database, redis, make, monkeypatch, redis_url
):
    def away():
        raise Unavailable("database")

    intake = make_intake(database, redis, redis_url)
    monkeypatch.setattr(database, "session", away)
    with ThreadPoolExecutor(12) as pool:
        accepted = [pool.submit(intake.accept, *make()) for _ in range(120)]
    for each in accepted:
        with pytest.raises(Unavailable):
            each.result()
    assert redis.llen(BATCH) == 0


@pytest.mark.long
def test_callers_behind_a_locked_database_are_refused_with_the_first(
    database, redis, make, redis_url
):
    """A wait of its own for each would be more than the 5 s within which a 503 is due."""
    intake = make_intake(database, redis, redis_url)

    def seconds_to_refuse(entry, delay):
        time.sleep(delay)
        began = time.monotonic()
        with pytest.raises(Unavailable, match="database"):
            intake.accept(*entry)
        return time.monotonic() - began

    with database.session() as other, ThreadPoolExecutor(4) as pool:
        if other.dialect.name == "postgresql":
            other.execute(text("LOCK TABLE jobs"))
        waits = [pool.submit(seconds_to_refuse, make(), delay) for delay in (0, 0.5, 1.0, 3.0)]
        # One behind the other, the second would wait for 7.5 s.
        assert max(wait.result() for wait in waits) < 7
    assert intake.accept(*make()) is None
