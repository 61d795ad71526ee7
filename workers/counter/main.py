"""The usage counter: `python -m workers.counter.main` starts it."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence

from prometheus_client import CollectorRegistry

from shared.blobs.store import open_store
from shared.db.session import open_database
from shared.limits import GB
from shared.queue.clocks import FarmClock
from shared.queue.connection import connect
from shared.queue.depth import QueueReader
from shared.queue.layout import assert_shards
from shared.queue.usage import UsageStream
from shared.settings import Settings, get_settings
from shared.shards import ShardAddress, run_all
from shared.startup import start, stop_on_signals
from shared.telemetry.farm import FarmCollector, farm_registry
from shared.telemetry.probe import start_probe
from shared.telemetry.totals import Tally
from workers.counter.census import CensusTaker
from workers.counter.stream import Counter


def main() -> None:
    """Count until told to stop; exit 1 with one line when it must not start."""
    # Each has a loop of its own: one that waits for its server holds up no other.
    counters = start("counter", get_settings, _make)
    stop_on_signals(*(counter.stop for counter in counters))
    run_all([counter.run for counter in counters])


def _make(settings: Settings) -> Sequence[Counter]:
    assert_shards(settings.shards)
    census = _census(settings)
    clock = FarmClock.of_shards(settings.shards, kind="counter")
    clock.start()
    if settings.counter_metrics_port:
        census.start()
        start_probe(
            settings.counter_metrics_port,
            _registry(settings, census, clock),
            address=settings.metrics_address,
        )
    return [_counter(settings, shard) for shard in settings.shards]


def _counter(settings: Settings, shard: ShardAddress) -> Counter:
    stream = UsageStream(connect(shard.url), reader=f"{socket.gethostname()}-{os.getpid()}")
    tally = Tally()
    return Counter(
        stream,
        open_database(
            settings.database_url, connections=settings.database_connections, watch=tally
        ),
        tally,
    )


def _census(settings: Settings) -> CensusTaker:
    return CensusTaker(
        open_database(settings.database_url, connections=settings.database_connections),
        open_store(settings.blob_url),
        accounts=settings.account_metrics,
        shards=[shard.name for shard in settings.shards],
    )


def _registry(settings: Settings, census: CensusTaker, clock: FarmClock) -> CollectorRegistry:
    readers = {shard.name: QueueReader(connect(shard.url)) for shard in settings.shards}
    collector = FarmCollector(readers, read_census=lambda: census.latest)
    return farm_registry(
        collector, blob_quota_bytes=settings.blob_quota_gb * GB, read_skews=lambda: clock.skews
    )


if __name__ == "__main__":
    main()
