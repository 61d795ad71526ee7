"""The usage counter: `python -m workers.counter.main` starts it."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence

from shared.blobs.factory import open_store
from shared.db.session import open_database
from shared.limits import GB
from shared.queue.clocks import FarmClock
from shared.queue.connection import connect
from shared.queue.depth import QueueReader
from shared.queue.queue_factory import open_queues
from shared.queue.shard_layout import assert_shards
from shared.queue.usage import UsageStream
from shared.settings import Settings, get_settings
from shared.shards import ShardAddress
from shared.startup import run_threads, start, stop_on_signals
from shared.telemetry import metrics
from shared.telemetry.farm import FarmCollector
from shared.telemetry.metrics import Exporter
from shared.telemetry.observer import Observer
from shared.telemetry.probe import start_probe
from shared.telemetry.process import ProcessMetrics
from workers.counter.statistics import StatisticsCollector
from workers.counter.stream import UsageCounter


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
