"""Ending the child process that is deaf to the end of its job."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import Any, ClassVar, Final

from celery import bootsteps
from celery.worker import state as worker_state
from redis import RedisError

from shared.queue.names import job_key
from shared.queue.states import CANCELLED, OVERDUE
from shared.telemetry.log import get_logger

LOOK_SECONDS: Final = 1.0
_CLOSED: Final = {CANCELLED.encode(), OVERDUE.encode()}

log: Final = get_logger(__name__)


class Stops(bootsteps.StartStopStep):  # type: ignore[misc] # Celery has no types
    """Kills a child that still runs a job a second after it was seen to be cancelled.

    The child stops by itself where it can; C code that holds the interpreter hears nothing. The
    message comes again, and its job is found to have ended.
    """

    requires: ClassVar[set[str]] = {"celery.worker.consumer.tasks:Tasks"}

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self._timer: Any = None
        self._running: set[str] = set()
        self._closed: set[str] = set()

    def start(self, consumer: Any) -> None:
        """Begin to look; Celery starts the step anew after each reconnect."""
        self._timer = consumer.timer.call_repeatedly(LOOK_SECONDS, self._look, (consumer,))

    def stop(self, consumer: Any) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self, consumer: Any) -> None:
        requests = {request.id: request for request in list(worker_state.active_requests)}
        # What began since the last look is let be: most renders are over before the next.
        watched = [job_id for job_id in requests if job_id in self._running]
        self._running = set(requests)
        closed = self._find_closed(consumer, watched) if watched else set()
        for job_id in closed & self._closed:
            _kill(requests[job_id])
        self._closed = closed

    def _find_closed(self, consumer: Any, job_ids: list[str]) -> set[str]:
        try:
            with consumer.task_consumer.channel.conn_or_acquire() as client:
                pipe = client.pipeline(transaction=False)
                for job_id in job_ids:
                    pipe.hget(job_key(job_id), "done")
                words = pipe.execute()
        except RedisError as error:
            log.warning("ends not looked for", cause=repr(error))
            return set()
        return {job_id for job_id, word in zip(job_ids, words, strict=True) if word in _CLOSED}


def _kill(request: Any) -> None:
    pid = request.worker_pid
    if pid:
        log.warning("child killed, it would not stop", job=request.id, child=pid)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
