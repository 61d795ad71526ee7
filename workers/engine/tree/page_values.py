"""Values of one page that expressions may read: numbers, running values and totals of tables.

Running values are the named strings of CSS Generated Content for Paged Media, 1.1 (`string-set`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Final, NamedTuple

RUNNING_MEMBERS: Final = ("start", "first", "last")


class RunningValue(NamedTuple):
    """A running value on one page.

    `start` is the value in force when the page begins, `first` the first that is set on it, and `last`
    the last; without one they are `start`.
    """

    name: str
    start: str
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class PageValues:
    """The values of `page.*` on one page.

    `number` counts from `first` in a page sequence, and `count` is its last page's; blank pages at
    the end of a sequence are not counted. `index` and `total` are of the whole document.
    """

    number: int
    count: int
    index: int
    total: int
    name: str
    is_blank: bool = False
    first: int = 1
    running: tuple[RunningValue, ...] = ()
    is_duplex: bool = False

    @property
    def is_front(self) -> bool:
        """Whether the page is the front of its sheet."""
        return not self.is_duplex or self.index % 2 == 1

    @property
    def sheet(self) -> int:
        """The number of the page's sheet in the document."""
        return count_sheets(self.index, is_duplex=self.is_duplex)

    @property
    def sheets(self) -> int:
        """The number of sheets of the document."""
        return count_sheets(self.total, is_duplex=self.is_duplex)

    @property
    def is_first(self) -> bool:
        """Whether this is the first page of its page sequence."""
        return self.number == self.first

    @property
    def is_last(self) -> bool:
        """Whether this is the last page of its page sequence."""
        return self.number == self.count


def count_sheets(pages: int, *, is_duplex: bool) -> int:
    """Return the number of sheets that pages fill."""
    return (pages + 1) // 2 if is_duplex else pages


class TotalMode(StrEnum):
    """The accumulation of a total over rows."""

    SUM = "sum"
    LAST = "last"
    COUNT = "count"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class Total:
    """A carried total of a table; `start` is None if it is empty before the first row."""

    name: str
    mode: TotalMode
    start: Decimal | None


# A value for each of a table's totals, in their order; None where there is none yet.
TotalValues = tuple[Decimal | None, ...]


@dataclass(frozen=True, slots=True)
class FragmentValues:
    """Carried totals of one fragment of a table, in the order of `Table.totals`, and page values."""

    before: TotalValues
    here: TotalValues
    after: TotalValues
    overall: TotalValues
    page: PageValues


@dataclass(frozen=True, slots=True)
class RunningValues:
    """The running values of a document: each name and text by its anchor, in document order."""

    by_anchor: Mapping[str, tuple[str, str]]

    def resolve(
        self, positions: Mapping[str, int], page_count: int
    ) -> tuple[tuple[RunningValue, ...], ...]:
        """Return the running values of each page; `positions` are the pages of anchors, from 1."""
        set_on: dict[int, dict[str, list[str]]] = {}
        for anchor, (name, text) in self.by_anchor.items():
            if anchor in positions:  # not cut off
                set_on.setdefault(positions[anchor], {}).setdefault(name, []).append(text)
        current: dict[str, str] = {}
        pages = []
        values: tuple[RunningValue, ...] = ()
        for position in range(1, page_count + 1):
            found = set_on.get(position, {})
            if found or position - 1 in set_on:
                values = tuple(
                    _find_value(name, current.get(name, ""), found.get(name))
                    for name in dict.fromkeys((*current, *found))
                )
                current |= {value.name: value.last for value in values}
            pages.append(values)
        return tuple(pages)


def _find_value(name: str, start: str, texts: list[str] | None) -> RunningValue:
    first, last = (texts[0], texts[-1]) if texts else (start, start)
    return RunningValue(name, start, first, last)
