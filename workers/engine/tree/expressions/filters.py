"""Filters that need no locale: numbers, dates, text, and lists with their row expressions."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from enum import Enum
from inspect import Parameter, signature
from typing import Any, Final

from workers.engine.characters import cut_at_cluster
from workers.engine.collation import collation_key
from workers.engine.merge.types import compile_pattern
from workers.engine.tree.expressions.environment import Environment
from workers.engine.tree.expressions.formats import (
    LOCALE_FILTERS,
    MAX_PLACES,
    require_date,
    round_exactly,
)
from workers.engine.tree.expressions.runtime import (
    MAX_LIST,
    MAX_TEXT,
    ZERO,
    ExpressionError,
    Value,
    describe_type,
    greater,
    less,
    require_number,
    require_text,
    to_integer,
    to_text,
)

_DATE_FIELDS: Final = frozenset("dMy")
_MAX_PATTERN: Final = 200
_MAX_MATCHED: Final = 10_000
MAX_RANGE: Final = 10_000
MAX_RANGES: Final = 2_000_000  # numbers of all ranges of a document

RowFunction = Callable[[object, Environment], Value]


class FilterKind(Enum):
    """The calling convention of a filter in a compiled expression."""

    PLAIN = "value and arguments"
    LOCALE = "a formatter of the nearest lang, made once"
    ROWS = "value, a compiled row expression, and the scope"
    MESSAGE = "value, a record of the arguments, and the scope, by the messages of the scope"


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter: its function, how it is called, and whether its text has no white space to collapse."""

    name: str
    function: Callable[..., object]
    kind: FilterKind
    is_collapsed: bool = False
    is_number: bool = False

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters an author may write: all but the filtered value and the scope."""
        written = tuple(signature(self.function).parameters.values())[1:]
        return tuple(each for each in written if each.name != "scope")

    @property
    def usage(self) -> str:
        """The filter as an author writes it: `number(places, min, group)`."""
        if self.kind is FilterKind.MESSAGE:
            return f"{self.name}(name=value, …)"
        names = [parameter.name for parameter in self.parameters]
        return f"{self.name}({', '.join(names)})" if names else self.name


# --- numbers ----------------------------------------------------------------------------------------


_ROUNDING: Final = {"half-up": ROUND_HALF_UP, "half-even": ROUND_HALF_EVEN}


def round_number(value: Value, places: Value = ZERO, mode: Value = "half-up") -> Value:
    """Round to `places` decimals, commercially unless `mode` is half-even."""
    if value is None:
        return None
    digits = to_integer(places, "round's places")
    if not -MAX_PLACES <= digits <= MAX_PLACES:
        raise ExpressionError(f"round's places must be from -{MAX_PLACES} to {MAX_PLACES}")
    if not isinstance(mode, str) or mode not in _ROUNDING:
        raise ExpressionError("round's mode must be half-up or half-even")
    return round_exactly(require_number(value, "round"), digits, _ROUNDING[mode])


def absolute(value: Value) -> Value:
    """Return the absolute value of a number."""
    return None if value is None else abs(require_number(value, "abs"))


# --- dates ------------------------------------------------------------------------------------------


def add_time(
    value: Value, days: Value = ZERO, weeks: Value = ZERO, months: Value = ZERO, years: Value = ZERO
) -> Value:
    """Return a later date; a day that its month lacks becomes the last of the month."""
    if value is None:
        return None
    start = require_date(value, "add")
    month = start.year * 12 + start.month - 1
    month += to_integer(months, "months") + 12 * to_integer(years, "years")
    year, month = divmod(month, 12)
    if not 1 <= year <= 9999:
        raise ExpressionError("add leads out of the years 1 to 9999")
    day = min(start.day, calendar.monthrange(year, month + 1)[1])
    distance = timedelta(days=to_integer(days, "days") + 7 * to_integer(weeks, "weeks"))
    try:
        return start.replace(year=year, month=month + 1, day=day) + distance
    except OverflowError:
        raise ExpressionError("add leads out of the years 1 to 9999") from None


def count_days(value: Value, other: Value) -> Value:
    """Return the number of days from a date to another."""
    if value is None or other is None:
        return None
    until, start = require_date(other, "days_until"), require_date(value, "days_until")
    return Decimal((date(*until.timetuple()[:3]) - date(*start.timetuple()[:3])).days)


def end_of_month(value: Value) -> Value:
    """Return the last day of a date's month."""
    if value is None:
        return None
    day = require_date(value, "end_of_month")
    return date(day.year, day.month, calendar.monthrange(day.year, day.month)[1])


