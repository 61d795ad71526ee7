"""The bounds of one render: its deadline by an alarm, its memory and its life by the kernel."""

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
_MANY_BYTES: Final = 64 * MB


class BudgetExceeded(BaseException):
    """The render's time is over. Not an Exception, so that no library swallows it by accident."""


@contextmanager
def time_limit(deadline: float) -> Iterator[None]:
    """Run the body no longer than the deadline, in seconds since 1970.

    Only for the main thread. Code that swallows the alarm, or stays in C, is the watchdog's.

    Raises:
        BudgetExceeded: at the deadline, inside the body.
    """
    seconds = deadline - epoch()
    if seconds <= 0:
        raise BudgetExceeded
    with alarms_raised(), Alarm(seconds):
        yield


@contextmanager
def alarms_raised() -> Iterator[None]:
    """Have each `Alarm` that goes off within raise `BudgetExceeded`. Only for the main thread."""
    previous = signal.signal(signal.SIGALRM, _raise_budget_exceeded)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, previous)


class Alarm:
    """Goes off when its body takes longer; it may be used again for another, one at a time."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)


def limit_memory(megabytes: int) -> None:
    """Bound this process's address space: an allocation beyond it raises MemoryError.

    Threads share one arena of malloc: 64 MB of address space would be reserved for that of each.
    """
    ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = megabytes * MB
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


class Remains:
    """What jobs leave behind for Python's collector, which comes after so many objects, not bytes."""

    def __init__(self) -> None:
        self._kept = _read_size()

    def collect(self) -> None:
        """Have it collect if this process has grown by much since it last did."""
        if _read_size() - self._kept > _MANY_BYTES:
            gc.collect()
            self._kept = _read_size()


def _read_size() -> int:
    """Give this process's address space in bytes, which `limit_memory` bounds."""
    return read_memory(os.getpid()).size


REMAINS: Final = Remains()  # of this process's jobs: they count against the memory of the next


def die_with_parent(parent_pid: int) -> None:
    """Have the kernel kill this process when its parent ends, however it ends (Linux)."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent_pid:
        os.kill(os.getpid(), signal.SIGKILL)  # the parent ended before the kernel was asked


def _raise_budget_exceeded(_signal: int, _frame: FrameType | None) -> None:
    raise BudgetExceeded
