"""What the front knows of a key without asking the database: one Redis round trip (design.md 5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Final, cast

from redis import Redis

from shared.buckets.key_state import KeyState
from shared.buckets.recent import CHANGES, EVERY_KEY, RecentKeys
from shared.clock import now
from shared.metering import COUNTER_TTL_SECONDS, Totals, Usage, usage_key
from shared.periods import Period, find_period
from shared.queue.connection import reachable, scan
from shared.queue.scripts import register
from shared.telemetry.watch import UNWATCHED, Cache, Watch

# A cached state is written through on every change; this only clears away keys nobody uses.
STATE_TTL_SECONDS: Final = 24 * 3600

# A state read from the database before a change must not be cached after it: for this long after a
# drop, nothing is cached under the key.
TOMBSTONE_SECONDS: Final = 10

_PACKAGE: Final = "shared.buckets"
_STATE_PREFIX: Final = "key:"
_FIELDS: Final = ("production:pages", "production:calls", "draft:pages", "draft:calls", "seeded")


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
        self._find = register(redis, "find_key", package=_PACKAGE)
        self._put = register(redis, "put_key", package=_PACKAGE)
        self._drop = register(redis, "drop_keys", package=_PACKAGE)
        self._seed = register(redis, "seed_usage", package=_PACKAGE)

    def find(self, key_digest: str) -> Admission | None:
        """Return what is cached for a key, by the key's SHA-256; None when nothing is.

        A state read a moment ago is given again, without what was used, unless it has changed.
        """
        today = now().date()
        recent = self._recent.find(key_digest, today=today)
        if recent is not None:
            self._watch.count_look(Cache.KEYS, is_hit=True)
            return recent
        begun = self._recent.begin()
        with reachable(self._redis):
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
            CHANGES,
        ]
        with reachable(self._redis):
            self._put(keys=[_state_key(key_digest)], args=args)

    def drop(self, key_digests: Iterable[str]) -> None:
        """Forget keys, so that the next request with them reads the database.

        Call it after the change is committed.
        """
        keys = [_state_key(digest) for digest in key_digests]
        if keys:
            with reachable(self._redis):
                self._drop(keys=keys, args=[TOMBSTONE_SECONDS, CHANGES])
            self._recent.forget()  # without waiting for word of what this process did itself

    def drop_all(self) -> None:
        """Forget every key, for a start after the database may have changed unseen."""
        with reachable(self._redis):
            for keys in scan(self._redis, _state_key("*")):
                self._redis.delete(*keys)
            self._redis.publish(CHANGES, EVERY_KEY)

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
        with reachable(self._redis):
            self._seed(keys=[usage_key(account_id, period)], args=[COUNTER_TTL_SECONDS, *pairs])

    def find_usage(self, account_id: str, period: str) -> Totals | None:
        """Return what is counted of a period, None where nothing was compared with the ledger yet."""
        with reachable(self._redis):
            counters = self._redis.hmget(usage_key(account_id, period), *_FIELDS)
        return _totals(cast("list[bytes | None]", counters))

    def unseed_usage(self, account_id: str, period: str) -> None:
        """Let a period's counters compared with the ledger again when they are next needed."""
        with reachable(self._redis):
            self._redis.hdel(usage_key(account_id, period), "seeded")

    def unseed_all(self) -> int:
        """Do this for the counters of every account; gives how many were seeded."""
        count = 0
        with reachable(self._redis):
            for keys in scan(self._redis, usage_key("*", "*")):
                pipe = self._redis.pipeline(transaction=False)
                for key in keys:
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
