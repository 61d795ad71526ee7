"""Time limits of the documents of a slice, with one set-up for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from shared.clock import ticks
from shared.errors import ErrorBody
from workers.render.budget import Alarm, raise_on_alarm
from workers.render.failures import RenderLimits, run_within
from workers.render.run import WATCHDOG_GRACE_SECONDS, RenderContext

T = TypeVar("T")

# The watchdog is set once for documents that begin within this time; a hanging process ends up to this
# much later.
_REACH_SECONDS: Final = 0.5


class DocumentLimits:
    """Limits each document of a slice to the whole time budget; see `active`."""

    def __init__(self, context: RenderContext, budget_seconds: float) -> None:
        self.limits = RenderLimits("render", budget_seconds, context.memory_mb)
        self._alarm = Alarm(budget_seconds)
        self._watchdog = context.watchdog
        self._watchdog_seconds = budget_seconds + WATCHDOG_GRACE_SECONDS + _REACH_SECONDS
        self._watched_until = 0.0

    @contextmanager
    def active(self) -> Iterator[None]:
        """Enable the limits in the block. Main thread only."""
        with raise_on_alarm():
            try:
                yield
            finally:
                self.pause()

    def pause(self) -> None:
        """Disarm the watchdog until the next document."""
        self._watchdog.set(0)
        self._watched_until = 0.0

    def attempt(self, work: Callable[[], T]) -> T | ErrorBody:
        """Render a document; see `workers.render.failures.run_with_deadline`."""
        at = ticks()
        if at >= self._watched_until:
            self._watchdog.set(self._watchdog_seconds)
            self._watched_until = at + _REACH_SECONDS
        return run_within(self._alarm, work, self.limits)
