"""The front's side of the queue: a job becomes a message that a worker takes."""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from redis import Redis, RedisError

from shared.clock import epoch
from shared.jobs import Purpose, RenderJob
from shared.queue.connection import reachable
from shared.queue.names import (
    INTERACTIVE,
    RENDER_TASK,
    UNACKED,
    VALIDATE,
    job_key,
    new_delivery_tag,
)
from shared.queue.presence import renew_word
from shared.telemetry.log import get_logger

log: Final = get_logger(__name__)

# The worker's own alarm ends a render at its deadline, and its watchdog the process a second
# later; Celery's hard limit stands behind both.
HARD_LIMIT_GRACE_SECONDS: Final = 5.0

_QUEUES: Final = {Purpose.RENDER: INTERACTIVE, Purpose.VALIDATE: VALIDATE}


# A worker takes a message from the queue and writes down that it holds it in two steps (kombu's);
# killed between them, it takes the message with it.
_REQUEUE: Final = """
if redis.call('HEXISTS', KEYS[1], 'deliveries') == 1 then return 0 end
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then return 0 end
if redis.call('LPOS', KEYS[3], ARGV[2]) then return 0 end
redis.call('LPUSH', KEYS[3], ARGV[2])
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
        self._requeue = redis.register_script(_REQUEUE)

    def publish(self, job: RenderJob) -> Published:
        """Queue a job that the caller waits for: call `Replies.wait` at once.

        A repeated publish of the same job is harmless: only one run of it is committed.

        Raises:
            Unavailable: Redis is away; the job may or may not be queued.
        """
        queue = _QUEUES[job.purpose]
        delivery_tag = new_delivery_tag(queue)
        message = json.dumps(_message(job, queue, delivery_tag), separators=(",", ":"))
        with reachable(), self._redis.pipeline(transaction=False) as pipe:
            # Said before the job can end, or a quick one would find nobody waiting.
            renew_word(pipe, job.id)
            pipe.lpush(queue, message)
            pipe.execute()
        return Published(job.id, queue, delivery_tag, message)

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


def _message(job: RenderJob, queue: str, delivery_tag: str) -> dict[str, Any]:
    """Write the message as Celery's protocol 2 and kombu's Redis transport have it.

    Built by hand: `apply_async` costs 0.4 ms more, and the front need not load Celery
    (queueing.md B3).
    """
    seconds = max(job.deadline - epoch(), 0) + HARD_LIMIT_GRACE_SECONDS
    return {
        "body": json.dumps(([job.encode()], {}, {}), separators=(",", ":")),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {
            "lang": "py",
            "task": RENDER_TASK,
            "id": job.id,
            "root_id": job.id,
            "argsrepr": "",
            "kwargsrepr": "",
            "ignore_result": True,
            "retries": 0,
            "timelimit": [seconds, None],
            "admitted_at": job.admitted_at,  # read by `depth`, beside the job itself
        },
        "properties": {
            "correlation_id": job.id,
            "reply_to": "",
            "delivery_mode": 2,
            "delivery_info": {"exchange": "", "routing_key": queue},
            "delivery_tag": delivery_tag,
            "priority": 0,
        },
    }
