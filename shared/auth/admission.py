"""What admits a request: API keys and usage counters, read in one Redis round trip, and rate limits by `limits`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from datetime import date
from functools import lru_cache
from typing import Final, cast

from redis import Redis

from shared.auth.key_state import Admission, KeyState, Rate
from shared.clock import machine_epoch, now
from shared.jobs.records import Allowance
from shared.queue.connection import reachable, register, scan
from shared.shards import PerShard
from shared.telemetry.observer import NULL_OBSERVER, Cache, Observer, count_lookup
from shared.usage.metering import COUNTER_TTL_SECONDS, SEEDED, Totals, Usage, usage_key
from shared.usage.periods import find_period

# A cached state is updated on every change; the time to live only removes unused keys.
STATE_TTL_SECONDS: Final = 24 * 3600

# After a key is invalidated, nothing is cached under it for this long: a state read from the database
# before the change must not be cached after it.
TOMBSTONE_SECONDS: Final = 10

_PACKAGE: Final = "shared.auth"
_STATE_PREFIX: Final = "key:"
_FIELDS: Final = (
    *(f"{allowance}:{name}" for allowance in Allowance for name in ("pages", "calls", "cpu")),
    SEEDED,
)


class AdmissionCache:
    """The cached states of keys; every change of a key or an account must update it.

    Every method raises `Unavailable("queue")` if Redis does not answer.
    """

    def __init__(self, redis: Redis, *, observer: Observer = NULL_OBSERVER) -> None:
        self._redis = redis
        self._observer = observer
        self._find = register(redis, "find_key", package=_PACKAGE)
        self._put = register(redis, "put_key", package=_PACKAGE)
        self._drop = register(redis, "drop_keys", package=_PACKAGE)
        self._seed = register(redis, "seed_usage", package=_PACKAGE)

    def find(self, key_digest: str) -> Admission | None:
        """Return the cached state for the SHA-256 of a key, or None."""
        starts = _period_starts(now().date())
        with reachable():
            found = self._find(keys=[_state_key(key_digest)], args=list(starts))
        text, counters = cast("tuple[bytes | None, list[bytes | None]]", found or (None, []))
        state = None if text is None else _read_state(text)
        count_lookup(self._observer, Cache.KEYS, is_hit=state is not None)
        if state is None:
            return None
        period = find_period(now().date(), renewal_day=state.renewal_day)
        return Admission(state, period, _totals(counters))

    def put(self, key_digest: str, state: KeyState) -> None:
        """Cache the state of a key as read from the database, unless the key was just invalidated."""
        args: list[str | int] = [
            STATE_TTL_SECONDS,
            state.encode(),
            state.account_id,
            state.renewal_day,
        ]
        with reachable():
            self._put(keys=[_state_key(key_digest)], args=args)

    def drop(self, key_digests: Iterable[str]) -> None:
        """Invalidate keys, so that their next request reads the database.

        Call it after the change is committed.
        """
        keys = [_state_key(digest) for digest in key_digests]
        if keys:
            with reachable():
                self._drop(keys=keys, args=[TOMBSTONE_SECONDS])

    def drop_all(self) -> None:
        """Invalidate every key, for a start after the database may have been changed outside."""
        with reachable():
            for keys in scan(self._redis, _state_key("*")):
                self._redis.delete(*keys)

    def seed_usage(self, account_id: str, period: str, totals: Totals) -> None:
        """Add the ledger's totals to the counters; counters that were seeded before stay."""
        values = (*astuple(totals.production), *astuple(totals.draft))
        pairs: list[str | int] = [
            part for pair in zip(_FIELDS, values, strict=False) for part in pair
        ]
        with reachable():
            self._seed(keys=[usage_key(account_id, period)], args=[COUNTER_TTL_SECONDS, *pairs])

    def find_usage(self, account_id: str, period: str) -> Totals | None:
        """Return the counters of a period, or None if they were not compared with the ledger yet."""
        with reachable():
            counters = self._redis.hmget(usage_key(account_id, period), *_FIELDS)
        return _totals(cast("list[bytes | None]", counters))

    def invalidate_usage(self, account_id: str, period: str) -> None:
        """Invalidate a period's counters, so that the next read compares them with the ledger."""
        with reachable():
            self._redis.hdel(usage_key(account_id, period), SEEDED)

    def invalidate_all_usage(self) -> int:
        """Invalidate the counters of every account; return how many were seeded."""
        count = 0
        with reachable():
            for keys in scan(self._redis, usage_key("*", "*")):
                pipe = self._redis.pipeline(transaction=False)
                for key in keys:
                    pipe.hdel(key, SEEDED)
                count += sum(pipe.execute())
        return count


