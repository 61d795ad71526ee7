"""Formats of a locale for numbers, currencies, dates and names: CLDR patterns compiled to functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import copy
from datetime import date, datetime, time, tzinfo
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Any, Final, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from babel import Locale, UnknownLocaleError
from babel import dates as babel_dates
from babel import lists as babel_lists
from babel import numbers as babel_numbers
from babel import units as babel_units

from workers.engine.syntax.identifiers import LANGUAGE_TAG, is_right_to_left, read_language
from workers.engine.tree.expressions.conventions import (
    GREGORIAN,
    Formatter,
    compile_message,
    find_calendar,
    find_locale_calendar,
    find_numbering,
    list_digits,
    make_ordinal,
    make_spell,
)
from workers.engine.tree.expressions.letter_case import (
    make_capitalize,
    make_lower,
    make_title,
    make_upper,
)
from workers.engine.tree.expressions.runtime import (
    ARITHMETIC,
    MAX_MAGNITUDE,
    ZERO,
    ExpressionError,
    Value,
    describe_type,
    require_number,
    to_integer,
)

DEFAULT_LANGUAGE: Final = "en"  # formats of languages that CLDR does not have
MINUS_SIGN: Final = "\u2212"
HYPHEN_MINUS: Final = "-"
# By the values of `minus-sign`.
SIGNS: Final[Mapping[str, str]] = {"minus": MINUS_SIGN, "hyphen": HYPHEN_MINUS}
MAX_PLACES: Final = 30
MAX_DEFAULT_PLACES: Final = 3  # CLDR's own decimal patterns show up to three
MAX_PERCENT_PLACES: Final = 2  # CLDR rounds to whole per cent, which would print 7.5 % VAT as 8 %
_MEMO_SIZE: Final = 4096
Known = TypeVar("Known")
Moment = date | datetime | time
_WIDTHS: Final = ("short", "medium", "long", "full")
_QUOTED: Final = re.compile(r"'[^']*'")
# Letters that are often written for others: in a pattern with the second letters and without the
# third. Y is the year of a week, which differs from the year around New Year.
_MISTAKEN: Final = (("Y", "Y", "w", "y"), ("D", "ML", "", "d"), ("m", "y", "HhKk", "M"))
_CURRENCY_STYLES: Final = ("standard", "accounting", "code", "name")


class Formats(dict[tuple[object, ...], Formatter]):
    """The formatters of one locale, currency and time zone, each made when first used.

    `formats[name, args, options]` is the formatter of a filter with those arguments, a function of
    the value alone, which is not empty. A filter with constant arguments costs one look-up and one call.
    """

    def __init__(
        self,
        locale: Locale,
        currency: str | None,
        zone: tzinfo,
        *,
        tag: str,
        minus: str = MINUS_SIGN,
        is_fallback: bool = False,
    ) -> None:
        super().__init__()
        self.tag = tag  # the language requested
        self.is_fallback = is_fallback  # CLDR has no formats for the language requested
        self.is_rtl = is_right_to_left(tag)
        self.locale = locale
        self.lang = str(locale).replace("_", "-")
        self.currency = currency
        self.zone = zone
        self.minus = minus  # before the digits of negative numbers
        self.calendar = find_locale_calendar(tag, locale)
        self.numbering = find_numbering(tag, locale)
        self.digits = list_digits(self.numbering)

    def enter(self, lang: str) -> Formats:
        """Return the formats of another language with the settings of these.

        Raises:
            ValueError: the language is not a tag.
        """
        return get_formats(lang, self.currency, str(self.zone), self.minus)

    def __missing__(self, key: tuple[Any, ...]) -> Formatter:
        if len(self) > _MEMO_SIZE:  # arguments may come from data
            self.clear()
        made = self[key] = self.make(*key)
        return made

    def make(
        self, name: str, arguments: tuple[object, ...], options: tuple[Any, ...] = ()
    ) -> Formatter:
        """Return the formatter of a filter.

        Raises:
            ExpressionError: an argument is not accepted.
        """
        return LOCALE_FILTERS[name](self, *arguments, **dict(options))


@lru_cache(maxsize=512)
def get_formats(lang: str, currency: str | None, timezone: str, minus: str = MINUS_SIGN) -> Formats:
    """Return the formats of a language, with a document's currency, time zone and minus sign.

    A language without formats in CLDR has those of `DEFAULT_LANGUAGE`.

    Raises:
        ValueError: the language is not a tag, or the currency, the time zone, or the calendar or the
            digits of the tag are not known; the text says which.
    """
    locale = find_locale(lang)
    return Formats(
        locale or Locale.parse(DEFAULT_LANGUAGE),
        check_currency(currency),
        get_zone(timezone),
        tag=lang,
        minus=minus,
        is_fallback=locale is None,
    )


def find_locale(lang: str) -> Locale | None:
    """Return CLDR's locale of a BCP 47 tag, shortened until one is found (RFC 4647, 3.4).

    Raises:
        ValueError: not a BCP 47 tag.
    """
    try:
        read_language(lang)
    except ValueError:
        raise ValueError(f'"{lang[:40]}" is not {LANGUAGE_TAG}') from None
    tags = re.split("-[a-zA-Z0-9](?=-|$)", lang)[0].split("-")  # extensions change no locale
    while tags:
        try:
            return Locale.parse("_".join(tags), sep="_")
        except (UnknownLocaleError, ValueError, TypeError):
            tags.pop()
    return None


@lru_cache(maxsize=512)
def get_decimal_symbol(lang: str) -> str:
    """Return the decimal symbol of a language; a point for an unknown one."""
    try:
        locale = find_locale(lang) or Locale.parse(DEFAULT_LANGUAGE)
        return find_symbol(babel_numbers.get_decimal_symbol, locale, find_numbering(lang, locale))
    except ValueError:
        return "."


def find_symbol(find: Callable[..., str], locale: Locale, numbering: str) -> str:
    """Return a symbol of numbers; Babel's of Latin digits where it has none of others."""
    try:
        return find(locale, numbering_system=numbering)
    except babel_numbers.UnsupportedNumberingSystemError:  # type: ignore[attr-defined] # stubs of an older Babel
        return find(locale)


