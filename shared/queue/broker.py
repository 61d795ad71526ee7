"""The front's side of the queue: a job becomes a message that a worker takes."""

from __future__ import annotations

import json
import uuid
from typing import Any, Final

from redis import Redis

from shared.clock import epoch
from shared.jobs import RenderJob
from shared.queue.connection import reachable
from shared.queue.names import INTERACTIVE, RENDER_TASK
from shared.queue.presence import renew_word

# The worker's own alarm ends a render at its deadline, and its watchdog the process a second
# later; Celery's hard limit stands behind both.
HARD_LIMIT_GRACE_SECONDS: Final = 5.0


class Broker:
    """Sends jobs to the workers."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def publish(self, job: RenderJob) -> None:
        """Queue a render that the caller waits for: call `Replies.wait` at once.

        A repeated publish of the same job is harmless: only one run of it is committed.

        Raises:
            Unavailable: Redis is away; the job may or may not be queued.
        """
        message = json.dumps(_message(job), separators=(",", ":"))
        with reachable(), self._redis.pipeline(transaction=False) as pipe:
            # Said before the job can end, or a quick one would find nobody waiting.
            renew_word(pipe, job.id)
            pipe.lpush(INTERACTIVE, message)
            pipe.execute()


def _message(job: RenderJob) -> dict[str, Any]:
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
        },
        "properties": {
            "correlation_id": job.id,
            "reply_to": "",
            "delivery_mode": 2,
            "delivery_info": {"exchange": "", "routing_key": INTERACTIVE},
            "delivery_tag": str(uuid.uuid4()),
            "priority": 0,
        },
    }
