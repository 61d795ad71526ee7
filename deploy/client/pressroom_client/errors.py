"""The exceptions of the client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

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
