"""Redis dies, and forgets everything: what was answered or accepted is rendered and counted all the same."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis

from shared.queue.names import USAGE_STREAM
from tests.faults.checker import find_violations
from tests.faults.clients import Crowd, render_and_accept
from tests.faults.farm import FaultyFarm, children_of, render_answers
from tests.waiting import wait_until, within

pytestmark = pytest.mark.faults

# The maintenance process meters what is on record a minute after its end (decision 0384).
RECONCILED_SECONDS = 150


def test_redis_dies_three_times_and_forgets_everything_once(start, scaled) -> None:
    farm = start()
    template = farm.store_template()
    batch = farm.client().submit(template, scaled(3000))
    assert batch.status == 202
    faults = ["kill", "kill", "flush", "kill"]

    with Crowd(farm.client, clients=8, total=scaled(3000), act=render_and_accept):
        for fault in faults:
            time.sleep(1.5)
            if fault == "kill":
                farm.kill("redis")
                wait_until(lambda: render_answers(farm))
            else:
                farm.empty_redis()
    assert {entry.status for entry in farm.history} <= {200, 202, 503, 504}
    assert farm.history.count(503, 504) < len(farm.history) / 2
    state = farm.settle()
    assert all(status == "succeeded" for status, _ in state.jobs.values())
    assert state.batches[batch.batch_id or ""][0] == "finished"
    assert_sound_in_time(farm)


def test_redis_that_dies_again_and_again_is_back_within_two_seconds_each_time(start) -> None:
    farm = start()
    for _ in range(8):
        farm.kill("redis")
        with within(2):
            wait_until(lambda: farm.client().accept(0).status == 202)
    wait_until(lambda: render_answers(farm))
    farm.settle()
    assert_sound_in_time(farm)


@pytest.mark.long
def test_redis_is_emptied_before_the_counter_has_read_anything(start, scaled) -> None:
    farm = start()
    background = farm.kill("background", signal.SIGSTOP)
    try:
        for _ in range(2):
            render_many(farm, scaled(2000))
            farm.empty_redis()
    finally:
        os.kill(background, signal.SIGCONT)
    assert farm.history.count(200) == len(farm.history) >= 2 * scaled(2000)
    assert_sound_in_time(farm)


@pytest.mark.long
def test_redis_restarts_without_its_last_writes(start, scaled) -> None:
    farm = start()
    background = farm.kill("background", signal.SIGSTOP)
    try:
        render_many(farm, scaled(2000))
        kept = lose_a_third(farm)
        wait_until(lambda: render_answers(farm))
        wait_until(lambda: count_events(farm) > kept)
    finally:
        os.kill(background, signal.SIGCONT)
    assert_sound_in_time(farm)


@pytest.mark.long
def test_one_of_two_redis_servers_is_emptied(start, scaled, tmp_path) -> None:
    farm = start(shards=2)
    farms = [farm, add_neighbour(farm, tmp_path)]
    background = farm.kill("background", signal.SIGSTOP)
    try:
        for each in farms:
            render_many(each, scaled(1000))
        farm.empty_redis()
    finally:
        os.kill(background, signal.SIGCONT)
    for each in farms:
        assert each.history.count(200) == len(each.history) >= scaled(1000)
        assert_sound_in_time(each)


def render_many(farm: FaultyFarm, total: int) -> None:
    """Send `total` renders from four clients, and wait for them to finish."""
    with Crowd(
        farm.client, clients=4, total=total, act=lambda client, number: client.render(number)
    ):
        pass


def add_neighbour(farm: FaultyFarm, tmp_path: Path) -> FaultyFarm:
    """Make another account of the same farm, on the other shard."""
    for number in itertools.count():
        folder = tmp_path / f"neighbour-{number}"
        folder.mkdir()
        neighbour = FaultyFarm(farm.farm, folder)
        if neighbour.shard != farm.shard:
            return neighbour
    raise AssertionError


def lose_a_third(farm: FaultyFarm) -> int:
    """Kill Redis as a machine failure would: the end of its file is lost. Returns how many usage
    events it has left.
    """
    [path] = farm.farm.folder.redis.rglob("*.incr.aof")
    front = farm.processes["front"]
    # The supervisor would start Redis at once, and the front would give it what it lost.
    with stopped(front, *children_of(front)):
        with stopped(farm.farm.supervisor.pid):
            farm.kill("redis")
            with path.open("r+b") as file:
                file.truncate(path.stat().st_size * 2 // 3)
        wait_until(lambda: count_events(farm) >= 0)
        kept = count_events(farm)
    assert 0 < kept < farm.history.count(200)
    return kept


@contextmanager
def stopped(*pids: int) -> Iterator[None]:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def count_events(farm: FaultyFarm) -> int:
    """Count the different events in the stream, -1 while Redis does not answer.

    A front sends those of its first second again, as it cannot know whether they were lost.
    """
    try:
        with farm.redis() as client:
            return len({fields[b"event"] for _, fields in client.xrange(USAGE_STREAM)})
    except redis.RedisError:
        return -1


def assert_sound_in_time(farm: FaultyFarm) -> None:
    """Wait until the ledger has what Redis lost; then nothing else may be wrong either."""
    wait_until(
        lambda: not find_violations(farm.history, farm.settle()),
        seconds=RECONCILED_SECONDS,
        pause=1,
        explain=lambda: find_violations(farm.history, farm.settle()),
    )
