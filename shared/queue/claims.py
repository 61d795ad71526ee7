"""Claim check: bytes too large for a message lie aside, and the message carries a ticket (design.md 1).

A blob store that is near holds them at a seventh of what Redis takes, which writes them to its log
too: 0.9 ms of 1 MB instead of 7 (decision 0180).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from io import BytesIO
from typing import BinaryIO, Final, Protocol, cast

from redis import Redis

from shared.clock import epoch
from shared.errors import Unavailable
from shared.jobs import Claim, ClaimHome
from shared.limits import INLINE_BODY_BYTES, KB, REDIS_BODY_BYTES
from shared.queue.connection import reachable
from shared.queue.names import CLAIM_EXPIRY, claim_key

CHUNK_BYTES: Final = 256 * KB
# Longer than the longest render budget a farm may be given (settings: one hour).
CLAIM_TTL_SECONDS: Final = 2 * 3600
_SWEEP_AT_ONCE: Final = 20
CLAIM_FOLDER: Final = "claims/"  # of their keys in the blob store


class BlobHome(Protocol):
    """What claims need of a blob store; `shared.blobs` has the real ones."""

    @property
    def is_near(self) -> bool:
        """Return whether the bytes lie in a file system of this machine."""

    def put(self, key: str, stream: BinaryIO, size: int, *, is_brief: bool = False) -> None:
        """Store `size` bytes of `stream`; what is brief need not survive the machine."""

    def open(self, key: str) -> AbstractContextManager[BinaryIO]:
        """Open the bytes for reading."""

    def delete(self, key: str) -> None:
        """Delete the bytes; deleting what is not there is no error."""


class ClaimLostError(Exception):
    """The bytes of a claim are gone: dropped, or past their time to live."""


class Claims:
    """Puts bytes aside and gives them back, by size: in the message, in Redis, in the blob store.

    One that is near is preferred to Redis, which then holds what it does not take. Nothing of a near
    store is listed to be swept: the keeper removes what nothing lists, later than any use of it.

    Every method raises `Unavailable` when the home of the bytes is away.
    """

    def __init__(self, redis: Redis, blobs: BlobHome) -> None:
        self._redis = redis
        self._blobs = blobs

    def store(self, job_id: str, data: bytes) -> Claim:
        """Put bytes aside for a job."""
        return self.store_stream(job_id, BytesIO(data), len(data))

    def store_stream(self, job_id: str, stream: BinaryIO, size: int) -> Claim:
        """Put the next `size` bytes of a stream that can go back aside, without holding large ones
        in memory.
        """
        if size <= INLINE_BODY_BYTES:
            return Claim(ClaimHome.INLINE, size, data=stream.read(size))
        if size > REDIS_BODY_BYTES:
            return self._store_blob(job_id, stream, size)
        if self._blobs.is_near:
            begin = stream.tell()
            with suppress(Unavailable):
                return self._store_blob(job_id, stream, size)
            stream.seek(begin)
        return self._store_in_redis(job_id, stream.read(size))

    def load(self, claim: Claim) -> bytes:
        """Return the bytes of a claim.

        Raises:
            ClaimLostError: they are gone.
        """
        return b"".join(self.stream(claim))

    def stream(self, claim: Claim) -> Iterator[bytes]:
        """Return the bytes of a claim in pieces; nothing is read before the first is asked for.

        Raises:
            ClaimLostError: they are gone.
        """
        match claim.home:
            case ClaimHome.INLINE:
                yield claim.data
            case ClaimHome.REDIS:
                yield self._load_from_redis(claim)
            case ClaimHome.BLOB:
                yield from self._stream_blob(claim)

    def lend(self, key: str) -> None:
        """Have bytes that will lie under a key of the blob store swept, unless they are kept in time."""
        self._sweep()
        with reachable(self._redis):
            self._redis.zadd(CLAIM_EXPIRY, {key: epoch() + CLAIM_TTL_SECONDS})

    def keep(self, key: str) -> None:
        """Have the bytes of a lent key stay: they go on record now."""
        with reachable(self._redis):
            self._redis.zrem(CLAIM_EXPIRY, key)

    def find_listed(self, keys: Sequence[str]) -> frozenset[str]:
        """Return those of some keys of the blob store whose time is not over."""
        if not keys:
            return frozenset()
        with reachable(self._redis):
            times = self._redis.zmscore(CLAIM_EXPIRY, list(keys))
        at = epoch()
        return frozenset(
            key for key, time in zip(keys, times, strict=True) if time is not None and time > at
        )

    def drop(self, claim: Claim) -> None:
        """Forget a claim's bytes; dropping twice is no error."""
        match claim.home:
            case ClaimHome.INLINE:
                return
            case ClaimHome.REDIS:
                with reachable(self._redis):
                    self._redis.unlink(claim.key)
            case ClaimHome.BLOB if self._blobs.is_near:
                self._blobs.delete(claim.key)
            case ClaimHome.BLOB:
                self._delete_listed(claim.key)

    def _store_in_redis(self, job_id: str, data: bytes) -> Claim:
        key = _fresh_key(job_id)
        with reachable(self._redis):
            self._redis.set(key, data, ex=CLAIM_TTL_SECONDS)
        return Claim(ClaimHome.REDIS, len(data), key=key)

    def _store_blob(self, job_id: str, stream: BinaryIO, size: int) -> Claim:
        key = f"{CLAIM_FOLDER}{_fresh_key(job_id)}"
        if not self._blobs.is_near:
            self.lend(key)
        self._blobs.put(key, stream, size, is_brief=True)
        return Claim(ClaimHome.BLOB, size, key=key)

    def _load_from_redis(self, claim: Claim) -> bytes:
        with reachable(self._redis):
            data = cast("bytes | None", self._redis.get(claim.key))
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

    def _delete_listed(self, key: str) -> None:
        self._blobs.delete(key)
        with reachable(self._redis):
            self._redis.zrem(CLAIM_EXPIRY, key)

    def _sweep(self) -> None:
        """Delete what nobody claimed in time: a blob store has no time to live of its own."""
        with reachable(self._redis):
            overdue = self._redis.zrangebyscore(
                CLAIM_EXPIRY, "-inf", epoch(), start=0, num=_SWEEP_AT_ONCE
            )
        for key in cast("list[bytes]", overdue):
            self._delete_listed(key.decode())


def _fresh_key(job_id: str) -> str:
    # A job that runs twice stores twice: each run has a key of its own, so that dropping the
    # loser's bytes cannot take the winner's.
    return claim_key(job_id, secrets.token_hex(8))
