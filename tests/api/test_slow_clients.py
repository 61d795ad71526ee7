"""What a client sends and reads is timed by the piece; here time is short, and a pipe is the client."""

from __future__ import annotations

import os
from io import BytesIO

import gevent
import pytest
from gevent.fileobject import FileObject

from api import slow_clients
from api.slow_clients import PIECE_BYTES, SlowClients, TimedBody
from api.stopping import Requests

SECONDS = 0.2


@pytest.fixture(autouse=True)
def little_time(monkeypatch):
    monkeypatch.setattr(slow_clients, "PIECE_SECONDS", SECONDS)


@pytest.fixture
def pipe():
    """Give what a client writes to and the server reads from."""
    reading, writing = os.pipe()
    with FileObject(reading, "rb", 0) as server, FileObject(writing, "wb", 0) as client:
        yield client, server


@pytest.mark.parametrize("declared", [None, 300_000])
def test_a_body_is_read_whole_in_pieces(declared):
    data = os.urandom(300_000)
    body = TimedBody(BytesIO(data), declared=declared)
    pieces = list(iter(lambda: body.read(1_000_000), b""))
    assert b"".join(pieces) == data
    assert max(map(len, pieces)) == PIECE_BYTES
    assert body.has_ended
    assert body.read(10) == b""


def test_of_a_body_no_more_is_read_than_was_declared_or_asked_for():
    stream = BytesIO(b"abcdefgh")
    body = TimedBody(stream, declared=5)
    assert [body.read(2), body.read(-1), body.read(9)] == [b"ab", b"cde", b""]
    assert stream.read() == b"fgh"
    assert TimedBody(BytesIO(b"x\ny\n"), declared=4).readlines() == [b"x\n", b"y\n"]


def test_a_piece_that_does_not_come_in_time_is_a_time_out_and_the_last(pipe):
    client, server = pipe
    body = TimedBody(server, declared=100)
    client.write(b"<")
    assert body.read(1) == b"<"
    with pytest.raises(TimeoutError):
        body.read(10)
    assert body.read(10) == b""
    body.drain()  # and returns at once


def test_an_answer_that_is_not_read_in_time_is_given_up(pipe):
    client, _ = pipe
    has_ended = []

    class Answer(list):
        def close(self):
            has_ended.append(True)

    app = Requests(SlowClients(lambda environ, start_response: Answer([b"x" * 300_000])))
    answer = app({"wsgi.input": BytesIO()}, None)
    assert app.under_way == 1
    with pytest.raises(ConnectionResetError):
        client.writelines(answer)  # as gunicorn does; here to a client that reads nothing
    answer.close()
    assert (has_ended, app.under_way) == ([True], 0)


def test_an_answer_takes_as_long_as_the_application_needs():
    def answering(environ, start_response):
        for piece in (b"a", b"", b"b" * 100_000):
            gevent.sleep(1.5 * SECONDS)
            yield piece

    assert (
        b"".join(SlowClients(answering)({"wsgi.input": BytesIO()}, None)) == b"a" + b"b" * 100_000
    )


def test_what_is_left_of_a_body_is_read_behind_the_answer():
    stream = BytesIO(b"x" * 200_000)
    environ = {"wsgi.input": stream, "CONTENT_LENGTH": "200000"}
    answer = SlowClients(lambda environ, start_response: [b"no"])(environ, None)
    assert list(answer) == [b"no"]
    assert stream.tell() == 0
    answer.close()
    assert stream.tell() == 200_000
