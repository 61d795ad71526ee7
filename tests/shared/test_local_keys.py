"""The front caches a key's state briefly, and a change invalidates it."""

from __future__ import annotations

import gc
import socket
import threading
from dataclasses import replace

import pytest

from shared.queue.connection import connect
from shared.redis_state.admission import AdmissionCache
from shared.redis_state.local_keys import FRESH_SECONDS, LocalKeyCache
from tests.shared.test_admission import DIGEST, STATE
from tests.waiting import wait_until

PAID = replace(STATE, plan="paid")
SOON = 0.2  # seconds, for word to come on a busy machine; less than anything is kept for


@pytest.fixture
def cache(redis):
    cache = AdmissionCache(redis)
    cache.put(DIGEST, PAID)
    cache.find(DIGEST)
    wait_until(lambda: cache.is_listening)
    return cache


@pytest.fixture
def elsewhere(redis_url):
    """Yield the cache of another process."""
    client = connect(redis_url)
    yield AdmissionCache(client)
    client.close()


def count_reads(redis):
    return redis.info("commandstats")["cmdstat_evalsha"]["calls"]


@pytest.mark.long
def test_a_state_is_read_once_in_a_moment(cache, redis):
    assert cache.find(DIGEST).state == PAID
    before = count_reads(redis)
    found = [cache.find(DIGEST) for _ in range(5)]
    assert {each.state for each in found} == {PAID}
    assert count_reads(redis) == before
    wait_until(lambda: cache.find(DIGEST) and count_reads(redis) == before + 1)


def test_usage_of_an_account_is_never_cached(cache, redis):
    cache.find(DIGEST)
    assert cache.find(DIGEST).used is None
    cache.put(DIGEST, STATE)  # of a free account, which is refused at its allowance
    wait_until(lambda: cache.find(DIGEST).state == STATE, SOON)
    before = count_reads(redis)
    cache.find(DIGEST)
    assert count_reads(redis) == before + 1


@pytest.mark.parametrize("change", ["put", "drop", "drop_all"])
def test_a_change_in_another_process_is_heard_at_once(cache, elsewhere, change):
    cache.find(DIGEST)
    match change:
        case "put":
            elsewhere.put(DIGEST, replace(PAID, account_disabled=True))
            wait_until(lambda: cache.find(DIGEST).state.account_disabled, SOON)
        case "drop":
            elsewhere.drop([DIGEST])
        case "drop_all":
            elsewhere.drop_all()
    if change != "put":
        wait_until(lambda: cache.find(DIGEST) is None, SOON)


@pytest.mark.long
def test_an_emptied_server_is_noticed_within_the_cache_time(cache, redis):
    cache.find(DIGEST)
    redis.flushall()
    wait_until(lambda: cache.find(DIGEST) is None, FRESH_SECONDS + SOON)


def test_a_change_of_ones_own_needs_no_word(cache):
    cache.find(DIGEST)
    cache.drop([DIGEST])
    assert cache.find(DIGEST) is None


@pytest.fixture
def local(cache, redis):
    """Return a cache of this process that is subscribed, and what it is to keep."""
    local = LocalKeyCache(redis, prefix="key:")
    wait_until(local.begin)
    return local, cache.find(DIGEST)


def test_a_state_read_before_a_change_is_not_cached_after_it(local, elsewhere):
    local, state = local
    begun = local.begin()
    elsewhere.drop(["b" * 64])  # another key
    wait_until(lambda: local.begin() != begun)
    local.keep(DIGEST, state, today=state.period.start, begun=begun)
    assert local.find(DIGEST, today=state.period.start) is None


def test_cached_states_are_dropped_with_the_subscription(local, redis):
    local, state = local
    begun = local.begin()
    local.keep(DIGEST, state, today=state.period.start, begun=begun)
    redis.client_kill_filter(_type="pubsub")
    wait_until(lambda: local.begin() not in {None, begun})  # forgotten, and subscribed again
    assert local.find(DIGEST, today=state.period.start) is None
    local.keep(DIGEST, state, today=state.period.start, begun=local.begin())
    assert local.find(DIGEST, today=state.period.start) == state


def test_nothing_is_cached_while_the_server_is_unavailable():
    with socket.create_server(("127.0.0.1", 0)) as server:
        local = LocalKeyCache(
            connect(f"redis://127.0.0.1:{server.getsockname()[1]}/0"), prefix="key:"
        )
        assert local.begin() is None
        server.accept()[0].close()  # the listener has connected, and lost its connection
        assert local.begin() is None


@pytest.mark.long
def test_the_listener_thread_ends_with_its_cache(redis):
    before = set(threading.enumerate())
    cache = AdmissionCache(redis)
    cache.find(DIGEST)
    [listener] = set(threading.enumerate()) - before
    del cache
    gc.collect()
    listener.join(5)
    assert not listener.is_alive()
