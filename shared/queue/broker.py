"""The front's side of the queue: a job becomes a message that a worker takes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from redis import Redis, RedisError

from shared.clock import epoch, ticks
from shared.errors import Unavailable
from shared.jobs import Lane, Purpose, RenderJob
from shared.line import AnswerLostError, Line
from shared.queue.claims import CLAIM_TTL_SECONDS
from shared.queue.connection import reachable
from shared.queue.messages import Envelope, write_message
from shared.queue.names import (
    BATCH,
    INTERACTIVE,
    RENDER_TASK,
    UNACKED,
    VALIDATE,
    job_key,
    new_recorded_tag,
    new_waited_tag,
)
from shared.queue.presence import AWAITED_SECONDS, ServerClock, publish
from shared.telemetry.log import get_logger

log: Final = get_logger(__name__)

# The worker's own alarm ends a render at its deadline, and its watchdog the process a second
# later; Celery's hard limit stands behind both.
HARD_LIMIT_GRACE_SECONDS: Final = 5.0

_LANES: Final = {Lane.INTERACTIVE: INTERACTIVE, Lane.BATCH: BATCH}


# A worker takes a message from the queue and writes down that it holds it in two steps (kombu's);
# killed between them, it takes the message with it.
_REQUEUE: Final = """
if redis.call('HEXISTS', KEYS[1], 'deliveries') == 1 then return 0 end
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then return 0 end
if redis.call('LPOS', KEYS[3], ARGV[2]) then return 0 end
redis.call('LPUSH', KEYS[3], ARGV[2])
return 1
"""

# Whoever is first has it: the worker that begins it, or this.
_WITHDRAW: Final = """
local state = redis.call('HMGET', KEYS[1], 'done', 'deliveries')
if state[1] or tonumber(state[2] or '0') > 0 then return 0 end
redis.call('HSET', KEYS[1], 'done', 'withdrawn')
redis.call('EXPIRE', KEYS[1], ARGV[1])
redis.call('LREM', KEYS[2], 0, ARGV[2])
return 1
"""


class Published(NamedTuple):
    """A job as it stands in the queue, so that it can be told whether it still does."""

    job_id: str
    queue: str
    delivery_tag: str
    message: str


class Broker:
    """Sends jobs to the workers."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._line = Line(redis)
        self._clock = ServerClock()
        self._requeue = redis.register_script(_REQUEUE)
        self._withdraw = redis.register_script(_WITHDRAW)

    def publish(self, job: RenderJob) -> Published:
        """Queue a job that the caller waits for: call `Replies.wait` at once.

        A repeated publish of the same job is harmless: only one run of it is committed. Where it is
        not known whether Redis has queued it, it is waited for as if it had, and `requeue_forgotten`
        makes up for it: a 503 now could be for a job that runs and is metered a moment later.

        Raises:
            Unavailable: Redis is away; the job is not queued, or nothing of it is metered.
        """
        published = _write(job, new_waited_tag, admitted_at=job.admitted_at)
        # A second time where the server refused because its clock shows another time than ours.
        if not any(self._publish(published) for _ in range(2)):
            raise Unavailable("queue")
        return published

    def _publish(self, job: Published) -> bool:
        """Queue a job with this front's word; tell whether it is, or may be, in the queue.

        Raises:
            Unavailable: Redis is away, or heard of it too late.
        """
        # The word comes before the job can end, or a quick one would find nobody waiting.
        asked_at, until = ticks(), self._clock.read() + AWAITED_SECONDS
        command = publish(job.job_id, job.queue, job.message, until=until)
        with reachable():
            try:
                [(is_queued, seconds, microseconds)] = self._line.ask(command)
            except AnswerLostError:
                if self._clock.read() >= until:
                    raise
                return True
        shown = int(seconds) + int(microseconds) / 1e6
        if not self._clock.note(shown, asked_at=asked_at) and not is_queued:
            raise Unavailable("queue")
        return bool(is_queued)

    def queue_recorded(self, jobs: Mapping[str, RenderJob]) -> None:
        """Queue jobs that stand in the job table, given by their encoded messages.

        Raises:
            Unavailable: Redis is away; the keeper queues the jobs later.
        """
        self._push(
            [
                _write(job, new_recorded_tag, admitted_at=job.admitted_at, encoded=encoded)
                for encoded, job in jobs.items()
            ]
        )

    def queue_again(self, jobs: Sequence[RenderJob]) -> None:
        """Queue recorded jobs that were queued before; twice in the queue is harmless.

        Raises:
            Unavailable: Redis is away.
        """
        self._push([_write(job, new_recorded_tag, admitted_at=epoch()) for job in jobs])

    def requeue_forgotten(self, job: Published) -> bool:
        """Queue a job again that is neither begun nor queued nor held by a worker; tell whether.

        Does nothing while Redis is away.
        """
        keys = [job_key(job.job_id), UNACKED, job.queue]
        try:
            requeued = self._requeue(keys=keys, args=[job.delivery_tag, job.message])
        except RedisError:
            return False
        if requeued:
            log.warning("job was forgotten by the queue and is queued again", job=job.job_id)
        return bool(requeued)

    def _push(self, published: Sequence[Published]) -> None:
        by_queue: defaultdict[str, list[str]] = defaultdict(list)
        for each in published:
            by_queue[each.queue].append(each.message)
        with reachable():
            for queue, messages in by_queue.items():
                self._line.ask(("LPUSH", queue, *messages))

    def withdraw(self, job: Published) -> bool:
        """Take a job back that no worker has begun; tell whether it was. Nothing of it is committed then.

        Raises:
            Unavailable: Redis is away.
        """
        keys = [job_key(job.job_id), job.queue]
        with reachable():
            return bool(self._withdraw(keys=keys, args=[CLAIM_TTL_SECONDS, job.message]))


def queue_of_job(job: RenderJob) -> str:
    """Name the queue that a job waits in."""
    return _LANES[job.lane] if job.purpose is Purpose.RENDER else VALIDATE


def _write(
    job: RenderJob,
    new_tag: Callable[[str, str], str],
    *,
    admitted_at: float,
    encoded: str | None = None,
) -> Published:
    queue = queue_of_job(job)
    envelope = Envelope(
        task=RENDER_TASK,
        id=job.id,
        queue=queue,
        delivery_tag=new_tag(queue, job.id),
        limit_seconds=_limit_seconds(job),
        admitted_at=admitted_at,
    )
    message = write_message(envelope, [encoded or job.encode()])
    return Published(job.id, queue, envelope.delivery_tag, message)


def _limit_seconds(job: RenderJob) -> float:
    seconds = job.budget_seconds or job.deadline - job.admitted_at
    return seconds + HARD_LIMIT_GRACE_SECONDS
