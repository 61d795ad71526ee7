"""The one task of a render worker: a thin shell over `run_job`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from celery import Celery
from celery.app.task import Context
from celery.app.trace import TraceInfo, trace_ok_t
from celery.signals import worker_process_init
from celery.states import FAILURE

from shared.jobs import RenderJob
from shared.queue.messages import WRONG_ARGUMENTS
from shared.queue.names import RENDER_TASK
from shared.telemetry import metrics
from shared.telemetry.log import get_logger
from shared.telemetry.totals import Tally
from workers.farm.run import Farm, run_job

log: Final = get_logger(__name__)

REQUEST: Final = "workers.farm.requests:Request"
UNREADABLE: Final = (ValueError, KeyError, TypeError, AttributeError)
_LONGEST_CAUSE: Final = 200
_DONE: Final = trace_ok_t(None, None, 0.0, "None")


def register_tasks(app: Celery, get_farm: Callable[[], Farm]) -> None:
    """Give the application its task; `get_farm` is called in the child process that runs it."""

    def render(*arguments: Any, delivery: int | None = None, **named: Any) -> None:
        try:
            job = RenderJob.decode(read_argument(arguments, named))
        except UNREADABLE as error:
            # Nobody can be answered: the front gives the job up at its deadline.
            drop_message(error, get_farm().tally)
            return
        run_job(job, get_farm(), delivery=delivery)

    task = app.task(render, name=RENDER_TASK, Request=REQUEST)
    # In the child process, where Celery has just put its own around each task.
    worker_process_init.connect(lambda **_: _run_plainly(task), weak=False)


def read_argument(arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """Return the one argument that each task of the farm has.

    Raises:
        ValueError: it has others.
    """
    if len(arguments) != 1 or named:
        raise ValueError(f"{len(arguments)} arguments and {len(named)} named ones, expected one")
    return arguments[0]


def drop_message(error: Exception, tally: Tally) -> None:
    """Log and count a message whose arguments are none of its task's."""
    log.error("message dropped", reason=WRONG_ARGUMENTS, cause=repr(error)[:_LONGEST_CAUSE])
    tally.count(metrics.MESSAGES_DROPPED, WRONG_ARGUMENTS)


def _run_plainly(task: Any) -> None:
    """Run the task without the states, signals and results around it.

    The farm uses none of them, and they take 0.2 ms of a render. A task that raises is handled as
    Celery handles it.
    """

    def trace(_id: str, args: Any, kwargs: Any, request: Mapping[str, Any]) -> Any:
        try:
            task.run(*args, **kwargs, delivery=request["delivery"])
        except Exception as error:  # noqa: BLE001 - Celery's to handle, whatever it is
            told = Context(request, args=args, kwargs=kwargs, called_directly=False)
            info = TraceInfo(FAILURE, error)
            handled = info.handle_error_state(task, told, call_errbacks=False)
            return trace_ok_t(handled, info, 0.0, "")
        return _DONE

    task.__trace__ = trace
