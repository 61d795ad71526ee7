"""Adapter for the queues of an AMQP broker (RabbitMQ): depth by passive declaration.

A passive declaration needs no permission on the queues and no plugin; the management interface needs a
plugin, a port and a user with the tag `monitoring`. AMQP does not report the age of the next message: see
`shared.queue.worker_presence`.

A message stays in its queue until its consumer acknowledges it, and is redelivered if the consumer dies. It
is lost only with the broker's files; its queue is empty then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any, ClassVar, Self

from amqp.exceptions import AccessRefused, AMQPError, NotFound, PreconditionFailed
from celery import Celery
from kombu.exceptions import KombuError, LimitExceeded

from shared.errors import MisconfiguredPartError, Unavailable
from shared.queue.app import POOL_SECONDS, create_app, make_queue, within_read_timeout
from shared.queue.queues import EMPTY, QueueHead


class UnfitBrokerError(MisconfiguredPartError):
    """The broker refuses the farm's queue or has a different one; the message names what to change."""


class AmqpQueues:
    """Reads and declares queues over the connections of a Celery application."""

    has_ages: ClassVar[bool] = False

    def __init__(self, app: Celery) -> None:
        self._app = app

    @classmethod
    def connect(cls, broker_url: str) -> Self:
        """Return the queues of a broker; they connect on first use."""
        return cls(create_app(broker_url))

    def read(self, queues: Sequence[str]) -> Mapping[str, QueueHead]:
        """Return the number of waiting messages by queue; 0 for a queue that was never declared."""
        with _reachable():
            return {queue: _read_head(self._on_channel(_count, queue)) for queue in queues}

    def check(self) -> None:
        """Check that the broker answers."""
        with _reachable():
            self._on_channel(lambda _: None)

    def declare(self, queues: Sequence[str]) -> None:
        """Declare queues as the farm needs them.

        Raises:
            UnfitBrokerError: a queue exists with other properties, or may not be declared.
            Unavailable: the broker is unreachable.
        """
        for queue in queues:
            try:
                with _reachable():
                    self._on_channel(_declare, queue)
            except Unavailable as error:
                raise _find_refusal(error, queue) or error from error

    def close(self) -> None:
        """Close the connections; another call opens new ones."""
        self._app.close()

    def _on_channel(self, work: Any, *arguments: Any) -> Any:
        """Call `work` with a channel of its own, once more where the connection was stale."""

        def run(*, channel: Any) -> Any:
            connection = channel.connection
            # A refusal closes its channel, so each call has its own.
            with within_read_timeout(connection.transport), connection.channel() as own:
                return work(own, *arguments)

        with self._app.pool.acquire(block=True, timeout=POOL_SECONDS) as connection:
            return connection.autoretry(run, max_retries=1, interval_start=0)()[0]


def _count(channel: Any, queue: str) -> int:
    try:
        return int(channel.queue_declare(queue, passive=True).message_count)
    except NotFound:
        return 0


def _declare(channel: Any, queue: str) -> None:
    make_queue(queue).bind(channel).declare()  # type: ignore[no-untyped-call]


def _read_head(waiting: int) -> QueueHead:
    # A redelivered message is at the head of the queue, before older ones: only an empty queue
    # proves that a message has left it.
    return QueueHead(waiting, None, -inf) if waiting else EMPTY


def _find_refusal(error: Unavailable, queue: str) -> UnfitBrokerError | None:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, PreconditionFailed):
            return UnfitBrokerError(
                f"the broker has a queue {queue!r} with other properties than Pressroom's: "
                f"delete it once it is empty, or give Pressroom a virtual host of its own ({cause})"
            )
        if isinstance(cause, AccessRefused):
            return UnfitBrokerError(
                f"the broker's user may not declare and use queue {queue!r}: it needs the permissions "
                f"configure, write and read ({cause})"
            )
        cause = cause.__cause__
    return None


@contextmanager
def _reachable() -> Iterator[None]:
    """Raise `Unavailable` for every error of the broker."""
    try:
        yield
    except (KombuError, LimitExceeded, AMQPError, OSError) as error:
        raise Unavailable("queue") from error
