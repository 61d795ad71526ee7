"""The gate between asking and queueing: nothing is queued without a ticket, and only this file makes one."""

from __future__ import annotations

from dataclasses import dataclass

from api.admission.allowance import check_allowance
from api.auth.guard import Principal
from api.ports import Ports
from shared.clock import epoch
from shared.jobs import Allowance, Meter


@dataclass(frozen=True, slots=True)
class Ticket:
    """Leave to queue one render or validation. The times are seconds since 1970."""

    principal: Principal
    meter: Meter
    admitted_at: float
    deadline: float


def admit(principal: Principal, allowance: Allowance, ports: Ports) -> Ticket:
    """Admit one render: the budget of its answer begins here (contract.md 4).

    Raises:
        ServiceError: 402, the allowance is used up.
    """
    return _write_ticket(principal, check_allowance(principal, allowance, ports), ports)


def admit_validation(principal: Principal, ports: Ports) -> Ticket:
    """Admit one validation: it counts against no allowance."""
    meter = Meter(principal.state.account_id, principal.period.key, Allowance.PRODUCTION, cap=None)
    return _write_ticket(principal, meter, ports)


def _write_ticket(principal: Principal, meter: Meter, ports: Ports) -> Ticket:
    admitted_at = epoch()
    return Ticket(principal, meter, admitted_at, admitted_at + ports.render_budget)
