"""Long polls: `?wait=SECONDS` returns once the record is final, after the time, or on shutdown."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Final, TypeVar

from shared.clock import ticks

_T = TypeVar("_T")

# Set once this process shuts down. Synchronous renders are still completed; a long poll returns the
# current record, and the client repeats it with another process.
stopping: Final = Event()
# Set once this process must exit within seconds: renders that a client waits for are abandoned, unmetered.
quitting: Final = Event()


def long_poll(
    read: Callable[[], _T],
    *,
    seconds: float,
    is_final: Callable[[_T], bool],
    wait: Callable[[_T, float], object],
    until: Callable[[], bool] = stopping.is_set,
) -> _T:
    """Return a record once it is final, or the current one after `seconds` or once `until` is true, on shutdown.

    `wait` gets the record and the seconds left. It returns when the record may have changed, and
    within a second of `until`.
    """
    give_up_at = ticks() + seconds
    while True:
        record = read()
        left = give_up_at - ticks()
        if is_final(record) or left <= 0 or until():
            return record
        wait(record, left)
