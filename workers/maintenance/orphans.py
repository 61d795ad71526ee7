"""Finds orphaned blobs, one class for each key prefix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar, Final, Protocol

from shared.blobs.store import BlobStore
from shared.db.orphans import find_batches_on_record, find_job_blob_states
from shared.db.session import Database
from shared.files.kinds import FONTS, IMAGES
from shared.files.repository import StoredFiles, lock_workspace
from shared.queue.claims import CLAIM_FOLDER, Claims


class OrphanKind(Protocol):
    """One kind of blobs that may be orphaned."""

    @property
    def name(self) -> str:
        """The name of the maintenance task that removes them."""

    @property
    def folder(self) -> str:
        """The prefix of their keys, such as `images/`."""

    def find_orphans(self, keys: Sequence[str]) -> list[str]:
        """Return those of some keys, given in listing order, that no record refers to.

        Raises:
            Unavailable: an outage of the database or Redis.
        """

    def remove(self, key: str) -> bool:
        """Delete a blob if it is still orphaned; return whether it was.

        Raises:
            Unavailable: an outage of a store.
        """


@dataclass(frozen=True, slots=True)
class _OrphanedUploads:
    """Uploaded files of one kind, left by interrupted uploads or deletions."""

    database: Database
    blobs: BlobStore

    files: ClassVar[StoredFiles[Any]]

    def find_orphans(self, keys: Sequence[str]) -> list[str]:
        """Return the keys that neither a record nor an upload in progress refers to."""
        found: list[str] = []
        for workspace_id, own in groupby(keys, key=_owner_of):
            with self.database.snapshot() as session:
                needed = self.files.find_needed(session, workspace_id)
            found += [key for key in own if _last_part(key) not in needed]
        return found

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


@dataclass(frozen=True, slots=True)
class OrphanedImages(_OrphanedUploads):
    """Images without a record."""

    name: ClassVar[str] = "images_swept"
    folder: ClassVar[str] = "images/"
    files: ClassVar[StoredFiles[Any]] = IMAGES


@dataclass(frozen=True, slots=True)
class OrphanedFonts(_OrphanedUploads):
    """Fonts without a record."""

    name: ClassVar[str] = "fonts_swept"
    folder: ClassVar[str] = "fonts/"
    files: ClassVar[StoredFiles[Any]] = FONTS


@dataclass(frozen=True, slots=True)
class OrphanedJobBlobs:
    """Blobs of recorded jobs, left by a worker that crashed before its commit or a front before the record.

    An orphan stays one: each run stores its PDF under a new key.
    """

    name: ClassVar[str] = "job_bytes_swept"
    folder: ClassVar[str] = "jobs/"

    database: Database
    blobs: BlobStore

    def find_orphans(self, keys: Sequence[str]) -> list[str]:
        """Return the keys that belong neither to an open job nor to the PDF of an ended one."""
        with self.database.snapshot() as session:
            on_record = find_job_blob_states(session, _owners_of(keys))
        needed = {job.pdf_key for job in on_record.values()}
        return [
            key
            for key in keys
            if key not in needed
            and not ((job := on_record.get(_owner_of(key))) is not None and job.is_open)
        ]

    def remove(self, key: str) -> bool:
        """Delete a blob, unless a job has ended with it as its PDF."""
        return _remove(self, key, self.blobs)


@dataclass(frozen=True, slots=True)
class OrphanedBatchBlobs:
    """Blobs of batches without a record; those of recorded batches expire with their results."""

    name: ClassVar[str] = "batch_bytes_swept"
    folder: ClassVar[str] = "batches/"

    database: Database
    blobs: BlobStore

    def find_orphans(self, keys: Sequence[str]) -> list[str]:
        """Return the keys of batches without a record."""
        with self.database.snapshot() as session:
            on_record = find_batches_on_record(session, _owners_of(keys))
        return [key for key in keys if _owner_of(key) not in on_record]

    def remove(self, key: str) -> bool:
        """Delete a blob."""
        return _remove(self, key, self.blobs)


@dataclass(frozen=True, slots=True)
class OrphanedClaims:
    """Claims that Redis does not list: it deletes expired ones itself when others are added.

    Claims in a folder are on no list; those older than two hours were left by crashed processes.
    """

    name: ClassVar[str] = "claims_swept"
    folder: ClassVar[str] = CLAIM_FOLDER

    claims: tuple[Claims, ...]
    blobs: BlobStore

    def find_orphans(self, keys: Sequence[str]) -> list[str]:
        """Return the keys that no Redis server lists."""
        unlisted = set(keys)
        for claims in self.claims:
            unlisted -= claims.find_unexpired(keys)
        return [key for key in keys if key in unlisted]

    def remove(self, key: str) -> bool:
        """Delete a blob."""
        return _remove(self, key, self.blobs)


def list_orphan_kinds(
    database: Database, blobs: BlobStore, claims: Iterable[Claims]
) -> tuple[OrphanKind, ...]:
    """Return all kinds of orphans."""
    return (
        OrphanedImages(database, blobs),
        OrphanedFonts(database, blobs),
        OrphanedJobBlobs(database, blobs),
        OrphanedBatchBlobs(database, blobs),
        OrphanedClaims(tuple(claims), blobs),
    )


_OWNER: Final = 1


def _owner_of(key: str) -> str:
    """Return the workspace, job or batch id in a key."""
    return [*key.split("/"), ""][_OWNER]


def _owners_of(keys: Iterable[str]) -> list[str]:
    return sorted(set(map(_owner_of, keys)))


def _last_part(key: str) -> str:
    return key.rpartition("/")[2]


def _remove(orphans: OrphanKind, key: str, blobs: BlobStore) -> bool:
    if not orphans.find_orphans([key]):
        return False
    blobs.delete(key)
    return True
