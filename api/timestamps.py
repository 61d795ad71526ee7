"""Parsing of dates and timestamps in requests."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Final

_TIMESTAMP: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|[+-]\d{2}(:?\d{2})?)?)?\Z", re.ASCII
)


def parse_timestamp(text: str) -> datetime:
    """Parse an ISO 8601 timestamp or a date (00:00) to a datetime in UTC; without an offset it is UTC.

    Raises:
        ValueError: the text is neither.
        OverflowError: the timestamp is outside the calendar.
    """
    if not _TIMESTAMP.match(text):
        raise ValueError(f"{text!r} is neither YYYY-MM-DD nor an ISO 8601 timestamp")
    instant = datetime.fromisoformat(text)
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)


def parse_date(text: str) -> date:
    """Parse a date, or the UTC date of a timestamp; see `parse_instant`."""
    return parse_timestamp(text).date()
