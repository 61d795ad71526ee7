"""What compiled expressions call while they run: exact arithmetic, comparisons, members, text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, datetime, time
from decimal import ROUND_HALF_UP, Context, Decimal, DecimalException, DivisionByZero, Overflow
from decimal import InvalidOperation as InvalidDecimal
from typing import Any, Final

from workers.engine.syntax.suggestions import nearest

Scope = dict[str, Any]
Value = Any  # str, Decimal, bool, date, datetime, time, dict, list or None (merge/declarations.py)

MAX_LIST: Final = 100_000  # language.md 1.4, Limits
MAX_TEXT: Final = 1_000_000
MAX_RANGE: Final = 10_000
MAX_MAGNITUDE: Final = 60  # a number's first digit stands at most this far from the point

# Half up is the commercial rule (language.md 1.4); 34 digits are IEEE decimal128. A result beyond
# the exponents is refused instead of becoming a text of a million digits.
ARITHMETIC: Final = Context(
    prec=34,
    rounding=ROUND_HALF_UP,
    Emin=-MAX_MAGNITUDE,
    Emax=MAX_MAGNITUDE,
    traps=[InvalidDecimal, DivisionByZero, Overflow],
)

ZERO: Final = Decimal(0)
ONE: Final = Decimal(1)


class ExpressionError(Exception):
    """An expression cannot be evaluated; the text says why, in the author's words."""


class MissingMember(ExpressionError):
    """A name or member that the data do not have; `default` and `is defined` forgive it."""


# What evaluating an expression over any data may raise; everything else is a defect of the engine.
FAILURES: Final = (ExpressionError, LookupError, TypeError, ValueError, DecimalException)


def describe(value: Value) -> str:
    """Name the kind of a value for messages; never the value itself, which may be a secret."""
    match value:
        case None:
            return "nothing (an empty value)"
        case bool():
            return "true or false"
        case str():
            return "text"
        case Decimal():
            return "a number"
        case datetime():
            return "a date and time"
        case date():
            return "a date"
        case time():
            return "a time"
        case list():
            return "a list"
        case dict():
            return "a record"
        case _:
            return type(value).__name__


def suggest(name: str, known: Iterable[str]) -> str:
    """Give the end of a message that offers the nearest known name, empty when none is near."""
    return nearest(name, (one for one in known if one.isidentifier()))


# --- names and members ------------------------------------------------------------------------------


def look_up(scope: Scope, name: str) -> Value:
    """Give the value of a name.

    Raises:
        MissingMember: the name is not in scope.
    """
    try:
        return scope[name]
    except KeyError:
        raise MissingMember(f'the name "{name}" is not known{suggest(name, scope)}') from None


def look_up_item(item: dict[str, Any], scope: Scope, name: str) -> Value:
    """Give the value of a name in a row expression: the record's member, or the outer name."""
    return item[name] if name in item else look_up({**scope, **item}, name)


def member(value: Value, name: str) -> Value:
    """Give a record's member by name; nothing but data is ever reached."""
    if isinstance(value, dict):
        if name in value:
            return value[name]
        raise MissingMember(f'there is no member "{name}"{suggest(name, map(str, value))}')
    if value is None:
        raise MissingMember(f'"{name}" is asked of an empty value')
    raise ExpressionError(f'"{name}" is asked of {describe(value)}, which has no members')


def item_at(value: Value, key: Value) -> Value:
    """Give a list's item by position from 0, or a record's member by name."""
    if isinstance(key, str):
        return member(value, key)
    if not isinstance(value, list):
        raise ExpressionError(f"a position can only be asked of a list, not of {describe(value)}")
    position = whole(key, "a position")
    try:
        return value[position]
    except IndexError:
        raise MissingMember(f"the list has {len(value)} items, none at [{position}]") from None


# --- arithmetic -------------------------------------------------------------------------------------


def add(left: Value, right: Value) -> Decimal:
    """Add two numbers."""
    return _number(left, right, "+") + right  # type: ignore[no-any-return]