def parse_date(value: Value, pattern: Value = "yyyy-MM-dd") -> Value:
    """Parse a date written in digits, by a pattern of d, M and y."""
    if value is None or value == "":
        return None
    if not isinstance(value, str) or not isinstance(pattern, str):
        raise ExpressionError(f"parse_date needs text, not {describe_type(value)}")
    try:
        read = compile_pattern(pattern if set(pattern) >= _DATE_FIELDS else "")
    except ValueError:
        raise ExpressionError(
            "parse_date's pattern needs d or dd, M or MM, and yy or yyyy once each, such as dd.MM.yyyy"
        ) from None
    try:
        return read(value.strip()).date()
    except ValueError:
        raise ExpressionError(f'the text is not a date of the pattern "{pattern}"') from None


# --- text -------------------------------------------------------------------------------------------


def unisolated(value: Value) -> Value:
    """Order the letters of a text together with the text around it (see Direction)."""
    return to_text(value)


def trim(value: Value) -> Value:
    """Remove white space at both ends."""
    return require_text(value, "trim").strip()


def replace(value: Value, old: Value, new: Value) -> Value:
    """Replace each occurrence of a text by another."""
    text, sought, other = (require_text(v, "replace") for v in (value, old, new))
    if not sought:
        raise ExpressionError("replace needs a text to search for")
    if len(text) + text.count(sought) * (len(other) - len(sought)) > MAX_TEXT:
        raise ExpressionError(f"the result of replace would be more than {MAX_TEXT:,} characters")
    return text.replace(sought, other)


def truncate(value: Value, n: Value) -> Value:
    """Cut a text to `n` characters, the last of them an ellipsis if something is cut."""
    text, most = require_text(value, "truncate"), to_integer(n, "truncate's n")
    if most < 1:
        raise ExpressionError("truncate's n must be at least 1")
    if len(text) <= most:
        return text
    return text[: cut_at_cluster(text[:most], most - 1)].rstrip() + "…"


def pad(value: Value, n: Value, char: Value = " ") -> Value:
    """Pad a text to `n` characters, at its start."""
    text, fill = require_text(value, "pad"), require_text(char, "pad")
    length = to_integer(n, "pad's n")
    if len(fill) != 1 or length > 1000:
        raise ExpressionError("pad takes a length up to 1,000 and one character")
    return text.rjust(length, fill)


def length(value: Value) -> Value:
    """Count the characters of a text or the items of a list."""
    if value is None:
        return ZERO
    if isinstance(value, str | list):
        return Decimal(len(value))
    raise ExpressionError(f"length needs text or a list, not {describe_type(value)}")


def split(value: Value, sep: Value = ",") -> Value:
    """Split a text into a list, without the white space around its parts."""
    text, separator = require_text(value, "split"), require_text(sep, "split")
    if not separator or text.count(separator) >= MAX_LIST:
        raise ExpressionError(f"split needs a separator and returns at most {MAX_LIST:,} parts")
    return [part.strip() for part in text.split(separator)] if text else []


def join(value: Value, sep: Value = "") -> Value:
    """Join a list's items as text."""
    separator = require_text(sep, "join")
    parts = [to_text(item) for item in _require_list(value, "join")]
    if sum(map(len, parts)) + len(separator) * len(parts) > MAX_TEXT:
        raise ExpressionError(f"the result of join would be more than {MAX_TEXT:,} characters")
    return separator.join(parts)


def split_lines(value: Value) -> Value:
    """Split a text into its lines."""
    return _bounded_list(require_text(value, "lines").splitlines())


def group_iban(value: Value) -> Value:
    """Write an IBAN in groups of four (ISO 13616, printed form)."""
    text = re.sub(r"\s", "", require_text(value, "iban")).upper()
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))


def mask(value: Value, keep: Value = Decimal(4)) -> Value:
    """Mask all but the last `keep` characters."""
    text, kept = require_text(value, "mask"), to_integer(keep, "mask's keep")
    if kept < 0:
        raise ExpressionError("mask's keep must not be negative")
    hidden = max(len(text) - kept, 0)
    return "•" * hidden + text[hidden:]


