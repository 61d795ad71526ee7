"""Each Lua script against a real server, by its keys and arguments alone.

The tests of a script have its name after `test_`; a script without any fails the last test.
"""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from shared.queue.connection import connect
from shared.queue.scripts import read_script, register

ROOT = Path(__file__).parents[2]
PACKAGES = ("shared.queue", "shared.buckets")
INCLUDED = {"metering"}  # run by the scripts that include it
USED = "production"
METERING = (600, USED)  # time to live of the counters, allowance
NEVER, LONG_AGO = "9999999999", "1"  # deadlines


@pytest.fixture
def redis(redis_url):
    with connect(redis_url) as client:
        yield client


@pytest.fixture
def run(redis):
    def run(name, keys, *args, package="shared.queue"):
        return register(redis, name, package=package)(keys=keys, args=args)

    return run


@pytest.fixture
def run_bucket(run):
    return lambda name, keys, *args: run(name, keys, *args, package="shared.buckets")


def has_ttl(redis, *keys):
    return all(0 < redis.ttl(key) <= 600 for key in keys)


def scripts():
    return {
        (package, path.name.removesuffix(".lua"))
        for package in PACKAGES
        for path in files(package).joinpath("scripts").iterdir()
        if path.name.endswith(".lua")
    }


# --- begin, give_back --------------------------------------------------------------------------------


def test_begin_counts_deliveries_and_notes_the_first_start(redis, run):
    assert run("begin", ["job"], 600, "1.5") == 1
    assert run("begin", ["job"], 600, "2.5") == 2
    assert redis.hgetall("job") == {b"deliveries": b"2", b"started_at": b"1.5"}
    assert has_ttl(redis, "job")


def test_begin_leaves_what_nobody_recorded_without_a_start(redis, run):
    assert run("begin", ["job"], 600, "") == 1
    assert redis.hgetall("job") == {b"deliveries": b"1"}


def test_begin_changes_nothing_of_a_job_that_has_ended(redis, run):
    redis.hset("job", "done", "x")
    assert run("begin", ["job"], 600, "1") == 0
    assert redis.hgetall("job") == {b"done": b"x"}


def test_give_back_takes_a_delivery_back_unless_the_job_has_ended(redis, run):
    redis.hset("job", "deliveries", 2)
    assert run("give_back", ["job"]) == 1
    redis.hset("job", "done", "x")
    assert run("give_back", ["job"]) == 0
    assert redis.hget("job", "deliveries") == b"1"


# --- commit, abandon, await --------------------------------------------------------------------------

COMMIT_KEYS = ["job", "reply", "usage:a", "usage", "totals", "fresh"]


def commit(run, token="t", *, deadline=NEVER, reader="front", cap="", event=(3, "event")):
    args = (token, b"outcome", 60, 600, deadline, reader, b'{"renders":1}', *METERING, cap, *event)
    return run("commit", COMMIT_KEYS, *args)


def test_commit_ends_meters_and_answers_in_one_step(redis, run):
    assert commit(run) == [b"committed"]
    assert redis.hgetall("job") == {b"done": b"t"}
    assert redis.lrange("reply", 0, -1) == [b"outcome"]
    assert redis.hgetall("usage:a") == {b"production:pages": b"3", b"production:calls": b"1"}
    assert [fields for _, fields in redis.xrange("usage")] == [{b"event": b"event"}]
    assert redis.lrange("fresh", 0, -1) == [b'{"renders":1}']
    assert has_ttl(redis, "job", "reply", "usage:a")


def test_commit_knows_its_own_attempt_and_refuses_another(redis, run):
    assert commit(run) == [b"committed"]
    assert commit(run) == [b"committed"]
    assert commit(run, "other") == [b"ended"]
    assert redis.xlen("usage") == redis.llen("reply") == redis.llen("fresh") == 1


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ({"deadline": LONG_AGO}, [b"late"]),
        ({"cap": 5}, [b"over", 5]),
        ({"awaited_until": LONG_AGO}, [b"unawaited"]),
    ],
)
def test_commit_that_is_refused_writes_nothing(redis, run, given, answer):
    redis.hset("usage:a", "production:pages", 5)
    if until := given.pop("awaited_until", None):
        redis.hset("job", "awaited_until", until)
    before = {key: redis.dump(key) for key in redis.scan_iter()}
    assert commit(run, **given) == answer
    assert {key: redis.dump(key) for key in redis.scan_iter()} == before


