"""Removing what nothing names any more: texts of templates that were replaced, bytes of all kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import ClassVar, Final

from shared.blobs.store import BlobStore
from shared.clock import now, ticks
from shared.db.session import Database
from shared.db.unneeded import find_unneeded_contents, remove_content
from shared.queue.claims import Claims
from workers.keeper.duty import Duty
from workers.keeper.leftovers import Leftovers, list_leftovers

# Longer than a render may take (settings: one hour) and a pin may live: a job or a cache may name
# a text after the last template let go of it, and a run may still store or commit its bytes.
UNNEEDED_SECONDS: Final = 2 * 3600.0
_AT_ONCE: Final = 500
_WALK_EVERY_SECONDS: Final = 3600.0
_LOOKED_AT_ONCE: Final = 2_000
_REMOVED_AT_ONCE: Final = 100  # an object store may take 20 ms for each
_MOST_SEEN: Final = 100_000  # what a walk finds beyond these waits for the next


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


class SweepBytes:
    """Removes one kind of bytes from the blob store that nothing has named for long enough.

    It walks through their keys once an hour, some thousand in a round: a store may have millions.
    """

    every_seconds = 15.0

    def __init__(
        self, leftovers: Leftovers, blobs: BlobStore, *, wait_seconds: float = UNNEEDED_SECONDS
    ) -> None:
        self.name = leftovers.name
        self._leftovers = leftovers
        self._blobs = blobs
        self._unneeded = _Unneeded(wait_seconds)
        self._walk: Iterator[str] | None = None
        self._walks_at = 0.0
        self._seen: list[str] = []
        self._due: list[str] = []

    def run_once(self) -> int:
        """Do one round; see `Duty.run_once`."""
        try:
            self._look_on()
        except BaseException:
            self._walk, self._walks_at = None, 0.0  # from the first key again
            raise
        due, self._due = self._due[:_REMOVED_AT_ONCE], self._due[_REMOVED_AT_ONCE:]
        return sum(self._leftovers.remove(key) for key in due)

    def _look_on(self) -> None:
        if self._walk is None:
            if ticks() < self._walks_at:
                return
            self._walk, self._walks_at = self._begin_walk(), ticks() + _WALK_EVERY_SECONDS
        keys = list(islice(self._walk, _LOOKED_AT_ONCE))
        if keys and len(self._seen) < _MOST_SEEN:
            self._seen += self._leftovers.find_unneeded(keys)
        if len(keys) < _LOOKED_AT_ONCE:
            self._walk = None
            self._due = self._unneeded.pick_old(self._seen)

    def _begin_walk(self) -> Iterator[str]:
        self._seen = []
        return self._blobs.list_keys(self._leftovers.folder)


@dataclass(frozen=True, slots=True)
class SweepDrafts:
    """Removes what was half written when its writer was killed."""

    name: ClassVar[str] = "drafts_swept"
    every_seconds: ClassVar[float] = 600.0

    blobs: BlobStore

    def run_once(self) -> int:
        """Do one round; see `Duty.run_once`."""
        return self.blobs.remove_drafts(older_than_seconds=UNNEEDED_SECONDS)


def sweep_duties(
    database: Database, blobs: BlobStore, claims: Iterable[Claims]
) -> tuple[Duty, ...]:
    """Give everything the keeper sweeps; `claims` are those of every Redis of the farm."""
    kinds = list_leftovers(database, blobs, claims)
    return (
        SweepContents(database),
        *(SweepBytes(leftovers, blobs) for leftovers in kinds),
        SweepDrafts(blobs),
    )
