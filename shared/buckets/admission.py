"""What the front knows of a key without asking the database: one Redis round trip (design.md 5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Final, cast

from redis import Redis, RedisError

from shared.buckets.key_state import KeyState
from shared.buckets.recent import RecentKeys
from shared.clock import now
from shared.errors import Unavailable
from shared.metering import COUNTER_TTL_SECONDS, Totals, Usage, usage_key
from shared.periods import Period, find_period
from shared.telemetry.watch import UNWATCHED, Cache, Watch

# A cached state is written through on every change; this only clears away keys nobody uses.
STATE_TTL_SECONDS: Final = 24 * 3600

# A state read from the database before a change must not be cached after it: for this long after a
# drop, nothing is cached under the key.
TOMBSTONE_SECONDS: Final = 10

_STATE_PREFIX: Final = "key:"
_FIELDS: Final = ("production:pages", "production:calls", "draft:pages", "draft:calls", "seeded")

# ARGV[1..31] are the current period's start for each renewal day, so that the state and the
# counters of its current period (`shared.metering.usage_key`) come back together.
_FIND: Final = """
local entry = redis.call('HMGET', KEYS[1], 'state', 'account', 'renewal')
if not entry[1] then return false end
local period = ARGV[tonumber(entry[3])]
local used = redis.call('HMGET', 'usage:' .. entry[2] .. ':' .. period,
    'production:pages', 'production:calls', 'draft:pages', 'draft:calls', 'seeded')
return {entry[1], used}
"""

_PUT: Final = """
if redis.call('HEXISTS', KEYS[1], 'dropped') == 1 then return 0 end
redis.call('HSET', KEYS[1], 'state', ARGV[2], 'account', ARGV[3], 'renewal', ARGV[4])
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1
"""

_DROP: Final = """
for _, key in ipairs(KEYS) do
    redis.call('DEL', key)
    redis.call('HSET', key, 'dropped', 1)
    redis.call('EXPIRE', key, ARGV[1])
end
"""

# What was counted since the counters were lost may or may not be in the ledger already: the
# larger of the two is kept, which is exact for the usual case of no counters at all.
_SEED: Final = """
if redis.call('HEXISTS', KEYS[1], 'seeded') == 1 then return 0 end
for i = 2, #ARGV, 2 do
    local have = tonumber(redis.call('HGET', KEYS[1], ARGV[i]) or '0')
    redis.call('HSET', KEYS[1], ARGV[i], math.max(have, tonumber(ARGV[i + 1])))
end
redis.call('HSET', KEYS[1], 'seeded', 1)
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1
"""


@dataclass(frozen=True, slots=True)
class Admission:
    """A key's state and what its account used in the current period.

    `used` is None where it was not read, or the counters are missing: ask `find_usage`, and rebuild
    them from the ledger with `seed_usage`.
    """

    state: KeyState
    period: Period
    used: Totals | None


class AdmissionCache:
    """The cached key states, written through by whoever changes a key or an account.

    Every method raises `Unavailable("queue")` when Redis is away.
    """

    def __init__(self, redis: Redis, *, watch: Watch = UNWATCHED) -> None:
        self._redis = redis
        self._watch = watch
        self._recent = RecentKeys(redis, prefix=_STATE_PREFIX)
        self._find = redis.register_script(_FIND)
        self._put = redis.register_script(_PUT)
        self._drop = redis.register_script(_DROP)
        self._seed = redis.register_script(_SEED)

    def find(self, key_digest: str) -> Admission | None:
        """Give what is cached for a key, by the key's SHA-256; None when nothing is.

        A state read a moment ago is given again, without what was used, unless it has changed.
        """
        today = now().date()
        recent = self._recent.find(key_digest, today=today)
        if recent is not None:
            self._watch.count_look(Cache.KEYS, is_hit=True)
            return recent
        begun = self._recent.begin()
        with _reachable():
            found = self._find(keys=[_state_key(key_digest)], args=list(_period_starts(today)))
        self._watch.count_look(Cache.KEYS, is_hit=found is not None)
        if found is None:
            return None
        text, counters = cast("tuple[bytes, list[bytes | None]]", found)
        state = KeyState.decode(text)
        period = find_period(today, renewal_day=state.renewal_day)
        if begun is not None and not state.is_capped:
            kept = Admission(state, period, None)
            self._recent.keep(key_digest, kept, today=today, begun=begun)
        return Admission(state, period, _totals(counters))

    def put(self, key_digest: str, state: KeyState) -> None:
        """Cache the state the database has for a key, unless the key was dropped a moment ago."""
        args: list[str | int] = [
            STATE_TTL_SECONDS,
            state.encode(),
            state.account_id,
            state.renewal_day,
        ]
        with _reachable():
            self._put(keys=[_state_key(key_digest)], args=args)

    def drop(self, key_digests: Iterable[str]) -> None:
        """Forget keys, so that the next request with them reads the database.

        Call it after the change is committed.
        """
        keys = [_state_key(digest) for digest in key_digests]
        if keys:
            with _reachable():
                self._drop(keys=keys, args=[TOMBSTONE_SECONDS])
            self._recent.forget()  # without waiting for word of what this process did itself

    def drop_all(self) -> None:
        """Forget every key, for a start after the database may have changed unseen."""
        with _reachable():
            for batch in _batches(self._redis.scan_iter(_state_key("*"), count=1000)):
                self._redis.delete(*batch)

    def seed_usage(self, account_id: str, period: str, totals: Totals) -> None:
        """Take the ledger's totals over as counters; counters that are there already stay."""
        values = (
            totals.production.pages,
            totals.production.calls,
            totals.draft.pages,
            totals.draft.calls,
        )
        pairs: list[str | int] = [
            part for pair in zip(_FIELDS, values, strict=False) for part in pair
        ]
        with _reachable():
            self._seed(keys=[usage_key(account_id, period)], args=[COUNTER_TTL_SECONDS, *pairs])

    def find_usage(self, account_id: str, period: str) -> Totals | None:
        """Give what is counted of a period, None where nothing was compared with the ledger yet."""
        with _reachable():
            counters = self._redis.hmget(usage_key(account_id, period), *_FIELDS)
        return _totals(cast("list[bytes | None]", counters))

    def unseed_usage(self, account_id: str, period: str) -> None:
        """Have a period's counters compared with the ledger again when they are next needed."""
        with _reachable():
            self._redis.hdel(usage_key(account_id, period), "seeded")

    def unseed_all(self) -> int:
        """Do this for the counters of every account; gives how many were seeded."""
        count = 0
        with _reachable():
            for batch in _batches(self._redis.scan_iter(usage_key("*", "*"), count=1000)):
                pipe = self._redis.pipeline(transaction=False)
                for key in batch:
                    pipe.hdel(key, "seeded")
                count += sum(pipe.execute())
        return count


def _state_key(key_digest: str) -> str:
    return f"{_STATE_PREFIX}{key_digest}"


@lru_cache(maxsize=2)
def _period_starts(today: date) -> tuple[str, ...]:
    return tuple(find_period(today, renewal_day=day).key for day in range(1, 32))


def _totals(counters: list[bytes | None]) -> Totals | None:
    *counts, seeded = counters
    if seeded is None:
        return None
    pages, calls, draft_pages, draft_calls = (int(count or 0) for count in counts)
    return Totals(Usage(pages, calls), Usage(draft_pages, draft_calls))


def _batches(keys: Iterable[bytes], *, size: int = 500) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    for key in keys:
        batch.append(key)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


@contextmanager
def _reachable() -> Iterator[None]:
    try:
        yield
    except RedisError as error:
        raise Unavailable("queue") from error
