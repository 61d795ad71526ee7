"""The usage counter: `python -m workers.counter.main` starts it."""

from __future__ import annotations

import os
import signal
import socket
import sys
from typing import Any

from prometheus_client import CollectorRegistry

from shared.blobs.store import open_store
from shared.db.session import open_database
from shared.errors import Unavailable
from shared.limits import GB
from shared.queue.connection import UnfitRedisError, assert_durable, connect
from shared.queue.depth import QueueReader
from shared.queue.usage import UsageStream
from shared.settings import Settings, WrongSetting, get_settings
from shared.telemetry.farm import FarmCollector, farm_registry
from shared.telemetry.log import set_up_logging
from shared.telemetry.probe import start_probe
from shared.telemetry.totals import Tally
from workers.counter.census import CensusTaker
from workers.counter.stream import Counter


def main() -> None:
    """Count until told to stop; exit 1 with one line when it must not start."""
    try:
        settings = get_settings()
        set_up_logging(level=settings.log_level, log_format=settings.log_format)
        redis = connect(settings.redis_url)
        assert_durable(redis)
        census = _census(settings)
    except (WrongSetting, UnfitRedisError, Unavailable, ValueError) as error:
        sys.exit(f"pressroom counter: {error}")
    if settings.counter_metrics_port:
        census.start()
        start_probe(
            settings.counter_metrics_port,
            _registry(settings, QueueReader(redis), census),
            address=settings.metrics_address,
        )
    stream = UsageStream(redis, reader=f"{socket.gethostname()}-{os.getpid()}")
    tally = Tally()
    counter = Counter(stream, open_database(settings.database_url, watch=tally), tally)
    _stop_on_signals(counter)
    counter.run()


def _census(settings: Settings) -> CensusTaker:
    return CensusTaker(
        open_database(settings.database_url),
        open_store(settings.blob_url),
        accounts=settings.account_metrics,
    )


def _registry(settings: Settings, reader: QueueReader, census: CensusTaker) -> CollectorRegistry:
    collector = FarmCollector(
        read_totals=reader.read_totals,
        read_depth=reader.read_depth,
        read_census=lambda: census.latest,
    )
    return farm_registry(collector, blob_quota_bytes=settings.blob_quota_gb * GB)


def _stop_on_signals(counter: Counter) -> None:
    def stop(_signal: int, _frame: Any) -> None:
        counter.stop()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)


if __name__ == "__main__":
    main()
