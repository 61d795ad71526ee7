"""The ends of jobs that stand in the job table: told to it after the queue has decided."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Final, NamedTuple

from shared.clock import ticks
from shared.errors import Unavailable, outwait
from shared.job_flow import JobFlow
from shared.jobs import JobOutcome, RenderJob
from shared.queue.claims import Claims
from shared.queue.states import Ended
from shared.telemetry.log import get_logger

# A slot waits so long for a database that is away; then the keeper has the job delivered again.
PATIENCE_SECONDS: Final = 30.0
_PAUSE_SECONDS: Final = 0.5
# Ends go on record with the last of so many, or with one that comes so long after the first;
# behind longer work they do without it.
TOGETHER: Final = 16
_AFTER_SECONDS: Final = 0.1
_WITHOUT_SECONDS: Final = 0.25

log: Final = get_logger(__name__)


def is_open(job: RenderJob, flow: JobFlow) -> bool:
    """Tell whether the job table has a job open; a table that is away has it open."""
    try:
        return flow.is_open(job.id)
    except Unavailable:
        return True  # the end is told to the database, which will know


def complete(job: RenderJob, flow: JobFlow) -> None:
    """Put on record the end of a job that was decided before this run.

    Raises:
        Unavailable: the database stayed away; the job is delivered again and this step repeated.
    """
    _outwait(lambda: flow.complete(job.id))


class _End(NamedTuple):
    job: RenderJob
    outcome: JobOutcome
    at: float


class Records:
    """Puts the ends of one child's jobs on record, several of them in one unit of work (0182).

    They have ended in the queue: what does not come to it here, the keeper finds on record as open,
    has delivered again, and so completed. Nothing here holds a lock: an alarm may go off anywhere.
    """

    def __init__(self, flow: JobFlow, claims: Claims) -> None:
        self._flow = flow
        self._claims = claims
        self._ends: deque[_End] = deque()
        self._wakes: SimpleQueue[None] = SimpleQueue()
        self._is_watched = False
        self._thread: Thread | None = None

    def put(self, job: RenderJob, outcome: JobOutcome) -> None:
        """Have an end put on record soon, with those that come with it."""
        self._ends.append(_End(job, outcome, ticks()))
        if len(self._ends) >= TOGETHER or not self._seconds_left(_AFTER_SECONDS):
            self.settle()
        elif not self._is_watched:
            self._watch()

    def settle(self) -> None:
        """Put on record what is here, now. What the database refuses is left to the keeper."""
        ends: list[_End] = []
        with suppress(IndexError):  # there are no more
            while True:
                ends.append(self._ends.popleft())
        if ends:
            self._record(ends)

    def _record(self, ends: Sequence[_End]) -> None:
        ended = {end.job.id: Ended("", end.outcome) for end in ends}
        try:
            _outwait(lambda: self._flow.record_ends(ended))
        except Unavailable as error:
            log.error("ends not on record, left to the keeper", part=error.part, jobs=list(ended))
        except Exception as error:
            if len(ends) == 1:
                log.error("end not on record", job=ends[0].job.id, exc_info=error)
                return
            for end in ends:  # the others are not to fail with it
                self._record([end])
        else:
            for end in ends:
                with suppress(Unavailable):  # the keeper deletes it with the rest
                    self._claims.drop(end.job.body)

    def _watch(self) -> None:
        self._is_watched = True
        if self._thread is None:
            self._thread = Thread(target=self._look, name="records", daemon=True)
            self._thread.start()
        self._wakes.put(None)

    def _look(self) -> None:
        while True:
            self._wakes.get()
            while (left := self._seconds_left(_WITHOUT_SECONDS)) is not None:
                if left:
                    time.sleep(left)
                else:
                    self.settle()
            self._is_watched = False
            if self._ends:  # put here before that was said
                self._watch()

    def _seconds_left(self, seconds: float) -> float | None:
        """Tell how long the first end may still wait of so many seconds; None when there is none."""
        with suppress(IndexError):
            return max(self._ends[0].at + seconds - ticks(), 0.0)
        return None


def _outwait(step: Callable[[], None]) -> None:
    outwait(step, seconds=PATIENCE_SECONDS, pause_seconds=_PAUSE_SECONDS, report=_report)


def _report(error: Unavailable) -> None:
    log.warning("end not on record yet", part=error.part, cause=repr(error.__cause__))