def subtract(left: Value, right: Value) -> Decimal:
    """Subtract two numbers."""
    return _number(left, right, "-") - right  # type: ignore[no-any-return]


def multiply(left: Value, right: Value) -> Decimal:
    """Multiply two numbers; text and lists are refused."""
    return _number(left, right, "*") * right  # type: ignore[no-any-return]


def divide(left: Value, right: Value) -> Decimal:
    """Divide two numbers to 34 digits."""
    return _dividend(left, right, "/") / right  # type: ignore[no-any-return]


def divide_whole(left: Value, right: Value) -> Decimal:
    """Divide two numbers, rounded down to a whole number."""
    quotient: Decimal = _dividend(left, right, "//") / right
    return quotient.to_integral_value("ROUND_FLOOR")


def remainder(left: Value, right: Value) -> Decimal:
    """Give what is left of a whole division; its sign is the divisor's, as `//` rounds down."""
    rest: Decimal = _dividend(left, right, "%") % right
    return rest + right if rest and (rest < 0) != (right < 0) else rest


def negate(value: Value) -> Decimal:
    """Give a number with its sign turned."""
    if value.__class__ is not Decimal:
        raise ExpressionError(f"- needs a number, not {describe(value)}")
    return -value


def positive(value: Value) -> Decimal:
    """Give a number as it is."""
    if value.__class__ is not Decimal:
        raise ExpressionError(f"+ needs a number, not {describe(value)}")
    return value


def whole(value: Value, what: str) -> int:
    """Give a whole number as Python's, for positions and counts.

    Raises:
        ExpressionError: it is no number, has a fraction, or is out of all bounds.
    """
    if value.__class__ is Decimal and abs(value) <= 1_000_000_000 and value == int(value):
        return int(value)
    raise ExpressionError(f"{what} must be a whole number, not {describe(value)}")


def _number(left: Value, right: Value, sign: str) -> Any:
    if left.__class__ is Decimal and right.__class__ is Decimal:
        return left
    hint = ""
    if left is None or right is None:
        hint = "; write (name or 0) where a value may be empty"
    elif isinstance(left, str) and isinstance(right, str) and sign == "+":
        hint = "; ~ joins text"
    raise ExpressionError(
        f"{sign} needs two numbers, not {describe(left)} and {describe(right)}{hint}"
    )


def _dividend(left: Value, right: Value, sign: str) -> Any:
    number = _number(left, right, sign)
    if not right:
        raise ExpressionError(f"{sign} by zero")
    return number


# --- comparisons ------------------------------------------------------------------------------------


def equal(left: Value, right: Value) -> bool:
    """Tell whether two values of one kind are the same; anything equals or differs from empty."""
    if left is None or right is None:
        return left is right
    if _kind(left) is not _kind(right) or _kind(left) in (list, dict):
        raise ExpressionError(f"{describe(left)} cannot be compared with {describe(right)}")
    return bool(left == right)


def unequal(left: Value, right: Value) -> bool:
    """Tell whether two values of one kind differ."""
    return not equal(left, right)


def less(left: Value, right: Value) -> bool:
    """Tell whether `left` comes before `right`."""
    return bool(_ordered(left, right) < right)


def less_equal(left: Value, right: Value) -> bool:
    """Tell whether `left` comes before `right` or is the same."""
    return bool(_ordered(left, right) <= right)


def greater(left: Value, right: Value) -> bool:
    """Tell whether `left` comes after `right`."""
    return bool(_ordered(left, right) > right)


def greater_equal(left: Value, right: Value) -> bool:
    """Tell whether `left` comes after `right` or is the same."""
    return bool(_ordered(left, right) >= right)


def contains(item: Value, holder: Value) -> bool:
    """Tell whether a list has an item, a record a member, or a text a part."""
    if isinstance(holder, str) and isinstance(item, str):
        return item in holder
    if isinstance(holder, dict) and isinstance(item, str):
        return item in holder
    if isinstance(holder, list) and not isinstance(item, list | dict):
        return any(_kind(other) is _kind(item) and other == item for other in holder)
    raise ExpressionError(f"{describe(item)} cannot be sought in {describe(holder)}")


