"""Expressions: exact, limited to data and in size, with clear errors."""

from __future__ import annotations

from contextlib import suppress
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.tree.documents import evaluate, why_not
from workers.engine.caches import MAX_CACHED_LENGTH
from workers.engine.tree.expressions.compiler import compile_text, compile_texts
from workers.engine.tree.expressions.environment import Environment
from workers.engine.tree.expressions.formats import get_formats
from workers.engine.tree.expressions.grammar import (
    ExpressionSyntaxError,
    TextTemplate,
    parse_expression,
    parse_text,
)
from workers.engine.tree.expressions.running_text import collapse_and_trim
from workers.engine.tree.expressions.runtime import EVALUATION_ERRORS

LINE = {"qty": Decimal(2), "price": Decimal("89.90"), "items": [Decimal(5)], "text": "Drill"}
SCOPE = {
    "l": LINE,
    "lines": [LINE, {"qty": Decimal(1), "price": Decimal("19.50"), "items": [], "text": "Bits"}],
    "net": Decimal("199.30"),
    "empty": None,
    "name": "Ann",
    "day": date(2026, 1, 31),
    "yes": True,
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1 + 0.2", Decimal("0.3")),
        ("1 / 3 * 3", Decimal("0.9999999999999999999999999999999999")),
        ("7 // 2", Decimal(3)),
        ("-7 // 2", Decimal(-4)),
        ("-7 % 3", Decimal(2)),
        ("2 + 3 * 4", Decimal(14)),
        ("(2 + 3) * 4", Decimal(20)),
        ("10 - 2 - 3", Decimal(5)),
        ("net * 0.19 | round(0)", Decimal("0.00")),
        ("(net * 0.19) | round(2)", Decimal("37.87")),
        ("2.5 | round", Decimal(3)),
        ("2.5 | round(0, 'half-even')", Decimal(2)),
        ("1250 | round(-2)", Decimal(1300)),
        ("l.items[0]", Decimal(5)),
        ("l['text']", "Drill"),
        ("'a' ~ 1.50 ~ none ~ 'b'", "a1.50b"),
        ("empty or 0", Decimal(0)),
        ("empty and empty.x", None),
        ("name if yes else 1 / 0", "Ann"),
        ("1 / 0 if not yes", None),
        ("1 < 2 < 3", True),
        ("1 < 2 > 3", False),
        ("l.qty is lt 3", True),
        ("l.qty is odd", False),
        ("empty is none", True),
        ("nothing is defined", False),
        ("l.nothing.deep is defined", False),
        ("l.nothing | default('-')", "-"),
        ("nothing | default(3)", Decimal(3)),
        ("'n' in name", True),
        ("2 in [1, 2]", True),
        ("'2' in [1, 2]", False),
        ("'qty' in l", True),
        ("3 not in [1, 2]", True),
        ("empty == 0", False),
        ("{'a': {'b': net}}", {"a": {"b": Decimal("199.30")}}),
        ("lines | sum('qty * price')", Decimal("199.30")),
        ("lines | where('qty > 1') | count", Decimal(1)),
        ("lines | map('text') | join(', ')", "Drill, Bits"),
        ("lines | sort('text') | map('text') | first", "Bits"),
        ("['Zug', 'Äpfel', 'apfel', 'É', 'f'] | sort | join(' ')", "apfel Äpfel É f Zug"),
        ("['1.10', '1.2', 'A-2', 'a 1'] | sort | join(',')", "1.10,1.2,a 1,A-2"),
        ("lines | sort('qty', reverse=true) | map('qty') | last", Decimal(1)),
        ("lines | max('price')", Decimal("89.90")),
        ("lines | avg('qty')", Decimal("1.5")),
        ("lines | map('net - price') | min", Decimal("109.40")),
        ("[1, 2, 3, 4, 5] | batch(2) | length", Decimal(3)),
        ("[2, 1, 2] | unique | count", Decimal(2)),
        ("range(3) | sum", Decimal(3)),
        ("day | add(months=1)", date(2026, 2, 28)),
        ("day | add(days=1, weeks=1)", date(2026, 2, 8)),
        ("day | end_of_month == day", True),
        ("day | days_until('2026-02-10' | parse_date)", Decimal(10)),
        ("'24.12.2026' | parse_date('dd.MM.yyyy')", date(2026, 12, 24)),
        ("'24.12.85' | parse_date('dd.MM.yy')", date(1985, 12, 24)),
        ("'ab' | pad(4, '0')", "00ab"),
        ("'GB33BUKB20201555555555' | iban", "GB33 BUKB 2020 1555 5555 55"),
        ("'12345678' | mask", "••••5678"),
        ("'Long text here' | truncate(6)", "Long…"),
        ("'a, b,c' | split(',') | list", "a, b and c"),
        ("'}}' ~ '{{'", "}}{{"),
    ],
)
def test_value_of_expression(text: str, value: object) -> None:
    assert evaluate(text, SCOPE) == value


