"""HTTP requests with retries, after 429, 503 and connection errors, and the exceptions of the client."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from http import HTTPStatus
from typing import Any, BinaryIO, ClassVar, Final, Literal, TypeAlias, TypedDict, TypeVar, Unpack
from urllib.parse import quote, urlencode

import urllib3
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from pressroom_client.records import read_record

ErrorKind = Literal[
    "authentication",
    "quota",
    "forbidden",
    "not_found",
    "conflict",
    "too_large",
    "rate_limited",
    "authoring",
    "invalid_request",
    "timeout",
    "unavailable",
    "internal",
]

_KINDS: Final[Mapping[int, ErrorKind]] = {
    401: "authentication",
    402: "quota",
    403: "forbidden",
    404: "not_found",
    408: "timeout",
    409: "conflict",
    410: "not_found",
    412: "conflict",
    413: "too_large",
    414: "too_large",
    429: "rate_limited",
    431: "too_large",
    502: "unavailable",
    503: "unavailable",
    504: "timeout",
}


class PressroomError(Exception):
    """Base class of the client's errors."""


class FarmUnreachable(PressroomError):
    """Every attempt ended without a complete response."""


class ApiError(PressroomError):
    """An error response of the farm.

    Branch on `kind`, which every error has, or on `code`, which tells errors of one kind apart and is
    None for many; `message` is for people. `stack_trace` lists the elements of an authoring error,
    innermost first.
    """

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        data = body.get("data") or {}
        self.status = status
        self.message = str(body.get("message") or f"HTTP status {status}")
        self.code: str | None = data.get("code")
        self.data: Mapping[str, Any] = data
        self.stack_trace: Sequence[Mapping[str, Any]] = body.get("stackTrace") or ()
        self.kind: ErrorKind = _find_kind(status, self.stack_trace)
        super().__init__(f"{self.message} ({self.code or status})")


def _find_kind(status: int, stack_trace: Sequence[Mapping[str, Any]]) -> ErrorKind:
    if stack_trace:
        return "authoring"
    return _KINDS.get(status, "internal" if status >= 500 else "invalid_request")


CONNECT_SECONDS: Final = 10.0
BACKOFF_SECONDS: Final = 0.5
_MAX_BACKOFF_SECONDS: Final = 30.0
_CHUNK_BYTES: Final = 64 * 1024
_PAGE: Final = 1000
_R = TypeVar("_R")
Optional: TypeAlias = Mapping[str, str | None]
_NONE: Final[Optional] = {}


class RequestOptions(TypedDict, total=False):
    """The options of a request besides method and path: a body, or the fields of a JSON object.

    Parameters and headers that are None are left out.
    """

    query: Optional
    headers: Optional
    body: bytes | str | BinaryIO
    fields: Mapping[str, Any]


class _Retry(urllib3.Retry):
    """Waits as long as `Retry-After` says, and up to half as long again: clients do not come back together."""

    # 409: an earlier attempt with the same Idempotency-Key is still in progress.
    RETRY_AFTER_STATUS_CODES = frozenset((409, 429, 503))

    def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
        """Return the seconds to wait for."""
        seconds = super().get_retry_after(response)
        return seconds and seconds * random.uniform(1, 1.5)  # noqa: S311 - nothing secret about it


