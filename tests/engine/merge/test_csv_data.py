"""CSV payloads: dialects, columns, and findings that name line and column."""

from __future__ import annotations

from contextlib import suppress
from datetime import date
from decimal import Decimal

import pytest
from babel.localedata import locale_identifiers
from babel.numbers import UnsupportedNumberingSystemError, format_decimal, get_decimal_symbol

from tests.engine.merge.documents import Outcome, merge, with_data
from workers.engine.merge.types import FieldType, make_csv_reader
from workers.engine.ports import PayloadKind

STATEMENT = """
  <json>{"opening": 10, "rows": []}</json>
  <dataset name="rows" csv="true" %s>
    <field name="date" type="date" required="true" label="Booked on"/>
    <field name="details" required="true" maxlength="20"/>
    <field name="amount" type="decimal"/>
  </dataset>"""


def read(body: str | bytes, attributes: str = "", *, charset: str | None = None) -> Outcome:
    return merge(with_data(STATEMENT % attributes), body, PayloadKind.CSV, charset=charset)


ROW = {"date": date(2026, 1, 2), "details": "Card", "amount": Decimal("12.40")}


@pytest.mark.parametrize(
    "body",
    [
        "date,details,amount\n2026-01-02,Card,12.40\n",
        "amount;DETAILS; Booked on \r\n12.40;Card;2026-01-02",
        "date\tdetails\tamount\r\n2026-01-02\tCard\t12.40\r\n",
        "date|details|amount\n\n2026-01-02|Card|12.40\n\n",
        "sep=;\ndate;details;amount\n2026-01-02;Card;12.40\n",
        '"SEP=|"\r\ndate|details|amount\r\n2026-01-02|Card|12.40\r\n',
        "sep=^\r\rdate^details^amount\r2026-01-02^Card^12.40\r",
        '"date","details","amount"\n"2026-01-02","Card","12.40"',
    ],
)
def test_dialects_are_detected_and_columns_found_by_name_or_label(body: str):
    outcome = read(body)
    assert outcome.findings == ()
    assert outcome.data == {"opening": Decimal(10), "rows": [ROW]}


def test_a_byte_order_mark_and_a_charset_are_understood():
    body = "date,details\n2026-01-02,Grüße\n"
    assert read(body.encode("utf-8-sig")).data["rows"][0]["details"] == "Grüße"
    assert read(body.encode("latin-1"), charset="ISO-8859-1").data["rows"][0]["details"] == "Grüße"
    assert read(body.encode("latin-1")).only.code == "encoding"
    assert read(body, charset="rot13").only.code == "encoding"


@pytest.mark.parametrize("charset", ["shift_jis", "euc_jp", "gb18030", "big5"])
def test_every_charset_that_the_front_accepts_is_read(charset: str):
    body = "date,amount,details\n2026-03-02,1.50,漢字\n"
    assert read(body.encode(charset), charset=charset).data["rows"][0]["details"] == "漢字"


def test_csv_in_utf_32_is_refused_by_name():
    outcome = read("date\n".encode("utf-32"))
    assert outcome.only.code == "encoding"
    assert '"utf-32" is not accepted; accepted are UTF-8' in outcome.only.message


def test_quoted_cells_hold_signs_quotes_and_line_ends():
    outcome = read('date,details,amount\n2026-01-02,"a, ""b""\nc",1\n2026-01-03,x,y\n')
    assert outcome.data["rows"][0]["details"] == 'a, "b"\nc'
    assert outcome.only.message.startswith('CSV line 4, column "amount" is "y"')


@pytest.mark.parametrize(
    ("attributes", "sent", "value"),
    [
        ("", "1,234,567.5", "1234567.5"),
        ("", "1 234.5", "1234.5"),
        ("", "1'234.5", "1234.5"),
        ('decimal=","', "1.234.567,5", "1234567.5"),
        ('decimal=","', "1\u00a0234,5", "1234.5"),
        ('decimal=","', "-12", "-12"),
        ("", "12,34,567.5", "1234567.5"),
        ("", "(1,234.50)", "-1234.50"),
        ('decimal=","', "1.234,50-", "-1234.50"),
        ('decimal=","', "\u22121\u202f234,5", "-1234.5"),
        ('decimal=","', "- 1\u2009234,5", "-1234.5"),
        ("", "\u061c-١٬٢٣٤٫٥", "-1234.5"),
        ("", "+५", "5"),
    ],
)
def test_numbers_follow_the_decimal_sign(attributes: str, sent: str, value: str):
    outcome = read(f"date;details;amount\n2026-01-02;x;{sent}", attributes)
    assert outcome.data["rows"][0]["amount"] == Decimal(value)


@pytest.mark.parametrize(
    ("attributes", "sent"),
    [
        ("", "1,5"),
        ("", "12,34"),
        ('decimal=","', "1.5"),
        ("", "1,234 567"),
        ("", "1e5"),
        ("", "NaN"),
        ("", "--5"),
        ("", "(-5)"),
        ("", "-5-"),
        ("", "1,23"),
        ("", "5 €"),
        ("", "12 %"),
    ],
)
def test_invalid_numbers_are_reported(attributes: str, sent: str):
    outcome = read(f"date;details;amount\n2026-01-02;x;{sent}", attributes)
    assert outcome.only.message.startswith(f'CSV line 2, column "amount" is "{sent}"')


