"""The start of a worker, its refusals to start, and its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.jobs.records import Purpose
from shared.queue.depth import QueueReader
from tests.waiting import wait_until


@pytest.mark.long
def test_a_terminated_worker_finishes_its_jobs(front, start_worker, tmp_path):
    worker = start_worker()
    job = front.send(f"sleep 1 {tmp_path}/began")
    _wait_for(tmp_path / "began")
    worker.terminate()
    assert front.wait(job).pages == 1
    assert worker.wait(60) == 0


@pytest.mark.long
def test_no_child_outlives_a_killed_worker(front, start_worker, tmp_path):
    worker = start_worker()
    front.send(f"sleep 30 {tmp_path}/began")
    child = int(_wait_for(tmp_path / "began"))
    worker.kill()
    worker.wait()
    wait_until(lambda: not _runs(child))


@pytest.mark.long
@pytest.mark.parametrize(
    ("setting", "value", "named"),
    [("appendonly", "no", "appendonly yes"), ("maxmemory-policy", "allkeys-lru", "noeviction")],
)
def test_a_redis_that_could_lose_jobs_is_refused_in_one_line(
    front, start_worker, tmp_path, setting, value, named
):
    [before] = front.redis.config_get(setting).values()
    front.redis.config_set(setting, value)
    try:
        assert start_worker().wait(20) == 1
    finally:
        front.redis.config_set(setting, before)
    lines = (tmp_path / "worker0.log").read_text().splitlines()
    [line] = [line for line in lines if line.startswith("pressroom worker: ")]
    assert line == lines[-1]
    assert named in line


@pytest.mark.long
def test_an_unavailable_redis_is_reported(start_worker, tmp_path):
    assert start_worker(redis_url="redis://127.0.0.1:1/0").wait(20) == 1
    assert "queue" in (tmp_path / "worker0.log").read_text()


@pytest.mark.long
def test_running_and_waiting_jobs_are_counted_by_queue(front, start_worker):
    start_worker()
    reader = QueueReader(front.redis)
    assert front.render().pages == 1
    front.send("sleep 1.5")
    wait_until(lambda: reader.read_depth().queues["interactive"].running == 1)
    front.send("sleep 0")
    front.send("sleep 0", purpose=Purpose.VALIDATE)
    depth = wait_until(
        lambda: (
            depth
            if (depth := reader.read_depth()).queues["validate"].oldest_seconds > 0.2
            and depth.ledger_lag_seconds > 0.2
            else None
        )
    )
    interactive, validate = depth.queues["interactive"], depth.queues["validate"]
    assert (interactive.running, interactive.waiting) == (1, 1)
    assert (validate.running, validate.waiting) == (0, 1)


def _wait_for(path: Path) -> str:
    words = wait_until(lambda: path.exists() and path.read_text().split())
    return words[0]


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
