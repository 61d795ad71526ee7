"""The exceptions of the client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class PressroomError(Exception):
    """Base class of the client's errors."""


class FarmUnreachable(PressroomError):
    """Every attempt ended without a complete response."""


class ApiError(PressroomError):
    """An error response of the farm (interface.md, Errors).

    Branch on `code`, which is stable; `message` is for people. `stack_trace` lists the elements of an
    authoring error, innermost first.
    """

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        data = body.get("data") or {}
        self.status = status
        self.message = str(body.get("message") or f"HTTP status {status}")
        self.code: str | None = data.get("code")
        self.data: Mapping[str, Any] = data
        self.stack_trace: Sequence[Mapping[str, Any]] = body.get("stackTrace") or ()
        super().__init__(f"{self.message} ({self.code or status})")
