"""A slice of accepted renders: as many of an account's as two seconds take, each ended for itself.

The job table is the queue. A slice claims the next renders of its account when it comes to them, as
many as a quarter of a second takes, and ends them together: their outcomes in Redis, which decides,
by one round trip, then their records, with the next claim, in one unit of work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import Final, NamedTuple

from shared.batches.records import JobSlice
from shared.clock import epoch, now, ticks
from shared.db.job_slices import (
    claim_jobs,
    end_job_slice,
    postpone_jobs,
    requeue_job_slice,
    start_job_slice,
)
from shared.db.session import Session
from shared.errors import ErrorBody, Unavailable, space_needed
from shared.jobs import Claim, JobOutcome, RenderJob
from shared.queue.commits import Begin, fail
from shared.queue.states import Ended
from shared.telemetry.log import get_logger, log_context
from workers.farm.batches.bounds import DocumentBounds
from workers.farm.batches.desk import Desk
from workers.farm.batches.documents import is_outage
from workers.farm.batches.slices import SLICE_SECONDS
from workers.farm.budget import REMAINS
from workers.farm.failures import attempt_within, brought_worker_down
from workers.farm.recorded import record
from workers.farm.run import Farm, log_end, make_pdf, name, skip

# What is claimed at once, so that others of the account are claimed in their order by other slots.
_PORTION_SECONDS: Final = 0.25
_MOST_AT_ONCE: Final = 100
# How often a run says which job it is at, and hears whether that has ended elsewhere.
_SAY_EVERY_SECONDS: Final = 0.1

log: Final = get_logger(__name__)


def run_job_slice(asked: JobSlice, farm: Farm, desk: Desk) -> None:
    """Run one delivery of a slice; a repeated one goes on with what is left of it.

    Raises:
        Unavailable: a part of the farm is away; the keeper sends the slice again.
    """
    if farm.clock is not None:
        farm.clock.look_if_due()
    REMAINS.collect()
    with space_needed("worker"):
        _JobSliceRun(asked, farm, desk).run()


class _End(NamedTuple):
    """How a job ended in this run, and its PDF while that is stored."""

    job: RenderJob
    outcome: JobOutcome
    storing: Future[Claim] | None = None


class _JobSliceRun:
    def __init__(self, asked: JobSlice, farm: Farm, desk: Desk) -> None:
        self._asked = asked
        self._farm = farm
        self._desk = desk
        self._bounds = DocumentBounds(farm, desk.budget_seconds)
        self._stop_at = ticks() + SLICE_SECONDS
        self._said: RenderJob | None = None
        self._say_at = 0.0

    def run(self) -> None:
        """Render and end jobs until the time is over, or there are no more."""
        begun_at, count = ticks(), 0
        left, jobs = self._start()
        self._desk.flow.try_feed()
        # A run that died with these had begun one of them, or the one behind it. Each is rendered and
        # ended alone, so that the next death is known to be its own.
        while left:
            count += 1
            jobs = self._work_off(left[:1], is_careful=True, is_last=len(left) == 1)
            left = left[1:]
            if left and ticks() >= self._stop_at:
                self._requeue()
                return
        while jobs:
            count += len(jobs)
            jobs = self._work_off(jobs)
        self._desk.queue.forget(self._asked)
        if ticks() >= self._stop_at:
            self._desk.flow.try_feed()  # what is left waits for its turn
        seconds = ticks() - begun_at
        log.info(
            "slice ended", slice=self._asked.name, jobs=count, milliseconds=round(seconds * 1000)
        )

    def _start(self) -> tuple[list[RenderJob], list[RenderJob]]:
        """Return the jobs that another run has left claimed, or else the first that is claimed now."""
        with self._desk.database.session() as session:
            left = start_job_slice(session, self._asked)
            claimed = [] if left else claim_jobs(session, self._asked, limit=1, at=now())
        return _decode(left), _decode(claimed)

    def _work_off(
        self, jobs: Sequence[RenderJob], *, is_careful: bool = False, is_last: bool = True
    ) -> list[RenderJob]:
        """Render and end claimed jobs and return the next ones, claimed now unless others are left."""
        begun_at = ticks()
        with self._traced(jobs[0]):
            with self._bounds.opened():
                ends = list(self._render_all(jobs, is_careful=is_careful))
            seconds = ticks() - begun_at
            ends = [self._store(end) for end in ends]
            limit = self._choose_limit(ends, seconds) if is_last else None
            return self._conclude(ends, limit)

    # --- rendering --------------------------------------------------------------------------------

    def _render_all(self, jobs: Sequence[RenderJob], *, is_careful: bool) -> Iterator[_End]:
        for number, job in enumerate(jobs):
            if number and ticks() >= self._stop_at:
                return
            match self._begin(job, is_careful=is_careful):
                case Begin.RUN:
                    yield self._render(job)
                case Begin.EXHAUSTED:
                    yield _End(job, fail(job, brought_worker_down()))
                case verdict:
                    self._bounds.pause()
                    skip(job, verdict, self._farm)

    def _begin(self, job: RenderJob, *, is_careful: bool) -> Begin:
        if not is_careful and ticks() < self._say_at:
            return Begin.OVERDUE if epoch() >= job.deadline else Begin.RUN
        self._bounds.pause()  # Redis may be away for a while
        if self._said is not None:
            self._farm.commits.give_back(self._said)  # it has not brought the worker down
        self._said, self._say_at = job, ticks() + _SAY_EVERY_SECONDS
        return self._farm.commits.begin(job)

    def _render(self, job: RenderJob) -> _End:
        started_at = epoch()
        with log_context(**name(job)):
            made = self._bounds.attempt(lambda: self._make_pdf(job))
        if isinstance(made, ErrorBody):
            return _End(job, replace(fail(job, made), started_at=started_at))
        outcome, pdf = made
        storing = self._desk.storing.submit(self._farm.flow.store_pdf, job.id, pdf)
        return _End(job, replace(outcome, started_at=started_at), storing)

    def _make_pdf(self, job: RenderJob) -> tuple[JobOutcome, bytes]:
        with self._farm.stopper.watch(job.id):
            return make_pdf(job, self._farm)

    def _store(self, end: _End) -> _End:
        """Wait for the PDF to be stored."""
        if end.storing is None:
            return end
        with log_context(**name(end.job)), self._farm.traces.span("store"):
            stored = attempt_within(nullcontext(), end.storing.result, self._bounds.told)
        if isinstance(stored, ErrorBody):
            failed = fail(end.job, stored)
            return _End(end.job, replace(failed, started_at=end.outcome.started_at))
        return _End(end.job, replace(end.outcome, pdf=stored))

    @contextmanager
    def _traced(self, job: RenderJob) -> Iterator[None]:
        """Trace a job that is worked off alone, as all are where requests are traced."""
        traces = self._farm.traces
        if not traces.is_on:
            yield
            return
        with traces.span(job.purpose.value, parent=job.traceparent, job=job.id):
            traces.record("queue", begin=job.admitted_at, end=epoch())
            yield

    # --- ending -----------------------------------------------------------------------------------

    def _choose_limit(self, ends: Sequence[_End], seconds: float) -> int:
        """Choose how many jobs to claim next: those of a portion's time, none where time is over."""
        left = min(self._stop_at - ticks(), _PORTION_SECONDS)
        if left <= 0 or any(_is_postponed(end) for end in ends):
            return 0
        if self._farm.traces.is_on:
            return 1
        fitting = int(left * len(ends) / max(seconds, 1e-6))
        return min(max(fitting, 1), _MOST_AT_ONCE)

    def _conclude(self, ends: Sequence[_End], limit: int | None) -> list[RenderJob]:
        """End rendered jobs and claim up to `limit` others: 0 ends the slice, None leaves it as it is."""
        claimed: Sequence[str] = ()

        def move_on(session: Session) -> None:
            nonlocal claimed
            claimed = self._move_on(session, limit)
            postpone_jobs(session, [*(job.id for job in postponed), *refused], at=now())

        refused: AbstractSet[str] = frozenset()
        postponed = [end.job for end in ends if _is_postponed(end)]
        for job in postponed:
            if job is self._said:
                self._farm.commits.give_back(job)
            log.warning("render postponed, a part of the farm is away", **name(job))
        ended = self._commit([(end.job, end.outcome) for end in ends if not _is_postponed(end)])
        self._said = None
        on_record = record(ended, self._farm.flow, first=move_on)
        if len(on_record) < len(ended):
            refused = ended.keys() - on_record
            with self._desk.database.session() as session:
                move_on(session)
        for end in ends:
            if end.job.id in on_record:
                with suppress(Unavailable):  # the keeper deletes it with the rest
                    self._farm.claims.drop(end.job.body)
        return _decode(claimed)

    def _move_on(self, session: Session, limit: int | None) -> Sequence[str]:
        if limit:
            return claim_jobs(session, self._asked, limit=limit, at=now())
        if limit == 0:
            end_job_slice(session, self._asked)
        return ()

    def _commit(self, made: Sequence[tuple[RenderJob, JobOutcome]]) -> dict[str, Ended]:
        """Have Redis decide how jobs end and return how each did, in this run or elsewhere."""
        farm, ended = self._farm, {}
        if not made:
            return {}
        with farm.traces.span("commit"):
            committed = farm.commits.commit_all(made, beside=farm.tally.drain())
        for (job, outcome), kept in zip(made, committed, strict=True):
            if kept is not outcome and outcome.pdf is not None:
                with suppress(Unavailable):  # the keeper deletes it with the rest
                    farm.claims.drop(outcome.pdf)
            found = farm.flow.states.find_end(job.id) if kept is None else Ended("", kept)
            if found is not None:
                ended[job.id] = found
            log_end(job, outcome, kept)
        return ended

    def _requeue(self) -> None:
        """Put the slice back into the queue, with what is left of what another run had claimed."""
        with self._desk.database.session() as session:
            requeue_job_slice(session, self._asked)
        self._desk.queue.send([self._asked])


def _is_postponed(end: _End) -> bool:
    return end.outcome.error is not None and is_outage(end.outcome.error)


def _decode(messages: Sequence[str] | None) -> list[RenderJob]:
    return [RenderJob.decode(message) for message in messages or ()]
