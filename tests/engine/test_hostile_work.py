"""Small inputs that ask for much work are drawn or refused for little."""

from __future__ import annotations

import multiprocessing

import pytest

from tests.engine.hostile_work import WORKS, Spent, spend

# CPU seconds, twice what a slow machine takes: work that grows by a square takes a hundred times that.
MAX_SECONDS_PER_KILOBYTE = 2.0
LEAST_SECONDS = 6.0  # a loop of one line may make 10,000 elements, of 0.3 ms each
MAX_MEGABYTES = 300
PATIENCE_SECONDS = 300

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.engine.hostile_work"])


def spent(name: str) -> Spent:
    """Do a work in a process of its own."""
    with CONTEXT.Pool(1) as pool:
        return pool.apply_async(spend, (name,)).get(PATIENCE_SECONDS)


@pytest.mark.long
@pytest.mark.parametrize("name", WORKS)
def test_work_is_bounded_by_the_size_of_its_input(name: str) -> None:
    took = spent(name)
    allowed = max(LEAST_SECONDS, MAX_SECONDS_PER_KILOBYTE * took.input_bytes / 1024)
    assert took.seconds <= allowed, took
    assert took.megabytes <= MAX_MEGABYTES, took
    assert "object at 0x" not in took.ended
