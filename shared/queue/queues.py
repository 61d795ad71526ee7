"""Protocol for reading a broker's queues, implemented by an adapter for each kind of broker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar, Final, Protocol


@dataclass(frozen=True, slots=True)
class QueueHead:
    """The number of waiting messages of a queue, and the times of the next one.

    Times are seconds since 1970. `admitted_at` is None if the queue is empty or the broker does not report it.
    Every message published before `passed_until` has left the queue; -inf if unknown.
    """

    waiting: int
    admitted_at: float | None
    passed_until: float

    def has_passed(self, published_at: float) -> bool:
        """Return whether a message published at that time has certainly left the queue."""
        return published_at < self.passed_until


EMPTY: Final = QueueHead(0, None, inf)


class Queues(Protocol):
    """Reads queues; methods raise `Unavailable` while the broker is unreachable.

    `has_ages`: whether the broker reports when the next message of a queue was admitted.
    """

    has_ages: ClassVar[bool]

    def read(self, queues: Sequence[str]) -> Mapping[str, QueueHead]:
        """Return the head of each queue, by name."""

    def check(self) -> None:
        """Check that the broker answers."""
