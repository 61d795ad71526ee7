"""What a front remembers of a key for a moment, and how it hears that the key has changed."""

from __future__ import annotations

import gc
import threading
import time
from dataclasses import replace

import pytest

from shared.buckets.admission import AdmissionCache
from shared.buckets.recent import FRESH_SECONDS, RecentKeys
from shared.queue.connection import connect
from tests.shared.test_admission import DIGEST, STATE

PAID = replace(STATE, plan="paid")
SOON = 0.2  # seconds, for word to come on a busy machine; less than anything is kept for


@pytest.fixture
def redis(redis_url):
    client = connect(redis_url)
    yield client
    client.close()


@pytest.fixture
def cache(redis):
    cache = AdmissionCache(redis)
    cache.put(DIGEST, PAID)
    cache.find(DIGEST)
    wait_until(lambda: cache._recent.is_listening)
    return cache


@pytest.fixture
def elsewhere(redis_url):
    """Give the cache as another process has it."""
    client = connect(redis_url)
    yield AdmissionCache(client)
    client.close()


def wait_until(is_so, seconds=5.0):
    give_up_at = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < give_up_at
        time.sleep(0.005)


def count_reads(redis):
    return redis.info("commandstats")["cmdstat_evalsha"]["calls"]


def test_a_state_is_read_once_in_a_moment(cache, redis):
    assert cache.find(DIGEST).state == PAID
    before = count_reads(redis)
    found = [cache.find(DIGEST) for _ in range(5)]
    assert {each.state for each in found} == {PAID}
    assert count_reads(redis) == before
    time.sleep(FRESH_SECONDS)
    cache.find(DIGEST)
    assert count_reads(redis) == before + 1


def test_what_an_account_used_is_never_remembered(cache, redis):
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


def test_an_emptied_server_is_noticed_within_what_is_kept(cache, redis):
    cache.find(DIGEST)
    redis.flushall()
    wait_until(lambda: cache.find(DIGEST) is None, FRESH_SECONDS + SOON)


def test_a_change_of_ones_own_needs_no_word(cache):
    cache.find(DIGEST)
    cache.drop([DIGEST])
    assert cache.find(DIGEST) is None


def test_what_was_read_before_a_change_is_not_kept_after_it(cache):
    recent = cache._recent
    before = cache.find(DIGEST)
    begun = recent.begin()
    recent._kept.take({"type": "message", "data": b"key:" + b"b" * 64})
    recent.forget()
    recent.keep(DIGEST, before, today=before.period.start, begun=begun)
    assert recent.find(DIGEST, today=before.period.start) is None


def test_what_was_kept_is_forgotten_with_the_subscription(cache, redis):
    cache.find(DIGEST)
    version = cache._recent._kept.version
    redis.client_kill_filter(_type="pubsub")
    wait_until(lambda: cache._recent._kept.version != version)  # forgotten, and subscribed again
    wait_until(lambda: cache._recent.is_listening)
    before = count_reads(redis)
    cache.find(DIGEST)
    cache.find(DIGEST)
    assert count_reads(redis) == before + 1


def test_nothing_is_kept_where_the_server_is_away(redis_url):
    recent = RecentKeys(connect("redis://127.0.0.1:1/0"), prefix="key:")
    assert recent.begin() is None
    time.sleep(SOON)
    assert recent.begin() is None


def test_whoever_listens_ends_with_its_cache(redis):
    cache = AdmissionCache(redis)
    cache.find(DIGEST)
    listener = cache._recent._listener
    assert listener in threading.enumerate()
    del cache
    gc.collect()
    listener.join(5)
    assert not listener.is_alive()
