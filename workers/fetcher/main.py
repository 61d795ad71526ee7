"""The fetcher, an internal HTTP server: `python -m workers.fetcher.main` starts one."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from threading import Event
from typing import Final

from shared.internal_http import BadRequestError, InternalHandler, InternalServer
from shared.limits import KB, MB
from shared.outbound import FetchRequest, Outbound, TargetRefusedError
from shared.outbound.fetcher import (
    CHECK_PATH,
    FETCH_PATH,
    LOG_FIELDS,
    REFUSALS,
    STATUS_HEADER,
    CheckRequest,
)
from shared.settings import FetcherSettings, read_settings
from shared.slots import Slots
from shared.startup import start, stop_on_signals
from shared.telemetry import metrics
from shared.telemetry.log import log_context
from shared.telemetry.metrics import Exporter
from shared.telemetry.probe import start_probe
from shared.telemetry.process import ProcessMetrics
from workers.fetcher.fetching import MAX_REQUESTS, CacheResult, FetchOutcome, FetchService
from workers.fetcher.response_cache import ResponseCache

_MAX_REQUESTS: Final = 512
_MAX_REQUEST_BYTES: Final = 256 * KB  # an address of 8,192 characters, each escaped
_REQUESTS: Final[Mapping[str, type[CheckRequest | FetchRequest]]] = {
    FETCH_PATH: FetchRequest,
    CHECK_PATH: CheckRequest,
}


class FetcherServer(InternalServer):
    """A fetcher: serves requests in threads, up to a limit."""

    def __init__(self, settings: FetcherSettings) -> None:
        """Listen without serving requests yet.

        Raises:
            OSError: the address of `fetcher_bind` cannot be listened on.
        """
        host, _, port = settings.fetcher_bind.rpartition(":")
        super().__init__(
            (host, int(port)), _Handler, failure="fetch request failed", max_requests=_MAX_REQUESTS
        )
        slots = Slots(at_once=MAX_REQUESTS)
        self.cache: Final = ResponseCache(max_bytes=settings.fetcher_cache_mb * MB)
        self.metrics: Final = ProcessMetrics(
            Exporter.FETCHER,
            {
                metrics.FETCHES_IN_PROGRESS: slots.count_under_way,
                metrics.FETCHES_WAITING: slots.count_waiting,
                metrics.FETCHER_CACHE_BYTES: lambda: self.cache.size,
            },
            labels={metrics.FETCHES: FetchOutcome, metrics.FETCHER_CACHE_REQUESTS: CacheResult},
        )
        self.outbound: Final = Outbound(allow_private=settings.outbound_allow_private)
        self.fetching: Final = FetchService(
            self.outbound, slots=slots, cache=self.cache, observer=self.metrics
        )


class _Handler(InternalHandler):
    refusals = REFUSALS
    server: FetcherServer

    def answer(self) -> None:
        """Fetch or check a URL."""
        kind = _REQUESTS.get(self.path)
        if kind is None:
            raise BadRequestError("No such path.", HTTPStatus.NOT_FOUND)
        size = self.read_size("application/json", most=_MAX_REQUEST_BYTES)
        try:
            request = kind.decode(self.rfile.read(size))
        except ValueError as error:
            raise BadRequestError(f"Invalid body: {error}.") from error
        with log_context(**{name: request.log[name] for name in LOG_FIELDS if name in request.log}):
            try:
                self._dispatch(request)
            except TargetRefusedError as error:
                self.refuse(REFUSALS[type(error)], str(error), reason=error.reason.value)

    def _dispatch(self, request: CheckRequest | FetchRequest) -> None:
        if isinstance(request, CheckRequest):
            self.server.outbound.check(request.url)
            self.send_head(HTTPStatus.NO_CONTENT, 0, {})
            return
        response = self.server.fetching.find(request)
        self.send_head(HTTPStatus.OK, response.size, {STATUS_HEADER: str(response.status)})
        if response.body is not None:
            for chunk in response.body.read_chunks():
                self.wfile.write(chunk)


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
        fetcher.cache.evict_stale()
    fetcher.stop(patience_seconds=_STOP_SECONDS)


def _make(settings: FetcherSettings) -> FetcherServer:
    fetcher = FetcherServer(settings)
    start_probe(
        settings.fetcher_metrics_port, fetcher.metrics.exposition, address=settings.metrics_address
    )
    return fetcher


if __name__ == "__main__":
    main()
