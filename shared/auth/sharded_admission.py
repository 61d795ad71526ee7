"""The cached key states of all shards: each on the shard of its account's counters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from shared.auth.admission import AdmissionCache
from shared.auth.key_state import Admission, KeyState
from shared.shards import PerShard
from shared.usage.metering import Totals

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

    def drop_all(self) -> None:
        """Invalidate every key; see `AdmissionCache.drop_all`."""
        for cache in self._caches.values():
            cache.drop_all()

    def seed_usage(self, account_id: str, period: str, totals: Totals) -> None:
        """Add the ledger's totals to the counters; see `AdmissionCache.seed_usage`."""
        self._caches.of(account_id).seed_usage(account_id, period, totals)

    def find_usage(self, account_id: str, period: str) -> Totals | None:
        """Return the counters of a period; see `AdmissionCache.find_usage`."""
        return self._caches.of(account_id).find_usage(account_id, period)

    def invalidate_usage(self, account_id: str, period: str) -> None:
        """Invalidate a period's counters; see `AdmissionCache.invalidate_usage`."""
        self._caches.of(account_id).invalidate_usage(account_id, period)
