"""Accounts fall to shards evenly, always to the same, and few move when the shards change."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.settings import WrongSetting, load_settings
from shared.shards import PerShard, ShardAddress, find_shard, parse_shards, slots_of

# Each end an id can have, once: where an account falls to is its end's doing alone, so what is told
# of these holds of all, and in every run alike.
ACCOUNTS = [
    f"acc_{end:a>24}" for end in map("".join, product("abcdefghijklmnopqrstuvwxyz234567", repeat=2))
]
STORES = {"PRESSROOM_DATABASE_URL": "sqlite://", "PRESSROOM_BLOB_URL": "file:///none"}


def homes(*names: str) -> dict[str, str]:
    shards = PerShard([ShardAddress(name, "redis://x") for name in names], lambda shard: shard.name)
    return {account: shards.of(account) for account in ACCOUNTS}


def test_accounts_spread_over_shards_evenly():
    for names in (("0", "1"), ("0", "1", "2"), tuple("abcdefgh")):
        shares = Counter(homes(*names).values())
        for name in names:
            assert 0.7 < shares[name] * len(names) / len(ACCOUNTS) < 1.3


def test_a_shard_that_comes_takes_its_share_and_nothing_else_moves():
    before, after = homes("a", "b"), homes("a", "b", "c")
    moved = [account for account in ACCOUNTS if before[account] != after[account]]
    assert {after[account] for account in moved} == {"c"}
    assert 0.25 < len(moved) / len(ACCOUNTS) < 0.42


def test_a_shard_that_goes_leaves_its_own_alone_to_the_others():
    before, after = homes("a", "b", "c"), homes("a", "c")
    assert all(before[account] == "b" for account in ACCOUNTS if before[account] != after[account])


def test_the_order_of_shards_means_nothing():
    assert homes("a", "b", "c") == homes("c", "a", "b")


@given(st.text(max_size=20))
def test_an_id_that_was_made_elsewhere_has_a_home_too(account):
    shards = PerShard(parse_shards("redis://a redis://b"), lambda shard: shard.name)
    assert shards.of(account) == find_shard(account[-2:], ("0", "1"))


def test_the_slots_of_shards_are_all_there_are_and_nobodys_twice():
    names = ("0", "1", "2")
    slots = [slots_of(name, names) or frozenset() for name in names]
    assert sum(map(len, slots)) == len(frozenset().union(*slots)) == 1024
    at = dict(zip(names, slots, strict=True))
    assert all(account[-2:] in at[home] for account, home in homes(*names).items())


def test_the_only_shard_has_every_account_and_needs_no_slots():
    assert set(homes("0").values()) == {"0"}
    assert slots_of("0", ["0"]) is None


@pytest.mark.parametrize(
    ("text", "names", "urls"),
    [
        ("redis://x", ["0"], ["redis://x"]),
        ("redis://:p=w@x redis://y\n rediss://z", ["0", "1", "2"], ["redis://:p=w@x", "redis://y", "rediss://z"]),
        ("a=redis://x  b-2=rediss://y", ["a", "b-2"], ["redis://x", "rediss://y"]),
        ("redis://x/0?ssl_ca_certs=/a.pem 7=redis://y", ["0", "7"], ["redis://x/0?ssl_ca_certs=/a.pem", "redis://y"]),
    ],
)  # fmt: skip
def test_urls_are_read_with_their_names(text, names, urls):
    shards = parse_shards(text)
    assert [shard.name for shard in shards] == names
    assert [shard.url for shard in shards] == urls


@pytest.mark.parametrize(
    "text",
    [
        "", "  ", "localhost:6379", "redis://:s3cret@a B=redis://:s3cret@b",
        "redis://:s3cret@a 0=redis://b", "a=redis://:s3cret@a a=redis://b",
        "redis://:s3cret@a,redis://b",
    ],
)  # fmt: skip
def test_wrong_urls_stop_a_process_with_a_line_that_shows_no_password(text):
    with pytest.raises(WrongSetting, match=r"^PRESSROOM_REDIS_URL: ") as refusal:
        load_settings(STORES | {"PRESSROOM_REDIS_URL": text})
    assert "s3cret" not in str(refusal.value)


def test_a_worker_consumes_from_its_configured_shard():
    urls = {"PRESSROOM_REDIS_URL": "redis://x redis://y"}
    chosen = load_settings(STORES | urls | {"PRESSROOM_REDIS_SHARD": "1"})
    assert chosen.own_shard == ShardAddress("1", "redis://y")
    assert load_settings(STORES | {"PRESSROOM_REDIS_URL": "redis://x"}).own_shard.name == "0"


@pytest.mark.parametrize("chosen", ["", "2"])
def test_a_worker_of_no_known_shard_does_not_start(chosen):
    given = {"PRESSROOM_REDIS_URL": "redis://x redis://y", "PRESSROOM_REDIS_SHARD": chosen}
    with pytest.raises(WrongSetting, match=r"PRESSROOM_REDIS_SHARD: .*one of 0, 1"):
        _ = load_settings(STORES | given).own_shard
