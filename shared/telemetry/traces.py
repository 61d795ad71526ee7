"""Where a request spends its time, over all its processes; OpenTelemetry's when it is switched on."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Final, Protocol, TypeAlias

from shared.settings import WrongSetting

Fact: TypeAlias = str | int | float | bool


class Traces(Protocol):
    """Writes spans of work. A span begun inside another is a part of it.

    Facts are identifiers and numbers, as in the log: never a key, a body or a document's text.
    """

    is_on: bool

    def span(
        self, name: str, *, parent: str | None = None, **facts: Fact
    ) -> AbstractContextManager[None]:
        """Span the body; `parent` is the `traceparent` of what asked for it elsewhere."""

    def serve(
        self, name: str, *, parent: str | None = None, **facts: Fact
    ) -> AbstractContextManager[None]:
        """Span the body as the answer to a request from outside."""

    def record(self, name: str, *, begin: float, end: float, **facts: Fact) -> None:
        """Add a part of the current span that is over; the times are seconds since 1970."""

    def tell(self, **facts: Fact) -> None:
        """Add facts to the current span."""

    def traceparent(self) -> str | None:
        """Give the current span as the W3C header says it, for a message; None without one."""

    def close(self) -> None:
        """Send what was written, before the process ends; for some seconds and no longer."""


class Untraced:
    """Writes nothing, in no time."""

    is_on = False
    _nothing: Final[AbstractContextManager[None]] = nullcontext()

    def span(
        self, name: str, *, parent: str | None = None, **facts: Fact
    ) -> AbstractContextManager[None]:
        """Do nothing."""
        return self._nothing

    serve = span

    def record(self, name: str, *, begin: float, end: float, **facts: Fact) -> None:
        """Do nothing."""

    def tell(self, **facts: Fact) -> None:
        """Do nothing."""

    def traceparent(self) -> str | None:
        """Give None."""
        return None

    def close(self) -> None:
        """Do nothing."""


UNTRACED: Final[Traces] = Untraced()


def open_traces(part: str, *, is_on: bool) -> Traces:
    """Give the traces of a process; call it after the fork, for its sender is a thread.

    Raises:
        WrongSetting: they are switched on and OpenTelemetry is not installed.
    """
    if not is_on:
        return UNTRACED
    try:
        from shared.telemetry.otel import OpenTelemetry
    except ImportError as error:
        raise WrongSetting(
            "PRESSROOM_TRACES: OpenTelemetry is not installed; install pressroom[traces]"
        ) from error
    return OpenTelemetry(part)
