"""Retry back-off of failed deliveries, for 24 hours in total."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

GIVE_UP_AFTER: Final = timedelta(hours=24)
# Seconds after the first, second … failed attempt; the last value repeats.
_DELAYS: Final = (5, 30, 120, 600, 1800, 3600, 7200, 14400)
_JITTER: Final = 0.2
_MAX_RETRY_AFTER: Final = timedelta(hours=1)


def next_attempt(
    created_at: datetime, *, failed: int, now: datetime, not_before: datetime | None = None
) -> datetime | None:
    """Return the instant of the next attempt after `failed` ones, None after `GIVE_UP_AFTER`.

    The delay has a jitter of 20 %, so that deliveries that failed together are not retried together.
    `not_before` is the receiver's wish.
    """
    delay = _DELAYS[min(failed, len(_DELAYS)) - 1]
    varied = delay * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 - not used for security
    at = max(now + timedelta(seconds=varied), not_before or now)
    return at if at <= created_at + GIVE_UP_AFTER else None


def read_retry_after(text: str | None, *, now: datetime) -> datetime | None:
    """Return the instant of a `Retry-After` header (RFC 9110, 10.2.3), an hour from now at most.

    Return None without one, and for an invalid or past one.
    """
    if text is None:
        return None
    text = text.strip()
    try:
        at = (
            now + timedelta(seconds=min(int(text), _MAX_RETRY_AFTER.total_seconds()))
            if re.fullmatch(r"[0-9]{1,9}", text)
            else parsedate_to_datetime(text).astimezone(UTC)
        )
    except (ValueError, OverflowError):
        return None
    return min(at, now + _MAX_RETRY_AFTER) if at > now else None