def _environment(**names):
    return Environment(names, get_formats("en", None, "UTC"))


def test_grouping_keeps_the_order_of_first_meeting() -> None:
    rows = [{"k": "b", "n": Decimal(1)}, {"k": "a", "n": Decimal(2)}, {"k": "b", "n": Decimal(3)}]
    groups = evaluate("rows | group('k')", {"rows": rows})
    assert [(g["key"], [r["n"] for r in g["rows"]]) for g in groups] == [("b", [1, 3]), ("a", [2])]


def test_members_of_rows_come_before_outer_names() -> None:
    rows = [{"qty": Decimal(3)}]
    assert (
        evaluate("rows | sum('qty * rate')", {"rows": rows, "rate": Decimal(2), "qty": Decimal(9)})
        == 6
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("l.__class__", 'there is no member "__class__"'),
        ("name.upper", "which has no members"),
        ("lines.append", "which has no members"),
        ("l['__class__']", "there is no member"),
        ("day.year", "which has no members"),
        ("'x' * 10", "* needs two numbers, not text and a number"),
        ("lines * 2", "* needs two numbers"),
        ("lines + lines", "+ needs two numbers"),
        ("(yes + yes) * name", "+ needs two numbers, not true or false"),
        ("'a' + 'b'", "~ joins text"),
        ("day - 1", "write date | add(days=-1)"),
        ("'2026-03-02' | date", "declare its field as a date, or read it by parse_date"),
        ("'2026-03-02' | add(days=1)", "declare its field as a date, or read it by parse_date"),
        ("'12.50' | currency('EUR')", "declare its field as a decimal"),
        ("empty + 1", "write (name or 0)"),
        ("empty > 1", "write (name or 0)"),
        ("net / 0", "/ by zero"),
        ("net == name", "cannot be compared"),
        ("lines == lines", "cannot be compared"),
        ("net | date", "date needs a date"),
        ("name | number", "a number is needed"),
        ("lines", "cannot be shown as text"),
        ("l.qtty", 'did you mean "qty"'),
        ("nmae", 'did you mean "name"'),
        ("lines[7]", "the list has 2 items"),
        ("range(10001)", "at most 10,000"),
        ("net | round(99)", "must be from -30 to 30"),
        ("net | number(31)", "from 0 to 30"),
        ("lines | sum('qtty')", 'the name "qtty" is not known; did you mean "qty"'),
        ("lines | map('text') | sum", "sum needs a number"),
        ("[1, 2] | sum('x')", "needs a list of records"),
        ("name | replace('', 'x')", "needs a text to search for"),
        ("day | add(years=9999)", "out of the years"),
        ("net | currency('EURO')", 'the currency "EURO" is not known'),
    ],
)
def test_failure_has_its_reason(text: str, reason: str) -> None:
    assert reason in why_not(text, SCOPE)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2 ** 3", "** is not part of the language"),
        ("round(2.5)", '"round" is a filter: write value | round'),
        ("l.items()", "the only functions are range, filters are written after a bar"),
        ("l = 1", "values are compared by =="),
        ("l => 1", "values are compared by =="),
        ("''.format(l)", "the only functions are range"),
        ("name.__class__.__mro__()", "the only functions"),
        ("l | attr('__class__')", 'the filter "attr" is not known'),
        ("net | rund(2)", 'did you mean "round"'),
        ("net is odder", 'the test "is odder" is not known'),
        ("(1, 2)", "square brackets"),
        ("lines[0:1]", "use take and skip"),
        ("a b", '"b" is not expected'),
        ("a }} b", "not expected"),
        ("{ name }", "two braces suffice"),
        ("#each lines", "called by <use>"),
        ("> address", "called by <use>"),
        ("l ? 1 : 2", "written one if condition else other"),
        ("name ?? 'What?'", "written name | default(other)"),
        ("l && !name", "joined by and and or"),
        ("name | default:'x'", "stands in brackets"),
        ("../name", "names are written alone"),
        ("l === 1", "values are compared by =="),
        ("'a? b:' c", "not expected"),
        ("", "is empty"),
        ("1e999", "is not a number"),
        ("0x41", "is not a number"),
        ("lines | sum(qty)", "takes its expression in quotes"),
        ("lines | where", "needs a quoted expression"),
        ("net | number(1, 2, 3, 4)", "number(places, min, group)"),
        ("net | number(digits=2)", "number(places, min, group)"),
        ("1.5 | round(places=1, places=2)", "round takes `places` once"),
        ("'key' | t(n=1, n=2)", "t takes `n` once"),
        ("-(" * 20 + "name" + "|upper" * 15 + ("|upper" * 15 + ")") * 20, "more than 200 steps"),
        ("(" * 40 + "1" + ")" * 40, "nested more than 32 deep"),
        ("-" * 3000 + "1", "more than 200 steps"),
        ("+".join(["1"] * 500), "more than 200 steps"),
        ("1" * 11_000, "at most 10,000 characters"),
        ("'unclosed", ""),
        ("{% if x %}", ""),
        ("{{ x }}", ""),
        ("lambda: 1", ""),
        ("x := 1", ""),
    ],
)
def test_text_that_is_no_expression_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ExpressionSyntaxError, match=None) as refused:
        parse_expression(text)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1" + " <= 1" * 1_900, True),
        ("2 > 1" + " > 1" * 150 + " > missing", False),  # what follows a false one is not evaluated
        ("missing" + " | default(none)" * 150 + " | default(7)", Decimal(7)),
        ("(yes and " * 30 + "missing | default(3)" + ")" * 30, Decimal(3)),
        ("lines | map('" + "(text if yes else " * 30 + "1" + ")" * 30 + "') | first", "Drill"),
        ("[" + "1, " * 3_000 + "1] | count", Decimal(3001)),
        ("name" + " ~ ''" * 1_900, "Ann"),
    ],
)
def test_long_and_deep_expressions_within_the_limits_are_evaluated(
    text: str, value: object
) -> None:
    assert evaluate(text, SCOPE) == value


