"""Spreadsheets (XLSX) as CSV, within bounds: the first sheet, its first row as the names of the columns."""

from __future__ import annotations

import csv
import io
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from shared.limits import MAX_BATCH_DOCUMENTS, MAX_CSV_COLUMNS, MB

MAX_UNPACKED_BYTES: Final = 128 * MB  # of all parts
MAX_TABLE_BYTES: Final = 8 * MB  # of the CSV, which travels in the outcome of a job
MAX_PARTS: Final = 2000
_ERROR_VALUES: Final = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A")
_ADVICE: Final = "save it as CSV UTF-8 and send it as text/csv"


class UnusableSpreadsheetError(Exception):
    """The file is not a spreadsheet that is accepted; the message has the reason and the advice."""


def convert_spreadsheet(data: bytes) -> str:
    """Return the first sheet as CSV with commas; blank rows and columns without cells are left out.

    Numbers have a point, dates and times are ISO 8601, formulas have the value that was saved with them.

    Raises:
        UnusableSpreadsheetError: it is no XLSX, is larger than accepted, or a cell has an error value.
    """
    # Here: it takes 20 MB, and few of the processes that render ever read a spreadsheet.
    from openpyxl import load_workbook

    _check_size(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of extensions that openpyxl leaves out
            book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
            sheet = book.worksheets[0]
            sheet.reset_dimensions()  # what the file says of its size may be wrong
            return _write_rows(sheet.iter_rows(values_only=True))
    except UnusableSpreadsheetError:
        raise
    # openpyxl documents no errors: a damaged part raises whatever its reader raises.
    except Exception as error:
        raise UnusableSpreadsheetError(
            f"The spreadsheet is damaged or protected; {_ADVICE}."
        ) from error


def _check_size(data: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise UnusableSpreadsheetError(
            f"The file is not an XLSX spreadsheet; {_ADVICE}."
        ) from error
    if len(parts) > MAX_PARTS or sum(each.file_size for each in parts) > MAX_UNPACKED_BYTES:
        raise UnusableSpreadsheetError(
            f"The spreadsheet has more than {MAX_UNPACKED_BYTES // MB} MB or {MAX_PARTS:,} parts when "
            f"unpacked; {_ADVICE}."
        )


def _write_rows(rows: Iterable[tuple[Any, ...]]) -> str:
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    width = 0
    for count, cells in enumerate(_take_filled(rows)):
        if count > MAX_BATCH_DOCUMENTS:
            raise UnusableSpreadsheetError(
                f"The spreadsheet has more than {MAX_BATCH_DOCUMENTS:,} rows; split it."
            )
        width = width or len(cells)
        writer.writerow(cells + [""] * (width - len(cells)))
        if table.tell() > MAX_TABLE_BYTES:
            raise UnusableSpreadsheetError(
                f"The spreadsheet has more than {MAX_TABLE_BYTES // MB} MB of text; {_ADVICE}."
            )
    return table.getvalue()


def _take_filled(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[str]]:
    """Yield the rows that have a cell with a value, without the empty cells at their end."""
    for number, row in enumerate(rows, 1):
        if len(row) > MAX_CSV_COLUMNS and any(cell is not None for cell in row[MAX_CSV_COLUMNS:]):
            raise UnusableSpreadsheetError(
                f"Row {number} of the spreadsheet has more than {MAX_CSV_COLUMNS} columns; remove some."
            )
        cells = [_write_cell(cell, number) for cell in row[:MAX_CSV_COLUMNS]]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield cells


def _write_cell(value: object, row: int) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case datetime() if value.time() == time():
            return value.date().isoformat()  # Excel stores a date as its midnight
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            minutes, seconds = divmod(round(value.total_seconds()), 60)
            return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
        case float():
            return format(value, ".15g") if value % 1 else f"{value:.0f}"
        case str() if value in _ERROR_VALUES:
            raise UnusableSpreadsheetError(
                f"Row {row} of the spreadsheet has the error {value}; mend it in the spreadsheet."
            )
    return str(value)
