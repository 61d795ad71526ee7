"""Heads that are read from memory: always what gunicorn would have read."""

from __future__ import annotations

import socket

import pytest
from gunicorn.config import Config
from gunicorn.http.errors import NoMoreData, ParseException
from gunicorn.http.message import Request
from gunicorn.http.unreader import IterUnreader
from hypothesis import given, settings
from hypothesis import strategies as st

from api import heads
from api.heads import PlainConfig, RepeatedRequest

CONFIG = Config()
PLAIN = PlainConfig(CONFIG)
LINES = [
    b"POST /v2/pdf?template=a%20b HTTP/1.1",
    b"GET /v2/pdf HTTP/1.0",
    b"GET http://x/v2/pdf#there HTTP/1.1",
    b"OPTIONS * HTTP/1.1",
    b"GET * HTTP/1.1",
    b"get / HTTP/1.1",
    b"GET  / HTTP/1.1",
    b"GET / HTTP/2.0",
    b"GET /\xe9 HTTP/1.1",
    b"GET /" + b"x" * 2000 + b" HTTP/1.1",
    b"GET /" + b"x" * 9000 + b" HTTP/1.1",
    b"",
]
FIELDS = [
    b"Host: x",
    b"host:x",
    b"Host: y",
    b"Content-Length: 3",
    b"Content-Length: 3, 3",
    b"Content-Length: +3",
    b"Content-Type: text/xml",
    b"content-type: text/csv",
    b"Transfer-Encoding: chunked",
    b"Transfer-Encoding: gzip",
    b"Connection: close",
    b"Expect: 100-continue",
    b"Expect: the best",
    b"X-Forwarded-Proto: https",
    b"X_Forwarded_For: 10.0.0.1",
    b"Accept: \t text/plain \t",
    b"X-Empty:",
    b"X-Name: Zo\xeb",
    b"X-Null: a\x00b",
    b"X-Line: a\nb",
    b"X-Line: a\rb",
    b" folded: yes",
    b"\tfolded",
    b"No colon",
    b"Nocolon",
    b": no name",
    b"A name: x",
    b"Name : x",
    b"N\xe4me: x",
    b"X-Long: " + b"x" * 1500,
    b"X-Too-Long: " + b"x" * 9000,
]
ANY_FIELD = st.sampled_from(FIELDS) | st.binary(max_size=12)


class Judge(Request):
    """gunicorn's reading, where nobody's word is taken for a scheme."""

    def _peer_trusted_for_forwarded(self):
        return {}, []


def read(kind, config, head):
    """Give what is made of a head, or what is wrong with it; then what of the bytes is left."""
    unreader = IterUnreader(iter([head + b"abc"]))
    try:
        request = kind(config, unreader, ("127.0.0.1", 1))
        body = request.body.read() if request.body else b""
    except (ParseException, NoMoreData, StopIteration) as error:
        return type(error), str(error)
    names = (
        "method uri path query fragment version headers scheme must_close _expected_100_continue"
    )
    told = [getattr(request, name) for name in names.split()]
    return *told, request.should_close(), body, unreader.buf.getvalue()


def assert_read_alike(head):
    wanted = read(Judge, CONFIG, head)
    for _ in range(2):  # anew, and from memory
        assert read(RepeatedRequest, PLAIN, head) == wanted


@pytest.mark.parametrize("line", LINES)
def test_first_lines_are_read_as_gunicorn_reads_them(line):
    assert_read_alike(line + b"\r\nHost: x\r\nContent-Length: 3\r\n\r\n")


@pytest.mark.parametrize("field", FIELDS)
def test_fields_are_read_as_gunicorn_reads_them(field):
    assert_read_alike(b"POST / HTTP/1.1\r\n" + field + b"\r\n\r\n")
    assert_read_alike(b"POST / HTTP/1.1\r\nHost: x\r\n" + field + b"\r\nAccept: */*\r\n\r\n")


@settings(max_examples=300)
@given(st.sampled_from(LINES), st.lists(ANY_FIELD, max_size=5))
def test_heads_are_read_as_gunicorn_reads_them(line, fields):
    assert_read_alike(b"\r\n".join([line, *fields, b"", b""]))


ENDS = [
    (("127.0.0.1", 40001), ("127.0.0.1", 8000)),
    (("::1", 40001, 0, 0), ("::1", 8000, 0, 0)),
    ("", "/run/front.sock"),
    (b"", "/run/front.sock"),
]


def make_variables(make, config, head, client, server):
    """Give the variables of a request, without what is new each time."""
    unreader = IterUnreader(iter([head]))
    try:
        request = RepeatedRequest(config, unreader, client)
    except (ParseException, NoMoreData, StopIteration):
        return None
    with socket.socket() as sent_on:
        answer, variables = make(request, Silent(sent_on), client, server, config)
    assert answer.req is request
    assert variables.pop("wsgi.input") is request.body
    del variables["wsgi.errors"], variables["gunicorn.socket"]
    variables.pop("wsgi.early_hints", None)  # which no route sends
    return variables


class Silent:
    """A socket that is told of a continuation."""

    def __init__(self, sock):
        self._sock = sock

    def send(self, data):
        assert data == b"HTTP/1.1 100 Continue\r\n\r\n"


@settings(max_examples=300)
@given(st.sampled_from(LINES), st.lists(ANY_FIELD, max_size=5), st.sampled_from(ENDS))
def test_variables_are_those_that_gunicorn_makes(line, fields, ends):
    head = b"\r\n".join([line, *fields, b"", b""])
    wanted = make_variables(heads._create, CONFIG, head, *ends)
    assert make_variables(heads.create, PLAIN, head, *ends) == wanted


def test_variables_of_one_request_are_not_those_of_another():
    first = make_variables(heads.create, PLAIN, b"GET /a HTTP/1.1\r\nA: 1\r\n\r\n", *ENDS[0])
    first["HTTP_B"] = "2"
    second = make_variables(heads.create, PLAIN, b"GET /b HTTP/1.1\r\nC: 3\r\n\r\n", *ENDS[0])
    assert "HTTP_A" not in second
    assert "HTTP_B" not in second


def test_there_are_no_more_fields_than_gunicorn_takes():
    for count in (100, 101):
        assert_read_alike(b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * count + b"\r\n")


def test_a_head_without_fields_is_one():
    assert_read_alike(b"GET / HTTP/1.1\r\n\r\n")


def test_many_first_lines_are_not_all_remembered():
    for number in range(3000):
        assert read(RepeatedRequest, PLAIN, b"GET /%d HTTP/1.1\r\n\r\n" % number)[1] == f"/{number}"
    assert len(heads._request_lines) <= 1024
    assert_read_alike(b"GET /7 HTTP/1.1\r\n\r\n")


def test_a_configuration_is_told_as_it_is():
    for name in [*CONFIG.settings, "is_ssl", "address"]:
        assert getattr(PLAIN, name) == getattr(CONFIG, name)
    assert PLAIN.forwarded_allow_networks() == CONFIG.forwarded_allow_networks()
    with pytest.raises(AttributeError):
        _ = PLAIN.nothing
