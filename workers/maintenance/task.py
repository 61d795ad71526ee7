"""The interface of maintenance tasks."""

from __future__ import annotations

from typing import Protocol


class MaintenanceTask(Protocol):
    """A periodic repair or cleanup. It is idempotent: several processes may run it concurrently."""

    @property
    def name(self) -> str:
        """The name in metrics and logs, such as `jobs_requeued`."""

    @property
    def every_seconds(self) -> float:
        """The pause between two rounds in seconds."""

    def run_once(self) -> int:
        """Run one round, limited in time and size, and return the number of repairs.

        Raises:
            Unavailable: an outage of a store; the next round finds the same work.
        """
