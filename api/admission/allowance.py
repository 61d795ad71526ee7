"""What an account used of its allowances in the current period, and whether it may go on."""

from __future__ import annotations

from api.auth.guard import Principal
from api.ports import Ports
from shared.db import usage
from shared.errors import ErrorCode, ErrorKind, ServiceError
from shared.jobs import Allowance, Meter
from shared.metering import Totals


def check_allowance(principal: Principal, allowance: Allowance, ports: Ports) -> Meter:
    """Give what the render is metered against.

    The check at the commit decides; this one spares a refused render its work. An account that
    is never refused is not looked up.

    Raises:
        ServiceError: 402 when the allowance of a free account is used up.
    """
    cap = principal.state.cap(allowance)
    if cap is not None:
        used = find_used(principal, ports).of(allowance).pages
        if used >= cap:
            raise _used_up(allowance, cap=cap, used=used)
    return Meter(principal.state.account_id, principal.period.key, allowance, cap)


def find_used(principal: Principal, ports: Ports) -> Totals:
    """Give what the account used; counters missing in Redis are rebuilt from the ledger."""
    if principal.used is not None:
        return principal.used
    account_id, period = principal.state.account_id, principal.period.key
    counted = ports.admissions.find_usage(account_id, period)
    if counted is not None:
        return counted
    with ports.database.snapshot() as session:
        totals = usage.find_totals(session, account_id, period)
    ports.admissions.seed_usage(account_id, period, totals)
    # Read back: what was counted before the rebuilding may not stand in the ledger yet.
    return ports.admissions.find_usage(account_id, period) or totals


def _used_up(allowance: Allowance, *, cap: int, used: int) -> ServiceError:
    is_draft = allowance is Allowance.DRAFT
    return ServiceError(
        402,
        f"The {allowance} page allowance of this billing period is used up: {used} of {cap} pages.",
        kind=ErrorKind.QUOTA,
        code=ErrorCode.DRAFT_QUOTA_EXCEEDED if is_draft else ErrorCode.QUOTA_EXCEEDED,
        data={"cap": cap, "usage": used},
    )