def test_a_text_of_thousands_of_expressions_is_written() -> None:
    write = compile_text(parse_text("{{ name }} and " * 20_000))
    assert write(_environment(**SCOPE)) == "Ann and " * 20_000


def test_doubling_text_ends_at_a_million_characters() -> None:
    scope = {"t": "x" * 600_000}
    assert "at most 1,000,000" in why_not("t ~ t", scope)
    assert "more than 1,000,000" in why_not("t | replace('x', 'xx')", scope)


def test_product_beyond_all_bounds_is_refused() -> None:
    huge = {"n": Decimal("1e50")}
    assert why_not("n * n", huge) != ""
    assert "too large" in why_not("n", {"n": Decimal("1e5000")})


def test_text_around_expressions_is_preserved() -> None:
    template = parse_text("Page {{ n }} of {{ {'a': {'b': n}}.a.b }} {{ '}}' }}.")
    assert compile_text(template)(_environment(n=Decimal(3))) == "Page 3 of 3 }}."


def test_expression_that_is_not_closed_is_refused() -> None:
    with pytest.raises(ExpressionSyntaxError, match="is not closed"):
        parse_text("Total {{ net ")


def test_filter_after_a_factor_is_warned_about() -> None:
    assert "(a * b) | round" in parse_expression("net * rate | round(2)").hints[0]
    assert parse_expression("(net * rate) | round(2)").hints == ()


