"""What a worker reports once a second, and what it does of what it is told then.

A thread reports, so that a Redis server that does not answer holds up no render, and so that a worker
that stops goes on to report what its children still run.
"""

from __future__ import annotations

import os
import signal
import socket
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from threading import Event, Thread
from typing import Any, ClassVar, Final

from celery import bootsteps
from celery.worker import state as worker_state

from shared.errors import Unavailable
from shared.queue.roster import REPORT_SECONDS, WorkerWord, sign_off
from shared.queue.roster import report as report_worker
from shared.queue.states import CANCELLED, OVERDUE, JobStates
from shared.telemetry.log import get_logger

_APPLY_SECONDS: Final = 0.5

log: Final = get_logger(__name__)


class Attendance:
    """Reports a worker and the tasks it holds, and reads which queues the operator has drained.

    Without Redis the worker goes by what it read last.
    """

    def __init__(self, redis: Any, *, slots: int) -> None:
        self.name: Final = f"{socket.gethostname()}:{os.getpid()}"
        self.queues: tuple[str, ...] = ()
        self.drained: AbstractSet[str] = frozenset()
        self._redis = redis
        self._states = JobStates(redis)
        self._slots = slots
        self._has_ended = Event()
        self._thread: Thread | None = None
        self._running: AbstractSet[str] = frozenset()
        self._closed: AbstractSet[str] = frozenset()

    def start(self, queues: Sequence[str]) -> None:
        """Report once, so that a worker that starts takes nothing from a drained queue; then again
        and again in a thread.
        """
        if self._thread is not None:
            return
        self.queues = tuple(queues)
        self.report()
        self._thread = Thread(target=self._report_repeatedly, name="attendance", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Sign off; a worker that cannot is missed seconds later."""
        self._has_ended.set()
        try:
            sign_off(self._redis, self.name)
        except Unavailable as error:
            log.debug("worker not signed off", cause=repr(error.__cause__))

    def count_busy(self) -> int:
        """Return how many slots run a task."""
        return min(len(list(worker_state.active_requests)), self._slots)

    def report(self) -> None:
        """Report once."""
        # After a lost connection Celery forgets what was reserved, but not what still runs.
        requests = [*worker_state.reserved_requests, *worker_state.active_requests]
        held = {request.id: request for request in requests}
        by_queue = Counter(_queue_of(request) for request in held.values())
        word = WorkerWord(self.name, self.queues, self._slots, self.count_busy(), dict(by_queue))
        try:
            self.drained = report_worker(self._redis, word, list(held))
        except Unavailable as error:
            log.warning("worker not reported", cause=repr(error.__cause__))

    def kill_deaf_children(self) -> None:
        """Kill each child that still runs a job a second after it was seen to have ended.

        A child stops by itself where it can (`workers.farm.stopping`); C code that holds the
        interpreter does not hear. The message comes again, and its job is found to have ended.
        """
        requests = {request.id: request for request in list(worker_state.active_requests)}
        # What began since the last look is let be: most renders are over before the next.
        watched = [job_id for job_id in requests if job_id in self._running]
        self._running = frozenset(requests)
        closed = self._find_closed(watched)
        for job_id in closed & self._closed:
            _kill(requests[job_id])
        self._closed = closed

    def _find_closed(self, job_ids: Iterable[str]) -> AbstractSet[str]:
        try:
            ends = {job_id: self._states.find_end(job_id) for job_id in job_ids}
        except Unavailable as error:
            log.warning("ends not looked for", cause=repr(error.__cause__))
            return frozenset()
        return {job_id for job_id, end in ends.items() if end and end.word in (CANCELLED, OVERDUE)}

    def _report_repeatedly(self) -> None:
        while not self._has_ended.wait(REPORT_SECONDS):
            try:
                self.report()
                self.kill_deaf_children()
            except Exception as error:
                log.error("attendance failed", exc_info=error)


class DrainStep(bootsteps.StartStopStep):  # type: ignore[misc] # Celery has no types
    """Has the worker consume from all its queues but the drained ones, as they change.

    What `celery control cancel_consumer` and `add_consumer` did to a queue stays, until the
    operator's wish for that queue changes.
    """

    requires: ClassVar[set[str]] = {"celery.worker.consumer.tasks:Tasks"}
    attendance: ClassVar[Attendance]

    @classmethod
    def of(cls, attendance: Attendance) -> type[DrainStep]:
        """Return the step of one worker; Celery makes it of its class."""
        return type(cls.__name__, (cls,), {"attendance": attendance})

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self._timer: Any = None
        self._applied: AbstractSet[str] = frozenset()

    def start(self, consumer: Any) -> None:
        """Apply what is drained before the first message; Celery calls it after each reconnect."""
        self.attendance.start(list(consumer.app.amqp.queues.consume_from))
        self._apply(consumer)
        self._timer = consumer.timer.call_repeatedly(_APPLY_SECONDS, self._apply, (consumer,))

    def stop(self, consumer: Any) -> None:
        """Apply no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _apply(self, consumer: Any) -> None:
        attendance = self.attendance
        drained = attendance.drained & set(attendance.queues)
        if drained == self._applied:
            return
        resumed = self._applied - drained
        self._applied = drained
        selected = consumer.app.amqp.queues.consume_from
        consuming = [queue for queue in attendance.queues if queue in selected]
        wanted = [
            queue
            for queue in attendance.queues
            if queue not in drained and (queue in consuming or queue in resumed)
        ]
        # All of them where one comes back: they are consumed in the order they were added.
        for queue in consuming if resumed else drained & set(consuming):
            consumer.cancel_task_queue(queue)
        if resumed:
            for queue in wanted:
                consumer.add_task_queue(queue)
        log.info("drained queues changed", drained=sorted(drained))


def _queue_of(request: Any) -> str:
    delivery: Mapping[str, Any] = request.delivery_info or {}
    return str(delivery.get("routing_key", ""))


def _kill(request: Any) -> None:
    pid = request.worker_pid
    if pid:
        log.warning("child killed, it would not stop", job=request.id, child=pid)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
