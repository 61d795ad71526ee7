"""What the front counts, over all its processes, in files of a folder they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.registry import Collector

from shared.errors import ErrorBody, ErrorCode, ErrorKind
from shared.telemetry import metrics
from shared.telemetry.counts import Counts
from shared.telemetry.files import write_text
from shared.telemetry.registries import ClockSkews, Constants
from shared.telemetry.watch import Cache, Store

_COUNTED: Final = (
    metrics.REQUESTS,
    metrics.REQUEST_SECONDS,
    metrics.IN_PROGRESS,
    metrics.ERRORS,
    metrics.REFUSALS,
    metrics.STORE_SECONDS,
    metrics.STORE_FAILURES,
    metrics.CACHE_LOOKS,
)


class FrontMetrics:
    """What one front counts, over all its processes when they share a folder; a `Watch`.

    `connections` is how many of them all its processes can have at once.
    """

    def __init__(
        self,
        metrics_dir: str | None,
        *,
        connections: int = 0,
        read_skews: Callable[[], Mapping[str, float]] = dict,
    ) -> None:
        self._folder = None if metrics_dir is None else Path(metrics_dir)
        self._counts = Counts(self._folder)
        self._constants = Constants("front", [(metrics.CONNECTIONS, connections)])
        self._skews = ClockSkews(read_skews)
        self._in_progress = self._counts.series(metrics.IN_PROGRESS)

    def begin(self) -> None:
        """Note that a request is being answered from now on."""
        self._counts.catch_up()
        self._in_progress.inc()

    def end(self) -> None:
        """Note that a request has been answered."""
        self._in_progress.inc(-1)

    def observe(self, *, route: str, method: str, status: int, seconds: float) -> None:
        """Count one answered request; `route` is the rule, never the path with its ids."""
        self._counts.series(metrics.REQUESTS, route, method, str(status)).inc()
        status_class = f"{status // 100}xx"
        self._counts.times(metrics.REQUEST_SECONDS, route, method, status_class).observe(seconds)

    def count_error(self, body: ErrorBody) -> None:
        """Count one answer with the error body, and what it refused."""
        self._counts.series(metrics.ERRORS, body.kind.value).inc()
        if reason := _refused(body):
            self._counts.series(metrics.REFUSALS, reason).inc()

    def time_store(self, store: Store, operation: str, seconds: float) -> None:
        """Note one piece of work of a store."""
        self._counts.times(metrics.STORE_SECONDS, store.value, operation).observe(seconds)

    def count_failure(self, store: Store, operation: str) -> None:
        """Note that a store was away."""
        self._counts.series(metrics.STORE_FAILURES, store.value, operation).inc()

    def count_look(self, cache: Cache, *, is_hit: bool) -> None:
        """Note one look into a cache."""
        result = "hit" if is_hit else "miss"
        self._counts.series(metrics.CACHE_LOOKS, cache.value, result).inc()

    def exposition(self) -> bytes:
        """Write the metrics of all the front's processes as Prometheus text."""
        self._counts.catch_up()
        counted = write_text(self._folder, _COUNTED, in_memory=self._counts.read_memory())
        return counted.encode() + generate_latest(_only(self._constants, self._skews))


def _only(*collectors: Collector) -> CollectorRegistry:
    registry = CollectorRegistry()
    for collector in collectors:
        registry.register(collector)
    return registry


def _refused(body: ErrorBody) -> str | None:
    match body.kind, body.code:
        case ErrorKind.RATE, _:
            return "rate"
        case ErrorKind.QUOTA, ErrorCode.QUOTA_EXCEEDED:
            return "pages"
        case ErrorKind.QUOTA, ErrorCode.DRAFT_QUOTA_EXCEEDED:
            return "draft_pages"
        case ErrorKind.QUOTA, _:
            return "storage"
        case _:
            return None
