"""Rate limits of accounts: step 3 of the order of checks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from api.auth.guard import Principal
from api.ports import Ports
from shared.auth.admission import ACCOUNT, PREVIEW, RateStatus
from shared.auth.key_state import Rate, parse_rate
from shared.errors import ErrorCode, ErrorKind, ServiceError
from shared.limits import DEFAULT_RATES

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
        return rates.take(account_id, ports.preview_rate, policy=PREVIEW)
    rate = find_rate(principal, ports)
    return None if rate is None else rates.take(account_id, rate)


def find_rate(principal: Principal, ports: Ports) -> Rate | None:
    """Return the rate limit of an account, None without one; see `count_request`."""
    state = principal.state
    text = state.rate_limit
    if text is None:
        if not ports.cell(state.account_id).enforces_default_rates:
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
        kind=ErrorKind.RATE,
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
