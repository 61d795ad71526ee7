"""Rows of tables whose cells have one marked-content sequence each, in order: a run is written from
numbers instead of an object a cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, count
from typing import Final, NamedTuple

from workers.engine.aligned_rows import DigitRows, PredictedObjects, digit_columns

# Lengths of objects are multiples of it, so that their offsets change in few digits.
LENGTH_STEP: Final = 10
# The first cell of a row has a multiple as its MCID, so that of a cell ends in one digit in all rows.
ALIGNED_MCIDS: Final = 10
_REFERENCE: Final = b" 0 R "


class RowRun(NamedTuple):
    """Rows of one page that follow each other, and their cells.

    The cells of a row are the elements after it. Their MCIDs start at `mcid`, and a row's are `step`
    after those of the row before.
    """

    mcid: int
    step: int
    rows: range  # elements, from each row to the next

    @property
    def columns(self) -> int:
        """The number of cells in each row."""
        return self.rows.step - 1

    @property
    def mcids(self) -> range:
        """The MCID of the first cell of each row."""
        return range(self.mcid, self.mcid + len(self.rows) * self.step, self.step)

    @property
    def end(self) -> int:
        """The MCID after the last cell."""
        return self.mcid + (len(self.rows) - 1) * self.step + self.columns

    @property
    def is_aligned(self) -> bool:
        """Whether its rows begin with lines of the parent tree."""
        return self.mcid % ALIGNED_MCIDS == self.step % ALIGNED_MCIDS == 0

    def spell_out(self, owners: list[int | None]) -> None:
        """Record the elements of its cells by their MCIDs."""
        for at in range(1, self.rows.step):
            elements = range(self.rows.start + at, self.rows.stop, self.rows.step)
            owners[self.mcid + at - 1 : self.end : self.step] = elements


class RunGroup:
    """The runs of one document whose rows have the same kinds of cells."""

    def __init__(self, roles: Sequence[str]) -> None:
        self.roles = roles
        self.runs: list[RowRun] = []
        self.pages: list[int] = []  # of the runs, from 1
        self.row_count = 0
        self.first_row = self.first_cell = 0  # numbers of objects

    def add(self, run: RowRun, page: int) -> None:
        """Add a run of a page."""
        self.runs.append(run)
        self.pages.append(page)
        self.row_count += len(run.rows)

    @property
    def cell_count(self) -> int:
        """The number of cells."""
        return self.row_count * len(self.roles)

    def number(self, numbers: list[int], first: int) -> int:
        """Number the objects of the rows, then of the cells, from `first`; return the next number."""
        columns = len(self.roles)
        self.first_row, self.first_cell = first, first + self.row_count
        row, cell = self.first_row, self.first_cell
        for run in self.runs:
            count, elements = len(run.rows), run.rows
            numbers[elements.start : elements.stop : elements.step] = range(row, row + count)
            row, end = row + count, cell + count * columns
            numbers[elements.stop - columns : elements.stop] = range(end - columns, end)
            for at in range(columns):
                cells = range(cell + at, end, columns)
                numbers[elements.start + 1 + at : elements.stop : elements.step] = cells
            cell = end
        return cell

    def write(self, parents: Sequence[int], pages: Sequence[int]) -> Iterator[PredictedObjects]:
        """Yield the rows, then the cells, as aligned objects.

        `parents` and `pages` are the numbers of the parents of each run's rows, and of its page.
        """
        counts = [len(run.rows) for run in self.runs]
        digits = len(str(self.first_cell + self.cell_count))
        yield self._write_rows(_repeat_numbers(parents, counts, digits), digits)
        yield self._write_cells(_repeat_numbers(pages, counts, digits), digits)

    def _write_rows(self, parents: Sequence[bytes], digits: int) -> DigitRows:
        columns, blank = len(self.roles), b" " * digits
        start, middle, between = b"<</S/TR/P ", b" 0 R/K[", b" 0 R "
        form = start + blank + middle + between.join([blank] * columns) + b" 0 R]>>"
        rows = DigitRows([_pad(form, len(form))], self.row_count)
        places = [len(start)]
        step = digits + len(between)
        places += range(len(start) + digits + len(middle), len(form), step)[:columns]
        written = [*parents]
        for number in range(self.first_cell, self.first_cell + columns):
            written += digit_columns(range(number, number + self.cell_count, columns), digits)
        rows.set_digits([at for place in places for at in range(place, place + digits)], written)
        return rows

    def _write_cells(self, pages: Sequence[bytes], digits: int) -> DigitRows:
        start, middle, before = b"<</P ", b" 0 R/Pg ", b" 0 R/K "
        last = max(run.end for run in self.runs)
        blank, mcid_digits = b" " * digits, len(str(last))
        form = start + blank + middle + blank + before + b" " * mcid_digits
        forms = [b"%b/S/%b>>" % (form, role.encode("ascii")) for role in self.roles]
        length = max(map(len, forms))
        cells = DigitRows([_pad(each, length) for each in forms], self.row_count)
        first = len(start)
        second = first + digits + len(middle)
        third = second + digits + len(before)
        numbers = digit_columns(range(self.first_row, self.first_cell), digits)
        cells.set_digits(count(first), numbers)
        cells.set_digits(count(second), pages)
        cells.set_digits(count(third), self._mcids(mcid_digits))
        return cells

    def _mcids(self, digits: int) -> list[bytes]:
        """Return columns of the MCIDs of all cells."""
        columns = len(self.roles)
        known: dict[range, list[bytes]] = {}
        for mcids in {run.mcids for run in self.runs}:
            texts = [bytearray(len(mcids) * columns) for _ in range(digits)]
            for at in range(columns):
                numbers = range(mcids.start + at, mcids.stop + at, mcids.step)
                for text, column in zip(texts, digit_columns(numbers, digits), strict=True):
                    text[at::columns] = column
            known[mcids] = [bytes(text) for text in texts]
        return _join([known[run.mcids] for run in self.runs])

    def refer_to_cells(self, digits: int) -> Iterator[tuple[int, bytes]]:
        """Yield the first element of each run that fits into lines of the parent tree, and the lines
        of its rows but the last, which other sequences may follow.
        """
        columns = len(self.roles)
        step = next((run.step for run in self.runs if run.is_aligned), 0)
        if not step:
            return
        size, blank = digits + len(_REFERENCE), b" " * digits
        form = _break_lines(columns * [blank + _REFERENCE] + (step - columns) * [_write_null(size)])
        lines = bytearray(form * self.row_count)
        line = len(form) * ALIGNED_MCIDS // step
        for at in range(columns):
            cells = range(self.first_cell + at, self.first_cell + self.cell_count, columns)
            place = at // ALIGNED_MCIDS * line + 2 + at % ALIGNED_MCIDS * size
            for digit, column in enumerate(digit_columns(cells, digits), place):
                lines[digit :: len(form)] = column
        start = 0
        for run in self.runs:
            end = start + len(run.rows) * len(form)
            if run.is_aligned:
                yield run.rows.start, bytes(lines[start : end - len(form)])
            start = end


class ParentLines:
    """Arrays of the parent tree in lines of ten entries, so that rows of tables begin with one."""

    def __init__(self, numbers: Sequence[int], groups: Sequence[RunGroup], digits: int) -> None:
        self._numbers = numbers
        self._form = b"%%%dd" % digits + _REFERENCE
        self._null = _write_null(digits + len(_REFERENCE))
        self.columns = len(self._null) * ALIGNED_MCIDS + 2
        self._runs = dict(chain.from_iterable(group.refer_to_cells(digits) for group in groups))

    def write(self, owners: Sequence[int | None], runs: Sequence[RowRun]) -> bytes:
        """Write the elements of the sequences of one content stream, by MCID."""
        parts: list[bytes] = []
        at, last_row = 0, range(0)
        for run in runs:
            known = self._runs.get(run.rows.start)
            if known is not None:
                parts += (self._write_lines([*last_row, *owners[at : run.mcid]]), known)
                at, last_row = run.end, range(run.rows.stop - run.columns, run.rows.stop)
        parts.append(self._write_lines([*last_row, *owners[at:]]))
        lines = bytearray(b"".join(parts)) or bytearray(b"\0" + b" " * self.columns)
        lines[1], lines[-1] = b"[]"
        return bytes(lines)

    def _write_lines(self, owners: Sequence[int | None]) -> bytes:
        numbers = self._numbers
        blank = -len(owners) % ALIGNED_MCIDS
        return _break_lines(
            [self._null if owner is None else self._form % numbers[owner] for owner in owners]
            + [b" " * len(self._null)] * blank
        )


def _break_lines(entries: Sequence[bytes]) -> bytes:
    """Return lines of ten entries, with places for the brackets of the array."""
    starts = range(0, len(entries), ALIGNED_MCIDS)
    return b"".join([b"\0 %b " % b"".join(entries[at : at + ALIGNED_MCIDS]) for at in starts])


def _write_null(size: int) -> bytes:
    return b"null".ljust(size)


def _pad(form: bytes, length: int) -> bytes:
    return form.ljust(length + -length % LENGTH_STEP)


def _repeat_numbers(numbers: Sequence[int], counts: Sequence[int], digits: int) -> list[bytes]:
    """Return the columns of numbers, each repeated as often as its count says."""
    return _join(
        [
            [digit * count for digit in _cut(b"%*d" % (digits, number))]
            for number, count in zip(numbers, counts, strict=True)
        ]
    )


def _cut(text: bytes) -> list[bytes]:
    return [text[at : at + 1] for at in range(len(text))]


def _join(parts: Sequence[Sequence[bytes]]) -> list[bytes]:
    """Return the columns of parts below one another."""
    return [b"".join(columns) for columns in zip(*parts, strict=True)]
