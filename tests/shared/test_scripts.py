"""Each Lua script against a real server, by its keys and arguments alone.

The tests of a script have its name after `test_`; a script without any fails the last test, but for `OF_CALLERS`.
"""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from shared.queue.connection import read_script, register

ROOT = Path(__file__).parents[2]
PACKAGES = ("shared.queue", "shared.auth", "shared.templates")
INCLUDED = {"metering", "places"}  # run by the scripts that include it
# Their callers are tested on a real server: jobs and their ends, leases and reports of workers, previews,
# drained queues, slices, sessions, usage and cached keys.
OF_CALLERS = {
    *("begin", "await", "renew_leases", "report", "list_reports", "seed_usage"),
    *("begin_slice", "step_slice"),
    *("open_session", "find_session", "list_held", "find_key", "put_key", "drop_keys"),
}
USED = "production"
METERING = (600, USED)  # time to live of the counters, allowance
NEVER, LONG_AGO = "9999999999", "1"  # deadlines


@pytest.fixture
def run(redis):
    def run(name, keys, *args, package="shared.queue"):
        return register(redis, name, package=package)(keys=keys, args=args)

    return run


def has_ttl(redis, *keys):
    return all(0 < redis.ttl(key) <= 600 for key in keys)


def scripts():
    return {
        (package, path.name.removesuffix(".lua"))
        for package in PACKAGES
        for path in files(package).joinpath("scripts").iterdir()
        if path.name.endswith(".lua")
    }


def test_uncount_delivery_takes_a_delivery_back_unless_the_job_has_ended(redis, run):
    redis.hset("job", "deliveries", 2)
    assert run("uncount_delivery", ["job"]) == 1
    redis.hset("job", "done", "x")
    assert run("uncount_delivery", ["job"]) == 0
    assert redis.hget("job", "deliveries") == b"1"


COMMIT_KEYS = ["job", "reply", "usage:a", "usage"]


def commit(
    run, token="t", *, deadline=NEVER, reader="front", cap="", cpu_cap="", event=(3, 70, "event")
):
    args = (token, b"outcome", 60, 600, deadline, reader, *METERING, cap, cpu_cap, *event)
    return run("commit", COMMIT_KEYS, *args)


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ({"deadline": LONG_AGO}, [b"late"]),
        ({"cap": 5}, [b"over", b"5:90"]),
        ({"cpu_cap": 90}, [b"over", b"5:90"]),
        ({"awaited_until": LONG_AGO}, [b"unawaited"]),
    ],
)
def test_commit_that_is_refused_writes_nothing(redis, run, given, answer):
    used = {"production:pages": 5, "production:cpu": 60, "draft:cpu": 30}
    redis.hset("usage:a", mapping=used)
    if until := given.pop("awaited_until", None):
        redis.hset("job", "awaited_until", until)
    before = {key: redis.dump(key) for key in redis.scan_iter()}
    assert commit(run, **given) == answer
    assert {key: redis.dump(key) for key in redis.scan_iter()} == before


def test_commit_of_an_unmetered_job_is_never_too_late(redis, run):
    redis.hset("job", "awaited_until", LONG_AGO)
    assert commit(run, deadline=LONG_AGO, cap=0, event=()) == [b"committed"]
    assert not redis.exists("usage", "usage:a")


@pytest.mark.parametrize(
    ("reader", "has_reply", "has_outcome"),
    [("front", True, False), ("front and record", True, True), ("record", False, True)],
)
def test_commit_stores_the_outcome_for_its_reader(redis, run, reader, has_reply, has_outcome):
    redis.hset("job", "awaited_until", NEVER)
    assert commit(run, reader=reader) == [b"committed"]
    assert redis.exists("reply") == has_reply
    assert redis.hexists("job", "outcome") == has_outcome


@pytest.fixture
def end(run):
    """Return a function that ends a job."""
    return lambda job, reason, unless_begun="", outcome="": run(
        "end_job", [job, f"{job}:reply"], reason, 600, unless_begun, outcome, 120
    )


