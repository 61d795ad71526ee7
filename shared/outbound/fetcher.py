"""Asking the fetcher: the process that alone goes out for what documents and uploads name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any, BinaryIO, Final
from urllib.parse import urlsplit

from shared.errors import Unavailable
from shared.outbound.client import parse_noted
from shared.outbound.failures import (
    Reason,
    TargetRefusedError,
    TargetTooLargeError,
    TargetUnreachableError,
)
from shared.telemetry.log import find_log_fields

FETCH_PATH: Final = "/fetch"
CHECK_PATH: Final = "/check"
STATUS_HEADER: Final = "X-Target-Status"
# The same fields in the fetcher's log lines as in those of whoever asks.
LOG_FIELDS: Final = ("request", "job", "account")
_CONNECT_SECONDS: Final = 2.0
# On top of what the fetcher itself may take: its bookkeeping, and sending 50 MB over.
_MARGIN_SECONDS: Final = 5.0
_CHECK_SECONDS: Final = 8.0
_PIECE: Final = 256 * 1024
_AWAY: Final = (OSError, HTTPException, ValueError)


class Refusal(StrEnum):
    """Why the fetcher has no bytes for who asks."""

    REFUSED = "refused"
    TOO_LARGE = "too_large"
    UNREACHABLE = "unreachable"
    BUSY = "busy"


class FetcherBusy(Unavailable):
    """The fetcher has no room at the moment, or none left for this account."""

    def __init__(self) -> None:
        super().__init__("fetcher", retry_after_seconds=5)


@dataclass(frozen=True, slots=True)
class Ask:
    """One fetch: what, for which account, at most how many bytes, and how long it may last.

    `deadline_seconds` is the other server's time, `patience_seconds` that for a turn before it.
    `is_fresh` has the address asked now, whatever the fetcher keeps.
    """

    url: str
    account: str
    limit_bytes: int
    deadline_seconds: float
    patience_seconds: float
    is_fresh: bool = False


class Fetcher:
    """Has addresses fetched and judged. Safe to share between threads; holds no connection.

    `url` is the fetcher's own, from the operator: nothing a client says changes where it leads.
    """

    def __init__(self, url: str) -> None:
        """Read the fetcher's address.

        Raises:
            ValueError: it is not an http address with a host.
        """
        parts = urlsplit(url)
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError("PRESSROOM_FETCHER_URL must be http://host:port")
        self._host: Final = parts.hostname
        self._port: Final = parts.port or 80

    def check(self, url: str) -> None:
        """Have an address judged, and all addresses of its host as they are now.

        Raises:
            TargetRefusedError: it may not be connected to.
            Unavailable: the fetcher is away.
        """
        parse_noted(url)
        with self._post(CHECK_PATH, {"url": url}, seconds=_CHECK_SECONDS) as answer:
            if answer.status != HTTPStatus.NO_CONTENT:
                raise _read_failure(answer)

    def download(self, ask: Ask, file: BinaryIO) -> int:
        """Write what an address names into a file and give the status of its server.

        Nothing is written unless that is 2xx.

        Raises:
            TargetRefusedError: the address, or one redirected to, may not be connected to.
            TargetTooLargeError: there are more bytes than asked for at most.
            TargetUnreachableError: its server gave no whole answer in time.
            Unavailable: the fetcher is away, or has no turn for this; some bytes may be written.
        """
        # What is no address is refused here, so that nothing a client says makes an ask malformed.
        parse_noted(ask.url)
        asked = {
            "url": ask.url,
            "account": ask.account,
            "limit_bytes": ask.limit_bytes,
            "deadline_seconds": ask.deadline_seconds,
            "patience_seconds": ask.patience_seconds,
            "is_fresh": ask.is_fresh,
        }
        seconds = ask.deadline_seconds + ask.patience_seconds + _MARGIN_SECONDS
        with self._post(FETCH_PATH, asked, seconds=seconds) as answer:
            if answer.status != HTTPStatus.OK:
                raise _read_failure(answer)
            status = int(answer.headers.get(STATUS_HEADER, ""))
            _copy(answer, file, limit_bytes=ask.limit_bytes)
            return status

    @contextmanager
    def _post(
        self, path: str, asked: Mapping[str, Any], *, seconds: float
    ) -> Iterator[HTTPResponse]:
        connection = HTTPConnection(self._host, self._port, timeout=_CONNECT_SECONDS)
        body = json.dumps({**asked, "log": find_log_fields(LOG_FIELDS)})
        try:
            connection.connect()
            connection.sock.settimeout(seconds)
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            yield connection.getresponse()
        except _AWAY as error:
            raise Unavailable("fetcher") from error
        finally:
            connection.close()


def _copy(answer: HTTPResponse, file: BinaryIO, *, limit_bytes: int) -> None:
    wanted = int(answer.headers.get("Content-Length", ""))
    if wanted > limit_bytes:
        raise ValueError("the fetcher sends more than was asked for")
    while wanted and (piece := answer.read(min(_PIECE, wanted))):
        wanted -= len(piece)
        file.write(piece)
    if wanted:
        raise HTTPException("the fetcher broke off")


def _read_failure(answer: HTTPResponse) -> Exception:
    """Make the failure that the fetcher tells of; what it cannot be read from is an outage of it."""
    said = json.loads(answer.read(_PIECE))
    if not isinstance(said, dict):
        raise ValueError("no refusal")
    match said.get("refusal"):
        case Refusal.REFUSED:
            return TargetRefusedError(
                _read_reason(said.get("reason")), "the fetcher refuses it, and its log says why"
            )
        case Refusal.TOO_LARGE:
            return TargetTooLargeError(str(said.get("text")))
        case Refusal.UNREACHABLE:
            return TargetUnreachableError(str(said.get("text")))
        case Refusal.BUSY:
            return FetcherBusy()
        case other:
            raise ValueError(f"unknown refusal {other!r}")


def _read_reason(text: object) -> Reason:
    try:
        return Reason(str(text))
    except ValueError:
        return Reason.OTHER
