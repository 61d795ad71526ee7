"""One job from the queue to its end: begin, fetch, render, store, commit."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, Protocol

from shared.clock import epoch
from shared.errors import ErrorBody, ErrorKind, Unavailable
from shared.job_flow import JobFlow
from shared.jobs import Claim, JobOutcome, Lane, OutcomeStatus, Purpose, RenderJob
from shared.queue.claims import Claims
from shared.queue.clocks import FarmClock
from shared.queue.commits import Begin, Commits, fail
from shared.queue.states import OVERDUE
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
from workers.farm.recorded import Records, complete, is_open
from workers.farm.resources import Images, Templates
from workers.farm.stopping import Stopper
from workers.farm.timing import StageTimer
from workers.farm.warnings import summarise
from workers.farm.watchdog import Watchdog

# Code that swallows its alarm or never returns from C is ended with its process this much later;
# the queue then sees that the job brought its worker down.
WATCHDOG_GRACE_SECONDS: Final = 1.0

_DOING: Final = {Purpose.RENDER: "render", Purpose.VALIDATE: "validation"}

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
    records: Records
    stopper: Stopper
    traces: Traces = UNTRACED
    clock: FarmClock | None = None


def run_job(job: RenderJob, farm: Farm) -> None:
    """Run one delivery of a job; afterwards it has ended, unless it ended before or is overdue.

    Raises:
        Unavailable: Redis stayed away until the job's deadline.
    """
    if farm.clock is not None:
        farm.clock.look_if_due()
    with (
        log_context(**_name(job)),
        farm.traces.span(job.purpose.value, parent=job.traceparent, job=job.id),
    ):
        farm.traces.record("queue", begin=job.admitted_at, end=epoch())
        match farm.commits.begin(job):
            case Begin.RUN_IF_OPEN if not is_open(job, farm.flow):
                log.info("delivery skipped", verdict="on record")
            case Begin.RUN | Begin.RUN_IF_OPEN:
                _run(job, farm)
            case Begin.EXHAUSTED:
                _end(job, _brought_worker_down(job), farm)
            case (Begin.ENDED | Begin.OVERDUE) as verdict:
                log.info("delivery skipped", verdict=verdict.value)
                if job.is_recorded:
                    _leave_on_record(job, verdict, farm)
                farm.claims.drop(job.body)


def _run(job: RenderJob, farm: Farm) -> None:
    if job.is_recorded:
        started_at = epoch()
        with farm.watchdog.watch(_seconds_left(job) + WATCHDOG_GRACE_SECONDS):
            outcome = _attempt(job, farm)
        if job.lane is Lane.BATCH and _is_outage(outcome):
            # Nobody waits who could ask again: the keeper does, until the job's day is over.
            farm.commits.give_back(job)
            log.warning("render postponed, a part of the farm is away")
            return
        # Not under the watchdog: what is on record may end as late as the stores let it.
        _end(job, replace(outcome, started_at=started_at), farm)
        return
    # Past its deadline a job has no more to do here: it cannot be committed any more.
    with farm.watchdog.watch(_seconds_left(job) + WATCHDOG_GRACE_SECONDS):
        _end(job, _attempt(job, farm), farm)


def _is_outage(outcome: JobOutcome) -> bool:
    return outcome.error is not None and outcome.error.kind is ErrorKind.UNAVAILABLE


def _seconds_left(job: RenderJob) -> float:
    left = max(job.deadline - epoch(), 0)
    return left if job.budget_seconds is None else min(left, job.budget_seconds)


def _leave_on_record(job: RenderJob, verdict: Begin, farm: Farm) -> None:
    if verdict is Begin.OVERDUE:
        with suppress(Unavailable):
            farm.flow.end_early(job.id, OVERDUE)  # the keeper does it otherwise
    else:
        complete(job, farm.flow)


def _end(job: RenderJob, outcome: JobOutcome, farm: Farm) -> None:
    with farm.traces.span("commit"):
        committed = farm.commits.commit(job, outcome, beside=farm.tally.drain())
        if committed is not outcome and outcome.pdf is not None:
            farm.claims.drop(outcome.pdf)
        if job.is_recorded and committed is not None:
            farm.records.put(job, committed)  # which drops the body then
            farm.records.settle()
        else:
            if job.is_recorded:
                complete(job, farm.flow)
            farm.claims.drop(job.body)
    _log_end(outcome if committed is None else committed, is_committed=committed is not None)


def _name(job: RenderJob) -> dict[str, str]:
    return {"job": job.id, "request": job.request_id, "account": job.meter.account_id}


def _attempt(job: RenderJob, farm: Farm) -> JobOutcome:
    """Do the job; whatever goes wrong becomes the error body its client gets."""
    budget = job.budget_seconds or job.deadline - job.admitted_at
    bounds = Bounds(_DOING[job.purpose], budget, farm.memory_mb)
    run = _render if job.purpose is Purpose.RENDER else _validate
    if job.is_recorded:
        run = _render_recorded
    outcome = attempt(lambda: run(job, farm), bounds, deadline=epoch() + _seconds_left(job))
    return fail(job, outcome) if isinstance(outcome, ErrorBody) else outcome


def _render_recorded(job: RenderJob, farm: Farm) -> JobOutcome:
    with farm.stopper.watch(job.id):
        return _render(job, farm)


def _render(job: RenderJob, farm: Farm) -> JobOutcome:
    timer = StageTimer(farm.traces)
    queued_ms = round((epoch() - job.admitted_at) * 1000, 3)
    template = farm.templates.get(job.template.sha256) if job.template else None
    rendered = farm.render(
        template,
        _payload(job, farm.claims),
        options=_options(job),
        resources=farm.images.of_account(job.meter.account_id, job.workspace_id),
        watch=timer,
    )
    return JobOutcome(
        job.id,
        OutcomeStatus.SUCCEEDED,
        pages=rendered.pages,
        filename=rendered.filename,
        timings={"queue": queued_ms, **timer.stop()},
        pdf=_store(job, rendered.pdf, farm),
        warnings=summarise(rendered.warnings, left_out=rendered.warnings_left_out),
    )


def _store(job: RenderJob, pdf: bytes, farm: Farm) -> Claim:
    with farm.traces.span("store", bytes=len(pdf)):
        if job.is_recorded:
            return farm.flow.store_pdf(job.id, pdf)
        return farm.claims.store(job.id, pdf)


def _validate(job: RenderJob, farm: Farm) -> JobOutcome:
    template = farm.templates.get(job.template.sha256) if job.template else None
    found = farm.validate(
        template,
        _payload(job, farm.claims),
        options=_options(job),
        resources=farm.images.of_account(job.meter.account_id, job.workspace_id),
    )
    return JobOutcome(job.id, OutcomeStatus.SUCCEEDED, findings=found.to_report())


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
    return fail(job, brought_worker_down())


def _log_end(outcome: JobOutcome, *, is_committed: bool) -> None:
    log.info(
        "render finished" if is_committed else "render discarded, its job had ended",
        status=outcome.status.value,
        kind=outcome.error.kind.value if outcome.error else None,
        pages=outcome.pages,
        milliseconds=dict(outcome.timings),
    )
