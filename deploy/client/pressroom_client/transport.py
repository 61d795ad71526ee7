"""One request and its repetitions: what the farm refuses for a while is asked again as it says."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, TypedDict, Unpack
from urllib.parse import quote, urlencode

import urllib3
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from pressroom_client.failures import ApiError, FarmUnreachable

CONNECT_SECONDS: Final = 10.0
_TOO_MANY, _AWAY, _UNDER_WAY = 429, 503, 409
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_PIECE: Final = 64 * 1024
_PAGE: Final = 1000
_NONE: Final[Mapping[str, str]] = {}


class RequestOptions(TypedDict, total=False):
    """What a request carries beside its method and path."""

    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes | BinaryIO


class Transport:
    """Sends requests with the key; a request is repeated up to `attempts` times in all."""

    def __init__(self, url: str, key: str, *, attempts: int, timeout_seconds: float) -> None:
        self._url = url.rstrip("/")
        self._key = key
        self._attempts = attempts
        self._timeout_seconds = timeout_seconds
        self._pool = urllib3.PoolManager(maxsize=16, retries=False)

    def ask(
        self, method: str, path: str, **options: Unpack[RequestOptions]
    ) -> tuple[bytes, Mapping[str, str]]:
        """Give the body and the headers of a success.

        Raises:
            ApiError: the farm answered with a failure that asking again does not mend.
            FarmUnreachable: there was no answer.
        """
        with self.stream(method, path, **options) as answer:
            return answer.read(), answer.headers

    def ask_json(self, method: str, path: str, **options: Unpack[RequestOptions]) -> Any:
        """Return the JSON of a success; see `ask`."""
        return self.exchange(method, path, **options)[0]

    def exchange(
        self, method: str, path: str, **options: Unpack[RequestOptions]
    ) -> tuple[Any, Mapping[str, str]]:
        """Return the JSON and the headers of a success; see `ask`."""
        body, headers = self.ask(method, path, **options)
        return json.loads(body), headers

    def send(
        self,
        method: str,
        path: str,
        fields: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] = _NONE,
    ) -> tuple[Any, Mapping[str, str]]:
        """Send fields as JSON and return the JSON and the headers of a success; see `ask`."""
        if fields is None:
            return self.exchange(method, path, headers=headers)
        sent = {**headers, "Content-Type": "application/json"}
        return self.exchange(method, path, headers=sent, body=json.dumps(fields).encode())

    def send_json(self, method: str, path: str, fields: Mapping[str, Any]) -> Any:
        """Send fields as JSON and return the JSON of a success; see `ask`."""
        return self.send(method, path, fields)[0]

    def pages(self, path: str, query: Mapping[str, str]) -> Iterator[Any]:
        """Yield the pages of a list that has a cursor."""
        asked = {"limit": str(_PAGE), **query}
        while True:
            page = self.ask_json("GET", path, query=asked)
            yield page
            if page.get("next_cursor") is None:
                return
            asked["start_after"] = page["next_cursor"]

    @contextmanager
    def stream(
        self, method: str, path: str, **options: Unpack[RequestOptions]
    ) -> Iterator[BaseHTTPResponse]:
        """Open the answer of a success, to be read in pieces; see `ask`. A file is sent from its start."""
        query = options.get("query")
        url = self._url + path + (f"?{urlencode(query)}" if query else "")
        sent = {"Authorization": f"Bearer {self._key}", **options.get("headers", {})}
        answer = self._repeat(lambda: self._send(method, url, sent, options.get("body")))
        try:
            yield answer
        except (HTTPError, OSError) as error:
            raise FarmUnreachable(f"the answer broke off: {error}") from error
        finally:
            answer.release_conn()

    def _repeat(self, send: Callable[[], BaseHTTPResponse]) -> BaseHTTPResponse:
        for attempt in range(1, self._attempts + 1):
            is_last = attempt == self._attempts
            try:
                answer = send()
            except (HTTPError, OSError) as error:
                if is_last:
                    raise FarmUnreachable(f"{self._url} cannot be reached: {error}") from error
                time.sleep(_pause(attempt, None))
                continue
            if answer.status < 400:
                return answer
            failure = _read_failure(answer)
            told = answer.headers.get("Retry-After")
            # 409 with Retry-After: the same request, sent before, is still under way.
            may_pass = answer.status in (_TOO_MANY, _AWAY) or (answer.status == _UNDER_WAY and told)
            if is_last or not may_pass:
                raise failure
            time.sleep(_pause(attempt, told))
        raise AssertionError("the last attempt ends the loop")

    def _send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | BinaryIO | None
    ) -> BaseHTTPResponse:
        if body is not None and not isinstance(body, bytes):
            body.seek(0)
        return self._pool.request(
            method,
            url,
            headers=dict(headers),
            body=body,
            timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=self._timeout_seconds),
            preload_content=False,
            redirect=False,
        )


def path_of(*parts: str) -> str:
    """Return the path of a resource, each part quoted."""
    return "/v2/" + "/".join(quote(part, safe="@") for part in parts)


def given(values: Mapping[str, str | None]) -> dict[str, str]:
    """Return those values that there are."""
    return {name: value for name, value in values.items() if value is not None}


def copy(answer: BaseHTTPResponse, file: BinaryIO, told: Callable[[int], object]) -> int:
    """Write an answer to a file, telling `told` the bytes so far; gives their number.

    Raises:
        FarmUnreachable: it ended before its end.
    """
    size = 0
    while piece := answer.read(_PIECE):
        file.write(piece)
        size += len(piece)
        told(size)
    return size


def _read_failure(answer: BaseHTTPResponse) -> ApiError:
    try:
        body = json.loads(answer.read())
    except (ValueError, HTTPError):
        body = {}
    finally:
        answer.release_conn()
    return ApiError(answer.status, body if isinstance(body, dict) else {})


def _pause(attempt: int, told: str | None) -> float:
    """Give the seconds to wait: what the farm told, else twice as long each time, both varied."""
    if told is not None and told.isascii() and told.isdigit():
        seconds = float(told)
    else:
        seconds = min(_FIRST_PAUSE * 2 ** (attempt - 1), _LONGEST_PAUSE)
    return seconds + random.uniform(0, seconds / 2 + 0.1)  # noqa: S311 - nothing secret about it
