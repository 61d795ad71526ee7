"""The child processes of a worker: replaced sooner than by Celery alone, and counted."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from celery import bootsteps

from shared.memory import read_memory
from shared.telemetry import metrics
from shared.telemetry.observer import NULL_OBSERVER, Observer

CHECK_SECONDS: Final = 0.2
_RECYCLED: Final = "recycled"
_SIGNALS: Final = {
    -int(signal.SIGKILL): "killed",
    -int(signal.SIGABRT): "watchdog",
    -int(signal.SIGTERM): "terminated",
}
EXIT_REASONS: Final = (_RECYCLED, *_SIGNALS.values(), "crashed", "failed")


class Children:
    """The child processes of one worker by slot, in its main process.

    `observer` is set before the first child starts.
    """

    observer: Observer = NULL_OBSERVER

    def __init__(self) -> None:
        self._slots: dict[int, int] = {}  # slot to process id
        self.exit_codes: dict[int, int] = {}

    def measure_memory(self) -> Mapping[tuple[str, ...], float]:
        """Return the resident memory in bytes of the child in each slot."""
        return {(str(slot),): resident_bytes(pid) for slot, pid in list(self._slots.items())}

    def record_exits(self) -> None:
        """Record the exit codes of ended children before the pool collects them."""
        for pid in self._slots.values():
            if pid not in self.exit_codes and (code := _peek_exit_code(pid)) is not None:
                self.exit_codes[pid] = code

    def update(self, pids: Sequence[int]) -> None:
        """Count starts and exits since the last call, given the current process ids."""
        for slot, pid in list(self._slots.items()):
            if pid not in pids:
                del self._slots[slot]
                reason = _find_reason(self.exit_codes.pop(pid, None))
                self.observer.count(metrics.CHILD_EXITS, reason)
        known = set(self._slots.values())
        for pid in pids:
            if pid not in known:
                self._slots[self._free_slot()] = pid
                self.observer.count(metrics.CHILD_STARTS)

    def _free_slot(self) -> int:
        return next(slot for slot in range(len(self._slots) + 1) if slot not in self._slots)


class ChildWatch(bootsteps.StartStopStep):  # type: ignore[misc] # Celery has no types
    """Has the pool collect ended children five times a second.

    Celery checks when a child's pipe closes, a moment before the child can be collected, and then
    only 5 s later: a killed render would wait that long.
    """

    requires: ClassVar[set[str]] = {"celery.worker.consumer.tasks:Tasks"}
    children: ClassVar[Children]

    @classmethod
    def of(cls, children: Children) -> type[ChildWatch]:
        """Return the step class of one worker; Celery instantiates it."""
        return type(cls.__name__, (cls,), {"children": children})

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self._timer: Any = None

    def start(self, consumer: Any) -> None:
        """Start checking; Celery calls it again after each reconnect."""
        self._check(consumer)
        self._timer = consumer.timer.call_repeatedly(CHECK_SECONDS, self._check, (consumer,))

    def stop(self, consumer: Any) -> None:
        """Stop checking."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check(self, consumer: Any) -> None:
        self.children.record_exits()
        consumer.pool.maintain_pool()
        self.children.update(consumer.pool.info["processes"])


def _peek_exit_code(pid: int) -> int | None:
    """Return the exit code of an ended child that is not collected yet, None otherwise."""
    try:
        found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    if found is None:
        return None
    return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status


def _find_reason(exit_code: int | None) -> str:
    """Return the reason of an exit; a negative code is the signal that ended the process, None is unknown."""
    # billiard's exit codes: 155 (0x9B) after the maximal number of jobs, 0 otherwise.
    if exit_code in (None, 0, 0x9B):
        return _RECYCLED
    return _SIGNALS.get(exit_code, "crashed" if exit_code < 0 else "failed")


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process, 0 if it has just ended."""
    try:
        return read_memory(pid).resident
    except OSError:
        return 0
