"""One job from the queue to its end: begin, fetch, render, store, commit."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol

from shared.clock import epoch
from shared.errors import ErrorBody, ErrorCode, ErrorKind, ServiceError
from shared.jobs import JobOutcome, OutcomeStatus, Purpose, RenderJob
from shared.queue.claims import Claims
from shared.queue.commits import Begin, Commits, fail
from shared.telemetry.log import get_logger, log_context
from shared.telemetry.totals import Tally
from workers.engine.diagnostics import AuthoringError, Findings
from workers.engine.pipeline import PreparedTemplate
from workers.engine.ports import (
    Payload,
    PayloadKind,
    Rendered,
    RenderOptions,
    Resources,
    StageWatch,
)
from workers.farm.budget import BudgetExceeded, time_limit
from workers.farm.resources import Images, Templates
from workers.farm.timing import StageTimer
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


def run_job(job: RenderJob, farm: Farm) -> None:
    """Run one delivery of a job; afterwards it has ended, unless it ended before or is overdue.

    Raises:
        Unavailable: Redis stayed away until the job's deadline.
    """
    with log_context(job=job.id, request=job.request_id, account=job.meter.account_id):
        match farm.commits.begin(job):
            case Begin.RUN:
                _run(job, farm)
            case Begin.EXHAUSTED:
                _end(job, _brought_worker_down(job), farm)
            case (Begin.ENDED | Begin.OVERDUE) as verdict:
                log.info("delivery skipped", verdict=verdict.value)
                farm.claims.drop(job.body)


def _run(job: RenderJob, farm: Farm) -> None:
    # Past its deadline a job has no more to do here: it cannot be committed any more.
    with farm.watchdog.watch(max(job.deadline - epoch(), 0) + WATCHDOG_GRACE_SECONDS):
        _end(job, _attempt(job, farm), farm)


def _end(job: RenderJob, outcome: JobOutcome, farm: Farm) -> None:
    committed = farm.commits.commit(job, outcome, beside=farm.tally.drain())
    if committed is not outcome and outcome.pdf is not None:
        farm.claims.drop(outcome.pdf)
    farm.claims.drop(job.body)
    _log_end(outcome if committed is None else committed, is_committed=committed is not None)


def _attempt(job: RenderJob, farm: Farm) -> JobOutcome:
    """Do the job; whatever goes wrong becomes the error body its client gets."""
    try:
        with time_limit(job.deadline):
            return _render(job, farm) if job.purpose is Purpose.RENDER else _validate(job, farm)
    except AuthoringError as error:
        return fail(job, _authoring(error))
    except ServiceError as error:
        log.warning("render stopped", kind=error.body.kind.value, cause=repr(error.__cause__))
        return fail(job, error.body)
    except BudgetExceeded:
        return fail(job, _timeout(job))
    except MemoryError:
        return fail(job, _too_large(farm.memory_mb))
    except RecursionError:
        return fail(job, _too_deep())
    except Exception as error:  # noqa: BLE001 - a defect of ours must cost one job, not the worker
        return fail(job, _internal(error))


def _render(job: RenderJob, farm: Farm) -> JobOutcome:
    timer = StageTimer()
    queued_ms = round((epoch() - job.admitted_at) * 1000, 3)
    template = farm.templates.get(job.template.sha256) if job.template else None
    rendered = farm.render(
        template,
        _payload(job, farm.claims),
        options=_options(job),
        resources=farm.images.of_workspace(job.workspace_id),
        watch=timer,
    )
    return JobOutcome(
        job.id,
        OutcomeStatus.SUCCEEDED,
        pages=rendered.pages,
        filename=rendered.filename,
        timings={"queue": queued_ms, **timer.stop()},
        pdf=farm.claims.store(job.id, rendered.pdf),
    )


def _validate(job: RenderJob, farm: Farm) -> JobOutcome:
    template = farm.templates.get(job.template.sha256) if job.template else None
    found = farm.validate(
        template,
        _payload(job, farm.claims),
        options=_options(job),
        resources=farm.images.of_workspace(job.workspace_id),
    )
    findings = {
        "valid": not found.errors,
        "errors": [diagnostic.to_finding() for diagnostic in found.errors],
        "warnings": [diagnostic.to_finding() for diagnostic in found.warnings],
    }
    return JobOutcome(job.id, OutcomeStatus.SUCCEEDED, findings=findings)


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


def _authoring(error: AuthoringError) -> ErrorBody:
    first, *others = error.diagnostics
    message = f"{first.text} (and {len(others)} more)" if others else first.text
    return ErrorBody(400, message, ErrorKind.AUTHORING, stack_trace=error.to_stack_trace())


def _timeout(job: RenderJob) -> ErrorBody:
    seconds = job.deadline - job.admitted_at
    message = (
        f"The {_DOING[job.purpose]} exceeded its time budget of {seconds:g} s and was stopped: "
        "the document is too large or too complex."
    )
    return ErrorBody(504, message, ErrorKind.TIMEOUT, ErrorCode.RENDER_TIMEOUT)


def _too_large(memory_mb: int) -> ErrorBody:
    message = (
        f"The document needs more memory to render than the {memory_mb} MB a render may use: "
        "split it, or use smaller images."
    )
    return ErrorBody(400, message, ErrorKind.RESOURCE)


def _too_deep() -> ErrorBody:
    message = "The document nests deeper than the renderer can follow."
    return ErrorBody(400, message, ErrorKind.RESOURCE)


def _internal(error: Exception) -> ErrorBody:
    reference = secrets.token_hex(6)
    log.error("render failed inside", reference=reference, exc_info=error)
    return _internal_body(reference)


def _brought_worker_down(job: RenderJob) -> JobOutcome:
    reference = secrets.token_hex(6)
    log.error("render given up, it brought its worker down", reference=reference)
    return fail(job, _internal_body(reference))


def _internal_body(reference: str) -> ErrorBody:
    message = f"The render failed for a reason inside the service; reference {reference}."
    return ErrorBody(500, message, ErrorKind.INTERNAL)


def _log_end(outcome: JobOutcome, *, is_committed: bool) -> None:
    log.info(
        "render finished" if is_committed else "render discarded, its job had ended",
        status=outcome.status.value,
        kind=outcome.error.kind.value if outcome.error else None,
        pages=outcome.pages,
        milliseconds=dict(outcome.timings),
    )
