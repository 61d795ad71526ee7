"""A recorded job's state in the queue, for those who do not run it: the front and the keeper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, cast

from redis import Redis

from shared.clock import epoch
from shared.jobs import JobOutcome
from shared.limits import STATE_TTL_SECONDS
from shared.line import Line
from shared.queue.connection import reachable
from shared.queue.names import FARM_EPOCH, job_key
from shared.queue.parcels import unpack

CANCELLED: Final = "cancelled"
OVERDUE: Final = "overdue"  # its deadline was over before it ended
WITHDRAWN: Final = "withdrawn"  # taken out of a drained queue before a worker began it
_SETTLED_TTL_SECONDS: Final = 600

# Gives how the job ended before, false where this closed it.
_CLOSE: Final = """
local state = redis.call('HMGET', KEYS[1], 'done', 'outcome')
if state[1] and state[1] ~= ARGV[1] then return state end
redis.call('HSET', KEYS[1], 'done', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return false
"""

# As `_CLOSE`, unless a worker has begun it; its message finds it ended.
_WITHDRAW: Final = """
local state = redis.call('HMGET', KEYS[1], 'done', 'deliveries')
if state[1] or tonumber(state[2] or '0') > 0 then return 0 end
redis.call('HSET', KEYS[1], 'done', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """A job that has ended in the queue: with an outcome, or closed before it had one."""

    word: str
    outcome: JobOutcome | None


class JobStates:
    """Reads and closes the states of recorded jobs; whoever is answered may get `Unavailable`."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._line = Line(redis)
        self._close = redis.register_script(_CLOSE)
        self._withdraw = redis.register_script(_WITHDRAW)

    def find_started(self, job_id: str) -> datetime | None:
        """Give when a worker first began the job, None when none did."""
        with reachable():
            started = self._line.ask(("HGET", job_key(job_id), "started_at"))[0]
        return None if started is None else datetime.fromtimestamp(float(started), UTC)

    def list_started(self, job_ids: Sequence[str]) -> Mapping[str, datetime]:
        """Return when workers first began jobs; those that none has begun are not in it."""
        with reachable(), self._redis.pipeline(transaction=False) as pipe:
            for job_id in job_ids:
                pipe.hget(job_key(job_id), "started_at")
            found = pipe.execute()
        return {
            job_id: datetime.fromtimestamp(float(started), UTC)
            for job_id, started in zip(job_ids, found, strict=True)
            if started is not None
        }

    def count_deliveries(self, job_id: str) -> int:
        """Give how often workers began the job."""
        with reachable():
            return int(cast("bytes | None", self._redis.hget(job_key(job_id), "deliveries")) or 0)

    def find_end(self, job_id: str) -> Ended | None:
        """Give how the job ended, None when it has not."""
        with reachable():
            word, outcome = cast(
                "list[bytes | None]", self._redis.hmget(job_key(job_id), "done", "outcome")
            )
        return None if word is None else _ended(word, outcome)

    def close(self, job_id: str, word: str) -> Ended | None:
        """End a job without an outcome: nothing of it is committed or metered from now on.

        Gives how it ended instead when it had ended before.
        """
        with reachable():
            before = cast(
                "list[bytes | None] | None",
                self._close(keys=[job_key(job_id)], args=[word, STATE_TTL_SECONDS]),
            )
        if not before or before[0] is None:
            return None
        return _ended(before[0], before[1])

    def withdraw(self, job_id: str) -> bool:
        """Withdraw a job that no worker has begun, and return whether it was. It never runs then."""
        with reachable():
            args: list[str | int] = [WITHDRAWN, STATE_TTL_SECONDS]
            return bool(self._withdraw(keys=[job_key(job_id)], args=args))

    def settle(self, job_ids: Iterable[str]) -> None:
        """Let states go soon: the jobs' ends are on record. Nobody waits until that is done."""
        self._line.send(*(("EXPIRE", job_key(each), _SETTLED_TTL_SECONDS) for each in job_ids))

    def begin_epoch(self) -> bool:
        """Tell whether Redis has lost what it had, or never had anything; asked again, it has not."""
        with reachable():
            return bool(self._redis.set(FARM_EPOCH, str(epoch()), nx=True))

    def read_epoch_age(self) -> float:
        """Give for how many seconds Redis has had its memory; 0 when nobody has looked yet."""
        with reachable():
            begun = cast("bytes | None", self._redis.get(FARM_EPOCH))
        return 0.0 if begun is None else max(epoch() - float(begun), 0.0)

    def end_epoch(self) -> None:
        """Have the next `begin_epoch` tell that Redis has lost what it had."""
        with reachable():
            self._redis.delete(FARM_EPOCH)


def _ended(word: bytes, outcome: bytes | None) -> Ended:
    return Ended(word.decode(), None if outcome is None else unpack(outcome))