def test_commit_counts_the_document_that_passes_the_cap(redis, run):
    redis.hset("usage:a", "production:pages", 4)
    assert commit(run, cap=5) == [b"committed"]
    assert redis.hget("usage:a", "production:pages") == b"7"


def test_commit_of_what_is_not_metered_is_never_too_late(redis, run):
    redis.hset("job", "awaited_until", LONG_AGO)
    assert commit(run, deadline=LONG_AGO, cap=0, event=()) == [b"committed"]
    assert not redis.exists("usage", "usage:a")


@pytest.mark.parametrize(
    ("reader", "has_reply", "has_outcome"),
    [("front", True, False), ("front and record", True, True), ("nobody", False, True)],
)
def test_commit_leaves_the_outcome_to_who_reads_it(redis, run, reader, has_reply, has_outcome):
    redis.hset("job", "awaited_until", NEVER)
    assert commit(run, reader=reader) == [b"committed"]
    assert redis.exists("reply") == has_reply
    assert redis.hexists("job", "outcome") == has_outcome


def test_commit_adds_the_lines_of_totals_up(redis, run):
    for number in range(64):
        redis.delete("job")
        commit(run, str(number), event=())
    assert not redis.exists("fresh")
    assert redis.hgetall("totals") == {b"renders": b"64"}


def test_abandon_closes_an_open_job_and_returns_what_another_ended_with(redis, run):
    keys = ["job", "reply", "totals"]
    assert run("abandon", keys, 600, "abandoned") is None
    assert (redis.hgetall("job"), redis.hgetall("totals")) == (
        {b"done": b"abandoned"},
        {b"abandoned": b"1"},
    )
    redis.rpush("reply", b"outcome")
    assert run("abandon", keys, 600, "abandoned") == b"outcome"
    assert redis.hget("totals", "abandoned") == b"1"
    assert has_ttl(redis, "job")


def test_await_is_a_time_of_the_server(redis, run):
    run("await", ["job"], 4, 600)
    seconds, _ = redis.time()
    assert 3 <= float(redis.hget("job", "awaited_until")) - seconds <= 5
    assert has_ttl(redis, "job")
    redis.expire("job", 60)
    run("await", ["job"], 4, 600)
    assert redis.ttl("job") <= 60


# --- close, withdraw ---------------------------------------------------------------------------------


def test_close_ends_a_job_once_and_returns_how_it_ended_before(redis, run):
    assert run("close", ["job"], "cancelled", 600) is None
    assert run("close", ["job"], "cancelled", 600) is None
    assert run("close", ["job"], "overdue", 600) == [b"cancelled", None]
    redis.hset("other", mapping={"done": "t", "outcome": "o"})
    assert run("close", ["other"], "cancelled", 600) == [b"t", b"o"]
    assert has_ttl(redis, "job")


def test_withdraw_ends_a_job_unless_it_is_begun(redis, run):
    redis.hset("begun", "deliveries", 1)
    redis.hset("ended", "done", "t")
    for key in ("begun", "ended"):
        assert run("withdraw", [key], "withdrawn", 600) == 0
    assert run("withdraw", ["job"], "withdrawn", 600) == 1
    assert redis.hgetall("job") == {b"done": b"withdrawn"}
    assert has_ttl(redis, "job")


# --- slices ------------------------------------------------------------------------------------------


def pairs(flat):
    return dict(zip(flat[::2], flat[1::2], strict=True))


def test_begin_slice_finds_a_run_that_died_and_what_it_died_of(redis, run):
    assert pairs(run("begin_slice", ["chunk"], 600, 5)) == {b"work": b"5:0"}
    found = pairs(run("begin_slice", ["chunk"], 600, 5))
    assert found == {b"work": b"5:1", b"careful": b"1"}
    found = pairs(run("begin_slice", ["chunk"], 600, 6))
    assert found == {b"work": b"6:1", b"careful": b"1", b"deaths:5": b"1"}
    assert has_ttl(redis, "chunk")


