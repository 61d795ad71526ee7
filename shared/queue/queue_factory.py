"""Opens the queues of a broker, and reads those of Redis: depth, age and lost messages.

A message leaves its list when a worker receives it (BRPOP), and is lost if that worker is killed. Its
publisher finds it neither in the list nor among the tasks that workers hold, and publishes it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, ClassVar, Final

from redis import Redis

from shared import json_text
from shared.broker_url import is_amqp
from shared.queue.connection import connect, reachable
from shared.queue.queues import (
    ADMITTED_AT,
    EMPTY,
    PUBLISHED_AT,
    QueueHead,
    Queues,
    read_time_header,
)

# Maximum difference between the synchronised clocks of two processes.
_CLOCK_SLACK_SECONDS: Final = 2.0


class RedisQueues:
    """Reads the queues of a Redis broker; methods raise `Unavailable` while it is unreachable."""

    has_ages: ClassVar[bool] = True

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def read(self, queues: Sequence[str]) -> dict[str, QueueHead]:
        """Return each queue's length and its next message's times, by name."""
        with reachable(), self._redis.pipeline(transaction=False) as pipe:
            for queue in queues:
                pipe.llen(queue)
                pipe.lindex(queue, -1)
            found = pipe.execute()
        heads = zip(queues, found[::2], found[1::2], strict=True)
        return {queue: _read_head(length, message) for queue, length, message in heads}

    def check(self) -> None:
        """Check that the server answers."""
        with reachable():
            self._redis.ping()


def _read_head(length: int, message: bytes | None) -> QueueHead:
    if not length:
        return EMPTY
    headers = _read_headers(message)
    published_at = read_time_header(headers, PUBLISHED_AT)
    passed_until = -inf if published_at is None else published_at - _CLOCK_SLACK_SECONDS
    return QueueHead(length, read_time_header(headers, ADMITTED_AT), passed_until)


def _read_headers(message: bytes | None) -> Mapping[str, object]:
    try:
        found = json_text.decode(message or b"{}")
    except ValueError:
        return {}
    match found:
        case {"headers": dict() as headers}:
            return headers
    return {}


if TYPE_CHECKING:
    from celery import Celery

# Adapters are imported late: most processes need one, and Celery takes a third of a second to load.


def open_queues(broker_url: str, app: Celery | None = None) -> Queues:
    """Return the queues of a broker; they connect on first use.

    Those of an AMQP broker use the connections of `app`, or of an application of their own.
    """
    if is_amqp(broker_url):
        from shared.queue.amqp_queues import AmqpQueues

        return AmqpQueues.connect(broker_url) if app is None else AmqpQueues(app)

    return RedisQueues(connect(broker_url))


def declare_queues(broker_url: str, queues: Sequence[str]) -> None:
    """Declare queues as the farm needs them; Redis makes a list with its first message.

    Raises:
        UnfitBrokerError: a queue exists with other properties, or may not be declared.
        Unavailable: the broker is unreachable.
    """
    if not is_amqp(broker_url):
        return
    from shared.queue.amqp_queues import AmqpQueues

    declared = AmqpQueues.connect(broker_url)
    declared.declare(queues)
    declared.close()
