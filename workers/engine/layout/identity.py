"""A cache keyed by the identity of an object, for keys whose hash is slow or that have none."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

Entries = dict[tuple[Hashable, ...], tuple[object, Any]]


class IdentityCache:
    """Values by an object and further key parts.

    The object is compared by identity and kept alive as long as its entry, so that no other object
    can have its address. With `max_entries` the cache is emptied when it is full; `entries` are
    those of an earlier cache, to be used and added to.
    """

    __slots__ = ("_entries", "_max_entries")

    def __init__(self, entries: Entries | None = None, *, max_entries: int | None = None) -> None:
        self._entries: Entries = {} if entries is None else entries
        self._max_entries = max_entries

    def get(self, key: object, *parts: Hashable) -> Any:
        """Return the value of a key, None without one."""
        entry = self._entries.get((id(key), *parts))
        return None if entry is None else entry[1]

    def set(self, key: object, *parts: Hashable, value: Any) -> None:
        """Store a value, replacing an earlier one."""
        if self._max_entries is not None and len(self._entries) >= self._max_entries:
            self._entries.clear()
        self._entries[(id(key), *parts)] = (key, value)
