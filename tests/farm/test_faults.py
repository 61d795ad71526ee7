"""Processes of the farm are killed for real: nothing is lost, nothing counts twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.waiting import wait_until

pytestmark = pytest.mark.faults


def test_a_killed_child_has_its_job_run_again_and_counted_once(front, start_worker, tmp_path):
    start_worker()
    outcome = front.render(f"die-once {tmp_path}/began")
    assert outcome.pages == 2
    assert front.used() == (2, 1)
    assert front.events() == 1


def test_a_job_that_kills_its_worker_twice_is_failed(front, start_worker, tmp_path):
    start_worker()
    outcome = front.render(f"die {tmp_path}/began")
    assert outcome.error.status == 500
    assert len((tmp_path / "began").read_text().split()) == 2
    assert front.used() == (0, 0)
    assert front.render("pages 1").pages == 1


def test_a_killed_worker_has_its_job_taken_over_in_seconds(front, start_worker, tmp_path):
    first = start_worker()
    job = front.send(f"sleep 0.5 {tmp_path}/began", budget=30)
    wait_for_text(tmp_path / "began")
    start_worker()
    first.kill()
    assert front.wait(job).pages == 1
    assert front.used() == (1, 1)


def test_a_long_render_runs_once_while_its_worker_lives(front, start_worker, tmp_path):
    start_worker()
    start_worker()
    job = front.send(f"sleep 8 {tmp_path}/began", budget=30)
    assert front.wait(job).pages == 1
    assert len((tmp_path / "began").read_text().split()) == 1


def wait_for_text(path: Path) -> str:
    wait_until(lambda: path.exists() and path.read_text().strip())
    return path.read_text()
