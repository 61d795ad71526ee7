"""A recorded job's state in the queue, for those who do not run it: the front and the keeper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, cast

from redis import Redis, RedisError

from shared.clock import epoch
from shared.jobs import JobOutcome, decode_reply
from shared.limits import STATE_TTL_SECONDS
from shared.queue.connection import guarded, reachable
from shared.queue.names import FARM_EPOCH, job_key
from shared.queue.scripts import register

CANCELLED: Final = "cancelled"
OVERDUE: Final = "overdue"  # its deadline was over before it ended
WITHDRAWN: Final = "withdrawn"  # taken out of a drained queue before a worker began it
_SETTLED_TTL_SECONDS: Final = 600


@dataclass(frozen=True, slots=True)
class Ended:
    """A job that has ended in the queue: with an outcome, or closed before it had one."""

    word: str
    outcome: JobOutcome | None


class JobStates:
    """Reads and closes the states of recorded jobs; whoever is answered may get `Unavailable`."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._close = register(redis, "close")
        self._withdraw = register(redis, "withdraw")

    def find_started(self, job_id: str) -> datetime | None:
        """Return when a worker first began the job, None when none did."""
        with reachable(self._redis):
            started = cast("bytes | None", self._redis.hget(job_key(job_id), "started_at"))
        return None if started is None else datetime.fromtimestamp(float(started), UTC)

    def list_started(self, job_ids: Sequence[str]) -> Mapping[str, datetime]:
        """Return when workers first began jobs; those that none has begun are not in it."""
        with reachable(self._redis), self._redis.pipeline(transaction=False) as pipe:
            for job_id in job_ids:
                pipe.hget(job_key(job_id), "started_at")
            found = pipe.execute()
        return {
            job_id: datetime.fromtimestamp(float(started), UTC)
            for job_id, started in zip(job_ids, found, strict=True)
            if started is not None
        }

    def look_after(self, job_id: str, running_seconds: float) -> bool:
        """Note since when a job runs, where that is not known, and return whether it has ended."""
        with reachable(), self._redis.pipeline() as pipe:
            pipe.hsetnx(job_key(job_id), "started_at", str(epoch() - running_seconds))
            pipe.expire(job_key(job_id), STATE_TTL_SECONDS)
            pipe.hexists(job_key(job_id), "done")
            return bool(pipe.execute()[-1])

    def count_deliveries(self, job_id: str) -> int:
        """Return how often workers began the job."""
        with reachable(self._redis):
            return int(cast("bytes | None", self._redis.hget(job_key(job_id), "deliveries")) or 0)

    def find_end(self, job_id: str) -> Ended | None:
        """Return how the job ended, None when it has not."""
        with reachable(self._redis):
            word, outcome = cast(
                "list[bytes | None]", self._redis.hmget(job_key(job_id), "done", "outcome")
            )
        return None if word is None else _ended(word, outcome)

    def close(self, job_id: str, word: str) -> Ended | None:
        """End a job without an outcome: nothing of it is committed or metered from now on.

        Return how it ended instead when it had ended before.
        """
        with reachable(self._redis):
            before = cast(
                "list[bytes | None] | None",
                self._close(keys=[job_key(job_id)], args=[word, STATE_TTL_SECONDS]),
            )
        if not before or before[0] is None:
            return None
        return _ended(before[0], before[1])

    def withdraw(self, job_id: str) -> bool:
        """Withdraw a job that no worker has begun, and return whether it was. It never runs then."""
        with reachable(self._redis):
            args: list[str | int] = [WITHDRAWN, STATE_TTL_SECONDS]
            return bool(self._withdraw(keys=[job_key(job_id)], args=args))

    def settle(self, job_ids: Iterable[str]) -> None:
        """Let states expire soon: the jobs' ends are on record. Without Redis they expire later."""
        with suppress(RedisError), guarded(self._redis):
            pipe = self._redis.pipeline(transaction=False)
            for job_id in job_ids:
                pipe.expire(job_key(job_id), _SETTLED_TTL_SECONDS)
            pipe.execute()

    def begin_epoch(self) -> bool:
        """Return whether Redis has lost what it had, or never had anything; asked again, it has not."""
        with reachable(self._redis):
            return bool(self._redis.set(FARM_EPOCH, str(epoch()), nx=True))

    def read_epoch_age(self) -> float:
        """Return for how many seconds Redis has had its memory; 0 when nobody has looked yet."""
        with reachable(self._redis):
            begun = cast("bytes | None", self._redis.get(FARM_EPOCH))
        return 0.0 if begun is None else max(epoch() - float(begun), 0.0)


def _ended(word: bytes, outcome: bytes | None) -> Ended:
    return Ended(word.decode(), None if outcome is None else decode_reply(outcome))
