"""The bounds of a slice's documents: what a single job sets up for itself is set up once for all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from shared.clock import ticks
from shared.errors import ErrorBody
from workers.farm.budget import Alarm, alarms_raised
from workers.farm.failures import Bounds, attempt_within
from workers.farm.run import WATCHDOG_GRACE_SECONDS, Farm

T = TypeVar("T")

# The watchdog is set for documents that begin within this time, not for each: it ends the process
# of one that hangs this much later at most.
_REACH_SECONDS: Final = 0.5


class DocumentBounds:
    """Bounds documents one after the other, each by the whole budget; see `opened`."""

    def __init__(self, farm: Farm, budget_seconds: float) -> None:
        self.told = Bounds("render", budget_seconds, farm.memory_mb)
        self._alarm = Alarm(budget_seconds)
        self._watchdog = farm.watchdog
        self._watchdog_seconds = budget_seconds + WATCHDOG_GRACE_SECONDS + _REACH_SECONDS
        self._watched_until = 0.0

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Stand ready within; only for the main thread."""
        with alarms_raised():
            try:
                yield
            finally:
                self.pause()

    def pause(self) -> None:
        """Watch no more until the next document: what comes in between may take its time."""
        self._watchdog.set(0)
        self._watched_until = 0.0

    def attempt(self, work: Callable[[], T]) -> T | ErrorBody:
        """Render a document; see `workers.farm.failures.attempt`."""
        at = ticks()
        if at >= self._watched_until:
            self._watchdog.set(self._watchdog_seconds)
            self._watched_until = at + _REACH_SECONDS
        return attempt_within(self._alarm, work, self.told)
