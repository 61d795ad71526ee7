"""Publishes tasks with Celery's `send_task`, on pooled connections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from typing import Any

from amqp.exceptions import AMQPError
from celery import Celery
from kombu.exceptions import LimitExceeded, OperationalError
from redis import RedisError

from shared.broker_url import is_amqp
from shared.errors import StorageFull, Unavailable
from shared.queue.amqp_options import CONFIRM_SECONDS, POOL_SECONDS
from shared.queue.amqp_timeouts import within_read_timeout
from shared.queue.app import create_app
from shared.queue.connection import is_refused_for_space
from shared.queue.queue_factory import open_queues
from shared.queue.queues import ADMITTED_AT, PUBLISHED_AT, Queues, TaskMessage


class Publisher:
    """Publishes tasks to one broker; thread-safe, created after a fork."""

    def __init__(self, broker_url: str) -> None:
        self._broker_url = broker_url
        self._is_amqp = is_amqp(broker_url)

    @cached_property
    def queues(self) -> Queues:
        """The reader of the broker's queues."""
        return open_queues(self._broker_url, self._app if self._is_amqp else None)

    @cached_property
    def _app(self) -> Celery:
        return create_app(self._broker_url)

    def close(self) -> None:
        """Close the connections; another call opens new ones."""
        self._app.close()

    def check(self) -> None:
        """Check that an AMQP broker answers; a Redis broker is checked by other calls.

        Raises:
            Unavailable: the broker is unreachable.
        """
        if self._is_amqp:
            self.queues.check()

    def send(self, messages: Sequence[TaskMessage]) -> None:
        """Publish tasks; a task may be published twice, so it must be idempotent.

        Raises:
            Unavailable: the broker is unreachable or refuses; some tasks may have been published.
        """
        try:
            with (
                self._app.producer_pool.acquire(
                    block=True, timeout=POOL_SECONDS if self._is_amqp else None
                ) as producer,
                self._leaving_at_once(producer),
                self._within_read_timeout(producer),
            ):
                for message in messages:
                    self._send(message, producer)
        except (OperationalError, RedisError, AMQPError, LimitExceeded, OSError) as error:
            cause = error.__cause__ if isinstance(error, OperationalError) else error
            is_full = isinstance(cause, RedisError) and is_refused_for_space(cause)
            raise (StorageFull("queue") if is_full else Unavailable("queue")) from error

    @contextmanager
    def _leaving_at_once(self, producer: Any) -> Iterator[None]:
        """Drop the connection if the block fails, instead of closing it as kombu would.

        A broker that blocks publishers, as RabbitMQ with a full disk, never answers a close.
        """
        try:
            yield
        except Exception:
            if self._is_amqp:
                producer.connection.collect()
            raise

    def _within_read_timeout(self, producer: Any) -> AbstractContextManager[object]:
        if self._is_amqp and producer.connection.connected:
            return within_read_timeout(producer.connection.connection.transport)
        return nullcontext()

    def _send(self, message: TaskMessage, producer: object) -> None:
        options: dict[str, Any] = {"declare": ()}  # a Redis list needs no declaration
        if self._is_amqp:
            # Without `mandatory`, a message to a deleted queue is lost: only a new connection declares it.
            options = {"mandatory": True, "timeout": CONFIRM_SECONDS}
            options["confirm_timeout"] = CONFIRM_SECONDS
        self._app.send_task(
            message.task,
            args=[message.argument],
            task_id=message.id,
            queue=message.queue,
            producer=producer,
            ignore_result=True,
            time_limit=message.limit_seconds,
            headers={ADMITTED_AT: message.admitted_at, PUBLISHED_AT: message.published_at},
            # Keeps documents out of Celery's events and of `celery inspect`.
            argsrepr="(...)",
            kwargsrepr="{}",
            **options,
        )
