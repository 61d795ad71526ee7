"""Rows of long tables written as blocks: objects of one form that differ in their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain, count, islice, repeat
from typing import Final, NamedTuple

from workers.engine.pdf_writer import AlignedObjects

LEAST_CELLS: Final = 200  # of a block: below, padding and two more streams save nothing
_OBJECTS: Final = 2_000  # of a stream: 120 KB decompressed; a fifth larger compressed at 1,000
_ARRAYS: Final = 100  # of a stream
# Lengths of objects are multiples of it, so that their offsets change in few digits.
_LENGTH_STEP: Final = 10


class RowRun(NamedTuple):
    """Rows of one page that follow each other, whose cells have one marked-content sequence each, in
    order, and nothing else.

    `rows` are their elements; those of the cells of each follow it. `page` counts from 1. `mcids` are
    those of the first cells.
    """

    page: int
    mcids: range
    rows: range

    @property
    def columns(self) -> list[range]:
        """The elements of the cells, by column."""
        rows = self.rows
        return [range(rows.start + at, rows.stop + at, rows.step) for at in range(1, rows.step)]

    @property
    def end(self) -> int:
        """The MCID after that of the last cell."""
        return self.mcids[-1] + self.rows.step - 1


class AlignedRows:
    """The runs of one document whose rows have cells of the same structure types, `TD` or `TH`."""

    def __init__(self, roles: Sequence[str], runs: Sequence[RowRun]) -> None:
        self.runs = runs
        self._roles = roles
        self.row_count = sum([len(run.rows) for run in runs])
        self.cell_count = self.row_count * len(roles)
        self._first_row = self._first_cell = 0  # numbers of objects

    def number(self, numbers: list[int], first: int) -> int:
        """Number the objects of the rows, then of the cells, from `first`; return the next number."""
        columns = len(self._roles)
        row = self._first_row = first
        cell = self._first_cell = first + self.row_count
        for run in self.runs:
            rows, end = run.rows, cell + len(run.rows) * columns
            numbers[rows.start : rows.stop : rows.step] = range(row, row + len(rows))
            for at, column in enumerate(run.columns, cell):
                numbers[column.start : column.stop : column.step] = range(at, end, columns)
            row, cell = row + len(rows), end
        return cell

    def write(
        self, numbers: Sequence[int], parents: Sequence[int], pages: Sequence[int]
    ) -> Iterator[AlignedObjects]:
        """Yield the rows, then the cells.

        `numbers` are those of elements, `parents` their parents, and `pages` the numbers of the pages.
        """
        digits, columns = len(str(self._first_cell + self.cell_count)), len(self._roles)
        number, cells = b"%%%dd 0 R" % digits, count(self._first_cell)
        holders = chain.from_iterable(
            [repeat(numbers[parents[run.rows.start]], len(run.rows)) for run in self.runs]
        )
        form = b"<</S/TR/P %b/K[%b]>>" % (number, b" ".join([number] * columns))
        filled = tuple(chain.from_iterable(zip(holders, *[cells] * columns, strict=False)))
        yield from _split(_pad(form, 1 + columns) * self.row_count % filled, self.row_count)
        wide, rows = len(str(max(run.end for run in self.runs))), count(self._first_row)
        written = [
            _form_cells(run.mcids, self._roles, digits, wide)
            % tuple(
                chain.from_iterable(
                    [(row, pages[run.page]) * columns for row in islice(rows, len(run.rows))]
                )
            )
            for run in self.runs
        ]
        yield from _split(b"".join(written), self.cell_count)


@lru_cache(maxsize=4)
def _form_cells(mcids: range, roles: Sequence[str], digits: int, wide: int) -> bytes:
    """Return the cells of rows, in which the numbers of parents and pages are to be set.

    `mcids` are those of the first cells; numbers have some digits, and MCIDs are `wide`.
    """
    form = b"<</P %%%dd 0 R/Pg %%%dd 0 R/K %*d/S/%b>>"
    names = [role.encode("ascii") for role in roles]
    return b"".join(
        [
            _pad(form % (digits, digits, wide, mcid, name), 2)
            for first in mcids
            for mcid, name in enumerate(names, first)
        ]
    )


def _pad(form: bytes, numbers: int) -> bytes:
    """Return a row for a form in which some numbers are to be set."""
    return b"\0" + form + b" " * (-len(form % ((0,) * numbers)) % _LENGTH_STEP)


def _split(rows: bytes, count: int) -> Iterator[AlignedObjects]:
    """Yield objects of one row each."""
    width = len(rows) // count
    for start in range(0, len(rows), width * _OBJECTS):
        part = rows[start : start + width * _OBJECTS]
        yield AlignedObjects(width - 1, range(0, len(part) - len(part) // width, width - 1), part)


def write_arrays(arrays: Sequence[Sequence[int]], digits: int) -> Iterator[AlignedObjects]:
    """Yield arrays of references to objects, whose numbers have at most some digits; 0 is for null."""
    # A row for each entry, as most numbers follow each other. The brackets are around all of them.
    entry = (b"\0 %%%dd 0 R " % digits).ljust(16)
    columns = len(entry % 0) - 1
    null = b"\0 null".ljust(columns + 1)
    for start in range(0, len(arrays), _ARRAYS):
        written = []
        for numbers in arrays[start : start + _ARRAYS]:
            rows = entry * len(numbers) % tuple(numbers) or b"\0".ljust(columns + 1)
            array = bytearray(rows.replace(entry % 0, null))
            array[1], array[-1] = b"[]"
            written.append(array)
        lengths = [len(array) // (columns + 1) * columns for array in written[:-1]]
        yield AlignedObjects(columns, (0, *accumulate(lengths)), b"".join(written))
