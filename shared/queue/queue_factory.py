"""Selects the adapter that reads a broker's queues."""

from __future__ import annotations

from shared.broker_url import is_amqp
from shared.queue.queues import Queues


def open_queues(broker_url: str) -> Queues:
    """Return the queues of a broker; they connect on first use."""
    # Imported late: most commands need one adapter, and Celery takes a third of a second to load.
    if is_amqp(broker_url):
        from shared.queue.amqp_queues import AmqpQueues

        return AmqpQueues.connect(broker_url)
    from shared.queue.redis_queues import RedisQueues

    return RedisQueues.connect(broker_url)
