"""From a declaration to an object of `prometheus_client`, and the registries of each process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version

from prometheus_client import Counter, Histogram, Metric, disable_created_metrics
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector, CollectorRegistry

from shared.telemetry import metrics
from shared.telemetry.metrics import Spec

# A second series for each counter, which says only when its process began.
disable_created_metrics()  # type: ignore[no-untyped-call]


def make_counter(spec: Spec, registry: CollectorRegistry) -> Counter:
    """Make a counter this process adds to."""
    return Counter(spec.full_name, spec.text, spec.labels, registry=registry)


def make_histogram(spec: Spec, registry: CollectorRegistry) -> Histogram:
    """Make a histogram this process adds to."""
    return Histogram(
        spec.full_name, spec.text, spec.labels, buckets=spec.buckets, registry=registry
    )


def write_gauge(spec: Spec, values: Mapping[tuple[str, ...], float]) -> Metric:
    """Write a gauge that is read at the scrape: a value for each set of labels."""
    family = GaugeMetricFamily(spec.full_name, spec.text, labels=spec.labels)
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family


class ClockSkews(Collector):
    """How far this machine's clock is ahead of each shard's, as `read` returns it."""

    def __init__(self, read: Callable[[], Mapping[str, float]]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """Give them."""
        yield write_gauge(
            metrics.CLOCK_AHEAD,
            {(shard,): round(skew, 3) for shard, skew in self._read().items()},
        )


class Constants(Collector):
    """The version of a part, and numbers that are fixed while it runs."""

    def __init__(self, part: str, numbers: Iterable[tuple[Spec, float]] = ()) -> None:
        self._part = part
        self._numbers = tuple(numbers)

    def collect(self) -> Iterator[Metric]:
        """Give them."""
        yield write_gauge(metrics.BUILD_INFO, {(self._part, _version()): 1})
        for spec, value in self._numbers:
            yield write_gauge(spec, {(): value})


def _version() -> str:
    try:
        return version("pressroom")
    except PackageNotFoundError:
        return "unknown"  # run from the source tree without an installation