def test_step_slice_returns_the_reasons_to_stop(redis, run):
    keys = ["chunk", "cancelled", "usage:a"]
    assert run("step_slice", keys, 600, "7:1", USED) == [0, b"0"]
    redis.set("cancelled", 1)
    redis.hset("usage:a", "production:pages", 9)
    assert run("step_slice", keys, 600, "8:1", USED) == [1, b"9"]
    assert redis.hget("chunk", "work") == b"8:1"
    assert has_ttl(redis, "chunk")


CHARGE_KEYS = ["chunk", "usage:a", "usage"]


def charge(run, *events, cursor=2, journal="mine", cap=""):
    return run("charge_slice", CHARGE_KEYS, cursor, journal, 600, *METERING, cap, *events)


def test_charge_slice_meters_every_document_that_gave_pages(redis, run):
    assert charge(run, 2, "a", 0, "", 3, "b") == [b"charged", b"", b",,"]
    assert redis.hgetall("usage:a") == {b"production:pages": b"5", b"production:calls": b"2"}
    assert [fields[b"event"] for _, fields in redis.xrange("usage")] == [b"a", b"b"]
    assert has_ttl(redis, "chunk", "usage:a")


def test_charge_slice_returns_the_journal_of_the_run_that_was_first(redis, run):
    charge(run, 2, "a")
    assert charge(run, 2, "a", journal="other") == [b"charged", b"mine", b""]
    assert redis.xlen("usage") == 1
    redis.hset("chunk", "settled", 3)
    assert charge(run, 2, "a") == [b"stale"]


def test_charge_slice_refuses_documents_beyond_the_cap(redis, run):
    assert charge(run, 2, "a", cap=5) == [b"unseeded"]
    redis.hset("usage:a", mapping={"seeded": 1, "production:pages": 3})
    assert charge(run, 1, "a", 2, "b", 1, "c", 0, "", cap=5) == [b"charged", b"", b",,6,"]
    assert redis.hmget("usage:a", "production:pages", "production:calls") == [b"6", b"2"]
    assert redis.xlen("usage") == 2


def test_charge_slice_takes_as_many_documents_as_a_slice_may_have(redis, run):
    events = [part for number in range(20_000) for part in (1, f"event {number}")]
    assert charge(run, *events)[0] == b"charged"
    assert redis.hget("usage:a", "production:pages") == b"20000"


# --- leases, reports ---------------------------------------------------------------------------------


def test_renew_leases_holds_what_is_reported_and_drops_what_lapsed(redis, run):
    seconds, _ = redis.time()
    redis.zadd("held", {"lapsed": seconds - 30, "late": seconds - 5})
    run("renew_leases", ["held"], 4, "first", "second")
    assert set(redis.zrange("held", 0, -1)) == {b"late", b"first", b"second"}
    assert set(run("list_held", ["held"], 4)) == {b"first", b"second"}


def test_list_held_is_empty_without_workers(run):
    assert run("list_held", ["held"], 4) == []


def test_report_replaces_its_own_and_drops_old_ones(redis, run):
    redis.hset("reports", "old", "x")
    redis.zadd("seen", {"old": 1})
    for text in ("first", "second"):
        run("report", ["reports", "seen"], "name", text, 60)
    assert redis.hgetall("reports") == {b"name": b"second"}
    assert redis.zrange("seen", 0, -1) == [b"name"]


def test_list_reports_lists_those_of_the_last_seconds(redis, run):
    run("report", ["reports", "seen"], "name", "text", 60)
    redis.hset("reports", "old", "x")
    redis.zadd("seen", {"old": redis.time()[0] - 30})
    assert run("list_reports", ["reports", "seen"], 10) == [b"text"]


# --- buckets -----------------------------------------------------------------------------------------


def test_find_key_returns_the_counters_of_the_current_period(redis, run_bucket):
    starts = [f"2026-11-{day:02}" for day in range(1, 32)]
    assert run_bucket("find_key", ["key:a"], *starts) is None
    redis.hset("key:a", mapping={"state": "s", "account": "acc", "renewal": 15})
    redis.hset("usage:acc:2026-11-15", mapping={"draft:pages": 2, "seeded": 1})
    assert run_bucket("find_key", ["key:a"], *starts) == [b"s", [None, None, b"2", None, b"1"]]


