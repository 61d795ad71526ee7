"""A kernel timer that ends the process independently of the interpreter (Linux)."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

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
