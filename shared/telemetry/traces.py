"""Distributed tracing of requests over all processes, by OpenTelemetry if enabled."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Final, TypeAlias

SpanAttribute: TypeAlias = str | int | float | bool
_NOTHING: Final[AbstractContextManager[None]] = nullcontext()


class Traces:
    """Records spans; a span started within another is its child. This one is switched off: it records none.

    Attributes are identifiers and numbers, as in the log: never a key, a body or text of a document.
    """

    is_on = False

    def span(
        self,
        name: str,
        *,
        parent: str | None = None,
        is_request: bool = False,
        **attributes: SpanAttribute,
    ) -> AbstractContextManager[None]:
        """Trace the body as a span, of an external request if `is_request`.

        `parent` is the `traceparent` of a span in another process.
        """
        return _NOTHING

    def record_span(
        self, name: str, *, begin: float, end: float, **attributes: SpanAttribute
    ) -> None:
        """Record a finished child of the current span; the times are seconds since 1970."""

    def set_attributes(self, **attributes: SpanAttribute) -> None:
        """Set attributes of the current span."""

    def traceparent(self) -> str | None:
        """Return the current span in the form of the W3C header, None without one."""
        return None

    def close(self) -> None:
        """Export the remaining spans before the process exits, within a few seconds."""


NULL_TRACER: Final = Traces()