def matches(value: Value, pattern: Value) -> Value:
    """Return whether a whole text matches a regular expression; an empty value does not."""
    if value is None:
        return False
    text, expression = require_text(value, "match"), require_text(pattern, "match's pattern")
    # An author's pattern may backtrack; beyond these limits the time budget of the render bounds it.
    if len(expression) > _MAX_PATTERN or len(text) > _MAX_MATCHED:
        raise ExpressionError(
            f"match takes patterns of up to {_MAX_PATTERN} characters on texts of up to {_MAX_MATCHED:,}"
        )
    try:
        return re.fullmatch(expression, text) is not None
    except (re.error, OverflowError, RecursionError) as error:
        position = getattr(error, "pos", None)
        where = "" if position is None else f" from its character {position + 1} on"
        raise ExpressionError(f"match's pattern is not a regular expression{where}") from None


def default(value: Value, other: Value) -> Value:
    """Return another value if this one is empty or missing."""
    return other if value is None or value == "" else value


# --- lists ------------------------------------------------------------------------------------------


def sum_rows(value: Value, x: RowFunction | None, scope: Environment) -> Value:
    """Add up numbers; empty values are left out."""
    return sum(_numbers(value, x, scope, "sum"), ZERO)


def average(value: Value, x: RowFunction | None, scope: Environment) -> Value:
    """Return the mean of numbers, empty if there are none."""
    numbers = list(_numbers(value, x, scope, "avg"))
    return sum(numbers, ZERO) / len(numbers) if numbers else None


def least(value: Value, x: RowFunction | None, scope: Environment) -> Value:
    """Return the least of comparable values, empty if there are none."""
    return _find_extreme(_values(value, x, scope, "min"), less)


def greatest(value: Value, x: RowFunction | None, scope: Environment) -> Value:
    """Return the greatest of comparable values, empty if there are none."""
    return _find_extreme(_values(value, x, scope, "max"), greater)


def _find_extreme(values: Iterable[Value], precedes: Callable[[Value, Value], bool]) -> Value:
    found = None
    for candidate in values:
        if found is None or (candidate is not None and precedes(candidate, found)):
            found = candidate
    return found


def count(value: Value) -> Value:
    """Count the items of a list."""
    return Decimal(len(_require_list(value, "count")))


def where(value: Value, c: RowFunction, scope: Environment) -> Value:
    """Return the records that meet a condition."""
    return [row for row in _require_list(value, "where") if c(row, scope)]


def sort(value: Value, x: RowFunction | None, scope: Environment, reverse: Value = False) -> Value:
    """Sort a list stably, texts in the order of the language; empty values come last."""
    rows = _require_list(value, "sort")
    keyed = [(row, row if x is None else x(row, scope)) for row in rows]
    full = [pair for pair in keyed if pair[1] is not None]
    kinds = {pair[1].__class__ for pair in full}
    if len(kinds) > 1 or kinds & {dict, list}:
        raise ExpressionError("sort needs values of one kind that can be ordered")
    if kinds == {str}:
        lang = scope.formats.lang
        full.sort(key=lambda pair: collation_key(pair[1], lang), reverse=bool(reverse))
    else:
        full.sort(key=lambda pair: pair[1], reverse=bool(reverse))
    return [row for row, _ in full] + [row for row, key in keyed if key is None]


def group_rows(value: Value, x: RowFunction, scope: Environment) -> Value:
    """Group records by a key, in the order of first occurrence: `key` and `rows`."""
    groups: dict[object, dict[str, Any]] = {}
    for row in _require_list(value, "group"):
        key = x(row, scope)
        found = groups.setdefault(_hashable(key, "group"), {"key": key, "rows": []})
        found["rows"].append(row)
    return list(groups.values())


def map_rows(value: Value, x: RowFunction, scope: Environment) -> Value:
    """Return the value of an expression for each record."""
    return [x(row, scope) for row in _require_list(value, "map")]


def unique(value: Value, x: RowFunction | None, scope: Environment) -> Value:
    """Return the first of the items with the same value."""
    kept: dict[object, object] = {}
    for row in _require_list(value, "unique"):
        kept.setdefault(_hashable(row if x is None else x(row, scope), "unique"), row)
    return list(kept.values())


def first(value: Value) -> Value:
    """Return the first item, empty if there is none."""
    items = _require_list(value, "first")
    return items[0] if items else None


def last(value: Value) -> Value:
    """Return the last item, empty if there is none."""
    items = _require_list(value, "last")
    return items[-1] if items else None


def take(value: Value, n: Value) -> Value:
    """Return the first `n` items."""
    return _require_list(value, "take")[: max(to_integer(n, "take's n"), 0)]


