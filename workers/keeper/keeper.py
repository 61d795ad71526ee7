"""The keeper's loop: each duty in its own rhythm, none stopped by another's failure."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event
from typing import Final

from shared.clock import ticks
from shared.errors import Unavailable
from shared.telemetry.keeper import KeeperMetrics
from shared.telemetry.log import get_logger
from workers.keeper.duty import Duty

_LONGEST_PAUSE_SECONDS: Final = 1.0

log: Final = get_logger(__name__)


class Keeper:
    """Does its duties until it is told to stop."""

    def __init__(self, duties: Sequence[Duty], metrics: KeeperMetrics) -> None:
        self._duties = duties
        self._metrics = metrics
        self._due_at = dict.fromkeys((duty.name for duty in duties), 0.0)
        self._stop = Event()

    def stop(self) -> None:
        """Have `run` return after the round in hand."""
        self._stop.set()

    def run(self) -> None:
        """Keep until stopped; a duty whose store is away is tried again in its next round."""
        while not self._stop.is_set():
            for duty in self._duties:
                if ticks() >= self._due_at[duty.name] and not self._stop.is_set():
                    self._do(duty)
            next_due = min(self._due_at.values(), default=0.0)
            self._stop.wait(min(max(next_due - ticks(), 0.0), _LONGEST_PAUSE_SECONDS))

    def _do(self, duty: Duty) -> None:
        try:
            repaired = duty.run_once()
        except Unavailable as error:
            self._metrics.count_failure(duty.name)
            log.warning("duty waits", duty=duty.name, part=error.part, cause=repr(error.__cause__))
        except Exception as error:
            # A defect of one duty must not end the others.
            self._metrics.count_failure(duty.name)
            log.error("duty failed", duty=duty.name, exc_info=error)
        else:
            self._metrics.count_repairs(duty.name, repaired)
            if repaired:
                log.info("duty done", duty=duty.name, repaired=repaired)
        self._due_at[duty.name] = ticks() + duty.every_seconds
