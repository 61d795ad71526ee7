"""Client of the fetcher, the only process that downloads URLs of documents and uploads."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from typing import Annotated, BinaryIO, Final

from msgspec import Meta, field

from shared.errors import Unavailable
from shared.internal_http import BUSY, InternalClient, read_refusal
from shared.limits import MAX_IMAGE_BYTES
from shared.outbound.client import parse_and_log
from shared.outbound.targets import (
    NotCachedError,
    Reason,
    TargetRefusedError,
    TargetTooLargeError,
    TargetUnreachableError,
)
from shared.records import Record
from shared.slots import NoSlotError
from shared.telemetry.log import get_log_fields

FETCH_PATH: Final = "/fetch"
CHECK_PATH: Final = "/check"
STATUS_HEADER: Final = "X-Target-Status"
# Log fields of the caller that the fetcher's log lines repeat.
LOG_FIELDS: Final = ("request", "job", "account")
# On top of the fetcher's own time limits: overhead, and transferring 50 MB.
_MARGIN_SECONDS: Final = 5.0
_CHECK_SECONDS: Final = 8.0
_CHUNK_BYTES: Final = 256 * 1024


# Why the fetcher returns no body: what it raises, and its client raises again.
REFUSALS: Final[Mapping[type[Exception], str]] = {
    TargetRefusedError: "refused",
    TargetTooLargeError: "too_large",
    TargetUnreachableError: "unreachable",
    NoSlotError: BUSY,
    NotCachedError: "not_kept",
}


class FetcherBusy(Unavailable):
    """The fetcher is at its limit of concurrent fetches, in total or for this account."""

    def __init__(self) -> None:
        super().__init__("fetcher", retry_after_seconds=5)


_Seconds = Annotated[float, Meta(ge=0, le=60)]


class CheckRequest(Record, frozen=True):
    """A request to check a URL; `log` are fields of the caller's log."""

    url: Annotated[str, Meta(min_length=1)]
    log: Mapping[str, str] = field(default_factory=dict)


class FetchRequest(Record, frozen=True):
    """A fetch request: URL, account, size limit and time limits.

    `deadline_seconds` limits the download, `patience_seconds` the wait for a slot before it. `is_fresh`
    bypasses the fetcher's cache; `is_cache_only` is answered from the cache alone.
    """

    url: Annotated[str, Meta(min_length=1)]
    account: Annotated[str, Meta(min_length=1)]
    limit_bytes: Annotated[int, Meta(ge=0, le=MAX_IMAGE_BYTES)]
    deadline_seconds: _Seconds
    patience_seconds: _Seconds
    is_fresh: bool = False
    is_cache_only: bool = field(default=False, name="is_kept_only")
    log: Mapping[str, str] = field(default_factory=dict)


class Fetcher:
    """Has URLs downloaded or checked by the fetcher. Thread-safe."""

    def __init__(self, url: str) -> None:
        """Read the fetcher's address; see `InternalClient`."""
        self._client: Final = InternalClient("fetcher", url)

    def check(self, url: str) -> None:
        """Check a URL and the current addresses of its host.

        Raises:
            TargetRefusedError: the URL is not permitted.
            Unavailable: the fetcher does not answer.
        """
        parse_and_log(url)
        with self._post(CHECK_PATH, CheckRequest(url), seconds=_CHECK_SECONDS) as answer:
            if answer.status != HTTPStatus.NO_CONTENT:
                raise _read_failure(answer)

    def download(self, request: FetchRequest, file: BinaryIO) -> int:
        """Download a URL into a file and return the status of its server.

        Nothing is written unless that is 2xx.

        Raises:
            TargetRefusedError: the URL, or one redirected to, is not permitted.
            TargetTooLargeError: the body exceeds `limit_bytes`.
            TargetUnreachableError: no complete response in time.
            NotCachedError: the cache has no entry, and nothing else was requested.
            Unavailable: the fetcher does not answer, or has no free slot; a part may have been written.
        """
        # Malformed URLs are refused here, so that a client cannot make the request to the fetcher invalid.
        parse_and_log(request.url)
        seconds = request.deadline_seconds + request.patience_seconds + _MARGIN_SECONDS
        with self._post(FETCH_PATH, request, seconds=seconds) as answer:
            if answer.status != HTTPStatus.OK:
                raise _read_failure(answer)
            status = int(answer.headers.get(STATUS_HEADER, ""))
            _copy(answer, file, limit_bytes=request.limit_bytes)
            return status

    def _post(
        self, path: str, request: CheckRequest | FetchRequest, *, seconds: float
    ) -> AbstractContextManager[HTTPResponse]:
        body = request.replace(log=get_log_fields(LOG_FIELDS)).encode().encode()
        return self._client.post(path, body, "application/json", seconds=seconds)


def _copy(answer: HTTPResponse, file: BinaryIO, *, limit_bytes: int) -> None:
    wanted = int(answer.headers.get("Content-Length", ""))
    if wanted > limit_bytes:
        raise ValueError("the fetcher sends more than the limit")
    while wanted and (chunk := answer.read(min(_CHUNK_BYTES, wanted))):
        wanted -= len(chunk)
        file.write(chunk)
    if wanted:
        raise HTTPException("the fetcher closed the connection")


def _read_failure(answer: HTTPResponse) -> Exception:
    """Return the error that the fetcher reports; raise ValueError if the response is malformed."""
    said = read_refusal(answer)
    kinds = {refusal: kind for kind, refusal in REFUSALS.items()}
    kind = kinds.get(str(said.get("refusal")))
    if kind is None:
        raise ValueError(f"unknown refusal {said.get('refusal')!r}")
    if kind is NoSlotError:
        return FetcherBusy()
    if kind is TargetRefusedError:
        reason = _read_reason(said.get("reason"))
        return TargetRefusedError(reason, "refused by the fetcher, see its log")
    return kind(str(said.get("text")))


def _read_reason(text: object) -> Reason:
    try:
        return Reason(str(text))
    except ValueError:
        return Reason.OTHER
