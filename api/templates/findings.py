"""The number of errors and warnings of a saved or published template, as a worker finds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from api.admission.gate import admit_unmetered
from api.auth.guard import Principal
from api.jobs.queued import make_job, run_queued
from api.ports import Ports
from shared.errors import ServiceError, Unavailable
from shared.identifiers import new_id
from shared.jobs.records import Allowance, BodyKind, Purpose
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
    # As a draft: what a production render requires of its data is no fault of the template.
    ticket = admit_unmetered(principal, ports, budget_seconds=SECONDS, allowance=Allowance.DRAFT)
    job_id = new_id("job")
    claim = ticket.cell.claims.store(job_id, _BODY)
    job = make_job(job_id, ticket, Purpose.VALIDATE, BodyKind.JSON, claim, ports)
    outcome = run_queued(job.replace(template=template), ticket, ports)
    return None if outcome.findings is None else _sum(outcome.findings)


def _sum(found: Mapping[str, Any]) -> dict[str, int]:
    left_out = found.get("leftOut", {})
    return {kind: len(found[kind]) + left_out.get(kind, 0) for kind in ("errors", "warnings")}
