"""The cached key states of all shards: each lies where the counters of its account do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from shared.buckets.admission import Admission, AdmissionCache
from shared.buckets.key_state import KeyState
from shared.metering import Totals
from shared.shards import PerShard

# What a process remembers of where keys live: 10 MB when it is full. Then it begins anew.
_MOST_HOMES: Final = 50_000


class KeyStates:
    """Key states, found by key where there is one shard.

    A key does not say whose it is. Where there are several shards, a process that meets a key for
    the first time reads its state from the database, and then knows for good where it lives.
    """

    def __init__(self, caches: PerShard[AdmissionCache]) -> None:
        self._caches = caches
        self._homes: dict[str, str] = {}

    def find(self, key_digest: str) -> Admission | None:
        """Return what is cached for a key, by the key's SHA-256; None when it is not known here."""
        only = self._caches.only
        if only is not None:
            return only.find(key_digest)
        account_id = self._homes.get(key_digest)
        return None if account_id is None else self._caches.of(account_id).find(key_digest)

    def put(self, key_digest: str, state: KeyState) -> None:
        """Cache the state the database has for a key; see `AdmissionCache.put`."""
        if self._caches.only is None:
            if len(self._homes) >= _MOST_HOMES:
                self._homes.clear()
            self._homes[key_digest] = state.account_id
        self._caches.of(state.account_id).put(key_digest, state)

    def drop(self, account_id: str, key_digests: Iterable[str]) -> None:
        """Forget keys of an account; see `AdmissionCache.drop`."""
        self._caches.of(account_id).drop(key_digests)

    def drop_all(self) -> None:
        """Forget every key, for a start after the database may have changed unseen."""
        for cache in self._caches.values():
            cache.drop_all()

    def seed_usage(self, account_id: str, period: str, totals: Totals) -> None:
        """Take the ledger's totals over as counters; counters that are there already stay."""
        self._caches.of(account_id).seed_usage(account_id, period, totals)

    def find_usage(self, account_id: str, period: str) -> Totals | None:
        """Return what is counted of a period, None where nothing was compared with the ledger yet."""
        return self._caches.of(account_id).find_usage(account_id, period)

    def unseed_usage(self, account_id: str, period: str) -> None:
        """Let a period's counters compared with the ledger again when they are next needed."""
        self._caches.of(account_id).unseed_usage(account_id, period)
