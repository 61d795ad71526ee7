"""One Redis server of several: told what it is, and left alone while it does not answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from redis import Redis
from redis.exceptions import RedisError

from shared.auth.accounts import create_account, find_key_state
from shared.auth.admission import AdmissionCache, ShardedAdmissionCache
from shared.errors import Unavailable
from shared.identifiers import digest_api_key
from shared.queue.connection import UnfitRedisError, connect
from shared.queue.shard_layout import ShardLayout, assert_shard, assert_shards, find_layout
from shared.shards import PerShard, ShardAddress, find_shard, slot_of
from tests.servers import RedisServer

NAMES = ("0", "1")


@pytest.fixture(scope="module")
def servers(tmp_path_factory) -> Iterator[list[RedisServer]]:
    with ExitStack() as stack:
        folders = (tmp_path_factory.mktemp(f"shard-{name}") for name in NAMES)
        yield [stack.enter_context(RedisServer(folder)) for folder in folders]


@pytest.fixture
def shards(servers) -> list[ShardAddress]:
    for server in servers:
        with Redis.from_url(server.url) as client:
            client.flushall()
    return [ShardAddress(name, server.url) for name, server in zip(NAMES, servers, strict=True)]


@pytest.fixture
def clients(shards) -> Iterator[dict[str, Redis]]:
    clients = {shard.name: connect(shard.url) for shard in shards}
    yield clients
    for client in clients.values():
        client.close()


def test_a_new_server_becomes_the_shard_that_the_settings_say(shards, clients):
    for _ in range(2):
        assert_shards(shards)
    assert find_layout(clients["1"]) == ShardLayout("1", ("0", "1"))


def test_a_server_that_is_full_is_still_its_shard(shards, clients):
    assert_shards(shards)
    clients["0"].config_set("maxmemory", "1mb")
    try:
        with pytest.raises(RedisError, match="maxmemory"):
            clients["0"].set("x", b"x")
        assert_shards(shards)
    finally:
        clients["0"].config_set("maxmemory", "0")


def test_servers_that_changed_places_are_refused(shards):
    assert_shards(shards)
    first, second = shards
    swapped = [ShardAddress("0", second.url), ShardAddress("1", first.url)]
    with pytest.raises(UnfitRedisError, match=r"given as shard '0' .* is shard '1'"):
        assert_shards(swapped)
    assert_shards([second, first])  # their order alone means nothing


def test_a_farm_that_grew_without_adoption_is_refused(shards, clients):
    assert_shards(shards[:1])
    with pytest.raises(UnfitRedisError, match="pressroom shards adopt"):
        assert_shard(clients["0"], ShardLayout.of(shards[0], shards))


def test_a_farm_starts_without_one_shard_and_not_without_any(shards):
    nowhere = ShardAddress("9", "redis://127.0.0.1:1/0")
    assert_shards([shards[0], nowhere])
    with pytest.raises(Unavailable):
        assert_shards([nowhere])


def test_a_key_is_found_where_its_account_lives(shards, clients, database):
    keys = ShardedAdmissionCache(
        PerShard(shards, lambda shard: AdmissionCache(clients[shard.name]))
    )
    with database.session() as session:
        made = create_account(session, email="ada@example.org")
        digest = digest_api_key(made.api_key)
        state = find_key_state(session, digest)
    assert keys.find(digest) is None
    keys.put(digest, state)
    assert keys.find(digest).state == state
    home = find_shard(slot_of(made.account_id), NAMES)
    assert [name for name in NAMES if clients[name].exists(f"key:{digest}")] == [home]
    # Another process asks the database once, and then knows.
    other = ShardedAdmissionCache(
        PerShard(shards, lambda shard: AdmissionCache(clients[shard.name]))
    )
    assert other.find(digest) is None
    other.put(digest, state)
    keys.drop(made.account_id, [digest])
    assert keys.find(digest) is None
    assert other.find(digest) is None
