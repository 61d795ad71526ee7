"""Stopping of a running render whose job was cancelled or abandoned."""

from __future__ import annotations

import faulthandler
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Thread, main_thread
from typing import Final

from shared.clock import ticks
from shared.errors import Unavailable
from shared.telemetry.log import get_logger

CHECK_SECONDS: Final = 0.5
# The process is ended this long after the alarm, if the render catches it or stays in C.
GRACE_SECONDS: Final = 1.0

log: Final = get_logger(__name__)


class Stopper:
    """Checks in a thread whether the current job has ended elsewhere.

    Most renders end before the first check. `has_ended` takes the id of a job and its run time
    in seconds. Create it after the fork.
    """

    def __init__(self, has_ended: Callable[[str, float], bool]) -> None:
        self._has_ended = has_ended
        self._condition = Condition()
        self._job_id: str | None = None
        self._begun_at = 0.0
        self._is_stopping = False
        self._is_idle = False
        self._thread: Thread | None = None

    @contextmanager
    def watch(self, job_id: str) -> Iterator[None]:
        """Run the block in the main thread, within `time_limit`; the alarm is raised if the job ends.

        Raises:
            BudgetExceeded: the job has ended elsewhere.
        """
        self._start()
        with self._condition:
            self._job_id, self._begun_at, self._is_stopping = job_id, ticks(), False
            # The thread is not woken for each of many short renders.
            if self._is_idle:
                self._condition.notify()
        try:
            yield
        finally:
            self._job_id = None
            # A signal that is being sent arrives here, within the caller's `time_limit`.
            with self._condition:
                pass

    def _start(self) -> None:
        if self._thread is None:
            self._thread = Thread(target=self._check_repeatedly, name="stopper", daemon=True)
            self._thread.start()

    def _check_repeatedly(self) -> None:
        looked_at = 0.0
        while True:
            with self._condition:
                while self._job_id is None:
                    self._is_idle = True
                    self._condition.wait()
                self._is_idle = False
                job_id, begun_at = self._job_id, self._begun_at
                early = max(begun_at, looked_at) + CHECK_SECONDS - ticks()
                if early > 0:
                    self._condition.wait(early)
                    continue
            looked_at = ticks()
            if self._is_over(job_id, ticks() - begun_at):
                self._stop(job_id, begun_at)

    def _is_over(self, job_id: str, seconds: float) -> bool:
        try:
            return self._has_ended(job_id, seconds)
        except Unavailable:
            return False

    def _stop(self, job_id: str, begun_at: float) -> None:
        # Under the lock, so that no signal is sent for a job that has just ended here.
        with self._condition:
            if (self._job_id, self._begun_at) != (job_id, begun_at):
                return
            if not self._is_stopping:
                self._is_stopping = True
                log.info("render stopped, its job has ended", job=job_id)
                signal.pthread_kill(main_thread().ident or 0, signal.SIGALRM)
            self._condition.wait(GRACE_SECONDS)
            if (self._job_id, self._begun_at) == (job_id, begun_at):
                faulthandler.dump_traceback()
                os.kill(os.getpid(), signal.SIGABRT)
