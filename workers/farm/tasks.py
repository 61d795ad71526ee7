"""The tasks, which call `run_job`, `run_slice`, `run_job_slice` and the assembly, and the base class of them all."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence, Sized
from functools import wraps
from types import FunctionType
from typing import Any, Final, TypeVar, cast

from celery import Celery, Task

from shared.batches.records import JobSlice, Slice
from shared.errors import Unavailable
from shared.jobs.records import RenderJob
from shared.queue.names import ASSEMBLE_TASK, JOBS_TASK, RENDER_TASK, SLICE_TASK
from shared.queue.queues import PUBLISHED_AT, WRONG_ARGUMENTS, read_time_header
from shared.queue.slice_commits import Assembly
from shared.records import Record
from shared.telemetry import metrics
from shared.telemetry.log import get_logger
from workers.batches.assembly import run_assembly
from workers.batches.documents import BatchContext
from workers.batches.job_slices import run_job_slice
from workers.batches.slices import run_slice
from workers.render.run import run_job

log: Final = get_logger(__name__)

# A frame of this many words does not fit into the interpreter's chunks of 16 KB: CPython maps one chunk of
# 256 KB for it, whose second half holds every deeper frame. Otherwise calls that cross the end of a chunk
# map and unmap one each time, hundreds of times a document.
_FRAME_WORDS: Final = 17_000

UNREADABLE: Final = (ValueError, KeyError, TypeError, AttributeError)
_LONGEST_CAUSE: Final = 200


class FarmTask(Task):  # type: ignore[misc] # Celery has no types
    """A task whose message is acknowledged when its job has ended.

    A killed child's message is delivered again, and `Commits.begin` counts the deliveries. Tasks check
    their arguments themselves, since any client of the broker can publish them.
    """

    abstract = True
    acks_late = True
    reject_on_worker_lost = True
    ignore_result = True
    typing = False  # of arguments, when a task is published

    def on_failure(
        self, exc: BaseException, task_id: str, args: Any, kwargs: Any, einfo: Any
    ) -> None:
        """Log a task that raised; maintenance or the waiting front publishes its job again."""
        del args, kwargs, einfo
        log.error("task failed", job=task_id, task=self.name, exc_info=exc)


F = TypeVar("F", bound=Callable[..., None])


def with_frame_memory(function: F) -> F:
    """Return the function of a task, so that it and all that it calls use one chunk of memory for their frames.

    Where memory ends outside a job, as when there is none for the chunk, the child is killed, and its message
    delivered again: Celery ends the whole worker for a task that raises `MemoryError`.
    """
    code = function.__code__.replace(co_stacksize=_FRAME_WORDS)
    roomy = FunctionType(code, function.__globals__, closure=function.__closure__)

    @wraps(roomy)
    def work(*arguments: Any, **named: Any) -> None:
        try:
            roomy(*arguments, **named)
        except MemoryError:
            os.kill(os.getpid(), signal.SIGKILL)

    return cast("F", work)


T = TypeVar("T")
R = TypeVar("R", bound=Record)


def register_tasks(app: Celery, get_context: Callable[[], BatchContext]) -> None:
    """Register the tasks; `get_context` is called in the child process that runs one."""

    def read(decode: Callable[[Any], T], arguments: Sequence[Any], named: Sized) -> T | None:
        """Return the single argument of a task; a message with others is logged, counted and dropped."""
        try:
            if len(arguments) != 1 or named:
                raise ValueError(f"{len(arguments)} arguments and {len(named)} named ones")
            return decode(arguments[0])
        except UNREADABLE as error:
            # There is no reply address: the front stops waiting at the deadline of the job.
            log.error("message dropped", reason=WRONG_ARGUMENTS, cause=repr(error)[:_LONGEST_CAUSE])
            get_context().render.observer.count(metrics.MESSAGES_DROPPED, WRONG_ARGUMENTS)
            return None

    @with_frame_memory
    def render(self: Task, *arguments: Any, **named: Any) -> None:
        if (job := read(RenderJob.decode, arguments, named)) is not None:
            published_at = read_time_header(self.request.headers or {}, PUBLISHED_AT)
            run_job(job, get_context().render, published_at=published_at)

    def register(name: str, kind: type[R], run: Callable[[R, BatchContext], None]) -> None:
        @with_frame_memory
        def work(*arguments: Any, **named: Any) -> None:
            if (task := read(kind.of_builtins, arguments, named)) is not None:
                _log_outages(lambda: run(task, get_context()))

        app.task(work, name=name, base=FarmTask)

    app.task(render, name=RENDER_TASK, base=FarmTask, bind=True)
    register(SLICE_TASK, Slice, run_slice)
    register(JOBS_TASK, JobSlice, run_job_slice)
    register(ASSEMBLE_TASK, Assembly, run_assembly)


def _log_outages(work: Callable[[], None]) -> None:
    try:
        work()
    except Unavailable as error:
        # Maintenance finds that no worker holds it and publishes it again.
        log.warning("slice waits", part=error.part, cause=repr(error.__cause__))
