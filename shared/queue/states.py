"""The state of recorded jobs and preview sessions in Redis, which fronts still wait, and notices of a record's end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final, cast

from redis import Redis, RedisError

from shared.clock import epoch, ticks
from shared.errors import ErrorBody, ErrorCode, ErrorKind
from shared.jobs.records import JobOutcome, OutcomeStatus, decode_reply
from shared.limits import REPLY_TTL_SECONDS, STATE_TTL_SECONDS
from shared.queue.claims import CLAIM_TTL_SECONDS
from shared.queue.connection import BLOCK_SECONDS, reachable, register
from shared.queue.names import FARM_EPOCH, completion_key, job_key, preview_session_key, reply_key

CANCELLED: Final = "cancelled"
OVERDUE: Final = "overdue"  # its deadline passed before it ended
WITHDRAWN: Final = "withdrawn"  # no worker began it: its queue was drained, or its deadline passed
_ABANDONED: Final = "abandoned"
_RECORDED_TTL_SECONDS: Final = 600
_SUPERSEDED_TTL_SECONDS: Final = 600
# A front renews its presence every second. After this time without renewal it has answered 503 or
# has died; `Commits.commit` then rejects a success.
AWAITED_SECONDS: Final = 4.0
# A published job counts as awaited for this long. Shorter than the time-out of a broker that does not
# answer, after which the front answers 503.
PUBLISHED_SECONDS: Final = 3.0


_ERRORS: Final = {
    OVERDUE: ErrorBody(
        504,
        "The render did not finish within its time limit and was cancelled.",
        ErrorKind.TIMEOUT,
        ErrorCode.RENDER_TIMEOUT,
    ),
    WITHDRAWN: ErrorBody(
        503, "No worker was free to start the render in time; send it again.", ErrorKind.UNAVAILABLE
    ),
}


def closed_outcome(job_id: str, reason: str) -> JobOutcome:
    """Return the end of a job that was closed before it had an outcome."""
    error = _ERRORS.get(reason)
    status = OutcomeStatus.FAILED if error else OutcomeStatus.CANCELLED
    return JobOutcome(job_id, status, error=error)


class JobStates:
    """Reads and closes the states of recorded jobs; methods with a result may raise `Unavailable`."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._end_job = register(redis, "end_job")
        self._await = register(redis, "await")

    def find_started(self, job_id: str) -> datetime | None:
        """Return when a worker first began the job, None if none did."""
        return self.list_started([job_id]).get(job_id)

    def list_started(self, job_ids: Sequence[str]) -> Mapping[str, datetime]:
        """Return the times at which workers first started jobs; jobs that were not started are left out."""
        with reachable(), self._redis.pipeline(transaction=False) as pipe:
            for job_id in job_ids:
                pipe.hget(job_key(job_id), "started_at")
            found = pipe.execute()
        return {
            job_id: datetime.fromtimestamp(float(started), UTC)
            for job_id, started in zip(job_ids, found, strict=True)
            if started is not None
        }

    def ensure_started(self, job_id: str, running_seconds: float) -> bool:
        """Set the start of a running job if it is missing, and return whether the job has ended."""
        with reachable(), self._redis.pipeline() as pipe:
            pipe.hsetnx(job_key(job_id), "started_at", str(epoch() - running_seconds))
            pipe.expire(job_key(job_id), STATE_TTL_SECONDS)
            pipe.hexists(job_key(job_id), "done")
            return bool(pipe.execute()[-1])

    def count_deliveries(self, job_id: str) -> int:
        """Return the number of deliveries of the job."""
        with reachable():
            return int(cast("bytes | None", self._redis.hget(job_key(job_id), "deliveries")) or 0)

    def find_end(self, job_id: str) -> JobOutcome | None:
        """Return the end of the job, None if it has not ended."""
        with reachable():
            word, outcome = cast(
                "list[bytes | None]", self._redis.hmget(job_key(job_id), "done", "outcome")
            )
        return None if word is None else _read_end(job_id, word, outcome)

    def is_stopped(self, job_id: str) -> bool:
        """Return whether the job was cancelled, or ended as overdue."""
        with reachable():
            word = cast("bytes | None", self._redis.hget(job_key(job_id), "done"))
        return word in (CANCELLED.encode(), OVERDUE.encode())

    def close(self, job_id: str, reason: str) -> JobOutcome:
        """End a job without an outcome, so that it is neither committed nor metered; return its end.

        That is another one if it had ended before.
        """
        former = self._end(job_id, reason, STATE_TTL_SECONDS)
        if former is None or former[0] is None:
            return closed_outcome(job_id, reason)
        return _read_end(job_id, former[0], former[1])

    def withdraw(self, job_id: str) -> bool:
        """Withdraw a job that no worker has started; return whether it was withdrawn. It never runs then."""
        return self._end(job_id, WITHDRAWN, STATE_TTL_SECONDS, unless_begun=True) is None

    def abandon(self, job_id: str) -> bytes | None:
        """Abandon a job that its front no longer waits for; return None, or the reply if it had ended before."""
        former = self._end(job_id, _ABANDONED, CLAIM_TTL_SECONDS)
        return None if former is None else former[2]

    def supersede(self, job_id: str, outcome: JobOutcome) -> None:
        """Cancel a job that a newer one supersedes, and wake the front that waits for it."""
        self._end(job_id, CANCELLED, _SUPERSEDED_TTL_SECONDS, outcome=outcome.encode())

    def _end(
        self, job_id: str, reason: str, ttl: int, *, unless_begun: bool = False, outcome: str = ""
    ) -> list[bytes | None] | None:
        """End a job; return None, or reason, outcome and reply of its former end."""
        keys = [job_key(job_id), reply_key(job_id)]
        args: list[str | int] = [reason, ttl, int(unless_begun), outcome, REPLY_TTL_SECONDS]
        with reachable():
            return cast("list[bytes | None] | None", self._end_job(keys=keys, args=args))

    def await_end(self, job_id: str) -> None:
        """Record that a front waits for a job for another `AWAITED_SECONDS`; raise `RedisError` without Redis."""
        args: list[str | float] = [AWAITED_SECONDS, CLAIM_TTL_SECONDS]
        self._await(keys=[job_key(job_id)], args=args)

    def expire_soon(self, job_ids: Iterable[str]) -> None:
        """Shorten the time to live of states whose ends are recorded; does nothing without Redis."""
        with suppress(RedisError):
            pipe = self._redis.pipeline(transaction=False)
            for job_id in job_ids:
                pipe.expire(job_key(job_id), _RECORDED_TTL_SECONDS)
            pipe.execute()

    def begin_epoch(self) -> bool:
        """Start a new epoch if Redis has none, since it is new or has lost its data; return whether it had none."""
        with reachable():
            return bool(self._redis.set(FARM_EPOCH, str(epoch()), nx=True))

    def read_epoch_age(self) -> float:
        """Return the age of the epoch in seconds; 0 if there is none."""
        with reachable():
            begun = cast("bytes | None", self._redis.get(FARM_EPOCH))
        return 0.0 if begun is None else max(epoch() - float(begun), 0.0)


