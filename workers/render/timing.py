"""The duration of each stage of a render, for `Server-Timing` and metrics."""

from __future__ import annotations

from collections.abc import Mapping

from shared.clock import epoch, ticks
from shared.telemetry.traces import NULL_TRACER, Traces
from workers.engine.ports import Stage


class StageTimer:
    """The engine's `StageObserver`: sums the time of each stage."""

    def __init__(self, traces: Traces = NULL_TRACER) -> None:
        self._traces = traces
        self._milliseconds: dict[str, float] = {}
        self._stage: Stage | None = None
        self._since = ticks()

    def enter(self, stage: Stage) -> None:
        """Start the time of `stage`, ending that of the previous one."""
        self.stop()
        self._stage = stage

    def stop(self) -> Mapping[str, float]:
        """End the current stage and return the milliseconds of each stage."""
        now = ticks()
        if self._stage is not None:
            spent = self._milliseconds.get(self._stage.value, 0.0)
            self._milliseconds[self._stage.value] = spent + (now - self._since) * 1000
            if self._traces.is_on:
                ended = epoch()
                self._traces.record_span(
                    self._stage.value, begin=ended - (now - self._since), end=ended
                )
        self._stage = None
        self._since = now
        return {stage: round(ms, 3) for stage, ms in self._milliseconds.items()}