class Transport:
    """Sends authenticated requests; each is sent at most `attempts` times."""

    def __init__(self, url: str, key: str, *, attempts: int, timeout_seconds: float) -> None:
        self._url = url.rstrip("/")
        self.root: tuple[str, ...] = ()
        self._key = key.strip()  # files of secrets end with a line break
        self._pool = urllib3.PoolManager(
            maxsize=16, timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=timeout_seconds)
        )
        self._retries = _Retry(
            attempts - 1,
            allowed_methods=None,  # all: see `stream`
            status_forcelist=(HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE),
            raise_on_status=False,
            backoff_factor=BACKOFF_SECONDS,
            backoff_max=_MAX_BACKOFF_SECONDS,
            backoff_jitter=BACKOFF_SECONDS,
        )

    def below(self, *path: str) -> Transport:
        """Return a transport of the same connections for the paths below one."""
        other = copy(self)
        other.root = (*self.root, *path)
        return other

    def close(self) -> None:
        """Close idle connections; a later request opens new ones."""
        self._pool.clear()

    def request(
        self, method: str, *path: str, **options: Unpack[RequestOptions]
    ) -> tuple[bytes, Mapping[str, str]]:
        """Return the body and the headers of a successful response.

        `path` are the parts of a path below /v2, or a whole one, such as /healthz.

        Raises:
            ApiError: the farm responded with an error that a retry does not resolve.
            FarmUnreachable: there was no response.
        """
        # Read whole by the attempt: the key of a response that is cut short is known here alone.
        response = self._open(method, path, is_whole=True, **options)
        return response.data, response.headers

    def request_json(self, method: str, *path: str, **options: Unpack[RequestOptions]) -> Any:
        """Return the JSON of a successful response; see `request`."""
        return json.loads(self.request(method, *path, **options)[0])

    def read(
        self, kind: type[_R], method: str, *path: str, **options: Unpack[RequestOptions]
    ) -> _R:
        """Return the record of a successful response, with its ETag; see `request`."""
        body, headers = self.request(method, *path, **options)
        return read_record(kind, json.loads(body), headers)

    def read_page(self, kind: type[_R], *path: str, name: str = "") -> list[_R]:
        """Return the records of a list that has one page, in its field `name`, by default the path's last part."""
        found = self.request_json("GET", *path)[name or (*self.root, *path)[-1]]
        return [read_record(kind, each) for each in found]

    def read_pages(
        self, kind: type[_R], *path: str, query: Optional = _NONE, key: str = ""
    ) -> Iterator[_R]:
        """Yield the records of all pages of a list.

        A page has the cursor of the next one, or says whether there is one, after the `key` of its last record.
        """
        asked = {**query} if key else {"limit": str(_PAGE), **query}
        name = (*self.root, *path)[-1]
        while True:
            page = self.request_json("GET", *path, query=asked)
            yield from (read_record(kind, each) for each in page[name])
            if not (page["has_more"] if key else page.get("next_cursor")):
                return
            asked["start_after"] = str(page[name][-1][key]) if key else page["next_cursor"]

    @contextmanager
    def stream(
        self, method: str, *path: str, **options: Unpack[RequestOptions]
    ) -> Iterator[BaseHTTPResponse]:
        """Open a successful response for reading in chunks; see `request`. A file is sent from its start.

        A string is sent as UTF-8.
        """
        response = self._open(method, path, is_whole=False, **options)
        try:
            yield response
        except (HTTPError, OSError) as error:
            raise FarmUnreachable(f"the response was cut short: {error}") from error
        finally:
            response.release_conn()

    def _open(
        self, method: str, path: Sequence[str], *, is_whole: bool, **options: Unpack[RequestOptions]
    ) -> BaseHTTPResponse:
        query = _omit_none(options.get("query", _NONE))
        url = (
            self._url + _write_path((*self.root, *path)) + (f"?{urlencode(query)}" if query else "")
        )
        sent = {"Authorization": f"Bearer {self._key}", **_omit_none(options.get("headers", _NONE))}
        body = options.get("body")
        if (fields := options.get("fields")) is not None:
            body, sent["Content-Type"] = json.dumps(fields), "application/json"
        # What a lost answer was of may be done and metered (RFC 9110, 9.2.2), such as a reprint.
        is_once = method == "POST" and "Idempotency-Key" not in sent
        retries = self._retries.new(read=0) if is_once else self._retries
        encoded = body.encode() if isinstance(body, str) else body
        if encoded is not None and not isinstance(encoded, bytes):
            encoded.seek(0)
        try:
            response = self._pool.request(
                method,
                url,
                headers=sent,
                body=encoded,
                retries=retries,
                preload_content=is_whole,
                redirect=False,
            )
        except (HTTPError, OSError) as error:
            raise FarmUnreachable(f"{self._url} cannot be reached: {error}") from error
        if response.status >= HTTPStatus.MULTIPLE_CHOICES:
            raise _read_error(response)
        return response


class Resource:
    """The operations on one kind of resource, most of which are below a path of its own."""

    _plural: ClassVar[str]

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._own = transport.below(self._plural)


def _write_path(parts: Sequence[str]) -> str:
    """Return the path of a request, with each part percent-encoded."""
    if parts[0].startswith("/"):
        return parts[0]
    return "/v2/" + "/".join(quote(part, safe="@") for part in parts)


def _omit_none(values: Optional) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


def copy_body(response: BaseHTTPResponse, file: BinaryIO, progress: Callable[[int], object]) -> int:
    """Write a response body to a file and return its size; `progress` gets the bytes so far.

    Raises:
        FarmUnreachable: the body was cut short.
    """
    size = 0
    while chunk := response.read(_CHUNK_BYTES):
        file.write(chunk)
        size += len(chunk)
        progress(size)
    return size


def _read_error(response: BaseHTTPResponse) -> ApiError:
    try:
        body = json.loads(response.data)
    except (ValueError, HTTPError):
        body = {}
    finally:
        response.release_conn()
    if response.status < HTTPStatus.BAD_REQUEST:
        location = response.headers.get("Location")
        body = {"message": f"HTTP status {response.status}, redirected to {location}"}
    return ApiError(response.status, body if isinstance(body, dict) else {})