_ORDERED: Final = (Decimal, str, date, datetime, time)


def _kind(value: Value) -> type:
    return type(value)


def _ordered(left: Value, right: Value) -> Any:
    kind = _kind(left)
    if kind is _kind(right) and kind in _ORDERED:
        return left
    hint = "; write (name or 0) where a value may be empty" if left is None or right is None else ""
    raise ExpressionError(f"{describe(left)} cannot be ordered with {describe(right)}{hint}")


# --- text -------------------------------------------------------------------------------------------


def show(value: Value) -> str:
    """Write a value as text: numbers exactly as they are, dates as YYYY-MM-DD, empty as nothing.

    Raises:
        ExpressionError: a list or a record, which has no text of its own.
    """
    show_kind = _SHOWN.get(value.__class__)
    if show_kind is None:
        raise ExpressionError(
            f"{describe(value)} cannot be shown as text; use join, list or a member of it"
        )
    return show_kind(value)


def join_text(values: tuple[Value, ...]) -> str:
    """Join values as text (`~`), up to a million characters."""
    return bounded("".join([v if v.__class__ is str else show(v) for v in values]))


def bounded(text: str) -> str:
    """Give a text back.

    Raises:
        ExpressionError: it is longer than a million characters.
    """
    if len(text) > MAX_TEXT:
        raise ExpressionError(
            f"the text has {len(text):,} characters, at most {MAX_TEXT:,} are allowed"
        )
    return text


def make_range(*bounds: Value) -> list[Decimal]:
    """Give the whole numbers from 0 (or the first argument) up to but without the last."""
    if not 1 <= len(bounds) <= 2:
        raise ExpressionError("range takes one or two numbers")
    start, stop = (0, *bounds) if len(bounds) == 1 else bounds
    first = whole(start, "range's start") if start else 0
    last = whole(stop, "range's end")
    if last - first > MAX_RANGE:
        raise ExpressionError(f"range gives at most {MAX_RANGE:,} numbers, {last - first:,} asked")
    return [Decimal(n) for n in range(first, last)]


def _show_number(value: Decimal) -> str:
    if not -MAX_MAGNITUDE <= value.adjusted() <= MAX_MAGNITUDE:
        raise ExpressionError("the number is too large or too small to be shown")
    return f"{value:f}" if value else f"{abs(value):f}"


_SHOWN: Final[dict[type, Callable[[Any], str]]] = {
    str: lambda value: value,
    type(None): lambda _: "",
    Decimal: _show_number,
    bool: lambda value: "true" if value else "false",
    date: date.isoformat,
    datetime: datetime.isoformat,
    time: time.isoformat,
}


# --- tests (`x is odd`) -----------------------------------------------------------------------------


def is_odd(value: Value) -> bool:
    """Tell whether a whole number is odd."""
    return whole(value, "what is odd or even") % 2 == 1


def is_even(value: Value) -> bool:
    """Tell whether a whole number is even."""
    return not is_odd(value)


def is_divisible(value: Value, by: Value) -> bool:
    """Tell whether a number divides without rest."""
    return not remainder(value, by)


TESTS: Final[dict[str, Callable[..., bool]]] = {
    "none": lambda value: value is None,
    "true": lambda value: value is True,
    "false": lambda value: value is False,
    "odd": is_odd,
    "even": is_even,
    "divisibleby": is_divisible,
    "eq": equal,
    "ne": unequal,
    "lt": less,
    "le": less_equal,
    "gt": greater,
    "ge": greater_equal,
    "in": contains,
    "number": lambda value: value.__class__ is Decimal,
    "string": lambda value: value.__class__ is str,
    "boolean": lambda value: value.__class__ is bool,
    "date": lambda value: isinstance(value, date),
    "list": lambda value: value.__class__ is list,
    "record": lambda value: value.__class__ is dict,
}
