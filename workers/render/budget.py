"""The deadline of a render: an alarm, a kernel timer that does not need the interpreter, and the garbage of earlier ones."""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Thread, main_thread
from types import FrameType
from typing import Final

from shared.clock import epoch, ticks
from shared.errors import Unavailable
from shared.limits import MB
from shared.memory import read_memory
from shared.telemetry.log import get_logger

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


CHECK_SECONDS: Final = 0.5
# The process is ended this long after the alarm, if the render catches it or stays in C.
GRACE_SECONDS: Final = 1.0

log: Final = get_logger(__name__)


class Stopper:
    """Checks in a thread whether the current job has ended elsewhere.

    Most renders end before the first check. `has_ended` takes the id of a job and its run time
    in seconds. Create it after the fork.
    """

    def __init__(self, has_ended: Callable[[str, float], bool]) -> None:
        self._has_ended = has_ended
        self._condition = Condition()
        self._job_id: str | None = None
        self._begun_at = 0.0
        self._is_stopping = False
        self._is_idle = False
        self._thread: Thread | None = None

    @contextmanager
    def watch(self, job_id: str) -> Iterator[None]:
        """Run the block in the main thread, within `time_limit`; the alarm is raised if the job ends.

        Raises:
            BudgetExceeded: the job has ended elsewhere.
        """
        self._start()
        with self._condition:
            self._job_id, self._begun_at, self._is_stopping = job_id, ticks(), False
            # The thread is not woken for each of many short renders.
            if self._is_idle:
                self._condition.notify()
        try:
            yield
        finally:
            self._job_id = None
            # A signal that is being sent arrives here, within the caller's `time_limit`.
            with self._condition:
                pass

    def _start(self) -> None:
        if self._thread is None:
            self._thread = Thread(target=self._check_repeatedly, name="stopper", daemon=True)
            self._thread.start()

    def _check_repeatedly(self) -> None:
        looked_at = 0.0
        while True:
            with self._condition:
                while self._job_id is None:
                    self._is_idle = True
                    self._condition.wait()
                self._is_idle = False
                job_id, begun_at = self._job_id, self._begun_at
                early = max(begun_at, looked_at) + CHECK_SECONDS - ticks()
                if early > 0:
                    self._condition.wait(early)
                    continue
            looked_at = ticks()
            if self._is_over(job_id, ticks() - begun_at):
                self._stop(job_id, begun_at)

    def _is_over(self, job_id: str, seconds: float) -> bool:
        try:
            return self._has_ended(job_id, seconds)
        except Unavailable:
            return False

    def _stop(self, job_id: str, begun_at: float) -> None:
        # Under the lock, so that no signal is sent for a job that has just ended here.
        with self._condition:
            if (self._job_id, self._begun_at) != (job_id, begun_at):
                return
            if not self._is_stopping:
                self._is_stopping = True
                log.info("render stopped, its job has ended", job=job_id)
                signal.pthread_kill(main_thread().ident or 0, signal.SIGALRM)
            self._condition.wait(GRACE_SECONDS)
            if (self._job_id, self._begun_at) == (job_id, begun_at):
                faulthandler.dump_traceback()
                os.kill(os.getpid(), signal.SIGABRT)
