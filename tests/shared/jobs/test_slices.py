"""Slices of accepted renders: fair between accounts, in the order of acceptance, each render in one."""

from __future__ import annotations

import threading
from array import array
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select, update

from shared.batches.plans import Priority
from shared.batches.records import BatchOutput, JobSlice, split_into_chunks
from shared.batches.repository import add_batch
from shared.batches.slice_scheduling import (
    claim_slices,
    ensure_in_rotation,
    list_in_flight,
    needs_slices,
)
from shared.db.tables import batch_turns, job_slices, jobs
from shared.jobs.records import Lane
from shared.jobs.repository import (
    JobRecord,
    JobStatus,
    add_jobs,
    claim_jobs,
    end_job_slice,
    postpone_jobs,
    requeue_job_slice,
    start_job_slice,
)
from tests.bench.feeding import make_batch
from tests.shared.batches.test_rotation import count_steps
from workers.maintenance.recorded_work import clear_rotation

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)


def record(account, number, *, lane=Lane.BATCH, status=JobStatus.QUEUED):
    at = NOON + timedelta(milliseconds=number)
    nothing = dict.fromkeys(
        ("workspace_id", "template", "pages", "filename", "timings", "error", "pdf_key", "pdf_size",
         "started_at", "finished_at", "expires_at", "sweep_at")
    )  # fmt: skip
    return JobRecord(
        id=f"job_{account}{number:06}", account_id=f"acc_{account}", user_id="usr", status=status,
        lane=lane, message=f"{account}{number}", is_draft=False, created_at=at, queued_at=at,
        **nothing,
    )  # fmt: skip


@pytest.fixture
def accept(database):
    def accept(account, count=1, *, since=0, **options):
        with database.session() as session:
            ensure_in_rotation(session, [f"acc_{account}"], at=NOON)
            add_jobs(session, [record(account, since + n, **options) for n in range(count)])

    return accept


@pytest.fixture
def accept_batch(database):
    def accept_batch(account, documents, priority=Priority.NORMAL):
        batch = make_batch(f"acc_{account}", NOON).replace(priority=priority)
        starts = array("q", range(0, documents * 10, 10))
        chunks = split_into_chunks(batch.id, starts, end=documents * 10, output=BatchOutput.ZIP)
        with database.session() as session:
            add_batch(session, batch, chunks)
        return batch.id

    return accept_batch


@pytest.fixture
def feed(database):
    def feed(window):
        with database.session() as session:
            return claim_slices(session, window=window, at=LATER)

    return feed


@pytest.fixture
def claim(database):
    def claim(asked, limit):
        with database.session() as session:
            start_job_slice(session, asked)
            return list(claim_jobs(session, asked, limit=limit, at=LATER))

    return claim


def owner(database, each):
    if not isinstance(each, JobSlice):
        return each.batch_id
    with database.snapshot() as session:
        return session.scalar(select(job_slices.c.account_id).where(job_slices.c.id == each.id))


def test_many_renders_of_one_account_and_a_small_batch_of_another_take_turns(
    accept, accept_batch, feed, database
):
    accept("many", 1000)
    small = accept_batch("small", 200)
    owners = [owner(database, each) for each in feed(6)]
    assert owners == ["acc_many", small] * 3


def test_the_renders_of_an_account_are_as_one_more_batch_of_it(
    accept, accept_batch, feed, database
):
    batch = accept_batch("a", 1000)
    accept("a", 1000)
    other = accept_batch("a", 1000)
    owners = [owner(database, each) for each in feed(6)]
    assert sorted(owners[:3]) == sorted(owners[3:]) == sorted(["acc_a", batch, other])


def test_the_renders_of_an_account_are_after_its_express_batch_and_before_its_night(
    accept, accept_batch, feed, database
):
    night = accept_batch("a", 1000, Priority.NIGHT)
    accept("a", 2)
    express = accept_batch("a", 20, Priority.EXPRESS)
    owners = [owner(database, each) for each in feed(6)]
    assert owners == [express] * 2 + ["acc_a"] * 2 + [night] * 2


def test_renders_are_claimed_once_each_in_the_order_of_acceptance(accept, feed, claim):
    accept("a", 10)
    first, second = feed(2)
    assert claim(first, 3) == ["a0", "a1", "a2"]
    assert claim(second, 4) == ["a3", "a4", "a5", "a6"]
    assert claim(first, 100) == ["a7", "a8", "a9"]


