"""The metrics of one process, as objects of `prometheus_client`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, TypeAlias

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    disable_created_metrics,
    generate_latest,
    values,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from shared.errors import Unavailable
from shared.telemetry import metrics
from shared.telemetry.metrics import Exporter, Kind, Spec
from shared.telemetry.observer import Observer

Reading: TypeAlias = float | Mapping[tuple[str, ...], float]

_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
# `_created` series, which double the counters.
disable_created_metrics()  # type: ignore[no-untyped-call]


class ProcessMetrics(Collector, Observer):
    """The declared metrics of the process of an exporter.

    `gauges` are read at each scrape; those that raise `Unavailable` are left out. All others are counted, of all
    processes that share the folder `PROMETHEUS_MULTIPROC_DIR` of the environment. `labels` are values of a
    counter's label that are exported from the start.
    """

    def __init__(
        self,
        exporter: Exporter,
        gauges: Mapping[Spec, Callable[[], Reading]] | None = None,
        *,
        labels: Mapping[Spec, Iterable[str]] | None = None,
    ) -> None:
        self.registry: Final = CollectorRegistry()
        self._gauges: dict[Spec, Callable[[], Reading]] = {
            metrics.BUILD_INFO: lambda: {(exporter.value, _version()): 1},
            **(gauges or {}),
        }
        self._counted = {spec: _make(spec, self.registry) for spec in metrics.counted_by(exporter)}
        for spec, names in (labels or {}).items():
            for name in names:
                self._counted[spec].labels(name)
        self.registry.register(self)

    def count(self, spec: Spec, *labels: str, amount: float = 1) -> None:
        """Add to a counter, or a gauge of what is in progress."""
        self._find(spec, labels).inc(amount)

    def observe(self, spec: Spec, value: float, *labels: str) -> None:
        """Add a value to a histogram."""
        self._find(spec, labels).observe(value)

    def collect(self) -> Iterator[Metric]:
        """Yield the gauges."""
        for spec, read in self._gauges.items():
            try:
                reading = read()
            except Unavailable:
                continue
            yield write_gauge(spec, reading if isinstance(reading, Mapping) else {(): reading})

    def exposition(self) -> bytes:
        """Return the metrics in the Prometheus text format, counted ones of all processes of the folder."""
        if _FOLDER not in os.environ:
            return generate_latest(self.registry)
        counted, own = CollectorRegistry(), CollectorRegistry()
        MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
        own.register(self)
        return generate_latest(counted) + generate_latest(own)

    def _find(self, spec: Spec, labels: tuple[str, ...]) -> Any:
        counted = self._counted[spec]
        return counted.labels(*labels) if labels else counted


def share_counts(folder: Path, process_id: Callable[[], object]) -> None:
    """Count in memory-mapped files of a folder, for this process and those that it will fork.

    Call it before metrics are made. The id tells processes that run at the same time apart; a process that
    replaces another one under its id goes on with its counts.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.environ[_FOLDER] = str(folder)
    values.ValueClass = values.MultiProcessValue(process_id)  # type: ignore[no-untyped-call]


def write_gauge(spec: Spec, values: Mapping[tuple[str, ...], float]) -> Metric:
    """Return a gauge that was read at the scrape: a value for each set of labels."""
    family = GaugeMetricFamily(spec.full_name, spec.text, labels=spec.labels)
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family


def _make(spec: Spec, registry: CollectorRegistry) -> Any:
    name, text, labels = spec.full_name, spec.text, spec.labels
    match spec.kind:
        case Kind.COUNTER:
            return Counter(name, text, labels, registry=registry)
        case Kind.HISTOGRAM:
            return Histogram(name, text, labels, buckets=spec.buckets, registry=registry)
        case Kind.GAUGE:
            return Gauge(name, text, labels, registry=registry, multiprocess_mode="livesum")


def _version() -> str:
    try:
        return version("pressroom")
    except PackageNotFoundError:
        return "unknown"  # not installed: run from the source tree
