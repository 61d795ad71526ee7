"""Commits of jobs by workers: one atomic step ends a job, whichever deliveries are repeated or late."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Final, TypeVar, cast

from redis import Redis

from shared.clock import epoch, now
from shared.errors import ErrorBody, ErrorKind, retry_while_unavailable
from shared.jobs.records import JobOutcome, Lane, OutcomeStatus, Purpose, RenderJob, encode_reply
from shared.limits import MAX_DELIVERIES, REPLY_TTL_SECONDS
from shared.queue.connection import reachable, register
from shared.queue.names import USAGE_STREAM, job_key, reply_key
from shared.queue.states import PUBLISHED_SECONDS
from shared.usage.metering import (
    EndedDocument,
    Spent,
    UsageEvent,
    allowance_exceeded,
    metering_args,
    usage_key,
)

T = TypeVar("T")
Argument = str | bytes | int | float

# The state of a job outlives every message of it that may still be delivered.
_STATE_SLACK_SECONDS: Final = 600
_RECONNECT_SECONDS: Final = 0.2


class DeliveryAction(StrEnum):
    """The action for a delivery of a job."""

    RUN = "run"
    ENDED = "ended"  # answered or abandoned already: nothing to do
    OVERDUE = "overdue"  # past its deadline: no client waits for it
    EXHAUSTED = "exhausted"  # it has crashed workers before: fail it without running it


class Commits:
    """Begins and ends jobs; thread-safe.

    While Redis is unreachable, methods retry until the job's deadline, at most for the job's budget,
    then raise `Unavailable`.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._begin = register(redis, "begin")
        self._uncount_delivery = register(redis, "uncount_delivery")
        self._commit = register(redis, "commit")
        self._suspend = register(redis, "suspend")

    def begin(self, job: RenderJob, *, published_at: float | None = None) -> DeliveryAction:
        """Count a delivery of the job, and return the action for it.

        `published_at` is in seconds since 1970. The front is assumed to wait for `PUBLISHED_SECONDS`
        from then, or for as long as it renews its presence.
        """
        if epoch() >= job.deadline:  # not counted: this delivery starts nothing
            return DeliveryAction.OVERDUE
        delivery = _retry_until_deadline(job, lambda: self._count_delivery(job, published_at))
        if delivery == 0:
            return DeliveryAction.ENDED
        return DeliveryAction.EXHAUSTED if delivery > MAX_DELIVERIES else DeliveryAction.RUN

    def uncount_delivery(self, job_id: str) -> None:
        """Decrement the delivery count of a job that did not end, through no fault of its own.

        Raises:
            Unavailable: Redis is unreachable.
        """
        with reachable():
            self._uncount_delivery(keys=[job_key(job_id)])

    def suspend(self, job: RenderJob, outcome: JobOutcome) -> None:
        """End a delivery of a job whose front must fetch images and queue it again."""
        keys = [job_key(job.id), reply_key(job.id)]
        args: list[Argument] = [job.id, encode_reply(outcome), REPLY_TTL_SECONDS]

        def suspend() -> None:
            with reachable():
                self._suspend(keys=keys, args=args)

        _retry_until_deadline(job, suspend)

    def commit(self, job: RenderJob, outcome: JobOutcome) -> JobOutcome | None:
        """End the job: write outcome, usage event, counters and reply together or not at all.

        Return the committed outcome: the given one, or a failure if the allowance was used up meanwhile
        (402) or the front has stopped waiting (503). Return None, without a commit, if the job has
        already ended or its deadline has passed. Only a successful render is metered.
        """
        # One token for all attempts: a retry after a lost reply finds its own commit.
        keys, args = _commit_keys(job), _commit_args(job, outcome, secrets.token_hex(8))
        answer = _retry_until_deadline(job, lambda: self._run_commit(keys, args))
        return self._resolve_answer(job, outcome, answer)

    def commit_all(self, ends: Sequence[tuple[RenderJob, JobOutcome]]) -> list[JobOutcome | None]:
        """Commit several jobs in one round trip, each independently; return what `commit` returns of each."""
        if len(ends) < 2:
            return [self.commit(*end) for end in ends]
        calls = [
            (_commit_keys(job), _commit_args(job, outcome, secrets.token_hex(8)))
            for job, outcome in ends
        ]
        answers = _retry_until_deadline(ends[0][0], lambda: self._run_commits(calls))
        return [
            self._resolve_answer(job, outcome, answer)
            for (job, outcome), answer in zip(ends, answers, strict=True)
        ]

    def _resolve_answer(
        self, job: RenderJob, outcome: JobOutcome, answer: list[bytes | int]
    ) -> JobOutcome | None:
        match answer:
            case [b"committed"]:
                return outcome
            case [b"over", bytes(used)]:
                return self.commit(job, _quota_exceeded(job, Spent.read(used.decode())))
            case [b"unawaited"]:
                return self.commit(job, _client_gone(job))
            case _:
                return None

    def _run_commit(self, keys: Sequence[str], args: Sequence[Argument]) -> list[bytes | int]:
        with reachable():
            return cast("list[bytes | int]", self._commit(keys=keys, args=args))

    def _run_commits(
        self, calls: Sequence[tuple[Sequence[str], Sequence[Argument]]]
    ) -> list[list[bytes | int]]:
        with reachable(), self._redis.pipeline(transaction=False) as pipe:
            for keys, args in calls:
                self._commit(keys=keys, args=args, client=pipe)
            return pipe.execute()

    def _count_delivery(self, job: RenderJob, published_at: float | None) -> int:
        started_at = str(epoch()) if job.is_recorded else ""
        awaited_until = ""
        if published_at is not None and not job.is_recorded:
            awaited_until = str(published_at + PUBLISHED_SECONDS)
        with reachable():
            args: list[str | int] = [_state_ttl(job), started_at, awaited_until]
            return int(cast("int", self._begin(keys=[job_key(job.id)], args=args)))