def check_currency(code: str | None) -> str | None:
    """Return an ISO 4217 code, checked.

    Raises:
        ValueError: the currency is not known.
    """
    if code is None or code in babel_numbers.list_currencies():
        return code
    raise ValueError(f'the currency "{code[:10]}" is not known; give an ISO 4217 code such as EUR')


def get_currency_digits(code: str) -> int:
    """Return the decimals of amounts in a currency (CLDR): 2 for EUR, 0 for JPY, 3 for KWD."""
    return babel_numbers.get_currency_precision(code)


def get_zone(name: str) -> tzinfo:
    """Return a time zone by its IANA name.

    Raises:
        ValueError: the zone is not known.
    """
    if re.fullmatch(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,2}", name):
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, OSError, ValueError):
            pass
    raise ValueError(f'the time zone "{name[:40]}" is not known; give a name such as Europe/London')


# --- numbers ----------------------------------------------------------------------------------------


def make_number(
    formats: Formats,
    places: Value = None,
    min: Value = None,  # noqa: A002  (as authors write it)
    group: Value = True,
) -> Formatter:
    """Format with `places` decimals (up to three unless given), at least `min` of them."""
    if places is None:
        fewest, most = 0, MAX_DEFAULT_PLACES
    else:
        fewest = most = _require_places(places)
    if min is not None:
        fewest = _require_places(min)
        most = max(fewest, most)
    pattern = formats.locale.decimal_formats[None]
    return _compile_number(formats, pattern, fewest, most, is_grouped=bool(group))


def make_percent(formats: Formats, places: Value = None) -> Formatter:
    """Format a ratio as per cent: 0.19 is 19 %; up to two decimals unless `places` is given."""
    pattern = formats.locale.percent_formats[None]
    if places is None:
        return _compile_number(formats, pattern, 0, MAX_PERCENT_PLACES, scale=2)
    most = _require_places(places)
    return _compile_number(formats, pattern, most, most, scale=2)


def make_currency(
    formats: Formats, code: Value = None, places: Value = None, style: Value = "standard"
) -> Formatter:
    """Format an amount in the document's currency, or in that of an ISO 4217 code."""
    currency = formats.currency
    if code is not None:
        currency = _read_name(code, "a currency is a code such as 'EUR'", check_currency)
    if currency is None:
        raise ExpressionError(
            "no currency is set; write currency=\"EUR\" on document, or currency('EUR')"
        )
    if style not in _CURRENCY_STYLES:
        raise ExpressionError(f"currency's style must be one of {', '.join(_CURRENCY_STYLES)}")
    digits = get_currency_digits(currency) if places is None else _require_places(places)
    if style == "name":
        return _make_currency_name(formats, currency, digits)
    kind = "accounting" if style == "accounting" else "standard"
    pattern = formats.locale.currency_formats[kind]
    symbol = babel_numbers.get_currency_symbol(currency, formats.locale)
    if style == "code":
        symbol = currency
    return _compile_number(formats, pattern, digits, digits, symbol=symbol)


