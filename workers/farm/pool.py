"""Celery's pool of child processes, with less between a message and its child.

Celery writes to a child from its event loop, once the child's pipe is found ready, and then waits
for word that the child has read it. The farm gives a child one message at a time, so the pipe of a
child without one is always ready, and what was written to it counts as taken: should the child end
before it has read the message, it comes again as one that was at work. Decision 0165.

A child says when its job is nearly done, and has the next message in its pipe by then; it begins that
before the commit of the one before is answered. Decision 0170.
"""

from __future__ import annotations

import os
import select
from threading import Event, Thread
from time import monotonic
from typing import Any, Final

from billiard.pool import ACK, EX_OK, READY
from celery.concurrency import asynpool, prefork
from kombu.asynchronous import get_event_loop

from shared.queue.transport import SteadyLoop
from shared.telemetry.log import get_logger
from workers.farm.slot import End

log: Final = get_logger(__name__)

# What a child says, beside billiard's words (0 to 4) and Celery's (15).
NEARLY_DONE: Final = 16
_TIMER_SECONDS: Final = 0.5


class ChildSlot:
    """A child's slot (`workers.farm.slot.Slot`), and its way to tell the worker of it.

    That a message was read is not told. That a job has ended is told when its end is settled.
    """

    def __init__(self) -> None:
        self._queue: Any = None
        self._pipe = 0
        self._incoming = select.poll()
        self._job: int | None = None
        self._end: End | None = None
        self._ended: tuple[int, Any] | None = None

    def open(self, child: Any) -> None:
        """Speak for a child that begins to work."""
        self._queue, self._pipe = child.outq, child.inqW_fd
        self._incoming.register(child.inq._reader.fileno(), select.POLLIN)

    def put(self, told: tuple[int, Any]) -> None:
        """Tell the worker, unless it knows, or is to know later."""
        word, about = told
        if word == ACK:
            self._job = about[0]
            return
        if word == READY and self._end is not None:
            if self._ended is None and self._incoming.poll(0):
                self._ended = told
                return
            self._settle(has_next=False)
        self._queue.put(told)

    def nearly_done(self) -> None:
        """Have the worker write the next message."""
        if self._queue is not None:
            self._queue.put((NEARLY_DONE, (self._job, self._pipe)))

    def put_off(self, end: End) -> None:
        """Settle an end as the next job begins, or at once where none waits."""
        self.settle()
        self._end = end
        if self._queue is None:
            self._settle(has_next=False)

    def look(self) -> None:
        """Settle the end that was put off, if its answer is there."""
        if self._end is not None and self._end.has_come():
            self.settle()

    def settle(self) -> None:
        """Settle the end that was put off, and tell the worker: the next job is here."""
        self._settle(has_next=True)

    def _settle(self, *, has_next: bool) -> None:
        if self._end is None:
            return
        try:
            self._end.settle(has_next=has_next)
        except Exception as error:
            log.error("end of a job not settled", exc_info=error)
        # In this order: an alarm of the next job may go off anywhere, and then this is done again.
        if self._ended is not None:
            self._queue.put(self._ended)
        self._end = self._ended = None


SLOT: Final = ChildSlot()  # of this process, where it is a child


class Child(asynpool.Worker):  # type: ignore[misc] # Celery has no types
    """A child process, which says what `ChildSlot` does."""

    def workloop(self, *args: Any, **options: Any) -> Any:
        """Work until told to stop."""
        SLOT.open(self)
        self.outq = SLOT
        try:
            return super().workloop(*args, **options)
        finally:
            SLOT.settle()

    def _do_exit(self, pid: int, exitcode: int | None, exc: BaseException | None = None) -> None:
        """End; at once where the worker asked for it, which reads the pipe of a child that has ended.

        billiard waits a second for a signal, which a worker that stops does not send.
        """
        if exc is None and exitcode in (None, EX_OK):
            self.on_exit(pid, EX_OK)
            os._exit(EX_OK)
        super()._do_exit(pid, exitcode, exc)

    def _ensure_messages_consumed(self, completed: int) -> bool:
        """Wait for nobody: what was written stays in the pipe, which is read to its end."""
        return True


class ResultHandler(asynpool.ResultHandler):  # type: ignore[misc] # Celery has no types
    """Reads what children say."""

    def __init__(self, *args: Any, **options: Any) -> None:
        # These counters are for children that wait until their words are read.
        super().__init__(*args, **{**options, "on_ready_counters": None})

    def register_with_event_loop(self, hub: Any) -> None:
        """Read within the event loop."""
        super().register_with_event_loop(SteadyLoop(hub))


