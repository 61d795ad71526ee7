"""Selects the adapter that reads a broker's queues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from redis import Redis

from shared.broker_url import is_amqp
from shared.queue.queues import Queues

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
    from shared.queue.redis_queues import RedisQueues

    return RedisQueues.connect(broker_url)


def queues_in(redis: Redis) -> Queues:
    """Return the queues of a Redis broker, read through a client that is open."""
    from shared.queue.redis_queues import RedisQueues

    return RedisQueues(redis)


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
