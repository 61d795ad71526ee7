"""Timeouts of request and response bodies, with short times and a pipe as the client."""

from __future__ import annotations

import os
from io import BytesIO

import gevent
import pytest
from gevent.fileobject import FileObject

from api import client_timeouts
from api.client_timeouts import CHUNK_BYTES, ClientTimeoutMiddleware, TimedBody
from api.shutdown import InFlightRequests

SECONDS = 0.2


@pytest.fixture(autouse=True)
def little_time(monkeypatch):
    monkeypatch.setattr(client_timeouts, "CHUNK_SECONDS", SECONDS)


@pytest.fixture
def pipe():
    """Yield the ends of a pipe: the client writes, the server reads."""
    reading, writing = os.pipe()
    with FileObject(reading, "rb", 0) as server, FileObject(writing, "wb", 0) as client:
        yield client, server


@pytest.mark.parametrize("declared", [None, 300_000])
def test_a_body_is_read_completely_in_chunks(declared):
    data = os.urandom(300_000)
    body = TimedBody(BytesIO(data), declared=declared)
    pieces = list(iter(lambda: body.read(1_000_000), b""))
    assert b"".join(pieces) == data
    assert max(map(len, pieces)) == CHUNK_BYTES
    assert body.has_ended
    assert body.read(10) == b""


def test_no_more_of_a_body_is_read_than_declared_or_requested():
    stream = BytesIO(b"abcdefgh")
    body = TimedBody(stream, declared=5)
    assert [body.read(2), body.read(-1), body.read(9)] == [b"ab", b"cde", b""]
    assert stream.read() == b"fgh"
    assert TimedBody(BytesIO(b"x\ny\n"), declared=4).readlines() == [b"x\n", b"y\n"]


def test_a_late_chunk_is_a_timeout_and_ends_the_body(pipe):
    client, server = pipe
    body = TimedBody(server, declared=100)
    client.write(b"<")
    assert body.read(1) == b"<"
    with pytest.raises(TimeoutError):
        body.read(10)
    assert body.read(10) == b""
    body.drain()  # and returns at once


def test_a_response_that_is_not_read_in_time_is_aborted(pipe):
    client, _ = pipe
    has_ended = []

    class Answer(list):
        def close(self):
            has_ended.append(True)

    app = InFlightRequests(
        ClientTimeoutMiddleware(lambda environ, start_response: Answer([b"x" * 300_000]))
    )
    answer = app({"wsgi.input": BytesIO()}, None)
    assert app.count == 1
    with pytest.raises(ConnectionResetError):
        client.writelines(answer)  # as gunicorn does; here to a client that reads nothing
    answer.close()
    assert (has_ended, app.count) == ([True], 0)


@pytest.mark.long
def test_the_application_may_take_any_time_to_respond():
    def answering(environ, start_response):
        for piece in (b"a", b"", b"b" * 100_000):
            gevent.sleep(1.5 * SECONDS)
            yield piece

    assert (
        b"".join(ClientTimeoutMiddleware(answering)({"wsgi.input": BytesIO()}, None))
        == b"a" + b"b" * 100_000
    )


def test_the_rest_of_a_body_is_drained_after_the_response():
    stream = BytesIO(b"x" * 200_000)
    environ = {"wsgi.input": stream, "CONTENT_LENGTH": "200000"}
    answer = ClientTimeoutMiddleware(lambda environ, start_response: [b"no"])(environ, None)
    assert list(answer) == [b"no"]
    assert stream.tell() == 0
    answer.close()
    assert stream.tell() == 200_000
