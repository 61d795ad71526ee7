"""Formats: the same texts as Babel's, compiled once, rounded half up."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import ROUND_HALF_UP, Decimal, localcontext

import pytest
from babel import dates, numbers
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.tree.documents import evaluate
from workers.engine.bidi import reorder, resolve_levels
from workers.engine.tree.expressions.formats import Formats, get_formats
from workers.engine.tree.expressions.runtime import ARITHMETIC, ExpressionError

LOCALES = ["en", "en-GB", "en-IN", "de", "de-AT", "de-CH", "fr", "fr-CH", "es", "it", "nl", "pt-BR", "pt-PT",
           "sv", "da", "nb", "fi", "pl", "cs", "hu", "ru", "uk", "tr", "el", "hi", "bn-u-nu-latn", "ja", "zh", "ko", "ar",
           "fa-u-ca-gregory-nu-latn", "he", "lt", "et", "sl"]  # fmt: skip
VALUES = [
    Decimal(v)
    for v in (
        "0",
        "1",
        "-1",
        "0.5",
        "-0.004",
        "999.995",
        "1234.5",
        "-1234567.891",
        "12345678901.25",
    )
]


def written(formats: Formats, value: object, name: str, *arguments: object) -> str:
    with localcontext(ARITHMETIC):
        return formats[name, arguments, ()](value)


def babel_rounds(value: Decimal, places: int) -> Decimal:
    rounded = value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    return rounded or abs(rounded)  # ours never writes a minus before zero


def signed(text: str, formats: Formats) -> str:
    """Return a text of Babel's with the minus sign that CLDR has for the language."""
    symbol = numbers.get_minus_sign_symbol(formats.locale)
    return text.replace("-", symbol.replace("-", "\u2212"))


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("number", (), "-1\u00a0234,5"),
        ("percent", (), "-123\u00a0450\u00a0%"),
        ("currency", (), "-1\u00a0234,50\u00a0€"),
        ("currency", (None, None, "name"), "-1\u00a0234,50 euro"),
        ("compact", (), "-1\u00a0tn"),
        ("unit", ("kilowatt-hour", "long"), "-1\u00a0234,5 kilowattimmar"),
    ],
)
def test_the_sign_of_a_negative_number_is_a_minus_or_a_hyphen(
    name: str, arguments: tuple[object, ...], text: str
) -> None:
    for minus in ("\u2212", "-"):
        formats = get_formats("en", "EUR", "UTC", minus).enter("sv")
        shown = written(formats, Decimal("-1234.5"), name, *arguments)
        assert shown == text.replace("-", minus)


@pytest.mark.parametrize("lang", ["he", "ar", "fa"])
def test_the_sign_stays_before_the_digits_in_right_to_left_text(lang: str) -> None:
    shown = written(get_formats(lang, None, "UTC"), Decimal(-5), "number")
    digits = [at for at, sign in enumerate(shown) if sign.isdigit()]
    levels = [
        level for start, end, level in resolve_levels(shown, is_rtl=True) for _ in range(start, end)
    ]
    order = reorder(levels)
    assert order.index(shown.index("\u2212")) < order.index(digits[0])


@pytest.mark.parametrize("value", [3530, -3530])
def test_a_currency_of_letters_and_a_sign_is_one_piece_behind_the_digits(value: int) -> None:
    shown = written(get_formats("ar", None, "UTC"), Decimal(value), "currency", "GBP")
    levels = [
        level for start, end, level in resolve_levels(shown, is_rtl=True) for _ in range(start, end)
    ]
    seen = "".join(shown[at] for at in reorder(levels) if shown[at].isprintable())
    assert seen == f"UK£{chr(0x2212) * (value < 0)}3,530.00"


def test_a_unit_keeps_its_own_hyphen() -> None:
    shown = written(get_formats("en", None, "UTC"), Decimal(-2), "unit", "light-year", "long")
    assert shown == "\u22122 light-years" or shown == "\u22122 light years"


