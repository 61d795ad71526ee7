"""The counter as a process of its own: started, stopped, and killed for real."""

from __future__ import annotations

import random
import time

import pytest

from shared.usage.metering import Usage
from tests.waiting import wait_until

# A counter that dies between the commit of the ledger and the acknowledgement.
DIES_BEFORE_ACKNOWLEDGING = """
import os, signal
from shared.queue.usage import UsageStream
UsageStream.acknowledge = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
from workers.counter.main import main
main()
"""


@pytest.mark.long
def test_a_counter_counts_and_stops_on_a_signal(start_counter, send, make_event, totals):
    counter = start_counter()
    send(*(make_event(n) for n in range(50)))
    wait_until(lambda: totals().production == Usage(100, 50))
    counter.terminate()
    assert counter.wait(60) == 0


@pytest.mark.faults
def test_a_kill_between_commit_and_acknowledgement_doubles_nothing(
    start_counter, send, make_event, totals, redis
):
    send(*(make_event(n) for n in range(20)))
    first = start_counter(DIES_BEFORE_ACKNOWLEDGING)
    assert first.wait(60) == -9
    assert totals().production == Usage(40, 20)
    assert redis.xlen("usage") == 20
    start_counter()
    wait_until(lambda: redis.xlen("usage") == 0)
    assert totals().production == Usage(40, 20)


@pytest.mark.faults
def test_kills_at_any_moment_lose_and_double_nothing(
    start_counter, send, make_event, totals, redis
):
    chance = random.Random(20261121)
    for round_ in range(4):
        counter = start_counter()
        send(*(make_event(n) for n in range(round_ * 100, round_ * 100 + 100)))
        wait_until(lambda n=round_: totals().production.calls >= n * 100 + 1)
        time.sleep(chance.random() * 0.02)
        counter.kill()
        counter.wait()
    start_counter()
    wait_until(lambda: redis.xlen("usage") == 0)
    assert totals().production == Usage(800, 400)


@pytest.mark.long
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_counter_without_its_database_waits_and_resumes(
    start_counter, send, make_event, totals, database, tmp_path
):
    path = tmp_path / "pressroom.sqlite"
    away = tmp_path / "away.sqlite"
    database.close()
    for file in tmp_path.glob("pressroom.sqlite-*"):
        file.unlink()
    path.rename(away)
    path.mkdir()  # nothing can be opened here
    start_counter()
    send(make_event(1))
    log = tmp_path / "counter0.log"
    wait_until(lambda: "counter waits" in log.read_text())
    path.rmdir()
    away.rename(path)
    wait_until(lambda: totals().production == Usage(2, 1))


@pytest.mark.long
def test_a_counter_refuses_a_redis_that_could_lose_events(start_counter, redis, tmp_path):
    redis.config_set("maxmemory-policy", "allkeys-lru")
    try:
        counter = start_counter()
        assert counter.wait(60) == 1
    finally:
        redis.config_set("maxmemory-policy", "noeviction")
    [line] = (tmp_path / "counter0.log").read_text().splitlines()
    assert "noeviction" in line
