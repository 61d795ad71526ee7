"""Blobs in a bucket of MinIO or any other S3 server, through the `minio` client."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final, cast
from urllib.parse import parse_qs, unquote, urlsplit

import urllib3
from minio import Minio
from minio.error import InvalidResponseError, S3Error, ServerError
from urllib3 import BaseHTTPResponse
from urllib3.exceptions import HTTPError

from shared.blobs.store import (
    BlobMissingError,
    ByteRange,
    ExactReader,
    LimitedReader,
    skip,
    validate_key,
)
from shared.errors import Unavailable
from shared.telemetry.observer import NULL_OBSERVER, Observer, Store, timed, timed_as

# One attempt that fails within the 5 s in which a 503 is due; the read timeout applies between packets.
_TIMEOUT: Final = urllib3.Timeout(connect=2.0, read=4.0)
_POOL_SIZE: Final = 32
_MISSING_CODES: Final = frozenset({"NoSuchKey", "NoSuchBucket", "NoSuchVersion"})
_NOT_FOUND: Final = 404
# The smallest part that S3 accepts; the client holds up to four of them for one upload.
_UPLOAD_PART_BYTES: Final = 5 * 1024 * 1024
# Self-hosted servers accept this one.
_DEFAULT_REGION: Final = "us-east-1"
_REGION: Final = re.compile(r"[a-z0-9-]{1,40}\Z")
_BUCKET_EXISTS_CODES: Final = frozenset({"BucketAlreadyOwnedByYou", "BucketAlreadyExists"})


class S3Store:
    """A blob store in one bucket, which the first write creates (see `BlobStore`).

    It does not rely on conditional writes, ETags or range requests, in which servers differ.
    """

    def __init__(self, client: Minio, bucket: str, *, observer: Observer = NULL_OBSERVER) -> None:
        self.observer: Final = observer
        self._client = client
        self._bucket = bucket
        self._has_bucket = False

    @classmethod
    def of_url(cls, blob_url: str, *, observer: Observer = NULL_OBSERVER) -> S3Store:
        """Open the store of an `s3://key:secret@host[:port]/bucket` URL; `s3+http` is without TLS.

        `?region=` names the region that requests are signed for, where it is not us-east-1.

        Raises:
            ValueError: the URL lacks its key, secret, host or bucket, or has an unknown parameter.
        """
        parts = urlsplit(blob_url)
        bucket = parts.path.strip("/")
        if not (parts.hostname and parts.username and parts.password and bucket):
            raise ValueError("blob URL: expected s3://key:secret@host[:port]/bucket")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        client = Minio(
            f"{host}:{parts.port}" if parts.port else host,
            access_key=unquote(parts.username),
            secret_key=unquote(parts.password),
            secure=parts.scheme == "s3",
            # With an explicit region the client does not request it from the server.
            region=_read_region(parts.query),
            http_client=urllib3.PoolManager(timeout=_TIMEOUT, retries=False, maxsize=_POOL_SIZE),
        )
        return cls(client, bucket, observer=observer)

    @property
    def is_local(self) -> bool:
        """False."""
        return False

    @timed_as("put")
    def put(
        self, key: str, stream: BinaryIO, size: int | None = None, *, is_transient: bool = False
    ) -> None:
        """Store the next `size` bytes of the stream, or all that it has; see `BlobStore.put`. `is_transient` is
        ignored.
        """
        self._ensure_bucket()
        with _translate_errors(key):
            if size is None:
                self._client.put_object(
                    self._bucket, validate_key(key), stream, -1, part_size=_UPLOAD_PART_BYTES
                )
            else:
                whole = ExactReader(stream, size)
                self._client.put_object(self._bucket, validate_key(key), whole, size)

    @contextmanager
    def open(self, key: str, *, byte_range: ByteRange | None = None) -> Iterator[BinaryIO]:
        """Open the bytes for reading; see `BlobStore.open`."""
        with _translate_errors(key):
            with timed(self.observer, Store.OBJECT_STORE, "open"), _translate_errors(key):
                response = self._get(key, byte_range)
            try:
                yield (
                    cast("BinaryIO", response)
                    if byte_range is None
                    else _limit_response(response, byte_range)
                )
            finally:
                response.close()
                response.release_conn()

    def read(self, key: str) -> bytes:
        """Return all the bytes; see `BlobStore.read`."""
        with self.open(key) as stream:
            return stream.read()

    @timed_as("delete")
    def delete(self, key: str) -> None:
        """Delete the bytes; see `BlobStore.delete`."""
        try:
            with _translate_errors(key):
                self._client.remove_object(self._bucket, validate_key(key))
        except BlobMissingError:
            return

    def list_keys(self, prefix: str) -> Iterator[str]:
        """Iterate over the keys of a prefix; see `BlobStore.list_keys`."""
        validate_key(prefix.removesuffix("/"))
        try:
            with _translate_errors(prefix):
                found = self._client.list_objects(self._bucket, prefix=prefix, recursive=True)
                for item in found:
                    if item.object_name is not None:
                        yield item.object_name
        except BlobMissingError:
            return  # the bucket does not exist yet

    def remove_temporary_files(self, *, older_than_seconds: float) -> int:
        """Return 0: a lifecycle rule of the bucket removes incomplete uploads (deploy/docs/api.md), since
        servers differ in whether and how they list them.
        """
        return 0

    def check(self) -> None:
        """Check that the bucket exists; see `BlobStore.check`."""
        self._has_bucket = False
        self._ensure_bucket()

    def _get(self, key: str, byte_range: ByteRange | None) -> BaseHTTPResponse:
        if byte_range is None:
            return self._client.get_object(self._bucket, validate_key(key))
        wanted = f"bytes={byte_range.offset}-{byte_range.offset + byte_range.length - 1}"
        return self._client.get_object(
            self._bucket, validate_key(key), request_headers={"Range": wanted}
        )

    def _ensure_bucket(self) -> None:
        if self._has_bucket:
            return
        with _translate_errors(self._bucket):
            if not self._client.bucket_exists(self._bucket):
                self._make_bucket()
        self._has_bucket = True

    def _make_bucket(self) -> None:
        try:
            self._client.make_bucket(self._bucket)
        except S3Error as error:
            # Another process has created it.
            if error.code not in _BUCKET_EXISTS_CODES:
                raise


def _limit_response(response: BaseHTTPResponse, byte_range: ByteRange) -> BinaryIO:
    """Return the requested range of a response; servers without range support send the whole object."""
    stream = cast("BinaryIO", response)
    if "Content-Range" not in response.headers:
        skip(stream, byte_range.offset)
    return LimitedReader(stream, byte_range.length)


def _read_region(query: str) -> str:
    asked = parse_qs(query, keep_blank_values=True, strict_parsing=bool(query))
    regions = asked.pop("region", [_DEFAULT_REGION])
    if asked or len(regions) != 1 or not _REGION.match(regions[0]):
        raise ValueError("blob URL: only ?region=NAME may follow the bucket")
    return regions[0]


@contextmanager
def _translate_errors(key: str) -> Iterator[None]:
    try:
        yield
    except S3Error as error:
        if error.code in _MISSING_CODES:
            raise BlobMissingError(key) from error
        raise Unavailable("object store") from error
    except InvalidResponseError as error:
        # Some servers answer a missing key with a content type that the client rejects.
        if f"Response code: {_NOT_FOUND}," in str(error):  # the exception has no status attribute
            raise BlobMissingError(key) from error
        raise Unavailable("object store") from error
    except (ServerError, HTTPError, OSError) as error:
        raise Unavailable("object store") from error
