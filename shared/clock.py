"""The one place that reads the time.

Instants are compared between machines, whose clocks differ. Processes with a connection to Redis follow
its clock (`shared.queue.clocks`); others use their machine's. Decision 0384.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Final

# Smaller differences are network delay, and are ignored.
_AGREED_SECONDS: Final = 0.2


class _ReferenceClock:
    """The offset of the followed clock to `ticks`; None until it is known."""

    origin: float | None = None


def now() -> datetime:
    """Return the current instant, aware, in UTC."""
    return datetime.fromtimestamp(epoch(), UTC)


def epoch() -> float:
    """Return the current instant as seconds since 1970, comparable between machines."""
    origin = _ReferenceClock.origin
    return time.time() if origin is None else origin + time.perf_counter()


def machine_epoch() -> float:
    """Return the current instant by this machine's own clock, which file timestamps use."""
    return time.time()


def follow_clock(shown: float, *, at: float) -> None:
    """Set the clock of `now` and `epoch` to one that read `shown` when `ticks` was `at`."""
    origin = shown - at
    if _ReferenceClock.origin is None or abs(origin - _ReferenceClock.origin) > _AGREED_SECONDS:
        _ReferenceClock.origin = origin


def ticks() -> float:
    """Return a monotonic reading in seconds, for durations within one process."""
    return time.perf_counter()


def cpu_microseconds() -> int:
    """Return the processor time that this process has used, all threads together."""
    return time.process_time_ns() // 1000


def timestamp(instant: datetime) -> str:
    """Format an instant: ISO 8601, UTC, milliseconds, `Z`."""
    # Not strftime, which writes the years before 1000 with three digits.
    if instant.tzinfo is not UTC:
        instant = instant.astimezone(UTC)
    return f"{instant.isoformat(timespec='milliseconds')[:-6]}Z"  # in place of +00:00
