"""Examples of every operator, test, function and filter of expressions, with their results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from types import MappingProxyType
from typing import Final

from deploy.tools.language.examples import OPTIONS
from workers.engine.diagnostics import Findings
from workers.engine.syntax.examples import read_examples
from workers.engine.syntax.parser import parse_document
from workers.engine.tree.expressions.compiler import compile_value
from workers.engine.tree.expressions.environment import Environment
from workers.engine.tree.expressions.formats import get_formats
from workers.engine.tree.expressions.grammar import parse_expression
from workers.engine.tree.expressions.messages import MessageCatalog, Translator, compile_messages
from workers.engine.tree.expressions.runtime import ARITHMETIC, to_text

# The data of the examples; `today` and `now` are fixed too.
SAMPLE: Final = """\
{ "lines": [ { "text": "Drill", "qty": 2, "price": 89.90, "kind": "tool" },
             { "text": "Glue", "qty": 5, "price": 4.25, "kind": "stuff" },
             { "text": "Saw", "qty": 1, "price": 42.00, "kind": "tool" } ],
  "name": "ada lovelace", "net": 1234.565, "iban": "GB33BUKB20201555555555", "note": null }"""


@dataclass(frozen=True, slots=True)
class Formula:
    """An expression with its result as text, in a language."""

    expression: str
    result: str
    lang: str = "en"


def evaluate(formula: Formula) -> str:
    """Return the result of a formula in the engine; amounts in EUR, the time zone of London."""
    names = {
        **json.loads(SAMPLE, parse_float=Decimal, parse_int=Decimal),
        "now": OPTIONS.now,
        "today": OPTIONS.now.date(),
    }
    scope = Environment(names, get_formats(formula.lang, "EUR", "Europe/London"))
    scope.translate = Translator(_example_messages(), "en").translate
    with localcontext(ARITHMETIC):
        return to_text(compile_value(parse_expression(formula.expression))(scope))


def _example_messages() -> MessageCatalog:
    """Return the messages of the example of `messages`."""
    root = parse_document(read_examples()["messages"].encode(), origin=None).root
    assert root is not None
    return compile_messages(root, Findings())


OPERATORS: Final[tuple[tuple[str, Formula], ...]] = (
    ("`+` `-` `*` `/`, exact", Formula("0.1 + 0.2", "0.3")),
    ("`//` `%` integer division and remainder", Formula("17 // 5 ~ ' rest ' ~ 17 % 5", "3 rest 2")),
    ("`~` concatenates as text", Formula("name ~ ', ' ~ 42", "ada lovelace, 42")),
    ("`==` `!=` `<` `<=` `>` `>=`", Formula("net >= 1000", "true")),
    (
        "`and` `or` `not`; `or` returns the first operand that is not empty",
        Formula("note or 'no note'", "no note"),
    ),
    ("`in`, for lists, texts and records", Formula("'ada' in name", "true")),
    ("`x if c else y`", Formula("'much' if net > 1000 else 'little'", "much")),
    ("lists and records", Formula("[1, 2, 3][0] + {'a': 41}.a", "42")),
    ("`range(n)`, `range(from, to)` up to 10,000", Formula("range(1, 4) | join(' ')", "1 2 3")),
    ("`is defined`, `is undefined`", Formula("discount is defined", "false")),
    ("`is none` `is true` `is false`", Formula("note is none", "true")),
    ("`is odd` `is even` `is divisibleby`", Formula("lines | count is odd", "true")),
    ("`is eq` `ne` `lt` `le` `gt` `ge` `in`", Formula("net is lt 1000", "false")),
    ("`is number` `string` `boolean` `date` `list` `record`", Formula("today is date", "true")),
)

_NUMBERS: Final = {
    "number": (
        Formula("net | number", "1,234.565"),
        Formula("net | number(2)", "1.234,57", "de"),
        Formula("5 | number(min=1)", "5.0"),
        Formula("2026 | number(group=false)", "2026"),
    ),
    "percent": (
        Formula("0.19 | percent", "19%"),
        Formula("0.055 | percent(1)", "5,5\u00a0%", "de"),
    ),
    "currency": (
        Formula("net | currency", "€1,234.57"),
        Formula("net | currency('CHF')", "1.234,57\u00a0CHF", "de"),
        Formula("-net | currency(style='accounting')", "(€1,234.57)"),
        Formula("net | currency(style='code')", "EUR\u00a01,234.57"),
        Formula("net | currency(style='name')", "1,234.57 euros"),
        Formula("net | currency(places=0)", "€1,235"),
    ),
    "round": (
        Formula("(net * 0.19) | round(2)", "234.57"),
        Formula("2.5 | round", "3"),
        Formula("2.5 | round(mode='half-even')", "2"),
    ),
    "abs": (Formula("-3.5 | abs", "3.5"),),
    "compact": (
        Formula("12000 | compact", "12K"),
        Formula("3400000 | compact", "3\u00a0Mio.", "de"),
    ),
    "unit": (
        Formula("2.5 | unit('kilogram')", "2.5 kg"),
        Formula("2.5 | unit('kilogram', length='long')", "2,5 Kilogramm", "de"),
    ),
    "spell": (
        Formula("1204 | spell", "one thousand, two hundred and four", "en-GB"),
        Formula(
            "237.17 | spell('EUR')", "zweihundertsiebenunddreißig Euro und siebzehn Cent", "de"
        ),
    ),
    "ordinal": (Formula("3 | ordinal", "3rd"), Formula("3 | ordinal", "3e", "nl")),
}
_DATES: Final = {
    "date": (
        Formula("today | date", "Mar 2, 2026"),
        Formula("today | date('long')", "2. März 2026", "de"),
        Formula("today | date('short')", "02/03/2026", "en-GB"),
        Formula("today | date('EEEE, d MMMM y')", "lundi, 2 mars 2026", "fr"),
        Formula("today | date('long')", "2 มีนาคม 2569", "th"),
        Formula("today | date('long', calendar='gregorian')", "2 มีนาคม ค.ศ. 2026", "th"),
    ),
    "time": (Formula("now | time('short')", "09:30", "de"),),
    "datetime": (
        Formula("now | datetime('short')", "02.03.26, 09:30", "de"),
        Formula("now | datetime('yyyy-MM-dd HH:mm', tz='Asia/Tokyo')", "2026-03-02 18:30"),
    ),
    "add": (
        Formula("today | add(days=14)", "2026-03-16"),
        Formula("'2026-01-31' | parse_date | add(months=1)", "2026-02-28"),
    ),
    "days_until": (Formula("today | days_until(today | add(weeks=2))", "14"),),
    "parse_date": (Formula("'02.03.2026' | parse_date('dd.MM.yyyy')", "2026-03-02"),),
    "end_of_month": (Formula("today | end_of_month", "2026-03-31"),),
}
_TEXTS: Final = {
    "upper": (Formula("name | upper", "ADA LOVELACE"),),
    "lower": (Formula("'ÅR 2026' | lower", "år 2026"),),
    "title": (Formula("name | title", "Ada Lovelace"),),
    "unisolated": (Formula("name | unisolated", "ada lovelace"),),
    "capitalize": (Formula("name | capitalize", "Ada lovelace"),),
    "trim": (Formula("'  a b  ' | trim", "a b"),),
    "replace": (Formula("name | replace('a', 'o')", "odo loveloce"),),
    "truncate": (Formula("name | truncate(8)", "ada lov…"),),
    "pad": (Formula("7 | pad(3, '0')", "007"),),
    "default": (Formula("note | default('–')", "–"), Formula("discount | default(0)", "0")),
    "length": (Formula("name | length", "12"),),
    "split": (Formula("'a, b, c' | split(',') | last", "c"),),
    "join": (Formula("['a', 'b'] | join(' + ')", "a + b"),),
    "lines": (Formula("'one\\ntwo' | lines | join(' / ')", "one / two"),),
    "iban": (Formula("iban | iban", "GB33 BUKB 2020 1555 5555 55"),),
    "mask": (Formula("iban | mask(4)", "••••••••••••••••••5555"),),
    "match": (Formula("iban | match('GB[0-9A-Z]+')", "true"),),
}
_LISTS: Final = {
    "sum": (Formula("lines | sum('qty * price')", "243.05"), Formula("[1, 2.5] | sum", "3.5")),
    "avg": (Formula("lines | avg('qty') | round(2)", "2.67"),),
    "min": (Formula("lines | min('price')", "4.25"),),
    "max": (Formula("lines | max('price')", "89.90"),),
    "count": (Formula("lines | count", "3"),),
    "where": (Formula("lines | where('qty > 1') | count", "2"),),
    "sort": (
        Formula("lines | sort('price') | map('text') | join(', ')", "Glue, Saw, Drill"),
        Formula("[2, 3, 1] | sort(reverse=true) | join(' ')", "3 2 1"),
    ),
    "group": (
        Formula("lines | group('kind') | map('key') | join(', ')", "tool, stuff"),
        Formula("(lines | group('kind') | first).rows | sum('qty')", "3"),
    ),
    "map": (Formula("lines | map('text') | join(', ')", "Drill, Glue, Saw"),),
    "unique": (Formula("lines | map('kind') | unique | join(', ')", "tool, stuff"),),
    "first": (Formula("(lines | first).text", "Drill"),),
    "last": (Formula("(lines | last).text", "Saw"),),
    "take": (Formula("lines | take(2) | map('text') | join(', ')", "Drill, Glue"),),
    "skip": (Formula("lines | skip(2) | map('text') | join(', ')", "Saw"),),
    "batch": (Formula("lines | batch(2) | count", "2"),),
    "list": (
        Formula("lines | map('text') | list", "Drill, Glue, and Saw"),
        Formula("['a', 'b', 'c'] | list(style='or')", "a, b oder c", "de"),
    ),
}
_NAMES: Final = {
    "territory": (Formula("'DE' | territory", "Allemagne", "fr"),),
    "language": (Formula("'de' | language", "German"),),
    "currency_name": (Formula("'CHF' | currency_name", "Schweizer Franken", "de"),),
    "month_name": (Formula("3 | month_name", "March"),),
    "weekday_name": (Formula("1 | weekday_name", "Montag", "de"),),
}

_TRANSLATIONS: Final = {
    "t": (
        Formula("'contracts' | t(n=lines | count)", "you have 3 contracts"),
        Formula("'contracts' | t(n=1)", "vous avez 1 contrat", "fr"),
    )
}

FILTER_GROUPS: Final[Mapping[str, Mapping[str, tuple[Formula, ...]]]] = MappingProxyType(
    {
        "Numbers": _NUMBERS,
        "Dates": _DATES,
        "Text": _TEXTS,
        "Lists": _LISTS,
        "Names": _NAMES,
        "Messages": _TRANSLATIONS,
    }
)
