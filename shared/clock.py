"""The one place that reads the time."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def now() -> datetime:
    """Give the current instant, aware, in UTC."""
    return datetime.now(UTC)


def epoch() -> float:
    """Give the current instant as seconds since 1970, comparable between machines."""
    return time.time()


def ticks() -> float:
    """Give a monotonic reading in seconds, for durations within one process."""
    return time.perf_counter()


def timestamp(instant: datetime) -> str:
    """Write an instant as contract.md 2 says: ISO 8601, UTC, milliseconds, `Z`."""
    # Not strftime, which writes the years before 1000 with three digits.
    if instant.tzinfo is not UTC:
        instant = instant.astimezone(UTC)
    return f"{instant.isoformat(timespec='milliseconds')[:-6]}Z"  # in place of +00:00
