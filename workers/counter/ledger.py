"""Records a batch of stream entries in the ledger, each event once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from shared.clock import now
from shared.db.session import Database
from shared.queue.usage import UsageEntry
from shared.usage.metering import UsageEvent
from shared.usage.repository import record_events

_LONGEST_REASON: Final = 200


@dataclass(frozen=True, slots=True)
class UnreadableEntry:
    """A malformed entry and the reason."""

    entry: UsageEntry
    reason: str


@dataclass(frozen=True, slots=True)
class EventBatch:
    """A batch of entries, parsed into events and unreadable entries."""

    events: tuple[UsageEvent, ...]
    readable: tuple[UsageEntry, ...]
    unreadable: tuple[UnreadableEntry, ...]


def parse_entries(entries: Sequence[UsageEntry]) -> EventBatch:
    """Parse entries; malformed ones are returned separately."""
    events: list[UsageEvent] = []
    readable: list[UsageEntry] = []
    unreadable: list[UnreadableEntry] = []
    for entry in entries:
        try:
            events.append(UsageEvent.decode(entry.event))
            readable.append(entry)
        except ValueError as error:
            unreadable.append(UnreadableEntry(entry, str(error)[:_LONGEST_REASON]))
    return EventBatch(tuple(events), tuple(readable), tuple(unreadable))


def record_batch(database: Database, batch: EventBatch) -> int:
    """Record a batch's events in one unit of work and return how many were new.

    Raises:
        Unavailable: the database does not answer; nothing was recorded.
    """
    if not batch.events:
        return 0
    with database.session() as session:
        return record_events(session, batch.events, at=now())
