"""The end of a job that stands in the job table: told to it after the queue has decided."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from shared.clock import ticks
from shared.errors import Unavailable
from shared.job_flow import JobFlow
from shared.jobs import JobOutcome, RenderJob
from shared.queue.states import Ended
from shared.telemetry.log import get_logger

# A slot waits so long for a database that is away; then the keeper has the job delivered again.
PATIENCE_SECONDS: Final = 30.0
_PAUSE_SECONDS: Final = 0.5

log: Final = get_logger(__name__)


def is_open(job: RenderJob, flow: JobFlow) -> bool:
    """Tell whether the job table has a job open; a table that is away has it open."""
    try:
        return flow.is_open(job.id)
    except Unavailable:
        return True  # the end is told to the database, which will know


def record_end(job: RenderJob, outcome: JobOutcome | None, flow: JobFlow) -> None:
    """Put the end of a job on record: this run's outcome, or None for what was decided before it.

    Raises:
        Unavailable: the database stayed away; the job is delivered again and this step repeated.
    """
    if outcome is None:
        _outwait(lambda: flow.complete(job.id))
    else:
        _outwait(lambda: flow.record_end(job.id, Ended("", outcome)))


def _outwait(step: Callable[[], None]) -> None:
    patient_until = ticks() + PATIENCE_SECONDS
    while True:
        try:
            step()
        except Unavailable as error:
            if ticks() >= patient_until:
                raise
            log.warning("end not on record yet", part=error.part, cause=repr(error.__cause__))
            time.sleep(_PAUSE_SECONDS)
        else:
            return
