"""The render task: a thin shell over `run_job`; and the base class of every task of the farm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from celery import Celery, Task

from shared.jobs import RenderJob
from shared.queue.messages import WRONG_ARGUMENTS
from shared.queue.names import RENDER_TASK
from shared.telemetry import metrics
from shared.telemetry.log import get_logger
from shared.telemetry.totals import Tally
from workers.farm.run import Farm, run_job

log: Final = get_logger(__name__)

UNREADABLE: Final = (ValueError, KeyError, TypeError, AttributeError)
_LONGEST_CAUSE: Final = 200


class FarmTask(Task):  # type: ignore[misc] # Celery has no types
    """A task whose message is acknowledged when its job has ended.

    A killed child's message is delivered again, and `Commits.begin` counts how often. Arguments are
    checked by the tasks themselves: whoever wrote them is a stranger.
    """

    abstract = True
    acks_late = True
    reject_on_worker_lost = True
    ignore_result = True
    typing = False  # of arguments, when a task is published

    def on_failure(
        self, exc: BaseException, task_id: str, args: Any, kwargs: Any, einfo: Any
    ) -> None:
        """Log a task that raised; the keeper or the waiting front publishes its job again."""
        del args, kwargs, einfo
        log.error("task failed", job=task_id, task=self.name, exc_info=exc)


def register_tasks(app: Celery, get_farm: Callable[[], Farm]) -> None:
    """Register the task; `get_farm` is called in the child process that runs it."""

    def render(*arguments: Any, **named: Any) -> None:
        try:
            job = RenderJob.decode(read_argument(arguments, named))
        except UNREADABLE as error:
            # Nobody can be answered: the front gives the job up at its deadline.
            drop_message(error, get_farm().tally)
            return
        run_job(job, get_farm())

    app.task(render, name=RENDER_TASK, base=FarmTask)


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
