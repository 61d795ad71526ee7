"""Waiting for a condition in place of a fixed sleep, and the few bounds on time that clients are promised."""

from __future__ import annotations

import statistics
import time
import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

_Value = TypeVar("_Value")
_ADDITIONS_SECONDS = 0.023  # of the machine on which limits of CPU time were set


def wait_until(
    holds: Callable[[], _Value],
    seconds: float = 120.0,
    *,
    pause: float = 0.02,
    explain: Callable[[], object] | None = None,
) -> _Value:
    """Call `holds` every `pause` seconds until it returns a true value, and return that.

    Raises:
        AssertionError: There was none within `seconds`; the text has what `explain` returns, or the last value.
    """
    deadline = time.monotonic() + seconds
    while not (value := holds()):
        if time.monotonic() >= deadline:
            found = explain() if explain else repr(value)
            raise AssertionError(f"no true value within {seconds:g} s: {found}")
        time.sleep(pause)
    return value


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail if the block takes longer: only for times that the contract promises to clients.

    What is merely to be fast is measured by `make bench`.
    """
    begun = time.monotonic()
    yield
    took = time.monotonic() - begun
    assert took <= seconds, f"it took {took:.1f} s, promised are {seconds:g} s"


def slowness() -> float:
    """Return how many times as long as that machine this one takes to compute, now; 1 if it is faster.

    Machines of one name differ by half, and one whose neighbours work by more.
    """
    addition = "for i in range(1_000_000): n += i"
    took = timeit.repeat(addition, "n = 0", timer=time.process_time, number=1)
    return max(1.0, statistics.median(took) / _ADDITIONS_SECONDS)
