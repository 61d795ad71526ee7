"""Counters of short-lived worker processes, as increments of one Redis hash.

The increments of an outcome are added in the step that commits it, and `shared.telemetry.farm` reads the
sums. The hash has a field for each metric and set of labels: the name and the values.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily

from shared.jobs.records import JobOutcome, OutcomeStatus, Purpose, RenderJob
from shared.telemetry import metrics
from shared.telemetry.metrics import Kind, Spec

SUCCEEDED: Final = "succeeded"  # the outcome label of a successful job
ABANDONED: Final = metrics.ABANDONED.name  # the only field that the front increments

_SUM: Final = "sum"


class Tally:
    """Collects increments until the next step that writes to Redis. For one thread; implements `Observer`."""

    def __init__(self) -> None:
        self._sums: defaultdict[str, float] = defaultdict(float)

    def count(self, spec: Spec, *labels: str, amount: float = 1) -> None:
        """Add to a counter."""
        self._sums[_field(spec, *labels)] += amount

    def observe(self, spec: Spec, value: float, *labels: str) -> None:
        """Add a value to a histogram."""
        at = bisect_left(spec.buckets, value)
        self._sums[_field(spec, *labels, _bound(spec, at))] += 1
        self._sums[_field(spec, *labels, _SUM)] += value

    def observe_all(self, spec: Spec, values: Iterable[float], *labels: str) -> None:
        """Add many values to a histogram, in a third of the time of single calls."""
        found, total = Counter[int](), 0.0
        for value in values:
            found[bisect_left(spec.buckets, value)] += 1
            total += value
        for at, number in found.items():
            self._sums[_field(spec, *labels, _bound(spec, at))] += number
        if found:
            self._sums[_field(spec, *labels, _SUM)] += total

    def drain(self) -> dict[str, float]:
        """Return the increments by field, and reset them."""
        drained, self._sums = self._sums, defaultdict(float)
        return {field: round(amount, 6) for field, amount in drained.items()}


def count_outcome(job: RenderJob, outcome: JobOutcome) -> dict[str, float]:
    """Return the increments of a committed outcome by field."""
    tally = Tally()
    kind, allowance = job.body_kind.value, job.meter.allowance.value
    result = outcome.error.kind.value if outcome.error else SUCCEEDED
    if job.purpose is Purpose.VALIDATE:
        tally.count(metrics.VALIDATIONS, kind, result)
        return tally.drain()
    if job.purpose is Purpose.INSPECT:
        tally.count(metrics.INSPECTIONS, kind, result)
        return tally.drain()
    if job.purpose is Purpose.PREVIEW:
        tally.count(metrics.PREVIEWS, result)
        return tally.drain()
    tally.count(metrics.RENDERS, kind, allowance, result)
    if outcome.status is OutcomeStatus.SUCCEEDED:
        tally.count(metrics.PAGES, kind, allowance, amount=outcome.pages)
    for stage, milliseconds in outcome.timings.items():
        tally.observe(metrics.STAGE_SECONDS, milliseconds / 1000, stage)
    return tally.drain()


def write_totals(fields: Mapping[str, float]) -> Iterator[Metric]:
    """Yield the metrics of a hash of increments."""
    by_name: defaultdict[str, dict[tuple[str, ...], float]] = defaultdict(dict)
    for field in sorted(fields):
        name, *labels = field.split("|")
        by_name[name][tuple(labels)] = fields[field]
    for spec in metrics.FARM_TOTALS:
        if spec.kind is Kind.HISTOGRAM:
            yield _histogram(spec, by_name[spec.name])
        else:
            yield _counter(spec, by_name[spec.name])


def _counter(spec: Spec, sums: Mapping[tuple[str, ...], float]) -> Metric:
    family = CounterMetricFamily(spec.full_name, spec.text, labels=spec.labels)
    for labels, amount in sums.items():
        # Fields of an earlier release with other labels are ignored.
        if len(labels) == len(spec.labels):
            family.add_metric(labels, amount)
    if not spec.labels and () not in sums:
        family.add_metric((), 0)
    return family


def _histogram(spec: Spec, sums: Mapping[tuple[str, ...], float]) -> Metric:
    family = HistogramMetricFamily(spec.full_name, spec.text, labels=spec.labels)
    bounds = [_bound(spec, at) for at in range(len(spec.buckets) + 1)]
    known = {labels[:-1] for labels in sums if len(labels) == len(spec.labels) + 1}
    for labels in sorted(known):
        running = 0.0
        buckets = []
        for bound in bounds:
            running += sums.get((*labels, bound), 0)
            buckets.append((bound, running))
        family.add_metric(labels, buckets, sums.get((*labels, _SUM), 0))
    return family


def _bound(spec: Spec, at: int) -> str:
    return str(float(spec.buckets[at])) if at < len(spec.buckets) else "+Inf"


def _field(spec: Spec, *labels: str) -> str:
    return "|".join((spec.name, *labels))
