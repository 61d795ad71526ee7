"""Batches are taken apart as they stream by, and put together again from any stretch."""

from __future__ import annotations

import io
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.batches.csv_rows import CsvBody, InvalidRow, read_rows
from shared.batches.json_documents import NdjsonBody, read_documents
from shared.batches.records import BatchOutput, split_into_chunks
from shared.blobs.store import LimitedReader
from shared.errors import ServiceError


class Trickle:
    """A source that gives pieces of these sizes, over and over."""

    def __init__(self, data: bytes, sizes=(7,)):
        self._file = io.BytesIO(data)
        self._sizes = list(sizes)
        self._reads = 0

    def read(self, size=-1):
        piece = self._sizes[self._reads % len(self._sizes)]
        self._reads += 1
        return self._file.read(piece if size < 0 else min(size, piece))


def swallow(body, *, piece=100) -> bytes:
    kept = bytearray()
    while found := body.read(piece):
        kept += found
    return bytes(kept)


def stretches(body, kept):
    for chunk in split_into_chunks("batch_x", body.starts, end=len(kept), output=BatchOutput.ZIP):
        stretch = io.BytesIO(kept)
        stretch.seek(chunk.body_offset)
        yield chunk, LimitedReader(stretch, chunk.body_length)


def ndjson(data: bytes, sizes=(7,)) -> list[bytes]:
    body = NdjsonBody(Trickle(data, sizes))
    kept = swallow(body)
    assert kept == data
    found = []
    for chunk, stretch in stretches(body, kept):
        documents = [document for _, document in read_documents(stretch)]
        assert len(documents) == chunk.count
        found += documents
    return found


def rows(data: bytes, sizes=(7,), charset=None) -> list[object]:
    body = CsvBody(Trickle(data, sizes), charset=charset)
    kept = swallow(body)
    found = []
    for chunk, stretch in stretches(body, kept):
        read = [row for _, row in read_rows(stretch, body.head)]
        assert len(read) == chunk.count
        found += read
    return [row if isinstance(row, InvalidRow) else json.loads(row) for row in found]


# --- JSON a line ----------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(1,), (2, 3), (7,), (1000,)])
def test_each_line_is_a_document(sizes):
    data = b'\xef\xbb\xbf{"a":1}\n\n  {"b":"\xc3\xa4"}  \r\n \t \nno json\n{"last":1}'
    assert ndjson(data, sizes) == [b'{"a":1}', b'{"b":"\xc3\xa4"}', b"no json", b'{"last":1}']


@pytest.mark.parametrize("data", [b"", b"\n", b" \n\r\n\t", b"\xef\xbb\xbf\n"])
def test_blank_lines_are_no_documents(data):
    assert ndjson(data) == []


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from([b"{}", b" x", b"", b" ", b"\r", b"\xc3\xa4b"]), max_size=40),
    st.lists(st.integers(1, 9), min_size=1, max_size=5),
)
def test_any_cut_of_any_lines_gives_the_same_documents(lines, sizes):
    data = b"\n".join(lines)
    assert ndjson(data, sizes) == [line.strip() for line in lines if line.strip()]


def test_a_stretch_is_read_on_from_any_document():
    data = b"".join(b'{"n":%d}\n\n' % number for number in range(50))
    ends = [end for end, _ in read_documents(io.BytesIO(data))]
    rest = [document for _, document in read_documents(io.BytesIO(data[ends[19] :]))]
    assert rest[0] == b'{"n":20}'
    assert len(rest) == 30


def test_one_document_too_many_is_refused():
    body = NdjsonBody(io.BytesIO(b"{}\n" * 100_001))
    with pytest.raises(ServiceError, match="100,000 documents") as refused:
        swallow(body)
    assert refused.value.body.status == 413


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_lines_in_another_unicode_than_utf_8_are_refused(encoding):
    with pytest.raises(ServiceError, match="it is not UTF-8") as refused:
        ndjson('{"n": 1}\n{"n": 2}\n'.encode(encoding))
    assert refused.value.body.status == 400


def test_a_line_too_long_is_refused_before_its_end():
    body = NdjsonBody(Trickle(b"{}\n" + b"x" * (34 << 20), [1 << 20]))
    with pytest.raises(ServiceError, match="Document 2 of the batch is larger than 32 MB"):
        swallow(body, piece=1 << 20)


def test_a_body_of_line_breaks_is_passed_over_quickly():
    body = NdjsonBody(io.BytesIO(b"\n" * (64 << 20)))
    begun = time.process_time()
    assert len(swallow(body, piece=1 << 18)) == 64 << 20
    assert time.process_time() - begun < 5
    assert not body.starts


# --- CSV ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(1,), (2, 3), (7,), (1000,)])
def test_each_row_is_a_document_by_the_paths_of_its_columns(sizes):
    data = b'\xef\xbb\xbf\r\nnumber,buyer.name,buyer.city\r\n1,"A ""B""\r\nC",\r\n\r\n2,D,Bern'
    assert rows(data, sizes) == [
        {"number": "1", "buyer": {"name": 'A "B"\r\nC'}},
        {"number": "2", "buyer": {"name": "D", "city": "Bern"}},
    ]


