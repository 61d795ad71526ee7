"""Admission of jobs: only this module creates tickets, and every queued job requires one."""

from __future__ import annotations

from dataclasses import dataclass

from api.admission.allowance import check_allowance
from api.auth.guard import Principal
from api.ports import Cell, Ports
from shared.clock import epoch
from shared.jobs.records import Allowance, Meter, PinnedTemplate


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
