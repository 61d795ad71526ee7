"""The one place that reads the time.

Instants are compared between machines, whose clocks differ. A process that can ask Redis follows its
clock (`shared.queue.clocks`); one that cannot goes by its machine's. Decision 0212.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Final

# Within this two readings agree: following each answer would follow their delays.
_AGREED_SECONDS: Final = 0.2


class _Followed:
    """The clock that is followed: what it showed when `ticks` was 0; None before it is known."""

    origin: float | None = None


def now() -> datetime:
    """Return the current instant, aware, in UTC."""
    return datetime.fromtimestamp(epoch(), UTC)


def epoch() -> float:
    """Return the current instant as seconds since 1970, comparable between machines."""
    origin = _Followed.origin
    return time.time() if origin is None else origin + time.perf_counter()


def machine_epoch() -> float:
    """Return the current instant by this machine's own clock, as its file system writes it."""
    return time.time()


def follow(shown: float, *, at: float) -> None:
    """Make `now` and `epoch` follow a clock that showed `shown` when `ticks` was `at`."""
    origin = shown - at
    if _Followed.origin is None or abs(origin - _Followed.origin) > _AGREED_SECONDS:
        _Followed.origin = origin


def follow_machine() -> None:
    """Make `now` and `epoch` follow this machine's clock, as they do at first."""
    _Followed.origin = None


def ticks() -> float:
    """Return a monotonic reading in seconds, for durations within one process."""
    return time.perf_counter()


def timestamp(instant: datetime) -> str:
    """Write an instant as contract.md 2 says: ISO 8601, UTC, milliseconds, `Z`."""
    # Not strftime, which writes the years before 1000 with three digits.
    if instant.tzinfo is not UTC:
        instant = instant.astimezone(UTC)
    return f"{instant.isoformat(timespec='milliseconds')[:-6]}Z"  # in place of +00:00
