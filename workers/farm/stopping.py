"""Stopping a running render whose job was ended from outside: cancelled, or given up."""

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

LOOK_EVERY_SECONDS: Final = 0.5
# A render that swallows its alarm, or stays in C, is ended with its process this much later.
GRACE_SECONDS: Final = 1.0

log: Final = get_logger(__name__)


class Stopper:
    """Looks, from a thread of its own, whether the job at hand has ended elsewhere.

    Most renders are over before the first look. `look_after` is given a job and for how many seconds
    it has run. Make it after the fork.
    """

    def __init__(self, look_after: Callable[[str, float], bool]) -> None:
        self._look_after = look_after
        self._turn = Condition()
        self._job_id: str | None = None
        self._begun_at = 0.0
        self._is_stopping = False
        self._is_idle = False
        self._thread: Thread | None = None

    @contextmanager
    def watch(self, job_id: str) -> Iterator[None]:
        """Run the body in the main thread, within `time_limit`: its alarm rings when the job ends.

        Raises:
            BudgetExceeded: the job has ended elsewhere.
        """
        self._start()
        with self._turn:
            self._job_id, self._begun_at, self._is_stopping = job_id, ticks(), False
            # One that looks after short renders is not woken for each.
            if self._is_idle:
                self._turn.notify()
        try:
            yield
        finally:
            self._job_id = None
            # An alarm that is being rung rings here, and so within the caller's `time_limit`.
            with self._turn:
                pass

    def _start(self) -> None:
        if self._thread is None:
            self._thread = Thread(target=self._look, name="stopper", daemon=True)
            self._thread.start()

    def _look(self) -> None:
        looked_at = 0.0
        while True:
            with self._turn:
                while self._job_id is None:
                    self._is_idle = True
                    self._turn.wait()
                self._is_idle = False
                job_id, begun_at = self._job_id, self._begun_at
                early = max(begun_at, looked_at) + LOOK_EVERY_SECONDS - ticks()
                if early > 0:
                    self._turn.wait(early)
                    continue
            looked_at = ticks()
            if self._is_over(job_id, ticks() - begun_at):
                self._stop(job_id, begun_at)

    def _is_over(self, job_id: str, seconds: float) -> bool:
        try:
            return self._look_after(job_id, seconds)
        except Unavailable:
            return False

    def _stop(self, job_id: str, begun_at: float) -> None:
        # Under the lock, so that the alarm cannot ring for a job that has just ended here.
        with self._turn:
            if (self._job_id, self._begun_at) != (job_id, begun_at):
                return
            if not self._is_stopping:
                self._is_stopping = True
                log.info("render stopped, its job has ended", job=job_id)
                signal.pthread_kill(main_thread().ident or 0, signal.SIGALRM)
            self._turn.wait(GRACE_SECONDS)
            if (self._job_id, self._begun_at) == (job_id, begun_at):
                faulthandler.dump_traceback()
                os.kill(os.getpid(), signal.SIGABRT)
