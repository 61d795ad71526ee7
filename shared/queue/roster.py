"""Which workers there are, wherever they run: each says so every few seconds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, cast

from redis import Redis

from shared.queue.connection import reachable
from shared.queue.names import WORKERS, WORKERS_SEEN

SAY_EVERY_SECONDS: Final = 2.0
_GONE_AFTER_SECONDS: Final = 7.0
_FORGOTTEN_AFTER_SECONDS: Final = 60.0

# By the server's clock: those of the workers' machines may differ.
_SAY: Final = """
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], time[1], ARGV[1])
local old = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', time[1] - ARGV[3], 'LIMIT', 0, 100)
for _, name in ipairs(old) do
    redis.call('HDEL', KEYS[1], name)
    redis.call('ZREM', KEYS[2], name)
end
"""
_FIND: Final = """
local time = redis.call('TIME')
local said = {}
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], time[1] - ARGV[1], '+inf')) do
    said[#said + 1] = redis.call('HGET', KEYS[1], name)
end
return said
"""
_KEYS: Final = [WORKERS, WORKERS_SEEN]


@dataclass(frozen=True, slots=True)
class WorkerWord:
    """What a worker says of itself: its host and process, what it takes from, its slots in use."""

    name: str
    queues: tuple[str, ...]
    slots: int
    busy: int


def say_present(pipe: Any, word: WorkerWord) -> None:
    """Add a worker's word to a pipeline."""
    args = [word.name, json.dumps(asdict(word)), _FORGOTTEN_AFTER_SECONDS]
    pipe.eval(_SAY, len(_KEYS), *_KEYS, *args)


def say_goodbye(pipe: Any, name: str) -> None:
    """Add to a pipeline that a worker is no more."""
    pipe.hdel(WORKERS, name)
    pipe.zrem(WORKERS_SEEN, name)


def find_workers(redis: Redis) -> Sequence[WorkerWord]:
    """Give the workers that spoke in the last seconds, by name.

    Raises:
        Unavailable: Redis is away.
    """
    with reachable():
        said = cast("list[bytes]", redis.eval(_FIND, len(_KEYS), *_KEYS, _GONE_AFTER_SECONDS))
    words = [json.loads(text) for text in said if text]
    found = [WorkerWord(**{**word, "queues": tuple(word["queues"])}) for word in words]
    return sorted(found, key=lambda word: word.name)