def test_end_job_ends_a_job_once_and_returns_how_it_ended_before(redis, end):
    assert end("job", "cancelled") is None
    assert end("job", "overdue") == [b"cancelled", None, None]
    redis.hset("other", mapping={"done": "t", "outcome": "o"})
    redis.rpush("other:reply", "r")
    assert end("other", "abandoned") == [b"t", b"o", b"r"]
    assert has_ttl(redis, "job")


def test_end_job_leaves_a_job_that_was_begun_where_it_is_asked_to(redis, end):
    redis.hset("job", "deliveries", 1)
    assert end("job", "withdrawn", "1") == [None, None, None]
    assert end("job", "cancelled") is None
    redis.hset("back", "deliveries", 0)
    assert end("back", "withdrawn", "1") is None


def test_end_job_wakes_the_front_of_a_job_with_an_outcome(redis, end):
    assert end("job", "cancelled", "", "outcome") is None
    assert end("job", "cancelled", "", "another") == [b"cancelled", None, b"outcome"]
    assert redis.lrange("job:reply", 0, -1) == [b"outcome"]
    assert has_ttl(redis, "job:reply")


CHARGE_KEYS = ["chunk", "usage:a", "usage"]


def charge(run, *events):
    return run("commit_slice", CHARGE_KEYS, 2, "mine", 600, *METERING, "", "", *events)


def test_commit_slice_takes_as_many_documents_as_a_slice_may_have(redis, run):
    events = [part for number in range(20_000) for part in (1, 9, f"event {number}")]
    assert charge(run, *events)[0] == b"charged"
    assert redis.hget("usage:a", "production:pages") == b"20000"
    assert redis.hget("usage:a", "production:cpu") == b"180000"


PIN_KEYS = ["pins:a", "pins:a:changed:x", "pins:a:changed"]


def test_put_pin_keeps_a_name_and_begins_again_when_full(redis, run):
    def put(*given):
        return run("put_pin", PIN_KEYS, *given, package="shared.templates")

    assert put("x", "1", 600, 2) == 1
    assert put("y", "2", 600, 2) == 1
    assert redis.hgetall("pins:a") == {b"x": b"1", b"y": b"2"}
    assert put("z", "3", 600, 2) == 1
    assert redis.hgetall("pins:a") == {b"z": b"3"}
    assert has_ttl(redis, "pins:a")


# --- places ------------------------------------------------------------------------------------------


class Line:
    """Asks for places of jobs that have the name of their account and a number, as `a1`."""

    def __init__(self, redis, run):
        self._redis, self._run = redis, run

    def take(self, *jobs, slots=2, most=10, lease=60):
        """Return what each of some jobs was answered, after one another."""
        return [
            self._run("acquire_place", [], job, job[0], "interactive", lease, slots, most)
            for job in jobs
        ]

    def renew(self, job, lease=60, slots=2):
        return self._run("renew_place", [f"job:{job}"], job, lease, slots)

    def end(self, job):
        """End a job that no worker has started."""
        self._run("end_job", [f"job:{job}", f"job:{job}:reply"], "withdrawn", 600, "1", "", 120)

    def leave(self, job):
        self._run("release_place", [], job)

    def find(self, state):
        found = self._redis.hgetall("places:jobs")
        return sorted(job.decode() for job, place in found.items() if place.startswith(state))

    @property
    def held(self):
        return self.find(b"held")

    @property
    def waiting(self):
        return self.find(b"waiting")

    def is_empty(self):
        """Return whether nothing is left of any job; accounts are remembered for a while."""
        remembered = {"places:recent", "places:seconds", "places:facts", "places:granted"}
        left = {key.decode() for key in self._redis.scan_iter("places:*")} - remembered
        return not left and self._redis.hget("places:facts", "held") == b"0"


@pytest.fixture
def line(redis, run):
    return Line(redis, run)


HELD, WAITING = [b"held"], [b"waiting"]


def test_acquire_place_gives_a_lone_account_all_slots(line):
    assert line.take("a1", "a2", "a3") == [HELD, HELD, WAITING]


def test_slots_of_a_worker_that_starts_are_granted_to_those_who_wait(line):
    line.take("a1", "a2", "a3", "a4", "a5")
    assert line.renew("a3", slots=3) == b"held"
    assert line.renew("a5", slots=3) == b"waiting"
    assert (line.held, line.waiting) == (["a1", "a2", "a3"], ["a4", "a5"])
    line.take("b1", slots=8)
    assert line.waiting == []


