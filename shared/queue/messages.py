"""Messages of tasks: what is published, and why something in a queue is dropped."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from shared.clock import epoch

NOT_A_TASK: Final = "not a task"
UNKNOWN_TASK: Final = "unknown task"
WRONG_ARGUMENTS: Final = "wrong arguments"

# Headers of ours, in seconds since 1970 by the clock of Redis.
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