@pytest.mark.parametrize("lang", LOCALES)
def test_numbers_are_written_as_babel_writes_them(lang: str) -> None:
    formats = get_formats(lang, "EUR", "UTC")
    for value in VALUES:
        for places in (0, 2, 3):
            expected = numbers.format_decimal(
                babel_rounds(value, places),
                format=_with_places(formats.locale.decimal_formats[None].pattern, places),
                locale=formats.locale,
            )
            assert written(formats, value, "number", Decimal(places)) == signed(expected, formats)
        expected = numbers.format_decimal(babel_rounds(value, 3), locale=formats.locale)
        assert written(formats, value, "number") == signed(expected, formats)


@pytest.mark.parametrize("lang", LOCALES)
@pytest.mark.parametrize("currency", ["EUR", "USD", "JPY", "INR", "KWD"])
def test_amounts_are_written_as_babel_writes_them(lang: str, currency: str) -> None:
    formats = get_formats(lang, currency, "UTC")
    places = numbers.get_currency_precision(currency)
    symbol = numbers.get_currency_symbol(currency, formats.locale)
    for value in VALUES:
        for kind in ("standard", "accounting"):
            expected = numbers.format_currency(
                babel_rounds(value, places), currency, locale=formats.locale, format_type=kind
            )
            ours = written(formats, value, "currency", None, None, kind)
            ours = ours.replace(f"\u200f{symbol}\u200e", symbol)
            expected = signed(expected, formats)
            # CLDR sets a space between letters and digits, which Babel 2.18 leaves out.
            assert ours.replace(f"{symbol}\u00a0", symbol).replace(f"\u00a0{symbol}", symbol) == (
                expected.replace(f"{symbol}\u00a0", symbol).replace(f"\u00a0{symbol}", symbol)
            )


@pytest.mark.parametrize("lang", LOCALES)
def test_dates_are_written_as_babel_writes_them(lang: str) -> None:
    formats = get_formats(lang, None, "UTC")
    instant = datetime(2026, 3, 2, 14, 5, 9, tzinfo=UTC)
    for day in (date(2026, 3, 2), date(1999, 12, 31)):
        for width in ("short", "medium", "long", "full"):
            assert written(formats, day, "date", width) == dates.format_date(
                day, width, formats.locale
            )
        for pattern in ("d MMM", "MMMM y", "yyMMdd", "EEE d/M/yyyy", "'week' w, QQQ", "LLLL"):
            assert written(formats, day, "date", pattern) == dates.format_date(
                day, pattern, formats.locale
            )
    for width in ("short", "medium", "long", "full"):
        assert written(formats, instant, "datetime", width) == dates.format_datetime(
            instant, width, locale=formats.locale
        )
    assert written(formats, time(14, 5), "time", "short") == dates.format_time(
        time(14, 5), "short", locale=formats.locale
    )


@given(st.decimals(min_value=-(10**15), max_value=10**15, places=4))
def test_indian_groups_agree_with_babel(value: Decimal) -> None:
    formats = get_formats("en-IN", "INR", "UTC")
    expected = numbers.format_decimal(
        babel_rounds(value, 2), format="#,##,##0.00", locale=formats.locale
    )
    assert written(formats, value, "number", Decimal(2)) == signed(expected, formats)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2.5 | number(0)", "3"),
        ("0.125 | number(2)", "0.13"),
        ("-0.001 | number(2)", "0.00"),
        ("1234567.5 | number(2, group=false)", "1234567.50"),
        ("1.5 | number(min=2)", "1.50"),
        ("0.19 | percent", "19%"),
        ("0.075 | percent", "7.5%"),
        ("0.075 | percent(0)", "8%"),
        ("1234.5 | currency", "€1,234.50"),
        ("1234.5 | currency('USD')", "US$1,234.50"),
        ("1234.5 | currency(style='code')", "EUR\u00a01,234.50"),
        ("-5 | currency(style='accounting')", "(€5.00)"),
        ("1 | currency(style='name')", "1.00 euros"),
        ("none | currency", ""),
        ("none | date", ""),
        ("12345 | compact", "12K"),
        ("999499 | compact", "999K"),
        ("999999 | compact", "1M"),
        ("-999500 | compact", "−1M"),
        ("3 | unit('kilogram')", "3 kg"),
        ("1.00 | unit('day', 'long')", "1 day"),
        ("100.0 | unit('day', 'long')", "100 days"),
        ("'DE' | territory", "Germany"),
        ("'fr' | language", "French"),
        ("'CHF' | currency_name", "Swiss Franc"),
        ("2 | month_name", "February"),
        ("7 | weekday_name", "Sunday"),
        ("['A', 'B', 'C'] | list", "A, B and C"),
        ("['A', 'B'] | list('or')", "A or B"),
    ],
)
def test_filter_writes(text: str, value: str) -> None:
    assert evaluate(text) == value


