"""Task messages, and the reasons for dropping a message."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from shared.clock import epoch

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