def make_compact(formats: Formats) -> Formatter:
    """Format a number in its compact form: 12K, 3,4 Mio."""

    def shorten(number: Decimal) -> str:
        return babel_numbers.format_compact_decimal(  # type: ignore[call-arg] # stubs of an older Babel
            number,  # type: ignore[arg-type]
            locale=formats.locale,
            numbering_system=formats.numbering,
        )

    def format_compact(value: Value) -> str:
        number = _require_shown(value, "compact")
        # What is rounded up to another unit has that: 999,999 is 1M, not 1000K.
        shown = sum(map(str.isdigit, shorten(Decimal(1).scaleb(number.adjusted()))))
        rounded = round_exactly(number, shown - 1 - number.adjusted())
        return _with_minus(shorten(max(number, rounded, key=Decimal.adjusted)), formats)

    return format_compact


def make_unit(formats: Formats, unit: Value, length: Value = "short") -> Formatter:
    """Format a quantity with a CLDR unit such as kilogram."""
    if not isinstance(unit, str) or length not in ("short", "long", "narrow"):
        raise ExpressionError("unit takes a unit's name, and short, long or narrow")

    def format_unit(value: Value) -> str:
        number = round_exactly(_require_shown(value, "unit"), MAX_DEFAULT_PLACES)
        # As it is shown: 1.0 is 1 day, not 1 days.
        number = number.quantize(ZERO) if number == number.to_integral_value() else number
        try:
            text = babel_units.format_unit(  # type: ignore[call-arg] # stubs of an older Babel
                number, unit, length, locale=formats.locale, numbering_system=formats.numbering
            )
        except babel_units.UnknownUnitError:
            raise ExpressionError(f'the unit "{unit[:40]}" is not known') from None
        return _with_minus(text, formats)

    return format_unit


def _with_minus(text: str, formats: Formats) -> str:
    """Return a text of Babel's with the minus sign of the document before its digits, in those of the locale."""
    return _ANY_MINUS.sub(formats.minus, text, count=1).translate(formats.digits)


_SIGN: Final = re.compile(f"[{HYPHEN_MINUS}{MINUS_SIGN}]")
_ANY_MINUS: Final = re.compile(rf"{_SIGN.pattern}(?=\d)")


def _compile_number(
    formats: Formats,
    pattern: babel_numbers.NumberPattern,
    fewest: int,
    most: int,
    *,
    is_grouped: bool = True,
    scale: int = 0,
    symbol: str | None = None,
) -> Formatter:
    """Return a formatter of a CLDR number pattern.

    The digits come from one call of Decimal's own formatting, which rounds by the context (half up,
    see runtime.ARITHMETIC); what surrounds them is prepared here.
    """
    locale = formats.locale
    group = find_symbol(babel_numbers.get_group_symbol, locale, formats.numbering)
    point = find_symbol(babel_numbers.get_decimal_symbol, locale, formats.numbering)
    plus, minus = (_affixes(pattern, is_negative, symbol, formats) for is_negative in (False, True))
    primary, secondary = pattern.grouping
    is_grouped = is_grouped and primary < 1000
    is_regular = not is_grouped or (primary, secondary) == (3, 3)
    format_spec = f"{',' if is_grouped and is_regular else ''}.{most}f"
    signs = {ord(","): group, ord("."): point, **formats.digits}
    is_translated = (group, point) != (",", ".") or bool(formats.digits)

    def format_number(value: Value) -> str:
        if value.__class__ is not Decimal:
            raise ExpressionError(
                f"a number is needed, not {describe_type(value)}; declare its field as a decimal"
            )
        if value.adjusted() > MAX_MAGNITUDE:
            raise ExpressionError("the number is too large to be shown")
        text = format(value.scaleb(scale) if scale else value, format_spec)
        if most > fewest:
            text = _trim_zeros(text, most - fewest)
        if not is_regular:
            text = _group_digits(text, primary, secondary)
        before, after = plus
        if text[0] == "-":
            text = text[1:]
            if text.strip("0.,"):
                before, after = minus
        if is_translated:
            text = text.translate(signs)
        return before + text + after

    return format_number


