"""A front's word that it waits is a time of the server's clock, whatever its own shows."""

import pytest

from shared.clock import epoch, ticks
from shared.jobs.records import JobOutcome, OutcomeStatus
from shared.queue.broker import Publisher
from shared.queue.commits import Commits
from shared.queue.names import job_key
from shared.queue.states import AWAITED_SECONDS, PUBLISHED_SECONDS


def read_word(front, job):
    word = float(front.redis.hget(job_key(job.id), "awaited_until"))
    seconds, microseconds = front.redis.time()
    return word - (seconds + microseconds / 1e6)


@pytest.mark.long
def test_a_front_is_known_to_wait_for_seconds_of_the_servers_clock(front):
    job = front.job()
    assert front.wait(job, seconds=1.2) is None
    assert 2 < read_word(front, job) <= AWAITED_SECONDS


def test_a_job_is_awaited_for_seconds_from_when_it_was_published(front):
    job = front.job()
    published = front.broker.publish(job)
    commits = Commits(front.redis)
    commits.begin(job, published_at=published.published_at)
    assert 0 < read_word(front, job) <= PUBLISHED_SECONDS
    commits.begin(job, published_at=published.published_at - 60)
    assert read_word(front, job) > 0


def test_a_render_without_a_waiter_is_not_metered(front):
    job = front.job()
    commits = Commits(front.redis)
    commits.begin(job, published_at=epoch() - 60)
    outcome = JobOutcome(job.id, OutcomeStatus.SUCCEEDED, pages=1)
    assert commits.commit(job, outcome).error.status == 503
    assert front.used() == (0, 0)


def test_a_job_that_took_long_to_publish_is_noted_to_be_awaited(front, monkeypatch):
    read, calls = ticks, []
    monkeypatch.setattr("shared.queue.broker.ticks", lambda: read() + 2 * len(calls))
    monkeypatch.setattr(Publisher, "send", lambda *_: calls.append(1))
    job = front.job()
    front.broker.publish(job)
    assert read_word(front, job) > 2


def test_an_outcome_is_read_from_a_server_that_refuses_every_write(front):
    job = front.send()
    outcome = JobOutcome(job.id, OutcomeStatus.SUCCEEDED, pages=1)
    assert Commits(front.redis).commit(job, outcome) == outcome
    front.redis.config_set("min-replicas-to-write", 1)  # as one whose disk is full
    try:
        found = front.replies.wait(job.id, timeout_seconds=10)
    finally:
        front.redis.config_set("min-replicas-to-write", 0)
    assert found == outcome
