"""The worker's side of a job's end: one atomic step decides it, whatever runs twice or comes late."""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeVar, cast

from redis import Redis

from shared.clock import epoch, now
from shared.errors import ErrorBody, ErrorKind, Unavailable
from shared.jobs import JobOutcome, Lane, OutcomeStatus, Purpose, RenderJob
from shared.limits import MAX_DELIVERIES, REPLY_TTL_SECONDS
from shared.line import Command, Line, Posted
from shared.metering import COUNTER_TTL_SECONDS, PageEvent, usage_key, used_up
from shared.queue.connection import reachable
from shared.queue.names import (
    FARM_TOTALS,
    FRESH_TOTALS,
    USAGE_STREAM,
    job_key,
    reply_key,
)
from shared.queue.parcels import pack
from shared.queue.sums import LEAVE_LINE, write_line
from shared.telemetry.totals import count_outcome

T = TypeVar("T")

# The state of a job outlives every message of it that might still come.
_STATE_SLACK_SECONDS: Final = 600
_RECONNECT_SECONDS: Final = 0.2

_BEGIN: Final = """
if redis.call('HEXISTS', KEYS[1], 'done') == 1 then return 0 end
local delivery = redis.call('HINCRBY', KEYS[1], 'deliveries', 1)
redis.call('EXPIRE', KEYS[1], ARGV[1])
if ARGV[2] ~= '' then redis.call('HSETNX', KEYS[1], 'started_at', ARGV[2]) end
return delivery
"""

_GIVE_BACK: Final = """
if redis.call('HEXISTS', KEYS[1], 'done') == 1 then return 0 end
return redis.call('HINCRBY', KEYS[1], 'deliveries', -1)
"""

# KEYS: job state, reply list, usage counters, usage stream, farm totals, what is new for them.
# ARGV: 1 token of this attempt, 2 outcome, 3 its TTL, 4 TTL of the state, 5 metered (1/0),
#       6 deadline, 7 allowance, 8 pages, 9 cap ('' for none), 10 event, 11 TTL of the counters,
#       12 whose the outcome is (a waiting front's, or recorded), 13 line for the farm totals.
# All comparisons come before all writes: the step happens whole or not at all.
_COMMIT: Final = (
    LEAVE_LINE
    + """
local state = redis.call('HMGET', KEYS[1], 'done', 'awaited_until')
if state[1] == ARGV[1] then return {'committed'} end
if state[1] then return {'ended'} end
if ARGV[5] == '1' then
    local time = redis.call('TIME')
    local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
    if now > tonumber(ARGV[6]) then return {'late'} end
    if ARGV[12] == 'front' and state[2] and now > tonumber(state[2]) then return {'unawaited'} end
    local used = tonumber(redis.call('HGET', KEYS[3], ARGV[7] .. ':pages') or '0')
    if ARGV[9] ~= '' and used >= tonumber(ARGV[9]) then return {'over', used} end
    redis.call('HINCRBY', KEYS[3], ARGV[7] .. ':pages', ARGV[8])
    redis.call('HINCRBY', KEYS[3], ARGV[7] .. ':calls', 1)
    redis.call('EXPIRE', KEYS[3], ARGV[11])
    redis.call('XADD', KEYS[4], '*', 'event', ARGV[10])
end
redis.call('HSET', KEYS[1], 'done', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[4])
if ARGV[12] ~= 'front' then redis.call('HSET', KEYS[1], 'outcome', ARGV[2]) end
if ARGV[12] ~= 'nobody' then
    redis.call('RPUSH', KEYS[2], ARGV[2])
    redis.call('EXPIRE', KEYS[2], ARGV[3])
end
leave_line(KEYS[6], KEYS[5], ARGV[13])
return {'committed'}
"""
)


class Begin(StrEnum):
    """What a delivery of a job is to do."""

    RUN = "run"
    ENDED = "ended"  # answered or given up already: nothing to do
    OVERDUE = "overdue"  # past its deadline: nobody would get the answer
    EXHAUSTED = "exhausted"  # it has brought its worker down before; fail it, do not run it


@dataclass(frozen=True, slots=True)
class Commit:
    """An end of a job that was sent to Redis."""

    job: RenderJob
    outcome: JobOutcome
    beside: Mapping[str, float] | None
    posted: Posted


