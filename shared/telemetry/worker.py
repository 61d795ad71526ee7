"""Metrics of a render worker: its slots and their child processes."""

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
    """The metrics of a worker's main process; its renders are in the farm's totals.

    `count_busy` is called at each scrape.
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
        """Set the function that returns the children, slot to process id; it is called at each scrape."""
        self._find_children = find_children

    def count_child_start(self) -> None:
        """Count a started child process."""
        self._starts.inc()

    def count_child_exit(self, exit_code: int | None) -> None:
        """Count an ended child process; a negative code is the signal that ended it."""
        self._exits.labels(_reason(exit_code)).inc()

    def collect(self) -> Iterator[Metric]:
        """Yield the gauges."""
        yield write_gauge(metrics.SLOTS_BUSY, {(): self._count_busy()})
        yield write_gauge(metrics.WORKER_MEMORY, {(): _resident_bytes(os.getpid())})
        yield write_gauge(
            metrics.CHILD_MEMORY,
            {(str(slot),): _resident_bytes(pid) for slot, pid in self._find_children().items()},
        )

    def describe(self) -> Iterator[Metric]:
        """Return no metrics: the pool does not exist yet when the registry is created."""
        return iter(())


def _reason(exit_code: int | None) -> str:
    # billiard's exit codes: 155 (0x9B) after the maximal number of jobs, 0 otherwise.
    if exit_code in (None, 0, 0x9B):
        return RECYCLED
    if exit_code in _SIGNALS:
        return _SIGNALS[exit_code]
    return "crashed" if exit_code < 0 else "failed"


def _resident_bytes(pid: int) -> int:
    try:
        return read_memory(pid).resident
    except OSError:
        return 0  # the process has just ended
