"""A front's word that it waits for a job: a render nobody will answer must not be metered."""

from __future__ import annotations

from typing import Any, Final

from redis import Redis

from shared.clock import epoch, ticks
from shared.queue.claims import CLAIM_TTL_SECONDS
from shared.queue.names import job_key

# A front renews its word every second. One that has not for this long has answered 503, after
# Redis was away, or is gone; `Commits.commit` then refuses a success.
AWAITED_SECONDS: Final = 4.0

# The first word comes with the message, and is a time rather than so many seconds: a server that
# hears of it late, because it stood still or was away, must not take it for one that was just said.
_PUBLISH: Final = """
local time = redis.call('TIME')
if time[1] + time[2] / 1000000 > tonumber(ARGV[1]) then return {0, time[1], time[2]} end
redis.call('HSET', KEYS[1], 'awaited_until', ARGV[1])
if redis.call('TTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
redis.call('LPUSH', KEYS[2], ARGV[3])
return {1, time[1], time[2]}
"""

# An answer that took no longer tells what the server's clock shows.
_QUICK_SECONDS: Final = 0.2


class ServerClock:
    """A server's clock, which may differ from this machine's by any time, as its answers tell it."""

    def __init__(self) -> None:
        self._ahead = 0.0  # seconds

    def read(self) -> float:
        """Give what it shows, in seconds since 1970."""
        return epoch() + self._ahead

    def note(self, shown: float, *, asked_at: float) -> bool:
        """Set it by an answer to what was asked at an instant of `ticks`; tell whether it was quick."""
        is_quick = ticks() - asked_at < _QUICK_SECONDS
        # Within that time they agree: who would follow each answer would follow their delays.
        if is_quick and abs(shown - self.read()) > _QUICK_SECONDS:
            self._ahead = shown - epoch()
        return is_quick


def publish(redis: Redis, job_id: str, queue: str, message: str, *, until: float) -> Any:
    """Queue a job and note that the front waits until then, by the server's clock.

    Return 1, or 0 where that is over and nothing is changed, and the server's time.
    """
    key = job_key(job_id)
    return redis.eval(_PUBLISH, 2, key, queue, repr(until), str(CLAIM_TTL_SECONDS), message)
