"""The worker's side of a job's end: one atomic step decides it, whatever runs twice or comes late."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Final, TypeVar, cast

from redis import Redis

from shared.clock import epoch, now
from shared.errors import ErrorBody, ErrorKind, outwait
from shared.jobs import JobOutcome, Lane, OutcomeStatus, Purpose, RenderJob, encode_reply
from shared.limits import MAX_DELIVERIES, REPLY_TTL_SECONDS
from shared.metering import Metered, PageEvent, metering_args, usage_key, used_up
from shared.queue.connection import reachable
from shared.queue.names import (
    FARM_TOTALS,
    FRESH_TOTALS,
    USAGE_STREAM,
    job_key,
    reply_key,
)
from shared.queue.scripts import register
from shared.queue.sums import write_line
from shared.telemetry.totals import count_outcome

T = TypeVar("T")
Argument = str | bytes | int | float

# The state of a job outlives every message of it that might still come.
_STATE_SLACK_SECONDS: Final = 600
_RECONNECT_SECONDS: Final = 0.2


class Begin(StrEnum):
    """What a delivery of a job is to do."""

    RUN = "run"
    ENDED = "ended"  # answered or given up already: nothing to do
    OVERDUE = "overdue"  # past its deadline: nobody would get the answer
    EXHAUSTED = "exhausted"  # it has brought its worker down before; fail it, do not run it


class Commits:
    """Begins and ends jobs, for any number of threads.

    Its methods wait for a Redis that is away until the job's deadline, or as long as one run of
    it may take, then raise `Unavailable`.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._begin = register(redis, "begin")
        self._give_back = register(redis, "give_back")
        self._commit = register(redis, "commit")

    def begin(self, job: RenderJob, *, delivery: int | None = None) -> Begin:
        """Decide what to do with a delivery of the job, by its number, 0 where the job has ended; None
        has it counted now.
        """
        if delivery is None:
            delivery = _outwait(job, lambda: self._count_delivery(job))
        if delivery == 0:
            return Begin.ENDED
        if epoch() >= job.deadline:
            return Begin.OVERDUE
        return Begin.EXHAUSTED if delivery > MAX_DELIVERIES else Begin.RUN

    def give_back(self, job: RenderJob) -> None:
        """Take a delivery back that came to nothing through no fault of the job.

        Raises:
            Unavailable: Redis is away.
        """
        with reachable(self._redis):
            self._give_back(keys=[job_key(job.id)])

    def commit(
        self, job: RenderJob, outcome: JobOutcome, *, beside: Mapping[str, float] | None = None
    ) -> JobOutcome | None:
        """End the job: outcome, usage event, counters and wake-up together or not at all.

        `beside` are increments of the farm's totals that the worker counted meanwhile.

        Return the outcome that was committed: the given one, or a failure in its place when the
        allowance was used up meanwhile (402) or the front has stopped waiting (503). None when
        nothing was, because the job has ended already or its deadline is over.
        Only a render that succeeded is metered.
        """
        # One token for all attempts: one whose answer was lost on the way is known again.
        keys, args = _keys(job), _args(job, outcome, beside or {}, secrets.token_hex(8))
        answer = _outwait(job, lambda: self._run_commit(keys, args))
        return self._read(job, outcome, answer, beside=beside)

    def commit_all(
        self, ends: Sequence[tuple[RenderJob, JobOutcome]], *, beside: Mapping[str, float]
    ) -> list[JobOutcome | None]:
        """End several jobs in one round trip, each for itself; return what `commit` does of each."""
        if not ends:
            return []
        counted = [beside, *[{}] * (len(ends) - 1)]
        calls = [
            (_keys(job), _args(job, outcome, also, secrets.token_hex(8)))
            for (job, outcome), also in zip(ends, counted, strict=True)
        ]
        answers = _outwait(ends[0][0], lambda: self._run_commits(calls))
        return [
            self._read(job, outcome, answer, beside=also)
            for (job, outcome), answer, also in zip(ends, answers, counted, strict=True)
        ]

    def _read(
        self,
        job: RenderJob,
        outcome: JobOutcome,
        answer: list[bytes | int],
        *,
        beside: Mapping[str, float] | None,
    ) -> JobOutcome | None:
        match answer:
            case [b"committed"]:
                return outcome
            case [b"over", int(used)]:
                return self.commit(job, _quota_exceeded(job, used), beside=beside)
            case [b"unawaited"]:
                return self.commit(job, _unawaited(job), beside=beside)
            case _:
                return None

    def _run_commit(self, keys: Sequence[str], args: Sequence[Argument]) -> list[bytes | int]:
        with reachable(self._redis):
            return cast("list[bytes | int]", self._commit(keys=keys, args=args))

    def _run_commits(
        self, calls: Sequence[tuple[Sequence[str], Sequence[Argument]]]
    ) -> list[list[bytes | int]]:
        with reachable(self._redis), self._redis.pipeline(transaction=False) as pipe:
            for keys, args in calls:
                self._commit(keys=keys, args=args, client=pipe)
            return pipe.execute()

    def _count_delivery(self, job: RenderJob) -> int:
        with reachable(self._redis):
            args: list[str | int] = [_state_ttl(job), str(epoch()) if job.is_recorded else ""]
            return int(cast("int", self._begin(keys=[job_key(job.id)], args=args)))


def _outwait(job: RenderJob, attempt: Callable[[], T]) -> T:
    patient_until = min(job.deadline, epoch() + (job.budget_seconds or math.inf))
    return outwait(attempt, seconds=patient_until - epoch(), pause_seconds=_RECONNECT_SECONDS)


def _keys(job: RenderJob) -> Sequence[str]:
    return (
        job_key(job.id),
        reply_key(job.id),
        usage_key(job.meter.account_id, job.meter.period),
        USAGE_STREAM,
        FARM_TOTALS,
        FRESH_TOTALS,
    )


def _args(
    job: RenderJob, outcome: JobOutcome, beside: Mapping[str, float], token: str
) -> Sequence[Argument]:
    is_metered = job.purpose is Purpose.RENDER and outcome.status is OutcomeStatus.SUCCEEDED
    event = PageEvent.of(job.meter, job.id, pages=outcome.pages, at=now())
    metered = [Metered(outcome.pages, event)] if is_metered else []
    return (
        token,
        encode_reply(outcome),
        REPLY_TTL_SECONDS,
        _state_ttl(job),
        job.deadline,
        _reader(job),
        write_line({**beside, **count_outcome(job, outcome)}),
        *metering_args(job.meter, metered),
    )


def fail(job: RenderJob, error: ErrorBody) -> JobOutcome:
    """Make the outcome of a job that gave no PDF."""
    return JobOutcome(job.id, OutcomeStatus.FAILED, error=error)


def _state_ttl(job: RenderJob) -> int:
    return int(max(job.deadline - epoch(), 0) + _STATE_SLACK_SECONDS)


def _reader(job: RenderJob) -> str:
    if not job.is_recorded:
        return "front"
    return "front and record" if job.lane is Lane.INTERACTIVE else "nobody"


def _quota_exceeded(job: RenderJob, used: int) -> JobOutcome:
    return fail(job, used_up(job.meter, used))


def _unawaited(job: RenderJob) -> JobOutcome:
    message = "The service lost touch with this request while it was rendered; try again."
    return fail(job, ErrorBody(503, message, ErrorKind.UNAVAILABLE))
