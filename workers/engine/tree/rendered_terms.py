"""Compares the text of elements with `term` with the electronic invoice of the document."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from babel.dates import format_date, get_date_format
from babel.numbers import get_decimal_symbol, get_group_symbol

from workers.engine.diagnostics import Findings, SourceLocation, format_count
from workers.engine.einvoices import TermPath
from workers.engine.tree.expressions.conventions import GREGORIAN
from workers.engine.tree.expressions.formats import Formats, find_symbol

MAX_RENDERED: Final = 100_000  # terms of one document
_MAX_QUOTED: Final = 60
_MAX_SPACED: Final = 200  # characters of a value whose spaces may differ

_LOCALE_FORMATS: Final = ("short", "medium", "long", "full")
_DAY_FIRST: Final = (
    *("dd.MM.y", "d.M.y", "dd.MM.yy", "dd/MM/y", "d/M/y", "dd/MM/yy", "dd-MM-y", "d-M-y"),
    *("d MMM y", "d MMMM y", "d. MMM y", "d. MMMM y", "dd MMM y", "dd MMMM y"),
)
_MONTH_FIRST: Final = (
    *("MM/dd/y", "M/d/y", "MM/dd/yy", "M/d/yy", "MM-dd-y", "MMM d, y", "MMMM d, y"),
    *("d MMM y", "d MMMM y"),
)
_MINUSES: Final = ("-", "\u2212", "\u2010", "\u2011", "\u2013")
# Before a number: a minus sign, and perhaps a currency between them.
_MINUS: Final = re.compile(rf"[{''.join(_MINUSES)}]\s?(?:[A-Z]{{3}}|[^\w\s]{{1,3}})?\s?\Z")
# An amount with its currency in brackets: a negative one, or a remark.
_BRACKETED: Final = re.compile(r"\([^()\d]{1,5}\d[^()]*\)|\([^()]*\d[^()\d]{1,5}\)")
_SPACES: Final = re.compile(r"[\s\u00a0\u202f\u2009]+")
# Notes of credit (UNTDID 1001) state amounts without the sign that many print.
_CREDITS: Final = frozenset({"81", "83", "261", "262", "296", "308", "381", "396", "420", "458"})


@dataclass(frozen=True, slots=True)
class RenderedTerm:
    """The text of an element with `term`, and the formats it was written in.

    `is_repeated` marks an element that pages repeat.
    """

    term: TermPath
    text: str
    formats: Formats
    location: SourceLocation
    is_repeated: bool = False

    @property
    def is_in_list(self) -> bool:
        """Whether the term belongs to a list, such as that of invoice lines."""
        return any(group.is_list for group in self.term.groups)


class RenderedTerms:
    """The terms that a document shows, in its order, until its invoice is known."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._rendered: list[RenderedTerm] = []
        self._record: dict[str, object] = {}
        self._is_known = False  # the record of the invoice
        self.is_paused = False  # without an invoice, and while totals have placeholder values

    def add(self, rendered: RenderedTerm) -> None:
        """Store a term; one that pages repeat after the invoice is known is compared at once."""
        if self._is_known:  # running content and heads of tables are built during layout
            self._compare_with_any(rendered)
        elif len(self._rendered) < MAX_RENDERED:
            self._rendered.append(rendered)

    def find_location(self, path: str) -> SourceLocation | None:
        """Return the first element that shows a term, by its path without list marks."""
        return next(
            (one.location for one in self._rendered if one.term.path.replace("[]", "") == path),
            None,
        )

    def compare(self, record: dict[str, object]) -> None:
        """Report every element whose text differs from the invoice."""
        self._record, self._is_known = record, True
        lists: dict[str, list[RenderedTerm]] = {}
        for rendered in self._rendered:
            if rendered.is_in_list and not rendered.is_repeated:
                lists.setdefault(rendered.term.path, []).append(rendered)
            else:
                self._compare_with_any(rendered)
        for path, several in lists.items():
            self._compare_list(several, list(_values(record, path)))

    def _compare_with_any(self, rendered: RenderedTerm) -> None:
        """Compare a term with the value in the invoice, or with all values of a list."""
        values = list(_values(self._record, rendered.term.path)) or [None]
        text = " ".join(rendered.text.split())
        if not any(_states(text, value, rendered.formats, self._record) for value in values):
            self._compare_one(rendered, values[0])

    def _compare_list(self, several: list[RenderedTerm], values: list[object]) -> None:
        """Compare the terms of a list with its records, in order."""
        filled = [rendered for rendered in several if rendered.text.strip()]
        for index, (rendered, value) in enumerate(zip(filled, values, strict=False), 1):
            self._compare_one(rendered, value, f" {index}")
        if len(filled) != len(values):
            last = several[-1]
            self._findings.error(
                "term-count",
                f"{last.term.term.number} is shown {format_count(len(filled), 'time')}, the invoice states it "
                f"{format_count(len(values), 'time')}; each is to be shown once, in order",
                last.location,
            )

    def _compare_one(self, rendered: RenderedTerm, value: object, index: str = "") -> None:
        text = " ".join(rendered.text.split())
        if value is None and not text:
            return
        if value is not None and _states(text, value, rendered.formats, self._record):
            return
        number = f"{rendered.term.term.number}{index} ({rendered.term.term.doc.lower()})"
        stated = "states none" if value is None else f"states {_quote(value)}"
        message = (
            f'{number} is shown as "{text[:_MAX_QUOTED]}", the invoice {stated}{_hint(text, value)}'
        )
        self._findings.error("term-differs", message, rendered.location)


