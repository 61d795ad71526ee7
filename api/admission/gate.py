"""Admission of jobs: rate, body and allowance; only this module creates tickets, and every queued job requires one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from api.auth.guard import Principal
from api.ports import Cell, Ports
from shared.auth.admission import ACCOUNT, PREVIEW, RateStatus
from shared.auth.key_state import Rate, parse_rate
from shared.clock import epoch
from shared.errors import ErrorCode, ServiceError
from shared.jobs.records import Allowance, Meter, PinnedTemplate
from shared.limits import DEFAULT_RATES
from shared.usage import repository as usage
from shared.usage.metering import Totals, allowance_exceeded, is_exhausted


def check_allowance(
    principal: Principal, allowance: Allowance, template: PinnedTemplate | None, ports: Ports
) -> Meter:
    """Check the allowance of an account, and return the meter of the render.

    The check at the commit decides; this one saves the work of a render that would be rejected. The usage
    of an account without a limit is not read.

    Raises:
        ServiceError: 402, the allowance of a free account or the processor time of an account is used up.
    """
    state = principal.state
    cap, max_cpu = state.cap(allowance), state.max_cpu_seconds
    template_id = None if template is None else template.template_id
    meter = Meter(
        state.account_id, principal.period.key, allowance, cap, template_id, max_cpu_seconds=max_cpu
    )
    if cap is not None or max_cpu is not None:
        used = find_used(principal, ports).spent(allowance)
        if is_exhausted(meter, used):
            raise allowance_exceeded(meter, used)
    return meter


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
    return _write_ticket(principal, meter, ports.settings.render_budget, ports)


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


_REQUESTS: Final = {ACCOUNT: "requests", PREVIEW: "previews"}


def count_request(
    principal: Principal, ports: Ports, *, is_preview: bool = False
) -> RateStatus | None:
    """Count a request against its account's rate limit; return None without one.

    A rate set for the account is always enforced, the plan's rate only if the farm enforces default
    rates. Previews always have a separate rate, so that an editor does not use up the account's renders.
    """
    account_id = principal.state.account_id
    rates = ports.cell(account_id).rates
    if is_preview:
        return rates.take(account_id, parse_rate(ports.settings.preview_rate), policy=PREVIEW)
    rate = find_rate(principal, ports)
    return None if rate is None else rates.take(account_id, rate)


def find_rate(principal: Principal, ports: Ports) -> Rate | None:
    """Return the rate limit of an account, None without one; see `count_request`."""
    state = principal.state
    text = state.rate_limit
    if text is None:
        if not ports.settings.enforce_rate_limits:
            return None
        text = DEFAULT_RATES[state.plan]
    return parse_rate(text)


def check_rate(spent: RateStatus | None) -> None:
    """Check that a request is within the rate limit.

    Raises:
        ServiceError: 429 with `Retry-After`.
    """
    if spent is None or not spent.is_over:
        return
    rate, seconds = spent.rate, _whole_seconds(spent)
    window = "second" if rate.window_seconds == 1 else f"{rate.window_seconds} seconds"
    raise ServiceError(
        429,
        f"Too many {_REQUESTS[spent.policy]}: the account may send {rate.requests} in any {window}; "
        f"try again in {seconds} s.",
        code=ErrorCode.RATE_LIMITED,
        headers={"Retry-After": str(seconds)},
    )


def write_rate(spent: RateStatus) -> Mapping[str, str]:
    """Return the headers of draft-ietf-httpapi-ratelimit-headers-09."""
    rate = spent.rate
    return {
        "RateLimit-Policy": f'"{spent.policy}";q={rate.requests};w={rate.window_seconds}',
        "RateLimit": f'"{spent.policy}";r={spent.remaining};t={_whole_seconds(spent)}',
    }


def _whole_seconds(spent: RateStatus) -> int:
    return max(1, math.ceil(spent.reset_seconds))
