"""How long each stage of a render took, for `Server-Timing` and the metrics; its end foreseen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from shared.clock import epoch, ticks
from shared.telemetry.traces import UNTRACED, Traces
from workers.engine.ports import Stage
from workers.farm.slot import SINGLE_SLOT, Slot

# What takes so long to lay out is drawn in less: its end is near. Longer work is not foreseen.
_SHORT_SECONDS: Final = 0.025


class StageTimer:
    """The engine's `StageWatch`: adds up the time between one stage's entry and the next's.

    The slot is told when the layout begins, and once a short render has only to be drawn.
    """

    def __init__(self, traces: Traces = UNTRACED, slot: Slot = SINGLE_SLOT) -> None:
        self._traces = traces
        self._slot = slot
        self._milliseconds: dict[str, float] = {}
        self._stage: Stage | None = None
        self._begun = self._since = ticks()

    def enter(self, stage: Stage) -> None:
        """Note that `stage` begins now and the one before ended."""
        if stage is Stage.LAYOUT:
            self._slot.look()
        self.stop()
        self._stage = stage

    def laid_out(self) -> None:
        """Note that all pages are laid out."""
        if ticks() - self._begun <= _SHORT_SECONDS:
            self._slot.nearly_done()

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
