"""Which workers there are, wherever they run: each says so every few seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from redis import Redis

from shared.queue.names import WORKERS, WORKERS_SEEN
from shared.queue.reports import Reports

SAY_EVERY_SECONDS: Final = 2.0
_REPORTS: Final = Reports(WORKERS, WORKERS_SEEN, valid_seconds=7.0)


@dataclass(frozen=True, slots=True)
class WorkerWord:
    """What a worker says of itself: its host and process, what it takes from, its slots in use."""

    name: str
    queues: tuple[str, ...]
    slots: int
    busy: int


def say_present(pipe: Any, word: WorkerWord) -> None:
    """Add a worker's word to a pipeline."""
    _REPORTS.put(pipe, word.name, asdict(word))


def say_goodbye(pipe: Any, name: str) -> None:
    """Add to a pipeline that a worker is no more."""
    _REPORTS.remove(pipe, name)


def find_workers(redis: Redis) -> Sequence[WorkerWord]:
    """Give the workers that spoke in the last seconds, by name.

    Raises:
        Unavailable: Redis is away.
    """
    return [
        WorkerWord(**{**word, "queues": tuple(word["queues"])}) for word in _REPORTS.find(redis)
    ]
