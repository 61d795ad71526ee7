"""Regular reports of processes in Redis: presence of workers and leases of their tasks, reported every second.

The lease of a task lapses if no worker has reported it for `TASK_LEASE_SECONDS`: its worker died or lost it.
Times are those of the Redis server, since the clocks of the workers' machines may differ. Functions
raise `Unavailable` while Redis is unreachable, unless they take a pipeline.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, Final, cast

from msgspec import field
from redis import Redis
from redis.client import Pipeline

from shared.clock import epoch
from shared.queue.connection import reachable, register
from shared.queue.names import DRAINED, HELD_TASKS, QUEUES, QUEUES_PASSED, WORKERS, WORKERS_SEEN
from shared.queue.queues import QueueHead, Queues
from shared.records import Record

_FORGOTTEN_AFTER_SECONDS: Final = 60.0


class ProcessReports:
    """One kind of report: a hash of the reports, and a sorted set of process names by time."""

    def __init__(self, key: str, seen_key: str, *, valid_seconds: float) -> None:
        self._keys = [key, seen_key]
        self._valid_seconds = valid_seconds

    def store(self, redis: Redis, name: str, report: Mapping[str, Any]) -> None:
        """Store the report of a process; `redis` may be a pipeline.

        Raises:
            RedisError: Redis is unreachable.
        """
        args: list[str | float] = [name, json.dumps(report), _FORGOTTEN_AFTER_SECONDS]
        register(redis, "report")(keys=self._keys, args=args)

    def remove(self, redis: Redis, name: str) -> None:
        """Remove the report of a process that ends; `redis` may be a pipeline.

        Raises:
            RedisError: Redis is unreachable.
        """
        redis.hdel(self._keys[0], name)
        redis.zrem(self._keys[1], name)

    def find(self, redis: Redis) -> Sequence[dict[str, Any]]:
        """Return the valid reports, sorted by name."""
        with reachable():
            found = register(redis, "list_reports")(keys=self._keys, args=[self._valid_seconds])
        reports = [json.loads(text) for text in cast("list[bytes | None]", found) if text]
        return sorted(reports, key=lambda report: str(report["name"]))


def record_passed(redis: Redis | Pipeline, passed: Mapping[str, float]) -> None:
    """Record, by queue, the time before which every admitted message has left the queue.

    Raises:
        RedisError: Redis is unreachable.
    """
    if passed:
        redis.zadd(QUEUES_PASSED, dict(passed), gt=True)


def read_heads(redis: Redis, queues: Queues, names: Sequence[str]) -> Mapping[str, QueueHead]:
    """Read queues; a broker that does not report admission times gets an upper bound of the age.

    Raises:
        Unavailable: the broker or Redis is unreachable.
    """
    if queues.has_ages:
        return queues.read(names)
    looked_at = epoch()
    # All queues: one that is empty now bounds the age of its next message.
    heads = queues.read(QUEUES)
    with reachable():
        record_passed(redis, {name: looked_at for name, head in heads.items() if not head.waiting})
        found = redis.zrange(QUEUES_PASSED, 0, -1, withscores=True)
    passed = {name.decode(): at for name, at in cast("list[tuple[bytes, float]]", found)}
    return {
        name: replace(heads[name], admitted_at=passed.get(name))
        if heads[name].waiting
        else heads[name]
        for name in names
    }


REPORT_SECONDS: Final = 1.0
TASK_LEASE_SECONDS: Final = 4.0
_REPORTS: Final = ProcessReports(WORKERS, WORKERS_SEEN, valid_seconds=TASK_LEASE_SECONDS)


class WorkerReport(Record, frozen=True):
    """A worker's report: host and process, queues, slots and busy slots.

    `held` is the number of running and prefetched tasks, by queue. `landlock` is the version of the kernel's
    sandbox around its rendering processes, 0 without.
    """

    name: str
    queues: tuple[str, ...]
    slots: int
    busy: int
    held: Mapping[str, int] = field(default_factory=dict)
    landlock: int = 0


def report_worker(
    redis: Redis,
    worker: WorkerReport,
    task_ids: Sequence[str] = (),
    *,
    passed: Mapping[str, float] | None = None,
) -> AbstractSet[str]:
    """Report a worker and renew the lease of the tasks it holds; return the drained queues.

    `passed` is for brokers that do not report ages, see `shared.queue.worker_presence`.
    """
    with reachable(), redis.pipeline() as pipe:
        _REPORTS.store(pipe, worker.name, worker.to_builtins())
        register(redis, "renew_leases")(
            keys=[HELD_TASKS], args=[TASK_LEASE_SECONDS, *task_ids], client=pipe
        )
        record_passed(pipe, passed or {})
        pipe.hkeys(DRAINED)
        drained = cast("list[bytes]", pipe.execute()[-1])
    return {queue.decode() for queue in drained}


def remove_worker(redis: Redis, name: str) -> None:
    """Remove a worker that ends.

    Raises:
        Unavailable: Redis is unreachable; the report expires within seconds.
    """
    with reachable(), redis.pipeline() as pipe:
        _REPORTS.remove(pipe, name)
        pipe.execute()


def find_workers(redis: Redis) -> Sequence[WorkerReport]:
    """Return the workers that reported within `TASK_LEASE_SECONDS`, sorted by name."""
    return [WorkerReport.of_builtins(report) for report in _REPORTS.find(redis)]


def find_held_tasks(redis: Redis) -> AbstractSet[str]:
    """Return the ids of the tasks with a valid lease."""
    with reachable():
        found = register(redis, "list_held")(keys=[HELD_TASKS], args=[TASK_LEASE_SECONDS])
    return {task_id.decode() for task_id in cast("list[bytes]", found)}
