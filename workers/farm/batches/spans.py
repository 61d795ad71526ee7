"""The spans of a slice's documents, where requests are traced."""

from __future__ import annotations

from typing import Final

from shared.batches.records import Ended
from shared.clock import epoch
from shared.errors import ErrorBody
from shared.telemetry.totals import SUCCEEDED
from shared.telemetry.traces import Traces

# A batch of 100,000 documents in a trace of its own would be more than a collector shows or
# keeps: its first documents tell how long one takes, its failures which they are.
_MOST_OF_A_SLICE: Final = 20
_MOST_FAILURES: Final = 20


class DocumentSpans:
    """Spans of the first documents of a slice, and of the first that fail behind those."""

    def __init__(self, traces: Traces) -> None:
        self._traces = traces
        self._left = _MOST_OF_A_SLICE
        self._failures_left = _MOST_FAILURES

    def note(self, index: int, outcome: Ended | ErrorBody, *, begun_at: float) -> None:
        """Add the span of a document that has just ended, unless there are enough."""
        has_failed = isinstance(outcome, ErrorBody)
        if self._left:
            self._left -= 1
        elif has_failed and self._failures_left:
            self._failures_left -= 1
        else:
            return
        told = outcome.kind.value if isinstance(outcome, ErrorBody) else SUCCEEDED
        self._traces.record("document", begin=begun_at, end=epoch(), index=index, outcome=told)
