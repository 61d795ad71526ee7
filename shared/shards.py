"""Which Redis server an account lives on: the farm's shards by name, and how accounts fall to them.

A shard is a cell: whatever Redis holds of an account lies on one server, so that every step that
must happen whole stays one script. An account falls to a shard by the end of its id alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from threading import Thread
from typing import Final, Generic, TypeVar

T = TypeVar("T")

# Ids end in random characters of base32 (`identifiers.new_id`), so their last two are 1,024 slots
# that fill evenly, and that a database can filter by.
SLOT_LENGTH: Final = 2
_BASE32: Final = "abcdefghijklmnopqrstuvwxyz234567"
_SLOTS: Final = tuple(map("".join, product(_BASE32, repeat=SLOT_LENGTH)))
_ADDRESS: Final = re.compile(r"(?:(?P<name>[a-z0-9][a-z0-9-]{0,30})=)?(?P<url>[a-z]+://\S+)\Z")


@dataclass(frozen=True, slots=True)
class ShardAddress:
    """A shard's name, which decides who lives there, and where its server is, which does not."""

    name: str
    url: str


def parse_shards(text: str) -> tuple[ShardAddress, ...]:
    """Read one URL, or several with white space between them, each as `URL` or `NAME=URL`.

    A shard without a name has its position for one, from 0.

    Raises:
        ValueError: there is none, one is no URL, or two have one name; no URL is repeated, since
            it may hold a password.
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
    """Return the part of an account's id that decides where it lives."""
    return account_id[-SLOT_LENGTH:]


def find_home(slot: str, names: Sequence[str]) -> str:
    """Return the name of the shard that a slot falls to.

    The highest hash wins (rendezvous hashing): a shard that comes takes its share from each of the
    others, and one that goes leaves its own to them; nothing else moves.
    """
    return max(names, key=lambda name: sha256(f"{name} {slot}".encode()).digest())


class PerShard(Generic[T]):
    """One of something for each shard, found by account."""

    def __init__(self, shards: Sequence[ShardAddress], make: Callable[[ShardAddress], T]) -> None:
        self._parts = {shard.name: make(shard) for shard in shards}
        self._names = tuple(self._parts)
        self._only = self._parts[self._names[0]] if len(self._names) == 1 else None
        slots = () if self._only is not None else _SLOTS
        self._by_slot = {slot: self._parts[find_home(slot, self._names)] for slot in slots}

    def of(self, account_id: str) -> T:
        """Return the one of the shard that an account lives on."""
        if self._only is not None:
            return self._only
        slot = slot_of(account_id)
        home = self._by_slot.get(slot)
        # An id that nobody made here has another end.
        return home if home is not None else self._parts[find_home(slot, self._names)]

    def get(self, name: str) -> T:
        """Return the one of a shard by its name.

        Raises:
            KeyError: there is no such shard.
        """
        return self._parts[name]

    @property
    def only(self) -> T | None:
        """Return the one there is where there is one shard; None where there are several."""
        return self._only

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the shards."""
        return self._names

    def items(self) -> Iterator[tuple[str, T]]:
        """Iterate over all of them, each with the name of its shard."""
        return iter(self._parts.items())

    def values(self) -> Iterator[T]:
        """Iterate over all of them."""
        return iter(self._parts.values())


def count_moved(before: Sequence[str], after: Sequence[str]) -> float:
    """Return the share of the accounts that live elsewhere after a change of the shards, 0 to 1."""
    moved = sum(find_home(slot, before) != find_home(slot, after) for slot in _SLOTS)
    return moved / len(_SLOTS)


def name_part(name: str, count: int) -> str:
    """Name the part of a farm that one of its shards is: `queue` where there is one."""
    return "queue" if count == 1 else f"queue {name}"


def run_all(loops: Sequence[Callable[[], None]]) -> None:
    """Run loops side by side until all have ended: the first in this thread, the others beside it."""
    beside = [Thread(target=loop, daemon=True) for loop in loops[1:]]
    for thread in beside:
        thread.start()
    loops[0]()
    for thread in beside:
        thread.join()


def slots_of(name: str, names: Sequence[str]) -> frozenset[str] | None:
    """Return the slots that fall to a shard, for a query; None where one shard has them all."""
    if len(names) == 1:
        return None
    return frozenset(slot for slot in _SLOTS if find_home(slot, names) == name)
