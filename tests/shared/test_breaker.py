"""A circuit breaker opens for a server that keeps callers waiting, and lets one at a time try it again."""

from __future__ import annotations

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from shared.errors import Unavailable
from shared.queue.breaker import Breaker
from shared.queue.connection import connect, connect_each, guarded, reachable
from shared.shards import ShardAddress


class Clock:
    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def breaker(clock):
    return Breaker(now=clock)


def fail(breaker, error):
    with pytest.raises(type(error)), breaker.watch():
        raise error


def is_refused(breaker):
    try:
        with breaker.watch():
            return False
    except RedisConnectionError:
        return True


def test_a_call_that_runs_out_of_time_opens_it_for_a_second(breaker, clock):
    assert not is_refused(breaker)
    fail(breaker, RedisTimeoutError())
    for at in (0.0, 0.9):
        clock.at = at
        assert is_refused(breaker)
    clock.at = 1.1
    assert not is_refused(breaker)
    assert not is_refused(breaker)


def test_one_caller_at_a_time_tries_again(breaker, clock):
    fail(breaker, RedisTimeoutError())
    clock.at = 1.1
    with breaker.watch():
        assert is_refused(breaker)
    assert not is_refused(breaker)


@pytest.mark.parametrize("error", [RedisTimeoutError(), RedisConnectionError()])
def test_a_try_that_fails_keeps_it_open(breaker, clock, error):
    fail(breaker, RedisTimeoutError())
    clock.at = 1.1
    fail(breaker, error)
    assert is_refused(breaker)
    clock.at = 2.2
    assert not is_refused(breaker)


def test_a_try_that_never_returns_is_followed_by_another(breaker, clock):
    fail(breaker, RedisTimeoutError())
    clock.at = 1.1
    with pytest.raises(KeyboardInterrupt), breaker.watch():
        raise KeyboardInterrupt
    assert is_refused(breaker)
    clock.at = 12.0
    assert not is_refused(breaker)


@pytest.mark.parametrize("error", [RedisConnectionError(), ResponseError("full")])
def test_a_server_that_answers_or_refuses_at_once_opens_nothing(breaker, error):
    fail(breaker, error)
    assert not is_refused(breaker)


def test_an_error_of_the_server_is_an_answer(breaker, clock):
    fail(breaker, RedisTimeoutError())
    clock.at = 1.1
    fail(breaker, ResponseError("full"))
    assert not is_refused(breaker)


def test_a_farm_of_one_shard_has_none(redis_url):
    with connect(redis_url) as redis:
        for _ in range(2):
            with pytest.raises(RedisTimeoutError), guarded(redis):
                raise RedisTimeoutError
        with reachable(redis):
            assert redis.ping()


def test_each_of_several_shards_has_its_own(redis_url):
    clients = connect_each([ShardAddress(name, redis_url) for name in ("0", "1")])
    first, second = clients.get("0"), clients.get("1")
    with pytest.raises(Unavailable), reachable(first):
        raise RedisTimeoutError
    with pytest.raises(Unavailable, match="not available"), reachable(first):
        pytest.fail("it was asked")
    with reachable(second):
        assert second.ping()
    first.close()
    second.close()
