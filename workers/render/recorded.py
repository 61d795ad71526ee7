"""Recording of job ends in the job table, after Redis has decided them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from shared.db.session import Session
from shared.errors import Unavailable, retry_while_unavailable
from shared.jobs.lifecycle import JobLifecycle
from shared.queue.states import EndedJob
from shared.telemetry.log import get_logger

# The slot waits this long for an unavailable database; then maintenance republishes the job.
PATIENCE_SECONDS: Final = 30.0
_PAUSE_SECONDS: Final = 0.5

log: Final = get_logger(__name__)


def complete(job_id: str, flow: JobLifecycle) -> None:
    """Record the end of a job that was decided before this run.

    Raises:
        Unavailable: the database stayed unavailable; the job is delivered again.
    """
    _retry(lambda: flow.complete(job_id))


def record(
    ended: Mapping[str, EndedJob],
    flow: JobLifecycle,
    *,
    first: Callable[[Session], object] = lambda _: None,
) -> AbstractSet[str]:
    """Record the ends of jobs in one transaction and return the ids of the recorded jobs.

    `first` is called first in the transaction. If the database rejects it, the ends are recorded one
    by one, without `first`.

    Raises:
        Unavailable: the database stayed unavailable; the jobs are delivered again and completed.
    """
    try:
        _retry(lambda: flow.record_ends(ended, first=first))
    except Unavailable:
        raise
    except Exception as error:
        if len(ended) <= 1:
            log.error("end not on record", jobs=list(ended), exc_info=error)
            return frozenset()
        return {job_id for job_id, each in ended.items() if record({job_id: each}, flow)}
    return ended.keys()


def _retry(step: Callable[[], None]) -> None:
    retry_while_unavailable(
        step, seconds=PATIENCE_SECONDS, pause_seconds=_PAUSE_SECONDS, report=_report
    )


def _report(error: Unavailable) -> None:
    log.warning("end not on record yet", part=error.part, cause=repr(error.__cause__))