_LATIN_THEN_SIGN: Final = re.compile(r"[A-Za-z].*[^A-Za-z]\Z")


def _affixes(
    pattern: babel_numbers.NumberPattern, is_negative: bool, symbol: str | None, formats: Formats
) -> tuple[str, str]:
    """Return the text before and after the digits, from the pattern of Babel."""
    minus = _sign_in_line(formats)
    percent = "%"
    if formats.digits:
        percent = formats.locale.number_symbols.get(formats.numbering, {}).get("percentSign", "%")
    prefix, suffix = (
        affix.replace("-", minus).replace("%", percent)
        for affix in (pattern.prefix[is_negative], pattern.suffix[is_negative])
    )
    if symbol is not None:
        # Letters never touch digits (CLDR, currencySpacing); Babel 2.18 leaves the space out.
        before = "\u00a0" if prefix.endswith("¤") and symbol[-1].isalpha() else ""
        after = "\u00a0" if suffix.startswith("¤") and symbol[0].isalpha() else ""
        # In right-to-left text "UK£" stays behind the digits, and its sign behind its letters.
        if formats.locale.text_direction == "rtl" and _LATIN_THEN_SIGN.search(symbol):
            symbol = f"\u200f{symbol}\u200e"
        prefix = prefix.replace("¤", symbol) + before
        suffix = after + suffix.replace("¤", symbol)
    quoted = re.compile(r"'([^']*)'")
    return (
        quoted.sub(lambda m: m.group(1) or "'", prefix),
        quoted.sub(lambda m: m.group(1) or "'", suffix),
    )


def _sign_in_line(formats: Formats) -> str:
    """Return the sign with the mark that keeps it before the digits in right-to-left text (CLDR)."""
    find = babel_numbers.get_minus_sign_symbol
    symbol = find_symbol(find, formats.locale, formats.numbering)
    return _SIGN.sub(formats.minus, symbol, count=1)


def _trim_zeros(text: str, spare: int) -> str:
    """Remove up to `spare` zeros from the end of the decimals, and the point with the last."""
    whole_part, _, decimals = text.partition(".")
    kept = decimals[: len(decimals) - spare] + decimals[len(decimals) - spare :].rstrip("0")
    return f"{whole_part}.{kept}" if kept else whole_part


def _group_digits(text: str, primary: int, secondary: int) -> str:
    """Insert commas by a pattern's own group sizes, as in the Indian 12,34,567."""
    digits, point, decimals = text.partition(".")
    sign, digits = ("-", digits[1:]) if digits[0] == "-" else ("", digits)
    groups = [digits[-primary:]]
    rest = digits[:-primary]
    while rest:
        groups.append(rest[-secondary:])
        rest = rest[:-secondary]
    return sign + ",".join(reversed(groups)) + point + decimals


def _make_currency_name(formats: Formats, currency: str, digits: int) -> Formatter:
    number, locale = make_number(formats, Decimal(digits)), formats.locale

    def format_named(value: Value) -> str:
        amount = round_exactly(_require_shown(value, "currency"), digits)
        pattern = babel_numbers.get_currency_unit_pattern(currency, float(amount), locale)
        name = babel_numbers.get_currency_name(currency, amount, locale)
        return pattern.replace("{0}", number(amount)).replace("{1}", name)

    return format_named


def round_exactly(value: Decimal, places: int, mode: str = ROUND_HALF_UP) -> Decimal:
    """Round to a number of decimals."""
    if value.adjusted() + places >= ARITHMETIC.prec:
        raise ExpressionError("the number is too large to be rounded exactly")
    rounded = value.quantize(Decimal(1).scaleb(-places), mode)
    return rounded if places >= 0 else Decimal(f"{rounded:f}")


def _require_places(value: Value) -> int:
    places = to_integer(value, "the number of decimals")
    if not 0 <= places <= MAX_PLACES:
        raise ExpressionError(f"the number of decimals must be from 0 to {MAX_PLACES}")
    return places


def _require_shown(value: Value, what: str) -> Decimal:
    number = require_number(value, what)
    if number.adjusted() > MAX_MAGNITUDE:
        raise ExpressionError("the number is too large to be shown")
    return number


def _read_name(name: Value, accepted: str, read: Callable[[str], Known]) -> Known:
    """Return what is known by a name that an author gives."""
    if not isinstance(name, str):
        raise ExpressionError(f"{accepted}, not {describe_type(name)}")
    try:
        return read(name)
    except ValueError as error:
        raise ExpressionError(str(error)) from None


