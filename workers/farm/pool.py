"""Celery's pool of child processes, with less between a message and its child.

Celery writes to a child from its event loop, once the child's pipe is found ready, and then waits
for word that the child has read it. The farm gives a child one message at a time, so the pipe of a
child without one is always ready, and what was written to it counts as taken: should the child end
before it has read the message, it comes again as one that was at work. Decision 0165.
"""

from __future__ import annotations

from time import monotonic
from typing import Any, Final

from billiard.pool import ACK
from celery.concurrency import asynpool, prefork

from shared.queue.transport import SteadyLoop


class QuietQueue:
    """A child's way to its worker, without the word that a message was read."""

    def __init__(self, queue: Any) -> None:
        self._queue = queue

    def put(self, told: tuple[int, Any]) -> None:
        """Tell the worker, unless it knows."""
        if told[0] != ACK:
            self._queue.put(told)


class Child(asynpool.Worker):  # type: ignore[misc] # Celery has no types
    """A child process, which does not say what it reads."""

    def workloop(self, *args: Any, **options: Any) -> Any:
        """Work until told to stop."""
        self.outq = QuietQueue(self.outq)  # type: ignore[has-type]
        return super().workloop(*args, **options)


class ResultHandler(asynpool.ResultHandler):  # type: ignore[misc] # Celery has no types
    """Reads what children say."""

    def register_with_event_loop(self, hub: Any) -> None:
        """Read within the event loop."""
        super().register_with_event_loop(SteadyLoop(hub))


class Pool(asynpool.AsynPool):  # type: ignore[misc] # Celery has no types
    """The pool, which writes at once to a child that is free."""

    Worker: Final = Child
    ResultHandler: Final = ResultHandler

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
        process.jobs_left = self._maxtasksperchild
        return process

    def on_job_ready(self, job: int, i: None, result: Any, pipe: int) -> None:
        """Have a child take its next job, unless it has had its number and is about to end."""
        child = self._fileno_to_inq.get(pipe)
        if child is not None and child.jobs_left is not None:
            child.jobs_left -= 1
            if not child.jobs_left:
                return
        super().on_job_ready(job, i, result, pipe)

    def _accept(self, job: Any) -> None:
        """Take a job as one that its child is at: its time runs, and it is lost with the child."""
        child = job._scheduled_for
        accepted = (job._job, None, monotonic(), child.pid, child.synqW_fd)
        self._result_handler.on_state_change((ACK, accepted))


class TaskPool(prefork.TaskPool):  # type: ignore[misc] # Celery has no types
    """What Celery makes the pool with, named in the application's settings."""

    Pool = Pool
