"""Reader of CSV bodies, with or without a BOM, as records of a dataset (RFC 4180)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Final

from shared.encodings import detect_delimiter, explain_csv_error, find_named_delimiter
from workers.engine.merge.conversion import (
    DataReport,
    check_row_count,
    describe_missing,
    describe_value,
    make_csv_converter,
    set_value,
)
from workers.engine.merge.declarations import Dataset, Field
from workers.engine.merge.types import Convert
from workers.engine.syntax.encodings import (
    FORBIDDEN_CODE,
    EncodingError,
    decode_text,
    drop_forbidden,
    position_after,
)
from workers.engine.syntax.suggestions import suggest_name

MAX_COLUMNS: Final = 500


def read_csv(
    body: bytes, dataset: Dataset, report: DataReport, *, charset: str | None = None
) -> list[dict[str, object]]:
    """Parse a CSV body as the records of a dataset, and convert and validate them by its fields.

    An invalid cell is reported with line and column, and its value is None. Reading stops at a row
    with a wrong number of cells, as later rows may be misread. Blank lines are skipped.
    """
    try:
        text = decode_text(body, charset)
    except EncodingError as error:
        report.error("encoding", f"CSV: {error}", dataset.location)
        return []
    text = drop_forbidden(
        text, lambda what, _: report.warn(FORBIDDEN_CODE, f"CSV {what}", dataset.location)
    )
    rows = _read_records(text, dataset, report)
    check_row_count(dataset, len(rows), "CSV", report)
    return rows


# A column: its member name, its converter, and its declaration if there is one.
_Column = tuple[str, Convert | None, Field | None]


class _CsvFormatError(Exception):
    """The text is not CSV, or does not match the dataset; reading stops."""


def _read_records(text: str, dataset: Dataset, report: DataReport) -> list[dict[str, object]]:
    named = find_named_delimiter(text)
    begin = 0
    if named is not None:
        delimiter, begin = named
    else:
        delimiter = dataset.delimiter or detect_delimiter(text)
    rows = _numbered_rows(text, begin, delimiter)
    records: list[dict[str, object]] = []
    try:
        columns = _read_columns(rows, dataset, report)
        absent = dict.fromkeys(_title(field) for field in dataset.fields)
        nested = tuple(field.path for field in dataset.fields if len(field.path) > 1)
        for line, cells in rows:
            if len(cells) != len(columns):
                raise _CsvFormatError(_describe_ragged(line, len(cells), len(columns), delimiter))
            record = absent | _read_record(line, cells, columns, report)
            for path in nested:
                set_value(record, path, record.pop(".".join(path)))
            records.append(record)
            if len(records) > dataset.max_rows:
                break  # the caller reports the number of rows
    except _CsvFormatError as error:
        report.error("csv", str(error), dataset.location)
    return records


def _numbered_rows(text: str, begin: int, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows from an offset, each with the number of its first line."""
    lines = io.StringIO(text, newline="")
    lines.seek(begin)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    line = before = position_after(text[:begin])[0]
    try:
        for cells in reader:
            if cells:
                yield line, cells
            line = before + reader.line_num
    except csv.Error as error:
        raise _CsvFormatError(f"CSV line {line}: {explain_csv_error(error)}") from None


def _read_record(
    line: int, cells: list[str], columns: list[_Column], report: DataReport
) -> dict[str, object]:
    record: dict[str, object] = {}
    for (name, convert, field), cell in zip(columns, cells, strict=True):
        if not name:
            if cell:
                message = (
                    f"{_locate_cell(line, name)} is {describe_value(cell)}, which has no field"
                )
                report.warn("unknown-column", message, None)
        elif not cell:
            record[name] = None
            if field is not None and field.is_required:
                report.error(
                    "required", describe_missing(_locate_cell(line, name), field), field.location
                )
        elif convert is None:
            record[name] = cell
        else:
            try:
                record[name] = convert(cell)
            except ValueError as error:
                record[name] = None
                assert field is not None  # undeclared columns have no converter
                message = (
                    f"{_locate_cell(line, name)} is {describe_value(cell)}, accepted is {error}"
                )
                report.error("wrong-data", message, field.location)
    return record


# --- columns --------------------------------------------------------------------------------------------


def _read_columns(
    rows: Iterator[tuple[int, list[str]]], dataset: Dataset, report: DataReport
) -> list[_Column]:
    """Return the columns: those that the header row names, or without one the fields in order."""
    if not dataset.has_header:
        return [_column(field, dataset) for field in dataset.fields]
    line, names = next(rows, (1, []))
    if not any(name.strip() for name in names):
        raise _CsvFormatError("CSV line 1 is empty, accepted is a row that names the columns")
    if len(names) > MAX_COLUMNS:
        raise _CsvFormatError(f"CSV has {len(names)} columns, accepted are at most {MAX_COLUMNS}")
    columns = [_named_column(name.strip(), dataset, report) for name in names]
    members = [column[0] for column in columns]
    for member in {name for name in members if name and members.count(name) > 1}:
        raise _CsvFormatError(f"CSV line {line} names the column {describe_value(member)} twice")
    for field in dataset.fields:
        if field.is_required and _title(field) not in members:
            found = ", ".join(describe_value(name) for name in names[:20])
            raise _CsvFormatError(
                f'CSV has no column "{_title(field)}", which is required; its columns are {found}'
            )
    return columns


def _named_column(name: str, dataset: Dataset, report: DataReport) -> _Column:
    folded = name.casefold()
    for field in dataset.fields:
        if name and folded in (_title(field).casefold(), (field.label or "").strip().casefold()):
            return _column(field, dataset)
    if name and dataset.fields:
        known = {_title(field) for field in dataset.fields}
        report.report_unknown(
            "unknown-column",
            f"CSV column {describe_value(name)} is not a field of the dataset",
            suggest_name(name, known),
            dataset.location,
        )
    return name, None, None


def _column(field: Field, dataset: Dataset) -> _Column:
    return _title(field), make_csv_converter(field, decimal=dataset.decimal), field


def _title(field: Field) -> str:
    return ".".join(field.path)


# --- messages -------------------------------------------------------------------------------------------


def _locate_cell(line: int, name: str) -> str:
    return f"CSV line {line}, column {describe_value(name)}"


def _describe_ragged(line: int, cells: int, columns: int, delimiter: str) -> str:
    sign = "tab" if delimiter == "\t" else delimiter
    return (
        f'CSV line {line} has {cells} cells separated by "{sign}", accepted are {columns}, as many as '
        "there are columns"
    )
