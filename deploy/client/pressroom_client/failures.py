"""How a call ends that gave no answer to work with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class PressroomError(Exception):
    """Any failure of a call."""


class FarmUnreachable(PressroomError):
    """The farm did not answer, or broke off, as often as it was asked."""


class ApiError(PressroomError):
    """The farm refused, or failed: its error body (interface.md, Errors).

    `code` is stable and worth branching on; `message` is for people. `stack_trace` names the
    elements of an authoring error, the innermost first.
    """

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        data = body.get("data") or {}
        self.status = status
        self.message = str(body.get("message") or f"HTTP status {status}")
        self.code: str | None = data.get("code")
        self.data: Mapping[str, Any] = data
        self.stack_trace: Sequence[Mapping[str, Any]] = body.get("stackTrace") or ()
        super().__init__(f"{self.message} ({self.code or status})")