def test_put_key_caches_and_publishes_unless_the_key_was_dropped(redis, run_bucket):
    with redis.pubsub(ignore_subscribe_messages=True) as channel:
        channel.subscribe("changes")
        assert run_bucket("put_key", ["key:a"], 600, "s", "acc", 15, "changes") == 1
        assert redis.hgetall("key:a") == {b"state": b"s", b"account": b"acc", b"renewal": b"15"}
        assert has_ttl(redis, "key:a")
        redis.hset("key:b", "dropped", 1)
        assert run_bucket("put_key", ["key:b"], 600, "s", "acc", 15, "changes") == 0
        assert published(channel) == [b"key:a"]


def test_drop_keys_leaves_marks_and_publishes_each(redis, run_bucket):
    redis.hset("key:a", "state", "s")
    with redis.pubsub(ignore_subscribe_messages=True) as channel:
        channel.subscribe("changes")
        run_bucket("drop_keys", ["key:a", "key:b"], 10, "changes")
        assert published(channel) == [b"key:a", b"key:b"]
    assert redis.hgetall("key:a") == redis.hgetall("key:b") == {b"dropped": b"1"}
    assert has_ttl(redis, "key:a", "key:b")


def published(channel):
    found = []
    # The first message may be the subscription's, which is left out.
    while (message := channel.get_message(timeout=0.2)) is not None or not found:
        if message is not None:
            found.append(message["data"])
    return found


def test_seed_usage_keeps_the_larger_of_two_counts_and_seeds_once(redis, run_bucket):
    redis.hset("usage:a", mapping={"production:pages": 5, "draft:pages": 1})
    given = ("production:pages", 3, "draft:pages", 2)
    assert run_bucket("seed_usage", ["usage:a"], 600, *given) == 1
    assert redis.hmget("usage:a", "production:pages", "draft:pages") == [b"5", b"2"]
    assert run_bucket("seed_usage", ["usage:a"], 600, "production:pages", 99) == 0
    assert redis.hget("usage:a", "production:pages") == b"5"
    assert has_ttl(redis, "usage:a")


def test_put_pin_keeps_a_name_and_begins_again_when_full(redis, run_bucket):
    assert run_bucket("put_pin", ["pins:a"], "x", "1", 600, 2) == 1
    assert run_bucket("put_pin", ["pins:a"], "y", "2", 600, 2) == 1
    assert redis.hgetall("pins:a") == {b"x": b"1", b"y": b"2"}
    assert run_bucket("put_pin", ["pins:a"], "z", "3", 600, 2) == 1
    assert redis.hgetall("pins:a") == {b"z": b"3"}
    assert has_ttl(redis, "pins:a")


def test_drop_pins_keeps_older_ones_out_for_a_while(redis, run_bucket):
    run_bucket("put_pin", ["pins:a"], "x", "1", 600, 2)
    run_bucket("drop_pins", ["pins:a"], 10)
    assert run_bucket("put_pin", ["pins:a"], "x", "1", 600, 2) == 0
    assert redis.hgetall("pins:a") == {b"": b"1"}
    assert has_ttl(redis, "pins:a")


# --- all of them -------------------------------------------------------------------------------------


def script_of(test):
    """Return the script that a test is of: `test_begin_slice_…` is none of `begin`."""
    named = [name for _, name in scripts() if test.startswith(f"test_{name}_")]
    return max(named, key=len, default=None)


@pytest.mark.parametrize(("package", "name"), sorted(scripts()))
def test_every_script_has_a_test_a_description_and_a_caller(package, name):
    text = read_script(name, package=package)
    assert text.startswith("-- ")
    assert "@include" not in text
    if name in INCLUDED:
        return
    assert name in {script_of(test) for test in globals()}
    for part in ("KEYS:", "ARGV:", "Returns:", "Atomic:"):
        assert f"\n-- {part} " in text
    folder = ROOT / package.replace(".", "/")
    callers = [
        file
        for file in folder.glob("*.py")
        if re.search(rf'register\([^)]*"{name}"', file.read_text())
    ]
    assert len(callers) == 1


def test_a_server_that_forgot_a_script_is_given_it_again(redis, run):
    script = register(redis, "give_back")
    script(keys=["job"])
    redis.script_flush()
    assert script(keys=["job"]) == -2


def test_no_script_stands_in_python():
    found = {
        file.name
        for folder in ("api", "workers", "shared", "deploy")
        for file in (ROOT / folder).rglob("*.py")
        if "redis.call(" in file.read_text()
    }
    assert found == set()
