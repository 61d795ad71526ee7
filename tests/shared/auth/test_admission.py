"""The front reads a key's state in one round trip, and a change takes effect at once."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from redis import Redis

from shared.auth.admission import AdmissionCache
from shared.auth.key_state import KeyState
from shared.auth.scopes import Scope
from shared.clock import now
from shared.errors import Unavailable
from shared.queue.connection import connect
from shared.usage.metering import Totals, Usage
from shared.usage.periods import find_period

DIGEST = "a" * 64
STATE = KeyState(
    key_id="key_1",
    account_id="acc_1",
    workspace_id="ws_1",
    user_id="usr_1",
    user_name="Ada",
    user_email="ada@example.com",
    plan="free",
    max_pages=100,
    max_draft_pages=None,
    max_cpu_seconds=None,
    renewal_day=31,
    rate_limit=None,
    key_revoked=False,
    scopes=frozenset({Scope.RENDER}),
    key_expires_at=datetime(2027, 1, 1, tzinfo=UTC),
    account_disabled=False,
    email_verified=True,
    keeps_nothing=False,
)


@pytest.fixture
def cache(redis: Redis) -> AdmissionCache:
    return AdmissionCache(redis)


def period() -> str:
    return find_period(now().date(), renewal_day=STATE.renewal_day).key


def test_a_state_comes_back_as_it_was_put(cache):
    cache.put(DIGEST, STATE)
    found = cache.find(DIGEST)
    assert found.state == STATE
    assert found.period.key == period()
    assert found.used is None


@pytest.mark.parametrize("field", ["granted", "max_cpu_seconds"])
def test_a_state_of_an_earlier_release_is_read_from_the_database_again(cache, redis, field):
    cache.put(DIGEST, STATE)
    key = f"key:{DIGEST}"
    old = {name: value for name, value in json.loads(STATE.encode()).items() if name != field}
    redis.hset(key, "state", json.dumps(old))
    assert cache.find(DIGEST) is None


def test_the_counters_of_the_current_period_come_with_the_state(cache, redis):
    cache.put(DIGEST, STATE)
    cache.seed_usage("acc_1", period(), Totals(Usage(7, 2, 30), Usage(3, 1, 20)))
    redis.hincrby(f"usage:acc_1:{period()}", "production:pages", 5)
    redis.hincrby(f"usage:acc_1:{period()}", "draft:cpu", 5)
    assert cache.find(DIGEST).used == Totals(Usage(12, 2, 30), Usage(3, 1, 25))


def test_counters_seeded_by_a_release_without_processor_time_are_seeded_again(cache, redis):
    redis.hset(f"usage:acc_1:{period()}", mapping={"production:pages": 9, "seeded": 1})
    assert cache.find_usage("acc_1", period()) is None
    cache.seed_usage("acc_1", period(), Totals(Usage(7, 2, 30)))
    assert cache.find_usage("acc_1", period()) == Totals(Usage(9, 2, 30))


def test_a_dropped_key_is_forgotten_and_an_old_state_does_not_come_back(cache):
    cache.put(DIGEST, STATE)
    cache.drop([DIGEST])
    assert cache.find(DIGEST) is None
    cache.put(DIGEST, STATE)  # read from the database before the change, written after the drop
    assert cache.find(DIGEST) is None


def test_dropping_all_forgets_every_key(cache):
    for number in range(1200):
        cache.put(f"{number:064}", STATE)
    cache.drop_all()
    assert all(cache.find(f"{number:064}") is None for number in (0, 600, 1199))


def test_an_unreachable_redis_is_reported_as_unavailable():
    cache = AdmissionCache(connect("redis://127.0.0.1:1/0"))
    with pytest.raises(Unavailable):
        cache.find(DIGEST)
