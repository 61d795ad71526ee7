"""Examples of every operator, test, function and filter of expressions, with their results (formulas.txt)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Final

from deploy.tools.language.examples import OPTIONS, read_sections
from workers.engine.diagnostics import Findings
from workers.engine.syntax.examples import read_examples
from workers.engine.syntax.parser import parse_document
from workers.engine.tree.expressions.compiler import compile_value
from workers.engine.tree.expressions.environment import Environment
from workers.engine.tree.expressions.formats import get_formats
from workers.engine.tree.expressions.grammar import parse_expression
from workers.engine.tree.expressions.messages import MessageCatalog, compile_messages
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


_WRITTEN: Final = re.compile(r"(.+) → (.+?)(?: \(([a-z]{2}(?:-[A-Z]{2})?)\))?")


def _read(written: str) -> Formula:
    found = _WRITTEN.fullmatch(written)
    assert found is not None, written
    return Formula(found[1], found[2], found[3] or "en")


def _read_filters(entries: list[tuple[str, str]]) -> dict[str, list[Formula]]:
    filters: dict[str, list[Formula]] = {}
    for name, written in entries:
        filters.setdefault(name, []).append(_read(written))
    return filters


_SECTIONS: Final = read_sections("formulas.txt")
OPERATORS: Final = tuple((name, _read(written)) for name, written in _SECTIONS.pop("Operators"))
FILTER_GROUPS: Final[Mapping[str, Mapping[str, list[Formula]]]] = {
    title: _read_filters(entries) for title, entries in _SECTIONS.items()
}


def evaluate(formula: Formula) -> str:
    """Return the result of a formula in the engine; amounts in EUR, the time zone of London."""
    names = {
        **json.loads(SAMPLE, parse_float=Decimal, parse_int=Decimal),
        "now": OPTIONS.now,
        "today": OPTIONS.now.date(),
    }
    scope = Environment(names, get_formats(formula.lang, "EUR", "Europe/London"))
    scope.messages = _example_messages()
    with localcontext(ARITHMETIC):
        return to_text(compile_value(parse_expression(formula.expression))(scope))


def _example_messages() -> MessageCatalog:
    """Return the messages of the example of `messages`."""
    root = parse_document(read_examples()["messages"].encode(), origin=None).root
    assert root is not None
    return compile_messages(root, Findings())
