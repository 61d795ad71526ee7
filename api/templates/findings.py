"""The number of errors and warnings of a saved or published template, as a worker finds them."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any, Final

from flask import g

from api.admission.gate import admit_validation
from api.auth.guard import Principal
from api.jobs.queued import run_queued
from api.ports import Ports
from shared.errors import ServiceError, Unavailable
from shared.identifiers import new_id
from shared.jobs.records import Allowance, BodyKind, Purpose, RenderJob
from shared.queue.names import VALIDATE
from shared.templates.linking import pin_content
from shared.templates.references import TemplateReference
from shared.templates.repository import EMPTY_SHA256

# A template is saved whatever is wrong with it, so its author waits this long at most to hear of it.
SECONDS: Final = 2.0
_BODY: Final = b"{}"


def find_findings(
    principal: Principal, reference: TemplateReference, ports: Ports
) -> dict[str, Any] | None:
    """Return the number of errors and warnings of a template with its sample values, and where to read them.

    None if no worker has found them in time: there is none, or all are busy.
    """
    try:
        counted = _count(principal, reference, ports)
    except (ServiceError, Unavailable):
        return None
    return counted and {**counted, "validate": f"/v2/validate?template={reference}"}


def _count(
    principal: Principal, reference: TemplateReference, ports: Ports
) -> dict[str, int] | None:
    cell = ports.cell(principal.state.account_id)
    if not cell.places.has_worker(VALIDATE) or cell.drains.is_drained(VALIDATE):
        return None
    with ports.database.snapshot() as session:
        template = pin_content(session, principal.reader, reference)
    if template.sha256 == EMPTY_SHA256:
        return None
    ticket = admit_validation(principal, ports)
    job_id, ahead = new_id("job"), cell.clock_ahead()
    deadline = ticket.admitted_at + SECONDS
    job = RenderJob(
        id=job_id,
        request_id=g.request_id,
        workspace_id=principal.state.workspace_id,
        # As a draft: what a production render requires of its data is no fault of the template.
        meter=ticket.meter.replace(allowance=Allowance.DRAFT),
        body_kind=BodyKind.JSON,
        body=cell.claims.store_stream(job_id, BytesIO(_BODY), len(_BODY)),
        charset=None,
        template=template,
        flow=None,
        admitted_at=ticket.admitted_at + ahead,
        deadline=deadline + ahead,
        purpose=Purpose.VALIDATE,
        traceparent=ports.traces.traceparent(),
    )
    outcome = run_queued(job, ports, deadline=deadline, budget_seconds=SECONDS)
    return None if outcome.findings is None else _sum(outcome.findings)


def _sum(found: Mapping[str, Any]) -> dict[str, int]:
    left_out = found.get("leftOut", {})
    return {kind: len(found[kind]) + left_out.get(kind, 0) for kind in ("errors", "warnings")}