def test_acquire_place_again_changes_nothing(line):
    assert line.take("a1", "a1", "a2", "a3", "a3") == [HELD, HELD, HELD, WAITING, WAITING]
    line.leave("a1")
    assert (line.held, line.waiting) == (["a2", "a3"], [])


def test_acquire_place_refuses_an_account_with_a_full_line(line):
    line.take("a1", "a2", "a3", "a4", most=2)
    assert line.take("a5", most=2) == [[b"full", 2, 1]]
    assert line.take("b1", most=2) == [WAITING]


def test_acquire_place_keeps_a_slot_free_for_another_account_seen_of_late(line):
    line.take("b1")
    line.leave("b1")
    assert line.take("a1", "a2") == [HELD, WAITING]
    assert line.take("b2") == [HELD]


def test_acquire_place_keeps_half_of_the_slots_free_at_most(line):
    for other in "bcdefgh":
        line.take(f"{other}1", slots=4)
        line.leave(f"{other}1")
    assert line.take("a1", "a2", "a3", slots=4) == [HELD, HELD, WAITING]


def test_acquire_place_serves_an_account_with_one_slot_in_order(line):
    assert line.take("a1", "a2", "a3", slots=1) == [HELD, WAITING, WAITING]
    line.leave("a1")
    assert line.held == ["a2"]


def test_acquire_place_lets_short_jobs_queue_beyond_the_slots(redis, line):
    redis.hset("places:seconds", "a", "0.004")
    line.take("b1")
    line.leave("b1")
    answers = line.take(*(f"a{n}" for n in range(12)))
    assert answers.count(HELD) == 5  # what two slots do in 10 ms


def test_acquire_place_lets_a_lone_account_queue_more(redis, line):
    redis.hset("places:seconds", "a", "0.1")
    answers = line.take(*(f"a{n}" for n in range(12)))
    assert answers.count(HELD) == 5  # what two slots do in 250 ms


def test_a_long_job_has_its_turn_beside_accounts_whose_short_jobs_queue(redis, line):
    redis.hset("places:seconds", mapping={"a": "0.001", "b": "0.001", "c": "1.0"})
    line.take(*(f"{name}{n}" for n in range(4) for name in "ab"), slots=1)
    assert line.take("c1", slots=1) == [WAITING]
    for _ in range(8):
        ended = line.held[0]
        line.leave(ended)
        line.take(f"{ended}x", slots=1)
        if "c1" in line.held:
            break
    assert "c1" in line.held


def test_time_that_an_older_release_left_as_expected_ends_with_the_last_place(redis, line):
    line.take("a1", "a2")
    redis.hincrby("places:facts", "expected", 9_000_000)
    redis.hset("places:expected", "gone", 9_000_000)
    redis.hdel("places:expected", "a1")
    line.leave("a1")
    line.leave("a2")
    assert line.is_empty()
    assert redis.hget("places:facts", "expected") == b"0"


def test_acquire_place_knows_accounts_by_how_long_their_jobs_took(redis, line):
    line.take("a1", "a2")
    line.leave("a1")
    assert not redis.exists("places:seconds")  # it was not published
    line.end("a2")
    assert 0.6 < float(redis.hget("places:seconds", "a")) < 0.8  # no haste to believe in short ones


def test_acquire_place_gives_the_place_of_a_front_that_is_gone_to_the_next(redis, line):
    line.take("a1", "a2", "a3", lease=-1)
    line.take("b1")
    assert line.held == ["b1"]
    assert line.waiting == []
    assert line.renew("a3") is None
    line.leave("b1")
    assert line.is_empty()


def test_acquire_place_forgets_accounts_that_are_long_gone(redis, line):
    redis.zadd("places:recent", {"z": 1.0})
    redis.hset("places:seconds", "z", "0.1")
    redis.hset("places:granted", "z", "7")
    line.take("a1")
    assert redis.zrange("places:recent", 0, -1) == [b"a"]
    assert not redis.exists("places:seconds")
    assert redis.hkeys("places:granted") == [b"a"]


