"""Maintenance tasks that delete orphans: replaced template content, unreferenced blobs, temporary files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial
from itertools import islice
from typing import Final

from shared.blobs.store import BlobStore
from shared.clock import now, ticks
from shared.db.orphans import delete_orphaned_content, find_orphaned_contents
from shared.db.session import Database
from shared.queue.claims import Claims
from workers.maintenance.orphans import OrphanKind, list_orphan_kinds
from workers.maintenance.runner import MaintenanceTask

# Longer than the longest render (one hour) and the time to live of a pin: jobs and caches may refer to
# content after its last template was changed, and a run may still store or commit its blobs.
ORPHAN_AGE_SECONDS: Final = 2 * 3600.0
ROWS_PER_TRANSACTION: Final = 500
_WALK_EVERY_SECONDS: Final = 3600.0
KEYS_PER_ROUND: Final = 2_000
REMOVALS_PER_ROUND: Final = 100  # each may take an object store 20 ms
_MOST_SEEN: Final = 100_000  # orphans beyond this limit wait for the next walk


class _OrphanAges:
    """Tracks since when each orphan has been seen in every round."""

    def __init__(self, wait_seconds: float) -> None:
        self._wait_seconds = wait_seconds
        self._since: dict[str, float] = {}

    def select_old(self, seen: list[str]) -> list[str]:
        """Record the orphans of a round, and return those that are old enough."""
        at = ticks()
        self._since = {key: self._since.get(key, at) for key in seen}
        return [key for key, since in self._since.items() if at - since >= self._wait_seconds]


class RemoveOrphanedContents:
    """Deletes content that no template, version or accepted work refers to."""

    def __init__(self, database: Database, *, wait_seconds: float = ORPHAN_AGE_SECONDS) -> None:
        self._database = database
        self._wait_seconds = wait_seconds
        self._ages = _OrphanAges(wait_seconds)

    def run_once(self) -> int:
        """Run one round; see `MaintenanceTask.run_once`."""
        stored_before = now() - timedelta(seconds=self._wait_seconds)
        with self._database.snapshot() as session:
            seen = find_orphaned_contents(
                session, stored_before=stored_before, limit=ROWS_PER_TRANSACTION
            )
        removed = 0
        for sha256 in self._ages.select_old(list(seen)):
            with self._database.session() as session:
                removed += delete_orphaned_content(session, sha256, stored_before=stored_before)
        return removed


class RemoveOrphanedBlobs:
    """Deletes one kind of orphaned blobs.

    It lists their keys once an hour, some thousand in each round, since a store may have millions.
    """

    def __init__(
        self, orphans: OrphanKind, blobs: BlobStore, *, wait_seconds: float = ORPHAN_AGE_SECONDS
    ) -> None:
        self._orphans = orphans
        self._blobs = blobs
        self._ages = _OrphanAges(wait_seconds)
        self._walk: Iterator[str] | None = None
        self._walks_at = 0.0
        self._seen: list[str] = []
        self._due: list[str] = []

    def run_once(self) -> int:
        """Run one round; see `MaintenanceTask.run_once`."""
        try:
            self._continue_walk()
        except BaseException:
            self._walk, self._walks_at = None, 0.0  # restart from the first key
            raise
        due, self._due = self._due[:REMOVALS_PER_ROUND], self._due[REMOVALS_PER_ROUND:]
        return sum(self._orphans.remove(key) for key in due)

    def _continue_walk(self) -> None:
        if self._walk is None:
            if ticks() < self._walks_at:
                return
            self._walk, self._walks_at = self._start_walk(), ticks() + _WALK_EVERY_SECONDS
        keys = list(islice(self._walk, KEYS_PER_ROUND))
        if keys and len(self._seen) < _MOST_SEEN:
            self._seen += self._orphans.find_orphans(keys)
        if len(keys) < KEYS_PER_ROUND:
            self._walk = None
            self._due = self._ages.select_old(self._seen)

    def _start_walk(self) -> Iterator[str]:
        self._seen = []
        return self._blobs.list_keys(self._orphans.folder)


def orphan_tasks(
    database: Database, blobs: BlobStore, claims: Sequence[Claims]
) -> tuple[MaintenanceTask, ...]:
    """Return the tasks that delete orphans; `claims` are those of every Redis server of the farm."""
    remove_files = partial(blobs.remove_temporary_files, older_than_seconds=ORPHAN_AGE_SECONDS)
    return (
        MaintenanceTask("contents_swept", 600.0, RemoveOrphanedContents(database).run_once),
        *(
            MaintenanceTask(kind.name, 15.0, RemoveOrphanedBlobs(kind, blobs).run_once)
            for kind in list_orphan_kinds(database, blobs, claims)
        ),
        MaintenanceTask("drafts_swept", 600.0, remove_files),  # of interrupted writers
    )
