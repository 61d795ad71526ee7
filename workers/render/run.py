"""Running a job: begin, render, store, commit, record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from msgspec import structs

from shared.batches.plans import read_values
from shared.clock import cpu_microseconds, epoch, ticks
from shared.db.session import Session
from shared.errors import ErrorBody, ErrorKind, Unavailable, retry_while_unavailable
from shared.jobs.lifecycle import JobLifecycle
from shared.jobs.records import BodyKind, JobOutcome, Lane, OutcomeStatus, Purpose, RenderJob
from shared.previews.records import PreviewRequest
from shared.queue.claims import Claims
from shared.queue.clocks import FarmClock
from shared.queue.commits import Commits, DeliveryAction, failed_outcome
from shared.signer import SignerClient
from shared.telemetry import metrics
from shared.telemetry.log import get_logger, log_context
from shared.telemetry.observer import Observer
from shared.telemetry.traces import NULL_TRACER, Traces
from workers.engine.diagnostics import Diagnostic, Findings
from workers.engine.einvoices import InvoiceJudge
from workers.engine.ports import Payload, PayloadKind, Rendered, RenderOptions, RenderOutput, Stage
from workers.engine.preview import preview
from workers.render.budget import Stopper, Watchdog
from workers.render.failures import RenderLimits, make_crash_error, run_with_deadline, summarise
from workers.render.inspection import INSPECTORS, Inspectors, inspect, present_invoice
from workers.render.previews import PreviewFunction, run_preview
from workers.render.resources import (
    AccountSigner,
    Images,
    PrepareFunction,
    Templates,
    WorkspaceImages,
)

# The slot waits this long for an unavailable database; then maintenance republishes the job.
PATIENCE_SECONDS: Final = 30.0
_PAUSE_SECONDS: Final = 0.5


def complete(job_id: str, flow: JobLifecycle) -> None:
    """Record the end of a job that was decided before this run.

    Raises:
        Unavailable: the database stayed unavailable; the job is delivered again.
    """
    _retry(lambda: flow.complete(job_id))


def record(
    ended: Mapping[str, JobOutcome],
    flow: JobLifecycle,
    *,
    first: Callable[[Session], object] = lambda _: None,
) -> AbstractSet[str]:
    """Record the ends of jobs in one transaction and return the ids of the recorded jobs.

    `first` is called first in the transaction. If the database rejects it, the ends are recorded one
    by one, without `first`.

    Raises:
        Unavailable: the database stayed unavailable; the jobs are delivered again and completed.
    """
    try:
        _retry(lambda: flow.record_ends(ended, first=first))
    except Unavailable:
        raise
    except Exception as error:
        if len(ended) <= 1:
            log.error("end not on record", jobs=list(ended), exc_info=error)
            return frozenset()
        return {job_id for job_id, each in ended.items() if record({job_id: each}, flow)}
    return ended.keys()


def _retry(step: Callable[[], None]) -> None:
    retry_while_unavailable(
        step, seconds=PATIENCE_SECONDS, pause_seconds=_PAUSE_SECONDS, report=_report
    )


def _report(error: Unavailable) -> None:
    log.warning("end not on record yet", part=error.part, cause=repr(error.__cause__))


class StageTimer:
    """Sums the time of each stage."""

    def __init__(self, traces: Traces = NULL_TRACER) -> None:
        self._traces = traces
        self._milliseconds: dict[str, float] = {}
        self._stage: Stage | None = None
        self._since = ticks()

    def enter(self, stage: Stage) -> None:
        """Start the time of `stage`, ending that of the previous one."""
        self.stop()
        self._stage = stage

    def stop(self) -> Mapping[str, float]:
        """End the current stage and return the milliseconds of each stage."""
        now = ticks()
        if self._stage is not None:
            spent = self._milliseconds.get(self._stage.value, 0.0)
            self._milliseconds[self._stage.value] = spent + (now - self._since) * 1000
            if self._traces.is_on:
                ended = epoch()
                self._traces.record_span(
                    self._stage.value, begin=ended - (now - self._since), end=ended
                )
        self._stage = None
        self._since = now
        return {stage: round(ms, 3) for stage, ms in self._milliseconds.items()}

    def restart(self) -> Mapping[str, float]:
        """Return what `stop` does, and begin anew."""
        spent = self.stop()
        self._milliseconds = {}
        return spent


# The watchdog ends the process this long after the alarm, if code catches it or stays in C; the queue
# then counts the delivery as a crash.
WATCHDOG_GRACE_SECONDS: Final = 1.0

_OPERATIONS: Final = {
    Purpose.RENDER: "render",
    Purpose.VALIDATE: "validation",
    Purpose.INSPECT: "inspection",
    Purpose.PREVIEW: "preview",
}

log: Final = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Engine:
    """The functions of the document engine, those of `workers.engine.pipeline` and `preview`; tests have others."""

    prepare: PrepareFunction
    render: Callable[..., Rendered]
    validate: Callable[..., Findings]
    inspectors: Inspectors = field(default_factory=lambda: INSPECTORS)
    preview: PreviewFunction = preview


@dataclass(frozen=True, slots=True)
class RenderContext:
    """The services of a worker process for running jobs; made once after the fork."""

    commits: Commits
    claims: Claims
    templates: Templates
    images: Images
    engine: Engine
    watchdog: Watchdog
    memory_mb: int
    observer: Observer
    flow: JobLifecycle
    stopper: Stopper
    traces: Traces = NULL_TRACER
    clock: FarmClock | None = None
    signer: SignerClient | None = None
    judge: InvoiceJudge | None = None


def run_job(job: RenderJob, context: RenderContext, *, published_at: float | None = None) -> None:
    """Run one delivery of a job, unless the job has ended or is overdue.

    Accepted renders are run in slices (`workers.batches.job_slices`); messages for single ones come from
    fronts of the previous release and are ignored.

    Raises:
        Unavailable: Redis stayed unavailable until the job's deadline.
    """
    if job.is_recorded and job.lane is Lane.BATCH:
        return
    if context.clock is not None:
        context.clock.sync_if_due()
    with (
        log_context(**log_fields(job)),
        context.traces.span(job.purpose.value, parent=job.traceparent, job=job.id),
    ):
        context.traces.record_span("queue", begin=job.admitted_at, end=epoch())
        match context.commits.begin(job, published_at=published_at):
            case DeliveryAction.RUN:
                _run(job, context)
            case DeliveryAction.EXHAUSTED:
                _end(job, failed_outcome(job, make_crash_error(job)), context)
            case (DeliveryAction.ENDED | DeliveryAction.OVERDUE) as verdict:
                skip_job(job, verdict, context)


def _run(job: RenderJob, context: RenderContext) -> None:
    if job.is_recorded:
        started_at = epoch()
        with context.watchdog.watch(_seconds_left(job) + WATCHDOG_GRACE_SECONDS):
            outcome = _attempt(job, context)
        # Not under the watchdog: storing the end of a recorded job has no deadline.
        _end(job, structs.replace(outcome, started_at=started_at), context)
        return
    # The commit is under the watchdog too: after the deadline it would be refused.
    with context.watchdog.watch(_seconds_left(job) + WATCHDOG_GRACE_SECONDS):
        _end(job, _attempt(job, context), context)


def _seconds_left(job: RenderJob) -> float:
    left = max(job.deadline - epoch(), 0)
    return left if job.budget_seconds is None else min(left, job.budget_seconds)


def skip_job(job: RenderJob, verdict: DeliveryAction, context: RenderContext) -> None:
    """Skip a job that has ended or is overdue, and update its record."""
    log.info("delivery skipped", verdict=verdict.value)
    if job.is_recorded and verdict is DeliveryAction.OVERDUE:
        with suppress(Unavailable):
            context.flow.end_overdue(job.id)  # otherwise maintenance does it
    elif job.is_recorded:
        complete(job.id, context.flow)
    _drop_claims(job, context)


def _drop_claims(job: RenderJob, context: RenderContext) -> None:
    for claim in job.claims:
        context.claims.delete_claim(claim)


def _end(job: RenderJob, outcome: JobOutcome, context: RenderContext) -> None:
    if outcome.status is OutcomeStatus.SUSPENDED:
        context.commits.suspend(job, outcome)
        log.info("render suspended, its front fetches images", images=len(outcome.wanted))
        return
    with context.traces.span("commit"):
        sent = context.claims.seal(job, outcome)
        committed = context.commits.commit(job, sent)
        if committed is not sent:
            for claim in filter(None, (outcome.pdf, sent.sealed)):
                context.claims.delete_claim(claim)
        if job.is_recorded and committed is not None:
            record({job.id: committed}, context.flow)
        elif job.is_recorded:
            complete(job.id, context.flow)
        _drop_claims(job, context)
    report_end(job, outcome, outcome if committed is sent else committed, context.observer)


def log_fields(job: RenderJob) -> dict[str, str]:
    """Return the log fields of a job."""
    return {"job": job.id, "request": job.request_id, "account": job.meter.account_id}


def _attempt(job: RenderJob, context: RenderContext) -> JobOutcome:
    """Run the job and return its outcome, also for failures."""
    budget = job.budget_seconds or job.deadline - job.admitted_at
    subject = job.body_kind.value if job.purpose is Purpose.INSPECT else "document"
    bounds = RenderLimits(_OPERATIONS[job.purpose], budget, context.memory_mb, subject=subject)
    images = context.images.of_job(job, context.claims)
    deadline = epoch() + _seconds_left(job)

    def run() -> JobOutcome:
        # The client may cancel it, close its connection, or send a newer preview.
        with context.stopper.watch(job.id):
            return execute(job, context, images)

    outcome = run_with_deadline(run, bounds, deadline=deadline)
    if not isinstance(outcome, ErrorBody):
        return outcome
    if images.wanted and outcome.kind is ErrorKind.AUTHORING:  # perhaps because of missing images
        return _suspended(job, images)
    return failed_outcome(job, outcome)


def _suspended(job: RenderJob, images: WorkspaceImages) -> JobOutcome:
    return JobOutcome(job.id, OutcomeStatus.SUSPENDED, wanted=tuple(images.wanted), round=job.round)


def _render(job: RenderJob, context: RenderContext, images: WorkspaceImages) -> JobOutcome:
    outcome, pdf = make_pdf(job, context, images)
    if images.wanted:
        return _suspended(job, images)
    with context.traces.span("store", bytes=len(pdf)):
        stored = (
            context.flow.store_pdf(job.id, pdf)
            if job.is_recorded
            else context.claims.store_pdf(job, pdf)
        )
        return structs.replace(outcome, pdf=stored)


def make_pdf(
    job: RenderJob, context: RenderContext, images: WorkspaceImages
) -> tuple[JobOutcome, bytes]:
    """Render a job and return its outcome without the stored PDF, and the PDF."""
    spent = cpu_microseconds()
    timer = StageTimer(context.traces)
    # Readings of Redis's clock differ between processes (`shared.clock`).
    queued_ms = max(round((epoch() - job.admitted_at) * 1000, 3), 0.0)
    template = context.templates.get(job.template) if job.template else None
    payload, found = _read_payload(job, context)
    signer = AccountSigner(context.signer, job.meter.account_id, lambda: images.wanted)
    rendered = context.engine.render(
        template,
        payload,
        options=replace(_options(job), signer=signer, judge=context.judge),
        resources=images,
        observer=timer.enter,
    )
    outcome = JobOutcome(
        job.id,
        OutcomeStatus.SUCCEEDED,
        pages=rendered.pages,
        filename=rendered.filename,
        timings={"queue": queued_ms, **timer.stop()},
        warnings=tuple(
            summarise([*found, *rendered.warnings], left_out=rendered.warnings_left_out)
        ),
        values=read_values(job.paths, payload.body),
        cpu_us=cpu_microseconds() - spent,
    )
    return outcome, rendered.pdf


def _validate(job: RenderJob, context: RenderContext, images: WorkspaceImages) -> JobOutcome:
    template = context.templates.get(job.template) if job.template else None
    found = context.engine.validate(
        template,
        _read_payload(job, context)[0],
        options=replace(_options(job), judge=context.judge),
        resources=images,
    )
    return JobOutcome(job.id, OutcomeStatus.SUCCEEDED, findings=found.to_report())


def _inspect(job: RenderJob, context: RenderContext, _: WorkspaceImages) -> JobOutcome:
    return inspect(job, context.claims.load(job.body), context.engine.inspectors)


def _preview(job: RenderJob, context: RenderContext, images: WorkspaceImages) -> JobOutcome:
    timer = StageTimer(context.traces)
    queued_ms = max(round((epoch() - job.admitted_at) * 1000, 3), 0.0)
    request = PreviewRequest.decode(context.claims.load(job.body))
    template = (
        context.templates.get(job.template)
        if job.template
        else context.templates.get_draft(request.template or "", request.links)
    )
    outcome, file = run_preview(
        job, request, template, context.engine.preview, resources=images, observer=timer.enter
    )
    if images.wanted:
        return _suspended(job, images)
    timings = {"queue": queued_ms, **timer.stop()}
    stored = context.claims.store_pdf(job, file) if file else None
    return structs.replace(outcome, pdf=stored, timings=timings)


_RUNS: Final = {
    Purpose.RENDER: _render,
    Purpose.VALIDATE: _validate,
    Purpose.INSPECT: _inspect,
    Purpose.PREVIEW: _preview,
}


def execute(job: RenderJob, context: RenderContext, images: WorkspaceImages) -> JobOutcome:
    """Run a job by its purpose, without limits and without a commit.

    Raises:
        AuthoringError: the document cannot be rendered.
        ServiceError, Unavailable: a template or an image cannot be had.
    """
    return _RUNS[job.purpose](job, context, images)


def _read_payload(job: RenderJob, context: RenderContext) -> tuple[Payload, list[Diagnostic]]:
    """Return the payload of a job, and the findings of a received invoice."""
    content = context.claims.load(job.body)
    if job.body_kind is BodyKind.INVOICE:
        content, found = present_invoice(content, context.judge)
        return Payload(PayloadKind.JSON, content), found
    kind = PayloadKind(job.body_kind.value)
    return Payload(kind, content, charset=job.charset, flow=job.flow), []


def _options(job: RenderJob) -> RenderOptions:
    # The time of admission, so that a retry renders the same document.
    now = datetime.fromtimestamp(job.admitted_at, UTC)
    if job.template is None:
        return RenderOptions(now, is_draft=job.is_draft, output=RenderOutput(job.output.value))
    return RenderOptions(
        now,
        is_draft=job.is_draft,
        template_id=job.template.template_id,
        template_version=job.template.version,
        template_sha256=job.template.sha256,
        built_on=job.template.links,
        output=RenderOutput(job.output.value),
    )


def report_end(
    job: RenderJob, made: JobOutcome, committed: JobOutcome | None, observer: Observer
) -> None:
    """Count and log the end of a job; `committed` is None if it had ended before."""
    outcome = committed or made
    if committed is not None:
        _count(job, committed, observer)
    with log_context(**log_fields(job)):
        log.info(
            "render finished" if committed else "render discarded, its job had ended",
            status=outcome.status.value,
            kind=outcome.error.kind.value if outcome.error else None,
            pages=outcome.pages,
            milliseconds=dict(outcome.timings),
        )


def _count(job: RenderJob, outcome: JobOutcome, observer: Observer) -> None:
    kind, allowance = job.body_kind, job.meter.allowance
    result = outcome.error.kind if outcome.error else metrics.SUCCEEDED
    match job.purpose:
        case Purpose.VALIDATE:
            observer.count(metrics.VALIDATIONS, kind, result)
        case Purpose.INSPECT:
            observer.count(metrics.INSPECTIONS, kind, result)
        case Purpose.PREVIEW:
            observer.count(metrics.PREVIEWS, result)
        case Purpose.RENDER:
            observer.count(metrics.RENDERS, kind, allowance, result)
            if outcome.status is OutcomeStatus.SUCCEEDED:
                observer.count(metrics.PAGES, kind, allowance, amount=outcome.pages)
            for stage, milliseconds in outcome.timings.items():
                observer.observe(metrics.STAGE_SECONDS, milliseconds / 1000, stage)
