"""The fetcher: `python -m workers.fetcher.main` starts one."""

from __future__ import annotations

from threading import Event, Thread
from typing import Final

from shared.limits import MB
from shared.outbound import Outbound
from shared.settings import FetcherSettings, get_fetcher_settings
from shared.startup import start, stop_on_signals
from shared.telemetry.fetcher import FetcherMetrics
from shared.telemetry.probe import start_probe
from workers.fetcher.fetching import Fetching
from workers.fetcher.server import FetcherServer, Parts
from workers.fetcher.shelf import Shelf
from workers.fetcher.turns import Turns

_POLL_SECONDS: Final = 0.1  # until a stop is heard
_CLEAR_EVERY_SECONDS: Final = 30.0
# Longer than what is asked for may take, turn and fetch.
_STOP_SECONDS: Final = 25.0


def main() -> None:
    """Fetch until told to stop; exit 1 with one line when it must not start."""
    fetcher = start("fetcher", get_fetcher_settings, _make)
    stop = Event()
    stop_on_signals(stop.set)
    fetcher.start()
    while not stop.wait(_CLEAR_EVERY_SECONDS):
        fetcher.clear_old()
    fetcher.stop(patience_seconds=_STOP_SECONDS)


def _make(settings: FetcherSettings) -> RunningFetcher:
    fetcher = RunningFetcher(settings)
    start_probe(
        settings.fetcher_metrics_port, fetcher.metrics.registry, address=settings.metrics_address
    )
    return fetcher


class RunningFetcher:
    """The parts of one fetcher, and the thread that takes asks."""

    def __init__(self, settings: FetcherSettings) -> None:
        """Listen, but answer nobody yet.

        Raises:
            OSError: the address of `fetcher_bind` cannot be listened on.
        """
        turns = Turns()
        self._shelf = Shelf(max_bytes=settings.fetcher_cache_mb * MB)
        self.metrics: Final = FetcherMetrics(
            count_under_way=turns.count_under_way,
            count_waiting=turns.count_waiting,
            measure_kept=lambda: self._shelf.size,
        )
        outbound = Outbound(allow_private=settings.outbound_allow_private)
        fetching = Fetching(outbound, turns=turns, shelf=self._shelf, watch=self.metrics)
        host, _, port = settings.fetcher_bind.rpartition(":")
        self._server = FetcherServer((host, int(port)), Parts(fetching, outbound))
        self._thread = Thread(
            target=self._server.serve_forever, args=(_POLL_SECONDS,), name="asks", daemon=True
        )

    @property
    def url(self) -> str:
        """Give where it is asked."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def start(self) -> None:
        """Answer asks, in threads of its own."""
        self._thread.start()

    def clear_old(self) -> None:
        """Let go of what nobody has asked for in a while."""
        self._shelf.clear_old()

    def stop(self, *, patience_seconds: float = 0.0) -> None:
        """Take no more asks, and finish those there are within the time given."""
        self._server.shutdown()
        self._server.server_close()
        self._server.finish(patience_seconds)


if __name__ == "__main__":
    main()
