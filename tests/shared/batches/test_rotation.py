"""Whose turn it is among the accounts with batches: found at once, fair, and right after an upgrade."""

from __future__ import annotations

import threading
from array import array
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from shared.batches.chunk_results import start_slice
from shared.batches.plans import Priority
from shared.batches.records import BatchOutput, split_into_chunks
from shared.batches.repository import add_batch, cancel_batch
from shared.batches.slice_scheduling import (
    NIGHT,
    add_to_rotation,
    claim_slices,
    hasten_batches,
    list_in_flight,
    needs_slices,
    remove_idle_accounts,
)
from shared.db.tables import batch_turns
from tests.bench.feeding import make_batch
from workers.maintenance.recorded_work import clear_rotation

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)


@pytest.fixture
def accept(database):
    accepted = []

    def accept(account, *, documents=640, batches=1, priority=Priority.NORMAL, deadline=None):
        with database.session() as session:
            for _ in range(batches):
                at = NOON + timedelta(seconds=len(accepted))
                batch = make_batch(f"acc_{account}", at).replace(
                    priority=priority, deadline=deadline
                )
                starts = array("q", range(0, documents * 10, 10))
                chunks = split_into_chunks(
                    batch.id, starts, end=documents * 10, output=BatchOutput.ZIP
                )
                add_batch(session, batch, chunks)
                accepted.append(batch.id)
        return accepted[-batches:]

    return accept


@pytest.fixture
def feed(database):
    """Queue some slices and have workers take them; return the batches they are of."""
    fed = [0]

    def feed(count, *, after=timedelta()):
        fed[0] += 1
        at = NOON + timedelta(hours=fed[0]) + after
        with database.session() as session:
            slices = claim_slices(session, window=count, at=at)
            for each in slices:
                start_slice(session, each, at=at)
        return [each.batch_id for each in slices]

    return feed


def test_accounts_take_turns_and_so_do_the_batches_of_each(accept, feed):
    a1, a2 = accept("a", batches=2)
    [b1] = accept("b")
    assert feed(6) == [a1, b1, a2, b1, a1, b1]


def test_a_batch_whose_chunks_are_all_at_work_is_passed_over(accept, feed):
    [small] = accept("a", documents=10)
    [large] = accept("b")
    assert feed(4) == [small, large, large, large]


def test_an_express_batch_is_before_those_of_its_account_and_others_have_their_turns(accept, feed):
    accept("a", batches=2)
    [b1] = accept("b")
    a3, a4 = accept("a", batches=2, priority=Priority.EXPRESS, documents=20)
    # Of two chunks each: then the turns go on with what waited.
    assert feed(8) == [a3, b1, a4, b1, a3, b1, a4, b1]
    assert {a3, a4, b1}.isdisjoint(feed(3)[::2])


def test_a_batch_is_express_from_an_hour_before_its_deadline_on(accept, feed, database):
    deadline = NOON + timedelta(hours=2)
    [first], [urgent] = accept("a"), accept("a", documents=20, deadline=deadline)
    for minutes, count in ((59, 0), (60, 1), (61, 0)):
        with database.session() as session:
            assert hasten_batches(session, at=NOON + timedelta(minutes=minutes)) == count
    assert feed(2) == [urgent] * 2
    assert feed(1) == [first]


def test_a_night_batch_waits_while_any_account_has_other_work(accept, feed):
    [n1] = accept("a", priority=Priority.NIGHT)
    [n2] = accept("b", priority=Priority.NIGHT)
    [a2] = accept("a", documents=20)
    [b2] = accept("c", documents=20, priority=Priority.EXPRESS)
    assert sorted(feed(4)) == sorted([a2, b2] * 2)
    assert sorted(feed(4)) == sorted([n1, n2] * 2)
    [c1] = accept("d")
    assert feed(3) == [c1] * 3


def test_a_night_batch_is_a_normal_one_after_twelve_hours(accept, feed):
    [night] = accept("a", priority=Priority.NIGHT)
    [mine], [other] = accept("a"), accept("b")
    assert feed(4) == [mine, other] * 2
    assert feed(4, after=NIGHT - timedelta(minutes=59)) == [night, other, mine, other]


