"""Looking at the stores now and then, so that a scrape waits for none of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from threading import Event, Thread
from typing import Final

from shared.blobs.store import BlobStore
from shared.clock import now
from shared.db.census import count_nearly_full, find_heaviest, measure_backlog, sum_image_bytes
from shared.db.session import Database
from shared.errors import Unavailable
from shared.shards import find_home
from shared.telemetry.log import get_logger
from shared.telemetry.readings import Backlog, Census

# Shorter than a scrape interval, longer than the looks take when a store does not answer.
LOOK_EVERY_SECONDS: Final = 10.0

log: Final = get_logger(__name__)


class CensusTaker:
    """Keeps a `Census` that is at most some seconds old; `database` is its own, not the counter's."""

    def __init__(
        self, database: Database, blobs: BlobStore, *, accounts: int, shards: Sequence[str]
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._accounts = accounts
        self._shards = shards
        self._latest = Census()
        self._stop = Event()

    @property
    def latest(self) -> Census:
        """Return what was found last; empty before the first look."""
        return self._latest

    def start(self) -> None:
        """Look again and again, in a thread that ends with the process."""
        Thread(target=self._run, name="census", daemon=True).start()

    def look(self) -> None:
        """Look once. What a store that is away would say keeps its last value."""
        parts = {
            "database": _answers(self._database.check),
            "object_store": _answers(self._blobs.check),
        }
        self._latest = replace(self._latest, parts=parts)
        if not parts["database"]:
            return
        with self._database.snapshot() as session:
            self._latest = Census(
                parts,
                find_heaviest(session, today=now().astimezone(UTC).date(), limit=self._accounts),
                sum_image_bytes(session),
                count_nearly_full(session),
                add_up_backlog(measure_backlog(session), self._shards),
            )

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self.look()
            except Exception as error:  # noqa: BLE001 - the counter goes on whatever the looks meet
                log.warning("census not taken", cause=repr(error))
            self._stop.wait(LOOK_EVERY_SECONDS)


def add_up_backlog(per_slot: Mapping[str, Backlog], shards: Sequence[str]) -> dict[str, Backlog]:
    """Add up the backlog of accounts by the shard they live on; a shard without any has zeros."""
    found: dict[str, list[Backlog]] = {name: [] for name in shards}
    for slot, backlog in per_slot.items():
        found[find_home(slot, shards)].append(backlog)
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
