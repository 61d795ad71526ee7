"""Long polls: `?wait=SECONDS` returns when the record is final, in time, or when the front stops."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Final, TypeVar

from shared.clock import ticks

_T = TypeVar("_T")

# Set once this process has been told to stop. Renders that clients wait for still get their
# answers; a long poll returns the record as it is, and the client repeats it elsewhere.
stopping: Final = Event()


def long_poll(
    read: Callable[[], _T],
    *,
    seconds: float,
    is_final: Callable[[_T], bool],
    wait: Callable[[_T, float], object],
) -> _T:
    """Return a record as soon as it is final, or as it is after `seconds` or when the front stops.

    `wait` takes the record and the seconds left. It returns when the record may have changed, and
    within a second of `stopping`.
    """
    give_up_at = ticks() + seconds
    while True:
        record = read()
        left = give_up_at - ticks()
        if is_final(record) or left <= 0 or stopping.is_set():
            return record
        wait(record, left)
