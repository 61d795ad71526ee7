"""Upper bounds of the age of a queue's next message, for brokers that do not report it, such as AMQP.

Queues are served in order, so a message that has left a queue bounds the age of the next one: a worker
reports the admission time of the newest task it took, and a reader that finds a queue empty records the
time. Maintenance reads the queues every two seconds, so an age is at most about two seconds too high.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from redis import Redis
from redis.client import Pipeline

from shared.clock import epoch
from shared.queue.connection import reachable
from shared.queue.names import QUEUES, QUEUES_PASSED
from shared.queue.queues import QueueHead, Queues


def record_passed(redis: Redis | Pipeline, passed: Mapping[str, float]) -> None:
    """Record, by queue, the time before which every admitted message has left the queue.

    Raises:
        RedisError: Redis is unreachable.
    """
    if passed:
        redis.zadd(QUEUES_PASSED, dict(passed), gt=True)


def read_heads(redis: Redis, queues: Queues, names: Sequence[str]) -> Mapping[str, QueueHead]:
    """Read queues; a broker that does not report admission times gets an upper bound of the age.

    Raises:
        Unavailable: the broker or Redis is unreachable.
    """
    if queues.has_ages:
        return queues.read(names)
    looked_at = epoch()
    # All queues: one that is empty now bounds the age of its next message.
    heads = queues.read(QUEUES)
    with reachable():
        record_passed(redis, {name: looked_at for name, head in heads.items() if not head.waiting})
        found = redis.zrange(QUEUES_PASSED, 0, -1, withscores=True)
    passed = {name.decode(): at for name, at in cast("list[tuple[bytes, float]]", found)}
    return {
        name: replace(heads[name], admitted_at=passed.get(name))
        if heads[name].waiting
        else heads[name]
        for name in names
    }
