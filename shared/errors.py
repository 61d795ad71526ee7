"""The one vocabulary of failures about a request: status, message, code (interface.md, Errors)."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TypeVar

from shared.clock import ticks

T = TypeVar("T")


class ErrorCode(StrEnum):
    """Stable identifiers of `data.code`; interface.md lists them all."""

    QUOTA_EXCEEDED = "ERR_QUOTA_EXCEEDED"
    DRAFT_QUOTA_EXCEEDED = "ERR_DRAFT_QUOTA_EXCEEDED"
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
    ACCOUNT_DISABLED = "ERR_ACCOUNT_DISABLED"
    EMAIL_NOT_VERIFIED = "ERR_EMAIL_NOT_VERIFIED"


class ErrorKind(StrEnum):
    """Bounded label of a failure for metrics and logs; never shown to a client."""

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


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """What a failure says to the client, before the front adds status and timestamp."""

    status: int
    message: str
    kind: ErrorKind
    code: ErrorCode | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    stack_trace: tuple[Mapping[str, Any], ...] = ()


class ServiceError(Exception):
    """A failure about the request. Features raise it; `api/problems.py` alone writes it.

    `message` goes to the client: it names the field, what was sent and what is accepted.
    `headers` are added to the answer (`Retry-After`, `Allow`, `WWW-Authenticate`).
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: ErrorKind = ErrorKind.REQUEST,
        code: ErrorCode | None = None,
        data: Mapping[str, Any] | None = None,
        stack_trace: tuple[Mapping[str, Any], ...] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.body: Final = ErrorBody(status, message, kind, code, data or {}, stack_trace)
        self.headers: Final[Mapping[str, str]] = headers or {}


class Unavailable(ServiceError):
    """A part the request needs is down: 503 with `Retry-After` (contract.md 1)."""

    def __init__(
        self, part: str, *, message: str | None = None, retry_after_seconds: int = 2
    ) -> None:
        super().__init__(
            503,
            message or f"The {part} is not available at the moment; try again shortly.",
            kind=ErrorKind.UNAVAILABLE,
            headers={"Retry-After": str(retry_after_seconds)},
        )
        self.part: Final = part


class UnfitPartError(Exception):
    """A part must not be used as it is set up; the text names what to change."""


class NoSpace(Unavailable):
    """A part the request needs has no storage space left; what needs none is still served."""

    def __init__(self, part: str) -> None:
        message = f"The {part} has no storage space left at the moment; try again later."
        super().__init__(part, message=message, retry_after_seconds=10)


def outwait(
    attempt: Callable[[], T],
    *,
    seconds: float,
    pause_seconds: float,
    report: Callable[[Unavailable], object] = lambda _: None,
) -> T:
    """Call `attempt` until the part that it needs is back, and return what it returns.

    `report` is called with each failure that is waited out.

    Raises:
        Unavailable: the part stayed away for so many seconds.
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
def space_needed(part: str) -> Iterator[None]:
    """Turn a full disk into a 503.

    Raises:
        NoSpace: there is no space left on a disk that the block writes to.
    """
    try:
        yield
    except OSError as error:
        if is_full(error):
            raise NoSpace(part) from error
        raise


def is_full(error: BaseException) -> bool:
    """Tell whether an operation failed because a disk, or a quota on it, is full."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
