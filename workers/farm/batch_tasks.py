"""The tasks of the batch pool, which call `run_slice`, `run_job_slice` and `run_assembly`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from celery import Celery

from shared.batches.records import JobSlice, Slice
from shared.errors import Unavailable
from shared.queue.names import ASSEMBLE_TASK, JOBS_TASK, SLICE_TASK
from shared.queue.slice_commits import Assembly
from shared.records import Record
from shared.telemetry.log import get_logger
from workers.batches.assembly import run_assembly
from workers.batches.context import BatchContext
from workers.batches.job_slices import run_job_slice
from workers.batches.slices import run_slice
from workers.farm.tasks import (
    UNREADABLE,
    FarmTask,
    drop_message,
    read_argument,
    with_frame_memory,
)
from workers.render.run import RenderContext

T = TypeVar("T", bound=Record)

log: Final = get_logger(__name__)


def register_batch_tasks(
    app: Celery,
    get_context: Callable[[], RenderContext],
    get_batch_context: Callable[[], BatchContext],
) -> None:
    """Register the tasks; both getters are called in the child process that runs a task."""

    def register(
        name: str, kind: type[T], run: Callable[[T, RenderContext, BatchContext], None]
    ) -> None:
        @with_frame_memory
        def work(*arguments: Any, **named: Any) -> None:
            try:
                task = kind.of_builtins(read_argument(arguments, named))
            except UNREADABLE as error:
                drop_message(error, get_context().observer)
                return
            _log_outages(lambda: run(task, get_context(), get_batch_context()))

        app.task(work, name=name, base=FarmTask)

    register(SLICE_TASK, Slice, run_slice)
    register(JOBS_TASK, JobSlice, run_job_slice)
    register(
        ASSEMBLE_TASK,
        Assembly,
        lambda task, _, batch_context: run_assembly(task, batch_context),
    )


def _log_outages(work: Callable[[], None]) -> None:
    try:
        work()
    except Unavailable as error:
        # Maintenance finds that no worker holds it and publishes it again.
        log.warning("slice waits", part=error.part, cause=repr(error.__cause__))
