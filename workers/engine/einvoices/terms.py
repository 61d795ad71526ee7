"""The business terms of EN 16931 as one record: their names, types and profiles.

terms.txt is the only declaration of the record. The conversion of data, the profiles, the mappings of
syntaxes and the table in LANGUAGE.md are derived from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from importlib.resources import files
from typing import Final


class TermType(Enum):
    """The data types of terms (EN 16931-1, 6.5); the values are their names in the manual."""

    TEXT = "text"
    CODE = "code"
    AMOUNT = "amount"  # of money, with two decimals
    NUMBER = "number"
    DATE = "date"
    BINARY = "file in base64"


class Level(IntEnum):
    """The lowest profile of Factur-X that has a term; each profile has the terms of all lower ones."""

    MINIMUM = 0
    BASIC_WL = 1
    BASIC = 2
    EN16931 = 3


@dataclass(frozen=True, slots=True)
class BusinessTerm:
    """A business term: its name in the record, its number in EN 16931, and its type."""

    name: str
    number: str
    data_type: TermType
    doc: str
    level: Level


@dataclass(frozen=True, slots=True)
class BusinessGroup:
    """A group of terms: a record, or a list of records."""

    name: str
    number: str
    doc: str
    members: tuple[BusinessTerm | BusinessGroup, ...]
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class TermPath:
    """A term with its groups: `lines[].price.net` has the groups `lines` and `price`."""

    term: BusinessTerm
    groups: tuple[BusinessGroup, ...]

    @property
    def path(self) -> str:
        """The path in the record; a list is marked by `[]`."""
        steps = [group.name + "[]" * group.is_list for group in self.groups]
        return ".".join((*steps, self.term.name))


def _read_members(
    rows: Sequence[list[str]], above: str
) -> tuple[BusinessTerm | BusinessGroup, ...]:
    """Return the terms and groups of the table that are directly in a group."""
    members: list[BusinessTerm | BusinessGroup] = []
    for path, number, kind, level, doc in rows:
        group, _, name = path.rpartition(".")
        if group != above:
            continue
        if kind in ("group", "list"):
            inner = _read_members(rows, path)
            members.append(BusinessGroup(name, number, doc, inner, is_list=kind == "list"))
        else:
            data_type, lowest = TermType[kind.upper()], Level[level.upper()]
            members.append(BusinessTerm(name, number, data_type, doc, lowest))
    return tuple(members)


def _read_invoice() -> BusinessGroup:
    lines = files(__package__).joinpath("terms.txt").read_text("utf-8").splitlines()
    rows = [line.split(maxsplit=4) for line in lines if not line.startswith("#")]
    return BusinessGroup("", "", "The invoice", _read_members(rows, ""))


INVOICE: Final = _read_invoice()


def walk_terms(
    group: BusinessGroup = INVOICE, above: tuple[BusinessGroup, ...] = ()
) -> Iterator[TermPath]:
    """Yield every term with its groups, in order of declaration."""
    for member in group.members:
        if isinstance(member, BusinessTerm):
            yield TermPath(member, above)
        else:
            yield from walk_terms(member, (*above, member))


# A scheme shares the number of its identifier, which is the first of that number.
BY_NUMBER: Final = {path.term.number: path for path in reversed(list(walk_terms()))}
