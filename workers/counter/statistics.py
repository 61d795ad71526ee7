"""Periodic statistics of the stores, so that scrapes do not wait for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from threading import Event, Thread
from typing import Final

from shared.blobs.store import BlobStore
from shared.clock import now
from shared.db.session import Database
from shared.errors import Unavailable
from shared.shards import find_shard
from shared.telemetry.log import get_logger
from shared.telemetry.readings import Backlog, StoreStatistics
from shared.usage.statistics import (
    count_nearly_full,
    list_heaviest_accounts,
    measure_backlog,
    sum_image_bytes,
)

# A batch of a hundred thousand documents is seen by autoscaling within 5 s of its 202.
COLLECT_EVERY_SECONDS: Final = 4.0

log: Final = get_logger(__name__)


class StatisticsCollector:
    """Collects `StoreStatistics` every few seconds; `database` must not be the counter's."""

    def __init__(
        self, database: Database, blobs: BlobStore, *, accounts: int, shards: Sequence[str]
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._accounts = accounts
        self._shards = shards
        self._latest = StoreStatistics()
        self._stop = Event()

    @property
    def latest(self) -> StoreStatistics:
        """The latest statistics; empty before the first collection."""
        return self._latest

    def start(self) -> None:
        """Collect periodically in a daemon thread."""
        Thread(target=self._run, name="statistics", daemon=True).start()

    def collect(self) -> None:
        """Collect once. In an outage of a store its last values are kept."""
        parts = {
            "database": _answers(self._database.check),
            "object_store": _answers(self._blobs.check),
        }
        self._latest = replace(self._latest, parts=parts)
        if not parts["database"]:
            return
        with self._database.snapshot() as session:
            self._latest = StoreStatistics(
                parts,
                list_heaviest_accounts(
                    session, today=now().astimezone(UTC).date(), limit=self._accounts
                ),
                sum_image_bytes(session),
                count_nearly_full(session),
                add_up_backlog(measure_backlog(session), self._shards),
            )

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self.collect()
            except Exception as error:  # noqa: BLE001 - a failed collection must not end the counter
                log.warning("statistics not collected", cause=repr(error))
            self._stop.wait(COLLECT_EVERY_SECONDS)


def add_up_backlog(per_slot: Mapping[str, Backlog], shards: Sequence[str]) -> dict[str, Backlog]:
    """Add up the backlog by shard; a shard without backlog has zeros."""
    found: dict[str, list[Backlog]] = {name: [] for name in shards}
    for slot, backlog in per_slot.items():
        found[find_shard(slot, shards)].append(backlog)
    return {name: _add_up(backlogs) for name, backlogs in found.items()}


def _add_up(backlogs: Sequence[Backlog]) -> Backlog:
    return Backlog(
        sum(each.batches for each in backlogs),
        sum(each.documents for each in backlogs),
        min((each.oldest_at for each in backlogs if each.oldest_at), default=None),
    )


def _answers(check: Callable[[], None]) -> bool:
    try:
        check()
    except Unavailable:
        return False
    return True
