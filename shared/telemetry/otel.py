"""Traces by OpenTelemetry, sent by OTLP over HTTP; its own `OTEL_` variables say where to and how many."""

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

from shared.telemetry.traces import Fact

_HEADER: Final = "traceparent"
_NANOSECONDS: Final = 1_000_000_000
# A collector that does not answer must not keep a process from ending, nor its successor from beginning.
_CLOSE_SECONDS: Final = 2.0


class OpenTelemetry:
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
    def span(self, name: str, *, parent: str | None = None, **facts: Fact) -> Iterator[None]:
        """Span the body; see `Traces.span`."""
        kind = SpanKind.INTERNAL if parent is None else SpanKind.CONSUMER
        with self._tracer.start_as_current_span(
            name, context=self._context(parent), kind=kind, attributes=_named(facts)
        ):
            yield

    @contextmanager
    def serve(self, name: str, *, parent: str | None = None, **facts: Fact) -> Iterator[None]:
        """Span the body as the answer to a request; see `Traces.serve`."""
        with self._tracer.start_as_current_span(
            name,
            # A thread serves one request after another: none is a part of the one before.
            context=self._context(parent) or Context(),
            kind=SpanKind.SERVER,
            attributes=_named(facts),
        ):
            yield

    def record(self, name: str, *, begin: float, end: float, **facts: Fact) -> None:
        """Add a part that is over; see `Traces.record`."""
        span = self._tracer.start_span(
            name, start_time=int(begin * _NANOSECONDS), attributes=_named(facts)
        )
        span.end(int(end * _NANOSECONDS))

    def tell(self, **facts: Fact) -> None:
        """Add facts to the current span; see `Traces.tell`."""
        trace.get_current_span().set_attributes(_named(facts))

    def traceparent(self) -> str | None:
        """Give the current span as a header; see `Traces.traceparent`."""
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier)
        return carrier.get(_HEADER)

    def close(self) -> None:
        """Send what was written; see `Traces.close`."""
        sending = Thread(target=self._provider.shutdown, name="last traces", daemon=True)
        sending.start()
        sending.join(_CLOSE_SECONDS)

    def _context(self, parent: str | None) -> Context | None:
        return None if parent is None else self._propagator.extract({_HEADER: parent}, Context())


def _named(facts: dict[str, Fact]) -> dict[str, Fact]:
    return {f"pressroom.{name}": fact for name, fact in facts.items()}
