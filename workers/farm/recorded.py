"""The ends of jobs that stand in the job table: told to it after the queue has decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from shared.db.session import Session
from shared.errors import Unavailable, outwait
from shared.job_flow import JobFlow
from shared.queue.states import Ended
from shared.telemetry.log import get_logger

# A slot waits so long for a database that is away; then the keeper has the job delivered again.
PATIENCE_SECONDS: Final = 30.0
_PAUSE_SECONDS: Final = 0.5

log: Final = get_logger(__name__)


def complete(job_id: str, flow: JobFlow) -> None:
    """Put on record the end of a job that was decided before this run.

    Raises:
        Unavailable: the database stayed away; the job is delivered again and this step repeated.
    """
    _outwait(lambda: flow.complete(job_id))


def record(
    ended: Mapping[str, Ended],
    flow: JobFlow,
    *,
    first: Callable[[Session], object] = lambda _: None,
) -> AbstractSet[str]:
    """Put the ends of jobs on record in one unit of work and return which are on record.

    `first` is called first in it. An end that the database refuses takes no other along: they are
    recorded one by one then, without `first`.

    Raises:
        Unavailable: the database stayed away; the jobs are delivered again, and so completed.
    """
    try:
        _outwait(lambda: flow.record_ends(ended, first=first))
    except Unavailable:
        raise
    except Exception as error:
        if len(ended) <= 1:
            log.error("end not on record", jobs=list(ended), exc_info=error)
            return frozenset()
        return {job_id for job_id, each in ended.items() if record({job_id: each}, flow)}
    return ended.keys()


def _outwait(step: Callable[[], None]) -> None:
    outwait(step, seconds=PATIENCE_SECONDS, pause_seconds=_PAUSE_SECONDS, report=_report)


def _report(error: Unavailable) -> None:
    log.warning("end not on record yet", part=error.part, cause=repr(error.__cause__))
