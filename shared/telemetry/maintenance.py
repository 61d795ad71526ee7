"""Metrics of the maintenance process: its repairs, and the unfinished jobs of the database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.registry import Collector

from shared.errors import Unavailable
from shared.telemetry import metrics
from shared.telemetry.registries import ClockSkews, Constants, make_counter, write_gauge


class MaintenanceMetrics(Collector):
    """The metrics of a maintenance process; `count_unfinished` is called at each scrape."""

    def __init__(
        self,
        tasks: Sequence[str],
        *,
        count_unfinished: Callable[[], int],
        read_skews: Callable[[], Mapping[str, float]] = dict,
    ) -> None:
        self.registry: Final = CollectorRegistry()
        self._count_unfinished = count_unfinished
        self._repairs = make_counter(metrics.MAINTENANCE_REPAIRS, self.registry)
        self._failures = make_counter(metrics.MAINTENANCE_FAILURES, self.registry)
        for task in tasks:
            self._repairs.labels(task)
            self._failures.labels(task)
        self.registry.register(Constants("maintenance"))
        self.registry.register(ClockSkews(read_skews))
        self.registry.register(self)

    def count_repairs(self, task: str, number: int) -> None:
        """Count the repairs of a round."""
        self._repairs.labels(task).inc(number)

    def count_failure(self, task: str) -> None:
        """Count a round that failed."""
        self._failures.labels(task).inc()

    def collect(self) -> Iterator[Metric]:
        """Yield the gauges; none during an outage of the database."""
        try:
            unfinished = self._count_unfinished()
        except Unavailable:
            return
        yield write_gauge(metrics.JOBS_UNFINISHED, {(): unfinished})

    def describe(self) -> Iterator[Metric]:
        """Return no metrics: registering must not query the database."""
        return iter(())
