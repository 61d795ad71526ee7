"""A worker's child processes: looked after more often than Celery does, and counted."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Protocol

from celery import bootsteps

LOOK_EVERY_SECONDS: Final = 0.2


class ChildMetrics(Protocol):
    """Counts child processes that come and go."""

    def child_started(self) -> None:
        """Count one that began."""

    def child_ended(self, exit_code: int | None) -> None:
        """Count one that ended; a negative code is the signal that ended it, None is unknown."""


class Children:
    """The child processes of one worker, by slot, as its main process sees them."""

    def __init__(self, metrics: ChildMetrics) -> None:
        self._metrics = metrics
        self._slots: dict[int, int] = {}  # slot to process id
        self._exit_codes: dict[int, int] = {}

    def find(self) -> Mapping[int, int]:
        """Return the process id of the child in each slot."""
        return dict(self._slots)

    def note_exits(self) -> None:
        """Note the exit codes of children that have ended, before the pool collects them."""
        for pid in self._slots.values():
            if pid not in self._exit_codes and (code := _peek_exit_code(pid)) is not None:
                self._exit_codes[pid] = code

    def follow(self, pids: Sequence[int]) -> None:
        """Count the children that began or ended since the last call, by those there are now."""
        for slot, pid in list(self._slots.items()):
            if pid not in pids:
                del self._slots[slot]
                self._metrics.child_ended(self._exit_codes.pop(pid, None))
        known = set(self._slots.values())
        for pid in pids:
            if pid not in known:
                self._slots[self._free_slot()] = pid
                self._metrics.child_started()

    def _free_slot(self) -> int:
        return next(slot for slot in range(len(self._slots) + 1) if slot not in self._slots)


class ChildWatch(bootsteps.StartStopStep):  # type: ignore[misc] # Celery has no types
    """Has the pool look for ended children five times a second.

    Celery is told when a child's pipe closes, which is a moment before the child can be
    collected, and then looks again only after 5 s: so long a killed render would wait.
    """

    requires: ClassVar[set[str]] = {"celery.worker.consumer.tasks:Tasks"}
    children: ClassVar[Children]

    @classmethod
    def of(cls, children: Children) -> type[ChildWatch]:
        """Return the step of one worker; Celery makes it of its class."""
        return type(cls.__name__, (cls,), {"children": children})

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self._timer: Any = None

    def start(self, consumer: Any) -> None:
        """Begin to look; Celery starts the step anew after each reconnect."""
        self._look(consumer)
        self._timer = consumer.timer.call_repeatedly(LOOK_EVERY_SECONDS, self._look, (consumer,))

    def stop(self, consumer: Any) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self, consumer: Any) -> None:
        self.children.note_exits()
        consumer.pool.maintain_pool()
        self.children.follow(consumer.pool.info["processes"])


def _peek_exit_code(pid: int) -> int | None:
    """Return the exit code of a child that has ended and was not collected, None otherwise."""
    try:
        found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    if found is None:
        return None
    return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status
