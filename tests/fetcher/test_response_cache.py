"""Cached responses are bounded in bytes and time, and private to an account."""

from io import BytesIO

import pytest

from shared.clock import ticks
from workers.fetcher.response_cache import (
    CacheEntry,
    CacheKey,
    FetchedResponse,
    ResponseCache,
    SharedBody,
    open_spool,
)


def kept(data=b"bytes", seconds=60.0):
    return CacheEntry(FetchedResponse(200, SharedBody(BytesIO(data), len(data))), ticks() + seconds)


def key(name, account="acc_1"):
    return CacheKey(account, name)


def test_the_least_recently_used_entry_is_evicted():
    cache = ResponseCache(max_bytes=3 * 10_000)
    for name in ("one", "two"):
        cache.put(key(name), kept(b"x" * 8_000))
    assert cache.find(key("one"))
    cache.put(key("three"), kept(b"x" * 8_000))
    assert cache.find(key("two")) is None
    assert cache.find(key("one")) is not None
    assert cache.size <= 30_000


def test_an_entry_larger_than_the_cache_is_not_stored():
    cache = ResponseCache(max_bytes=10_000)
    cache.put(key("small"), kept())
    cache.put(key("large"), kept(b"x" * 20_000))
    assert cache.find(key("large")) is None
    assert cache.find(key("small")) is not None
    assert ResponseCache(max_bytes=0).find(key("small")) is None


def test_stale_entries_are_neither_found_nor_kept():
    cache = ResponseCache(max_bytes=100_000)
    cache.put(key("x"), kept(seconds=0))
    cache.put(key("y"), kept())
    assert cache.find(key("x")) is None
    cache.evict_stale()
    assert cache.find(key("y"))
    assert cache.size < 2 * 4096 + 5


@pytest.mark.parametrize("size", [0, 1, 1024 * 1024, 1024 * 1024 + 1, 5_000_000])
def test_a_body_is_read_as_often_as_one_likes(size):
    data = bytes(range(256)) * (size // 256 + 1)
    with open_spool() as file:
        file.write(data[:size])
        body = SharedBody(file, size)
    for _ in range(2):
        assert b"".join(body.read_chunks()) == data[:size]
