"""The two tasks of batches: thin shells over `run_slice` and `run_assembly`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from celery import Celery

from shared.batches.records import Slice
from shared.errors import Unavailable
from shared.queue.names import ASSEMBLE_TASK, SLICE_TASK
from shared.queue.slices import Assembly
from shared.telemetry.log import get_logger
from workers.farm.batches.assembly import run_assembly
from workers.farm.batches.desk import Desk
from workers.farm.batches.slices import run_slice
from workers.farm.run import Farm
from workers.farm.tasks import UNREADABLE, FarmTask, drop_message, read_argument

log: Final = get_logger(__name__)


def register_batch_tasks(
    app: Celery, get_farm: Callable[[], Farm], get_desk: Callable[[], Desk]
) -> None:
    """Register the tasks; the two calls are made in the child process that runs one."""

    def slice_(*arguments: Any, **named: Any) -> None:
        try:
            asked = Slice.decode(read_argument(arguments, named))
        except UNREADABLE as error:
            drop_message(error, get_farm().tally)
            return
        _leave_outages(lambda: run_slice(asked, get_farm(), get_desk()))

    def assemble(*arguments: Any, **named: Any) -> None:
        try:
            asked = Assembly.decode(read_argument(arguments, named))
        except UNREADABLE as error:
            drop_message(error, get_farm().tally)
            return
        _leave_outages(lambda: run_assembly(asked, get_desk()))

    app.task(slice_, name=SLICE_TASK, base=FarmTask)
    app.task(assemble, name=ASSEMBLE_TASK, base=FarmTask)


def _leave_outages(work: Callable[[], None]) -> None:
    try:
        work()
    except Unavailable as error:
        # The keeper finds that nobody is at it and sends it again.
        log.warning("batch waits", part=error.part, cause=repr(error.__cause__))
