"""An invoice for readers: each term that it states, with its number, its label and its value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import groupby
from typing import Any, Final

from workers.engine.einvoices.mapping import Record
from workers.engine.einvoices.terms import INVOICE, BusinessGroup, BusinessTerm, TermType

_TITLES: Final = {"381": "Credit note", "384": "Corrected invoice", "389": "Self-billed invoice"}
_LABEL: Final = re.compile(r"[^,:;]+")
_MEANING: Final = re.compile(r"\b([A-Z\d]+) ((?!or )[a-zA-Z][^,]*)")
_LINE_COLUMNS: Final = {
    "id": "id",
    "name": "name",
    "quantity": "quantity",
    "unit": "unit",
    "price.net": "price",
    "vatRate": "rate",
    "netAmount": "amount",
}


@dataclass(frozen=True, slots=True)
class StatedTerm:
    """A term of an invoice: `section` is the title of its group, `path` the names in that group."""

    section: str
    path: str
    number: str
    label: str
    kind: str
    value: str | Decimal | date


def title_invoice(record: Record) -> str:
    """Return the title of an invoice: what it is, and its number."""
    kind = _TITLES.get(str(record.get("typeCode")), "Invoice")
    return f"{kind} {record.get('number', '')}".rstrip()


def list_terms(
    record: Record, group: BusinessGroup = INVOICE, section: str = "", path: str = ""
) -> Iterator[StatedTerm]:
    """Yield every term that is stated, those of a group before those of the groups in it."""
    for member in group.members:
        value = record.get(member.name)
        if isinstance(member, BusinessTerm) and value is not None:
            shown, label = _show(value, member), _shorten(member.doc)
            kind = member.data_type.name.lower()
            yield StatedTerm(section, path + member.name, member.number, label, kind, shown)
    for member in group.members:
        if isinstance(member, BusinessGroup) and (value := record.get(member.name)):
            entries = value if member.is_list else [value]
            for place, entry in enumerate(entries, 1):
                title = _shorten(member.doc) + (f" {place}" if len(entries) > 1 else "")
                yield from list_terms(
                    entry,
                    member,
                    f"{section}: {title}" if section else title,
                    f"{path}{member.name}.",
                )


def present_record(record: Record) -> dict[str, object]:
    """Return the data of a page: sections of terms, and lines with what has no column beside them."""
    line = next(one for one in INVOICE.members if one.name == "lines")
    assert isinstance(line, BusinessGroup)
    rest = {name: value for name, value in record.items() if name != "lines"}
    return {
        "title": title_invoice(record),
        "currency": str(record.get("currency", "")),
        "sections": [
            {"title": title or "Document", "terms": [_write(one) for one in terms]}
            for title, terms in groupby(list_terms(rest), lambda one: one.section)
        ],
        "lines": [_write_line(list_terms(one, line)) for one in record.get("lines", ())],
    }


def _write_line(terms: Iterable[StatedTerm]) -> dict[str, object]:
    written: dict[str, Any] = {"terms": []}
    for one in terms:
        if one.path in _LINE_COLUMNS:
            written[_LINE_COLUMNS[one.path]] = one.value
        else:
            label = f"{one.section}: {one.label}" if one.section else one.label
            written["terms"].append({**_write(one), "label": label})
    return written


def _write(term: StatedTerm) -> dict[str, object]:
    return {"number": term.number, "label": term.label, "kind": term.kind, "value": term.value}


def _show(value: Any, term: BusinessTerm) -> str | Decimal | date:
    """Return a value as a reader wants it: a file by its size, a code with its meaning if that is stated."""
    if term.data_type is TermType.BINARY:
        return f"{len(value):,} bytes"
    if term.data_type is TermType.CODE and ":" in term.doc:
        meanings = dict(_MEANING.findall(term.doc.partition(":")[2]))
        return f"{value} ({meanings[value]})" if value in meanings else str(value)
    shown: str | Decimal | date = value
    return shown


def _shorten(doc: str) -> str:
    found = _LABEL.match(doc)
    assert found is not None  # no description begins with a sign
    return found[0]
