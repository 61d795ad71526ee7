"""The usage counter, and the metrics of the whole farm that it exports: `python -m workers.counter.main` starts it."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC
from threading import Event, Thread
from typing import Any, Final

from prometheus_client import Metric
from prometheus_client.registry import Collector

from shared.blobs.factory import open_store
from shared.blobs.store import BlobStore
from shared.clock import now
from shared.db.session import Database, open_database
from shared.errors import Unavailable
from shared.limits import GB
from shared.queue.clocks import FarmClock
from shared.queue.connection import connect
from shared.queue.depth import QueueReader
from shared.queue.queue_factory import open_queues
from shared.queue.shard_layout import assert_shards
from shared.queue.usage import UsageStream
from shared.settings import Settings, get_settings
from shared.shards import ShardAddress, component_name, find_shard
from shared.startup import run_threads, start, stop_on_signals
from shared.telemetry import metrics
from shared.telemetry.log import get_logger
from shared.telemetry.metrics import Exporter, Spec
from shared.telemetry.observer import Observer
from shared.telemetry.probe import start_probe
from shared.telemetry.process import ProcessMetrics, write_gauge
from shared.telemetry.readings import Backlog, FarmDepth, StoreStatistics
from shared.usage.repository import (
    count_nearly_full,
    list_heaviest_accounts,
    measure_backlog,
    sum_image_bytes,
)
from workers.counter.stream import UsageCounter


class FarmCollector(Collector):
    """Collects the farm's metrics from Redis and the stores at each scrape.

    There is one usage counter, so nothing is counted twice. During an outage of Redis it exports the
    outage and the metrics of the other stores.
    """

    def __init__(
        self, shards: Mapping[str, QueueReader], *, read_statistics: Callable[[], StoreStatistics]
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


def _look(shard: QueueReader) -> FarmDepth | None:
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
    places: dict[tuple[str, ...], float] = {
        (state, shard): count
        for shard, depth in depths.items()
        for state, count in depth.places.items()
    }
    yield from _write_gauges(
        queues,
        waiting=metrics.WAITING,
        running=metrics.RUNNING,
        oldest_seconds=metrics.OLDEST_SECONDS,
        is_drained=metrics.DRAINED,
    )
    yield write_gauge(metrics.PLACES, places)
    yield from _write_gauges(
        {(shard,): depth for shard, depth in depths.items()},
        memory_bytes=metrics.QUEUE_MEMORY,
        memory_limit_bytes=metrics.QUEUE_MEMORY_LIMIT,
    )
    found = depths.values()
    yield write_gauge(metrics.EVENTS_PENDING, {(): sum(each.events_pending for each in found)})
    yield write_gauge(metrics.EVENTS_DEAD, {(): sum(each.events_dead for each in found)})
    yield write_gauge(metrics.LEDGER_LAG, {(): max(each.ledger_lag_seconds for each in found)})


def _holdings(statistics: StoreStatistics) -> Iterator[Metric]:
    used = {(use.account_id, use.allowance): use for use in statistics.accounts}
    capped: dict[tuple[str, ...], float] = {
        key: use.cap for key, use in used.items() if use.cap is not None
    }
    yield from _write_gauges(
        used,
        pages=metrics.ACCOUNT_PAGES,
        calls=metrics.ACCOUNT_RENDERS,
        cpu_seconds=metrics.ACCOUNT_CPU,
    )
    yield write_gauge(metrics.ACCOUNT_CAP, capped)
    yield from _write_gauges(
        {(shard,): backlog for shard, backlog in statistics.backlogs.items()},
        batches=metrics.BATCHES_UNFINISHED,
        documents=metrics.DOCUMENTS_LEFT,
        age_seconds=metrics.OLDEST_BATCH_SECONDS,
    )
    yield write_gauge(metrics.IMAGE_BYTES, {(): statistics.image_bytes})
    yield write_gauge(metrics.FULL_WORKSPACES, {(): statistics.nearly_full_workspaces})


def _write_gauges(read: Mapping[Any, Any], **gauges: Spec) -> Iterator[Metric]:
    """Yield gauges of fields of what was read, by its labels."""
    for field, spec in gauges.items():
        yield write_gauge(spec, {labels: getattr(each, field) for labels, each in read.items()})


# A batch of a hundred thousand documents is seen by autoscaling within 5 s of its 202.
COLLECT_EVERY_SECONDS: Final = 4.0

log: Final = get_logger(__name__)


class StatisticsCollector:
    """Collects `StoreStatistics` every few seconds; `database` must not be the counter's."""

    def __init__(
        self, database: Database, blobs: BlobStore, *, accounts: int, shards: Sequence[str]
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._accounts = accounts
        self._shards = shards
        self._latest = StoreStatistics()
        self._stop = Event()

    @property
    def latest(self) -> StoreStatistics:
        """The latest statistics; empty before the first collection."""
        return self._latest

    def start(self) -> None:
        """Collect periodically in a daemon thread."""
        Thread(target=self._run, name="statistics", daemon=True).start()

    def collect(self) -> None:
        """Collect once. In an outage of a store its last values are kept."""
        parts = {
            "database": _answers(self._database.check),
            "object_store": _answers(self._blobs.check),
        }
        self._latest = replace(self._latest, parts=parts)
        if not parts["database"]:
            return
        with self._database.snapshot() as session:
            self._latest = StoreStatistics(
                parts,
                list_heaviest_accounts(
                    session, today=now().astimezone(UTC).date(), limit=self._accounts
                ),
                sum_image_bytes(session),
                count_nearly_full(session),
                add_up_backlog(measure_backlog(session), self._shards),
            )

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self.collect()
            except Exception as error:  # noqa: BLE001 - a failed collection must not end the counter
                log.warning("statistics not collected", cause=repr(error))
            self._stop.wait(COLLECT_EVERY_SECONDS)


def add_up_backlog(per_slot: Mapping[str, Backlog], shards: Sequence[str]) -> dict[str, Backlog]:
    """Add up the backlog by shard; a shard without backlog has zeros."""
    found = dict.fromkeys(shards, Backlog())
    for slot, backlog in per_slot.items():
        found[find_shard(slot, shards)] += backlog
    return found


def _answers(check: Callable[[], None]) -> bool:
    try:
        check()
    except Unavailable:
        return False
    return True


def main() -> None:
    """Run until SIGTERM; exit with status 1 and one line on stderr if it cannot start."""
    # One loop for each shard, so that an outage of one does not block the others.
    counters = start("counter", get_settings, make_counters)
    stop_on_signals(*(counter.stop for counter in counters))
    run_threads([counter.run for counter in counters])


def make_counters(settings: Settings) -> Sequence[UsageCounter]:
    """Return a counter for each shard, and start the clock, the statistics and the probe."""
    assert_shards(settings.shards)
    statistics = _make_statistics(settings)
    clock = FarmClock.of_shards(settings.shards, kind="counter")
    clock.start()
    counted = ProcessMetrics(
        Exporter.COUNTER,
        {
            metrics.BLOB_QUOTA: lambda: settings.blob_quota_gb * GB,
            metrics.CLOCK_AHEAD: clock.read_skews,
        },
        labels={metrics.EVENTS_COUNTED: ("new", "repeated")},
    )
    if settings.counter_metrics_port:
        counted.registry.register(_make_collector(settings, statistics))
        statistics.start()
        start_probe(
            settings.counter_metrics_port, counted.exposition, address=settings.metrics_address
        )
    return [_counter(settings, shard, counted) for shard in settings.shards]


def _counter(settings: Settings, shard: ShardAddress, observer: Observer) -> UsageCounter:
    return UsageCounter(
        UsageStream(connect(shard.url), reader=f"{socket.gethostname()}-{os.getpid()}"),
        open_database(
            settings.database_url, connections=settings.database_connections, observer=observer
        ),
        observer,
    )


def _make_statistics(settings: Settings) -> StatisticsCollector:
    return StatisticsCollector(
        open_database(settings.database_url, connections=settings.database_connections),
        open_store(settings.blob_url),
        accounts=settings.account_metrics,
        shards=[shard.name for shard in settings.shards],
    )


def _make_collector(settings: Settings, statistics: StatisticsCollector) -> FarmCollector:
    readers = {
        shard.name: QueueReader(connect(shard.url), open_queues(settings.broker_of(shard)))
        for shard in settings.shards
    }
    return FarmCollector(readers, read_statistics=lambda: statistics.latest)


if __name__ == "__main__":
    main()
