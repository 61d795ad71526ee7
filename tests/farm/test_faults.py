"""Processes of the farm are killed for real: nothing is lost, nothing counts twice."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.faults


def test_a_long_render_runs_once_while_its_worker_lives(front, start_worker, tmp_path):
    start_worker()
    start_worker()
    job = front.send(f"sleep 8 {tmp_path}/began", budget=30)
    assert front.wait(job).pages == 1
    assert len((tmp_path / "began").read_text().split()) == 1
