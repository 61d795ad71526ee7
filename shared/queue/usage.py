"""The usage stream: page events wait here, in order, until the ledger has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from redis import Redis
from redis.exceptions import ResponseError

from shared.queue.connection import BLOCK_SECONDS, reachable
from shared.queue.names import DEAD_EVENTS, FARM_TOTALS, USAGE_GROUP, USAGE_STREAM

# An entry this old in another reader's hands was left by one that died. Taking a living reader's
# is harmless: the ledger counts each job once.
LEFT_BEHIND_MS: Final = 5_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the stream: its id there, and the event's text."""

    id: bytes
    event: bytes


class UsageStream:
    """Reads the stream as one member of the counters' group.

    Every method raises `Unavailable("queue")` when Redis is away.
    """

    def __init__(self, redis: Redis, *, reader: str) -> None:
        self._redis = redis
        self._reader = reader

    def open(self) -> None:
        """Make the group, from the first event on; making it again changes nothing."""
        with reachable():
            try:
                self._redis.xgroup_create(USAGE_STREAM, USAGE_GROUP, id="0", mkstream=True)
            except ResponseError as error:
                if not str(error).startswith("BUSYGROUP"):
                    raise

    def read(self, *, count: int) -> Sequence[Entry]:
        """Take up to `count` new entries, waiting a second for the first."""
        with reachable():
            found = self._redis.xreadgroup(
                USAGE_GROUP,
                self._reader,
                {USAGE_STREAM: ">"},
                count=count,
                block=int(BLOCK_SECONDS * 1000),
            )
        return [entry for _, entries in cast("Any", found) or () for entry in _entries(entries)]

    def reclaim(self, *, count: int) -> Sequence[Entry]:
        """Take over up to `count` entries that a reader took and never acknowledged."""
        with reachable():
            found = self._redis.xautoclaim(
                USAGE_STREAM, USAGE_GROUP, self._reader, LEFT_BEHIND_MS, count=count
            )
        return list(_entries(cast("Any", found)[1]))

    def acknowledge(
        self, entries: Sequence[Entry], *, beside: Mapping[str, float] | None = None
    ) -> None:
        """Remove entries that the ledger has; a repeat changes nothing.

        `beside` are increments of the farm's totals, which a repeat may add twice.
        """
        ids = [entry.id for entry in entries]
        if not ids:
            return
        with reachable(), self._redis.pipeline() as pipe:
            pipe.xack(USAGE_STREAM, USAGE_GROUP, *ids)
            pipe.xdel(USAGE_STREAM, *ids)
            for field, amount in (beside or {}).items():
                pipe.hincrbyfloat(FARM_TOTALS, field, amount)
            pipe.execute()

    def bury(self, entry: Entry, *, reason: str) -> None:
        """Move an entry that is no event to the dead ones, where a person can look at it."""
        with reachable(), self._redis.pipeline() as pipe:
            pipe.xadd(DEAD_EVENTS, {"event": entry.event, "reason": reason, "id": entry.id})
            pipe.xack(USAGE_STREAM, USAGE_GROUP, entry.id)
            pipe.xdel(USAGE_STREAM, entry.id)
            pipe.execute()


def find_newest(redis: Redis) -> bytes | None:
    """Return the id of the newest event that is not in the ledger yet, None when all are.

    Raises:
        Unavailable: Redis is away.
    """
    with reachable():
        found = cast("list[Any]", redis.xrevrange(USAGE_STREAM, count=1))
    return found[0][0] if found else None


def count_older(redis: Redis, newest: bytes) -> int:
    """Count the events up to this one that are not in the ledger yet, to a thousand.

    Raises:
        Unavailable: Redis is away.
    """
    with reachable():
        return len(cast("list[Any]", redis.xrange(USAGE_STREAM, max=newest, count=1000)))


def _entries(found: Any) -> list[Entry]:
    # An entry that was deleted while it was pending comes back without fields.
    return [Entry(entry_id, (fields or {}).get(b"event", b"")) for entry_id, fields in found]
