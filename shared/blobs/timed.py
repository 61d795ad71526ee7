"""A blob store that tells how long it takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from shared.blobs.store import BlobStore, Part
from shared.clock import ticks
from shared.errors import Unavailable
from shared.telemetry.watch import Store, Watch, timed


class TimedStore:
    """A store in front of another: the same promises, and a `Watch` that sees each request."""

    def __init__(self, store: BlobStore, watch: Watch) -> None:
        self._store = store
        self._watch = watch

    @property
    def is_near(self) -> bool:
        """Tell whether the bytes are near; see `BlobStore.is_near`."""
        return self._store.is_near

    def put(self, key: str, stream: BinaryIO, size: int, *, is_brief: bool = False) -> None:
        """Store exactly the next `size` bytes of the stream; see `BlobStore.put`."""
        with timed(self._watch, Store.OBJECT_STORE, "put"):
            self._store.put(key, stream, size, is_brief=is_brief)

    def put_all(self, key: str, stream: BinaryIO) -> int:
        """Store all bytes of the stream; see `BlobStore.put_all`."""
        with timed(self._watch, Store.OBJECT_STORE, "put"):
            return self._store.put_all(key, stream)

    @contextmanager
    def open(self, key: str, *, part: Part | None = None) -> Iterator[BinaryIO]:
        """Open the bytes for reading; see `BlobStore.open`. Timed is the opening alone: how fast
        the bytes are read is the reader's affair.
        """
        begun = ticks()
        try:
            with self._store.open(key, part=part) as stream:
                self._watch.time_store(Store.OBJECT_STORE, "open", ticks() - begun)
                yield stream
        except Unavailable:
            self._watch.count_failure(Store.OBJECT_STORE, "open")
            raise

    def read(self, key: str) -> bytes:
        """Give all the bytes; see `BlobStore.read`."""
        with timed(self._watch, Store.OBJECT_STORE, "read"):
            return self._store.read(key)

    def delete(self, key: str) -> None:
        """Delete the bytes; see `BlobStore.delete`."""
        with timed(self._watch, Store.OBJECT_STORE, "delete"):
            self._store.delete(key)

    def list_keys(self, prefix: str) -> Iterator[str]:
        """Walk the keys of a prefix; see `BlobStore.list_keys`."""
        return self._store.list_keys(prefix)

    def remove_drafts(self, *, older_than_seconds: float) -> int:
        """Remove what killed writers left behind; see `BlobStore.remove_drafts`."""
        return self._store.remove_drafts(older_than_seconds=older_than_seconds)

    def check(self) -> None:
        """Ask the store for an answer; see `BlobStore.check`."""
        self._store.check()