def _values(record: object, path: str) -> Iterator[object]:
    """Yield the values at a path, over all records of its lists."""
    step, _, rest = path.partition(".")
    value = record.get(step.removesuffix("[]")) if isinstance(record, dict) else None
    if value is None:
        return
    if not rest:
        yield value
    elif step.endswith("[]"):
        for one in value:
            yield from _values(one, rest)
    else:
        yield from _values(value, rest)


def _quote(value: object) -> str:
    match value:
        case Decimal():
            return f"{value:f}"
        case date():
            return value.isoformat()
        case _:
            return f'"{str(value)[:_MAX_QUOTED]}"'


def _hint(text: str, value: object) -> str:
    if isinstance(value, Decimal) and len(re.findall(r"\d+(?:\W?\d+)*", text)) > 1:
        return ". Set `term` on a `span` around this number alone"
    if isinstance(value, Decimal) and f"{value:f}" in text:
        return ". Write it as the language of the element does, by `number` or `currency`"
    return ""


def _states(text: str, value: object, formats: Formats, record: dict[str, object]) -> bool:
    """Return whether a text states a value, in the formats of its language."""
    match value:
        case Decimal():
            return _states_number(
                text, value, formats, is_credit=record.get("typeCode") in _CREDITS
            )
        case date():
            return any(_contains(text, written) for written in _dates(value, formats))
        case _:
            return _contains(text, str(value))


def _states_number(text: str, value: Decimal, formats: Formats, *, is_credit: bool) -> bool:
    found = _read_number(text, formats)
    if found is None:
        return False
    has_any_sign = is_credit or _BRACKETED.search(text) is not None
    return found == value or (has_any_sign and abs(found) == abs(value))


def _read_number(text: str, formats: Formats) -> Decimal | None:
    """Parse the only number in a text by the symbols of its language.

    None if it has none or several.
    """
    has_latin_digits = any(sign in "0123456789" for sign in text)
    numbering = "latn" if has_latin_digits else formats.numbering
    point, group = (
        find_symbol(find, formats.locale, numbering)
        for find in (get_decimal_symbol, get_group_symbol)
    )
    plain = "".join(_plain_digit(sign) for sign in _SPACES.sub(" ", text))
    groups = "".join({_SPACES.sub(" ", group), " ", "'", "’"} - {point})
    pattern = rf"\d(?:[\d{re.escape(groups)}]*\d)?(?:{re.escape(point)}\d+)?"
    matches = list(re.finditer(pattern, plain))
    if len(matches) != 1:
        return None
    written = matches[0][0]
    for sign in groups:
        written = written.replace(sign, "")
    before, after = plain[: matches[0].start()], plain[matches[0].end() :]
    is_negative = _MINUS.search(before) is not None or after[:1] in _MINUSES
    is_negative = is_negative or (before[-1:] == "(" and after[:1] == ")")
    number = Decimal(written.replace(point, "."))
    return -number if is_negative else number


def _plain_digit(sign: str) -> str:
    return str(unicodedata.digit(sign)) if sign.isdigit() and not sign.isascii() else sign


def _dates(value: date, formats: Formats) -> Iterator[str]:
    """Yield a date in the formats of the language, by its calendar and the Gregorian one."""
    locale = formats.locale
    yield value.isoformat()
    begins = get_date_format("short", locale).pattern[:1]
    patterns = _MONTH_FIRST if begins == "M" else _DAY_FIRST
    years_first = ("y/MM/dd", "y.MM.dd") if begins == "y" else ()
    for pattern in (*_LOCALE_FORMATS, *patterns, *years_first):
        yield format_date(value, pattern, locale)
        if formats.calendar != GREGORIAN or formats.digits:
            yield formats["date", (pattern,), ()](value)


def _contains(text: str, value: str) -> bool:
    """Return whether a text contains a value as a whole word; its spaces may differ."""
    compact = "".join(_SPACES.split(value))
    if not compact:
        return not text
    if len(compact) > _MAX_SPACED:
        return " ".join(_SPACES.split(value.strip())) in " ".join(_SPACES.split(text))
    pattern = r"(?<!\w)" + r"\s*".join(map(re.escape, compact)) + r"(?!\w)"
    return re.search(pattern, text) is not None
