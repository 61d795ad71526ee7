"""Redelivery of running jobs after a lost connection to an AMQP broker."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from celery import bootsteps
from celery.worker import state as worker_state

from shared.errors import Unavailable
from shared.queue.commits import Commits
from shared.queue.names import RENDER_TASK
from shared.telemetry.log import get_logger
from workers.farm.presence import copy_requests

log: Final = get_logger(__name__)


class RedeliveryStep(bootsteps.StartStopStep):  # type: ignore[misc] # Celery has no types
    """Reverts the delivery count of each running job when the connection is lost.

    Running jobs continue, but the broker delivers their messages again. These deliveries must not count as
    crashes: two lost connections would fail a harmless job.
    """

    requires: ClassVar[set[str]] = {"celery.worker.consumer.tasks:Tasks"}
    commits: ClassVar[Commits]

    @classmethod
    def of(cls, commits: Commits) -> type[RedeliveryStep]:
        """Return the step class of one worker; Celery instantiates it."""
        return type(cls.__name__, (cls,), {"commits": commits})

    def stop(self, consumer: Any) -> None:
        """Revert the counts; Celery calls it when the connection is lost and when the worker stops."""
        del consumer
        for request in copy_requests(worker_state.active_requests):
            if request.name != RENDER_TASK or request.acknowledged:
                continue
            try:
                self.commits.uncount_delivery(request.id)
            except Unavailable as error:
                log.warning("delivery not taken back", job=request.id, cause=repr(error.__cause__))
