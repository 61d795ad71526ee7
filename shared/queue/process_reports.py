"""Regular status reports of processes, stored in Redis by process name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from redis import Redis

from shared.queue.connection import reachable, register

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
        """Return the valid reports, sorted by name.

        Raises:
            Unavailable: Redis is unreachable.
        """
        with reachable():
            found = register(redis, "list_reports")(keys=self._keys, args=[self._valid_seconds])
        reports = [json.loads(text) for text in cast("list[bytes | None]", found) if text]
        return sorted(reports, key=lambda report: str(report["name"]))
