"""Fields of CLDR date patterns: those written without Babel, and those of other calendars."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Any, Final

from babel import Locale
from babel import dates as babel_dates

from workers.engine.tree.expressions.conventions import Calendar, find_era, find_months
from workers.engine.tree.expressions.runtime import ExpressionError

# Those that differ between calendars; Babel writes the others.
CALENDAR_FIELDS: Final = "GyMLd"
PLAIN_FIELDS: Final[dict[str, Callable[[Any], str]]] = {
    "d": lambda value: str(value.day),
    "dd": lambda value: f"{value.day:02}",
    "M": lambda value: str(value.month),
    "MM": lambda value: f"{value.month:02}",
    "y": lambda value: str(value.year),
    "yy": lambda value: f"{value.year % 100:02}",
    "yyyy": lambda value: f"{value.year:04}",
    "H": lambda value: str(value.hour),
    "HH": lambda value: f"{value.hour:02}",
    "mm": lambda value: f"{value.minute:02}",
    "ss": lambda value: f"{value.second:02}",
}
MONTHS: Final[dict[str, tuple[Any, Any]]] = {
    "MMM": ("abbreviated", "format"),
    "MMMM": ("wide", "format"),
    "LLL": ("abbreviated", "stand-alone"),
    "LLLL": ("wide", "stand-alone"),
}
WEEKDAYS: Final[dict[str, Any]] = {
    "E": "abbreviated",
    "EE": "abbreviated",
    "EEE": "abbreviated",
    "EEEE": "wide",
}


def make_calendar_field(calendar: Calendar, locale: Locale, field: str) -> Callable[[Any], str]:
    """Return a formatter of a year, month, day or era of a calendar."""
    convert = calendar.convert
    if field[0] == "G":
        era = find_era(calendar, locale)
        return lambda _: era
    months = find_months(calendar, locale)
    if field in MONTHS and months is not None:
        return lambda value: months[convert(_to_day(value)).month - 1]
    # Gregorian names of months have the numbers of the calendar.
    plain = PLAIN_FIELDS.get(field)
    if plain is None and field in MONTHS:
        names = babel_dates.get_month_names(*MONTHS[field], locale)
        return lambda value: str(names[convert(_to_day(value)).month])
    if plain is None:
        raise ExpressionError(f'"{field}" is not a field of dates of this calendar')
    return lambda value: plain(convert(_to_day(value)))


def _to_day(value: Any) -> date:
    day: date = value.date() if isinstance(value, datetime) else value
    if not isinstance(day, date):
        raise AttributeError("a time has no date")
    return day
