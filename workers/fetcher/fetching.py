"""Fetching for an account: from the cache, by joining a fetch in progress, or in a slot: the least served is next."""

from __future__ import annotations

from concurrent.futures import Future
from contextlib import suppress
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from shared.clock import ticks
from shared.limits import MAX_IMAGE_BYTES
from shared.outbound import (
    FetchRequest,
    NotCachedError,
    Outbound,
    TargetRefusedError,
    TargetTooLargeError,
    TargetUnreachableError,
)
from shared.outbound.fetcher import REFUSALS
from shared.slots import NoSlotError, Slots
from shared.telemetry import metrics
from shared.telemetry.log import get_logger
from shared.telemetry.observer import Observer
from workers.fetcher.response_cache import (
    FAILURE_SECONDS,
    CacheEntry,
    CacheKey,
    FetchedResponse,
    ResponseCache,
    SharedBody,
    open_spool,
    read_lifetime,
)

MAX_REQUESTS: Final = 32
MAX_PER_HOST: Final = 8  # a server must not take the farm for an attack
MAX_PER_ACCOUNT: Final = 8
# One account must not occupy all slots of a slow host.
MAX_PER_ACCOUNT_AND_HOST: Final = 4


def find_limits(account: str, host: str) -> dict[tuple[str, ...], int]:
    """Return the limits that a slot of an account at a host counts against."""
    return {
        ("account", account): MAX_PER_ACCOUNT,
        ("host", host): MAX_PER_HOST,
        ("account at host", account, host): MAX_PER_ACCOUNT_AND_HOST,
    }


class CacheResult(StrEnum):
    """The cache result of a fetch request; `passed` requests bypass the cache."""

    HIT = "hit"
    MISS = "miss"
    BYPASSED = "passed"


class FetchOutcome(StrEnum):
    """The outcome of an outbound request; `answered` is a status without a body, such as 404."""

    FETCHED = "fetched"
    ANSWERED = "answered"
    UNREACHABLE = "unreachable"
    TOO_LARGE = "too_large"
    REFUSED = "refused"
    BUSY = "busy"
    FAILED = "failed"


log: Final = get_logger(__name__)


class FetchService:
    """Fetches URLs for accounts; thread-safe."""

    def __init__(
        self, outbound: Outbound, *, slots: Slots, cache: ResponseCache, observer: Observer
    ) -> None:
        self._outbound = outbound
        self._slots = slots
        self._cache = cache
        self._observer = observer
        # The fetches that other requests wait for; a result of None cannot be shared.
        self._in_progress: dict[CacheKey, Future[FetchedResponse | None]] = {}

    def find(self, request: FetchRequest) -> FetchedResponse:
        """Return the response for a URL.

        Raises:
            TargetRefusedError: the URL is not permitted.
            TargetTooLargeError: the body exceeds the limit of the request or of the fetcher.
            TargetUnreachableError: no complete response in time.
            NoSlotError: no slot was free in time.
            NotCachedError: the cache has no usable entry, and the request permits no outbound request.
        """
        response = self._fetch_uncached(request) if request.is_fresh else self._find_cached(request)
        if response.failure is not None:
            raise response.failure
        if response.size > request.limit_bytes:
            raise TargetTooLargeError(f"it has more than {request.limit_bytes:,} bytes")
        return response

    def _fetch_uncached(self, request: FetchRequest) -> FetchedResponse:
        """Fetch without the cache: uploads must store the current content."""
        self._observer.count(metrics.FETCHER_CACHE_REQUESTS, CacheResult.BYPASSED)
        return self._send(request)[0]

    def _find_cached(self, request: FetchRequest) -> FetchedResponse:
        key = CacheKey(request.account, request.url)
        entry = self._cache.find(key)
        if entry is not None:
            self._observer.count(metrics.FETCHER_CACHE_REQUESTS, CacheResult.HIT)
            return entry.response
        if request.is_cache_only:
            raise NotCachedError
        own: Future[FetchedResponse | None] = Future()
        fetch = self._in_progress.setdefault(key, own)
        if fetch is own:
            return self._fetch_shared(key, request, own)
        response = None
        with suppress(TimeoutError):
            response = fetch.result(request.patience_seconds + request.deadline_seconds)
        if response is None:
            return self._fetch_uncached(request)
        self._observer.count(metrics.FETCHER_CACHE_REQUESTS, CacheResult.HIT)
        return response

    def _fetch_shared(
        self, key: CacheKey, request: FetchRequest, fetch: Future[FetchedResponse | None]
    ) -> FetchedResponse:
        shared = None
        try:
            response, lifetime = self._send(request)
            self._observer.count(metrics.FETCHER_CACHE_REQUESTS, CacheResult.MISS)
            if lifetime is not None:
                shared = response
                self._cache.put(key, CacheEntry(response, ticks() + lifetime))
            return response
        except (TargetRefusedError, TargetTooLargeError, NoSlotError) as error:
            fetch.set_exception(error)
            raise
        finally:
            del self._in_progress[key]
            if not fetch.done():
                fetch.set_result(shared)

    def _send(self, request: FetchRequest) -> tuple[FetchedResponse, float | None]:
        """Send one outbound request; return the response, and for how long it may be used again.

        An unreachable server is a result; a refused URL raises.
        """
        host = _host_of(request.url)
        begun, outcome = ticks(), FetchOutcome.FAILED
        try:
            limits = find_limits(request.account, host)
            with self._slots.acquire(
                request.account, limits, patience_seconds=request.patience_seconds
            ):
                begun = ticks()
                response, lifetime = self._download(request)
            outcome = _outcome_of(response)
        except (NoSlotError, TargetRefusedError, TargetTooLargeError) as error:
            outcome = FetchOutcome(REFUSALS[type(error)])
            raise
        finally:
            seconds = ticks() - begun
            self._observer.count(metrics.FETCHES, outcome)
            if outcome not in (FetchOutcome.BUSY, FetchOutcome.REFUSED):
                self._observer.observe(metrics.FETCH_SECONDS, seconds)
            log.info(
                "fetch ended", host=host, outcome=outcome.value, milliseconds=round(seconds * 1000)
            )
        return response, lifetime

    def _download(self, request: FetchRequest) -> tuple[FetchedResponse, float | None]:
        with open_spool() as file:
            try:
                answer = self._outbound.download(
                    request.url,
                    file,
                    limit_bytes=MAX_IMAGE_BYTES,
                    deadline_seconds=request.deadline_seconds,
                )
            except TargetTooLargeError:
                raise
            except TargetUnreachableError as error:
                return FetchedResponse(0, failure=error), FAILURE_SECONDS
            if not 200 <= answer.status < 300:
                return FetchedResponse(answer.status), FAILURE_SECONDS
            body = SharedBody(file, answer.size)
        return FetchedResponse(answer.status, body), read_lifetime(answer.caching_info)


def _outcome_of(response: FetchedResponse) -> FetchOutcome:
    if response.failure is not None:
        return FetchOutcome.UNREACHABLE
    return FetchOutcome.ANSWERED if response.body is None else FetchOutcome.FETCHED


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""  # the outbound client reports the malformed URL
