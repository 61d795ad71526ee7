"""Publishing tasks: Celery's own `send_task`, on connections that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from celery import Celery
from kombu.exceptions import OperationalError
from redis import RedisError

from shared.errors import NoSpace, Unavailable
from shared.queue.app import create_app
from shared.queue.connection import is_refused_for_space
from shared.queue.messages import ADMITTED_AT, PUBLISHED_AT, TaskMessage
from shared.queue.redis_queues import RedisQueues


class Publisher:
    """Publishes tasks to one broker; shared by the threads of a process, made after a fork."""

    def __init__(self, broker_url: str) -> None:
        self._broker_url = broker_url

    @cached_property
    def queues(self) -> RedisQueues:
        """Return what can be read of the broker's queues."""
        return RedisQueues.connect(self._broker_url)

    @cached_property
    def _app(self) -> Celery:
        return create_app(self._broker_url)

    def close(self) -> None:
        """Close the connections; another call opens new ones."""
        self._app.close()

    def send(self, messages: Sequence[TaskMessage]) -> None:
        """Publish tasks; one that is published twice must do no harm.

        Raises:
            Unavailable: the broker is away or refuses; some may have been published, and be delivered.
        """
        try:
            with self._app.producer_or_acquire() as producer:
                for message in messages:
                    self._send(message, producer)
        except (OperationalError, RedisError, OSError) as error:
            cause = error.__cause__ if isinstance(error, OperationalError) else error
            is_full = isinstance(cause, RedisError) and is_refused_for_space(cause)
            raise (NoSpace("queue") if is_full else Unavailable("queue")) from error

    def _send(self, message: TaskMessage, producer: object) -> None:
        self._app.send_task(
            message.task,
            args=[message.argument],
            task_id=message.id,
            queue=message.queue,
            producer=producer,
            ignore_result=True,
            time_limit=message.limit_seconds,
            headers={ADMITTED_AT: message.admitted_at, PUBLISHED_AT: message.published_at},
            # What events and `celery inspect` show of the arguments: documents are nobody's business.
            argsrepr="(...)",
            kwargsrepr="{}",
        )
