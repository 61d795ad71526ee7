"""Rate limits of accounts: a sliding window in Redis, by the `limits` library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from limits import RateLimitItem, RateLimitItemPerMinute, RateLimitItemPerSecond
from limits.storage import RedisStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from redis import Redis

from shared.auth.key_state import Rate
from shared.clock import machine_epoch
from shared.queue.connection import reachable

_ITEMS: Final[dict[int, type[RateLimitItem]]] = {
    1: RateLimitItemPerSecond,
    60: RateLimitItemPerMinute,
}
ACCOUNT: Final = "account"
PREVIEW: Final = "preview"


@dataclass(frozen=True, slots=True)
class RateStatus:
    """The state of a rate after one request; `reset_seconds` is the time until the window resets.

    `policy` names the rate: that of the account, or of one kind of its requests.
    """

    rate: Rate
    is_over: bool
    remaining: int
    reset_seconds: float
    policy: str = ACCOUNT


class RateLimiter:
    """Counts requests by account over all processes of the front."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        # The farm's own connection pool, for its protocol and timeouts.
        storage = RedisStorage("redis://", connection_pool=redis.connection_pool, key_prefix="rate")
        self._limiter = SlidingWindowCounterRateLimiter(storage)

    def take(self, account_id: str, rate: Rate, *, policy: str = ACCOUNT) -> RateStatus:
        """Count one request and return the state of the rate; a request over the rate is not counted.

        Each policy has its own window.

        Raises:
            Unavailable: Redis does not answer.
        """
        item = _ITEMS[rate.window_seconds](rate.requests)
        names = (account_id,) if policy == ACCOUNT else (account_id, policy)
        with reachable():
            is_within = self._limiter.hit(item, *names)
            stats = self._limiter.get_window_stats(item, *names)
        reset_seconds = min(max(stats.reset_time - machine_epoch(), 0.0), 2.0 * rate.window_seconds)
        remaining = max(stats.remaining, 0) if is_within else 0
        return RateStatus(rate, not is_within, remaining, reset_seconds, policy)