@given(st.text(max_size=60))
def test_no_text_breaks_the_parser(text: str) -> None:
    with suppress(ExpressionSyntaxError):
        parse_expression(text)
    with suppress(ExpressionSyntaxError):
        parse_text(text)


@given(
    st.recursive(
        st.sampled_from(
            ["net", "name", "empty", "lines", "l", "day", "yes", "1", "0.5", "'t'", "none", "zz"]
        ),
        lambda inner: st.one_of(
            st.builds(
                "({} {} {})".format,
                inner,
                st.sampled_from(["+", "-", "*", "/", "//", "%", "~", "==", "<", "in", "and", "or"]),
                inner,
            ),
            st.builds("({}).qty".format, inner),
            st.builds("({})[0]".format, inner),
            st.builds(
                "({} | {})".format,
                inner,
                st.sampled_from(
                    [
                        "number",
                        "currency",
                        "date",
                        "upper",
                        "length",
                        "sum",
                        "count",
                        "first",
                        "round",
                        "sort",
                    ]
                ),
            ),
            st.builds("({} if {} else {})".format, inner, inner, inner),
        ),
        max_leaves=8,
    )
)
def test_every_failure_of_an_expression_can_be_explained(text: str) -> None:
    try:
        evaluate(text, SCOPE)
    except EVALUATION_ERRORS:
        assert why_not(text, SCOPE)


def test_texts_with_the_same_expressions_keep_their_own_white_space():
    for written, text in (("{{ a }}-b", "x  y-b"), ("{{ a }} b", "x  y b"), ("{{a}}-b", "x  y-b")):
        assert compile_text(parse_text(written))(_environment(a="x  y")) == text
    collapsed = compile_texts((parse_text("{{ a }}-b"),), collapse=collapse_and_trim)
    assert collapsed(_environment(a="x  y")) == ("x y-b",)


def test_a_text_like_an_expression_is_not_taken_for_it():
    assert compile_text(TextTemplate(("a",)))(_environment(a="value")) == "a"
    assert compile_text(parse_text("{{ a }}"))(_environment(a="value")) == "value"


@pytest.mark.parametrize("length", [MAX_CACHED_LENGTH, MAX_CACHED_LENGTH + 1, 5_000])
def test_expressions_of_any_length_have_their_value(length):
    text = f"'{'x' * (length - 2)}'"
    assert evaluate(text) == "x" * (length - 2)
    assert compile_text(parse_text("{{" + text + "}}"))({}) == "x" * (length - 2)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("'a' | match('a[')", "not a regular expression from its character 2 on"),
        ("day | date('yyyyyyy QQQQQQ')", "is not a date pattern of CLDR, such as dd.MM.yyyy"),
        ("day | date('TT.MM.JJJJ')", "is not a date pattern of CLDR, such as dd.MM.yyyy"),
        ('day | date("yyyy \'o")', "is not a date pattern of CLDR, such as dd.MM.yyyy"),
    ],
)
def test_libraries_explain_nothing_in_their_own_words(text: str, reason: str) -> None:
    assert reason in why_not(text, SCOPE)


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [("dd.MM.YYYY", "y"), ("DD.MM.yyyy", "d"), ("yyyy-mm-dd", "M"), ("mm/yyyy", "M")],
)
def test_letters_that_mean_another_date_name_the_one_meant(pattern: str, meant: str) -> None:
    assert f'write "{meant}"' in why_not(f"day | date('{pattern}')", SCOPE)


@pytest.mark.parametrize("pattern", ["YYYY-'W'ww", "'Year' y", "D/y", "''yy", "y年M月d日"])
def test_weeks_days_of_the_year_and_quoted_text_are_patterns(pattern: str) -> None:
    assert evaluate(f'day | date("{pattern}")', SCOPE)
