"""XLSX as the body of a batch: the first sheet is converted by a worker, within bounds."""

from __future__ import annotations

import io
import zipfile
from datetime import date, datetime, time, timedelta

import pytest
from openpyxl import Workbook

from api.render.inspection import SPREADSHEET_TYPE
from workers.render import spreadsheets
from workers.render.spreadsheets import UnusableSpreadsheetError, convert_spreadsheet

ROWS = [
    ["number", "buyer.name", "date"],
    ["R-1", 'Ada, "A"', date(2026, 11, 27)],
    [],
    [2, None, datetime.fromisoformat("2026-11-27T10:30:00")],
]
TABLE = 'number,buyer.name,date\nR-1,"Ada, ""A""",2026-11-27\n2,,2026-11-27T10:30:00\n'


def write(rows) -> bytes:
    book = Workbook()
    for row in rows:
        book.active.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


@pytest.mark.usefixtures("upload_worker")
def test_a_batch_of_a_spreadsheet_has_a_document_for_each_row(caller, template):
    answer = caller.post(
        f"/v2/batches?template={template}", data=write(ROWS), content_type=SPREADSHEET_TYPE
    )
    assert (answer.status_code, answer.json["total"]) == (202, 2)
    shown = caller.post("/v2/spreadsheets/convert", data=write(ROWS), content_type=SPREADSHEET_TYPE)
    assert (shown.content_type, shown.text) == ("text/csv; charset=utf-8", TABLE)


@pytest.mark.usefixtures("upload_worker")
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"number\nR-1\n", "not an XLSX spreadsheet; save it as CSV"),
        (write([]), "The CSV is empty; its first row names the columns"),
        (write([["number", "number"], [1, 2]]), "two columns named 'number'"),
        (write([["number"]]), "contains no document"),
    ],
)
def test_a_spreadsheet_that_is_no_batch_is_refused(caller, template, body, reason):
    answer = caller.post(
        f"/v2/batches?template={template}", data=body, content_type=SPREADSHEET_TYPE
    )
    assert answer.status_code == 400
    assert reason in answer.json["message"]


def test_cells_are_written_as_people_see_them():
    cells = [1.0, 0.1 + 0.2, True, time(9, 5), timedelta(hours=30, minutes=5), "x\ny", "=1+1"]
    text = convert_spreadsheet(write([list("abcdefg"), cells, ["end"] * 7]))
    # A formula without a saved value is empty: it is not evaluated.
    assert text.splitlines()[1:3] == ['1,0.3,true,09:05:00,30:05:00,"x', 'y",']


def test_an_error_value_names_its_row():
    with pytest.raises(UnusableSpreadsheetError, match=r"Row 2 .* #N/A"):
        convert_spreadsheet(write([["a"], ["#N/A"]]))


@pytest.mark.parametrize(
    ("bound", "value", "reason"),
    [
        ("MAX_UNPACKED_BYTES", 1000, "when unpacked"),
        ("MAX_PARTS", 2, "when unpacked"),
        ("MAX_CSV_COLUMNS", 2, "Row 1 .* more than 2 columns"),
        ("MAX_BATCH_DOCUMENTS", 1, "more than 1 rows"),
        ("MAX_TABLE_BYTES", 20, "of text"),
    ],
)
def test_what_is_read_is_bounded(monkeypatch, bound, value, reason):
    monkeypatch.setattr(spreadsheets, bound, value)
    with pytest.raises(UnusableSpreadsheetError, match=reason):
        convert_spreadsheet(write(ROWS))


def test_a_damaged_part_is_refused():
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(write(ROWS))) as source, zipfile.ZipFile(file, "w") as target:
        for each in source.namelist():
            text = source.read(each)
            target.writestr(each, text[: len(text) // 2] if "sheet1" in each else text)
    with pytest.raises(UnusableSpreadsheetError, match="damaged or protected"):
        convert_spreadsheet(file.getvalue())
