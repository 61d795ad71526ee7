"""Opens the tracer of a process; the only module that knows OpenTelemetry's."""

from __future__ import annotations

from shared.settings import WrongSetting
from shared.telemetry.traces import NULL_TRACER, Traces


def open_tracer(part: str, *, is_on: bool) -> Traces:
    """Return the tracing of a process; call it after a fork, since it starts a thread.

    Raises:
        WrongSetting: tracing is on and OpenTelemetry is not installed.
    """
    if not is_on:
        return NULL_TRACER
    try:
        from shared.telemetry.otel import OpenTelemetry
    except ImportError as error:
        raise WrongSetting(
            "PRESSROOM_TRACES: OpenTelemetry is not installed; install pressroom[traces]"
        ) from error
    return OpenTelemetry(part)
