"""Tracks whether a front still waits for a job: a render that no client receives is not metered."""

from __future__ import annotations

from typing import Final

from redis import Redis

from shared.queue.claims import CLAIM_TTL_SECONDS
from shared.queue.connection import register
from shared.queue.names import job_key

# A front renews its presence every second. After this time without renewal it has answered 503 or
# has died; `Commits.commit` then rejects a success.
AWAITED_SECONDS: Final = 4.0
# A published job counts as awaited for this long. Shorter than the time-out of a broker that does not
# answer, after which the front answers 503.
PUBLISHED_SECONDS: Final = 3.0


class ClientPresence:
    """Records that a front waits for a job; methods raise `RedisError`."""

    def __init__(self, redis: Redis) -> None:
        self._await = register(redis, "await")

    def renew(self, job_id: str, *, client: Redis | None = None) -> None:
        """Record that the front waits for another `AWAITED_SECONDS`; `client` may be a pipeline."""
        args: list[str | float] = [AWAITED_SECONDS, CLAIM_TTL_SECONDS]
        self._await(keys=[job_key(job_id)], args=args, client=client)
