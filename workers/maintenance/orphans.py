"""Finds and deletes orphans: blobs, by key prefix, replaced template content and expired files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import groupby, islice
from typing import Final

from shared.blobs.store import BlobStore
from shared.clock import now, ticks
from shared.db.orphans import (
    delete_orphaned_content,
    find_batches_on_record,
    find_job_blob_states,
    find_orphaned_contents,
)
from shared.db.session import Database
from shared.files.repository import FONTS, IMAGES, StoredFiles, lock_workspace
from shared.queue.claims import CLAIM_FOLDER
from workers.maintenance.runner import MaintenanceTask


@dataclass(frozen=True, slots=True)
class OrphanKind:
    """One kind of blobs that may be orphaned.

    `name` is that of the maintenance task that removes them, `folder` the prefix of their keys. `find_orphans`
    returns those of some keys, given in listing order, that no record refers to; it raises `Unavailable`.
    While a key is locked, none of it becomes one that a record refers to.
    """

    name: str
    folder: str
    blobs: BlobStore
    find_orphans: Callable[[Sequence[str]], list[str]]
    lock: Callable[[str], AbstractContextManager[object]] = nullcontext

    def remove(self, key: str) -> bool:
        """Delete a blob if it is still orphaned; return whether it was.

        Raises:
            Unavailable: an outage of a store.
        """
        with self.lock(key):
            if not self.find_orphans([key]):
                return False
            self.blobs.delete(key)
            return True


def orphaned_uploads(database: Database, blobs: BlobStore, files: StoredFiles) -> OrphanKind:
    """Return uploaded files of one kind without a record, left by interrupted uploads or deletions."""

    def find_orphans(keys: Sequence[str]) -> list[str]:
        found: list[str] = []
        for workspace_id, own in groupby(keys, key=_owner_of):
            with database.snapshot() as session:
                needed = files.find_needed(session, workspace_id)
            found += [key for key in own if _last_part(key) not in needed]
        return found

    @contextmanager
    def lock(key: str) -> Iterator[None]:
        with database.session() as session:
            lock_workspace(session, _owner_of(key))
            yield

    folder = files.folder
    return OrphanKind(f"{folder}_swept", f"{folder}/", blobs, find_orphans, lock)


def orphaned_job_blobs(database: Database, blobs: BlobStore) -> OrphanKind:
    """Return blobs of recorded jobs, left by a worker that crashed before its commit or a front before the record.

    They belong neither to an open job nor to the PDF of an ended one. An orphan stays one: each run stores its
    PDF under a new key.
    """

    def find_orphans(keys: Sequence[str]) -> list[str]:
        with database.snapshot() as session:
            on_record = find_job_blob_states(session, _owners_of(keys))
        needed = {job.pdf_key for job in on_record.values()}
        is_open = {job_id for job_id, job in on_record.items() if job.is_open}
        return [key for key in keys if key not in needed and _owner_of(key) not in is_open]

    return OrphanKind("job_bytes_swept", "jobs/", blobs, find_orphans)


def orphaned_batch_blobs(database: Database, blobs: BlobStore) -> OrphanKind:
    """Return blobs of batches without a record; those of recorded batches expire with their results."""

    def find_orphans(keys: Sequence[str]) -> list[str]:
        with database.snapshot() as session:
            on_record = find_batches_on_record(session, _owners_of(keys))
        return [key for key in keys if _owner_of(key) not in on_record]

    return OrphanKind("batch_bytes_swept", "batches/", blobs, find_orphans)


def orphaned_claims(blobs: BlobStore) -> OrphanKind:
    """Return all claims: those older than two hours were left by crashed processes."""
    return OrphanKind("claims_swept", CLAIM_FOLDER, blobs, list)


def list_orphan_kinds(database: Database, blobs: BlobStore) -> tuple[OrphanKind, ...]:
    """Return all kinds of orphans."""
    return (
        orphaned_uploads(database, blobs, IMAGES),
        orphaned_uploads(database, blobs, FONTS),
        orphaned_job_blobs(database, blobs),
        orphaned_batch_blobs(database, blobs),
        orphaned_claims(blobs),
    )


_OWNER: Final = 1


def _owner_of(key: str) -> str:
    """Return the workspace, job or batch id in a key."""
    return [*key.split("/"), ""][_OWNER]


def _owners_of(keys: Iterable[str]) -> list[str]:
    return sorted(set(map(_owner_of, keys)))


def _last_part(key: str) -> str:
    return key.rpartition("/")[2]


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

    def __init__(self, orphans: OrphanKind, *, wait_seconds: float = ORPHAN_AGE_SECONDS) -> None:
        self._orphans = orphans
        self._ages = _OrphanAges(wait_seconds)
        self._rounds = self._walk()

    def run_once(self) -> int:
        """Run one round; see `MaintenanceTask.run_once`."""
        try:
            due = next(self._rounds)
        except BaseException:
            self._rounds = self._walk()  # from the first key
            raise
        return sum(map(self._orphans.remove, due))

    def _walk(self) -> Iterator[Sequence[str]]:
        """Yield the keys that each round removes, without end."""
        while True:
            walks_at, seen = ticks() + _WALK_EVERY_SECONDS, list[str]()
            listed = self._orphans.blobs.list_keys(self._orphans.folder)
            while keys := list(islice(listed, KEYS_PER_ROUND)):
                if len(seen) < _MOST_SEEN:
                    seen += self._orphans.find_orphans(keys)
                if len(keys) < KEYS_PER_ROUND:
                    break
                yield ()
            due = self._ages.select_old(seen)
            for at in range(0, len(due), REMOVALS_PER_ROUND):
                yield due[at : at + REMOVALS_PER_ROUND]
            while ticks() < walks_at:
                yield ()


def orphan_tasks(database: Database, blobs: BlobStore) -> tuple[MaintenanceTask, ...]:
    """Return the tasks that delete orphans."""
    remove_files = partial(blobs.remove_temporary_files, older_than_seconds=ORPHAN_AGE_SECONDS)
    return (
        MaintenanceTask("contents_swept", 600.0, RemoveOrphanedContents(database).run_once),
        *(
            MaintenanceTask(kind.name, 15.0, RemoveOrphanedBlobs(kind).run_once)
            for kind in list_orphan_kinds(database, blobs)
        ),
        MaintenanceTask("drafts_swept", 600.0, remove_files),  # of interrupted writers
    )
