"""The state of an API key, as the database and the cache store it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final, Literal

from msgspec import field

from shared.auth.scopes import Scope
from shared.jobs.records import Allowance
from shared.records import Record, ShownRecord, doc
from shared.usage.metering import Totals
from shared.usage.periods import Period


class KeyState(Record, frozen=True):
    """The state of a key and of its account, as last written to the database.

    `max_draft_pages` is None on plans without a draft allowance. `rate_limit` is `N/second` or
    `N/minute`; None means the plan's default. `key_expires_at` is aware. An account that `keeps_nothing` has results
    for no hours.
    """

    key_id: str
    account_id: str
    workspace_id: str | None
    user_id: str
    user_name: str | None
    user_email: str
    plan: Literal["free", "paid"]
    max_pages: int
    max_draft_pages: int | None
    max_cpu_seconds: int | None
    renewal_day: int
    rate_limit: str | None
    key_revoked: bool
    key_expires_at: datetime | None
    # Processes of an earlier release cannot read `scopes` as a list.
    scopes: frozenset[Scope] = field(name="granted")
    account_disabled: bool
    email_verified: bool
    keeps_nothing: bool

    def cap(self, allowance: Allowance) -> int | None:
        """Return the page limit of an allowance, None if there is none."""
        if self.plan != "free":
            return None
        return self.max_draft_pages if allowance is Allowance.DRAFT else self.max_pages


@dataclass(frozen=True, slots=True)
class Admission:
    """A key's state and its account's usage in the current period.

    `used` is None if it was not read or the counters are missing: call `find_usage`, and rebuild the
    counters from the ledger with `seed_usage`.
    """

    state: KeyState
    period: Period
    used: Totals | None


_WINDOWS: Final = {"second": 1, "minute": 60}
RATE_PATTERN: Final = "^([1-9][0-9]{0,8})/(second|minute)$"
_RATE: Final = re.compile(RATE_PATTERN)


class Rate(ShownRecord, frozen=True):
    """The most requests in any window of `window_seconds`; they may come in one burst."""

    requests: Annotated[int, doc("Maximum number of requests in a window.", minimum=1)]
    window_seconds: Annotated[int, doc("Length of the window in seconds.", minimum=1)]


def parse_rate(text: str) -> Rate:
    """Parse `N/second` or `N/minute`.

    Raises:
        ValueError: the text has neither form.
    """
    found = _RATE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not of the form N/second or N/minute")
    return Rate(int(found[1]), _WINDOWS[found[2]])
