"""Processes follow the clock of Redis, and report how far their machines' clocks differ."""

from __future__ import annotations

import time

import pytest

from shared.clock import epoch, follow_clock, ticks
from shared.queue.clocks import FarmClock, find_clocks
from shared.queue.connection import connect
from shared.queue.names import HELD_TASKS, INTERACTIVE
from shared.queue.worker_presence import WorkerReport, find_held_tasks, report_worker
from tests.farm.conftest import ROOT, Workers

read = time.time


@pytest.fixture
def shifted(monkeypatch):
    """Provide a function that shifts the machine's clock."""
    yield lambda seconds: monkeypatch.setattr("time.time", lambda: read() + seconds)
    follow_clock(read(), at=ticks())


@pytest.mark.parametrize("seconds", [-3600, 3600])
def test_a_process_follows_redis_and_reports_its_machine(front, shifted, seconds):
    shifted(seconds)
    clock = FarmClock({"0": front.redis}, kind="front")
    assert clock.sync()
    assert epoch() == pytest.approx(read(), abs=20)
    assert clock.read_skews() == {("0",): pytest.approx(seconds, abs=20)}
    [report] = find_clocks(front.redis)
    assert report.name.startswith("front ")
    assert report.ahead_seconds == pytest.approx(seconds, abs=20)
    assert report.is_skewed


def test_a_process_without_redis_uses_the_last_known_offset(shifted):
    clock = FarmClock({"0": connect("redis://127.0.0.1:1/0")}, kind="front")
    assert not clock.sync()
    assert clock.read_skews() == {}
    assert clock.ahead_of("0") == 0.0
    assert epoch() == pytest.approx(read(), abs=20)


def test_a_second_server_whose_clock_is_ahead_is_known_to_be(front, shifted):
    class Ahead:
        def time(self):
            seconds, microseconds = front.redis.time()
            return seconds + 60, microseconds

    clock = FarmClock({"0": front.redis, "1": Ahead()})
    clock.sync()
    assert clock.ahead_of("0") == 0.0
    assert clock.ahead_of("1") == pytest.approx(60, abs=20)


def test_a_rejected_write_keeps_no_process_from_following(front, shifted):
    shifted(3600)
    front.redis.config_set("min-replicas-to-write", 1)
    try:
        assert FarmClock({"0": front.redis}, kind="front").sync()
    finally:
        front.redis.config_set("min-replicas-to-write", 0)
    assert epoch() == pytest.approx(read(), abs=20)


def test_tasks_are_held_by_the_clock_of_redis(front, shifted):
    shifted(-3600)
    report_worker(front.redis, WorkerReport("here:1", (INTERACTIVE,), 1, 1), ["job_1"])
    assert find_held_tasks(front.redis) == {"job_1"}
    assert front.redis.zscore(HELD_TASKS, "job_1") == pytest.approx(read(), abs=20)


@pytest.mark.long
def test_a_worker_with_a_clock_an_hour_ahead_respects_the_leases_of_others(
    front, worker_environment, tmp_path
):
    shift = "import time; read = time.time; time.time = lambda: read() + 3600"
    (tmp_path / "sitecustomize.py").write_text(shift)
    workers = Workers(tmp_path, worker_environment | {"PYTHONPATH": f"{tmp_path}:{ROOT}"})
    try:
        workers.start()
        report_worker(front.redis, WorkerReport("here:1", (INTERACTIVE,), 1, 1), ["job_1"])
        time.sleep(2.5)
        assert "job_1" in find_held_tasks(front.redis)
        assert front.render().pages == 1
    finally:
        workers.kill_all()
