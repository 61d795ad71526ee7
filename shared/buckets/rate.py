"""How many requests an account may send: a sliding window in Redis, kept by the `limits` library."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from limits import RateLimitItem, RateLimitItemPerMinute, RateLimitItemPerSecond
from limits.storage import RedisStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from redis import Redis

from shared.clock import machine_epoch
from shared.queue.connection import reachable

_WINDOWS: Final = {"second": 1, "minute": 60}
_ITEMS: Final[dict[int, type[RateLimitItem]]] = {
    1: RateLimitItemPerSecond,
    60: RateLimitItemPerMinute,
}
_RATE: Final = re.compile(r"([1-9][0-9]{0,8})/(second|minute)\Z")


@dataclass(frozen=True, slots=True)
class Rate:
    """So many requests in any window of so many seconds, all of them at once if need be."""

    requests: int
    window_seconds: int


@dataclass(frozen=True, slots=True)
class Spent:
    """What one request left of a rate; `reset_seconds` is when more is to be had."""

    rate: Rate
    is_over: bool
    remaining: int
    reset_seconds: float


def parse_rate(text: str) -> Rate:
    """Read `N/second` or `N/minute`, as accounts carry it.

    Raises:
        ValueError: the text is neither.
    """
    found = _RATE.match(text)
    if found is None:
        raise ValueError(f"{text!r} is not of the form N/second or N/minute")
    return Rate(int(found[1]), _WINDOWS[found[2]])


class RateLimiter:
    """Counts requests by account, for all processes of the front together."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        # Our own client's connections: its protocol, its patience, its pool.
        storage = RedisStorage("redis://", connection_pool=redis.connection_pool, key_prefix="rate")
        self._limiter = SlidingWindowCounterRateLimiter(storage)

    def take(self, account_id: str, rate: Rate) -> Spent:
        """Count one request; one that is over the rate counts nothing.

        Raises:
            Unavailable: Redis is away.
        """
        item = _ITEMS[rate.window_seconds](rate.requests)
        with reachable(self._redis):
            is_within = self._limiter.hit(item, account_id)
            stats = self._limiter.get_window_stats(item, account_id)
        reset_seconds = min(max(stats.reset_time - machine_epoch(), 0.0), 2.0 * rate.window_seconds)
        remaining = max(stats.remaining, 0) if is_within else 0
        return Spent(rate, not is_within, remaining, reset_seconds)