# --- dates ------------------------------------------------------------------------------------------


def make_date(
    formats: Formats,
    format: Value = "medium",  # noqa: A002
    calendar: Value = None,
) -> Formatter:
    """Format a date by a width (short, medium, long, full) or a CLDR pattern, in a calendar."""
    formats = _in_calendar(formats, calendar)
    pattern = _check_pattern(format)
    write: Callable[[Any], str]
    if formats.calendar == GREGORIAN:
        write = _compile_pattern(formats, _find_pattern(pattern, formats.locale.date_formats))
    else:
        write = _compile_in_calendar(formats, "UTC", f"{{value,date,{pattern}}}", pattern)

    def format_date(value: Value) -> str:
        if value.__class__ is date:
            return write(value)
        if isinstance(value, datetime):
            return write(_in_zone(value, formats.zone).date())
        return write(require_date(value, "date"))

    return format_date


def require_date(value: Value, what: str) -> date:
    """Return a value that is a date.

    Raises:
        ExpressionError: it is none; `what` needs one.
    """
    if not isinstance(value, date):
        raise ExpressionError(
            f"{what} needs a date, not {describe_type(value)}; "
            "declare its field as a date, or read it by parse_date"
        )
    return value


def make_time(formats: Formats, format: Value = "medium") -> Formatter:  # noqa: A002
    """Format a time of day, or an instant's in the document's time zone."""
    pattern = _find_pattern(_check_pattern(format), formats.locale.time_formats)
    write = _compile_pattern(formats, pattern)

    def format_time(value: Value) -> str:
        if isinstance(value, datetime):
            return write(_in_zone(value, formats.zone))
        if isinstance(value, time):
            return write(value)
        raise ExpressionError(f"time needs a time, not {describe_type(value)}")

    return format_time


def make_datetime(
    formats: Formats,
    format: Value = "medium",  # noqa: A002
    tz: Value = None,
    calendar: Value = None,
) -> Formatter:
    """Format an instant in the document's time zone, or in `tz`, in a calendar."""
    formats = _in_calendar(formats, calendar)
    zone = formats.zone
    if tz is not None:
        zone = _read_name(tz, "tz is a name such as 'Europe/London'", get_zone)
    locale, pattern, joined = formats.locale, _check_pattern(format), "{1}"
    day, hour = pattern, ""
    if pattern in _WIDTHS:
        joined = str(locale.datetime_formats[pattern])
        hour = _find_pattern(pattern, locale.time_formats)
    write: Callable[[Any], str]
    if formats.calendar == GREGORIAN:
        day = _find_pattern(pattern, locale.date_formats)
        write = _compile_pattern(formats, joined.replace("{0}", hour).replace("{1}", day))
    else:
        parts = _QUOTED.sub(lambda quoted: quoted[0][1:-1], joined)
        parts = parts.replace("{0}", f"{{value,time,{hour}}}")
        write = _compile_in_calendar(
            formats, str(zone), parts.replace("{1}", f"{{value,date,{day}}}"), pattern
        )

    def format_datetime(value: Value) -> str:
        if not isinstance(value, datetime):
            raise ExpressionError(f"datetime needs a date and time, not {describe_type(value)}")
        return write(_in_zone(value, zone))

    return format_datetime


def _in_calendar(formats: Formats, name: Value) -> Formats:
    """Return formats with a calendar that an author names."""
    if name is None:
        return formats
    changed = copy(formats)
    changed.clear()
    changed.calendar = _read_name(name, "a calendar is a name such as 'gregorian'", find_calendar)
    return changed


def _check_pattern(written: Value) -> str:
    """Return a width or a pattern of dates."""
    if not isinstance(written, str) or not written or len(written) > 100:
        raise ExpressionError("a date format is short, medium, long, full or a CLDR pattern")
    if written not in _WIDTHS:
        _check_letters(written)
    return written


def _find_pattern(written: str, widths: Mapping[str, Any]) -> str:
    return str(widths[written].pattern) if written in _WIDTHS else written


def _compile_in_calendar(
    formats: Formats, zone: str, parts: str, pattern: str
) -> Callable[[date], str]:
    try:
        return compile_message(formats.locale, formats.calendar, formats.numbering, zone, parts)
    except ValueError:
        raise _no_pattern(pattern) from None


