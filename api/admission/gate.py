"""Admission of jobs: only this module creates tickets, and every queued job requires one."""

from __future__ import annotations

from dataclasses import dataclass

from api.admission.allowance import check_allowance
from api.auth.guard import Principal
from api.ports import Ports
from shared.clock import epoch
from shared.jobs.records import Allowance, Meter, PinnedTemplate


@dataclass(frozen=True, slots=True)
class Ticket:
    """The permission to queue one render, validation or preview. Times are seconds since 1970."""

    principal: Principal
    meter: Meter
    admitted_at: float
    deadline: float


def admit(
    principal: Principal, allowance: Allowance, template: PinnedTemplate | None, ports: Ports
) -> Ticket:
    """Admit one render; its time budget starts now.

    Raises:
        ServiceError: 402, the allowance is used up.
    """
    meter = check_allowance(principal, allowance, template, ports)
    return _write_ticket(principal, meter, ports.render_budget)


def admit_validation(principal: Principal, ports: Ports) -> Ticket:
    """Admit one validation, which is not metered."""
    return _write_ticket(principal, _unmetered(principal), ports.render_budget)


def admit_preview(principal: Principal, ports: Ports) -> Ticket:
    """Admit one preview, which is not metered and has its own time budget."""
    return _write_ticket(principal, _unmetered(principal), ports.preview_budget)


def _unmetered(principal: Principal) -> Meter:
    return Meter(principal.state.account_id, principal.period.key, Allowance.PRODUCTION, cap=None)


def _write_ticket(principal: Principal, meter: Meter, budget_seconds: float) -> Ticket:
    admitted_at = epoch()
    return Ticket(principal, meter, admitted_at, admitted_at + budget_seconds)
