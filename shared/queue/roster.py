"""Which workers there are, and which tasks they hold: each worker reports it every second.

A task that no worker has reported for `LEASE_SECONDS` is held by none: its worker died, or lost it.
Times are those of the Redis server; the clocks of the workers' machines may differ.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, field
from typing import Final, cast

from redis import Redis

from shared.queue.connection import reachable
from shared.queue.names import DRAINED, HELD_TASKS, WORKERS, WORKERS_SEEN

REPORT_SECONDS: Final = 1.0
LEASE_SECONDS: Final = 4.0
_FORGOTTEN_AFTER_SECONDS: Final = 60.0

# KEYS: what workers report, when they did, tasks by when they were last held, drained queues.
# ARGV: 1 the worker, 2 its report, 3 after how many seconds reports are forgotten, 4.. held tasks.
# Returns the drained queues.
_REPORT: Final = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], now, ARGV[1])
for i = 4, #ARGV do redis.call('ZADD', KEYS[3], now, ARGV[i]) end
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now - ARGV[3])
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[3], 'LIMIT', 0, 100)) do
    redis.call('HDEL', KEYS[1], name)
    redis.call('ZREM', KEYS[2], name)
end
return redis.call('HKEYS', KEYS[4])
"""
# KEYS: what workers report, when they did. ARGV: for how many seconds a report holds.
_FIND: Final = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local reports = {}
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], now - ARGV[1], '+inf')) do
    reports[#reports + 1] = redis.call('HGET', KEYS[1], name)
end
return reports
"""
# KEYS: tasks by when they were last held. ARGV: for how many seconds they are.
_FIND_HELD: Final = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
return redis.call('ZRANGEBYSCORE', KEYS[1], now - ARGV[1], '+inf')
"""


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
    keys = [WORKERS, WORKERS_SEEN, HELD_TASKS, DRAINED]
    args: list[str | float] = [
        word.name,
        json.dumps(asdict(word)),
        _FORGOTTEN_AFTER_SECONDS,
        *task_ids,
    ]
    with reachable():
        drained = cast("list[bytes]", redis.eval(_REPORT, len(keys), *keys, *args))
    return {queue.decode() for queue in drained}


def sign_off(redis: Redis, name: str) -> None:
    """Remove a worker that ends.

    Raises:
        Unavailable: Redis is away; the report lapses within seconds.
    """
    with reachable(), redis.pipeline() as pipe:
        pipe.hdel(WORKERS, name)
        pipe.zrem(WORKERS_SEEN, name)
        pipe.execute()


def find_workers(redis: Redis) -> Sequence[WorkerWord]:
    """Return the workers that reported within `LEASE_SECONDS`, by name.

    Raises:
        Unavailable: Redis is away.
    """
    with reachable():
        reports = redis.eval(_FIND, 2, WORKERS, WORKERS_SEEN, LEASE_SECONDS)
    words = [json.loads(text) for text in cast("list[bytes]", reports) if text]
    found = [WorkerWord(**{**word, "queues": tuple(word["queues"])}) for word in words]
    return sorted(found, key=lambda word: word.name)


def find_held_tasks(redis: Redis) -> AbstractSet[str]:
    """Return the ids of the tasks that living workers hold.

    Raises:
        Unavailable: Redis is away.
    """
    with reachable():
        found = redis.eval(_FIND_HELD, 1, HELD_TASKS, LEASE_SECONDS)
    return {task_id.decode() for task_id in cast("list[bytes]", found)}
