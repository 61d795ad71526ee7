"""Opens the blob store of a URL; the only module that knows the implementations."""

from __future__ import annotations

from urllib.parse import urlsplit

from shared.blobs.store import BlobStore
from shared.telemetry.observer import NULL_OBSERVER, Observer


def open_store(blob_url: str, *, observer: Observer = NULL_OBSERVER) -> BlobStore:
    """Open the store of a URL: `file:///folder`, `s3://key:secret@host[:port]/bucket`, or `s3+http`.

    The first use connects. Requests are reported to the observer.

    Raises:
        ValueError: the URL is none of these; the message names the accepted forms.
    """
    parts = urlsplit(blob_url)
    if parts.scheme == "file" and parts.path:
        from shared.blobs.folder import FolderStore

        return FolderStore.of_url(blob_url, observer=observer)
    if parts.scheme in {"s3", "s3+http"}:
        from shared.blobs.s3 import S3Store

        return S3Store.of_url(blob_url, observer=observer)
    raise ValueError(
        f"blob URL of scheme {parts.scheme!r}: expected file:///folder, "
        "s3://key:secret@host/bucket or s3+http://key:secret@host:port/bucket"
    )
