"""From a batch of the stream to the ledger: each event once, however often it comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from shared.clock import now
from shared.db.session import Database
from shared.db.usage import record_events
from shared.metering import PageEvent
from shared.queue.usage import Entry

_LONGEST_REASON: Final = 200


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An entry that is no event, and why."""

    entry: Entry
    reason: str


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch, sorted into events and what is none."""

    events: tuple[PageEvent, ...]
    readable: tuple[Entry, ...]
    unreadable: tuple[Unreadable, ...]


def sort_batch(entries: Sequence[Entry]) -> Batch:
    """Read every entry; one that is no event spoils no other."""
    events: list[PageEvent] = []
    readable: list[Entry] = []
    unreadable: list[Unreadable] = []
    for entry in entries:
        try:
            events.append(PageEvent.decode(entry.event))
            readable.append(entry)
        except ValueError as error:
            unreadable.append(Unreadable(entry, str(error)[:_LONGEST_REASON]))
    return Batch(tuple(events), tuple(readable), tuple(unreadable))


def write_batch(database: Database, batch: Batch) -> int:
    """Record a batch's events in one unit of work and give how many were new.

    Raises:
        Unavailable: the database is away; nothing was recorded.
    """
    if not batch.events:
        return 0
    with database.session() as session:
        return record_events(session, batch.events, at=now())
