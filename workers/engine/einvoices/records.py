"""Conversion of data to the record of an invoice, by the types of its terms."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from typing import Final

from workers.engine.characters import NOT_XML
from workers.engine.einvoices.findings import RuleViolation
from workers.engine.einvoices.mapping import MAX_ENTRIES, Record, decode_file, parse_number
from workers.engine.einvoices.terms import INVOICE, BusinessGroup, BusinessTerm, TermType

MAX_INVALID: Final = 50
MAX_TEXT: Final = 20_000  # characters of one term
_MAX_DIGITS: Final = 100  # decimals of a number, most of them zeros

_ISO_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
PROFILE_TERM: Final = "guideline"  # determined by the profile, not by data


def read_record(data: object) -> tuple[Record, list[RuleViolation]]:
    """Read the data of an invoice; return the record, and up to 50 invalid values."""
    reader = _DataReader()
    record = reader.read(data, INVOICE, "")
    return record, reader.invalid[:MAX_INVALID]


class _DataReader:
    """Reads the record of one invoice."""

    def __init__(self) -> None:
        self.invalid: list[RuleViolation] = []

    def read(self, data: object, group: BusinessGroup, path: str) -> Record:
        if not isinstance(data, dict):
            self._report(path, f"must be a record, not {_describe(data)}")
            return {}
        record: Record = {}
        members = {member.name: member for member in group.members if member.name != PROFILE_TERM}
        for name, value in data.items():
            member = members.get(name)
            own_path = f"{path}/{str(name)[:60]}"
            if member is None:
                self._report(
                    own_path, f"is not a term of this group; accepted are {', '.join(members)}"
                )
            elif value is None or value == "":
                continue
            elif isinstance(member, BusinessTerm):
                read = self._read_term(value, member, own_path)
                if read is not None:
                    record[name] = read
            elif member.is_list:
                record[name] = self._read_list(value, member, own_path)
            else:
                record[name] = self.read(value, member, own_path)
        return record

    def _read_list(self, value: object, group: BusinessGroup, path: str) -> list[Record]:
        if not isinstance(value, list | tuple):
            self._report(path, f"must be a list of records, not {_describe(value)}")
            return []
        if len(value) > MAX_ENTRIES:
            self._report(path, f"has {len(value):,} records, accepted are {MAX_ENTRIES:,}")
            return []
        return [self.read(one, group, f"{path}/{index}") for index, one in enumerate(value)]

    def _read_term(self, value: object, term: BusinessTerm, path: str) -> object:
        try:
            return read_value(value, term.data_type)
        except ValueError as error:
            self._report(path, f"({term.number}) {error}")
            return None

    def _report(self, path: str, message: str) -> None:
        if len(self.invalid) < MAX_INVALID:
            self.invalid.append(RuleViolation("data", path or "/", message))


def read_value(value: object, kind: TermType) -> object:
    """Convert a value of data to a type.

    Raises:
        ValueError: the value is invalid; the message has the reason.
    """
    match kind:
        case TermType.AMOUNT | TermType.NUMBER:
            return _read_number(value)
        case TermType.DATE:
            return _read_date(value)
        case TermType.BINARY:
            return _read_file(value)
        case _:
            return _read_text(value)


def _read_number(value: object) -> Decimal:
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        number = Decimal(value)
        exponent = number.as_tuple().exponent
        # Bounded before it is written out: 1e999999 has a million digits.
        if isinstance(exponent, int) and exponent > -_MAX_DIGITS and number.adjusted() < 18:
            return parse_number(f"{number:f}")
        raise ValueError("must be a number of at most 18 digits before and 10 after the point")
    if isinstance(value, str):
        return parse_number(value.strip())
    raise ValueError(f"must be a number, not {_describe(value)}")


def _read_date(value: object) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if isinstance(value, str) and _ISO_DATE.fullmatch(value.strip()):
        try:
            return date.fromisoformat(value.strip())
        except ValueError:
            pass
    raise ValueError(f"must be a date, such as 2026-03-02, not {_describe(value)}")


def _read_file(value: object) -> bytes:
    message = f"must be a file in base64, not {_describe(value)}"
    if not isinstance(value, str):
        raise ValueError(message)
    return decode_file(value, message)


def _read_text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise ValueError(f"must be text, not {_describe(value)}")
    text = value if isinstance(value, str) else f"{_read_number(value):f}"
    if len(text) > MAX_TEXT:
        raise ValueError(f"has {len(text):,} characters, accepted are {MAX_TEXT:,}")
    if NOT_XML.search(text):
        raise ValueError("has a control character, which XML cannot hold")
    return text.strip()


def _describe(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | Decimal():
            return "this number"
        case str():
            return f'"{value[:40]}"'
        case dict():
            return "a record"
        case Iterable():
            return "a list"
        case _:
            return "nothing" if value is None else "this value"
