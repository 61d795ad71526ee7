"""Batches from a JSON array: taken apart in pieces of any size, as the whole of it would be."""

from __future__ import annotations

import io
import json
import time
import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shared.batches.json_documents import JsonArrayBody, read_documents
from shared.errors import ServiceError
from shared.limits import MAX_BODY_BYTES, MB

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)


class Pieces:
    """Gives bytes in pieces of one size, whatever is asked for."""

    def __init__(self, data: bytes, size: int) -> None:
        self._stream, self._size = io.BytesIO(data), size

    def read(self, _size: int = -1) -> bytes:
        return self._stream.read(self._size)


def take_apart(data: bytes, *, piece: int = 1 << 18) -> tuple[bytes, list[int]]:
    body = JsonArrayBody(Pieces(data, piece))
    given_on = b"".join(iter(lambda: body.read(1000), b""))
    assert body.size == len(given_on)
    return given_on, list(body.starts)


@given(
    st.lists(VALUES, max_size=6),
    st.sampled_from([None, 0, 1, "\r\n"]),
    st.booleans(),
    st.integers(1, 40),
)
@example(["a", 'b", ]}', {"c": ["]", "\\"]}, [], {}, -1.5e7, None, "\\\\"], None, False, 3)
@example(["a", 'b", ]}', {"c": ["]", "\\"]}, [], {}, -1.5e7, None, "\\\\"], 1, True, 99)
def test_the_documents_are_those_of_the_array(values, indent, is_ascii, piece):
    text = json.dumps(values, indent=indent, ensure_ascii=is_ascii)
    data = text.encode("utf-8", "replace")
    given_on, starts = take_apart(data, piece=piece)
    documents = [document for _, document in read_documents(io.BytesIO(given_on))]
    assert [json.loads(each) for each in documents] == json.loads(data)
    assert [given_on[start:].splitlines(keepends=False)[0][:1] for start in starts] == [
        document[:1] for document in documents
    ]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"{}", "must be an array"),
        (b'"a"', "must be an array"),
        (b"\xff\xfe[\x00", "must be an array"),
        (b"[", "not closed"),
        (b"[1", "not closed"),
        (b"[1,", "not closed"),
        (b'["a', "not closed"),
        (b'[{"a": [1, 2}', "not closed"),
        (b"[,1]", "byte 2, after document 0"),
        (b"[1,,2]", "byte 4, after document 1: found ',', expected a document"),
        (b"[1,]", "found ']', expected a document"),
        (b"[1 2]", "found '2', expected , or ]"),
        (b"[{}}", "found '}', expected , or ]"),
        (b"[1][2]", "the end of the body"),
        (b"[1] \xff", "the end of the body"),
    ],
)
@pytest.mark.parametrize("piece", [1, 2, 1000])
def test_a_value_that_is_not_an_array_is_rejected_with_its_position(data, told, piece):
    with pytest.raises(ServiceError) as refused:
        take_apart(data, piece=piece)
    assert refused.value.body.status == 400
    assert told in refused.value.body.message


@given(st.binary(max_size=60), st.integers(1, 9))
def test_any_bytes_are_taken_apart_or_refused(data, piece):
    try:
        given_on, starts = take_apart(b"[" + data, piece=piece)
    except ServiceError:
        return
    assert given_on.count(b"\n") == len(starts)


@given(st.text('[]{}"\\,: 1\n', max_size=20), st.integers(1, 9))
def test_the_pieces_of_a_body_decide_nothing(text, piece):
    def answer(size):
        try:
            return take_apart(b"[" + text.encode(), piece=size)
        except ServiceError as refused:
            return refused.body.message

    assert answer(piece) == answer(100)


def test_a_line_break_inside_a_string_stays_wrong():
    given_on, _ = take_apart(b'[{"a": "x\ny"}, {"b": 1}]')
    first, second = given_on.splitlines()[0:1], given_on.split(b"\n")[1]
    assert json.loads(second) == {"b": 1}
    with pytest.raises(ValueError, match="control character"):
        json.loads(given_on.split(b"\n")[0])
    assert first


def test_a_document_over_32_mb_is_refused():
    with pytest.raises(ServiceError) as refused:
        take_apart(b'[{}, "' + b"a" * MAX_BODY_BYTES + b'"]')
    assert refused.value.body.status == 413
    assert "Document 2" in refused.value.body.message


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        b"[" * (MB), b"[[" + b"{" * (MB), b'["' + b"\\" * (MB), b'["' + b'\\"' * (MB),
        b"[" + b" " * (MB), b"[[" + b'"a",' * (MB), b'[["' + b"a" * (MB),
    ],
    ids=["arrays", "objects", "backslashes", "quotes", "blanks", "strings", "text"],
)  # fmt: skip
def test_hostile_bodies_cost_little_time_and_memory(text):
    tracemalloc.start()
    begun = time.process_time()
    body = JsonArrayBody(io.BytesIO(text))
    with pytest.raises(ServiceError):
        read_all(body)
    assert tracemalloc.get_traced_memory()[1] < 4 * MB
    tracemalloc.stop()
    assert time.process_time() - begun < 20  # traced, which takes many times as long


def read_all(body: JsonArrayBody) -> None:
    while body.read(1 << 18):
        pass
