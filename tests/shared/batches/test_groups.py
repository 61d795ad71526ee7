"""Batches with `group`: consecutive rows of one key are one document."""

from __future__ import annotations

import io
import json

import pytest

from shared.batches.csv_rows import CsvBody
from shared.batches.groups import GroupedBody, check_group_path
from shared.batches.json_documents import JsonArrayBody, NdjsonBody
from shared.errors import ServiceError
from shared.limits import MAX_GROUPED_ROWS
from tests.shared.batches.test_documents import Trickle, swallow

ROWS = [
    {"order": {"no": "A"}, "item": "Pen"},
    {"order": {"no": "A"}, "item": "Ink"},
    {"order": {"no": "7"}, "item": "Tü"},
]
CSV = "order.no,item\nA,Pen\nA,Ink\n\n7,Tü\n"


def grouped(body, path="order.no") -> list[object]:
    group = GroupedBody(body, path)
    kept = swallow(group)
    assert group.size == len(kept)
    assert list(group.starts) == [0, *(at + 1 for at in range(len(kept) - 1) if kept[at] == 10)]
    return [json.loads(line) for line in kept.split(b"\n") if line]


@pytest.mark.parametrize("sizes", [(1,), (5, 2), (1000,)])
def test_rows_of_one_key_are_one_document_in_each_format(sizes):
    lines = b"\xef\xbb\xbf" + b"\n \n".join(json.dumps(row).encode() for row in ROWS)
    expected = [{**ROWS[0], "rows": ROWS[:2]}, {**ROWS[2], "rows": ROWS[2:]}]
    assert grouped(NdjsonBody(Trickle(lines, sizes))) == expected
    array = json.dumps(ROWS, indent=1).encode()
    assert grouped(JsonArrayBody(Trickle(array, sizes))) == expected
    for charset in ("utf-8", "windows-1252"):
        body = CsvBody(Trickle(CSV.encode(charset), sizes), charset=charset)
        assert grouped(body) == expected


def test_numbers_are_keys_and_values_stay_as_they_were_sent():
    lines = b'{"no": 10.50 , "amount": 1.10}\n{"no":10.50, "amount": 2e400}\n{"no":10.5}'
    group = GroupedBody(NdjsonBody(io.BytesIO(lines)), "no")
    first, second = b'{"no": 10.50 , "amount": 1.10}', b'{"no":10.50, "amount": 2e400}'
    assert swallow(group).splitlines() == [
        first[:-1] + b',"rows":[' + first + b"," + second + b"]}",
        b'{"no":10.5,"rows":[{"no":10.5}]}',
    ]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (['{"no":1}', '{"no":2}', '{"no":1}'], "Row 3: no '1' has returned after rows of others"),
        (['{"no":1}', '{"number":1}'], "Row 2 cannot be grouped by no: it is missing"),
        (['{"no":null}'], "Row 1 cannot be grouped by no"),
        (['{"no":[1]}'], "accepted is a text of 1 to 200 characters or a number"),
        (['{"no":""}'], "it has 0 characters"),
        (['{"no":"' + "x" * 201 + '"}'], "it has 201 characters"),
        (['{"no":1', "[1]"], "the row is no JSON object"),
        (['{"no":"\\ud800"}'], "the row is no JSON object"),
        (["[" * 100_000], "the row is no JSON object"),
        (['{"no":1,"rows":[]}'], "Row 1 has a field rows"),
        (['{"no":1,"a":"' + "x" * 2_000_000 + '"}'], "Row 1 is larger than 1 MB"),
    ],
)
def test_a_row_that_cannot_be_grouped_is_refused_by_its_number(lines, told):
    with pytest.raises(ServiceError, match=r"^Row ") as refused:
        swallow(GroupedBody(NdjsonBody(io.BytesIO("\n".join(lines).encode())), "no"))
    assert told in str(refused.value)


def test_a_csv_row_of_another_length_is_refused_by_its_number():
    body = CsvBody(io.BytesIO(b"no,a\n1,2\n1,2,3\n"), charset=None)
    with pytest.raises(ServiceError, match=r'Row 2: The row has 3 cells separated by ","'):
        swallow(GroupedBody(body, "no"))


def test_rows_and_the_bytes_of_a_document_are_limited():
    lines = b'{"a":1}\n' * (MAX_GROUPED_ROWS + 1)
    body = NdjsonBody(io.BytesIO(lines), most=MAX_GROUPED_ROWS)
    with pytest.raises(ServiceError, match="1,000,000 rows at most"):
        swallow(GroupedBody(body, "a"), piece=1 << 20)
    large = b'{"a":1,"b":"%b"}\n' % (b"x" * 900_000) * 40
    with pytest.raises(ServiceError, match="Document 1 of the batch is larger than 32 MB"):
        swallow(GroupedBody(NdjsonBody(io.BytesIO(large)), "a"), piece=1 << 20)


@pytest.mark.parametrize("path", ["", "a..b", ".a", "x" * 301, "rows", "rows.no"])
def test_the_path_of_a_key_is_checked(path):
    with pytest.raises(ServiceError, match="Invalid group"):
        check_group_path(path)
