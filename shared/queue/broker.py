"""Publishes jobs as tasks, requeues lost ones and withdraws them; used by the fronts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Final

from redis import Redis

from shared.clock import ticks
from shared.errors import Unavailable
from shared.jobs.records import RenderJob
from shared.queue.admission_places import find_fetching
from shared.queue.client_presence import PUBLISHED_SECONDS, ClientPresence
from shared.queue.connection import reachable
from shared.queue.names import RENDER_TASK, job_key, queue_for
from shared.queue.publisher import Publisher
from shared.queue.queues import TaskMessage
from shared.queue.states import JobStates
from shared.queue.worker_presence import TASK_LEASE_SECONDS, find_held_tasks, read_heads
from shared.telemetry.log import get_logger

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
        self._presence = ClientPresence(redis)
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
                self._presence.renew(job.id)
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
