"""`pressroom shards` tells the servers of a production farm of each other, and refuses what would lose something."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from redis import Redis

from deploy.cli.main import main
from deploy.embedded.data_folder import DataFolder
from shared.identifiers import new_id
from shared.queue.connection import connect
from shared.queue.shard_layout import ShardLayout, find_layout
from tests.servers import RedisServer


@pytest.fixture(scope="module")
def urls(tmp_path_factory) -> Iterator[list[str]]:
    first, second = (tmp_path_factory.mktemp("shard") for _ in range(2))
    with RedisServer(first) as one, RedisServer(second) as other:
        yield [one.url, other.url]


@pytest.fixture
def run(urls, database_url, capsys, monkeypatch):
    for url in urls:
        with Redis.from_url(url) as redis:
            redis.flushall()
    monkeypatch.setenv("PRESSROOM_DATABASE_URL", database_url)
    monkeypatch.setenv("PRESSROOM_REDIS_URL", " ".join(urls))

    def run(*arguments, code=0):
        assert main(["shards", *arguments, "--json"]) == code
        printed = capsys.readouterr()
        return json.loads(printed.out) if code == 0 else printed.err

    return run


def layouts(urls):
    found = []
    for url in urls:
        redis = connect(url)
        found.append(find_layout(redis))
        redis.close()
    return found


def test_servers_are_adopted_and_retired(run, urls, monkeypatch):
    assert run("adopt")["shards"] == ["0", "1"]
    assert layouts(urls) == [ShardLayout("0", ("0", "1")), ShardLayout("1", ("0", "1"))]
    gone = ("key:0", "pins:templates:0", "interactive", "farm:epoch")
    with Redis.from_url(urls[0]) as staying, Redis.from_url(urls[1]) as leaving:
        for server in (staying, leaving):
            server.xadd("usage", {"event": "x"})
            server.hset("usage:acc_1:2026-11-01", mapping={"production:pages": 9, "seeded:cpu": 1})
            server.set("key:0", "state")
            server.hset("pins:templates:0", "a", "b")
            server.lpush("interactive", "message")
            server.set("farm:epoch", 1)
        leaving.hset("farm:drained", "batch", "1790000000")
    done = run("adopt", "--retire", "1")
    assert (done["shards"], done["retired"], done["usage_events_moved"]) == (["0"], ["1"], 1)
    assert 0.4 < done["moved"] < 0.6
    assert layouts(urls) == [ShardLayout("0", ("0",)), None]
    with Redis.from_url(urls[0]) as staying:
        assert staying.xlen("usage") == 2
        assert staying.hgetall("usage:acc_1:2026-11-01") == {b"production:pages": b"9"}
        assert staying.hkeys("farm:drained") == [b"batch"]
        assert not staying.exists(*gone)
    monkeypatch.setenv("PRESSROOM_REDIS_URL", urls[0])
    again = run("adopt")
    assert (again["moved"], again["usage_events_moved"]) == (0, 0)


def test_an_account_is_found_where_it_lives(run):
    account = new_id("acc")
    found = run("find", account)
    assert found["account_id"] == account
    assert found["shard"] in ("0", "1")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--retire", "2"), "shard '2' cannot be retired: PRESSROOM_REDIS_URL has 0, 1"),
        (("--retire", "0", "--retire", "1"), "one shard must remain"),
    ],
)
def test_shards_that_cannot_be_retired_are_rejected(run, urls, arguments, told):
    assert told in run("adopt", *arguments, code=1)
    assert layouts(urls) == [None, None]


def test_a_farm_that_runs_keeps_its_shards(run, urls):
    with Redis.from_url(urls[1]) as somebody:
        somebody.ping()
        assert "must be stopped first" in run("adopt", code=1)
        assert layouts(urls) == [None, None]
        run("adopt", "--force")


def test_nothing_is_adopted_while_a_server_is_unavailable(run, urls, monkeypatch):
    monkeypatch.setenv("PRESSROOM_REDIS_URL", f"{urls[0]} redis://:s3cret@127.0.0.1:1/0")
    told = run("adopt", code=1)
    assert "a shard does not respond" in told
    assert "s3cret" not in told
    assert layouts(urls) == [None, None]


def test_an_invalid_url_is_reported_without_its_password(run, monkeypatch):
    monkeypatch.setenv("PRESSROOM_REDIS_URL", "redis://:s3cret@a,redis://b")
    told = run("find", "acc_x", code=1)
    assert told.startswith("pressroom: PRESSROOM_REDIS_URL: entry 1")
    assert "s3cret" not in told


def test_an_embedded_farm_gets_its_shards_when_it_starts(tmp_path, capsys):
    assert main(["shards", "adopt", "--data", str(tmp_path)]) == 1
    assert "pressroom up --shards N" in capsys.readouterr().err


def test_a_folder_knows_how_many_shards_it_has(tmp_path):
    folder = DataFolder(tmp_path)
    folder.create()
    assert folder.count_shards() == 1
    folder.redis_of(1).mkdir()
    folder.redis_of(2).mkdir()
    assert folder.count_shards() == 3
