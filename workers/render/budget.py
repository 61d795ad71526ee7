"""The deadline of a render: an alarm, a kernel timer that does not need the interpreter, and the garbage of earlier ones."""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from shared.clock import epoch
from shared.limits import MB
from shared.memory import read_memory

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
    """Return the address space of this process in bytes, which `confine` limits."""
    return read_memory(os.getpid()).size


GARBAGE: Final = GarbageCollector()  # garbage of a job counts against the memory limit of the next


def _raise_budget_exceeded(_signal: int, _frame: FrameType | None) -> None:
    raise BudgetExceeded


_CLOCK_MONOTONIC: Final = 1
_SIGEV_SIGNAL: Final = 0


class _SignalEvent(ctypes.Structure):
    """`struct sigevent` of sigevent(3type), padded to its 64 bytes."""

    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("padding", ctypes.c_byte * 48),
    )


class _TimerSpec(ctypes.Structure):
    """`struct itimerspec` of timer_settime(2): the interval, then the time until the first."""

    _fields_ = (
        ("interval_seconds", ctypes.c_long),
        ("interval_nanoseconds", ctypes.c_long),
        ("seconds", ctypes.c_long),
        ("nanoseconds", ctypes.c_long),
    )


class Watchdog:
    """Ends the process by SIGABRT if a block takes too long; create it after the fork.

    A handler in C writes the stack to stderr first. Unlike a Python alarm, it works inside C code;
    unlike `faulthandler.dump_traceback_later`, it needs no thread per job.
    """

    def __init__(self) -> None:
        faulthandler.enable()
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._timer = ctypes.c_void_p()
        event = _SignalEvent(signal=int(signal.SIGABRT), notify=_SIGEV_SIGNAL)
        made = self._libc.timer_create(
            _CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(self._timer)
        )
        if made != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    @contextmanager
    def watch(self, seconds: float) -> Iterator[None]:
        """Run the block; end the process if it takes longer than `seconds`, which must be positive."""
        self.set(seconds)
        try:
            yield
        finally:
            self.set(0)

    def set(self, seconds: float) -> None:
        """Set the timer to `seconds` from now; 0 disarms it."""
        whole = int(seconds)
        spec = _TimerSpec(seconds=whole, nanoseconds=int((seconds - whole) * 1e9))
        self._libc.timer_settime(self._timer, 0, ctypes.byref(spec), None)
