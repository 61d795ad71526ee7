"""Blobs in a bucket of MinIO or any other S3 server, through the `minio` client."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import RawIOBase
from typing import BinaryIO, Final, cast
from urllib.parse import parse_qs, unquote, urlsplit

import urllib3
from minio import Minio
from minio.error import InvalidResponseError, S3Error, ServerError
from urllib3 import BaseHTTPResponse
from urllib3.exceptions import HTTPError

from shared.blobs.keys import checked_key
from shared.blobs.sections import Section, skip
from shared.blobs.store import BlobMissingError, Part
from shared.errors import Unavailable

# One try that fails within the 5 s of contract.md 1; a read timeout is between two packets.
_TIMEOUT: Final = urllib3.Timeout(connect=2.0, read=4.0)
_POOL_SIZE: Final = 32
_GONE: Final = frozenset({"NoSuchKey", "NoSuchBucket", "NoSuchVersion"})
_NOT_FOUND: Final = 404
# The least that S3 takes as a part; the client holds up to four of them for one upload.
_UPLOAD_PART_BYTES: Final = 5 * 1024 * 1024
# What servers of one's own take, whatever they are called.
_DEFAULT_REGION: Final = "us-east-1"
_REGION: Final = re.compile(r"[a-z0-9-]{1,40}\Z")
_OURS_ALREADY: Final = frozenset({"BucketAlreadyOwnedByYou", "BucketAlreadyExists"})


class S3Store:
    """A blob store in one bucket, made on the first write (see `BlobStore`).

    Nothing relies on conditional writes, ETags or range requests: servers differ in them
    (queueing.md B2).
    """

    def __init__(self, client: Minio, bucket: str) -> None:
        self._client = client
        self._bucket = bucket
        self._has_bucket = False

    @classmethod
    def of_url(cls, blob_url: str) -> S3Store:
        """Open the store of an `s3://key:secret@host[:port]/bucket` URL; `s3+http` is without TLS.

        `?region=` names the region that requests are signed for, where it is not us-east-1.

        Raises:
            ValueError: the URL lacks its key, secret, host or bucket, or says what is not known.
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
            # A region that is given is not asked for, which saves a request per process.
            region=_read_region(parts.query),
            http_client=urllib3.PoolManager(timeout=_TIMEOUT, retries=False, maxsize=_POOL_SIZE),
        )
        return cls(client, bucket)

    @property
    def is_near(self) -> bool:
        """Say no: a server holds them."""
        return False

    def put(self, key: str, stream: BinaryIO, size: int, *, is_brief: bool = False) -> None:
        """Store exactly the next `size` bytes of the stream; see `BlobStore.put`. What is brief
        lasts as everything does.
        """
        self._ensure_bucket()
        with _failures_named(key):
            whole = cast("BinaryIO", _Whole(stream, size))
            self._client.put_object(self._bucket, checked_key(key), whole, size)

    def put_all(self, key: str, stream: BinaryIO) -> int:
        """Store all bytes of the stream; see `BlobStore.put_all`."""
        self._ensure_bucket()
        with _failures_named(key):
            counted = _Counted(stream)
            self._client.put_object(
                self._bucket,
                checked_key(key),
                cast("BinaryIO", counted),
                length=-1,
                part_size=_UPLOAD_PART_BYTES,
            )
            return counted.size

    @contextmanager
    def open(self, key: str, *, part: Part | None = None) -> Iterator[BinaryIO]:
        """Open the bytes for reading; see `BlobStore.open`."""
        with _failures_named(key):
            response = self._get(key, part)
            try:
                yield cast("BinaryIO", response) if part is None else _cut(response, part)
            finally:
                response.close()
                response.release_conn()

    def read(self, key: str) -> bytes:
        """Give all the bytes; see `BlobStore.read`."""
        with self.open(key) as stream:
            return stream.read()

    def delete(self, key: str) -> None:
        """Delete the bytes; see `BlobStore.delete`."""
        try:
            with _failures_named(key):
                self._client.remove_object(self._bucket, checked_key(key))
        except BlobMissingError:
            return

    def list_keys(self, prefix: str) -> Iterator[str]:
        """Walk the keys of a prefix; see `BlobStore.list_keys`."""
        checked_key(prefix.removesuffix("/"))
        try:
            with _failures_named(prefix):
                found = self._client.list_objects(self._bucket, prefix=prefix, recursive=True)
                for item in found:
                    if item.object_name is not None:
                        yield item.object_name
        except BlobMissingError:
            return  # nothing was ever put

    def remove_drafts(self, *, older_than_seconds: float) -> int:
        """Leave uploads that broke off to a lifecycle rule of the bucket (deploy/README.md): servers
        differ in whether they list them, and in when they say that they began.
        """
        return 0

    def check(self) -> None:
        """Make sure the bucket is there; see `BlobStore.check`."""
        self._has_bucket = False
        self._ensure_bucket()

    def _get(self, key: str, part: Part | None) -> BaseHTTPResponse:
        if part is None:
            return self._client.get_object(self._bucket, checked_key(key))
        wanted = f"bytes={part.offset}-{part.offset + part.length - 1}"
        return self._client.get_object(
            self._bucket, checked_key(key), request_headers={"Range": wanted}
        )

    def _ensure_bucket(self) -> None:
        if self._has_bucket:
            return
        with _failures_named(self._bucket):
            if not self._client.bucket_exists(self._bucket):
                self._make_bucket()
        self._has_bucket = True

    def _make_bucket(self) -> None:
        try:
            self._client.make_bucket(self._bucket)
        except S3Error as error:
            # Another process of the farm was first.
            if error.code not in _OURS_ALREADY:
                raise


def _cut(response: BaseHTTPResponse, part: Part) -> BinaryIO:
    """Give the part of an answer: its status does not tell whether the server knows ranges."""
    stream = cast("BinaryIO", response)
    if "Content-Range" not in response.headers:
        skip(stream, part.offset)
    return Section(stream, part.length)


class _Counted(RawIOBase):
    """A stream that knows how much was read of it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.size = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        piece = self._stream.read(size)
        self.size += len(piece)
        return piece


class _Whole(RawIOBase):
    """The next `size` bytes of a stream, which must have them all."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._left = size

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        wanted = self._left if size < 0 else min(size, self._left)
        piece = self._stream.read(wanted)
        if wanted and not piece:
            raise ValueError(f"the stream ended {self._left} bytes too early")
        self._left -= len(piece)
        return piece


def _read_region(query: str) -> str:
    asked = parse_qs(query, keep_blank_values=True, strict_parsing=bool(query))
    regions = asked.pop("region", [_DEFAULT_REGION])
    if asked or len(regions) != 1 or not _REGION.match(regions[0]):
        raise ValueError("blob URL: all that may follow the bucket is ?region=NAME")
    return regions[0]


@contextmanager
def _failures_named(key: str) -> Iterator[None]:
    try:
        yield
    except S3Error as error:
        if error.code in _GONE:
            raise BlobMissingError(key) from error
        raise Unavailable("object store") from error
    except InvalidResponseError as error:
        # Some servers answer a missing key with a content type the client does not read.
        if f"Response code: {_NOT_FOUND}," in str(error):  # it has the status in its text alone
            raise BlobMissingError(key) from error
        raise Unavailable("object store") from error
    except (ServerError, HTTPError, OSError) as error:
        raise Unavailable("object store") from error
