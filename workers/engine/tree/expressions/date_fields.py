"""Fields of CLDR date patterns: Babel's, and the years, months, days and eras of other calendars."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Final, Literal

from babel import Locale
from babel import dates as babel_dates

from workers.engine.tree.expressions.conventions import Calendar, find_era, find_months
from workers.engine.tree.expressions.runtime import ExpressionError

_CALENDAR_FIELDS: Final = "GyMLd"  # those that differ between calendars
_WIDTHS: Final[dict[int, Literal["abbreviated", "wide"]]] = {3: "abbreviated", 4: "wide"}


class DateFields:
    """The fields of a date or time in a locale, by their letters; `calendar` is None for the Gregorian one."""

    def __init__(
        self, value: date | datetime | time, locale: Locale, calendar: Calendar | None
    ) -> None:
        self._value, self._locale, self._calendar = value, locale, calendar
        self._fields = babel_dates.DateTimeFormat(value, locale)

    def __getitem__(self, name: str) -> str:
        if self._calendar is None or name[0] not in _CALENDAR_FIELDS:
            return self._fields[name]
        return self._write(self._calendar, name[0], len(name))

    def _write(self, calendar: Calendar, letter: str, length: int) -> str:
        """Return a field of another calendar."""
        if letter == "G":
            return find_era(calendar, self._locale)
        value = self._value
        if isinstance(value, time):
            raise AttributeError("a time has no date")
        year, month, day = calendar.convert(date(value.year, value.month, value.day))
        if letter == "y" and length != 3:
            return f"{year % 100:02}" if length == 2 else f"{year:0{length}}"
        if letter == "d" or length <= 2:
            return f"{day if letter == 'd' else month:0{length}}"
        width = _WIDTHS.get(length)
        if letter == "y" or width is None:
            raise ExpressionError(f'"{letter * length}" is not a field of dates of this calendar')
        months = find_months(calendar, self._locale)
        if months is not None:
            return months[month - 1]
        # Gregorian names of months have the numbers of the calendar.
        context: Literal["format", "stand-alone"] = "format" if letter == "M" else "stand-alone"
        return str(babel_dates.get_month_names(width, context, self._locale)[month])
