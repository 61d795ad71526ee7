"""Objects of `prometheus_client` for declared metrics, and collectors common to several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version

from prometheus_client import Counter, Histogram, Metric, disable_created_metrics
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector, CollectorRegistry

from shared.telemetry import metrics
from shared.telemetry.metrics import Spec

# `_created` series, which double the counters.
disable_created_metrics()  # type: ignore[no-untyped-call]


def make_counter(spec: Spec, registry: CollectorRegistry) -> Counter:
    """Create a counter in a registry."""
    return Counter(spec.full_name, spec.text, spec.labels, registry=registry)


def make_histogram(spec: Spec, registry: CollectorRegistry) -> Histogram:
    """Create a histogram in a registry."""
    return Histogram(
        spec.full_name, spec.text, spec.labels, buckets=spec.buckets, registry=registry
    )


def write_gauge(spec: Spec, values: Mapping[tuple[str, ...], float]) -> Metric:
    """Return a gauge that was read at the scrape: a value for each set of labels."""
    family = GaugeMetricFamily(spec.full_name, spec.text, labels=spec.labels)
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family


class ClockSkews(Collector):
    """Collects the offset of this machine's clock to that of each shard, as returned by `read`."""

    def __init__(self, read: Callable[[], Mapping[str, float]]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        yield write_gauge(
            metrics.CLOCK_AHEAD,
            {(shard,): round(skew, 3) for shard, skew in self._read().items()},
        )


class Constants(Collector):
    """Collects the version of a process and its constant metrics."""

    def __init__(self, part: str, numbers: Iterable[tuple[Spec, float]] = ()) -> None:
        self._part = part
        self._numbers = tuple(numbers)

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        yield write_gauge(metrics.BUILD_INFO, {(self._part, _version()): 1})
        for spec, value in self._numbers:
            yield write_gauge(spec, {(): value})


def _version() -> str:
    try:
        return version("pressroom")
    except PackageNotFoundError:
        return "unknown"  # not installed: run from the source tree