def _retry_until_deadline(job: RenderJob, attempt: Callable[[], T]) -> T:
    patient_until = min(job.deadline, epoch() + (job.budget_seconds or math.inf))
    return retry_while_unavailable(
        attempt, seconds=patient_until - epoch(), pause_seconds=_RECONNECT_SECONDS
    )


def _commit_keys(job: RenderJob) -> Sequence[str]:
    return (
        job_key(job.id),
        reply_key(job.id),
        usage_key(job.meter.account_id, job.meter.period),
        USAGE_STREAM,
    )


def _commit_args(job: RenderJob, outcome: JobOutcome, token: str) -> Sequence[Argument]:
    is_metered = job.purpose is Purpose.RENDER and outcome.status is OutcomeStatus.SUCCEEDED
    event = UsageEvent.of(job.meter, job.id, pages=outcome.pages, at=now(), cpu_us=outcome.cpu_us)
    metered = [EndedDocument(outcome.pages, event)] if is_metered else []
    return (
        token,
        encode_reply(outcome),
        REPLY_TTL_SECONDS,
        _state_ttl(job),
        job.deadline,
        _reader(job),
        *metering_args(job.meter, metered),
    )


def failed_outcome(job: RenderJob, error: ErrorBody) -> JobOutcome:
    """Return the outcome of a failed job."""
    return JobOutcome(job.id, OutcomeStatus.FAILED, error=error)


def _state_ttl(job: RenderJob) -> int:
    return int(max(job.deadline - epoch(), 0) + _STATE_SLACK_SECONDS)


def _reader(job: RenderJob) -> str:
    if not job.is_recorded:
        return "front"
    return "front and record" if job.lane is Lane.INTERACTIVE else "record"


def _quota_exceeded(job: RenderJob, used: Spent) -> JobOutcome:
    return failed_outcome(job, allowance_exceeded(job.meter, used).body)


def _client_gone(job: RenderJob) -> JobOutcome:
    message = "The service lost the connection to this request while it was rendered; try again."
    return failed_outcome(job, ErrorBody(503, message, ErrorKind.UNAVAILABLE))
