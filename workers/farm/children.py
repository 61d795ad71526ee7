"""A closer watch over a worker's child processes than Celery's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Protocol

from celery import Celery, bootsteps

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


class Told(Protocol):
    """Who wants to know of children that come and go."""

    def child_started(self) -> None:
        """Note one that began."""

    def child_ended(self, exit_code: int | None) -> None:
        """Note one that ended; a negative code is the signal that ended it."""


class Children:
    """The child processes of one worker, as its main process sees them."""

    def __init__(self, app: Celery) -> None:
        self._app = app
        self._pool: Any = None

    def tell(self, told: Told) -> None:
        """Have every start and end of a child told from when the pool starts."""
        children = self

        class ChildNews(bootsteps.StartStopStep):  # type: ignore[misc] # Celery has no types
            requires: ClassVar[set[str]] = {"celery.worker.components:Pool"}

            def start(self, worker: Any) -> None:
                children._follow(worker.pool._pool, told)

        self._app.steps["worker"].add(ChildNews)

    def count_busy(self) -> int:
        """Count the children that run a job now."""
        return self._pool.count_busy() if self._pool is not None else 0

    def find(self) -> Mapping[int, int]:
        """Give the process id of the child in each slot."""
        if self._pool is None:
            return {}
        return {child.index: child.pid for child in list(self._pool._pool)}

    def _follow(self, pool: Any, told: Told) -> None:
        self._pool = pool
        for _ in pool._pool:
            told.child_started()
        # Wrapped, since the pool's callbacks are set anew by its event loop.
        create, join = pool._create_worker_process, pool._join_exited_workers

        def create_and_tell(slot: int) -> Any:
            told.child_started()
            return create(slot)

        def join_and_tell(shutdown: bool = False) -> Any:
            exit_codes = join(shutdown)
            for exit_code in exit_codes:
                told.child_ended(exit_code)
            return exit_codes

        pool._create_worker_process = create_and_tell
        pool._join_exited_workers = join_and_tell
