"""The usage counter: `python -m workers.counter.main` starts it."""

from __future__ import annotations

import os
import signal
import socket
import sys
from typing import Any

from shared.db.session import open_database
from shared.errors import Unavailable
from shared.queue.connection import UnfitRedisError, assert_durable, connect
from shared.queue.depth import QueueReader
from shared.queue.usage import UsageStream
from shared.settings import WrongSetting, get_settings
from shared.telemetry.log import set_up_logging
from shared.telemetry.metrics import FarmCollector, farm_registry
from shared.telemetry.probe import start_probe
from workers.counter.stream import Counter


def main() -> None:
    """Count until told to stop; exit 1 with one line when it must not start."""
    try:
        settings = get_settings()
        set_up_logging(level=settings.log_level, log_format=settings.log_format)
        redis = connect(settings.redis_url)
        assert_durable(redis)
    except (WrongSetting, UnfitRedisError, Unavailable) as error:
        sys.exit(f"pressroom counter: {error}")
    reader = QueueReader(redis)
    collector = FarmCollector(read_totals=reader.read_totals, read_depth=reader.read_depth)
    start_probe(settings.counter_metrics_port, farm_registry(collector))
    stream = UsageStream(redis, reader=f"{socket.gethostname()}-{os.getpid()}")
    counter = Counter(stream, open_database(settings.database_url))
    _stop_on_signals(counter)
    counter.run()


def _stop_on_signals(counter: Counter) -> None:
    def stop(_signal: int, _frame: Any) -> None:
        counter.stop()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)


if __name__ == "__main__":
    main()
