"""What is kept is bounded in bytes and in time, and each account's own."""

from io import BytesIO

import pytest

from shared.clock import ticks
from workers.fetcher import shelf as module
from workers.fetcher.bodies import Body, open_spool
from workers.fetcher.shelf import Found, Kept, Key, Shelf


def kept(data=b"bytes", seconds=60.0):
    return Kept(Found(200, Body(BytesIO(data), len(data))), ticks() + seconds)


def key(name, account="acc_1"):
    return Key(account, name)


def test_what_was_used_longest_ago_makes_room():
    shelf = Shelf(max_bytes=3 * 10_000)
    for name in ("one", "two"):
        shelf.put(key(name), kept(b"x" * 8_000))
    assert shelf.find(key("one"))
    shelf.put(key("three"), kept(b"x" * 8_000))
    assert shelf.find(key("two")) is None
    assert shelf.find(key("one")) is not None
    assert shelf.size <= 30_000


def test_what_is_larger_than_all_room_is_not_kept():
    shelf = Shelf(max_bytes=10_000)
    shelf.put(key("small"), kept())
    shelf.put(key("large"), kept(b"x" * 20_000))
    assert shelf.find(key("large")) is None
    assert shelf.find(key("small")) is not None
    assert Shelf(max_bytes=0).find(key("small")) is None


def test_an_account_does_not_see_what_another_one_fetched():
    shelf = Shelf(max_bytes=100_000)
    shelf.put(key("x"), kept())
    assert shelf.find(key("x", "acc_2")) is None


def test_what_nobody_asks_for_goes(monkeypatch):
    monkeypatch.setattr(module, "KEEP_SECONDS", 0.0)
    shelf = Shelf(max_bytes=100_000)
    shelf.put(key("x"), kept())
    shelf.clear_old()
    assert shelf.find(key("x")) is None
    assert shelf.size == 0


def test_what_is_stale_is_still_found():
    shelf = Shelf(max_bytes=100_000)
    shelf.put(key("x"), kept(seconds=0))
    assert not shelf.find(key("x")).is_fresh
    shelf.drop(key("x"))
    shelf.drop(key("x"))
    assert shelf.size == 0


@pytest.mark.parametrize("size", [0, 1, 1024 * 1024, 1024 * 1024 + 1, 5_000_000])
def test_a_body_is_read_as_often_as_one_likes(size):
    data = bytes(range(256)) * (size // 256 + 1)
    with open_spool() as file:
        file.write(data[:size])
        body = Body(file, size)
    for _ in range(2):
        assert b"".join(body.read_pieces()) == data[:size]
