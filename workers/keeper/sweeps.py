"""Removing what nothing names any more: texts of templates that were replaced, bytes of images."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import groupby
from typing import Final

from shared.blobs.store import BlobStore
from shared.clock import now, ticks
from shared.db.images import is_referenced, lock_workspace
from shared.db.session import Database
from shared.db.unneeded import find_needed_images, find_unneeded_contents, remove_content
from workers.keeper.duty import Duty

# Longer than a render may take (settings: one hour) and a pin may live: a job or a cache may name
# a text after the last template let go of it.
UNNEEDED_SECONDS: Final = 2 * 3600.0
_AT_ONCE: Final = 500
_IMAGES: Final = "images/"


class _Unneeded:
    """Since when things have been seen unneeded, in every round."""

    def __init__(self, wait_seconds: float) -> None:
        self._wait_seconds = wait_seconds
        self._since: dict[str, float] = {}

    def pick_old(self, seen: list[str]) -> list[str]:
        """Take in what a round saw, and give what all rounds saw for long enough."""
        at = ticks()
        self._since = {key: self._since.get(key, at) for key in seen}
        return [key for key, since in self._since.items() if at - since >= self._wait_seconds]


class SweepContents:
    """Removes texts that no template, no version and no accepted work has any more."""

    name = "contents_swept"
    every_seconds = 600.0

    def __init__(self, database: Database, *, wait_seconds: float = UNNEEDED_SECONDS) -> None:
        self._database = database
        self._wait_seconds = wait_seconds
        self._unneeded = _Unneeded(wait_seconds)

    def run_once(self) -> int:
        """Do one round; see `Duty.run_once`."""
        kept_before = now() - timedelta(seconds=self._wait_seconds)
        with self._database.snapshot() as session:
            seen = find_unneeded_contents(session, kept_before=kept_before, limit=_AT_ONCE)
        removed = 0
        for sha256 in self._unneeded.pick_old(list(seen)):
            with self._database.session() as session:
                removed += remove_content(session, sha256, kept_before=kept_before)
        return removed


class SweepImages:
    """Removes bytes in the blob store that no image points at: an upload or a deletion broke off."""

    name = "images_swept"
    every_seconds = 3600.0

    def __init__(
        self, database: Database, blobs: BlobStore, *, wait_seconds: float = UNNEEDED_SECONDS
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._unneeded = _Unneeded(wait_seconds)

    def run_once(self) -> int:
        """Do one round; see `Duty.run_once`."""
        old = self._unneeded.pick_old(list(self._find_orphans()))
        return sum(self._remove(key) for key in old[:_AT_ONCE])

    def _find_orphans(self) -> Iterator[str]:
        # Keys of one workspace come together, so that each is asked for once.
        for workspace_id, keys in groupby(self._blobs.list_keys(_IMAGES), key=_workspace_of):
            with self._database.snapshot() as session:
                needed = find_needed_images(session, workspace_id)
            yield from (key for key in keys if _digest_of(key) not in needed)

    def _remove(self, key: str) -> bool:
        workspace_id, sha256 = _workspace_of(key), _digest_of(key)
        with self._database.session() as session:
            # Locked, so that no upload of the same bytes begins between the look and the deletion.
            lock_workspace(session, workspace_id)
            if is_referenced(session, workspace_id, sha256):
                return False
            self._blobs.delete(key)
        return True


def sweep_duties(database: Database, blobs: BlobStore) -> tuple[Duty, ...]:
    """Give everything the keeper sweeps."""
    return (SweepContents(database), SweepImages(database, blobs))


def _workspace_of(key: str) -> str:
    return key.removeprefix(_IMAGES).partition("/")[0]


def _digest_of(key: str) -> str:
    return key.rpartition("/")[2]
