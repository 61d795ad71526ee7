"""Fetching for an account: from the cache, by joining a fetch in progress, or by an outbound request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from http import HTTPStatus
from threading import Event, Lock
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from shared.clock import ticks
from shared.limits import MAX_IMAGE_BYTES
from shared.outbound import (
    CachingInfo,
    FetchRequest,
    NotCachedError,
    Outbound,
    TargetRefusedError,
    TargetTooLargeError,
    TargetUnreachableError,
)
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
    freshen,
    open_spool,
    read_conditions,
    read_lifetime,
)
from workers.fetcher.slots import NoSlotError, Slots


class CacheResult(StrEnum):
    """The cache result of a fetch request; `passed` requests bypass the cache."""

    HIT = "hit"
    REVALIDATED = "revalidated"
    MISS = "miss"
    BYPASSED = "passed"


class FetchOutcome(StrEnum):
    """The outcome of an outbound request; `answered` is a status without a body, such as 304 or 404."""

    FETCHED = "fetched"
    ANSWERED = "answered"
    UNREACHABLE = "unreachable"
    TOO_LARGE = "too_large"
    REFUSED = "refused"
    BUSY = "busy"
    FAILED = "failed"


_NO_CONDITIONS: Final[Mapping[str, str]] = MappingProxyType({})
_RAISED: Final = {
    NoSlotError: FetchOutcome.BUSY,
    TargetRefusedError: FetchOutcome.REFUSED,
    TargetTooLargeError: FetchOutcome.TOO_LARGE,
}

log: Final = get_logger(__name__)


@dataclass(eq=False, slots=True)
class _FetchInProgress:
    """A fetch that several requests wait for; `entry` is None if its result cannot be shared."""

    done: Event = field(default_factory=Event)
    entry: CacheEntry | None = None
    error: Exception | None = None


class FetchService:
    """Fetches URLs for accounts; thread-safe."""

    def __init__(
        self, outbound: Outbound, *, slots: Slots, cache: ResponseCache, observer: Observer
    ) -> None:
        self._outbound = outbound
        self._slots = slots
        self._cache = cache
        self._observer = observer
        self._lock = Lock()
        self._in_progress: dict[CacheKey, _FetchInProgress] = {}

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
        return self._send(request, _NO_CONDITIONS)[0]

    def _find_cached(self, request: FetchRequest) -> FetchedResponse:
        key = CacheKey(request.account, request.url)
        entry = self._cache.find(key)
        if entry is not None and entry.is_fresh:
            self._observer.count(metrics.FETCHER_CACHE_REQUESTS, CacheResult.HIT)
            return entry.response
        if request.is_cache_only:
            raise NotCachedError
        fetch, is_first = self._join(key)
        if is_first:
            return self._fetch_shared(key, request, entry, fetch)
        fetch.done.wait(request.patience_seconds + request.deadline_seconds)
        if fetch.error is not None:
            raise fetch.error
        if fetch.entry is not None:
            self._observer.count(metrics.FETCHER_CACHE_REQUESTS, CacheResult.HIT)
            return fetch.entry.response
        # The response must not be shared, or did not arrive in time.
        return self._fetch_uncached(request)

    def _join(self, key: CacheKey) -> tuple[_FetchInProgress, bool]:
        with self._lock:
            fetch = self._in_progress.get(key)
            if fetch is not None:
                return fetch, False
            self._in_progress[key] = fetch = _FetchInProgress()
            return fetch, True

    def _fetch_shared(
        self,
        key: CacheKey,
        request: FetchRequest,
        entry: CacheEntry | None,
        fetch: _FetchInProgress,
    ) -> FetchedResponse:
        try:
            response, fetch.entry = self._revalidate(key, request, entry)
            return response
        except (TargetRefusedError, TargetTooLargeError, NoSlotError) as error:
            fetch.error = error
            raise
        finally:
            with self._lock:
                del self._in_progress[key]
            fetch.done.set()

    def _revalidate(
        self, key: CacheKey, request: FetchRequest, entry: CacheEntry | None
    ) -> tuple[FetchedResponse, CacheEntry | None]:
        conditions = _NO_CONDITIONS if entry is None else read_conditions(entry.caching_info)
        response, caching_info = self._send(request, conditions)
        result = CacheResult.MISS
        if (
            response.status == HTTPStatus.NOT_MODIFIED
            and entry is not None
            and len(caching_info) == 1
        ):
            result, response, caching_info = (
                CacheResult.REVALIDATED,
                entry.response,
                (freshen(entry.caching_info[0], caching_info[0]),),
            )
        self._observer.count(metrics.FETCHER_CACHE_REQUESTS, result)
        new_entry = _make_entry(response, caching_info)
        if new_entry is None:
            self._cache.drop(key)
        else:
            self._cache.put(key, new_entry)
        return response, new_entry

    def _send(
        self, request: FetchRequest, conditions: Mapping[str, str]
    ) -> tuple[FetchedResponse, tuple[CachingInfo, ...]]:
        """Send one outbound request. An unreachable server is a result; a refused URL raises."""
        host = _host_of(request.url)
        begun, outcome = ticks(), FetchOutcome.FAILED
        try:
            with self._slots.acquire(
                request.account, host, patience_seconds=request.patience_seconds
            ):
                begun = ticks()
                response, caching_info = self._download(request, conditions)
            outcome = _outcome_of(response)
        except (NoSlotError, TargetRefusedError, TargetTooLargeError) as error:
            outcome = _RAISED[type(error)]
            raise
        finally:
            seconds = ticks() - begun
            self._observer.count(metrics.FETCHES, outcome)
            if outcome not in (FetchOutcome.BUSY, FetchOutcome.REFUSED):
                self._observer.observe(metrics.FETCH_SECONDS, seconds)
            log.info(
                "fetch ended", host=host, outcome=outcome.value, milliseconds=round(seconds * 1000)
            )
        return response, caching_info

    def _download(
        self, request: FetchRequest, conditions: Mapping[str, str]
    ) -> tuple[FetchedResponse, tuple[CachingInfo, ...]]:
        with open_spool() as file:
            try:
                answer = self._outbound.download(
                    request.url,
                    file,
                    limit_bytes=MAX_IMAGE_BYTES,
                    deadline_seconds=request.deadline_seconds,
                    conditions=conditions,
                )
            except TargetTooLargeError:
                raise
            except TargetUnreachableError as error:
                return FetchedResponse(0, failure=error), ()
            body = SharedBody(file, answer.size) if 200 <= answer.status < 300 else None
        return FetchedResponse(answer.status, body), answer.caching_info


def _make_entry(
    response: FetchedResponse, caching_info: tuple[CachingInfo, ...]
) -> CacheEntry | None:
    lifetime = FAILURE_SECONDS if response.body is None else read_lifetime(caching_info)
    return None if lifetime is None else CacheEntry(response, ticks() + lifetime, caching_info)


def _outcome_of(response: FetchedResponse) -> FetchOutcome:
    if response.failure is not None:
        return FetchOutcome.UNREACHABLE
    return FetchOutcome.ANSWERED if response.body is None else FetchOutcome.FETCHED


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""  # the outbound client reports the malformed URL