def test_empty_cells_are_empty_values_and_required_ones_errors():
    outcome = read("date,details,amount\n2026-01-02,,\n")
    assert outcome.data["rows"][0]["amount"] is None
    assert outcome.only.message == 'CSV line 2, column "details" is empty, but is required'


def test_a_ragged_row_names_its_line():
    finding = read("date,details,amount\n2026-01-02,a,1\n2026-01-02,a\n").only
    assert finding.message.startswith('CSV line 3 has 2 cells separated by ",", accepted are 3')


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("", "CSV line 1 is empty"),
        ("details\nx", 'no column "date", which is required'),
        ("date,details,date\n", 'CSV line 1 names the column "date" twice'),
        ('date,details\n2026-01-02,"x', "line 2: the quote that opens here is not closed"),
        ('date,details\n2026-01-02,"x"y\n', "text follows a closing quote"),
        ("date,details\n2026-01-02," + "x" * 140_000, "more than 131,072"),
    ],
)
def test_invalid_csv_is_reported(body: str, says: str):
    assert says in read(body).only.message


def test_an_unknown_column_is_a_warning_and_its_cells_are_readable():
    outcome = read("date,detail,details\n2026-01-02,x,Card\n")
    assert outcome.only.code == "unknown-column"
    assert 'did you mean "details"?' in outcome.only.message
    assert outcome.data["rows"][0]["detail"] == "x"


def test_a_column_without_a_name_fills_no_field():
    assert read("date,details,,\n2026-01-02,Card,,\n").findings == ()
    outcome = read(",date,details,\n0,2026-01-02,Card,\n")
    assert outcome.data["rows"] == [ROW | {"amount": None}]
    assert outcome.only.message == 'CSV line 2, column "" is "0", which has no field'


def test_without_a_header_columns_follow_the_fields():
    assert read("2026-01-02,Card,12.40", 'header="false"').data["rows"] == [ROW]


def test_a_field_may_have_its_own_date_pattern():
    source = with_data(
        '<dataset name="r" csv="true"><field name="d" type="date" format="dd.MM.yy"/></dataset>'
    )
    assert merge(source, "d\n02.01.26\n", PayloadKind.CSV).data["r"] == [{"d": date(2026, 1, 2)}]
    assert "in the form dd.MM.yy" in merge(source, "d\n2026-01-02\n", PayloadKind.CSV).only.message


def test_booleans_have_their_csv_words():
    source = with_data('<dataset name="r"><field name="b" type="boolean"/></dataset>')
    outcome = merge(source, "b\nYes\n0\nmaybe\n", PayloadKind.CSV)
    assert [row["b"] for row in outcome.data["r"]] == [True, False, None]
    assert outcome.only.message.startswith('CSV line 4, column "b" is "maybe"')


@pytest.mark.parametrize(
    "section", ["", '<dataset name="a"/><dataset name="b"/>', '<field name="a"/>']
)
def test_a_template_without_csv_support_reports_it(section: str):
    assert merge(with_data(section), "a\n1\n", PayloadKind.CSV).only.code == "csv-dataset"


def test_too_many_rows_are_reported_once():
    outcome = read("date,details\n" + "2026-01-02,x\n" * 5, 'max-rows="3"')
    assert outcome.only.code == "row-count"


def test_twenty_findings_are_listed_then_counted():
    outcome = read("date,details\n" + "x,y\n" * 100)
    assert len(outcome.findings) == 21
    assert "80 more findings" in outcome.findings[-1].message


def test_a_dataset_without_fields_takes_any_columns():
    outcome = merge(with_data('<dataset name="r" csv="true"/>'), "a,b\n1,2\n", PayloadKind.CSV)
    assert outcome.data["r"] == [{"a": "1", "b": "2"}]


def test_the_line_that_names_the_delimiter_is_the_first_line():
    outcome = read("sep=;\ndate;details;amount\n2026-01-02;Card;12,40;\n", 'delimiter=","')
    assert outcome.only.message.startswith(
        'CSV line 3 has 4 cells separated by ";", accepted are 3'
    )


@pytest.mark.parametrize("number", [Decimal("-1234567.25"), Decimal("0.5"), Decimal(1234)])
def test_numbers_are_read_as_every_locale_prints_them(number: Decimal):
    for identifier in set(locale_identifiers()):
        if identifier.startswith("tok"):  # it groups by twos only
            continue
        for system in ("default", "native", "latn"):
            with suppress(UnsupportedNumberingSystemError):
                written = format_decimal(number, locale=identifier, numbering_system=system)
                sign = get_decimal_symbol(identifier, numbering_system=system)
                read_cell = make_csv_reader(
                    FieldType.DECIMAL, decimal="," if sign == "," else ".", pattern=None
                )
                assert read_cell(written) == number, (identifier, system, written)


@pytest.mark.parametrize(
    ("word", "value"),
    [("WAHR", True), ("ФАЛЬШ", None), ("VRAI", True), ("DOĞRU", True), ("ЛОЖЬ", False)],
)
def test_spreadsheets_write_booleans_in_their_language(word: str, value: bool | None):
    source = with_data('<dataset name="r"><field name="b" type="boolean"/></dataset>')
    assert merge(source, f"b\n{word}\n", PayloadKind.CSV).data["r"] == [{"b": value}]
