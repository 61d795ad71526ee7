"""A cache keyed by the identity of an object, for keys whose hash is slow or that have none."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any


class IdentityCache:
    """Values by an object and further key parts.

    The object is compared by identity and kept alive as long as its entry, so that no other object
    can have its address.
    """

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[tuple[Hashable, ...], tuple[object, Any]] = {}

    def get(self, key: object, *parts: Hashable) -> Any:
        """Return the value of a key, None without one."""
        entry = self._entries.get((id(key), *parts))
        return None if entry is None else entry[1]

    def set(self, key: object, *parts: Hashable, value: Any) -> None:
        """Store a value, replacing an earlier one."""
        self._entries[(id(key), *parts)] = (key, value)
