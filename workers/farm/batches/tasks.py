"""The tasks of the pool of batches: thin shells over `run_slice`, `run_job_slice` and `run_assembly`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from celery import Celery

from shared.batches.records import JobSlice, Slice
from shared.errors import Unavailable
from shared.queue.names import ASSEMBLE_TASK, JOBS_TASK, SLICE_TASK
from shared.queue.slices import Assembly
from shared.telemetry.log import get_logger
from workers.farm.batches.accepted import run_job_slice
from workers.farm.batches.assembly import run_assembly
from workers.farm.batches.desk import Desk
from workers.farm.batches.slices import run_slice
from workers.farm.run import Farm
from workers.farm.tasks import UNREADABLE, FarmTask, drop_message, read_argument

T = TypeVar("T")

log: Final = get_logger(__name__)


def register_batch_tasks(
    app: Celery, get_farm: Callable[[], Farm], get_desk: Callable[[], Desk]
) -> None:
    """Register the tasks; the two calls are made in the child process that runs one."""

    def register(
        name: str, decode: Callable[[Any], T], run: Callable[[T, Farm, Desk], None]
    ) -> None:
        def work(*arguments: Any, **named: Any) -> None:
            try:
                asked = decode(read_argument(arguments, named))
            except UNREADABLE as error:
                drop_message(error, get_farm().tally)
                return
            _leave_outages(lambda: run(asked, get_farm(), get_desk()))

        app.task(work, name=name, base=FarmTask)

    register(SLICE_TASK, Slice.decode, run_slice)
    register(JOBS_TASK, JobSlice.decode, run_job_slice)
    register(ASSEMBLE_TASK, Assembly.decode, lambda asked, _, desk: run_assembly(asked, desk))


def _leave_outages(work: Callable[[], None]) -> None:
    try:
        work()
    except Unavailable as error:
        # The keeper finds that nobody is at it and sends it again.
        log.warning("slice waits", part=error.part, cause=repr(error.__cause__))
