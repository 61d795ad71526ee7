"""One job from the queue to its end: begin, fetch, render, store, commit."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final, Protocol

from shared.clock import epoch
from shared.errors import ErrorBody, Unavailable
from shared.job_flow import JobFlow
from shared.jobs import JobOutcome, Lane, OutcomeStatus, Purpose, RenderJob
from shared.queue.claims import Claims
from shared.queue.clocks import FarmClock
from shared.queue.commits import Begin, Commits, fail
from shared.queue.states import OVERDUE, Ended
from shared.telemetry.log import get_logger, log_context
from shared.telemetry.totals import Tally
from shared.telemetry.traces import UNTRACED, Traces
from workers.engine.diagnostics import Findings
from workers.engine.pipeline import PreparedTemplate
from workers.engine.ports import (
    Payload,
    PayloadKind,
    Rendered,
    RenderOptions,
    Resources,
    StageWatch,
)
from workers.farm.failures import Bounds, attempt, brought_worker_down
from workers.farm.inspection import INSPECTORS, Inspectors, ended_its_process, inspect
from workers.farm.recorded import complete, record
from workers.farm.resources import Images, Templates
from workers.farm.slot import SINGLE_SLOT, Slot
from workers.farm.stopping import Stopper
from workers.farm.timing import StageTimer
from workers.farm.warnings import summarise
from workers.farm.watchdog import Watchdog

# Code that swallows its alarm or never returns from C is ended with its process this much later;
# the queue then sees that the job brought its worker down.
WATCHDOG_GRACE_SECONDS: Final = 1.0

_DOING: Final = {
    Purpose.RENDER: "render",
    Purpose.VALIDATE: "validation",
    Purpose.INSPECT: "inspection",
}

log: Final = get_logger(__name__)


class Render(Protocol):
    """The engine, as the farm calls it: `workers.engine.pipeline.render`."""

    def __call__(
        self,
        template: PreparedTemplate | None,
        payload: Payload | None,
        *,
        options: RenderOptions,
        resources: Resources | None = None,
        watch: StageWatch | None = None,
    ) -> Rendered:
        """Render a document."""


class Validate(Protocol):
    """The engine, as the farm calls it: `workers.engine.pipeline.validate`."""

    def __call__(
        self,
        template: PreparedTemplate | None,
        payload: Payload | None,
        *,
        options: RenderOptions,
        resources: Resources | None = None,
    ) -> Findings:
        """Find a document's problems."""


@dataclass(frozen=True, slots=True)
class Engine:
    """The calls of the document engine."""

    prepare: Callable[[bytes], PreparedTemplate]
    render: Render
    validate: Validate
    inspectors: Inspectors = field(default_factory=lambda: INSPECTORS)


@dataclass(frozen=True, slots=True)
class Farm:
    """What a worker process needs to run jobs; made once after the fork."""

    commits: Commits
    claims: Claims
    templates: Templates
    images: Images
    render: Render
    validate: Validate
    watchdog: Watchdog
    memory_mb: int
    tally: Tally
    flow: JobFlow
    stopper: Stopper
    traces: Traces = UNTRACED
    slot: Slot = SINGLE_SLOT
    clock: FarmClock | None = None
    inspectors: Inspectors = field(default_factory=lambda: INSPECTORS)


def run_job(job: RenderJob, farm: Farm, *, delivery: int | None = None) -> None:
    """Run one delivery of a job; afterwards it has ended, unless it ended before or is overdue.

    `delivery` is known where it was counted when the worker took it. What nobody waits for is not run
    by a message of its own: those come from fronts of the release before.

    Raises:
        Unavailable: Redis stayed away until the job's deadline.
    """
    if job.is_recorded and job.lane is Lane.BATCH:
        return
    if farm.clock is not None:
        farm.clock.look_if_due()
    with (
        log_context(**name(job)),
        farm.traces.span(job.purpose.value, parent=job.traceparent, job=job.id),
    ):
        farm.traces.record("queue", begin=job.admitted_at, end=epoch())
        match farm.commits.begin(job, delivery=delivery):
            case Begin.RUN:
                _run(job, farm)
            case Begin.EXHAUSTED:
                _end(job, _brought_worker_down(job), farm)
            case (Begin.ENDED | Begin.OVERDUE) as verdict:
                skip(job, verdict, farm)


def _run(job: RenderJob, farm: Farm) -> None:
    if job.is_recorded or job.purpose is not Purpose.RENDER:
        farm.slot.settle()
    if job.is_recorded:
        started_at = epoch()
        with farm.watchdog.watch(_seconds_left(job) + WATCHDOG_GRACE_SECONDS):
            outcome = _attempt(job, farm)
        # Not under the watchdog: what is on record may end as late as the stores let it.
        _end(job, replace(outcome, started_at=started_at), farm)
        return
    # Past its deadline a job has no more to do here: it cannot be committed any more.
    with farm.watchdog.watch(_seconds_left(job) + WATCHDOG_GRACE_SECONDS):
        _end(job, _attempt(job, farm), farm)


def _seconds_left(job: RenderJob) -> float:
    left = max(job.deadline - epoch(), 0)
    return left if job.budget_seconds is None else min(left, job.budget_seconds)


def skip(job: RenderJob, verdict: Begin, farm: Farm) -> None:
    """Leave a job that has ended or is overdue, and see to it that the record says so."""
    log.info("delivery skipped", verdict=verdict.value)
    if job.is_recorded and verdict is Begin.OVERDUE:
        with suppress(Unavailable):
            farm.flow.end_early(job.id, OVERDUE)  # the keeper does it otherwise
    elif job.is_recorded:
        complete(job.id, farm.flow)
    farm.claims.drop(job.body)


