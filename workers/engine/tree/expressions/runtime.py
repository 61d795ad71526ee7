"""Functions that compiled expressions call: exact arithmetic, comparisons, members, text."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from datetime import date, datetime, time
from decimal import ROUND_HALF_UP, Context, Decimal, DecimalException, DivisionByZero, Overflow
from decimal import InvalidOperation as InvalidDecimal
from typing import Any, Final

from workers.engine.syntax.suggestions import suggest_name

MAX_LIST: Final = 100_000
MAX_TEXT: Final = 1_000_000
MAX_MAGNITUDE: Final = 60  # decimal exponent of the first digit

# Half up is the commercial rule; 34 digits are IEEE decimal128. A result beyond
# the exponents is refused instead of becoming a text of a million digits.
ARITHMETIC: Final = Context(
    prec=34,
    rounding=ROUND_HALF_UP,
    Emin=-MAX_MAGNITUDE,
    Emax=MAX_MAGNITUDE,
    traps=[InvalidDecimal, DivisionByZero, Overflow],
)

Value = Any  # str, Decimal, bool, date, datetime, time, dict, list or None (merge/declarations.py)

ZERO: Final = Decimal(0)
ONE: Final = Decimal(1)


class ExpressionError(Exception):
    """An expression cannot be evaluated; the text explains it to the author."""


class MissingMember(ExpressionError):
    """A name or member that the data lack; `default` and `is defined` accept it."""


# The exceptions of an evaluation over any data; any other is a defect of the engine.
EVALUATION_ERRORS: Final = (ExpressionError, LookupError, TypeError, ValueError, DecimalException)


def describe_type(value: Value) -> str:
    """Return the type of a value for messages; never the value itself, which may be a secret."""
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


def suggest_identifier(name: str, known: Iterable[str]) -> str:
    """Return the end of a message that suggests the nearest known name, empty if none is near."""
    return suggest_name(name, (one for one in known if one.isidentifier()))


# --- names and members ------------------------------------------------------------------------------


def look_up(names: dict[str, Value], name: str) -> Value:
    """Return the value of a name.

    Raises:
        MissingMember: the name is not known.
    """
    try:
        return names[name]
    except KeyError:
        raise MissingMember(f'the name "{name}" is not known{suggest_name(name, names)}') from None


def look_up_item(item: dict[str, Value], names: dict[str, Value], name: str) -> Value:
    """Return the value of a name in a row expression: the record's member, or the outer name."""
    return item[name] if name in item else look_up({**names, **item}, name)


def member(value: Value, name: str) -> Value:
    """Return a record's member by name.

    Raises:
        MissingMember: the record lacks it, or is empty.
        ExpressionError: the value is not a record.
    """
    if isinstance(value, dict):
        if name in value:
            return value[name]
        raise MissingMember(f'there is no member "{name}"{suggest_name(name, map(str, value))}')
    if value is None:
        raise MissingMember(f'"{name}" cannot be read of an empty value')
    raise ExpressionError(
        f'"{name}" cannot be read of {describe_type(value)}, which has no members'
    )


def item_at(value: Value, key: Value) -> Value:
    """Return a list's item by position from 0, or a record's member by name.

    Raises:
        MissingMember: the list or record has no such item.
        ExpressionError: the value is neither a list nor a record.
    """
    if isinstance(key, str):
        return member(value, key)
    if not isinstance(value, list):
        raise ExpressionError(f"only a list has positions, not {describe_type(value)}")
    position = to_integer(key, "a position")
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
    """Divide two numbers, rounded down to an integer."""
    quotient: Decimal = _dividend(left, right, "//") / right
    return quotient.to_integral_value("ROUND_FLOOR")


def remainder(left: Value, right: Value) -> Decimal:
    """Return the remainder of a division rounded down; its sign is the divisor's."""
    rest: Decimal = _dividend(left, right, "%") % right
    return rest + right if rest and (rest < 0) != (right < 0) else rest


def negate(value: Value) -> Decimal:
    """Return the negative of a number."""
    return -require_number(value, "-")


def positive(value: Value) -> Decimal:
    """Return a number unchanged."""
    return require_number(value, "+")


def require_number(value: Value, what: str) -> Decimal:
    """Return a value that must be a number."""
    if value.__class__ is not Decimal:
        raise ExpressionError(f"{what} needs a number, not {describe_type(value)}")
    number: Decimal = value
    return number


