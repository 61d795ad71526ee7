"""Refusing what an account sends too fast: step 3 of contract.md 1."""

from __future__ import annotations

import math
from collections.abc import Mapping

from api.auth.guard import Principal
from api.ports import Ports
from shared.buckets.rate import Spent, parse_rate
from shared.errors import ErrorCode, ErrorKind, ServiceError
from shared.limits import DEFAULT_RATES


def count_request(principal: Principal, ports: Ports) -> Spent | None:
    """Count a request against its account's rate, or return None where it has none.

    A rate that was set for the account is always enforced, its plan's where rates are by default.
    """
    state = principal.state
    cell = ports.cell(state.account_id)
    text = state.rate_limit
    if text is None:
        if not cell.enforces_default_rates:
            return None
        text = DEFAULT_RATES[state.plan]
    return cell.rates.take(state.account_id, parse_rate(text))


def check_rate(spent: Spent | None) -> None:
    """Let a request pass that is within its account's rate.

    Raises:
        ServiceError: 429, with `Retry-After`.
    """
    if spent is None or not spent.is_over:
        return
    rate, seconds = spent.rate, _whole_seconds(spent)
    window = "second" if rate.window_seconds == 1 else f"{rate.window_seconds} seconds"
    raise ServiceError(
        429,
        f"Too many requests: the account may send {rate.requests} in any {window}; "
        f"try again in {seconds} s.",
        kind=ErrorKind.RATE,
        code=ErrorCode.RATE_LIMITED,
        headers={"Retry-After": str(seconds)},
    )


def write_rate(spent: Spent) -> Mapping[str, str]:
    """Write the fields of draft-ietf-httpapi-ratelimit-headers-09."""
    rate = spent.rate
    return {
        "RateLimit-Policy": f'"account";q={rate.requests};w={rate.window_seconds}',
        "RateLimit": f'"account";r={spent.remaining};t={_whole_seconds(spent)}',
    }


def _whole_seconds(spent: Spent) -> int:
    return max(1, math.ceil(spent.reset_seconds))