@dataclass(frozen=True, slots=True)
class _Ending:
    """The end of a job that was committed, or not (`workers.farm.slot.End`)."""

    job: RenderJob
    outcome: JobOutcome
    committed: JobOutcome | None
    farm: Farm

    def has_come(self) -> bool:
        """Return True: the commit has its answer."""
        return True

    def settle(self, *, has_next: bool) -> None:
        """Do what comes after the commit; with a next job or without one."""
        del has_next  # nothing is left to be done with it
        job, outcome, committed, farm = self.job, self.outcome, self.committed, self.farm
        if committed is not outcome and outcome.pdf is not None:
            farm.claims.drop(outcome.pdf)
        if job.is_recorded and committed is not None:
            record({job.id: Ended("", committed)}, farm.flow)
        elif job.is_recorded:
            complete(job.id, farm.flow)
        farm.claims.drop(job.body)
        log_end(job, outcome, committed)


def _end(job: RenderJob, outcome: JobOutcome, farm: Farm) -> None:
    with farm.traces.span("commit"):
        committed = farm.commits.commit(job, outcome, beside=farm.tally.drain())
        ending = _Ending(job, outcome, committed, farm)
        if farm.traces.is_on or job.is_recorded:
            ending.settle(has_next=False)
        else:
            farm.slot.put_off(ending)


def name(job: RenderJob) -> dict[str, str]:
    """Return what a job is named by in the log."""
    return {"job": job.id, "request": job.request_id, "account": job.meter.account_id}


def _attempt(job: RenderJob, farm: Farm) -> JobOutcome:
    """Do the job; whatever goes wrong becomes the error body its client gets."""
    budget = job.budget_seconds or job.deadline - job.admitted_at
    subject = job.body_kind.value if job.purpose is Purpose.INSPECT else "document"
    bounds = Bounds(_DOING[job.purpose], budget, farm.memory_mb, subject=subject)
    run = _RUNS[job.purpose]
    outcome = attempt(lambda: run(job, farm), bounds, deadline=epoch() + _seconds_left(job))
    return fail(job, outcome) if isinstance(outcome, ErrorBody) else outcome


def _render(job: RenderJob, farm: Farm) -> JobOutcome:
    with farm.stopper.watch(job.id) if job.is_recorded else nullcontext():
        outcome, pdf = make_pdf(job, farm)
        with farm.traces.span("store", bytes=len(pdf)):
            store = farm.flow.store_pdf if job.is_recorded else farm.claims.store
            return replace(outcome, pdf=store(job.id, pdf))


def make_pdf(job: RenderJob, farm: Farm) -> tuple[JobOutcome, bytes]:
    """Render a job and return its outcome, in which the PDF is yet to be named, and the PDF."""
    # A job on record has its end written to the database yet: the next is not asked for early.
    timer = StageTimer(farm.traces, SINGLE_SLOT if job.is_recorded else farm.slot)
    # The front's clock may be ahead by what readings of Redis's clock differ (`shared.clock`).
    queued_ms = max(round((epoch() - job.admitted_at) * 1000, 3), 0.0)
    template = farm.templates.get(job.template.sha256) if job.template else None
    rendered = farm.render(
        template,
        _payload(job, farm.claims),
        options=_options(job),
        resources=farm.images.of_account(job.meter.account_id, job.workspace_id),
        watch=timer,
    )
    outcome = JobOutcome(
        job.id,
        OutcomeStatus.SUCCEEDED,
        pages=rendered.pages,
        filename=rendered.filename,
        timings={"queue": queued_ms, **timer.stop()},
        warnings=summarise(rendered.warnings, left_out=rendered.warnings_left_out),
    )
    return outcome, rendered.pdf


def _validate(job: RenderJob, farm: Farm) -> JobOutcome:
    template = farm.templates.get(job.template.sha256) if job.template else None
    found = farm.validate(
        template,
        _payload(job, farm.claims),
        options=_options(job),
        resources=farm.images.of_account(job.meter.account_id, job.workspace_id),
    )
    return JobOutcome(job.id, OutcomeStatus.SUCCEEDED, findings=found.to_report())


def _inspect(job: RenderJob, farm: Farm) -> JobOutcome:
    return inspect(job, farm.claims.load(job.body), farm.inspectors)


_RUNS: Final = {
    Purpose.RENDER: _render,
    Purpose.VALIDATE: _validate,
    Purpose.INSPECT: _inspect,
}


def _payload(job: RenderJob, claims: Claims) -> Payload:
    kind = PayloadKind(job.body_kind.value)
    return Payload(kind, claims.load(job.body), charset=job.charset, flow=job.flow)


def _options(job: RenderJob) -> RenderOptions:
    # The instant of admission, not of this run: a retry renders the same.
    now = datetime.fromtimestamp(job.admitted_at, UTC)
    if job.template is None:
        return RenderOptions(now, is_draft=job.is_draft)
    return RenderOptions(
        now,
        is_draft=job.is_draft,
        template_id=job.template.template_id,
        template_version=job.template.version,
        template_sha256=job.template.sha256,
    )


def _brought_worker_down(job: RenderJob) -> JobOutcome:
    if job.purpose is Purpose.INSPECT:
        return fail(job, ended_its_process(job.body_kind))
    return fail(job, brought_worker_down())


def log_end(job: RenderJob, made: JobOutcome, committed: JobOutcome | None) -> None:
    """Log how a job ended; None was committed where it had ended before."""
    outcome = committed or made
    with log_context(**name(job)):
        log.info(
            "render finished" if committed else "render discarded, its job had ended",
            status=outcome.status.value,
            kind=outcome.error.kind.value if outcome.error else None,
            pages=outcome.pages,
            milliseconds=dict(outcome.timings),
        )