@pytest.mark.services
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_the_night_waits_while_another_process_queues_the_work_of_the_day(accept, database):
    accept("a", priority=Priority.NIGHT)
    [other] = accept("b")
    with database.session() as session:
        assert [each.batch_id for each in claim_slices(session, window=1, at=NOON)] == [other]
        with database.session() as beside:
            assert claim_slices(beside, window=5, at=NOON) == []


@pytest.mark.services
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_two_that_claim_at_once_do_not_wait_for_each_other(accept, database):
    [mine], [other] = accept("a"), accept("b")
    claimed = []

    def claim():
        with database.session() as session:
            slices = claim_slices(session, window=5, at=NOON)
        claimed.extend(each.batch_id for each in slices)

    with database.session() as session:
        assert [each.batch_id for each in claim_slices(session, window=1, at=NOON)] == [mine]
        claimer = threading.Thread(target=claim)
        claimer.start()
        claimer.join(60)
        assert not claimer.is_alive()
    assert set(claimed) == {other}


def test_the_slices_of_some_slots_alone_are_queued(accept, database):
    [_, mine] = accept("xx"), accept("yy")
    with database.session() as session:
        claimed = claim_slices(session, window=2, at=NOON, slots=frozenset({"yy"}))
        assert [each.batch_id for each in claimed] == mine * 2
        assert not needs_slices(session, window=2, at=NOON, slots=frozenset({"yy"}))
        assert not needs_slices(session, window=2, at=NOON, slots=frozenset({"zz"}))
        assert needs_slices(session, window=2, at=NOON, slots=frozenset({"xx"}))


def test_queued_and_running_jobs_are_in_flight(accept, database):
    accept("a")
    with database.session() as session:
        first, second = claim_slices(session, window=2, at=NOON)
        start_slice(session, first, at=NOON)
        in_flight = set(list_in_flight(session, limit=9))
        assert in_flight == {first, second}


@pytest.mark.long
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_the_next_slice_is_found_by_as_many_steps_among_many_batches(accept, feed, database):
    accept("a", batches=5)
    accept("b", batches=5)
    feed(5)
    few = count_steps(database)
    for account in range(30):
        accept(f"more{account}", batches=10)
    feed(100)
    assert count_steps(database) < 2 * few + 100


def count_steps(database):
    """Count the tens of steps of SQLite's machine in which it finds the next slice."""
    steps = 0

    def step():
        nonlocal steps
        steps += 1
        return 0

    with database.snapshot() as session:
        driver = session.connection.driver_connection
        driver.set_progress_handler(step, 10)
        try:
            assert needs_slices(session, window=10_000, at=NOON)
        finally:
            driver.set_progress_handler(None, 0)
    return steps


def test_maintenance_takes_accounts_out_of_line_whose_batches_have_ended(accept, database):
    [batch] = accept("a")
    accept("b")
    with database.session() as session:
        cancel_batch(session, batch, at=NOON)
    assert (clear_rotation(database), clear_rotation(database)) == (1, 0)
    assert accounts_in_line(database) == ["acc_b"]


def test_an_account_that_is_accepting_a_batch_stays_in_line(accept, database):
    [batch] = accept("a")
    with database.session() as session:
        cancel_batch(session, batch, at=NOON)
    removed = []

    def remove():
        with database.session() as session:
            removed.append(remove_idle_accounts(session, limit=10))

    with database.session() as session:
        new = make_batch("acc_a", NOON)
        add_to_rotation(session, "acc_a", at=NOON)
        remover = threading.Thread(target=remove)
        remover.start()
        remover.join(0.3)  # PostgreSQL passes over the locked row, SQLite waits for this unit
        add_batch(
            session, new, split_into_chunks(new.id, array("q", [0]), end=9, output=BatchOutput.ZIP)
        )
    remover.join()
    assert removed == [0]
    assert accounts_in_line(database) == ["acc_a"]


def accounts_in_line(database):
    with database.snapshot() as session:
        return session.scalars(
            select(batch_turns.c.account_id).order_by(batch_turns.c.account_id)
        ).all()
