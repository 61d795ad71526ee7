"""Claim check: a message refers to bytes too large for it, which are stored elsewhere.

A local blob store takes a seventh of the time of Redis, which writes them to its log too: 0.9 ms for
1 MB instead of 7 (decision 0341).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from typing import BinaryIO, Final, cast

from redis import Redis

from shared.blobs.store import BlobStore
from shared.errors import Unavailable
from shared.jobs.records import (
    Claim,
    ClaimStorage,
    JobOutcome,
    OutcomeStatus,
    RenderJob,
    encode_reply,
)
from shared.limits import INLINE_BODY_BYTES, KB, REDIS_BODY_BYTES
from shared.queue.connection import reachable
from shared.queue.names import claim_key

CHUNK_BYTES: Final = 256 * KB
# Longer than the longest render budget a farm may be given (settings: one hour).
CLAIM_TTL_SECONDS: Final = 2 * 3600
CLAIM_FOLDER: Final = "claims/"  # of their keys in the blob store


class ClaimLostError(Exception):
    """The bytes of a claim were deleted or have expired."""


class Claims:
    """Stores and loads bytes, by size: in the message, in Redis or in the blob store.

    A local blob store is preferred to Redis, which is used while the store fails. What is left in a blob store
    is removed by maintenance, later than any use of it.
    `memory` is a Redis without persistence; what is stored `in_memory` goes nowhere else, if there is one.

    Every method raises `Unavailable` while the storage of the bytes is unreachable.
    """

    def __init__(self, redis: Redis, blobs: BlobStore, memory: Redis | None = None) -> None:
        self._redis = redis
        self._blobs = blobs
        self._memory = memory

    def store(self, job_id: str, data: bytes, *, in_memory: bool = False) -> Claim:
        """Store the bytes of a job."""
        return self.store_stream(job_id, BytesIO(data), len(data), in_memory=in_memory)

    def store_stream(
        self, job_id: str, stream: BinaryIO, size: int, *, in_memory: bool = False
    ) -> Claim:
        """Store the next `size` bytes of a seekable stream, without holding large ones in memory."""
        if in_memory and self._memory is not None:
            return self._store_in_redis(job_id, stream.read(size), ClaimStorage.MEMORY)
        if size <= INLINE_BODY_BYTES:
            return Claim(ClaimStorage.INLINE, size, data=stream.read(size))
        return self.store_external(job_id, stream, size)

    def store_external(self, job_id: str, stream: BinaryIO, size: int) -> Claim:
        """Store a stream outside the message, whose size would grow with several claims."""
        if size > REDIS_BODY_BYTES:
            return self._store_blob(job_id, stream, size)
        if self._blobs.is_local:
            begin = stream.tell()
            with suppress(Unavailable):
                return self._store_blob(job_id, stream, size)
            stream.seek(begin)
        return self._store_in_redis(job_id, stream.read(size))

    def store_pdf(self, job: RenderJob, pdf: bytes) -> Claim:
        """Store the result of a job without a record, in memory alone if its body is there."""
        return self.store(job.id, pdf, in_memory=job.is_in_memory)

    def seal(self, job: RenderJob, outcome: JobOutcome) -> JobOutcome:
        """Return what may be written of an outcome: of a job in memory its pages, and a claim to all else."""
        if not job.is_in_memory:
            return outcome
        counts = JobOutcome(job.id, outcome.status, pages=outcome.pages, cpu_us=outcome.cpu_us)
        try:
            sealed = self.store(job.id, encode_reply(outcome), in_memory=True)
        except Unavailable as error:
            return counts.replace(status=OutcomeStatus.FAILED, error=error.body)
        return counts.replace(sealed=sealed)

    def load(self, claim: Claim) -> bytes:
        """Return the bytes of a claim.

        Raises:
            ClaimLostError: the bytes were deleted or have expired.
        """
        return b"".join(self.stream(claim))

    def stream(self, claim: Claim) -> Iterator[bytes]:
        """Yield the bytes of a claim in chunks; reading starts with the first iteration.

        Raises:
            ClaimLostError: the bytes were deleted or have expired.
        """
        match claim.home:
            case ClaimStorage.INLINE:
                yield claim.data
            case ClaimStorage.REDIS | ClaimStorage.MEMORY:
                yield self._load_from_redis(claim)
            case ClaimStorage.BLOB:
                yield from self._stream_blob(claim)

    def delete_claim(self, claim: Claim) -> None:
        """Delete a claim's bytes; missing ones are ignored."""
        match claim.home:
            case ClaimStorage.INLINE:
                return
            case ClaimStorage.REDIS | ClaimStorage.MEMORY:
                with reachable():
                    self._server_of(claim.home).unlink(claim.key)
            case ClaimStorage.BLOB:
                self._blobs.delete(claim.key)

    def _server_of(self, home: ClaimStorage) -> Redis:
        if home is ClaimStorage.REDIS:
            return self._redis
        if self._memory is None:
            raise Unavailable("memory")  # this process has been started without the setting
        return self._memory

    def _store_in_redis(
        self, job_id: str, data: bytes, home: ClaimStorage = ClaimStorage.REDIS
    ) -> Claim:
        key = _fresh_key(job_id)
        with reachable():
            self._server_of(home).set(key, data, ex=CLAIM_TTL_SECONDS)
        return Claim(home, len(data), key=key)

    def _store_blob(self, job_id: str, stream: BinaryIO, size: int) -> Claim:
        key = f"{CLAIM_FOLDER}{_fresh_key(job_id)}"
        self._blobs.put(key, stream, size, is_transient=True)
        return Claim(ClaimStorage.BLOB, size, key=key)

    def _load_from_redis(self, claim: Claim) -> bytes:
        with reachable():
            data = cast("bytes | None", self._server_of(claim.home).get(claim.key))
        if data is None:
            raise ClaimLostError(claim.key)
        return data

    def _stream_blob(self, claim: Claim) -> Iterator[bytes]:
        try:
            with self._blobs.open(claim.key) as stream:
                while piece := stream.read(CHUNK_BYTES):
                    yield piece
        except KeyError as error:
            raise ClaimLostError(claim.key) from error


def _fresh_key(job_id: str) -> str:
    # Each run of a job has a key of its own, so that deleting the bytes of a run that lost cannot
    # delete those of the committed one.
    return claim_key(job_id, secrets.token_hex(8))
