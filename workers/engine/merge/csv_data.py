"""CSV bytes become the records of a dataset; every fault names its line (RFC 4180, language.md 1.3)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any, Final

from workers.engine.merge.conversion import (
    DataReport,
    check_row_count,
    csv_converter,
    described,
    is_missing,
    put_value,
)
from workers.engine.merge.declarations import Dataset, Field
from workers.engine.merge.json_data import FORBIDDEN_CHARACTERS
from workers.engine.merge.types import Convert
from workers.engine.syntax.encodings import EncodingError, decode_text, position_after
from workers.engine.syntax.suggestions import nearest

MAX_COLUMNS: Final = 500
_DELIMITERS: Final = (",", ";", "\t", "|")
_QUOTED: Final = re.compile(r'"[^"]*+"')


def read_csv(
    body: bytes, dataset: Dataset, report: DataReport, *, charset: str | None = None
) -> list[dict[str, Any]]:
    """Read a CSV body as the records of a dataset, converted and checked by its fields.

    A wrong cell is told with line and column and reads as empty; a ragged row ends the reading,
    since nothing after it can be trusted. Blank lines are passed over.
    """
    try:
        text = decode_text(body, charset)
    except EncodingError as error:
        report.error("encoding", f"CSV: {error}", dataset.place)
        return []
    forbidden = FORBIDDEN_CHARACTERS.search(text)
    if forbidden:
        line, column = position_after(text[: forbidden.start()])
        report.error(
            "csv",
            f"CSV line {line}, position {column} holds the character U+{ord(forbidden[0]):04X}, which "
            "no document may hold",
            dataset.place,
        )
        return []
    rows = _read_records(text, dataset, report)
    check_row_count(dataset, len(rows), "CSV", report)
    return rows


# A column of the text: the member it becomes, its reader, and its declaration if it has one.
_Column = tuple[str, Convert | None, Field | None]


class _CsvError(Exception):
    """The text is not CSV, or not of this dataset: nothing after this point can be trusted."""


def _read_records(text: str, dataset: Dataset, report: DataReport) -> list[dict[str, Any]]:
    delimiter = dataset.delimiter or _detect_delimiter(text)
    rows = _numbered_rows(text, delimiter)
    records: list[dict[str, Any]] = []
    try:
        columns = _read_columns(rows, dataset, report)
        absent = dict.fromkeys(_title(field) for field in dataset.fields)
        nested = tuple(field.path for field in dataset.fields if len(field.path) > 1)
        for line, cells in rows:
            if len(cells) != len(columns):
                raise _CsvError(_ragged(line, len(cells), len(columns), delimiter))
            record = absent | _read_record(line, cells, columns, report)
            for path in nested:
                put_value(record, path, record.pop(".".join(path)))
            records.append(record)
            if len(records) > dataset.max_rows:
                break  # the caller tells the number; the rest need not be read
    except _CsvError as error:
        report.error("csv", str(error), dataset.place)
    return records


def _numbered_rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Walk the rows, each with the number of its first line."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise _CsvError(f"CSV line {line}: {_in_plain_words(str(error))}") from None


def _detect_delimiter(text: str) -> str:
    """Choose the sign that is most frequent in the first line, outside of quotes."""
    first = _QUOTED.sub("", text.lstrip()[:100_000]).split("\n", 1)[0]
    return max(_DELIMITERS, key=first.count)


def _read_record(
    line: int, cells: list[str], columns: list[_Column], report: DataReport
) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for (name, convert, field), cell in zip(columns, cells, strict=True):
        if not cell:
            record[name] = None
            if field is not None and field.is_required:
                report.error("required", is_missing(_where(line, name), field), field.place)
        elif convert is None:
            record[name] = cell
        else:
            try:
                record[name] = convert(cell)
            except ValueError as error:
                record[name] = None
                assert field is not None  # only declared columns are converted
                report.error(
                    "wrong-data",
                    f"{_where(line, name)} is {described(cell)}, accepted is {error}",
                    field.place,
                )
    return record


# --- columns --------------------------------------------------------------------------------------------


def _read_columns(
    rows: Iterator[tuple[int, list[str]]], dataset: Dataset, report: DataReport
) -> list[_Column]:
    """Give the columns: those the first row names, or without a header the fields in order."""
    if not dataset.has_header:
        return [_column(field, dataset) for field in dataset.fields]
    line, names = next(rows, (1, []))
    if not any(name.strip() for name in names):
        raise _CsvError("CSV line 1 is empty, accepted is a row that names the columns")
    if len(names) > MAX_COLUMNS:
        raise _CsvError(f"CSV has {len(names)} columns, accepted are at most {MAX_COLUMNS}")
    columns = [_named_column(name.strip(), dataset, report) for name in names]
    members = [column[0] for column in columns]
    for member in {name for name in members if members.count(name) > 1}:
        raise _CsvError(f'CSV line {line} names the column "{described(member)}" twice')
    for field in dataset.fields:
        if field.is_required and _title(field) not in members:
            found = ", ".join(described(name) for name in names[:20])
            raise _CsvError(
                f'CSV has no column "{_title(field)}", which is required; its columns are {found}'
            )
    return columns


def _named_column(name: str, dataset: Dataset, report: DataReport) -> _Column:
    folded = name.casefold()
    for field in dataset.fields:
        if folded in (_title(field).casefold(), (field.label or "").strip().casefold()):
            return _column(field, dataset)
    if dataset.fields:
        known = {_title(field) for field in dataset.fields}
        report.warn(
            "unknown-column",
            f"CSV column {described(name)} is not a field of the dataset{nearest(name, known)}",
            dataset.place,
        )
    return name, None, None


def _column(field: Field, dataset: Dataset) -> _Column:
    return _title(field), csv_converter(field, decimal=dataset.decimal), field


def _title(field: Field) -> str:
    return ".".join(field.path)


# --- messages -------------------------------------------------------------------------------------------


def _where(line: int, name: str) -> str:
    return f'CSV line {line}, column "{name}"'


def _ragged(line: int, cells: int, columns: int, delimiter: str) -> str:
    sign = "tab" if delimiter == "\t" else delimiter
    return (
        f'CSV line {line} has {cells} cells separated by "{sign}", accepted are {columns}, as many as '
        "there are columns"
    )


def _in_plain_words(message: str) -> str:
    if "end of data" in message:
        return "the quote that opens here is not closed"
    if "expected after" in message:
        return "text follows a closing quote; a quote inside quotes is written twice"
    if "field limit" in message:
        return "a cell has more than 131,072 characters"
    return message
