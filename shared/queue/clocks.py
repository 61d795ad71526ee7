"""The farm's clock is that of Redis: processes follow it, and report how far their machines' differ."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Event, Thread
from typing import Final

from redis import Redis, RedisError

from shared.clock import follow, machine_epoch, ticks
from shared.queue.connection import connect
from shared.queue.names import CLOCKS, CLOCKS_SEEN
from shared.queue.reports import Reports
from shared.shards import ShardAddress
from shared.telemetry.log import get_logger

MOST_SKEW_SECONDS: Final = 5.0  # more is reported as a problem
LOOK_EVERY_SECONDS: Final = 10.0
_LOOK_AGAIN_SECONDS: Final = 1.0
_FIRST_LOOK_SECONDS: Final = 1.0  # how long a process that starts waits for it
# An answer that took longer does not tell what the server's clock shows.
_QUICK_SECONDS: Final = 0.2

_REPORTS: Final = Reports(CLOCKS, CLOCKS_SEEN, valid_seconds=25.0)

log: Final = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ClockReport:
    """How far the clock of a process's machine is ahead of Redis', in seconds."""

    name: str
    ahead_seconds: float

    @property
    def is_skewed(self) -> bool:
        """Return whether that is more than it may be."""
        return abs(self.ahead_seconds) > MOST_SKEW_SECONDS


class FarmClock:
    """Has this process follow the clock of the first of some Redis servers, by shard.

    `kind` is what the process is reported as; one without is not reported.
    """

    def __init__(self, servers: Mapping[str, Redis], *, kind: str = "") -> None:
        self._servers = dict(servers)
        self._first = next(iter(self._servers))
        self._name = f"{kind} {socket.gethostname()}:{os.getpid()}" if kind else ""
        self._skews: dict[str, float] = {}
        self._due_at = 0.0

    @classmethod
    def of_shards(cls, shards: Sequence[ShardAddress], *, kind: str = "") -> FarmClock:
        """Make one with connections of its own; nothing is connected yet."""
        return cls({shard.name: connect(shard.url) for shard in shards}, kind=kind)

    @property
    def skews(self) -> Mapping[str, float]:
        """Return how far the machine's clock is ahead of each server's, in seconds, where known."""
        return dict(self._skews)

    def ahead_of(self, shard: str) -> float:
        """Return how far a server's clock is ahead of the one that is followed."""
        if shard not in self._skews or self._first not in self._skews:
            return 0.0
        ahead = self._skews[self._first] - self._skews[shard]
        return ahead if abs(ahead) > _QUICK_SECONDS else 0.0

    def look(self) -> bool:
        """Ask every server for its time; tell whether the first answered. It raises nothing."""
        return all([self._ask(shard) for shard in self._servers][:1])

    def look_if_due(self) -> None:
        """Ask again where that was some seconds ago; for a process without the thread."""
        if ticks() >= self._due_at:
            self._due_at = ticks() + LOOK_EVERY_SECONDS
            self.look()

    def start(self) -> None:
        """Ask now, for a second at most, and then again and again, in a thread that ends with the
        process.
        """
        has_looked = Event()
        Thread(target=self._watch, args=(has_looked,), name="clock", daemon=True).start()
        has_looked.wait(_FIRST_LOOK_SECONDS)

    def _watch(self, has_looked: Event) -> None:
        rest = Event()
        while True:
            try:
                is_known = self.look()
            except Exception as error:
                is_known = False
                log.error("clock not compared", exc_info=error)
            has_looked.set()
            rest.wait(LOOK_EVERY_SECONDS if is_known else _LOOK_AGAIN_SECONDS)

    def _ask(self, shard: str) -> bool:
        redis = self._servers[shard]
        try:
            asked_at = ticks()
            seconds, microseconds = redis.time()
            answered_at = ticks()
        except RedisError:
            return False
        if answered_at - asked_at > _QUICK_SECONDS:
            return False
        shown, at = seconds + microseconds / 1e6, (asked_at + answered_at) / 2
        self._skews[shard] = machine_epoch() - (shown + ticks() - at)
        if shard == self._first:
            follow(shown, at=at)
        if self._name:
            self._report(redis, self._skews[shard])
        return True

    def _report(self, redis: Redis, skew: float) -> None:
        report = {"name": self._name, "ahead_seconds": round(skew, 3)}
        with suppress(RedisError):  # as on a full disk: the next report is seconds away
            _REPORTS.put(redis, self._name, report)


def find_clocks(redis: Redis) -> Sequence[ClockReport]:
    """Return what the farm's processes reported of their machines' clocks in the last seconds.

    Raises:
        Unavailable: Redis is away.
    """
    return [
        ClockReport(report["name"], float(report["ahead_seconds"]))
        for report in _REPORTS.find(redis)
    ]
