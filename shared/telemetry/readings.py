"""Readings of a farm for metrics and status reports: queues, backlog and usage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from shared.clock import now


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """One queue: jobs waiting and running, the age of the oldest, and whether it is drained."""

    waiting: int = 0
    running: int = 0
    oldest_seconds: float = 0.0
    is_drained: bool = False


@dataclass(frozen=True, slots=True)
class FarmDepth:
    """The state of one Redis server: queues by name, usage events that are not in the ledger yet,
    the number of jobs with a waiting client by state, and its memory; a limit of 0 is none.
    """

    queues: Mapping[str, QueueDepth]
    events_pending: int = 0
    events_dead: int = 0
    ledger_lag_seconds: float = 0.0
    places: Mapping[str, int] = field(default_factory=dict)
    memory_bytes: int = 0
    memory_limit_bytes: int = 0


@dataclass(frozen=True, slots=True)
class AccountUsage:
    """The usage of an account in its current period; `cap` is None if it has no limit."""

    account_id: str
    allowance: str
    pages: int
    calls: int
    cpu_us: int
    cap: int | None

    @property
    def cpu_seconds(self) -> float:
        """The processor time."""
        return self.cpu_us / 1_000_000


@dataclass(frozen=True, slots=True)
class Backlog:
    """The unfinished batches, the remaining documents and accepted renders, and when the oldest was
    accepted.
    """

    batches: int = 0
    documents: int = 0
    oldest_at: datetime | None = None

    @property
    def age_seconds(self) -> float:
        """The age of the oldest; it grows also while the database does not answer."""
        return 0.0 if self.oldest_at is None else max((now() - self.oldest_at).total_seconds(), 0.0)

    def __add__(self, other: Backlog) -> Backlog:
        """Return both together."""
        oldest_at = min(filter(None, (self.oldest_at, other.oldest_at)), default=None)
        return Backlog(self.batches + other.batches, self.documents + other.documents, oldest_at)


@dataclass(frozen=True, slots=True)
class StoreStatistics:
    """Statistics of the stores, collected periodically and not at each scrape."""

    parts: Mapping[str, bool] = field(default_factory=dict)
    accounts: tuple[AccountUsage, ...] = ()
    image_bytes: int = 0
    nearly_full_workspaces: int = 0
    backlogs: Mapping[str, Backlog] = field(default_factory=dict)  # by shard