def test_release_place_serves_accounts_in_turns_and_each_in_order(line):
    line.take("a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1", slots=2)
    assert line.held == ["a1", "a2"]
    order = []
    for _ in range(6):
        before = set(line.held)
        line.leave(min(before))
        order += sorted(set(line.held) - before)
    assert order == ["b1", "c1", "a3", "b2", "a4", "a5"]


def test_release_place_serves_an_account_that_asks_now_and_then_next(line):
    line.take("z1", slots=1)
    line.leave("z1")
    line.take(*(f"{account}{number}" for account in "abcdefgh" for number in (1, 2)), slots=1)
    for account in "abcdefg":
        line.leave(f"{account}1")
    line.take("z2", slots=1)
    for ended, served in (("h1", "z2"), ("z2", "a2"), ("a2", "b2")):
        line.leave(ended)
        assert line.held == [served]


def test_release_place_of_a_job_that_waits_leaves_the_others_in_order(line):
    line.take("a1", "a2", "a3", "a4", "a5")
    line.leave("a3")
    line.leave("a5")
    line.leave("a1")
    assert (line.held, line.waiting) == (["a2", "a4"], [])
    line.leave("a2")
    line.leave("a4")
    assert line.is_empty()


def test_release_place_wakes_the_front_of_the_next(redis, line):
    line.take("a1", "a2", "a3")
    line.leave("a1")
    assert redis.lrange("place:a3", 0, -1) == [b"held"]
    assert 0 < redis.ttl("place:a3") <= 60


def test_renew_place_names_the_state(redis, line):
    line.take("a1", "a2", "a3")
    assert (line.renew("a1"), line.renew("a3"), line.renew("x1")) == (b"held", b"waiting", None)
    line.end("a3")
    assert line.renew("a3") == b"ended"
    assert redis.lpop("place:a3") == b"gone"  # its front is woken


def test_renew_place_keeps_it_and_clears_others(line):
    line.take("a1", lease=0.2)
    line.take("a2", lease=-1)
    line.take("a3")
    assert line.renew("a1") == b"held"
    assert line.held == ["a1", "a3"]


def test_suspend_frees_the_place_while_images_are_fetched(redis, run, line):
    line.take("a1", "a2", "a3")
    redis.hset("job:a1", mapping={"deliveries": 1, "awaited_until": LONG_AGO})
    assert run("suspend", ["job:a1", "job:a1:reply"], "a1", "wanted", 120) == 1
    assert (line.held, line.find(b"fetching")) == (["a2", "a3"], ["a1"])
    assert redis.lrange("job:a1:reply", 0, -1) == [b"wanted"]
    assert 0 < redis.ttl("job:a1:reply") <= 120
    assert redis.hgetall("job:a1") == {b"deliveries": b"0"}
    # It is in line again, even where no other may.
    assert line.take("a1", most=1) == [WAITING]
    line.leave("a2")
    assert line.held == ["a1", "a3"]


def test_suspend_counts_jobs_that_fetch_among_those_that_wait(redis, run, line):
    line.take("a1", "a2")
    run("suspend", ["job:a1", "job:a1:reply"], "a1", "wanted", 120)
    line.take("a3")
    assert line.take("a4", most=1)[0][0] == b"full"
    line.leave("a1")
    assert line.take("a4", most=1) == [WAITING]


def test_suspend_leaves_a_job_that_has_ended(redis, run, line):
    line.take("a1")
    line.end("a1")
    assert run("suspend", ["job:a1", "job:a1:reply"], "a1", "wanted", 120) == 0
    assert not redis.exists("job:a1:reply")


@pytest.mark.parametrize("ending", ["commit", "end_job"])
def test_release_place_is_not_needed_where_a_job_ends(redis, run, line, ending):
    line.take("a1", "a2", "a3")
    state, reply = "job:a1", "job:a1:reply"
    args = {
        "end_job": ([state, reply], "cancelled", 600, "", "", 120),
        "commit": (
            [state, reply, "usage:a", "usage"],
            *("token", "{}", 120, 600, NEVER, "front", *METERING, "", ""),
        ),
    }
    run(ending, *args[ending])
    assert line.held == ["a2", "a3"]


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
    assert (name in {script_of(test) for test in globals()}) != (name in OF_CALLERS)
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
    script = register(redis, "uncount_delivery")
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
