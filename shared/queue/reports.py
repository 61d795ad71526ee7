"""What processes report of themselves every few seconds, kept in Redis by the names of the processes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from redis import Redis

from shared.queue.connection import reachable
from shared.queue.scripts import register

_FORGOTTEN_AFTER_SECONDS: Final = 60.0


class Reports:
    """One kind of report: a hash of the reports, and a sorted set of them by when they came."""

    def __init__(self, key: str, seen_key: str, *, valid_seconds: float) -> None:
        self._keys = [key, seen_key]
        self._valid_seconds = valid_seconds

    def put(self, redis: Redis, name: str, report: Mapping[str, Any]) -> None:
        """Store the report of a process; a client or a pipeline does.

        Raises:
            RedisError: Redis is away.
        """
        args: list[str | float] = [name, json.dumps(report), _FORGOTTEN_AFTER_SECONDS]
        register(redis, "report")(keys=self._keys, args=args)

    def remove(self, redis: Redis, name: str) -> None:
        """Remove the report of a process that ends; a client or a pipeline does.

        Raises:
            RedisError: Redis is away.
        """
        redis.hdel(self._keys[0], name)
        redis.zrem(self._keys[1], name)

    def find(self, redis: Redis) -> Sequence[dict[str, Any]]:
        """Return the reports of the last seconds, by name.

        Raises:
            Unavailable: Redis is away.
        """
        with reachable(redis):
            found = register(redis, "list_reports")(keys=self._keys, args=[self._valid_seconds])
        reports = [json.loads(text) for text in cast("list[bytes | None]", found) if text]
        return sorted(reports, key=lambda report: str(report["name"]))
