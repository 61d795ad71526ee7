"""Retry back-off of failed deliveries, for 24 hours in total (contract.md 6)."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Final

GIVE_UP_AFTER: Final = timedelta(hours=24)
# Seconds after the first, second … failed attempt; the last value repeats.
_DELAYS: Final = (5, 30, 120, 600, 1800, 3600, 7200, 14400)
_JITTER: Final = 0.2


def next_attempt(created_at: datetime, *, failed: int, now: datetime) -> datetime | None:
    """Return the instant of the next attempt after `failed` ones, None after `GIVE_UP_AFTER`.

    The delay has a jitter of 20 %, so that deliveries that failed together are not retried together.
    """
    delay = _DELAYS[min(failed, len(_DELAYS)) - 1]
    varied = delay * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 - not used for security
    at = now + timedelta(seconds=varied)
    return at if at <= created_at + GIVE_UP_AFTER else None
