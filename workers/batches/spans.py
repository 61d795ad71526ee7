"""Trace spans of the documents of a slice."""

from __future__ import annotations

from typing import Final

from shared.batches.records import DocumentResult
from shared.clock import epoch
from shared.errors import ErrorBody
from shared.telemetry import metrics
from shared.telemetry.traces import Traces

# Collectors cannot store or show a trace of 100,000 documents: the first documents show the duration
# of one, further spans the failures.
_MOST_OF_A_SLICE: Final = 20
_MOST_FAILURES: Final = 20


class DocumentSpans:
    """Spans of the first documents of a slice, and of the first failures after them."""

    def __init__(self, traces: Traces) -> None:
        self._traces = traces
        self._left = _MOST_OF_A_SLICE
        self._failures_left = _MOST_FAILURES

    def note(self, index: int, outcome: DocumentResult | ErrorBody, *, begun_at: float) -> None:
        """Record the span of a document that has just ended, up to the limits."""
        has_failed = isinstance(outcome, ErrorBody)
        if self._left:
            self._left -= 1
        elif has_failed and self._failures_left:
            self._failures_left -= 1
        else:
            return
        result = outcome.kind.value if isinstance(outcome, ErrorBody) else metrics.SUCCEEDED
        self._traces.record_span(
            "document", begin=begun_at, end=epoch(), index=index, outcome=result
        )
