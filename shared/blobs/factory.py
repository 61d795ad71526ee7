"""Opens the blob store of a URL; the only module that knows the implementations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO
from urllib.parse import urlsplit

from shared.blobs.store import BlobStore, ByteRange
from shared.clock import ticks
from shared.errors import Unavailable
from shared.telemetry import metrics
from shared.telemetry.observer import NULL_OBSERVER, Observer, Store, timed


class TimedStore:
    """Wraps a blob store and reports each request to an `Observer`."""

    def __init__(self, store: BlobStore, observer: Observer) -> None:
        self._store = store
        self._observer = observer

    @property
    def is_local(self) -> bool:
        """Whether the blobs are files of this machine; see `BlobStore.is_local`."""
        return self._store.is_local

    def put(self, key: str, stream: BinaryIO, size: int, *, is_transient: bool = False) -> None:
        """Store exactly the next `size` bytes of the stream; see `BlobStore.put`."""
        with timed(self._observer, Store.OBJECT_STORE, "put"):
            self._store.put(key, stream, size, is_transient=is_transient)

    def put_stream(self, key: str, stream: BinaryIO) -> int:
        """Store all bytes of the stream; see `BlobStore.put_stream`."""
        with timed(self._observer, Store.OBJECT_STORE, "put"):
            return self._store.put_stream(key, stream)

    @contextmanager
    def open(self, key: str, *, byte_range: ByteRange | None = None) -> Iterator[BinaryIO]:
        """Open a blob for reading; see `BlobStore.open`. Only opening is timed, since reading depends on
        the caller.
        """
        begun = ticks()
        try:
            with self._store.open(key, byte_range=byte_range) as stream:
                self._observer.observe(
                    metrics.STORE_SECONDS, ticks() - begun, Store.OBJECT_STORE, "open"
                )
                yield stream
        except Unavailable:
            self._observer.count(metrics.STORE_FAILURES, Store.OBJECT_STORE, "open")
            raise

    def read(self, key: str) -> bytes:
        """Return all the bytes; see `BlobStore.read`."""
        with timed(self._observer, Store.OBJECT_STORE, "read"):
            return self._store.read(key)

    def delete(self, key: str) -> None:
        """Delete the bytes; see `BlobStore.delete`."""
        with timed(self._observer, Store.OBJECT_STORE, "delete"):
            self._store.delete(key)

    def list_keys(self, prefix: str) -> Iterator[str]:
        """Iterate over the keys of a prefix; see `BlobStore.list_keys`."""
        return self._store.list_keys(prefix)

    def remove_temporary_files(self, *, older_than_seconds: float) -> int:
        """Remove files that interrupted writers left; see `BlobStore.remove_temporary_files`."""
        return self._store.remove_temporary_files(older_than_seconds=older_than_seconds)

    def check(self) -> None:
        """Check that the store answers; see `BlobStore.check`."""
        self._store.check()


def open_store(blob_url: str, *, observer: Observer = NULL_OBSERVER) -> BlobStore:
    """Open the store of a URL: `file:///folder`, `s3://key:secret@host[:port]/bucket`, or `s3+http`.

    The first use connects.

    Raises:
        ValueError: the URL is none of these; the message names the accepted forms.
    """
    return TimedStore(_open(blob_url), observer)


def _open(blob_url: str) -> BlobStore:
    parts = urlsplit(blob_url)
    if parts.scheme == "file" and parts.path:
        from shared.blobs.folder import FolderStore

        return FolderStore.of_url(blob_url)
    if parts.scheme in {"s3", "s3+http"}:
        from shared.blobs.s3 import S3Store

        return S3Store.of_url(blob_url)
    raise ValueError(
        f"blob URL of scheme {parts.scheme!r}: expected file:///folder, "
        "s3://key:secret@host/bucket or s3+http://key:secret@host:port/bucket"
    )
