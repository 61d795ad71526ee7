"""Billing periods; a period boundary is the renewal day at 00:00 UTC."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Period:
    """A half-open interval `[start, end)` of days, both at 00:00 UTC."""

    start: date
    end: date
    key: str = field(init=False)  # the first day as `YYYY-MM-DD`

    def __post_init__(self) -> None:
        """Compute the key once: every render reads it."""
        object.__setattr__(self, "key", self.start.isoformat())

    @property
    def start_instant(self) -> datetime:
        """The first instant of the period."""
        return datetime(self.start.year, self.start.month, self.start.day, tzinfo=UTC)

    @property
    def end_instant(self) -> datetime:
        """The first instant after the period."""
        return datetime(self.end.year, self.end.month, self.end.day, tzinfo=UTC)


@lru_cache(maxsize=256)  # called for every request, with few different days
def find_period(day: date, *, renewal_day: int) -> Period:
    """Return the period that contains `day` (UTC); a renewal day past a month's end is its last day."""
    this = _renewal(day.year, day.month, renewal_day)
    if day >= this:
        return Period(this, _renewal(*_month_after(day.year, day.month), renewal_day))
    return Period(_renewal(*_month_before(day.year, day.month), renewal_day), this)


def _renewal(year: int, month: int, renewal_day: int) -> date:
    return date(year, month, min(renewal_day, monthrange(year, month)[1]))


def _month_after(year: int, month: int) -> tuple[int, int]:
    return (year + 1, 1) if month == 12 else (year, month + 1)


def _month_before(year: int, month: int) -> tuple[int, int]:
    return (year - 1, 12) if month == 1 else (year, month - 1)
