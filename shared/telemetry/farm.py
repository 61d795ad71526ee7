"""Metrics of the whole farm, exported by the usage counter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Protocol

from prometheus_client import Metric
from prometheus_client.registry import Collector

from shared.clock import now
from shared.errors import Unavailable
from shared.shards import component_name
from shared.telemetry import metrics
from shared.telemetry.process import write_gauge
from shared.telemetry.readings import Backlog, FarmDepth, StoreStatistics


class ShardReader(Protocol):
    """Reads the metrics of one Redis server."""

    def read_depth(self) -> FarmDepth:
        """Return the depth of its queues and streams; raise `Unavailable` on an outage."""


class FarmCollector(Collector):
    """Collects the farm's metrics from Redis and the stores at each scrape.

    There is one usage counter, so nothing is counted twice. During an outage of Redis it exports the
    outage and the metrics of the other stores.
    """

    def __init__(
        self, shards: Mapping[str, ShardReader], *, read_statistics: Callable[[], StoreStatistics]
    ) -> None:
        self._shards = shards
        self._read_census = read_statistics

    def collect(self) -> Iterator[Metric]:
        """Yield the current metrics."""
        statistics = self._read_census()
        # Concurrently, so that the scrape takes no longer than one timeout.
        with ThreadPoolExecutor(len(self._shards)) as pool:
            looks = dict(zip(self._shards, pool.map(_look, self._shards.values()), strict=True))
        depths = {name: depth for name, depth in looks.items() if depth}
        yield _parts(statistics, {name: name in depths for name in looks})
        if depths:
            yield from _depths(depths)
        yield from _holdings(statistics)


def _look(shard: ShardReader) -> FarmDepth | None:
    try:
        return shard.read_depth()
    except Unavailable:
        return None


def _parts(statistics: StoreStatistics, shards: Mapping[str, bool]) -> Metric:
    queues = {component_name(name, len(shards)): is_up for name, is_up in shards.items()}
    parts = {**statistics.parts, **queues}
    return write_gauge(metrics.PART_UP, {(part,): float(up) for part, up in sorted(parts.items())})


def _depths(depths: Mapping[str, FarmDepth]) -> Iterator[Metric]:
    queues = {
        (name, shard): queue
        for shard, depth in depths.items()
        for name, queue in depth.queues.items()
    }
    found = depths.values()
    yield write_gauge(metrics.WAITING, {key: queue.waiting for key, queue in queues.items()})
    yield write_gauge(metrics.RUNNING, {key: queue.running for key, queue in queues.items()})
    yield write_gauge(
        metrics.OLDEST_SECONDS, {key: queue.oldest_seconds for key, queue in queues.items()}
    )
    yield write_gauge(
        metrics.DRAINED, {key: float(queue.is_drained) for key, queue in queues.items()}
    )
    places: dict[tuple[str, ...], float] = {
        (state, shard): count
        for shard, depth in depths.items()
        for state, count in depth.places.items()
    }
    yield write_gauge(metrics.PLACES, places)
    yield write_gauge(
        metrics.QUEUE_MEMORY, {(shard,): depth.memory_bytes for shard, depth in depths.items()}
    )
    yield write_gauge(
        metrics.QUEUE_MEMORY_LIMIT,
        {(shard,): depth.memory_limit_bytes for shard, depth in depths.items()},
    )
    yield write_gauge(metrics.EVENTS_PENDING, {(): sum(each.events_pending for each in found)})
    yield write_gauge(metrics.EVENTS_DEAD, {(): sum(each.events_dead for each in found)})
    yield write_gauge(metrics.LEDGER_LAG, {(): max(each.ledger_lag_seconds for each in found)})


def _holdings(statistics: StoreStatistics) -> Iterator[Metric]:
    used = {(use.account_id, use.allowance): use for use in statistics.accounts}
    yield write_gauge(metrics.ACCOUNT_PAGES, {key: use.pages for key, use in used.items()})
    yield write_gauge(metrics.ACCOUNT_RENDERS, {key: use.calls for key, use in used.items()})
    yield write_gauge(
        metrics.ACCOUNT_CAP, {key: use.cap for key, use in used.items() if use.cap is not None}
    )
    yield from _backlogs(statistics.backlogs)
    yield write_gauge(metrics.BLOB_BYTES, {(): statistics.blob_bytes})
    yield write_gauge(metrics.FULL_WORKSPACES, {(): statistics.nearly_full_workspaces})


def _backlogs(backlogs: Mapping[str, Backlog]) -> Iterator[Metric]:
    by_shard: dict[tuple[str, ...], Backlog] = {(name,): each for name, each in backlogs.items()}
    at = now()  # ages grow also while the database does not answer
    yield write_gauge(
        metrics.BATCHES_UNFINISHED, {key: each.batches for key, each in by_shard.items()}
    )
    yield write_gauge(
        metrics.DOCUMENTS_LEFT, {key: each.documents for key, each in by_shard.items()}
    )
    yield write_gauge(
        metrics.OLDEST_BATCH_SECONDS, {key: _age(each, at) for key, each in by_shard.items()}
    )


def _age(backlog: Backlog, at: datetime) -> float:
    if backlog.oldest_at is None:
        return 0.0
    return max((at - backlog.oldest_at).total_seconds(), 0.0)
