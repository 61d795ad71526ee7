"""Answers and bodies as the front sends and reads them: what gunicorn's own do, with less work."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime

from gunicorn.config import Config
from gunicorn.http.body import Body, LengthReader
from gunicorn.http.unreader import IterUnreader
from hypothesis import given
from hypothesis import strategies as st

from api.gunicorn_worker import DirectBody, JoinedResponse
from api.heads import write_date

GUNICORNS = JoinedResponse.__mro__[1]
FIELDS = [
    ("Content-Type", "text/xml"),
    ("Content-Length", "12"),
    ("content-length", "7"),
    ("Connection", "upgrade"),
    ("Upgrade", "websocket"),
    ("Transfer-Encoding", "chunked"),
    ("Keep-Alive", "5"),
    ("X-Odd", " \t spaced \t"),
    ("X-Name", "Zo\xeb"),
    ("X-Name", "Zoe\u0301"),
    ("X-Split", "a\r\nSet-Cookie: b"),
    ("X-Name", "a\r\nSet-Cookie: b"),
    ("X-Null", "a\x00b"),
    ("X Name", "a"),
    ("", "a"),
    ("X-Type", b"a"),
    (b"X-Type", "a"),
]


def take(kind, fields):
    """Give what an answer makes of its fields, or what it raises."""
    answer = kind(None, None, Config())
    try:
        answer.process_headers(fields)
    except Exception as error:  # noqa: BLE001 - whichever it is
        return type(error)
    return answer.headers, answer.response_length, answer.upgrade


@given(st.lists(st.sampled_from(FIELDS), max_size=6))
def test_fields_of_an_answer_are_taken_as_gunicorn_takes_them(fields):
    for _ in range(2):  # anew, and once their names are known
        assert take(JoinedResponse, fields) == take(GUNICORNS, fields)


def read_body(kind, pieces, length, sizes):
    """Read a body by pieces of some sizes, then by a line, then to its end."""
    unreader = IterUnreader(iter(pieces))
    body = kind(LengthReader(unreader, length))
    parts = [*(body.read(size) for size in sizes), body.readline(), body.read()]
    return b"".join(parts), body.read(10)


@given(
    st.lists(st.binary(min_size=1, max_size=9), min_size=1, max_size=5),
    st.lists(st.integers(0, 12), max_size=5),
)
def test_a_body_is_read_whole_in_whatever_pieces(pieces, sizes):
    data = b"".join(pieces)
    for kind in (Body, DirectBody):
        read, after = read_body(kind, [*pieces, b"next"], len(data), sizes)
        assert read == data
        assert after == b""


def test_an_answer_says_when_it_was_given():
    began = time.time()
    said = parsedate_to_datetime(write_date()).timestamp()
    assert began - 1 < said <= time.time()
    assert write_date().endswith(" GMT")