def skip(value: Value, n: Value) -> Value:
    """Return all but the first `n` items."""
    return _require_list(value, "skip")[max(to_integer(n, "skip's n"), 0) :]


def batch(value: Value, n: Value) -> Value:
    """Return lists of `n` items each, the last with the rest."""
    items, size = _require_list(value, "batch"), to_integer(n, "batch's n")
    if size < 1:
        raise ExpressionError("batch's n must be at least 1")
    return [items[at : at + size] for at in range(0, len(items), size)]


# --- functions ----------------------------------------------------------------------------------------


def make_range(scope: Environment, *bounds: Value) -> list[Decimal]:
    """Return the integers from 0 (or the first argument) up to, but not including, the last."""
    if not 1 <= len(bounds) <= 2:
        raise ExpressionError("range takes one or two numbers")
    start, stop = (0, *bounds) if len(bounds) == 1 else bounds
    first = to_integer(start, "range's start") if start else 0
    last = to_integer(stop, "range's end")
    if last - first > MAX_RANGE:
        raise ExpressionError(f"range returns at most {MAX_RANGE:,} numbers, not {last - first:,}")
    if scope.state.count_range(max(last - first, 0)) > MAX_RANGES:
        raise ExpressionError(f"the ranges of the document have more than {MAX_RANGES:,} numbers")
    return [Decimal(n) for n in range(first, last)]


# --- messages ---------------------------------------------------------------------------------------


def translate(key: Value, **arguments: Value) -> Value:
    """Return the message of a key in the nearest language; `n` selects its plural form."""
    raise AssertionError("the messages of the scope write it")  # expressions never call it


# --- shared helpers --------------------------------------------------------------------------------


def _require_list(value: Value, what: str) -> list[Any]:
    if isinstance(value, list):
        return _bounded_list(value)
    if value is None:
        return []
    raise ExpressionError(f"{what} needs a list, not {describe_type(value)}")


def _bounded_list(items: list[Any]) -> list[object]:
    if len(items) > MAX_LIST:
        raise ExpressionError(
            f"the list has {len(items):,} items, at most {MAX_LIST:,} are allowed"
        )
    return items


def _values(value: Value, x: RowFunction | None, scope: Environment, what: str) -> Iterable[Value]:
    rows = _require_list(value, what)
    return rows if x is None else [x(row, scope) for row in rows]


def _numbers(
    value: Value, x: RowFunction | None, scope: Environment, what: str
) -> Iterable[Decimal]:
    for item in _values(value, x, scope, what):
        if item is not None:
            yield require_number(item, what)


def _hashable(value: Value, what: str) -> object:
    if isinstance(value, list | dict):
        raise ExpressionError(f"{what} cannot compare {describe_type(value)}; give an expression")
    return (value.__class__, value)


_CLEAN_LOCALE: Final = {"number", "percent", "currency", "compact"}
_NUMERIC: Final = {"number", "percent", "currency", "round", "abs", "compact", "length", "count"}

_PLAIN: Final[dict[str, Callable[..., object]]] = {
    "round": round_number, "abs": absolute, "add": add_time, "days_until": count_days,
    "end_of_month": end_of_month, "parse_date": parse_date, "unisolated": unisolated, "trim": trim,
    "replace": replace, "truncate": truncate, "pad": pad, "default": default, "length": length,
    "split": split, "join": join, "lines": split_lines, "iban": group_iban, "mask": mask,
    "match": matches, "count": count, "first": first, "last": last, "take": take, "skip": skip,
    "batch": batch,
}  # fmt: skip

_ROWS: Final[dict[str, Callable[..., object]]] = {
    "sum": sum_rows, "avg": average, "min": least, "max": greatest, "where": where, "sort": sort,
    "group": group_rows, "map": map_rows, "unique": unique,
}  # fmt: skip

# Row filters that mean nothing without an expression.
NEEDS_EXPRESSION: Final = frozenset({"where", "group", "map"})

FILTERS: Final[dict[str, Filter]] = {
    **{
        name: Filter(name, function, FilterKind.LOCALE, name in _CLEAN_LOCALE, name in _NUMERIC)
        for name, function in LOCALE_FILTERS.items()
    },
    **{
        name: Filter(name, function, FilterKind.PLAIN, is_number=name in _NUMERIC)
        for name, function in _PLAIN.items()
    },
    **{name: Filter(name, function, FilterKind.ROWS) for name, function in _ROWS.items()},
    "t": Filter("t", translate, FilterKind.MESSAGE),
}
