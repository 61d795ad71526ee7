"""A front's word that it waits is a time of the server's clock, whatever its own shows."""

from shared.clock import ticks
from shared.jobs import JobOutcome, OutcomeStatus
from shared.queue.commits import Commits
from shared.queue.names import job_key
from shared.queue.presence import AWAITED_SECONDS


def test_a_front_is_known_to_wait_for_seconds_of_the_servers_clock(front):
    job = front.job()
    front.broker.publish(job)
    word = float(front.redis.hget(job_key(job.id), "awaited_until"))
    seconds, microseconds = front.redis.time()
    assert 0 < word - (seconds + microseconds / 1e6) <= AWAITED_SECONDS


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