def test_a_slice_that_finds_nothing_is_done(accept, feed, claim, database):
    accept("a", 1)
    [asked] = feed(4)
    assert claim(asked, 5) == ["a0"]
    assert claim(asked, 5) == []
    with database.session() as session:
        assert start_job_slice(session, asked) is None
        assert list_in_flight(session, limit=9) == []
        # What it had claimed is free again, and not lost.
        assert needs_slices(session, window=4, at=LATER)


def test_unfinished_jobs_of_a_slice_are_claimed_first_by_the_next(accept, feed, claim, database):
    accept("a", 5)
    first, second = feed(2)
    assert claim(first, 3) == ["a0", "a1", "a2"]
    with database.session() as session:
        end_job_slice(session, first)
    assert claim(second, 4) == ["a0", "a1", "a2", "a3"]


def test_a_rerun_slice_finds_its_claimed_jobs(accept, feed, claim, database):
    accept("a", 5)
    [asked] = feed(1)
    claim(asked, 3)
    with database.session() as session:
        requeue_job_slice(session, asked)
    with database.session() as session:
        assert list(start_job_slice(session, asked)) == ["a0", "a1", "a2"]
        assert list_in_flight(session, limit=9) == [asked]


def test_postponed_jobs_run_later_and_after_others(accept, feed, claim, database):
    accept("a", 3)
    [asked] = feed(1)
    claim(asked, 1)
    with database.session() as session:
        postpone_jobs(session, ["job_a000000"], at=LATER)
    assert claim(asked, 5) == ["a1", "a2"]
    with database.session() as session:
        assert not needs_slices(session, window=9, at=LATER + timedelta(seconds=3))
        assert claim_jobs(session, asked, limit=5, at=LATER + timedelta(seconds=3)) == ()
        assert needs_slices(session, window=9, at=LATER + timedelta(seconds=6))


def test_renders_that_are_waited_for_or_have_ended_are_no_slices(accept, database):
    accept("a", 2, lane=Lane.INTERACTIVE)
    accept("b", 2, status=JobStatus.CANCELLED)
    with database.snapshot() as session:
        assert not needs_slices(session, window=4, at=LATER)


def test_the_renders_of_some_slots_alone_are_queued(accept, database):
    accept("xx", 2)
    accept("yy", 2)
    with database.session() as session:
        claimed = claim_slices(session, window=4, at=LATER, slots=frozenset({"yy"}))
        assert len(list_in_flight(session, limit=9, slots=frozenset({"yy"}))) == len(claimed) == 2
        assert list_in_flight(session, limit=9, slots=frozenset({"xx"})) == []
        assert needs_slices(session, window=4, at=LATER, slots=frozenset({"xx"}))


@pytest.mark.services
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_two_slices_that_claim_at_once_do_not_wait_for_each_other(accept, feed, database):
    accept("a", 6)
    first, second = feed(2)
    claimed = []

    def claim_others():
        with database.session() as session:
            claimed.extend(claim_jobs(session, second, limit=3, at=LATER))

    with database.session() as session:
        assert list(claim_jobs(session, first, limit=3, at=LATER)) == ["a0", "a1", "a2"]
        other = threading.Thread(target=claim_others)
        other.start()
        other.join(60)
        assert not other.is_alive()
    assert claimed == ["a3", "a4", "a5"]


@pytest.mark.services
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_accepting_does_not_block_on_other_accepts_or_feeds(accept, database):
    accept("a")
    done = []

    def accept_others():
        accept("a", 1, since=7)
        with database.session() as session:
            done.append(len(claim_slices(session, window=4, at=LATER)))

    with database.session() as session:
        ensure_in_rotation(session, ["acc_a"], at=NOON)
        other = threading.Thread(target=accept_others)
        other.start()
        other.join(60)
        assert done == [2]


@pytest.mark.long
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_the_next_slice_is_found_by_as_many_steps_among_many_renders(accept, database, feed):
    accept("a", 200)
    feed(2)
    few = count_steps(database)
    accept("b", 20_000)
    accept("a", 20_000, since=1000)
    assert count_steps(database) < 2 * few + 100


def test_maintenance_takes_accounts_out_of_line_whose_renders_have_ended(accept, database):
    for account in "abc":
        accept(account, 3)
    assert clear_rotation(database) == 0
    with database.session() as session:
        session.execute(update(jobs).values(status=JobStatus.CANCELLED))
    assert (clear_rotation(database), clear_rotation(database)) == (3, 0)
    with database.snapshot() as session:
        assert session.scalar(select(func.count()).select_from(batch_turns)) == 0


def test_an_account_with_a_claimed_render_stays_in_line(accept, feed, claim, database):
    accept("a")
    claim(*feed(1), 1)
    assert clear_rotation(database) == 0
