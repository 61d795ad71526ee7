"""Small inputs that ask for much work are drawn or refused for little."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from tests.engine.hostile_work import WORKS, Spent, spend, write_input
from tests.waiting import slowness

MAX_SECONDS_PER_KILOBYTE = (
    1.5  # of CPU time; work that grew by a square would take a hundred times that
)
LEAST_SECONDS = 5.0  # a loop of one line may make 10,000 elements, of 0.3 ms each
MAX_MEGABYTES = 300
PATIENCE_SECONDS = 300

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.engine.hostile_work"])


def spent(name: str, file: Path) -> Spent:
    """Make the input of a work, and do the work, each in a process of its own."""
    with CONTEXT.Pool(1, maxtasksperchild=1) as pool:
        pool.apply_async(write_input, (name, file)).get(PATIENCE_SECONDS)
        return pool.apply_async(spend, (name, file)).get(PATIENCE_SECONDS)


@pytest.mark.long
@pytest.mark.parametrize("name", WORKS)
def test_work_is_bounded_by_the_size_of_its_input(name: str, tmp_path: Path) -> None:
    took = spent(name, tmp_path / "input")
    allowed = max(LEAST_SECONDS, MAX_SECONDS_PER_KILOBYTE * took.input_bytes / 1024)
    assert took.seconds <= allowed * slowness(), took
    assert took.megabytes <= MAX_MEGABYTES, took
    assert "object at 0x" not in took.ended
