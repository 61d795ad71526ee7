"""Large bytes by key: the one protocol, and the choice of its home."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import BinaryIO, Protocol
from urllib.parse import urlsplit

from shared.telemetry.watch import UNWATCHED, Watch


class BlobMissingError(KeyError):
    """The store holds nothing under this key."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of stored bytes, `length` 1 or more."""

    offset: int
    length: int


class BlobStore(Protocol):
    """Bytes under keys such as `images/ws_1/ab12…`: parts of `A-Za-z0-9._:-` between slashes.

    Whoever reads sees all of an old or all of a new value, never a part. Every method raises
    `Unavailable("object store")` within 5 s when the store is away, and ValueError for a key
    outside the pattern.
    """

    @property
    def is_near(self) -> bool:
        """Tell whether the bytes lie in a file system of this machine."""

    def put(self, key: str, stream: BinaryIO, size: int, *, is_brief: bool = False) -> None:
        """Store exactly the next `size` bytes of the stream, in place of what was there.

        What is brief is of use to processes that run now; a power cut may take it.

        Raises:
            ValueError: the stream ends before `size` bytes.
        """

    def put_all(self, key: str, stream: BinaryIO) -> int:
        """Store all bytes of a stream of unknown length and give their number.

        At most some tens of megabytes are held in memory. What the stream raises is raised, and
        nothing is stored then.
        """

    def open(self, key: str, *, part: Part | None = None) -> AbstractContextManager[BinaryIO]:
        """Open the bytes, or a part of them, for reading once; close by leaving the context.

        A part that reaches beyond the end ends there.

        Raises:
            BlobMissingError: there is nothing under the key.
        """

    def read(self, key: str) -> bytes:
        """Give all the bytes.

        Raises:
            BlobMissingError: there is nothing under the key.
        """

    def delete(self, key: str) -> None:
        """Delete the bytes; deleting what is not there is no error."""

    def list_keys(self, prefix: str) -> Iterator[str]:
        """Walk the keys that begin with `prefix`, which ends with a slash, in no order."""

    def remove_drafts(self, *, older_than_seconds: float) -> int:
        """Remove what writers left that were killed while they wrote, and give how many.

        No key names any of it. A writer that has been at it for longer loses what it wrote.
        """

    def check(self) -> None:
        """Ask the store for an answer.

        Raises:
            Unavailable: there is none, or it would not take bytes.
        """


def open_store(blob_url: str, *, watch: Watch = UNWATCHED) -> BlobStore:
    """Open the store of a URL: `file:///folder`, `s3://key:secret@host[:port]/bucket`, or `s3+http`.

    Nothing is connected before the first use.

    Raises:
        ValueError: the URL is neither; the text names what is accepted.
    """
    from shared.blobs.timed import TimedStore

    return TimedStore(_open(blob_url), watch)


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
