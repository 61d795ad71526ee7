"""Sharding: the farm's Redis servers by name, and the assignment of accounts to them.

All Redis state of an account is on one server, so that every atomic step is one script. The end of an
account's id determines its shard.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from typing import Final, Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")

# Ids end in random base32 characters (`identifiers.new_id`), so the last two are 1,024 evenly filled
# hash slots, which database queries can filter by.
SLOT_LENGTH: Final = 2
_BASE32: Final = "abcdefghijklmnopqrstuvwxyz234567"
_SLOTS: Final = tuple(map("".join, product(_BASE32, repeat=SLOT_LENGTH)))
_ADDRESS: Final = re.compile(r"(?:(?P<name>[a-z0-9][a-z0-9-]{0,30})=)?(?P<url>[a-z]+://\S+)\Z")


@dataclass(frozen=True, slots=True)
class ShardAddress:
    """A shard's name, which determines its accounts, and the URL of its server."""

    name: str
    url: str


def parse_shards(text: str) -> tuple[ShardAddress, ...]:
    """Parse shards separated by white space, each as `URL` or `NAME=URL`.

    The default name of a shard is its position, from 0.

    Raises:
        ValueError: there is no shard, a URL is invalid, or two shards have the same name; the message
            omits URLs, since they may contain passwords.
    """
    shards = []
    for position, part in enumerate(text.split()):
        found = _ADDRESS.match(part)
        if found is None or found["url"].count("://") > 1:
            raise ValueError(
                f"entry {position + 1} is neither a URL nor NAME=URL; put spaces between several"
            )
        shards.append(ShardAddress(found["name"] or str(position), found["url"]))
    if not shards:
        raise ValueError("a URL is needed")
    names = [shard.name for shard in shards]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"two shards have the name {min(repeated)!r}")
    return tuple(shards)


def slot_of(account_id: str) -> str:
    """Return the hash slot of an account: the end of its id."""
    return account_id[-SLOT_LENGTH:]


def find_shard(slot: str, names: Sequence[str]) -> str:
    """Return the name of the shard that a slot is assigned to.

    Rendezvous hashing: the shard with the highest hash has the slot. A new shard receives an equal share
    from each other shard, and the share of a removed one is spread over the others; no other slot moves.
    """
    return max(names, key=lambda name: sha256(f"{name} {slot}".encode()).digest())


class PerShard(Generic[T]):
    """An object for each shard, found by account."""

    def __init__(self, shards: Sequence[ShardAddress], make: Callable[[ShardAddress], T]) -> None:
        self._shards = tuple(shards)
        self._parts = {shard.name: make(shard) for shard in shards}
        self._names = tuple(self._parts)
        self._only = self._parts[self._names[0]] if len(self._names) == 1 else None
        slots = () if self._only is not None else _SLOTS
        self._by_slot = {slot: self._parts[find_shard(slot, self._names)] for slot in slots}

    def of(self, account_id: str) -> T:
        """Return the object of an account's shard."""
        if self._only is not None:
            return self._only
        slot = slot_of(account_id)
        home = self._by_slot.get(slot)
        # An id from elsewhere may have another end.
        return home if home is not None else self._parts[find_shard(slot, self._names)]

    def get(self, name: str) -> T:
        """Return the object of a shard, by name.

        Raises:
            KeyError: there is no such shard.
        """
        return self._parts[name]

    def map(self, part: Callable[[T], U]) -> PerShard[U]:
        """Return a part of the object of each shard."""
        return PerShard(self._shards, lambda shard: part(self._parts[shard.name]))

    @property
    def only(self) -> T | None:
        """The object of the only shard; None if there are several."""
        return self._only

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the shards."""
        return self._names

    def items(self) -> Iterator[tuple[str, T]]:
        """Iterate over shard names and objects."""
        return iter(self._parts.items())

    def values(self) -> Iterator[T]:
        """Iterate over the objects."""
        return iter(self._parts.values())


def count_moved(before: Sequence[str], after: Sequence[str]) -> float:
    """Return the share of accounts that a change of the shard set moves, 0 to 1."""
    moved = sum(find_shard(slot, before) != find_shard(slot, after) for slot in _SLOTS)
    return moved / len(_SLOTS)


def component_name(name: str, count: int) -> str:
    """Return the component name of a shard: `queue` if it is the only one."""
    return "queue" if count == 1 else f"queue {name}"


def slots_of(name: str, names: Sequence[str]) -> frozenset[str] | None:
    """Return the slots of a shard, for a query; None if it is the only shard."""
    if len(names) == 1:
        return None
    return frozenset(slot for slot in _SLOTS if find_shard(slot, names) == name)
