"""A client as every process makes it: what breaks is repeated once, what takes too long is not."""

from __future__ import annotations

import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from shared.errors import StorageFull, Unavailable
from shared.queue.connection import (
    UnfitRedisError,
    assert_volatile,
    batched,
    connect,
    reachable,
    scan,
)
from shared.queue.shard_layout import check_writable
from tests.waiting import wait_until


class AlarmError(Exception):
    """An exception raised in the middle of a call."""


def test_a_connection_that_the_server_closed_is_made_again(redis):
    redis.set("a", 1)
    redis.client_kill_filter(_type="normal", skipme=True)
    assert redis.get("a") == b"1"


def test_an_answer_that_an_alarm_cut_off_is_not_the_next_ones(redis):
    def go_off(*_):
        raise AlarmError

    before = signal.signal(signal.SIGALRM, go_off)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(AlarmError):
            redis.blpop(["empty"], 1)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert redis.set("a", 1)
    assert redis.get("a") == b"1"


@pytest.mark.long
def test_threads_do_not_wait_for_each_other(redis):
    with ThreadPoolExecutor(120) as pool:  # more than redis-py's own bound of a pool
        taken = [pool.submit(redis.blpop, ["full"], 200) for _ in range(120)]
        wait_until(lambda: redis.info("clients")["blocked_clients"] == 120)
        redis.rpush("full", *range(120))
        assert all(each.result() for each in taken)


@contextmanager
def silent_server(*, connects: bool):
    """Listen on a port and answer nothing; with a full backlog no client can connect either."""
    with ExitStack() as opened:
        listener = opened.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        port = listener.getsockname()[1]
        for _ in range(0 if connects else 4):
            filler = opened.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
        yield f"redis://127.0.0.1:{port}/0"


@pytest.mark.long
@pytest.mark.parametrize("connects", [True, False])
def test_a_silent_server_is_a_timeout(connects):
    with silent_server(connects=connects) as url, connect(url) as redis:
        with pytest.raises(Unavailable) as failed, reachable():
            redis.get("a")
        assert isinstance(failed.value.__cause__, RedisTimeoutError)


def test_a_full_server_disk_is_distinguished_from_an_unavailable_server():
    with pytest.raises(StorageFull), reachable():
        raise ResponseError("MISCONF Errors writing to the AOF file: No space left on device")


def test_a_server_at_its_memory_limit_is_full_though_it_answers(redis):
    check_writable(redis)
    redis.config_set("maxmemory", 1)
    try:
        assert redis.ping()
        with pytest.raises(StorageFull):
            check_writable(redis)
    finally:
        redis.config_set("maxmemory", 0)
    check_writable(redis)


def test_keys_come_in_lists(redis):
    redis.mset({f"x:{number}": number for number in range(1_001)})
    redis.set("y", 1)
    lists = list(scan(redis, "x:*"))
    assert [len(each) for each in lists] == [500, 500, 1]
    assert len({key for each in lists for key in each}) == 1_001
    assert list(batched([], 2)) == []
    assert list(batched("abc", 2)) == [["a", "b"], ["c"]]


def test_a_server_that_writes_to_disk_is_no_memory(redis):
    with pytest.raises(UnfitRedisError, match="appendonly no"):
        assert_volatile(redis)
    redis.config_set("appendonly", "no")
    try:
        assert_volatile(redis)
    finally:
        redis.config_set("appendonly", "yes")
