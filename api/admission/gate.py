"""Admission of jobs: only this module creates tickets, and every queued job requires one."""

from __future__ import annotations

from dataclasses import dataclass

from api.auth.guard import Principal
from api.ports import Cell, Ports
from shared.clock import epoch
from shared.errors import ErrorCode, ErrorKind, ServiceError
from shared.jobs.records import Allowance, Meter, PinnedTemplate
from shared.usage import repository as usage
from shared.usage.metering import Totals


def check_allowance(
    principal: Principal, allowance: Allowance, template: PinnedTemplate | None, ports: Ports
) -> Meter:
    """Check the allowance of an account, and return the meter of the render.

    The check at the commit decides; this one saves the work of a render that would be rejected. The usage
    of an account without a limit is not read.

    Raises:
        ServiceError: 402, the allowance of a free account is used up.
    """
    cap = principal.state.cap(allowance)
    if cap is not None:
        used = find_used(principal, ports).of(allowance).pages
        if used >= cap:
            raise _used_up(allowance, cap=cap, used=used)
    template_id = None if template is None else template.template_id
    return Meter(principal.state.account_id, principal.period.key, allowance, cap, template_id)


def find_used(principal: Principal, ports: Ports) -> Totals:
    """Return the usage of the account; counters missing in Redis are rebuilt from the ledger."""
    if principal.used is not None:
        return principal.used
    account_id, period = principal.state.account_id, principal.period.key
    counters = ports.admissions.of(account_id)
    counted = counters.find_usage(account_id, period)
    if counted is not None:
        return counted
    with ports.database.snapshot() as session:
        totals = usage.find_totals(session, account_id, period)
    counters.seed_usage(account_id, period, totals)
    # Read again: usage counted before the rebuild may not be in the ledger yet.
    return counters.find_usage(account_id, period) or totals


def _used_up(allowance: Allowance, *, cap: int, used: int) -> ServiceError:
    is_draft = allowance is Allowance.DRAFT
    return ServiceError(
        402,
        f"The {allowance} page allowance of this billing period is used up: {used} of {cap} pages.",
        kind=ErrorKind.QUOTA,
        code=ErrorCode.DRAFT_QUOTA_EXCEEDED if is_draft else ErrorCode.QUOTA_EXCEEDED,
        data={"cap": cap, "usage": used},
    )


@dataclass(frozen=True, slots=True)
class Ticket:
    """The permission to queue one job for the client of the request, on the shard of its account.

    Times are seconds since 1970.
    """

    principal: Principal
    meter: Meter
    cell: Cell
    admitted_at: float
    budget_seconds: float

    @property
    def deadline(self) -> float:
        """The end of the time budget."""
        return self.admitted_at + self.budget_seconds


def admit(
    principal: Principal, allowance: Allowance, template: PinnedTemplate | None, ports: Ports
) -> Ticket:
    """Admit one render; its time budget starts now.

    Raises:
        ServiceError: 402, the allowance is used up.
    """
    meter = check_allowance(principal, allowance, template, ports)
    return _write_ticket(principal, meter, ports.render_budget, ports)


def admit_unmetered(
    principal: Principal,
    ports: Ports,
    *,
    budget_seconds: float,
    allowance: Allowance = Allowance.PRODUCTION,
) -> Ticket:
    """Admit one validation, inspection or preview; its time budget starts now."""
    meter = Meter(principal.state.account_id, principal.period.key, allowance, cap=None)
    return _write_ticket(principal, meter, budget_seconds, ports)


def _write_ticket(
    principal: Principal, meter: Meter, budget_seconds: float, ports: Ports
) -> Ticket:
    return Ticket(principal, meter, ports.cell(meter.account_id), epoch(), budget_seconds)
