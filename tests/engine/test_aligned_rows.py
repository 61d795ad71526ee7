"""Rows predicted from the row above are, read again, what was to be written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workers.engine.aligned_rows import DigitRows, digit_columns, predict_rows

NUMBERS = st.builds(
    lambda start, count, step: range(start, start + count * step, step),
    st.integers(0, 2_000_000),
    st.integers(1, 300),
    st.sampled_from([1, 2, 8, 10, 37, 1000]),
)


def read_rows(rows: bytes, columns: int) -> list[bytes]:
    """Undo PNG's filters None and Up (PDF 1.7, 7.4.4.4)."""
    above, found = bytes(columns), []
    for at in range(0, len(rows), columns + 1):
        kind, row = rows[at], rows[at + 1 : at + columns + 1]
        assert kind in (0, 2)
        above = bytes((a + b) % 256 for a, b in zip(row, above, strict=True)) if kind else row
        found.append(above)
    return found


def read_objects(objects: DigitRows, count: int) -> list[bytes]:
    """Return all objects, `count` in a stream."""
    found: list[bytes] = []
    for columns, offsets, rows in objects.split(count):
        assert rows[:1] == b"\0"  # another row may be above
        data = b"".join(read_rows(rows, columns))
        ends = [*offsets[1:], len(data)]
        found += [data[start:end] for start, end in zip(offsets, ends, strict=True)]
        assert len(offsets) <= count
    assert len(found) == len(objects)
    return found


@given(NUMBERS)
def test_columns_of_digits_are_those_of_the_numbers(numbers):
    digits = len(str(numbers[-1]))
    written = b"".join(b"%*d" % (digits, number) for number in numbers)
    assert digit_columns(numbers, digits) == [written[at::digits] for at in range(digits)]


@given(st.integers(1, 40), st.data())
def test_rows_of_any_bytes_are_predicted(columns, data):
    rows = data.draw(st.lists(st.binary(min_size=columns, max_size=columns), min_size=1))
    lined = b"".join(b"\0" + row for row in rows)
    assert read_rows(predict_rows(lined, columns), columns) == rows


@given(
    forms=st.lists(
        st.text("abc/<", min_size=6, max_size=6).map(str.encode), min_size=1, max_size=4
    ),
    each=NUMBERS,
    count=st.integers(1, 50),
)
def test_forms_are_repeated_with_other_digits(forms, each, count):
    digits = len(str(each[-1]))
    blank = b" " * digits
    rows = DigitRows([form + blank + blank for form in forms], len(each))
    rows.set_digits(range(6, 6 + digits), digit_columns(each, digits))
    all_rows = range(len(each) * len(forms))
    wide = len(str(all_rows[-1]))
    rows.set_digits(
        range(6 + digits, 6 + digits + min(wide, digits)), digit_columns(all_rows, wide)
    )
    expected = []
    for at in all_rows:
        second = (b"%*d" % (wide, at))[:digits].ljust(digits)
        expected.append(forms[at % len(forms)] + b"%*d" % (digits, each[at // len(forms)]) + second)
    assert read_objects(rows, count) == expected
