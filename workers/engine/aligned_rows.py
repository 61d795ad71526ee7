"""Objects as rows of bytes, predicted from the row above by PNG's Up filter (PDF 1.7, 7.4.4.4).

Rows that differ in counters compress to a tenth of what their text does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple

_UNCHANGED: Final = b"\0"  # PNG's filter None, the first byte of each row
_CHANGED: Final = b"\2"  # and its filter Up
_TILED: Final = 4  # digits whose columns are cut from repeated ones: at most 10 KB each


class AlignedObjects(NamedTuple):
    """Similar objects of one stream, padded so that equal parts are below one another in rows.

    `rows` are their bodies, each of one or more rows of `columns` bytes, at least 16, predicted and
    after their filter; the first one is not predicted. `offsets` are where each body starts without
    the filters: a tuple or a range, to be a key.
    """

    columns: int
    offsets: Sequence[int]
    rows: bytes


class DigitRows:
    """Objects of one row each: forms of one width, repeated in turn, but for columns of digits."""

    def __init__(self, forms: Sequence[bytes], repeats: int) -> None:
        """Forms have blanks in place of digits."""
        self.columns = len(forms[0])
        self._forms = forms
        self._repeats = repeats
        around = b"".join([_UNCHANGED + form for form in (forms[-1], *forms)])
        changes = predict_rows(around, self.columns)[self.columns + 1 :]
        self._changes = bytearray(changes) * repeats
        self._digits: list[tuple[int, bytes]] = []

    def __len__(self) -> int:
        return len(self._forms) * self._repeats

    def set_digits(self, places: Iterable[int], columns: Sequence[bytes]) -> None:
        """Set columns of digits, all of one length: a digit for every row, or for all rows of each
        repetition.
        """
        count = len(columns[0])
        step = len(self) // count * (self.columns + 1)
        # The first change of a column does not count: the row above is in another stream.
        changes = _predict_column(b"".join(columns))
        for at, (place, column) in enumerate(zip(places, columns, strict=False)):
            self._digits.append((place, column))
            if column.count(column[:1]) < count:
                self._changes[place + 1 :: step] = changes[at * count : (at + 1) * count]

    def split(self, count: int) -> Iterator[AlignedObjects]:
        """Yield the objects, `count` at a time."""
        width = self.columns + 1
        for start in range(0, len(self), count):
            end = min(start + count, len(self))
            first = bytearray(self._forms[start % len(self._forms)])
            for place, column in self._digits:
                first[place] = column[start * len(column) // len(self)]
            changes = memoryview(self._changes)[(start + 1) * width : end * width]
            offsets = range(0, (end - start) * self.columns, self.columns)
            yield AlignedObjects(self.columns, offsets, b"".join((_UNCHANGED, first, changes)))


def predict_rows(rows: bytes, columns: int) -> bytes:
    """Return rows, each a zero byte and `columns` bytes, as changes from the row above.

    All rows are one long integer, for speed. The upper bit of each byte is set for the subtraction
    and turned afterwards, so that no byte borrows from the next; upper bits of the rows above, which
    only binary rows have, are subtracted separately.
    """
    upper, turned = _row_masks(len(rows) // (columns + 1), columns)
    now = int.from_bytes(rows, "big")
    above = now >> 8 * (columns + 1)
    if rows.isascii():
        change = ((now | upper) - above) ^ turned
    else:
        change = ((now | upper) - (above & ~upper)) ^ ((now ^ above) & upper) ^ turned
    return change.to_bytes(len(rows), "big")


@lru_cache(maxsize=4)
def _row_masks(count: int, columns: int) -> tuple[int, int]:
    """Return the upper bits of all bytes, and with them the filters of all rows."""
    upper = int.from_bytes(b"\x80" * count * (columns + 1), "big")
    return upper, upper | int.from_bytes((_CHANGED + bytes(columns)) * count, "big")


def _predict_column(column: bytes) -> bytes:
    """Return the changes of one column of ASCII characters from row to row, 0 for the first row."""
    upper = _upper_bits(len(column))
    now = int.from_bytes(column, "big")
    above = now >> 8 | column[0] << 8 * (len(column) - 1)
    return (((now | upper) - above) ^ upper).to_bytes(len(column), "big")


@lru_cache(maxsize=4)
def _upper_bits(count: int) -> int:
    return int.from_bytes(b"\x80" * count, "big")


def digit_columns(numbers: range, digits: int) -> list[bytes]:
    """Return a column for each digit of ascending numbers, the highest first, with blanks before
    them.
    """
    start, count = numbers.start, numbers[-1] - numbers.start + 1
    return [_digits_at(start, count, place)[:: numbers.step] for place in reversed(range(digits))]


def _digits_at(start: int, count: int, place: int) -> bytes:
    """Return the digits of consecutive numbers that count the power of ten of a place."""
    size = 10**place
    if place < _TILED:
        tile = _tile(place)
        at = start % len(tile)
        column = (tile * ((at + count) // len(tile) + 1))[at : at + count]
    else:
        first, last = start // size, (start + count - 1) // size
        tens = b"".join([b"%d" % (number % 10) * size for number in range(first, last + 1)])
        column = tens[start - first * size :][:count]
    blanks = min(size - start, count) if place else 0
    return b" " * blanks + column[blanks:] if blanks > 0 else column


@cache
def _tile(place: int) -> bytes:
    return b"".join([b"%d" % digit * 10**place for digit in range(10)])
