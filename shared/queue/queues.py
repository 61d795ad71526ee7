"""The protocol for reading a broker's queues, and the headers of task messages with their validation.

An adapter for each kind of broker implements it: `queue_factory` and `amqp_queues`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from typing import Any, ClassVar, Final, Protocol

from shared.clock import epoch


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


NOT_A_TASK: Final = "not a task"
UNKNOWN_TASK: Final = "unknown task"
WRONG_ARGUMENTS: Final = "wrong arguments"

# Pressroom's own headers, in seconds since 1970 by the clock of Redis.
ADMITTED_AT: Final = "admitted_at"  # when the work was admitted: the age of a queue's oldest
PUBLISHED_AT: Final = "published_at"


@dataclass(frozen=True, slots=True)
class TaskMessage:
    """A task to publish. Its process is killed after `limit_seconds`."""

    task: str
    id: str
    queue: str
    argument: Any
    limit_seconds: float
    admitted_at: float
    published_at: float = field(default_factory=epoch)


def read_time_header(headers: Mapping[str, object], name: str) -> float | None:
    """Return the time in a header of a message, None if it is missing or invalid."""
    found = headers.get(name)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    with suppress(OverflowError):
        return float(found)
    return None


MAX_ID_LENGTH: Final = 512  # characters of an id or a tag


def is_valid_message(headers: Mapping[str, Any], body: Any) -> bool:
    """Return whether Celery can read a task, or a message of remote control or of events.

    Tasks of Celery's protocol version 1, which are in the body, are invalid.
    """
    if "task" in headers:
        return _is_task(headers) and _is_body_of_task(body)
    return isinstance(body, list) or (isinstance(body, dict) and "task" not in body)


def _is_task(headers: Mapping[str, Any]) -> bool:
    match headers:
        case {
            "task": str(),
            "id": str(task_id),
            "timelimit": [int() | float(), None],
            "eta": None,
            "expires": None,
            "retries": int(),
        }:
            return 0 < len(task_id) <= MAX_ID_LENGTH
    return False


def _is_body_of_task(body: Any) -> bool:
    match body:
        case [list(), dict(), dict() as embedded]:
            return not any(embedded.values())  # no callbacks, chain or chord
    return False
