"""A job that a killed worker took with it unseen is queued again by the front that waits for it."""

import json

from redis import Redis

from shared.queue.broker import Broker
from shared.queue.connection import connect
from shared.queue.names import INTERACTIVE, UNACKED, job_key


def test_a_job_that_is_still_queued_is_left_there(front):
    published = front.broker.publish(front.job())
    assert not front.broker.requeue_forgotten(published)
    assert front.redis.llen(INTERACTIVE) == 1


def test_a_job_that_nobody_holds_is_queued_again_once(front):
    published = front.broker.publish(front.job())
    taken = front.redis.rpop(INTERACTIVE)
    assert front.broker.requeue_forgotten(published)
    assert not front.broker.requeue_forgotten(published)
    assert front.redis.lrange(INTERACTIVE, 0, -1) == [taken]


def test_a_job_that_a_worker_holds_is_its_own(front):
    published = front.broker.publish(front.job())
    tag = json.loads(front.redis.rpop(INTERACTIVE))["properties"]["delivery_tag"]
    front.redis.hset(UNACKED, tag, "held")
    assert not front.broker.requeue_forgotten(published)


def test_a_job_that_has_begun_is_not_begun_again(front):
    published = front.broker.publish(front.job())
    front.redis.rpop(INTERACTIVE)
    front.redis.hincrby(job_key(published.job_id), "deliveries", 1)
    assert not front.broker.requeue_forgotten(published)


def test_nothing_is_done_while_redis_is_away(front):
    published = front.broker.publish(front.job())
    assert not Broker(connect("redis://127.0.0.1:1/0")).requeue_forgotten(published)


def test_a_front_that_waits_looks_after_its_job_each_second(front):
    job = front.job()
    published = front.broker.publish(job)
    with Redis.from_url(front.url) as aside:
        aside.rpop(INTERACTIVE)
    waited = front.replies.wait(
        job.id,
        timeout_seconds=1.5,
        between=lambda: front.broker.requeue_forgotten(published),
    )
    assert waited is None
    assert front.redis.llen(INTERACTIVE) == 1