def test_instant_is_shown_in_the_zone() -> None:
    instant = datetime(2026, 11, 21, 23, 30, tzinfo=UTC)
    formats = get_formats("en-GB", None, "Europe/Berlin")
    assert written(formats, instant, "datetime", "yyyy-MM-dd HH:mm") == "2026-11-22 00:30"
    assert written(formats, instant, "date", "yyyy-MM-dd") == "2026-11-22"


def test_region_that_cldr_lacks_falls_back_to_its_language() -> None:
    assert get_formats("de-XX", None, "UTC").locale.language == "de"


@pytest.mark.parametrize("lang", ["qq", "nan", "aii", "tlh", "x-private", "i-klingon"])
def test_a_language_that_cldr_lacks_has_the_formats_of_english(lang: str) -> None:
    formats = get_formats(lang, "EUR", "UTC")
    assert formats.is_fallback
    assert written(formats, Decimal("1234.5"), "number", Decimal(2)) == "1,234.50"


@pytest.mark.parametrize(
    ("lang", "locale"),
    [
        ("de-CH-1996-x-own", "de_CH"),
        ("zh-min-nan", "zh"),
        ("de-u-nu-latn", "de"),
        ("sr-Latn-XX", "sr_Latn"),
    ],
)
def test_tags_are_cut_from_their_end_until_there_are_formats(lang: str, locale: str) -> None:
    formats = get_formats(lang, None, "UTC")
    assert (str(formats.locale).removesuffix("_CN").removesuffix("_Hans"), formats.is_fallback) == (
        locale,
        False,
    )


