"""The front's side of the queue: a job becomes a task that a worker takes."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Final

from redis import Redis

from shared.clock import ticks
from shared.errors import Unavailable
from shared.jobs import RenderJob
from shared.queue.connection import reachable
from shared.queue.lanes import queue_for
from shared.queue.messages import TaskMessage
from shared.queue.names import RENDER_TASK, job_key
from shared.queue.presence import Presence
from shared.queue.publisher import Publisher
from shared.queue.roster import LEASE_SECONDS, find_held_tasks
from shared.queue.states import JobStates
from shared.telemetry.log import get_logger

log: Final = get_logger(__name__)

# The worker's own alarm ends a render at its deadline, and its watchdog the process a second
# later; Celery's hard limit stands behind both.
HARD_LIMIT_GRACE_SECONDS: Final = 5.0


@dataclass(slots=True)
class Published:
    """A job that was published, and when that may be repeated (`Broker.requeue_forgotten`)."""

    job: RenderJob
    queue: str
    published_at: float  # by the clock of Redis
    patience_seconds: float = LEASE_SECONDS
    last_seen: float = field(default_factory=ticks)

    @property
    def job_id(self) -> str:
        """Return the job's id."""
        return self.job.id


@dataclass(frozen=True, slots=True)
class QueueView:
    """What is in a queue at a moment: when its next message came, and which tasks workers hold."""

    oldest: float | None
    held: AbstractSet[str]


class Broker:
    """Sends jobs to the workers: state goes to `redis`, messages to the broker."""

    def __init__(self, redis: Redis, publisher: Publisher) -> None:
        self._redis = redis
        self._publisher = publisher
        self._presence = Presence(redis)
        self._states = JobStates(redis)

    def publish(self, job: RenderJob) -> Published:
        """Queue a job that the caller waits for: call `Replies.wait` at once.

        A job that is published twice runs once: the commit decides.

        Raises:
            Unavailable: Redis or the broker is away. The job may be queued all the same, but nothing
                of it is committed or metered.
        """
        message = _make_message(job)
        published = Published(job, message.queue, message.published_at)
        # First that somebody waits, or a quick job would end before that is known.
        with reachable(self._redis):
            self._presence.note(job.id)
        try:
            self._publisher.send([message])
        except Unavailable:
            # The broker may have taken what it did not confirm. Where Redis is away too, it learns
            # within `AWAITED_SECONDS` that nobody waits.
            self._give_up(published)
            raise
        return published

    def _give_up(self, published: Published) -> None:
        try:
            self.withdraw(published)
        except Unavailable as error:
            log.warning("job not withdrawn", job=published.job_id, cause=repr(error.__cause__))

    def queue_recorded(self, jobs: Mapping[str, RenderJob]) -> None:
        """Queue jobs that stand in the job table, given by their encoded messages.

        Raises:
            Unavailable: the broker is away; the keeper queues the jobs later.
        """
        self._publisher.send([_make_message(job, encoded) for encoded, job in jobs.items()])

    def requeue_forgotten(self, published: Published) -> bool:
        """Queue a job again that has left the queue and is held by no worker; return whether it was.

        Its worker died, or was killed between taking the message and noting it. The first time is
        after `LEASE_SECONDS`, then each after twice the time. Does nothing while Redis is away.
        """
        if ticks() - published.last_seen < published.patience_seconds:
            return False
        try:
            with reachable(self._redis):
                has_ended = self._redis.hexists(job_key(published.job_id), "done")
            if has_ended or not self._is_lost(published):
                return False
            message = _make_message(published.job)
            published.published_at, published.last_seen = message.published_at, ticks()
            published.patience_seconds *= 2
            self._publisher.send([message])
        except Unavailable:
            return False
        log.warning("job was lost by the queue and is queued again", job=published.job_id)
        return True

    def _is_lost(self, published: Published) -> bool:
        if published.job_id in find_held_tasks(self._redis):
            return False
        head = self._publisher.queues.read([published.queue])[published.queue]
        return head.has_passed(published.published_at)

    def withdraw(self, published: Published) -> bool:
        """Withdraw a job that no worker has begun; return whether it was. It never runs then.

        Its message stays in the queue, and is dropped by the worker that takes it.

        Raises:
            Unavailable: Redis is away.
        """
        return self._states.withdraw(published.job_id)

    def look(self, queue: str) -> QueueView:
        """Return what is in a queue: all that was accepted before its oldest message has left it.

        Raises:
            Unavailable: Redis or the broker is away.
        """
        # In this order: what is taken in between is held.
        head = self._publisher.queues.read([queue])[queue]
        return QueueView(head.admitted_at, find_held_tasks(self._redis))


def queue_of_job(job: RenderJob) -> str:
    """Return the name of the queue that a job waits in."""
    return queue_for(job.purpose, job.lane)


def _make_message(
    job: RenderJob, encoded: Any = None, *, admitted_at: float | None = None
) -> TaskMessage:
    return TaskMessage(
        RENDER_TASK,
        job.id,
        queue_of_job(job),
        encoded or job.encode(),
        limit_seconds=_limit_seconds(job),
        admitted_at=job.admitted_at if admitted_at is None else admitted_at,
    )


def _limit_seconds(job: RenderJob) -> float:
    seconds = job.budget_seconds or job.deadline - job.admitted_at
    return seconds + HARD_LIMIT_GRACE_SECONDS
