"""A front's note that it waits for a job: a render that nobody receives must not be metered."""

from __future__ import annotations

from typing import Final

from redis import Redis

from shared.queue.claims import CLAIM_TTL_SECONDS
from shared.queue.names import job_key
from shared.queue.scripts import register

# A front renews its note every second. One that has not for this long has answered 503, after
# Redis was away, or is gone; `Commits.commit` then refuses a success.
AWAITED_SECONDS: Final = 4.0


class Presence:
    """Notes that a front waits; its methods raise `RedisError`."""

    def __init__(self, redis: Redis) -> None:
        self._await = register(redis, "await")

    def note(self, job_id: str, *, client: Redis | None = None) -> None:
        """Note that the front waits for `AWAITED_SECONDS` from now; `client` may be a pipeline."""
        args: list[str | float] = [AWAITED_SECONDS, CLAIM_TTL_SECONDS]
        self._await(keys=[job_key(job_id)], args=args, client=client)
