"""Publishes jobs as tasks with Celery's `send_task`, requeues lost ones and withdraws them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from amqp.exceptions import AMQPError
from celery import Celery
from kombu.exceptions import LimitExceeded, OperationalError
from redis import Redis, RedisError

from shared.broker_url import is_amqp
from shared.clock import ticks
from shared.errors import StorageFull, Unavailable
from shared.jobs.records import RenderJob
from shared.queue.admission_places import find_fetching
from shared.queue.app import CONFIRM_SECONDS, POOL_SECONDS, create_app, within_read_timeout
from shared.queue.connection import is_refused_for_space, reachable
from shared.queue.names import RENDER_TASK, job_key, queue_for
from shared.queue.queue_factory import open_queues
from shared.queue.queues import ADMITTED_AT, PUBLISHED_AT, Queues, TaskMessage
from shared.queue.states import PUBLISHED_SECONDS, JobStates
from shared.queue.worker_presence import TASK_LEASE_SECONDS, find_held_tasks, read_heads
from shared.telemetry.log import get_logger


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


log: Final = get_logger(__name__)

# The worker's own alarm ends a render at its deadline, and its watchdog the process a second
# later; Celery's hard limit is the last resort.
HARD_LIMIT_GRACE_SECONDS: Final = 5.0
_RECONNECT_SECONDS: Final = 0.1
# A waiting front renews its presence at most a second later, sooner than `PUBLISHED_SECONDS`.
_QUICK_SECONDS: Final = 1.0


@dataclass(slots=True)
class PublishedJob:
    """A published job, and when it may be published again (`Broker.requeue_lost`)."""

    job: RenderJob
    queue: str
    published_at: float  # by the clock of Redis
    requeue_after_seconds: float = TASK_LEASE_SECONDS
    checked_at: float = field(default_factory=ticks)

    @property
    def job_id(self) -> str:
        """The job's id."""
        return self.job.id


@dataclass(frozen=True, slots=True)
class QueueSnapshot:
    """A snapshot of a queue: every task published before `passed_until` (seconds since 1970) has left it;
    `held` are the tasks that workers hold, or whose images fronts fetch.
    """

    passed_until: float
    held_tasks: AbstractSet[str]


class Broker:
    """Publishes jobs: state is in `redis`, messages are in the broker."""

    def __init__(self, redis: Redis, publisher: Publisher) -> None:
        self._redis = redis
        self._publisher = publisher
        self._states = JobStates(redis)

    def publish(self, job: RenderJob) -> PublishedJob:
        """Queue a job that the caller waits for: call `Replies.wait` immediately afterwards.

        A job that is published twice is committed once.

        Raises:
            Unavailable: Redis or the broker is unreachable. The job may be queued nevertheless, but is
                neither committed nor metered.
        """
        message = _make_message(job)
        published = PublishedJob(job, message.queue, message.published_at)
        try:
            self._publisher.send([message])
        except Unavailable:
            # The broker may have accepted the unconfirmed message, and a worker may have started it.
            if self._is_withdrawn(published):
                raise
        if ticks() - published.checked_at > _QUICK_SECONDS:
            with reachable():
                self._states.await_end(job.id)
        return published

    def _is_withdrawn(self, published: PublishedJob) -> bool:
        """Withdraw a job that may be queued; return whether it never runs or its presence has expired.

        While Redis is unreachable too, wait until the presence expires.
        """
        while ticks() - published.checked_at < PUBLISHED_SECONDS:
            try:
                return self._states.withdraw(published.job_id)
            except Unavailable:
                time.sleep(_RECONNECT_SECONDS)
        log.warning("job not withdrawn", job=published.job_id)
        return True

    def queue_recorded(self, jobs: Mapping[str, RenderJob]) -> None:
        """Queue jobs of the job table, by encoded message.

        Raises:
            Unavailable: the broker is unreachable; maintenance queues the jobs later.
        """
        self._publisher.send([_make_message(job, encoded) for encoded, job in jobs.items()])

    def requeue_lost(self, published: PublishedJob) -> bool:
        """Queue a job again if it has left the queue and no worker holds it; return whether it was.

        Its worker died, or an AMQP broker, which redelivers such a message itself, lost its files. The
        first check is after `TASK_LEASE_SECONDS`; the interval doubles with each requeue. Return False
        while Redis is unreachable.
        """
        if ticks() - published.checked_at < published.requeue_after_seconds:
            return False
        try:
            with reachable():
                has_ended = self._redis.hexists(job_key(published.job_id), "done")
            if has_ended or not self._is_lost(published):
                return False
            message = _make_message(published.job)
            published.published_at, published.checked_at = message.published_at, ticks()
            published.requeue_after_seconds *= 2
            self._publisher.send([message])
        except Unavailable:
            return False
        log.warning("job was lost by the queue and is queued again", job=published.job_id)
        return True

    def _is_lost(self, published: PublishedJob) -> bool:
        if published.job_id in find_held_tasks(self._redis):
            return False
        head = self._publisher.queues.read([published.queue])[published.queue]
        return head.has_passed(published.published_at)

    def read_queue(self, queue: str) -> QueueSnapshot:
        """Return a snapshot of a queue.

        Raises:
            Unavailable: Redis or the broker is unreachable.
        """
        # In this order: a task that is delivered in between is then among the held ones.
        head = read_heads(self._redis, self._publisher.queues, [queue])[queue]
        return QueueSnapshot(
            head.passed_until, find_held_tasks(self._redis) | find_fetching(self._redis)
        )


def queue_of_job(job: RenderJob) -> str:
    """Return the name of the queue that a job waits in."""
    return queue_for(job.purpose, job.lane)


def _make_message(job: RenderJob, encoded: Any = None) -> TaskMessage:
    return TaskMessage(
        RENDER_TASK,
        job.id,
        queue_of_job(job),
        encoded or job.encode(),
        limit_seconds=_limit_seconds(job),
        admitted_at=job.admitted_at,
    )


def _limit_seconds(job: RenderJob) -> float:
    seconds = job.budget_seconds or job.deadline - job.admitted_at
    return seconds + HARD_LIMIT_GRACE_SECONDS