@pytest.mark.parametrize(
    ("lang", "currency", "zone", "named"),
    [
        ("../etc", None, "UTC", "is not a language tag as BCP 47 defines it, such as en, pt-BR"),
        ("de_AT", None, "UTC", '"de_AT" is not a language tag'),
        ("en", "XYZ", "UTC", '"XYZ"'),
        ("en", None, "Mars/Base", '"Mars/Base"'),
        ("en", None, "../../etc/passwd", "time zone"),
    ],
)
def test_unknown_setting_is_named(lang: str, currency: str | None, zone: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        get_formats(lang, currency, zone)


@pytest.mark.parametrize("pattern", ["bbb", "yyyyyyyyyyyyyy!" * 10])
def test_pattern_that_cldr_does_not_know_is_refused(pattern: str) -> None:
    with pytest.raises(ExpressionError):
        written(get_formats("en", None, "UTC"), date(2026, 1, 1), "date", pattern)


def test_time_format_of_a_date_is_refused() -> None:
    with pytest.raises(ExpressionError, match="does not have"):
        written(get_formats("en", None, "UTC"), date(2026, 1, 1), "date", "HH:mm")


def _with_places(pattern: str, places: int) -> str:
    whole = pattern.split(".", maxsplit=1)[0]
    return f"{whole}.{'0' * places}" if places else whole


LEAP_DAY = date(2024, 2, 29)


@pytest.mark.parametrize(
    ("lang", "short", "long"),
    [
        # As ICU 78 writes them, with the data of CLDR 48.
        ("th", "29/2/67", "29 กุมภาพันธ์ 2567"),
        ("th-u-ca-gregory", "29/2/24", "29 กุมภาพันธ์ ค.ศ. 2024"),
        ("th-u-nu-thai", "๒๙/๒/๖๗", "๒๙ กุมภาพันธ์ ๒๕๖๗"),
        ("fa", "۱۴۰۲/۱۲/۱۰", "۱۰ اسفند ۱۴۰۲"),
        ("fa-AF", "۱۴۰۲/۱۲/۱۰", "۱۰ حوت ۱۴۰۲"),
        ("fa-u-nu-latn", "1402/12/10", "10 اسفند 1402"),
        ("en-u-ca-persian", "12/10/1402 AP", "Esfand 10, 1402 AP"),
        ("en-u-ca-buddhist", "2/29/2567 BE", "February 29, 2567 BE"),
        ("ja-u-ca-japanese", "R6/2/29", "令和6年2月29日"),
        ("zh-Hant-u-ca-roc", "民國113/2/29", "民國113年2月29日"),
        ("en-u-ca-islamic-umalqura-nu-latn", "8/19/1445 AH", "Shaʻban 19, 1445 AH"),
        ("ar-EG", "٢٩\u200f/٢\u200f/٢٠٢٤", "٢٩ فبراير ٢٠٢٤"),
    ],
)
def test_dates_have_the_calendar_and_digits_of_their_language(lang, short, long) -> None:
    formats = get_formats(lang, None, "UTC")
    assert written(formats, LEAP_DAY, "date", "short") == short
    assert written(formats, LEAP_DAY, "date", "long") == long


def test_a_date_may_name_its_calendar() -> None:
    formats = get_formats("th", None, "UTC")
    noon = datetime(2024, 2, 29, 12, tzinfo=UTC)
    assert written(formats, LEAP_DAY, "date", "d.M.yyyy") == "29.2.2567"
    assert written(formats, LEAP_DAY, "date", "yyyy-MM-dd", "gregorian") == "2024-02-29"
    assert written(formats, LEAP_DAY, "date", "G y", "persian") == "ปีเปอร์เซีย 1402"
    assert written(formats, noon, "datetime", "y HH", None, "gregorian") == "2024 12"
    assert written(formats, noon, "datetime", "short") == "29/2/67 12:00"
    with pytest.raises(
        ExpressionError, match='"lunar" is not known; accepted are gregorian, buddhist'
    ):
        written(formats, LEAP_DAY, "date", "short", "lunar")


@pytest.mark.parametrize("tag", ["th-u-ca-lunar", "th-u-nu-roman"])
def test_an_unknown_calendar_or_digits_of_a_tag_are_named(tag: str) -> None:
    with pytest.raises(ValueError, match=r"(is|are) not known"):
        get_formats(tag, None, "UTC")


@pytest.mark.parametrize(
    ("day", "persian"),
    [
        # The first and last day of years of the Solar Hijri calendar, by ICU 78.
        ("1900-01-01", "1278/10/11"), ("1979-02-11", "1357/11/22"), ("2017-03-20", "1395/12/30"),
        ("2017-03-21", "1396/1/1"), ("2024-03-19", "1402/12/29"), ("2024-03-20", "1403/1/1"),
        ("2025-03-20", "1403/12/30"), ("2025-03-21", "1404/1/1"), ("2026-09-22", "1405/6/31"),
        ("2026-09-23", "1405/7/1"), ("2119-12-31", "1498/10/10"),
    ],
)  # fmt: skip
def test_days_are_converted_to_the_solar_hijri_calendar(day: str, persian: str) -> None:
    formats = get_formats("fa-u-nu-latn", None, "UTC")
    assert written(formats, date.fromisoformat(day), "date", "short") == persian


@pytest.mark.parametrize(
    ("lang", "number", "percent", "amount"),
    [
        ("fa", "\u200e\u2212۱٬۲۳۴٫۵", "۱۹٪", "\u200e€ ۵٫۰۰"),
        ("ar-EG", "\u061c\u2212١٬٢٣٤٫٥", "١٩٪\u061c", "\u200f٥٫٠٠ €"),
        ("ne", "\u2212१,२३४.५", "१९%", "€ ५.००"),
        ("bn-u-nu-latn", "\u22121,234.5", "19%", "5.00€"),
    ],
)
def test_numbers_have_the_digits_of_their_language(lang, number, percent, amount) -> None:
    formats = get_formats(lang, "EUR", "UTC")
    assert written(formats, Decimal("-1234.5"), "number") == number
    assert written(formats, Decimal("0.19"), "percent") == percent
    shown = written(formats, Decimal(5), "currency")
    assert shown.replace("\u00a0", " ") == amount
