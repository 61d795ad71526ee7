"""What is read of a farm for its metrics and for its operators: queues, backlog, usage, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """One queue: jobs waiting and running, the wait of the oldest, whether workers leave it alone."""

    waiting: int = 0
    running: int = 0
    oldest_seconds: float = 0.0
    is_drained: bool = False


@dataclass(frozen=True, slots=True)
class FarmDepth:
    """What lies in one Redis: the queues by name, and usage events on their way to the ledger."""

    queues: Mapping[str, QueueDepth]
    events_pending: int = 0
    events_dead: int = 0
    ledger_lag_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class AccountUse:
    """What an account used of one allowance in its current period; `cap` None is never refused."""

    account_id: str
    allowance: str
    pages: int
    calls: int
    cap: int | None


@dataclass(frozen=True, slots=True)
class Backlog:
    """How many batches are unfinished, how many documents of them and accepted renders are left, and when
    the oldest of these was accepted.
    """

    batches: int = 0
    documents: int = 0
    oldest_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Census:
    """What the stores hold, read now and then and not at each scrape."""

    parts: Mapping[str, bool] = field(default_factory=dict)
    accounts: tuple[AccountUse, ...] = ()
    blob_bytes: int = 0
    nearly_full_workspaces: int = 0
    backlogs: Mapping[str, Backlog] = field(default_factory=dict)  # by shard