class Commits:
    """Begins and ends jobs; a thread settles what it posted.

    Its methods wait for a Redis that is away until the job's deadline, or as long as one run of
    it may take, then raise `Unavailable`.
    """

    def __init__(self, redis: Redis) -> None:
        self._line = Line(redis)

    def begin(self, job: RenderJob, *, delivery: int | None = None) -> Begin:
        """Say what to do with a delivery of the job, by its number, 0 where the job has ended; None has
        it counted now.
        """
        if delivery is None:
            delivery = self._outwait(job, lambda: self._count_delivery(job))
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
        with reachable():
            self._line.run(_GIVE_BACK, [job_key(job.id)], [])

    def commit(
        self, job: RenderJob, outcome: JobOutcome, *, beside: Mapping[str, float] | None = None
    ) -> JobOutcome | None:
        """End the job: outcome, usage event, counters and wake-up together or not at all.

        `beside` are increments of the farm's totals that the worker counted meanwhile.

        Gives the outcome that was committed: the given one, or a failure in its place when the
        allowance was used up meanwhile (402) or the front has stopped waiting (503). None when
        nothing was, because the job has ended already or its deadline is over.
        Only a render that succeeded is metered.
        """
        return self.settle(self.post(job, outcome, beside=beside))

    def commit_all(
        self, ends: Sequence[tuple[RenderJob, JobOutcome]], *, beside: Mapping[str, float]
    ) -> list[JobOutcome | None]:
        """End several jobs in one round trip, each for itself; return what `commit` does of each."""
        if not ends:
            return []
        counted = [beside, *[{}] * (len(ends) - 1)]
        commands = [
            _command(job, outcome, also, secrets.token_hex(8))
            for (job, outcome), also in zip(ends, counted, strict=True)
        ]
        answers = self._outwait(ends[0][0], lambda: self._ask(commands))
        return [
            self._read(job, outcome, answer, beside=also)
            for (job, outcome), answer, also in zip(ends, answers, counted, strict=True)
        ]

    def post(
        self, job: RenderJob, outcome: JobOutcome, *, beside: Mapping[str, float] | None = None
    ) -> Commit:
        """Send what `commit` does, and leave to `settle` what becomes of it."""
        # One token for all attempts: one whose answer was lost on the way is known again.
        token = secrets.token_hex(8)
        command = _command(job, outcome, beside or {}, token)
        return Commit(job, outcome, beside, self._line.post(command))

    def has_answer(self, commit: Commit) -> bool:
        """Wait for the answer to a commit; False where `settle` has to ask again."""
        with reachable():
            return self._line.has_answer(commit.posted)

    def settle(self, commit: Commit) -> JobOutcome | None:
        """Give what `commit` does of a commit that was sent."""
        answer = self._outwait(commit.job, lambda: self._answer(commit))
        return self._read(commit.job, commit.outcome, answer, beside=commit.beside)

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

    def _ask(self, commands: Sequence[Command]) -> list[list[bytes | int]]:
        with reachable():
            return self._line.ask(*commands)

    def _answer(self, commit: Commit) -> list[bytes | int]:
        with reachable():
            return cast("list[bytes | int]", self._line.answer(commit.posted))

    def _count_delivery(self, job: RenderJob) -> int:
        with reachable():
            args = [_state_ttl(job), str(epoch()) if job.is_recorded else ""]
            return int(self._line.run(_BEGIN, [job_key(job.id)], args))

    def _outwait(self, job: RenderJob, attempt: Callable[[], T]) -> T:
        patient_until = min(job.deadline, epoch() + (job.budget_seconds or math.inf))
        while True:
            try:
                return attempt()
            except Unavailable:
                if epoch() >= patient_until:
                    raise
                time.sleep(_RECONNECT_SECONDS)


def _command(
    job: RenderJob, outcome: JobOutcome, beside: Mapping[str, float], token: str
) -> Sequence[str | bytes | int | float]:
    meter = job.meter
    metered = job.purpose is Purpose.RENDER and outcome.status is OutcomeStatus.SUCCEEDED
    event = PageEvent(job.id, meter.account_id, meter.period, meter.allowance, outcome.pages, now())
    totals = {**beside, **count_outcome(job, outcome)}
    keys = [
        job_key(job.id),
        reply_key(job.id),
        usage_key(meter.account_id, meter.period),
        USAGE_STREAM,
        FARM_TOTALS,
        FRESH_TOTALS,
    ]
    args: list[str | bytes | int | float] = [
        token,
        pack(outcome),
        REPLY_TTL_SECONDS,
        _state_ttl(job),
        int(metered),
        job.deadline,
        meter.allowance.value,
        outcome.pages,
        "" if meter.cap is None else meter.cap,
        event.encode() if metered else "",
        COUNTER_TTL_SECONDS,
        _reader(job),
        write_line(totals),
    ]
    return ("EVAL", _COMMIT, len(keys), *keys, *args)


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
