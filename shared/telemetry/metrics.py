"""Every metric of the product, declared once; the prefix of all is `pressroom_`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    generate_latest,
    values,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

from shared.telemetry.totals import STAGE_BUCKETS_SECONDS, FarmTotals

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_HTTP_BUCKETS_SECONDS: Final = (
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
)  # fmt: skip


class FrontMetrics:
    """What one front counts, over all its processes when they share a folder.

    Make it once per process tree, before any other metric of `prometheus_client` in it.
    """

    def __init__(self, metrics_dir: str | None) -> None:
        self._metrics_dir = metrics_dir
        if metrics_dir is not None:
            # The library reads the folder from here, and chooses its kind of value at import.
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = metrics_dir
            Path(metrics_dir).mkdir(parents=True, exist_ok=True)
            values.ValueClass = values.MultiProcessValue()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "pressroom_http_requests",
            "Requests answered by the front.",
            ["route", "method", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "pressroom_http_request_duration_seconds",
            "Time from a request's arrival to its answer.",
            ["route", "method"],
            buckets=_HTTP_BUCKETS_SECONDS,
            registry=self._registry,
        )

    def observe(self, *, route: str, method: str, status: int, seconds: float) -> None:
        """Count one answered request; `route` is the rule, never the path with its ids."""
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route, method).observe(seconds)

    def exposition(self) -> bytes:
        """Write the metrics of all the front's processes as Prometheus text."""
        if self._metrics_dir is None:
            return generate_latest(self._registry)
        everyone = CollectorRegistry()
        MultiProcessCollector(everyone, path=self._metrics_dir)  # type: ignore[no-untyped-call]
        return generate_latest(everyone)


def clear_metrics_dir(metrics_dir: str) -> None:
    """Empty the folder of an earlier front; for the front's master process, before it forks."""
    folder = Path(metrics_dir)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)


def forget_process(pid: int, metrics_dir: str) -> None:
    """Take back the live values of a front process that has ended; its counts stay."""
    mark_process_dead(pid, metrics_dir)  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """What lies in Redis: jobs waiting and running, the oldest one's wait, events on their way."""

    waiting: int
    running: int
    oldest_seconds: float
    events_pending: int
    events_dead: int


class FarmCollector(Collector):
    """What the whole farm did and has before it, read from Redis at each scrape.

    Exported by the usage counter, of which there is one, so that nothing is summed twice.
    """

    def __init__(
        self, *, read_totals: Callable[[], FarmTotals], read_depth: Callable[[], QueueDepth]
    ) -> None:
        self._read_totals = read_totals
        self._read_depth = read_depth

    def collect(self) -> Iterator[Metric]:
        """Give the metrics as they are now."""
        totals = self._read_totals()
        yield from _render_metrics(totals)
        yield _stage_metric(totals)
        yield from _depth_metrics(self._read_depth())


def farm_registry(collector: FarmCollector) -> CollectorRegistry:
    """Make the usage counter's registry."""
    registry = CollectorRegistry()
    registry.register(collector)
    _add_build_info(registry, part="counter")
    return registry


def worker_registry(*, slots: int) -> CollectorRegistry:
    """Make a render worker's registry; its renders are in the farm's totals."""
    registry = CollectorRegistry()
    Gauge("pressroom_worker_slots", "Jobs this worker can run at once.", registry=registry).set(
        slots
    )
    Gauge("pressroom_worker_up", "1 while the worker runs.", registry=registry).set(1)
    _add_build_info(registry, part="worker")
    return registry


def _render_metrics(totals: FarmTotals) -> Iterator[Metric]:
    renders = CounterMetricFamily(
        "pressroom_renders",
        "Jobs ended, by allowance and outcome: succeeded, or the kind of failure.",
        labels=["allowance", "outcome"],
    )
    for (allowance, kind), count in totals.renders.items():
        renders.add_metric([allowance, kind], count)
    yield renders
    pages = CounterMetricFamily(
        "pressroom_pages", "Pages metered, by allowance.", labels=["allowance"]
    )
    for allowance, count in totals.pages.items():
        pages.add_metric([allowance], count)
    yield pages
    yield CounterMetricFamily(
        "pressroom_renders_abandoned",
        "Jobs the front gave up at their deadline.",
        value=totals.abandoned,
    )


def _stage_metric(totals: FarmTotals) -> Metric:
    stages = HistogramMetricFamily(
        "pressroom_render_stage_seconds",
        "Time of a render's stages: queue, merge, layout, finish.",
        labels=["stage"],
    )
    bounds = [*(str(bound) for bound in STAGE_BUCKETS_SECONDS), "+Inf"]
    for stage, times in totals.stages.items():
        running = 0.0
        buckets = []
        for bound, count in zip(bounds, times.counts, strict=True):
            running += count
            buckets.append((bound, running))
        stages.add_metric([stage], buckets, times.sum_seconds)
    return stages


def _depth_metrics(depth: QueueDepth) -> Iterator[Metric]:
    gauges = (
        ("pressroom_queue_waiting", "Jobs no worker has taken yet.", depth.waiting),
        ("pressroom_queue_running", "Jobs a worker holds.", depth.running),
        ("pressroom_queue_oldest_seconds", "Age of the oldest waiting job.", depth.oldest_seconds),
        ("pressroom_usage_events_pending", "Events not in the ledger yet.", depth.events_pending),
        ("pressroom_usage_events_dead", "Events nobody could read.", depth.events_dead),
    )
    for name, text, value in gauges:
        yield GaugeMetricFamily(name, text, value=value)


def _add_build_info(registry: CollectorRegistry, *, part: str) -> None:
    info = Gauge(
        "pressroom_build_info", "The running version.", ["part", "version"], registry=registry
    )
    info.labels(part, _version()).set(1)


def _version() -> str:
    try:
        return version("pressroom")
    except PackageNotFoundError:
        return "unknown"  # run from the source tree without an installation
