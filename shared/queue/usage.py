"""The usage stream, a Redis stream of usage events that are not yet in the ledger.

Everything here raises `Unavailable("queue")` while Redis is unreachable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from redis import Redis
from redis.exceptions import ResponseError

from shared.queue.connection import BLOCK_SECONDS, reachable
from shared.queue.names import DEAD_EVENTS, USAGE_GROUP, USAGE_STREAM

# An entry that is pending for this long is taken for one of a dead consumer. Claiming that of a live one
# is harmless: the ledger counts each job once.
RECLAIM_IDLE_MS: Final = 5_000


@dataclass(frozen=True, slots=True)
class UsageEntry:
    """An entry of the stream: its id, and the event's text."""

    id: bytes
    event: bytes


class UsageStream:
    """Reads the stream as a consumer of the counters' group."""

    def __init__(self, redis: Redis, *, reader: str) -> None:
        self._redis = redis
        self._reader = reader

    def open(self) -> None:
        """Create the consumer group, from the first event on, unless it exists."""
        with reachable():
            try:
                self._redis.xgroup_create(USAGE_STREAM, USAGE_GROUP, id="0", mkstream=True)
            except ResponseError as error:
                if not str(error).startswith("BUSYGROUP"):
                    raise

    def read(self, *, count: int) -> Sequence[UsageEntry]:
        """Read up to `count` new entries, waiting up to a second for the first."""
        with reachable():
            found = self._redis.xreadgroup(
                USAGE_GROUP,
                self._reader,
                {USAGE_STREAM: ">"},
                count=count,
                block=int(BLOCK_SECONDS * 1000),
            )
        return [entry for _, entries in cast("Any", found) or () for entry in _entries(entries)]

    def reclaim(self, *, count: int) -> Sequence[UsageEntry]:
        """Claim up to `count` entries that another consumer read and never acknowledged."""
        with reachable():
            found = self._redis.xautoclaim(
                USAGE_STREAM, USAGE_GROUP, self._reader, RECLAIM_IDLE_MS, count=count
            )
        return list(_entries(cast("Any", found)[1]))

    def acknowledge(self, entries: Sequence[UsageEntry]) -> None:
        """Acknowledge and delete entries that the ledger has; idempotent."""
        ids = [entry.id for entry in entries]
        if not ids:
            return
        with reachable(), self._redis.pipeline() as pipe:
            pipe.xack(USAGE_STREAM, USAGE_GROUP, *ids)
            pipe.xdel(USAGE_STREAM, *ids)
            pipe.execute()

    def dead_letter(self, entry: UsageEntry, *, reason: str) -> None:
        """Move an unreadable entry to the dead-letter stream, for inspection."""
        with reachable(), self._redis.pipeline() as pipe:
            pipe.xadd(DEAD_EVENTS, {"event": entry.event, "reason": reason, "id": entry.id})
            pipe.xack(USAGE_STREAM, USAGE_GROUP, entry.id)
            pipe.xdel(USAGE_STREAM, entry.id)
            pipe.execute()


def list_dead(redis: Redis) -> list[tuple[bytes, Mapping[bytes, bytes]]]:
    """Return the unreadable events, oldest first: id, and `event`, `reason` and the `id` that it had."""
    with reachable():
        return cast("list[Any]", redis.xrange(DEAD_EVENTS))


def end_dead(redis: Redis, entry_id: bytes, *, retried: bytes | None = None) -> None:
    """Delete an unreadable event, after writing it to the usage stream again as `retried`."""
    with reachable(), redis.pipeline() as pipe:
        if retried is not None:
            pipe.xadd(USAGE_STREAM, {"event": retried})
        pipe.xdel(DEAD_EVENTS, entry_id)
        pipe.execute()


def find_newest(redis: Redis) -> bytes | None:
    """Return the id of the newest event that is not yet in the ledger, None if all are."""
    with reachable():
        found = cast("list[Any]", redis.xrevrange(USAGE_STREAM, count=1))
    return found[0][0] if found else None


def count_older(redis: Redis, newest: bytes) -> int:
    """Count the events up to `newest` that are not yet in the ledger, at most a thousand."""
    with reachable():
        return len(cast("list[Any]", redis.xrange(USAGE_STREAM, max=newest, count=1000)))


def _entries(found: Any) -> list[UsageEntry]:
    # An entry that was deleted while it was pending comes back without fields.
    return [UsageEntry(entry_id, (fields or {}).get(b"event", b"")) for entry_id, fields in found]