def _check_letters(pattern: str) -> None:
    rest = _QUOTED.sub("", pattern)
    letters = {letter for letter in rest if letter.isascii() and letter.isalpha()}
    if set("'{}") & set(rest) or not letters <= babel_dates.PATTERN_CHARS.keys():
        raise _no_pattern(pattern)
    for letter, beside, unless, meant in _MISTAKEN:
        if letter in letters and letters & set(beside) and letters.isdisjoint(unless):
            raise ExpressionError(
                f'"{letter}" in "{pattern}" is another part of a date in CLDR; write "{meant}"'
            )


def _no_pattern(pattern: str) -> ExpressionError:
    return ExpressionError(
        f'"{pattern}" is not a date pattern of CLDR, such as dd.MM.yyyy; other text is quoted'
    )


def _compile_pattern(formats: Formats, pattern: str) -> Callable[[Moment], str]:
    """Return a formatter of a CLDR date pattern; it keeps the texts of dates.

    A statement repeats the same few on thousands of rows.
    """
    try:
        # Refuses fields CLDR does not know.
        written = str(babel_dates.parse_pattern(pattern).format)
    except ValueError:
        raise _no_pattern(pattern) from None
    known: dict[Moment, str] = {}

    def write(value: Moment) -> str:
        text = known.get(value) if value.__class__ is date else None
        if text is not None:
            return text
        try:
            text = written % babel_dates.DateTimeFormat(value, formats.locale)
        except AttributeError:
            raise ExpressionError(
                f'"{pattern}" asks for a part that {describe_type(value)} does not have'
            ) from None
        text = text.translate(formats.digits) if formats.digits else text
        if value.__class__ is date:
            if len(known) >= _MEMO_SIZE:
                known.clear()
            known[value] = text
        return text

    return write


def _in_zone(value: datetime, zone: tzinfo) -> datetime:
    return value.astimezone(zone) if value.tzinfo is not None else value.replace(tzinfo=zone)


# --- lists and names --------------------------------------------------------------------------------


def make_list(formats: Formats, style: Value = "standard") -> Formatter:
    """Join a list as the language does: A, B and C."""
    if style not in ("standard", "or", "unit"):
        raise ExpressionError("list's style must be one of standard, or, unit")

    def format_list(value: Value) -> str:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ExpressionError(f"list needs a list of texts, not {describe_type(value)}")
        return babel_lists.format_list(value, style, formats.locale)

    return format_list


def _name_maker(
    names: Callable[[Locale], Mapping[object, str]],
    wrong: str,
    read: Callable[[Value], object] = str,
) -> Callable[[Formats], Formatter]:
    """Return a filter that names a code or a number; `wrong` is the message for one without a name."""

    def make(formats: Formats) -> Formatter:
        known = names(formats.locale)

        def format_name(value: Value) -> str:
            key = None if read is str and not isinstance(value, str) else read(value)
            if key not in known:
                raise ExpressionError(wrong)
            return str(known[key])

        return format_name

    return make


def _code_maker(what: str, names: Callable[[Locale], Any]) -> Callable[[Formats], Formatter]:
    return _name_maker(names, f"{what} needs a code that CLDR has a name for")


def _index_maker(
    what: str, names: Callable[..., Any], first: int
) -> Callable[[Formats], Formatter]:
    return _name_maker(
        lambda locale: names("wide", "stand-alone", locale),
        f"{what} has no name for this number",
        lambda value: to_integer(value, what) - first,
    )


LOCALE_FILTERS: Final[dict[str, Callable[..., Formatter]]] = {
    "upper": make_upper,
    "lower": make_lower,
    "title": make_title,
    "capitalize": make_capitalize,
    "number": make_number,
    "percent": make_percent,
    "currency": make_currency,
    "compact": make_compact,
    "unit": make_unit,
    "spell": make_spell,
    "ordinal": make_ordinal,
    "date": make_date,
    "time": make_time,
    "datetime": make_datetime,
    "list": make_list,
    "territory": _code_maker("territory", lambda locale: locale.territories),
    "language": _code_maker("language", lambda locale: locale.languages),
    "currency_name": _code_maker("currency_name", lambda locale: locale.currencies),
    "month_name": _index_maker("month_name", babel_dates.get_month_names, 0),  # 1 is January
    "weekday_name": _index_maker(
        "weekday_name", babel_dates.get_day_names, 1
    ),  # ISO 8601: 1 is Monday
}
