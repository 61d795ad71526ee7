"""The fetcher: `python -m workers.fetcher.main` starts one."""

from __future__ import annotations

from threading import Event
from typing import Final

from shared.limits import MB
from shared.outbound import Outbound
from shared.settings import FetcherSettings, get_fetcher_settings
from shared.startup import start, stop_on_signals
from shared.telemetry import metrics
from shared.telemetry.metrics import Exporter
from shared.telemetry.probe import start_probe
from shared.telemetry.process import ProcessMetrics
from workers.fetcher.fetching import CacheResult, FetchOutcome, FetchService
from workers.fetcher.response_cache import ResponseCache
from workers.fetcher.server import FetcherServer, Parts
from workers.fetcher.slots import Slots

_EVICT_SECONDS: Final = 30.0
# Longer than a fetch request may take, including its wait.
_STOP_SECONDS: Final = 25.0


def main() -> None:
    """Run until SIGTERM; exit with status 1 and one line on stderr if it cannot start."""
    fetcher = start("fetcher", get_fetcher_settings, _make)
    stop = Event()
    stop_on_signals(stop.set)
    fetcher.start()
    while not stop.wait(_EVICT_SECONDS):
        fetcher.evict_unused()
    fetcher.stop(patience_seconds=_STOP_SECONDS)


def _make(settings: FetcherSettings) -> RunningFetcher:
    fetcher = RunningFetcher(settings)
    start_probe(
        settings.fetcher_metrics_port, fetcher.metrics.exposition, address=settings.metrics_address
    )
    return fetcher


class RunningFetcher:
    """A fetcher with its server thread."""

    def __init__(self, settings: FetcherSettings) -> None:
        """Listen without serving requests yet.

        Raises:
            OSError: the address of `fetcher_bind` cannot be listened on.
        """
        slots = Slots()
        self._cache = ResponseCache(max_bytes=settings.fetcher_cache_mb * MB)
        self.metrics: Final = ProcessMetrics(
            Exporter.FETCHER,
            {
                metrics.FETCHES_IN_PROGRESS: slots.count_under_way,
                metrics.FETCHES_WAITING: slots.count_waiting,
                metrics.FETCHER_CACHE_BYTES: lambda: self._cache.size,
            },
            labels={metrics.FETCHES: FetchOutcome, metrics.FETCHER_CACHE_REQUESTS: CacheResult},
        )
        outbound = Outbound(allow_private=settings.outbound_allow_private)
        fetching = FetchService(outbound, slots=slots, cache=self._cache, observer=self.metrics)
        host, _, port = settings.fetcher_bind.rpartition(":")
        self._server = FetcherServer((host, int(port)), Parts(fetching, outbound))

    @property
    def url(self) -> str:
        """The URL that it listens on."""
        return self._server.url

    def start(self) -> None:
        """Serve requests in threads."""
        self._server.start()

    def evict_unused(self) -> None:
        """Evict cache entries that were not used for a while."""
        self._cache.evict_unused()

    def stop(self, *, patience_seconds: float = 0.0) -> None:
        """Stop accepting requests, and finish those in progress within `patience_seconds`."""
        self._server.stop(patience_seconds=patience_seconds)


if __name__ == "__main__":
    main()
