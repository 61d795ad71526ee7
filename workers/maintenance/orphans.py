"""Finds orphaned blobs, by key prefix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, Self

from shared.blobs.store import BlobStore
from shared.db.orphans import find_batches_on_record, find_job_blob_states
from shared.db.session import Database
from shared.files.repository import FONTS, IMAGES, StoredFiles, lock_workspace
from shared.queue.claims import CLAIM_FOLDER, Claims


@dataclass(frozen=True, slots=True)
class OrphanKind:
    """One kind of blobs that may be orphaned.

    `name` is that of the maintenance task that removes them, `folder` the prefix of their keys. `find_orphans`
    returns those of some keys, given in listing order, that no record refers to; it raises `Unavailable`.
    """

    name: str
    folder: str
    blobs: BlobStore
    find_orphans: Callable[[Sequence[str]], list[str]]

    def remove(self, key: str) -> bool:
        """Delete a blob if it is still orphaned; return whether it was.

        Raises:
            Unavailable: an outage of a store.
        """
        if not self.find_orphans([key]):
            return False
        self.blobs.delete(key)
        return True


@dataclass(frozen=True, slots=True)
class OrphanedUploads(OrphanKind):
    """Uploaded files of one kind without a record, left by interrupted uploads or deletions."""

    database: Database
    files: StoredFiles[Any]

    @classmethod
    def of(cls, database: Database, blobs: BlobStore, files: StoredFiles[Any]) -> Self:
        """Return the orphans of one kind of files."""

        def find_orphans(keys: Sequence[str]) -> list[str]:
            found: list[str] = []
            for workspace_id, own in groupby(keys, key=_owner_of):
                with database.snapshot() as session:
                    # By records, and by uploads in progress.
                    needed = files.find_needed(session, workspace_id)
                found += [key for key in own if _last_part(key) not in needed]
            return found

        folder = files.folder
        return cls(f"{folder}_swept", f"{folder}/", blobs, find_orphans, database, files)

    def remove(self, key: str) -> bool:
        """Delete a blob, unless an upload of the same content has started."""
        workspace_id, sha256 = _owner_of(key), _last_part(key)
        with self.database.session() as session:
            # Locked, so that no upload of the same content starts between check and deletion.
            lock_workspace(session, workspace_id)
            if self.files.is_referenced(session, workspace_id, sha256):
                return False
            self.blobs.delete(key)
        return True


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


def orphaned_claims(claims: Sequence[Claims], blobs: BlobStore) -> OrphanKind:
    """Return claims that no Redis server lists: it deletes expired ones itself when others are added.

    Claims in a folder are on no list; those older than two hours were left by crashed processes.
    """

    def find_orphans(keys: Sequence[str]) -> list[str]:
        listed = frozenset[str]().union(*(each.find_unexpired(keys) for each in claims))
        return [key for key in keys if key not in listed]

    return OrphanKind("claims_swept", CLAIM_FOLDER, blobs, find_orphans)


def list_orphan_kinds(
    database: Database, blobs: BlobStore, claims: Sequence[Claims]
) -> tuple[OrphanKind, ...]:
    """Return all kinds of orphans."""
    return (
        OrphanedUploads.of(database, blobs, IMAGES),
        OrphanedUploads.of(database, blobs, FONTS),
        orphaned_job_blobs(database, blobs),
        orphaned_batch_blobs(database, blobs),
        orphaned_claims(claims, blobs),
    )


_OWNER: Final = 1


def _owner_of(key: str) -> str:
    """Return the workspace, job or batch id in a key."""
    return [*key.split("/"), ""][_OWNER]


def _owners_of(keys: Iterable[str]) -> list[str]:
    return sorted(set(map(_owner_of, keys)))


def _last_part(key: str) -> str:
    return key.rpartition("/")[2]
