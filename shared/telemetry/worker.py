"""What one render worker exports: its slots, and the child processes in them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.registry import Collector

from shared.limits import MB
from shared.memory import read_memory
from shared.telemetry import metrics
from shared.telemetry.registries import ClockSkews, Constants, make_counter, write_gauge

RECYCLED: Final = "recycled"
_SIGNALS: Final = {
    -int(signal.SIGKILL): "killed",
    -int(signal.SIGABRT): "watchdog",
    -int(signal.SIGTERM): "terminated",
}
_REASONS: Final = (RECYCLED, *_SIGNALS.values(), "crashed", "failed")


class WorkerMetrics(Collector):
    """The metrics of a worker's main process, which sees its children come and go.

    `count_busy` is asked at each scrape. Its renders are in the farm's totals.
    """

    def __init__(
        self,
        *,
        slots: int,
        child_memory_mb: int,
        count_busy: Callable[[], int],
        read_skews: Callable[[], Mapping[str, float]] = dict,
    ) -> None:
        self.registry: Final = CollectorRegistry()
        self._count_busy = count_busy
        self._find_children: Callable[[], Mapping[int, int]] = dict
        self._starts = make_counter(metrics.CHILD_STARTS, self.registry)
        self._exits = make_counter(metrics.CHILD_EXITS, self.registry)
        for reason in _REASONS:
            self._exits.labels(reason)
        numbers = [
            (metrics.WORKER_UP, 1),
            (metrics.SLOTS, slots),
            (metrics.CHILD_MEMORY_LIMIT, child_memory_mb * MB),
        ]
        self.registry.register(Constants("worker", numbers))
        self.registry.register(ClockSkews(read_skews))
        self.registry.register(self)

    def watch(self, find_children: Callable[[], Mapping[int, int]]) -> None:
        """Ask for the children, slot to process id, at each scrape from now on."""
        self._find_children = find_children

    def child_started(self) -> None:
        """Count a child process that began."""
        self._starts.inc()

    def child_ended(self, exit_code: int | None) -> None:
        """Count a child process that ended; a negative code is the signal that ended it."""
        self._exits.labels(_reason(exit_code)).inc()

    def collect(self) -> Iterator[Metric]:
        """Give what is read at the scrape."""
        yield write_gauge(metrics.SLOTS_BUSY, {(): self._count_busy()})
        yield write_gauge(metrics.WORKER_MEMORY, {(): _resident_bytes(os.getpid())})
        yield write_gauge(
            metrics.CHILD_MEMORY,
            {(str(slot),): _resident_bytes(pid) for slot, pid in self._find_children().items()},
        )

    def describe(self) -> Iterator[Metric]:
        """Give nothing: there is no pool yet when the worker's registry is made."""
        return iter(())


def _reason(exit_code: int | None) -> str:
    # The library's own codes for a child that had its number of jobs (155), or ended well.
    if exit_code in (None, 0, 0x9B):
        return RECYCLED
    if exit_code in _SIGNALS:
        return _SIGNALS[exit_code]
    return "crashed" if exit_code < 0 else "failed"


def _resident_bytes(pid: int) -> int:
    try:
        return read_memory(pid).resident
    except OSError:
        return 0  # it ended a moment ago
