"""Rows of long tables written as blocks: objects of one form that differ in their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, count
from typing import Final, NamedTuple

from workers.engine.aligned_rows import AlignedObjects, DigitRows, digit_columns, predict_rows

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
    def end(self) -> int:
        """The MCID after that of the last cell."""
        return self.mcids[-1] + self.rows.step - 1


class AlignedRows:
    """The runs of one document whose rows have cells of the same structure types, `TD` or `TH`."""

    def __init__(self, roles: Sequence[str]) -> None:
        self.runs: list[RowRun] = []
        self._roles = roles
        self._first_row = self._first_cell = 0  # numbers of objects

    @property
    def row_count(self) -> int:
        """The number of rows."""
        return sum([len(run.rows) for run in self.runs])

    @property
    def cell_count(self) -> int:
        """The number of cells."""
        return self.row_count * len(self._roles)

    def number(self, numbers: list[int], first: int) -> int:
        """Number the objects of the rows, then of the cells, from `first`; return the next number."""
        columns = len(self._roles)
        row = self._first_row = first
        cell = self._first_cell = first + self.row_count
        for run in self.runs:
            rows, end = run.rows, cell + len(run.rows) * columns
            numbers[rows.start : rows.stop : rows.step] = range(row, row + len(rows))
            for at in range(columns):
                place = slice(rows.start + 1 + at, rows.stop, rows.step)
                numbers[place] = range(cell + at, end, columns)
            row, cell = row + len(rows), end
        return cell

    def write(self, parents: Sequence[int], pages: Sequence[int]) -> Iterator[AlignedObjects]:
        """Yield the rows, then the cells.

        `parents` are the numbers of the parents of the rows of each run, `pages` those of the pages,
        from 1.
        """
        digits = len(str(self._first_cell + self.cell_count))
        counts = [len(run.rows) for run in self.runs]
        yield from self._write_rows(_repeat(parents, counts, digits), digits)
        yield from self._write_cells(
            _repeat([pages[run.page] for run in self.runs], counts, digits), digits
        )

    def _write_rows(self, parents: Sequence[bytes], digits: int) -> Iterator[AlignedObjects]:
        columns, blank = len(self._roles), b" " * digits
        start, between = b"<</S/TR/P ", b" 0 R/K["
        form = start + blank + between + b" 0 R ".join([blank] * columns) + b" 0 R]>>"
        rows = DigitRows([_pad(form)], self.row_count)
        rows.set_digits(count(len(start)), parents)
        place = len(start) + digits + len(between)
        end = self._first_cell + self.cell_count
        for cell in range(self._first_cell, self._first_cell + columns):
            rows.set_digits(count(place), digit_columns(range(cell, end, columns), digits))
            place += digits + len(b" 0 R ")
        return rows.split(_OBJECTS)

    def _write_cells(self, pages: Sequence[bytes], digits: int) -> Iterator[AlignedObjects]:
        first, second, third = b"<</P ", b" 0 R/Pg ", b" 0 R/K "
        wide, blank = len(str(max(run.end for run in self.runs))), b" " * digits
        form = first + blank + second + blank + third + b" " * wide + b"/S/%b>>"
        forms = [_pad(form % role.encode("ascii")) for role in self._roles]
        cells = DigitRows(forms, self.row_count)
        place = len(first)
        cells.set_digits(
            count(place), digit_columns(range(self._first_row, self._first_cell), digits)
        )
        place += digits + len(second)
        cells.set_digits(count(place), pages)
        place += digits + len(third)
        mcids = [_cell_mcids(run.mcids, len(self._roles), wide) for run in self.runs]
        cells.set_digits(count(place), [b"".join(each) for each in zip(*mcids, strict=True)])
        return cells.split(_OBJECTS)


@lru_cache(maxsize=4)
def _cell_mcids(mcids: range, columns: int, digits: int) -> Sequence[bytes]:
    """Return columns of the digits of the MCIDs of all cells; `mcids` are those of the first ones."""
    text = b"".join([b"%*d" % (digits, mcid + at) for mcid in mcids for at in range(columns)])
    return [text[at::digits] for at in range(digits)]


def _repeat(numbers: Sequence[int], counts: Sequence[int], digits: int) -> list[bytes]:
    """Return columns of the digits of numbers, each repeated as often as its count says."""
    text = b"".join(
        [b"%*d" % (digits, n) * count for n, count in zip(numbers, counts, strict=True)]
    )
    return [text[at::digits] for at in range(digits)]


def _pad(form: bytes) -> bytes:
    return form + b" " * (-len(form) % _LENGTH_STEP)


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
        rows = predict_rows(b"".join(written), columns)
        yield AlignedObjects(columns, (0, *accumulate(lengths)), b"\0" + rows[1:])
