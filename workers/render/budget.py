"""Limits of a render process: the deadline by an alarm, memory and lifetime by the kernel."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from shared.clock import epoch
from shared.limits import MB
from shared.memory import read_memory

_PR_SET_PDEATHSIG: Final = 1  # prctl(2)
_M_ARENA_MAX: Final = -8  # mallopt(3)
_GROWTH_BYTES: Final = 64 * MB


class BudgetExceeded(BaseException):
    """The render exceeded its time. Not an Exception, so that libraries do not catch it by accident."""


@contextmanager
def time_limit(deadline: float) -> Iterator[None]:
    """Run the block until the deadline at most, in seconds since 1970.

    Main thread only. The watchdog ends code that catches the alarm or stays in C.

    Raises:
        BudgetExceeded: at the deadline, inside the block.
    """
    seconds = deadline - epoch()
    if seconds <= 0:
        raise BudgetExceeded
    with raise_on_alarm(), Alarm(seconds):
        yield


@contextmanager
def raise_on_alarm() -> Iterator[None]:
    """Raise `BudgetExceeded` in the block when an `Alarm` expires. Main thread only."""
    previous = signal.signal(signal.SIGALRM, _raise_budget_exceeded)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, previous)


class Alarm:
    """A timer that expires if its block takes longer; reusable, but not nested."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)


def limit_memory(megabytes: int) -> None:
    """Limit the address space of this process: allocations beyond it raise MemoryError.

    Threads share one malloc arena, since each arena reserves 64 MB of address space.
    """
    ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = megabytes * MB
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


class GarbageCollector:
    """Collects garbage by the growth of the process: Python's collector counts objects, not bytes."""

    def __init__(self) -> None:
        self._kept = _read_size()

    def collect(self) -> None:
        """Collect garbage if the process has grown by 64 MB since the last collection."""
        if _read_size() - self._kept > _GROWTH_BYTES:
            gc.collect()
            self._kept = _read_size()


def _read_size() -> int:
    """Return the address space of this process in bytes, which `limit_memory` limits."""
    return read_memory(os.getpid()).size


GARBAGE: Final = GarbageCollector()  # garbage of a job counts against the memory limit of the next


def die_with_parent(parent_pid: int) -> None:
    """Request SIGKILL from the kernel when the parent process ends (Linux)."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent_pid:
        os.kill(os.getpid(), signal.SIGKILL)  # the parent ended before the prctl call


def _raise_budget_exceeded(_signal: int, _frame: FrameType | None) -> None:
    raise BudgetExceeded
