"""Synchronises processes with the clock of Redis, and reports the skew of their machines' clocks."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Event, Thread
from typing import Final

from redis import Redis, RedisError

from shared.clock import follow_clock, machine_epoch, ticks
from shared.queue.connection import connect
from shared.queue.names import CLOCKS, CLOCKS_SEEN
from shared.queue.worker_presence import ProcessReports
from shared.shards import ShardAddress
from shared.telemetry.log import get_logger

MAX_SKEW_SECONDS: Final = 5.0  # a larger skew is reported as a problem
SYNC_INTERVAL_SECONDS: Final = 10.0
_RETRY_SECONDS: Final = 1.0
_FIRST_SYNC_SECONDS: Final = 1.0  # how long a starting process waits for it
# The time of a slower reply is too inaccurate.
_MAX_ROUND_TRIP_SECONDS: Final = 0.2

_REPORTS: Final = ProcessReports(CLOCKS, CLOCKS_SEEN, valid_seconds=25.0)

log: Final = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ClockReport:
    """The seconds by which the clock of a process's machine is ahead of that of Redis."""

    name: str
    ahead_seconds: float

    @property
    def is_skewed(self) -> bool:
        """Whether the skew exceeds `MAX_SKEW_SECONDS`."""
        return abs(self.ahead_seconds) > MAX_SKEW_SECONDS


class FarmClock:
    """Synchronises this process with the clock of the first of several Redis servers, by shard.

    `kind` names the process in reports; without it, nothing is reported.
    """

    def __init__(self, servers: Mapping[str, Redis], *, kind: str = "") -> None:
        self._servers = dict(servers)
        self._first = next(iter(self._servers))
        self._name = f"{kind} {socket.gethostname()}:{os.getpid()}" if kind else ""
        self._skews: dict[str, float] = {}
        self._due_at = 0.0

    @classmethod
    def of_shards(cls, shards: Sequence[ShardAddress], *, kind: str = "") -> FarmClock:
        """Make a clock with connections of its own, opened on first use."""
        return cls({shard.name: connect(shard.url) for shard in shards}, kind=kind)

    def read_skews(self) -> Mapping[tuple[str, ...], float]:
        """Return the seconds by which the machine's clock is ahead of each server's, where known, by shard."""
        return {(shard,): round(skew, 3) for shard, skew in self._skews.items()}

    def ahead_of(self, shard: str) -> float:
        """Return the seconds by which a server's clock is ahead of the first one's."""
        if shard not in self._skews or self._first not in self._skews:
            return 0.0
        ahead = self._skews[self._first] - self._skews[shard]
        return ahead if abs(ahead) > _MAX_ROUND_TRIP_SECONDS else 0.0

    def sync(self) -> bool:
        """Read the time of every server; return whether the first one answered. Never raises."""
        return all([self._sync_with(shard) for shard in self._servers][:1])

    def sync_if_due(self) -> None:
        """Synchronise if the last time is `SYNC_INTERVAL_SECONDS` ago; for processes without the thread."""
        if ticks() >= self._due_at:
            self._due_at = ticks() + SYNC_INTERVAL_SECONDS
            self.sync()

    def start(self) -> None:
        """Start a daemon thread that synchronises regularly; wait a second at most for its first time."""
        has_looked = Event()
        Thread(target=self._watch, args=(has_looked,), name="clock", daemon=True).start()
        has_looked.wait(_FIRST_SYNC_SECONDS)

    def _watch(self, has_looked: Event) -> None:
        rest = Event()
        while True:
            try:
                is_known = self.sync()
            except Exception as error:
                is_known = False
                log.error("clock not compared", exc_info=error)
            has_looked.set()
            rest.wait(SYNC_INTERVAL_SECONDS if is_known else _RETRY_SECONDS)

    def _sync_with(self, shard: str) -> bool:
        redis = self._servers[shard]
        try:
            asked_at = ticks()
            seconds, microseconds = redis.time()
            answered_at = ticks()
        except RedisError:
            return False
        if answered_at - asked_at > _MAX_ROUND_TRIP_SECONDS:
            return False
        shown, at = seconds + microseconds / 1e6, (asked_at + answered_at) / 2
        self._skews[shard] = machine_epoch() - (shown + ticks() - at)
        if shard == self._first:
            follow_clock(shown, at=at)
        if self._name:
            self._report(redis, self._skews[shard])
        return True

    def _report(self, redis: Redis, skew: float) -> None:
        report = {"name": self._name, "ahead_seconds": round(skew, 3)}
        with suppress(
            RedisError
        ):  # for example a full disk: the next report follows within seconds
            _REPORTS.store(redis, self._name, report)


def find_clocks(redis: Redis) -> Sequence[ClockReport]:
    """Return the clock reports of the farm's processes that are still valid.

    Raises:
        Unavailable: Redis is unreachable.
    """
    return [
        ClockReport(report["name"], float(report["ahead_seconds"]))
        for report in _REPORTS.find(redis)
    ]
