"""The loop of the maintenance process: runs each task at its interval; failures are isolated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any, Final

from shared.clock import ticks
from shared.db.session import Database
from shared.errors import Unavailable
from shared.telemetry import metrics
from shared.telemetry.log import get_logger
from shared.telemetry.observer import Observer

ROUND_SECONDS: Final = 10.0
_LONGEST_PAUSE_SECONDS: Final = 1.0

log: Final = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class MaintenanceTask:
    """A periodic repair or cleanup. It is idempotent: several processes may run it concurrently.

    `name` is shown in metrics and logs, and `every_seconds` is the pause between two rounds. `run_once` runs
    one round, limited in time and size, and returns the number of repairs; it raises `Unavailable` during an
    outage of a store, after which the next round finds the same work.
    """

    name: str
    every_seconds: float
    run_once: Callable[[], int]


def repeat_while_full(step: Callable[[], int], *, limit: int) -> int:
    """Call `step`, which sees to up to `limit` rows and returns how many, while it finds as many.

    Returns the sum, after `ROUND_SECONDS` at the latest: other tasks wait meanwhile.
    """
    begun, count = ticks(), 0
    while ticks() - begun < ROUND_SECONDS:
        done = step()
        count += done
        if done < limit:
            break
    return count


def repeat_in_sessions(
    database: Database, work: Callable[..., int], *, limit: int, **options: Any
) -> int:
    """Repeat work that is given a session and the limit, a unit of work each time; see `repeat_while_full`."""

    def step() -> int:
        with database.session() as session:
            return work(session, limit=limit, **options)

    return repeat_while_full(step, limit=limit)


class MaintenanceRunner:
    """Runs maintenance tasks until stopped."""

    def __init__(self, tasks: Sequence[MaintenanceTask], observer: Observer) -> None:
        self._tasks = tasks
        self._observer = observer
        self._due_at = dict.fromkeys((task.name for task in tasks), 0.0)
        self._stop = Event()

    def stop(self) -> None:
        """Make `run` return after the current round."""
        self._stop.set()

    def run(self) -> None:
        """Run until stopped; in an outage a task is retried in its next round."""
        while not self._stop.is_set():
            for task in self._tasks:
                if ticks() >= self._due_at[task.name] and not self._stop.is_set():
                    self._run_task(task)
            next_due = min(self._due_at.values(), default=0.0)
            self._stop.wait(min(max(next_due - ticks(), 0.0), _LONGEST_PAUSE_SECONDS))

    def _run_task(self, task: MaintenanceTask) -> None:
        try:
            repaired = task.run_once()
        except Unavailable as error:
            self._observer.count(metrics.MAINTENANCE_FAILURES, task.name)
            log.warning(
                "task waits for outage",
                task=task.name,
                part=error.part,
                cause=repr(error.__cause__),
            )
        except Exception as error:
            # A bug in one task must not end the others.
            self._observer.count(metrics.MAINTENANCE_FAILURES, task.name)
            log.error("task failed", task=task.name, exc_info=error)
        else:
            self._observer.count(metrics.MAINTENANCE_REPAIRS, task.name, amount=repaired)
            if repaired:
                log.info("task done", task=task.name, repaired=repaired)
        self._due_at[task.name] = ticks() + task.every_seconds
