"""A slice of accepted renders: jobs of one account, rendered for two seconds.

The job table is the queue. A slice claims jobs for a quarter of a second at a time and ends them
together: Redis decides their outcomes in one round trip; one transaction records them and claims the
next jobs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext, suppress
from typing import Final, NamedTuple

from msgspec.structs import replace

from shared.batches.records import JobSlice
from shared.clock import epoch, now, ticks
from shared.db.session import Session
from shared.errors import ErrorBody, Unavailable, full_disk_as_unavailable
from shared.jobs.records import Claim, JobOutcome, RenderJob
from shared.jobs.repository import (
    claim_jobs,
    end_job_slice,
    postpone_jobs,
    requeue_job_slice,
    start_job_slice,
)
from shared.queue.commits import DeliveryAction, failed_outcome
from shared.telemetry.log import get_logger, log_context
from workers.batches.documents import BatchContext, DocumentLimits, is_outage
from workers.batches.slices import SLICE_SECONDS
from workers.render.budget import GARBAGE
from workers.render.failures import make_crash_error, run_within
from workers.render.resources import FoundFiles
from workers.render.run import log_fields, make_pdf, record, report_end, skip_job

# The duration of the jobs claimed at once; other slots claim further jobs of the account in order.
_CLAIM_SECONDS: Final = 0.25
_MAX_CLAIM: Final = 100
# The interval of reporting the current job and checking whether it has ended elsewhere.
_BEGIN_SECONDS: Final = 0.1

log: Final = get_logger(__name__)


def run_job_slice(task: JobSlice, context: BatchContext) -> None:
    """Run one delivery of a slice; a repeated delivery continues it.

    Raises:
        Unavailable: a part of the farm is unavailable; maintenance publishes the slice again.
    """
    if context.render.clock is not None:
        context.render.clock.sync_if_due()
    GARBAGE.collect()
    with full_disk_as_unavailable("worker"):
        _JobSliceRun(task, context).run()


class _End(NamedTuple):
    """The outcome of a job in this run, and the pending storage of its PDF."""

    job: RenderJob
    outcome: JobOutcome
    storing: Future[Claim] | None = None


class _JobSliceRun:
    def __init__(self, task: JobSlice, context: BatchContext) -> None:
        self._task = task
        self._context = context
        self._limits = DocumentLimits(context)
        self._stop_at = ticks() + SLICE_SECONDS
        self._begun: RenderJob | None = None
        self._begin_at = 0.0
        # By workspace, of the jobs that were claimed together.
        self._found: defaultdict[str | None, FoundFiles] = defaultdict(FoundFiles)

    def run(self) -> None:
        """Render and end jobs until the time is over or none are left."""
        begun_at, count = ticks(), 0
        left, jobs = self._start()
        self._context.flow.try_enqueue_slices()
        # A crashed run left these jobs claimed. Each is rendered and ended alone, so that a further crash
        # can be attributed to one job.
        while left:
            count += 1
            jobs = self._process(left[:1], is_careful=True, is_last=len(left) == 1)
            left = left[1:]
            if left and ticks() >= self._stop_at:
                self._requeue()
                return
        while jobs:
            count += len(jobs)
            jobs = self._process(jobs)
        self._context.queue.remove(self._task)
        if ticks() >= self._stop_at:
            self._context.flow.try_enqueue_slices()  # schedules the rest
        seconds = ticks() - begun_at
        log.info(
            "slice ended", slice=self._task.name, jobs=count, milliseconds=round(seconds * 1000)
        )

    def _start(self) -> tuple[list[RenderJob], list[RenderJob]]:
        """Return the jobs that a crashed run left claimed, or else the first newly claimed job."""
        with self._context.database.session() as session:
            left = start_job_slice(session, self._task)
            claimed = [] if left else claim_jobs(session, self._task, limit=1, at=now())
        return _decode(left), _decode(claimed)

    def _process(
        self, jobs: Sequence[RenderJob], *, is_careful: bool = False, is_last: bool = True
    ) -> list[RenderJob]:
        """Render and end claimed jobs; with `is_last`, claim the next ones and return them."""
        begun_at = ticks()
        self._found.clear()
        with self._traced(jobs[0]):
            with self._limits.active():
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
                case DeliveryAction.RUN:
                    yield self._render(job)
                case DeliveryAction.EXHAUSTED:
                    yield _End(job, failed_outcome(job, make_crash_error(job)))
                case verdict:
                    self._limits.pause()
                    skip_job(job, verdict, self._context.render)

    def _begin(self, job: RenderJob, *, is_careful: bool) -> DeliveryAction:
        if not is_careful and ticks() < self._begin_at:
            return DeliveryAction.OVERDUE if epoch() >= job.deadline else DeliveryAction.RUN
        self._limits.pause()  # Redis may be unavailable for a while
        if self._begun is not None:
            self._context.render.commits.uncount_delivery(
                self._begun.id
            )  # it did not crash the worker
        self._begun, self._begin_at = job, ticks() + _BEGIN_SECONDS
        return self._context.render.commits.begin(job)

    def _render(self, job: RenderJob) -> _End:
        started_at = epoch()
        with log_context(**log_fields(job)):
            made = self._limits.attempt(lambda: self._make_pdf(job))
        if isinstance(made, ErrorBody):
            return _End(job, replace(failed_outcome(job, made), started_at=started_at))
        outcome, pdf = made
        storing = self._context.storing.submit(self._context.render.flow.store_pdf, job.id, pdf)
        return _End(job, replace(outcome, started_at=started_at), storing)

    def _make_pdf(self, job: RenderJob) -> tuple[JobOutcome, bytes]:
        context, found = self._context.render, self._found[job.workspace_id]
        with context.stopper.watch(job.id):
            return make_pdf(job, context, context.images.of_job(job, context.claims, found=found))

    def _store(self, end: _End) -> _End:
        """Wait for the PDF to be stored."""
        if end.storing is None:
            return end
        with log_context(**log_fields(end.job)), self._context.render.traces.span("store"):
            stored = run_within(nullcontext(), end.storing.result, self._limits.limits)
        if isinstance(stored, ErrorBody):
            failed = failed_outcome(end.job, stored)
            return _End(end.job, replace(failed, started_at=end.outcome.started_at))
        return _End(end.job, replace(end.outcome, pdf=stored))

    @contextmanager
    def _traced(self, job: RenderJob) -> Iterator[None]:
        """Trace a job; while tracing is on, each job is processed alone."""
        traces = self._context.render.traces
        if not traces.is_on:
            yield
            return
        with traces.span(job.purpose.value, parent=job.traceparent, job=job.id):
            traces.record_span("queue", begin=job.admitted_at, end=epoch())
            yield

    # --- ending -----------------------------------------------------------------------------------

    def _choose_limit(self, ends: Sequence[_End], seconds: float) -> int:
        """Return the number of jobs to claim next, 0 if the time is over."""
        left = min(self._stop_at - ticks(), _CLAIM_SECONDS)
        if left <= 0 or any(_is_postponed(end) for end in ends):
            return 0
        if self._context.render.traces.is_on:
            return 1
        fitting = int(left * len(ends) / max(seconds, 1e-6))
        return min(max(fitting, 1), _MAX_CLAIM)

    def _conclude(self, ends: Sequence[_End], limit: int | None) -> list[RenderJob]:
        """End rendered jobs and claim up to `limit` others; 0 ends the slice, None claims none."""
        claimed: Sequence[str] = ()

        def advance(session: Session) -> None:
            nonlocal claimed
            claimed = self._advance(session, limit)
            postpone_jobs(session, [*(job.id for job in postponed), *refused], at=now())

        refused: AbstractSet[str] = frozenset()
        postponed = [end.job for end in ends if _is_postponed(end)]
        for job in postponed:
            if job is self._begun:
                self._context.render.commits.uncount_delivery(job.id)
            log.warning("render postponed, a part of the farm is unavailable", **log_fields(job))
        ended = self._commit([(end.job, end.outcome) for end in ends if not _is_postponed(end)])
        self._begun = None
        on_record = record(ended, self._context.render.flow, first=advance)
        if len(on_record) < len(ended):
            refused = ended.keys() - on_record
            with self._context.database.session() as session:
                advance(session)
        for end in ends:
            if end.job.id in on_record:
                with suppress(Unavailable):  # otherwise maintenance deletes it
                    self._context.render.claims.delete_claim(end.job.body)
        return _decode(claimed)

    def _advance(self, session: Session, limit: int | None) -> Sequence[str]:
        if limit:
            return claim_jobs(session, self._task, limit=limit, at=now())
        if limit == 0:
            end_job_slice(session, self._task)
        return ()

    def _commit(self, made: Sequence[tuple[RenderJob, JobOutcome]]) -> dict[str, JobOutcome]:
        """Commit outcomes in Redis and return the end of each job, in this run or elsewhere."""
        context, ended = self._context.render, {}
        if not made:
            return {}
        with context.traces.span("commit"):
            committed = context.commits.commit_all(made)
        for (job, outcome), recorded in zip(made, committed, strict=True):
            if recorded is not outcome and outcome.pdf is not None:
                with suppress(Unavailable):  # otherwise maintenance deletes it
                    context.claims.delete_claim(outcome.pdf)
            found = recorded or context.flow.states.find_end(job.id)
            if found is not None:
                ended[job.id] = found
            report_end(job, outcome, recorded, context.observer)
        return ended

    def _requeue(self) -> None:
        """Publish the slice again, with the jobs that are still claimed."""
        with self._context.database.session() as session:
            requeue_job_slice(session, self._task)
        self._context.queue.send([self._task])


def _is_postponed(end: _End) -> bool:
    return end.outcome.error is not None and is_outage(end.outcome.error)


def _decode(messages: Sequence[str] | None) -> list[RenderJob]:
    return [RenderJob.decode(message) for message in messages or ()]
