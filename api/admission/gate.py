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
    """Leave to queue one render. The times are seconds since 1970."""

    principal: Principal
    meter: Meter
    admitted_at: float
    deadline: float


def admit(principal: Principal, allowance: Allowance, ports: Ports) -> Ticket:
    """Admit one render: the budget of its answer begins here (contract.md 4).

    Raises:
        ServiceError: 402, the allowance is used up.
    """
    meter = check_allowance(principal, allowance, ports)
    admitted_at = epoch()
    return Ticket(principal, meter, admitted_at, admitted_at + ports.render_budget)
