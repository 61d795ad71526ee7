"""The one task of a render worker: a thin shell over `run_job`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from celery import Celery

from shared.jobs import RenderJob
from shared.queue.names import RENDER_TASK
from shared.telemetry.log import get_logger
from workers.farm.run import Farm, run_job

log: Final = get_logger(__name__)


def register_tasks(app: Celery, get_farm: Callable[[], Farm]) -> None:
    """Give the application its task; `get_farm` is called in the child process that runs it."""

    def render(message: str) -> None:
        try:
            job = RenderJob.decode(message)
        except (ValueError, KeyError, TypeError) as error:
            # Nobody can be answered: the front gives the job up at its deadline.
            log.error("message not understood", cause=repr(error))
            return
        run_job(job, get_farm())

    app.task(render, name=RENDER_TASK)
