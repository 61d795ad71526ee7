"""Claims: bytes aside lie where they are quickest, come back whole, and are gone when dropped."""

from __future__ import annotations

import io

import pytest

from shared.blobs.folder import FolderStore
from shared.errors import Unavailable
from shared.jobs.records import ClaimStorage
from shared.queue.claims import ClaimLostError, Claims
from shared.queue.connection import connect

KB, MB = 1000, 1_000_000


class FarStore(FolderStore):
    """A folder that is taken for a server."""

    is_local = False


@pytest.mark.parametrize(
    ("kind", "size", "home"),
    [
        (FolderStore, 60 * KB, ClaimStorage.INLINE),
        (FolderStore, MB, ClaimStorage.BLOB),
        (FolderStore, 5 * MB, ClaimStorage.BLOB),
        (FarStore, 60 * KB, ClaimStorage.INLINE),
        (FarStore, MB, ClaimStorage.REDIS),
        (FarStore, 5 * MB, ClaimStorage.BLOB),
    ],
)
@pytest.mark.parametrize("is_streamed", [False, True])
def test_bytes_of_any_size_come_back_whole_and_leave_nothing(
    redis, tmp_path, kind, size, home, is_streamed
):
    claims = Claims(redis, kind(tmp_path))
    data = bytes(range(250)) * (size // 250)
    if is_streamed:
        stream = io.BytesIO(b"before" + data + b"after")
        stream.seek(6)
        claim = claims.store_stream("job_1", stream, size)
        assert stream.read() == b"after"
    else:
        claim = claims.store("job_1", data)
    assert (claim.home, claim.size) == (home, size)
    assert claims.load(claim) == data
    claims.delete_claim(claim)
    claims.delete_claim(claim)
    assert redis.keys() == []
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    if home is not ClaimStorage.INLINE:
        with pytest.raises(ClaimLostError):
            claims.load(claim)


@pytest.mark.parametrize("size", [1, MB, 5 * MB])
def test_bytes_that_are_kept_nowhere_are_in_the_memory_of_one_server(
    redis, redis_url, tmp_path, size
):
    memory = connect(f"{redis_url.removesuffix('/0')}/1")
    claims = Claims(redis, FolderStore(tmp_path), memory)
    claim = claims.store("job_1", bytes(size), in_memory=True)
    assert claim.home is ClaimStorage.MEMORY
    assert 0 < memory.ttl(claim.key) <= 7200
    assert claims.load(claim) == bytes(size)
    assert (redis.keys(), [*tmp_path.iterdir()]) == ([], [])
    claims.delete_claim(claim)
    assert memory.keys() == []
    without = Claims(redis, FolderStore(tmp_path))
    assert without.store("job_1", b"x", in_memory=True).home is ClaimStorage.INLINE
    with pytest.raises(Unavailable):
        without.load(claim)


def test_two_runs_of_a_job_have_bytes_of_their_own(redis, tmp_path):
    claims = Claims(redis, FolderStore(tmp_path))
    lost, won = (claims.store("job_1", letter * MB) for letter in (b"a", b"b"))
    claims.delete_claim(lost)
    assert claims.load(won) == b"b" * MB


def test_claims_are_stored_in_redis_without_a_folder(redis, tmp_path):
    (tmp_path / "claims").write_text("a file where the folder should be")
    claims = Claims(redis, FolderStore(tmp_path))
    stream = io.BytesIO(b"head" + b"x" * MB)
    stream.seek(4)
    claim = claims.store_stream("job_1", stream, MB)
    assert claim.home is ClaimStorage.REDIS
    assert claims.load(claim) == b"x" * MB
    claims.delete_claim(claim)
    assert redis.keys() == []


def test_a_claim_too_large_for_redis_needs_the_folder(redis, tmp_path):
    (tmp_path / "claims").write_text("a file where the folder should be")
    with pytest.raises(Unavailable, match="object store"):
        Claims(redis, FolderStore(tmp_path)).store("job_1", b"x" * 5 * MB)
    assert redis.keys() == []