def _read_end(job_id: str, word: bytes, outcome: bytes | None) -> JobOutcome:
    return closed_outcome(job_id, word.decode()) if outcome is None else decode_reply(outcome)


# A client that starts to wait later reads the database first.
_NOTICE_TTL_SECONDS: Final = 120
# Without Redis, or if the notice was lost, the caller reads the database again after this time.
_POLL_SECONDS: Final = 5.0


class CompletionNotices:
    """Sends and awaits notices of completion, which only speed up the reply to a waiting client."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def notify(self, *names: str) -> None:
        """Wake all waiters of these names; without Redis they poll the database."""
        with suppress(RedisError):
            pipe = self._redis.pipeline(transaction=False)
            for key in map(completion_key, names):
                pipe.delete(key)
                pipe.rpush(key, 1)
                pipe.expire(key, _NOTICE_TTL_SECONDS)
            pipe.execute()

    def wait(
        self,
        name: str,
        *,
        seconds: float,
        between: Callable[[], object] = lambda: None,
        until: Callable[[], bool] = lambda: False,
    ) -> None:
        """Return when `name` has finished, or it is time to read the database again.

        `between` is called after each second without a notice; a true `until` ends the wait.
        """
        give_up_at = ticks() + min(seconds, _POLL_SECONDS)
        while (left := give_up_at - ticks()) > 0 and not until():
            try:
                if self._wait_for_notice(completion_key(name), min(left, BLOCK_SECONDS)):
                    return
            except RedisError:
                time.sleep(min(left, BLOCK_SECONDS))
            between()

    def _wait_for_notice(self, key: str, seconds: float) -> bool:
        # Moved onto its own list, so that each of several waiters reads it.
        timeout = max(seconds, 0.01)
        heard = self._redis.blmove(key, key, timeout, "LEFT", "RIGHT")  # type: ignore[arg-type] # the server takes fractions
        return cast("bytes | None", heard) is not None


# Longer than any preview may take.
_SESSION_TTL_SECONDS: Final = 4000


class PreviewSessions:
    """Stores the newest job of each session, for all processes of the front."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._states = JobStates(redis)

    def begin(self, account_id: str, session: str, job_id: str) -> None:
        """Store the newest job of a session, before it is queued, and end the previous one.

        The front that waits for the previous job receives a 409; a worker that runs it stops within a second.

        Raises:
            Unavailable: Redis is unreachable.
        """
        key = preview_session_key(account_id, session)
        with reachable():
            before = cast(
                "bytes | None", self._redis.set(key, job_id, ex=_SESSION_TTL_SECONDS, get=True)
            )
        if before is not None:
            former = before.decode()
            outcome = JobOutcome(former, OutcomeStatus.FAILED, error=_superseded())
            self._states.supersede(former, outcome)


def _superseded() -> ErrorBody:
    return ErrorBody(
        409,
        "A newer preview of this session was asked for; this one was stopped.",
        ErrorKind.REQUEST,
        ErrorCode.PREVIEW_SUPERSEDED,
    )
