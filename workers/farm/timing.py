"""How long each stage of a render took, for `Server-Timing` and the metrics."""

from __future__ import annotations

from collections.abc import Mapping

from shared.clock import epoch, ticks
from shared.telemetry.traces import UNTRACED, Traces
from workers.engine.ports import Stage


class StageTimer:
    """The engine's `StageWatch`: adds up the time between one stage's entry and the next's."""

    def __init__(self, traces: Traces = UNTRACED) -> None:
        self._traces = traces
        self._milliseconds: dict[str, float] = {}
        self._stage: Stage | None = None
        self._since = ticks()

    def enter(self, stage: Stage) -> None:
        """Note that `stage` begins now and the one before ended."""
        self.stop()
        self._stage = stage

    def stop(self) -> Mapping[str, float]:
        """End the current stage and give milliseconds by stage."""
        now = ticks()
        if self._stage is not None:
            spent = self._milliseconds.get(self._stage.value, 0.0)
            self._milliseconds[self._stage.value] = spent + (now - self._since) * 1000
            if self._traces.is_on:
                ended = epoch()
                self._traces.record(self._stage.value, begin=ended - (now - self._since), end=ended)
        self._stage = None
        self._since = now
        return {stage: round(ms, 3) for stage, ms in self._milliseconds.items()}
