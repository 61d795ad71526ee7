"""A job that a killed worker took with it is queued again by the front that waits for it."""

from __future__ import annotations

import pytest
from redis import Redis

from shared.errors import Unavailable
from shared.queue.broker import Broker, Publisher
from shared.queue.connection import connect
from shared.queue.names import HELD_TASKS, INTERACTIVE, job_key
from shared.queue.worker_presence import TASK_LEASE_SECONDS, WorkerReport, report_worker
from tests.messages import read_argument

AWAY = "redis://127.0.0.1:1/0"


@pytest.fixture
def lapse(monkeypatch):
    """Provide a function that lets one lease expire."""
    read = __import__("time").monotonic
    passed = [0.0]
    monkeypatch.setattr("shared.queue.broker.ticks", lambda: read() + passed[0])

    def lapse() -> None:
        passed[0] += TASK_LEASE_SECONDS + 1

    return lapse


def hold(front, *job_ids: str) -> None:
    report_worker(front.redis, WorkerReport("here:1", (INTERACTIVE,), 1, 1), job_ids)


def test_a_job_that_is_still_queued_is_left_there(front, lapse):
    published = front.broker.publish(front.job())
    lapse()
    assert not front.broker.requeue_lost(published)
    assert front.redis.llen(INTERACTIVE) == 1


def test_an_unclaimed_job_is_requeued_with_backoff(front, lapse):
    published = front.broker.publish(front.job())
    taken = front.redis.rpop(INTERACTIVE)
    assert not front.broker.requeue_lost(published)  # a worker may be about to report it
    lapse()
    assert front.broker.requeue_lost(published)
    assert not front.broker.requeue_lost(published)
    [again] = front.redis.lrange(INTERACTIVE, 0, -1)
    assert read_argument(again) == read_argument(taken)
    front.redis.rpop(INTERACTIVE)
    lapse()
    assert not front.broker.requeue_lost(published)
    lapse()
    assert front.broker.requeue_lost(published)


def test_a_job_that_a_living_worker_holds_is_its_own(front, lapse):
    published = front.broker.publish(front.job())
    front.redis.rpop(INTERACTIVE)
    hold(front, published.job_id)
    lapse()
    assert not front.broker.requeue_lost(published)
    front.redis.zincrby(HELD_TASKS, -TASK_LEASE_SECONDS - 1, published.job_id)
    assert front.broker.requeue_lost(published)


def test_a_job_whose_worker_died_while_it_ran_is_queued_again(front, lapse):
    published = front.broker.publish(front.job())
    front.redis.rpop(INTERACTIVE)
    front.redis.hincrby(job_key(published.job_id), "deliveries", 1)
    lapse()
    assert front.broker.requeue_lost(published)


def test_a_job_that_has_ended_is_not_queued_again(front, lapse):
    published = front.broker.publish(front.job())
    front.redis.rpop(INTERACTIVE)
    front.replies.abandon(published.job_id)
    lapse()
    assert not front.broker.requeue_lost(published)


def test_nothing_is_done_while_redis_is_unavailable(front, lapse):
    published = front.broker.publish(front.job())
    lapse()
    assert not Broker(connect(AWAY), Publisher(AWAY)).requeue_lost(published)


@pytest.mark.long
def test_a_job_that_the_broker_did_not_take_never_runs(front):
    broker = Broker(front.redis, Publisher(AWAY))
    job = front.job()
    with pytest.raises(Unavailable):
        broker.publish(job)
    assert front.redis.hget(job_key(job.id), "done") == b"withdrawn"


@pytest.mark.long
def test_a_front_that_waits_looks_after_its_job_each_second(front, lapse):
    job = front.job()
    published = front.broker.publish(job)
    lapse()
    with Redis.from_url(front.url) as aside:
        aside.rpop(INTERACTIVE)
    waited = front.replies.wait(
        job.id, timeout_seconds=1.5, between=lambda: front.broker.requeue_lost(published)
    )
    assert waited is None
    assert front.redis.llen(INTERACTIVE) == 1
