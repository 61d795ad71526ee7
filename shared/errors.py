"""Errors that a request can end with: status, message and code."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, TypeVar

from msgspec import field

from shared.clock import ticks, timestamp
from shared.records import Record

T = TypeVar("T")


class ErrorCode(StrEnum):
    """Stable values of `data.code`: those of the interface's specification, and those marked as extensions."""

    QUOTA_EXCEEDED = "ERR_QUOTA_EXCEEDED"
    DRAFT_QUOTA_EXCEEDED = "ERR_DRAFT_QUOTA_EXCEEDED"
    CPU_QUOTA_EXCEEDED = "ERR_CPU_QUOTA_EXCEEDED"
    RATE_LIMITED = "ERR_RATE_LIMITED"
    RENDER_TIMEOUT = "ERR_RENDER_TIMEOUT"
    TEMPLATE_NOT_FOUND = "ERR_TEMPLATE_NOT_FOUND"
    TEMPLATE_EMPTY = "ERR_TEMPLATE_EMPTY"
    SLUG_TAKEN = "ERR_SLUG_TAKEN"
    SLUG_INVALID = "ERR_SLUG_INVALID"
    SLUG_NOT_ASSIGNED = "ERR_SLUG_NOT_ASSIGNED"
    WORKSPACE_UNRESOLVED = "ERR_WORKSPACE_UNRESOLVED"
    KEY_REVOKED = "ERR_KEY_REVOKED"
    KEY_EXPIRED = "ERR_KEY_EXPIRED"
    KEY_SCOPE = "ERR_KEY_SCOPE"  # extension
    ACCOUNT_DISABLED = "ERR_ACCOUNT_DISABLED"
    EMAIL_NOT_VERIFIED = "ERR_EMAIL_NOT_VERIFIED"
    PREVIEW_SUPERSEDED = "ERR_PREVIEW_SUPERSEDED"  # extension
    TEMPLATE_IN_USE = "ERR_TEMPLATE_IN_USE"  # extension


class ErrorKind(StrEnum):
    """Category of an error for metrics and logs; never sent to a client."""

    AUTHENTICATION = "authentication"
    REQUEST = "request"
    NOT_FOUND = "not_found"
    QUOTA = "quota"
    RATE = "rate"
    AUTHORING = "authoring"
    TIMEOUT = "timeout"
    RESOURCE = "resource"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"


class ErrorBody(Record, frozen=True):
    """The content of an error response, before the front adds status and timestamp."""

    status: int
    message: str
    kind: ErrorKind
    code: ErrorCode | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    stack_trace: tuple[Mapping[str, Any], ...] = ()


_KINDS: Final = {
    401: ErrorKind.AUTHENTICATION,
    402: ErrorKind.QUOTA,
    403: ErrorKind.AUTHENTICATION,
    404: ErrorKind.NOT_FOUND,
    410: ErrorKind.NOT_FOUND,
    429: ErrorKind.RATE,
    500: ErrorKind.INTERNAL,
    503: ErrorKind.UNAVAILABLE,
    504: ErrorKind.TIMEOUT,
}


class ServiceError(Exception):
    """An error that ends a request; `api/app.py` turns it into a response.

    `message` is sent to the client: it names the field, what was sent and what is accepted. The default `kind`
    is that of the status.
    `headers` are added to the response (`Retry-After`, `Allow`, `WWW-Authenticate`).
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: ErrorKind | None = None,
        code: ErrorCode | None = None,
        data: Mapping[str, Any] | None = None,
        stack_trace: tuple[Mapping[str, Any], ...] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        kind = kind or _KINDS.get(status, ErrorKind.REQUEST)
        self.body: Final = ErrorBody(status, message, kind, code, data or {}, stack_trace)
        self.headers: Final[Mapping[str, str]] = headers or {}


class Unavailable(ServiceError):
    """A service the request depends on is down: 503 with `Retry-After`."""

    def __init__(
        self, part: str, *, message: str | None = None, retry_after_seconds: int = 2
    ) -> None:
        super().__init__(
            503,
            message or f"The {part} is not available at the moment; try again shortly.",
            headers={"Retry-After": str(retry_after_seconds)},
        )
        self.part: Final = part


class MisconfiguredPartError(Exception):
    """A server is misconfigured and must not be used; the message names what to change."""


class StorageFull(Unavailable):
    """A service the request depends on has no storage space left: 503 with `Retry-After`."""

    def __init__(self, part: str) -> None:
        message = f"The {part} has no storage space left at the moment; try again later."
        super().__init__(part, message=message, retry_after_seconds=10)


def retry_while_unavailable(
    attempt: Callable[[], T],
    *,
    seconds: float,
    pause_seconds: float,
    report: Callable[[Unavailable], object] = lambda _: None,
) -> T:
    """Call `attempt` until it does not raise `Unavailable`, and return its result.

    `report` is called with each outage before the next try.

    Raises:
        Unavailable: the outage lasted longer than `seconds`.
    """
    give_up_at = ticks() + seconds
    while True:
        try:
            return attempt()
        except Unavailable as error:
            if ticks() >= give_up_at:
                raise
            report(error)
        time.sleep(pause_seconds)


@contextmanager
def full_disk_as_unavailable(part: str) -> Iterator[None]:
    """Raise `StorageFull` where the block fails for lack of disk space.

    Raises:
        StorageFull: a disk that the block writes to is full.
    """
    try:
        yield
    except OSError as error:
        if is_disk_full(error):
            raise StorageFull(part) from error
        raise


def is_disk_full(error: BaseException) -> bool:
    """Return whether an operation failed because a disk is full or its quota is exceeded."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def write_error_body(error: ErrorBody, *, at: datetime) -> dict[str, Any]:
    """Return the JSON error body of an error that occurred at `at`."""
    body: dict[str, Any] = {
        "statusCode": error.status,
        "message": error.message,
        "timestamp": timestamp(at),
    }
    if error.stack_trace:
        body["stackTrace"] = list(error.stack_trace)
    data = dict(error.data)
    if error.code is not None:
        data = {"code": error.code.value, **data}
    if data:
        body["data"] = data
    return body
