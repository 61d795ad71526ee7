"""Which workers there are, and which tasks they hold: each worker reports it every second.

A task that no worker has reported for `LEASE_SECONDS` is held by none: its worker died, or lost it.
Times are those of the Redis server; the clocks of the workers' machines may differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, field
from typing import Final, cast

from redis import Redis

from shared.queue.connection import reachable
from shared.queue.names import DRAINED, HELD_TASKS, WORKERS, WORKERS_SEEN
from shared.queue.reports import Reports
from shared.queue.scripts import register

REPORT_SECONDS: Final = 1.0
LEASE_SECONDS: Final = 4.0
_REPORTS: Final = Reports(WORKERS, WORKERS_SEEN, valid_seconds=LEASE_SECONDS)


@dataclass(frozen=True, slots=True)
class WorkerWord:
    """What a worker reports: host and process, its queues, its slots, slots in use, tasks held.

    `held` counts the tasks that it runs or is about to run, by queue.
    """

    name: str
    queues: tuple[str, ...]
    slots: int
    busy: int
    held: Mapping[str, int] = field(default_factory=dict)


def report(redis: Redis, word: WorkerWord, task_ids: Sequence[str] = ()) -> AbstractSet[str]:
    """Report a worker and renew the lease of the tasks it holds; return the drained queues.

    Raises:
        Unavailable: Redis is away.
    """
    with reachable(redis), redis.pipeline() as pipe:
        _REPORTS.put(pipe, word.name, asdict(word))
        register(redis, "renew_leases")(
            keys=[HELD_TASKS], args=[LEASE_SECONDS, *task_ids], client=pipe
        )
        pipe.hkeys(DRAINED)
        drained = cast("list[bytes]", pipe.execute()[-1])
    return {queue.decode() for queue in drained}


def sign_off(redis: Redis, name: str) -> None:
    """Remove a worker that ends.

    Raises:
        Unavailable: Redis is away; the report lapses within seconds.
    """
    with reachable(redis), redis.pipeline() as pipe:
        _REPORTS.remove(pipe, name)
        pipe.execute()


def find_workers(redis: Redis) -> Sequence[WorkerWord]:
    """Return the workers that reported within `LEASE_SECONDS`, by name.

    Raises:
        Unavailable: Redis is away.
    """
    return [
        WorkerWord(**{**word, "queues": tuple(word["queues"])}) for word in _REPORTS.find(redis)
    ]


def find_held_tasks(redis: Redis) -> AbstractSet[str]:
    """Return the ids of the tasks that living workers hold.

    Raises:
        Unavailable: Redis is away.
    """
    with reachable(redis):
        found = register(redis, "list_held")(keys=[HELD_TASKS], args=[LEASE_SECONDS])
    return {task_id.decode() for task_id in cast("list[bytes]", found)}
