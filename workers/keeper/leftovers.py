"""What may lie in the blob store and be named by nothing: one kind for each folder of keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar, Final, Protocol

from shared.blobs.store import BlobStore
from shared.db.files import StoredFiles, lock_workspace
from shared.db.fonts import FONTS
from shared.db.images import IMAGES
from shared.db.session import Database
from shared.db.unneeded import find_batches_on_record, find_job_bytes
from shared.queue.claims import CLAIM_FOLDER, Claims


class Leftovers(Protocol):
    """One kind of bytes."""

    @property
    def name(self) -> str:
        """Give the name of the duty that sweeps them."""

    @property
    def folder(self) -> str:
        """Give what their keys begin with: `images/`."""

    def find_unneeded(self, keys: Sequence[str]) -> list[str]:
        """Give those of some keys, in the order of a listing, that nothing names.

        Raises:
            Unavailable: whoever knows is away.
        """

    def remove(self, key: str) -> bool:
        """Delete what is still unneeded; tell whether it was.

        Raises:
            Unavailable: a store is away.
        """


@dataclass(frozen=True, slots=True)
class _UploadedBytes:
    """Uploads of one kind: one of them or a deletion broke off."""

    database: Database
    blobs: BlobStore

    files: ClassVar[StoredFiles[Any]]

    def find_unneeded(self, keys: Sequence[str]) -> list[str]:
        """Return what neither a record nor an upload under way points at."""
        found: list[str] = []
        for workspace_id, own in groupby(keys, key=_owner_of):
            with self.database.snapshot() as session:
                needed = self.files.find_needed(session, workspace_id)
            found += [key for key in own if _last_part(key) not in needed]
        return found

    def remove(self, key: str) -> bool:
        """Delete the bytes, unless an upload of them has begun since."""
        workspace_id, sha256 = _owner_of(key), _last_part(key)
        with self.database.session() as session:
            # Locked, so that no upload of the same bytes begins between the look and the deletion.
            lock_workspace(session, workspace_id)
            if self.files.is_referenced(session, workspace_id, sha256):
                return False
            self.blobs.delete(key)
        return True


@dataclass(frozen=True, slots=True)
class ImageBytes(_UploadedBytes):
    """Images that no record names."""

    name: ClassVar[str] = "images_swept"
    folder: ClassVar[str] = "images/"
    files: ClassVar[StoredFiles[Any]] = IMAGES


@dataclass(frozen=True, slots=True)
class FontBytes(_UploadedBytes):
    """Fonts that no record names."""

    name: ClassVar[str] = "fonts_swept"
    folder: ClassVar[str] = "fonts/"
    files: ClassVar[StoredFiles[Any]] = FONTS


@dataclass(frozen=True, slots=True)
class JobBytes:
    """Recorded jobs: a worker died between storing a PDF and its commit, a front before the record.

    Nothing that is unneeded is needed again: each run stores its PDF under a key of its own.
    """

    name: ClassVar[str] = "job_bytes_swept"
    folder: ClassVar[str] = "jobs/"

    database: Database
    blobs: BlobStore

    def find_unneeded(self, keys: Sequence[str]) -> list[str]:
        """Give what is not of an open job, and not the PDF of an ended one."""
        with self.database.snapshot() as session:
            on_record = find_job_bytes(session, _owners_of(keys))
        needed = {job.pdf_key for job in on_record.values()}
        return [
            key
            for key in keys
            if key not in needed
            and not ((job := on_record.get(_owner_of(key))) is not None and job.is_open)
        ]

    def remove(self, key: str) -> bool:
        """Delete the bytes, unless a run has ended with them after all."""
        return _remove(self, key, self.blobs)


@dataclass(frozen=True, slots=True)
class BatchBytes:
    """Batches that are not on record; what others leave goes with their results."""

    name: ClassVar[str] = "batch_bytes_swept"
    folder: ClassVar[str] = "batches/"

    database: Database
    blobs: BlobStore

    def find_unneeded(self, keys: Sequence[str]) -> list[str]:
        """Give what is of no batch on record."""
        with self.database.snapshot() as session:
            on_record = find_batches_on_record(session, _owners_of(keys))
        return [key for key in keys if _owner_of(key) not in on_record]

    def remove(self, key: str) -> bool:
        """Delete the bytes."""
        return _remove(self, key, self.blobs)


@dataclass(frozen=True, slots=True)
class ClaimBytes:
    """Claims that Redis has forgotten, or whose time is over: it sweeps those when others come.

    Those of a folder are on no list: what is seen for two hours was left by a process that died.
    """

    name: ClassVar[str] = "claims_swept"
    folder: ClassVar[str] = CLAIM_FOLDER

    claims: tuple[Claims, ...]
    blobs: BlobStore

    def find_unneeded(self, keys: Sequence[str]) -> list[str]:
        """Give what no Redis has on its list."""
        unlisted = set(keys)
        for claims in self.claims:
            unlisted -= claims.find_listed(keys)
        return [key for key in keys if key in unlisted]

    def remove(self, key: str) -> bool:
        """Delete the bytes."""
        return _remove(self, key, self.blobs)


def list_leftovers(
    database: Database, blobs: BlobStore, claims: Iterable[Claims]
) -> tuple[Leftovers, ...]:
    """Give every kind there is."""
    return (
        ImageBytes(database, blobs),
        FontBytes(database, blobs),
        JobBytes(database, blobs),
        BatchBytes(database, blobs),
        ClaimBytes(tuple(claims), blobs),
    )


_OWNER: Final = 1


def _owner_of(key: str) -> str:
    """Give the workspace, job or batch that a key says it is of."""
    return [*key.split("/"), ""][_OWNER]


def _owners_of(keys: Iterable[str]) -> list[str]:
    return sorted(set(map(_owner_of, keys)))


def _last_part(key: str) -> str:
    return key.rpartition("/")[2]


def _remove(leftovers: Leftovers, key: str, blobs: BlobStore) -> bool:
    if not leftovers.find_unneeded([key]):
        return False
    blobs.delete(key)
    return True
