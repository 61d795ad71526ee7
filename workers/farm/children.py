"""A closer watch over a worker's child processes than Celery's own."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from celery import bootsteps

LOOK_EVERY_SECONDS: Final = 0.2


class ChildWatch(bootsteps.StartStopStep):  # type: ignore[misc] # Celery has no types
    """Has the pool look for ended children five times a second.

    Celery is told when a child's pipe closes, which is a moment before the child can be
    collected, and then looks again only after 5 s: so long a killed render would wait.
    """

    requires: ClassVar[set[str]] = {"celery.worker.consumer.tasks:Tasks"}

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self._timer: Any = None

    def start(self, consumer: Any) -> None:
        """Begin to look; Celery starts the step anew after each reconnect."""
        maintain = consumer.pool._pool.maintain_pool
        self._timer = consumer.timer.call_repeatedly(LOOK_EVERY_SECONDS, maintain)

    def stop(self, consumer: Any) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