def require_text(value: Value, what: str) -> str:
    """Return a value as text; a list or record is an error of what needs it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | dict):
        raise ExpressionError(f"{what} needs text, not {describe_type(value)}")
    return to_text(value)


def to_integer(value: Value, what: str) -> int:
    """Return an integral number as an int, for positions and counts.

    Raises:
        ExpressionError: the value is not a number, has a fraction, or exceeds 10^9.
    """
    if value.__class__ is Decimal and abs(value) <= 1_000_000_000 and value == int(value):
        return int(value)
    raise ExpressionError(f"{what} must be a whole number, not {describe_type(value)}")


def _number(left: Value, right: Value, sign: str) -> Any:
    if left.__class__ is Decimal and right.__class__ is Decimal:
        return left
    hint = ""
    if left is None or right is None:
        hint = "; write (name or 0) where a value may be empty"
    elif isinstance(left, str) and isinstance(right, str) and sign == "+":
        hint = "; ~ joins text"
    elif isinstance(left, date) and isinstance(right, Decimal) and sign in "+-":
        hint = f"; write date | add(days={right if sign == '+' else -right})"
    raise ExpressionError(
        f"{sign} needs two numbers, not {describe_type(left)} and {describe_type(right)}{hint}"
    )


def _dividend(left: Value, right: Value, sign: str) -> object:
    number = _number(left, right, sign)
    if not right:
        raise ExpressionError(f"{sign} by zero")
    return number


# --- comparisons ------------------------------------------------------------------------------------


def equal(left: Value, right: Value) -> bool:
    """Return whether two values of one type are equal.

    object value can be compared with an empty one.
    """
    if left is None or right is None:
        return left is right
    if type(left) is not type(right) or type(left) in (list, dict):
        raise ExpressionError(
            f"{describe_type(left)} cannot be compared with {describe_type(right)}"
        )
    return bool(left == right)


def unequal(left: Value, right: Value) -> bool:
    """Return whether two values of one type differ."""
    return not equal(left, right)


def _ordering(compare: Callable[[Any, Any], bool]) -> Callable[[Value, Value], bool]:
    """Return a comparison of two values of one type that has an order."""
    return lambda left, right: bool(compare(_ordered(left, right), right))


less = _ordering(operator.lt)
less_equal = _ordering(operator.le)
greater = _ordering(operator.gt)
greater_equal = _ordering(operator.ge)


def contains(item: Value, holder: Value) -> bool:
    """Return whether a list has an item, a record a member, or a text a substring."""
    if isinstance(holder, str | dict) and isinstance(item, str):
        return item in holder
    if isinstance(holder, list) and not isinstance(item, list | dict):
        return any(type(other) is type(item) and other == item for other in holder)
    raise ExpressionError(
        f"{describe_type(item)} cannot be searched for in {describe_type(holder)}"
    )


_ORDERED: Final = (Decimal, str, date, datetime, time)


def _ordered(left: Value, right: Value) -> object:
    if type(left) is type(right) and type(left) in _ORDERED:
        return left
    hint = "; write (name or 0) where a value may be empty" if left is None or right is None else ""
    raise ExpressionError(
        f"{describe_type(left)} cannot be ordered with {describe_type(right)}{hint}"
    )


# --- text -------------------------------------------------------------------------------------------


def to_text(value: Value) -> str:
    """Return a value as text: numbers exact, dates as YYYY-MM-DD, an empty value as an empty text.

    Raises:
        ExpressionError: a list or a record.
    """
    show_kind = _SHOWN.get(value.__class__)
    if show_kind is None:
        raise ExpressionError(
            f"{describe_type(value)} cannot be shown as text; use join, list or a member of it"
        )
    return show_kind(value)


def join_text(values: tuple[Value, ...]) -> str:
    """Concatenate values as text (`~`), up to a million characters."""
    return check_text_length("".join([v if v.__class__ is str else to_text(v) for v in values]))


def check_text_length(text: str) -> str:
    """Return a text, checked.

    Raises:
        ExpressionError: it is longer than a million characters.
    """
    if len(text) > MAX_TEXT:
        raise ExpressionError(
            f"the text has {len(text):,} characters, at most {MAX_TEXT:,} are allowed"
        )
    return text


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
    """Return whether an integer is odd."""
    return to_integer(value, "the value of odd or even") % 2 == 1


def is_even(value: Value) -> bool:
    """Return whether an integer is even."""
    return not is_odd(value)


def is_divisible(value: Value, by: Value) -> bool:
    """Return whether a number is divisible without remainder."""
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