def _read_state(text: bytes) -> KeyState | None:
    try:
        return KeyState.decode(text)
    except ValueError:  # as another version of the service wrote it
        return None


def _state_key(key_digest: str) -> str:
    return f"{_STATE_PREFIX}{key_digest}"


@lru_cache(maxsize=2)
def _period_starts(today: date) -> tuple[str, ...]:
    return tuple(find_period(today, renewal_day=day).key for day in range(1, 32))


def _totals(counters: list[bytes | None]) -> Totals | None:
    *counts, seeded = counters
    if seeded is None:
        return None
    numbers = [int(count or 0) for count in counts]
    return Totals(Usage(*numbers[:3]), Usage(*numbers[3:]))


# The most shards of keys that a process remembers, 10 MB; then the memory is cleared.
_MAX_HOMES: Final = 50_000


class ShardedAdmissionCache:
    """Finds a key's state on the shard of its account.

    A key does not contain its account. With several shards, a process that sees a key for the first
    time reads its state from the database, and then remembers the account.
    """

    def __init__(self, caches: PerShard[AdmissionCache]) -> None:
        self._caches = caches
        self._homes: dict[str, str] = {}

    def find(self, key_digest: str) -> Admission | None:
        """Return the cached state for the SHA-256 of a key, or None."""
        only = self._caches.only
        if only is not None:
            return only.find(key_digest)
        account_id = self._homes.get(key_digest)
        return None if account_id is None else self._caches.of(account_id).find(key_digest)

    def put(self, key_digest: str, state: KeyState) -> None:
        """Cache the state of a key; see `AdmissionCache.put`."""
        if self._caches.only is None:
            if len(self._homes) >= _MAX_HOMES:
                self._homes.clear()
            self._homes[key_digest] = state.account_id
        self._caches.of(state.account_id).put(key_digest, state)

    def drop(self, account_id: str, key_digests: Iterable[str]) -> None:
        """Invalidate keys of an account; see `AdmissionCache.drop`."""
        self._caches.of(account_id).drop(key_digests)

    def of(self, account_id: str) -> AdmissionCache:
        """Return the cache on the shard of an account."""
        return self._caches.of(account_id)


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
        # Late: workers read this module too, and limit no rates.
        from limits import RateLimitItemPerMinute, RateLimitItemPerSecond
        from limits.storage import RedisStorage
        from limits.strategies import SlidingWindowCounterRateLimiter

        self._items = {1: RateLimitItemPerSecond, 60: RateLimitItemPerMinute}
        # The farm's own connection pool, for its protocol and timeouts.
        storage = RedisStorage("redis://", connection_pool=redis.connection_pool, key_prefix="rate")
        self._limiter = SlidingWindowCounterRateLimiter(storage)

    def take(self, account_id: str, rate: Rate, *, policy: str = ACCOUNT) -> RateStatus:
        """Count one request and return the state of the rate; a request over the rate is not counted.

        Each policy has its own window.

        Raises:
            Unavailable: Redis does not answer.
        """
        item = self._items[rate.window_seconds](rate.requests)
        names = (account_id,) if policy == ACCOUNT else (account_id, policy)
        with reachable():
            is_within = self._limiter.hit(item, *names)
            stats = self._limiter.get_window_stats(item, *names)
        reset_seconds = min(max(stats.reset_time - machine_epoch(), 0.0), 2.0 * rate.window_seconds)
        remaining = max(stats.remaining, 0) if is_within else 0
        return RateStatus(rate, not is_within, remaining, reset_seconds, policy)
