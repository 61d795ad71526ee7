"""The fetcher: `python -m workers.fetcher.main` starts one."""

from __future__ import annotations

from threading import Event
from typing import Final

from shared.settings import FetcherSettings, read_settings
from shared.startup import start, stop_on_signals
from shared.telemetry.probe import start_probe
from workers.fetcher.server import FetcherServer

_EVICT_SECONDS: Final = 30.0
# Longer than a fetch request may take, including its wait.
_STOP_SECONDS: Final = 25.0


def main() -> None:
    """Run until SIGTERM; exit with status 1 and one line on stderr if it cannot start."""
    fetcher = start("fetcher", lambda: read_settings(FetcherSettings), _make)
    stop = Event()
    stop_on_signals(stop.set)
    fetcher.start()
    while not stop.wait(_EVICT_SECONDS):
        fetcher.cache.evict_unused()
    fetcher.stop(patience_seconds=_STOP_SECONDS)


def _make(settings: FetcherSettings) -> FetcherServer:
    fetcher = FetcherServer(settings)
    start_probe(
        settings.fetcher_metrics_port, fetcher.metrics.exposition, address=settings.metrics_address
    )
    return fetcher


if __name__ == "__main__":
    main()