class Pool(asynpool.AsynPool):  # type: ignore[misc] # Celery has no types
    """The pool, which writes at once to a child that is free, or nearly."""

    Worker: Final = Child
    ResultHandler: Final = ResultHandler

    def create_result_handler(self) -> Any:
        """Make what reads the words of children."""
        handler = super().create_result_handler()
        handler.state_handlers[NEARLY_DONE] = self._on_nearly_done
        return handler

    def _create_write_handlers(self, hub: Any, **options: Any) -> None:
        super()._create_write_handlers(hub, **options)
        put, look = self._quick_put, self.on_poll_start  # type: ignore[has-type]
        write = hub.consolidate_callback
        is_looked_after = True

        def write_and_accept(pipes: list[int], *counts: Any) -> None:
            waiting = list(self.outbound_buffer)
            write(pipes, *counts)
            for job in waiting:
                if job._scheduled_for is not None and not job._accepted:
                    self._count_given(job._scheduled_for)
                    self._accept(job)

        def put_and_write(message: Any) -> None:
            put(message)
            free = [pipe for pipe in self._all_inqueues if pipe not in self._busy_workers]
            if free:
                write_and_accept(free)

        def look_where_something_waits() -> None:
            # What is looked after is left alone again by the first look after.
            nonlocal is_looked_after
            if self.outbound_buffer or is_looked_after:
                is_looked_after = bool(self.outbound_buffer)
                look()

        hub.consolidate_callback = write_and_accept
        self._quick_put = put_and_write
        self.on_poll_start = look_where_something_waits

    def WorkerProcess(self, worker: Any) -> Any:  # noqa: N802 - Celery's name
        """Make the process of a child."""
        process = super().WorkerProcess(worker)
        process.jobs = 0
        process.jobs_left = self._maxtasksperchild
        return process

    def count_busy(self) -> int:
        """Count the children that have a job."""
        return sum(child.jobs > 0 for child in list(self._pool))

    def on_job_ready(self, job: int, i: None, result: Any, pipe: int) -> None:
        """Have a child take its next job, unless it has it, or has had its number."""
        child = self._fileno_to_inq.get(pipe)
        if child is None or job not in self._cache:
            return
        child.jobs -= 1
        if not child.jobs and child.jobs_left != 0:
            super().on_job_ready(job, i, result, pipe)

    def _on_nearly_done(self, number: int, pipe: int) -> None:
        job, child = self._cache.get(number), self._fileno_to_inq.get(pipe)
        if job is None or child is None or child.jobs != 1 or child.jobs_left == 0:
            return
        message = job._callback.__self__.message
        self._busy_workers.discard(pipe)
        if not message.channel.give_early(message.delivery_tag):
            self._busy_workers.add(pipe)

    def _count_given(self, child: Any) -> None:
        child.jobs += 1
        if child.jobs_left is not None:
            child.jobs_left -= 1

    def _accept(self, job: Any) -> None:
        """Take a job as one that its child is at: its time runs, and it is lost with the child."""
        child = job._scheduled_for
        accepted = (job._job, None, monotonic(), child.pid, child.synqW_fd)
        self._result_handler.on_state_change((ACK, accepted))


class TaskPool(prefork.TaskPool):  # type: ignore[misc] # Celery has no types
    """What Celery makes the pool with, named in the application's settings."""

    Pool = Pool
    _pool: Any = None

    def on_stop(self) -> None:
        """Let the children end what they have; the hub's timers, which keep it theirs, go on.

        Celery's own looks every half second whether they have ended.
        """
        pool, hub, have_ended = self._pool, get_event_loop(), Event()
        if pool is None:
            return
        assert hub is not None  # there is one where messages come from Redis
        pool.close()

        def keep_on() -> None:
            while not have_ended.wait(_TIMER_SECONDS):
                try:
                    hub.fire_timers()  # type: ignore[no-untyped-call]
                    prefork._run_ready_callbacks(hub)
                except Exception as error:
                    log.error("timer failed while the worker stops", exc_info=error)

        timers = Thread(target=keep_on, name="timers", daemon=True)
        timers.start()
        try:
            pool.join()
        finally:
            have_ended.set()
            timers.join()
        prefork._run_ready_callbacks(hub)  # the last acknowledgements
        self._pool = None
