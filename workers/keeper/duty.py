"""What the keeper does again and again: one duty is one kind of repair."""

from __future__ import annotations

from typing import Protocol


class Duty(Protocol):
    """One kind of repair. Several keepers may do it at the same time: doing it twice is harmless."""

    @property
    def name(self) -> str:
        """Give its name in metrics and logs: `jobs_requeued`."""

    @property
    def every_seconds(self) -> float:
        """Give how long to wait between two rounds."""

    def run_once(self) -> int:
        """Do one round, bounded in time and size, and give how many things it repaired.

        Raises:
            Unavailable: a store it needs is away; the next round finds the same work.
        """
