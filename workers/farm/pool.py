"""Celery's pool of child processes, with less between a message and its child.

Celery writes to a child from its event loop, once the child's pipe is found ready, and then waits
for word that the child has read it. The farm gives a child one message at a time, so the pipe of a
child without one is always ready, and what was written to it counts as taken: should the child end
before it has read the message, it comes again as one that was at work. Decision 0165.

A child says when its job is nearly done, and has the next message in its pipe by then. Decision 0170.
"""

from __future__ import annotations

from time import monotonic
from typing import Any, Final

from billiard.pool import ACK
from celery.concurrency import asynpool, prefork

from shared.queue.transport import SteadyLoop

# What a child says, beside billiard's words (0 to 4) and Celery's (15).
NEARLY_DONE: Final = 16


class QuietQueue:
    """A child's way to its worker, without the word that a message was read."""

    def __init__(self, queue: Any, pipe: int) -> None:
        self._queue = queue
        self._pipe = pipe
        self._job: int | None = None

    def put(self, told: tuple[int, Any]) -> None:
        """Tell the worker, unless it knows."""
        word, about = told
        if word == ACK:
            self._job = about[0]
        else:
            self._queue.put(told)

    def tell_nearly_done(self) -> None:
        """Say that the job at hand is nearly done."""
        self._queue.put((NEARLY_DONE, (self._job, self._pipe)))


_OWN: Final[list[QuietQueue]] = []  # a child's, once it works


def tell_nearly_done() -> None:
    """Have this child's worker write its next message, while the job at hand comes to its end."""
    for queue in _OWN:
        queue.tell_nearly_done()


class Child(asynpool.Worker):  # type: ignore[misc] # Celery has no types
    """A child process, which does not say what it reads."""

    def workloop(self, *args: Any, **options: Any) -> Any:
        """Work until told to stop."""
        self.outq = QuietQueue(self.outq, self.inqW_fd)  # type: ignore[has-type]
        _OWN.append(self.outq)
        return super().workloop(*args, **options)

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
        if child is None:
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
