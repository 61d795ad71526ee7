"""Traces by OpenTelemetry, exported by OTLP over HTTP and configured by its `OTEL_` variables."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Final

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from shared.telemetry.traces import SpanAttribute, Traces

_HEADER: Final = "traceparent"
_NANOSECONDS: Final = 1_000_000_000
# A collector that does not answer must not delay the exit of a process.
_CLOSE_SECONDS: Final = 2.0


class OpenTelemetry(Traces):
    """The `Traces` of one process."""

    is_on = True

    def __init__(self, part: str) -> None:
        resource = Resource.create(
            {"service.namespace": "pressroom", "service.name": f"pressroom-{part}"}
        )
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("pressroom")
        self._propagator = TraceContextTextMapPropagator()
        atexit.register(self.close)

    @contextmanager
    def span(
        self,
        name: str,
        *,
        parent: str | None = None,
        is_request: bool = False,
        **attributes: SpanAttribute,
    ) -> Iterator[None]:
        """Trace the body as a span; see `Traces.span`."""
        context = self._context(parent)
        kind = SpanKind.INTERNAL if parent is None else SpanKind.CONSUMER
        if is_request:
            # An empty context: the thread's previous request is not the parent.
            context, kind = context or Context(), SpanKind.SERVER
        with self._tracer.start_as_current_span(
            name, context=context, kind=kind, attributes=_named(attributes)
        ):
            yield

    def record_span(
        self, name: str, *, begin: float, end: float, **attributes: SpanAttribute
    ) -> None:
        """Record a finished span; see `Traces.record_span`."""
        span = self._tracer.start_span(
            name, start_time=int(begin * _NANOSECONDS), attributes=_named(attributes)
        )
        span.end(int(end * _NANOSECONDS))

    def set_attributes(self, **attributes: SpanAttribute) -> None:
        """Set attributes of the current span; see `Traces.set_attributes`."""
        trace.get_current_span().set_attributes(_named(attributes))

    def traceparent(self) -> str | None:
        """Return the current span as a `traceparent`; see `Traces.traceparent`."""
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier)
        return carrier.get(_HEADER)

    def close(self) -> None:
        """Export the remaining spans; see `Traces.close`."""
        sending = Thread(target=self._provider.shutdown, name="last traces", daemon=True)
        sending.start()
        sending.join(_CLOSE_SECONDS)

    def _context(self, parent: str | None) -> Context | None:
        return None if parent is None else self._propagator.extract({_HEADER: parent}, Context())


def _named(attributes: dict[str, SpanAttribute]) -> dict[str, SpanAttribute]:
    return {f"pressroom.{name}": fact for name, fact in attributes.items()}
