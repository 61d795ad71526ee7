"""A front's word that it waits is a time of the server's clock, whatever its own shows."""

import time

import pytest

from shared.clock import ticks
from shared.jobs import JobOutcome, OutcomeStatus
from shared.queue.commits import Commits
from shared.queue.names import INTERACTIVE, job_key
from shared.queue.presence import AWAITED_SECONDS, ServerClock


@pytest.mark.parametrize("hours", [-5, 5])
def test_renders_are_queued_and_awaited_by_a_front_of_another_clock(front, monkeypatch, hours):
    monkeypatch.setattr("shared.queue.presence.epoch", lambda: time.time() + hours * 3600)
    jobs = [front.job() for _ in range(2)]
    for job in jobs:
        front.broker.publish(job)
    assert front.redis.llen(INTERACTIVE) == 2
    word = float(front.redis.hget(job_key(jobs[1].id), "awaited_until"))
    assert 0 < word - time.time() <= AWAITED_SECONDS + 0.5


def test_a_clock_is_not_set_by_an_answer_that_took_long():
    clock = ServerClock()
    shown = time.time() + 3600
    assert not clock.note(shown, asked_at=ticks() - 1)
    assert abs(clock.read() - time.time()) < 60
    assert clock.note(shown, asked_at=ticks())
    assert abs(clock.read() - shown) < 60


def test_an_outcome_is_read_from_a_server_that_refuses_every_write(front):
    job = front.send()
    outcome = JobOutcome(job.id, OutcomeStatus.SUCCEEDED, pages=1)
    assert Commits(front.redis).commit(job, outcome) == outcome
    front.redis.config_set("min-replicas-to-write", 1)  # as one whose disk is full
    try:
        begun = ticks()
        found = front.replies.wait(job.id, timeout_seconds=10)
    finally:
        front.redis.config_set("min-replicas-to-write", 0)
    assert found == outcome
    assert ticks() - begun < 2