@pytest.mark.parametrize("sign", [";", "\t", "|", ","])
def test_the_separator_is_found_in_the_first_row(sign):
    assert rows(f'"x,y"{sign}b{sign}c\n1{sign}2{sign}3'.encode()) == [
        {"x,y": "1", "b": "2", "c": "3"}
    ]


@pytest.mark.parametrize("data", [b"sep=;\r\na,b;c\r\n1;2", b'\xef\xbb\xbf\n"sep=^"\na,b^c\n1^2\n'])
def test_the_first_line_may_name_the_separator(data):
    assert rows(data, (3,)) == [{"a,b": "1", "c": "2"}]


@pytest.mark.parametrize(
    ("charset", "encoding"),
    [("iso8859-1", "latin-1"), ("utf-16", "utf-16"), (None, "utf-16"), ("cp1252", "cp1252")],
)
def test_a_charset_is_followed(charset, encoding):
    assert rows("name\nÄrger\n".encode(encoding), (9,), charset) == [{"name": "Ärger"}]


@pytest.mark.parametrize("charset", [None, "utf-8", "utf-16", "utf-16-le", "cp1252"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_wins_over_the_charset(charset, encoding):
    assert rows("name\nÄrger\n".encode(encoding), (9,), charset) == [{"name": "Ärger"}]


def test_utf_32_is_refused_by_name():
    with pytest.raises(ServiceError, match='"utf-32" is not accepted; accepted are UTF-8'):
        rows("name\n".encode("utf-32"), (9,), None)


def test_a_ragged_row_is_its_own_fault_alone():
    first, ragged, last = rows(b"a,b\n1,2\n1,2,3\n3,4\n")
    assert (first, last) == ({"a": "1", "b": "2"}, {"a": "3", "b": "4"})
    assert "has 3 cells" in str(ragged)


def test_separators_at_the_end_of_rows_name_no_column():
    first, filled = rows(b"a,b,,\n1,2,,\n3,4,,x\n")
    assert first == {"a": "1", "b": "2"}
    assert str(filled) == "The row has 'x' in a column without a name."


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "first row names the columns"),
        (b"\n\n", "first row names the columns"),
        (b",\n1,2", "first row names the columns"),
        (b"a,,b\n", "column named ''"),
        (b"a.,b\n", "'a.'"),
        (b"a,a\n", "two columns named 'a'"),
        (b"a,a.b\n1,2", "both a value and an object"),
        (b"a\n1\n\xff\n", "after line"),
        (b'a\n"x\n1\n', "CSV line 2: the quote that opens here is not closed"),
        (b'a\n1\n"x"y\n', "CSV line 3: text follows a closing quote"),
        (b",".join(b"c%d" % number for number in range(501)), "501 columns"),
        (b"a\n" + b"x" * 200_000, "a cell has more than"),
    ],
)
def test_data_without_a_readable_row_are_rejected(data, told):
    with pytest.raises(ServiceError) as refused:
        rows(data)
    assert refused.value.body.status == 400
    assert told in refused.value.body.message


def test_a_row_too_long_is_refused_before_its_end():
    with pytest.raises(ServiceError) as refused:
        rows(b"a\n1\n" + b"x," * (2 << 20))
    assert refused.value.body.status == 413


def test_one_row_too_many_is_refused():
    with pytest.raises(ServiceError, match="100,000 documents"):
        swallow(CsvBody(io.BytesIO(b"a\n" + b"1\n" * 100_001), charset=None))


@settings(max_examples=200)
@given(
    st.lists(st.text(alphabet='x,"\n\r ;ä', min_size=1, max_size=6), max_size=30),
    st.lists(st.integers(1, 9), min_size=1, max_size=5),
)
def test_any_cells_come_back_from_any_cut(cells, sizes):
    quoted = "".join('"' + cell.replace('"', '""') + '"\r\n' for cell in cells)
    assert rows(f"a\r\n{quoted}".encode(), sizes) == [{"a": cell} for cell in cells]


# --- chunks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("total", "output", "sizes"),
    [
        (1, BatchOutput.ZIP, {1}),
        (25, BatchOutput.FILES, {10, 5}),
        (1000, BatchOutput.ZIP, {16, 8}),
        (1000, BatchOutput.MERGED, {100}),
        (6400, BatchOutput.ZIP, {100}),
        (100_000, BatchOutput.ZIP, {500}),
    ],
)
def test_chunks_are_of_a_size_to_share_workers_by(total, output, sizes):
    body = NdjsonBody(io.BytesIO(b"{}\n" * total))
    kept = swallow(body)
    chunks = list(split_into_chunks("batch_x", body.starts, end=len(kept), output=output))
    assert {chunk.count for chunk in chunks} == sizes
    assert sum(chunk.count for chunk in chunks) == total
    assert sum(chunk.body_length for chunk in chunks) == len(kept)
