"""A line asks as a client does: an answer is never another question's, a lost server is told."""

from __future__ import annotations

import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError

from shared.line import Line
from shared.queue.connection import connect


@pytest.fixture
def redis(redis_url):
    with connect(redis_url) as client:
        yield client


class AlarmError(Exception):
    """What goes off in the middle of a question."""


def test_what_is_asked_together_is_answered_in_its_order(redis):
    line = Line(redis)
    assert line.ask(("SET", "a", b"\0\xff"), ("INCRBY", "n", 3), ("GET", "a")) == [
        b"OK",
        3,
        b"\0\xff",
    ]


def test_large_values_go_as_they_are_beside_small_ones(redis):
    large = bytes(range(256)) * 4096
    answers = Line(redis).ask(("SET", "å", large, "EX", 60), ("GET", "å"), ("SET", "f", 0.25))
    assert answers == [b"OK", large, b"OK"]
    assert redis.get("f") == b"0.25"


def test_an_error_is_raised_and_the_next_answer_is_its_own(redis):
    line = Line(redis)
    with pytest.raises(ResponseError):
        line.ask(("SET", "a", 1), ("LPUSH", "a", 2), ("GET", "a"))
    assert line.ask(("GET", "a")) == [b"1"]


def test_an_answer_that_an_alarm_cut_off_is_not_the_next_ones(redis):
    def go_off(*_):
        raise AlarmError

    line = Line(redis)
    before = signal.signal(signal.SIGALRM, go_off)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(AlarmError):
            line.ask(("BLPOP", "empty", 1))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert line.ask(("SET", "a", 1)) == [b"OK"]


def test_a_connection_that_the_server_closed_is_made_anew(redis):
    line = Line(redis)
    line.ask(("SET", "a", 1))
    redis.client_kill_filter(_type="normal", skipme=True)
    assert line.ask(("GET", "a")) == [b"1"]


def test_a_server_that_is_away_is_told():
    with pytest.raises(RedisConnectionError):
        Line(connect("redis://127.0.0.1:1/0")).ask(("PING",))


def test_threads_do_not_wait_for_each_other(redis):
    line = Line(redis)
    begun = time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: line.ask(("BLPOP", "empty", 0.5)), range(4)))
    assert time.monotonic() - begun < 1.5


def test_the_lines_of_a_client_share_a_connection(redis):
    first, second = (Line(redis).ask(("CLIENT", "ID")) for _ in range(2))
    assert first == second


def test_what_was_posted_is_answered_later_and_before_what_is_asked(redis):
    line = Line(redis)
    posted = [line.post(("INCR", "n")) for _ in range(2)]
    assert line.ask(("INCR", "n")) == [3]
    assert [line.answer(each) for each in posted] == [1, 2]
    assert line.answer(posted[0]) == 1


def test_what_was_posted_and_lost_is_asked_again(redis):
    line = Line(redis)
    line.ask(("PING",))
    posted = line.post(("BLPOP", "later", 60))
    redis.client_kill_filter(_type="normal", skipme=True)
    assert not line.has_answer(posted)
    redis.lpush("later", "x")
    assert line.answer(posted) == [b"later", b"x"]


def test_what_could_not_be_posted_is_asked_where_its_answer_is(redis):
    line = Line(redis)
    away = Line(connect("redis://127.0.0.1:1/0"))
    posted = away.post(("PING",))
    assert not away.has_answer(posted)
    with pytest.raises(RedisConnectionError):
        away.answer(posted)
    assert line.answer(line.post(("PING",))) == b"PONG"


def test_what_is_sent_is_done_in_order_and_its_answers_are_nobody_elses(redis):
    line = Line(redis)
    line.send(("RPUSH", "l", "a"), ("INCR", "l"), ("RPUSH", "l", "b"))
    posted = line.post(("LLEN", "l"))
    assert line.ask(("LRANGE", "l", 0, -1)) == [[b"a", b"b"]]
    assert line.answer(posted) == 2


def test_what_is_sent_to_a_server_that_is_away_is_lost_without_a_word(redis):
    Line(connect("redis://127.0.0.1:1/0")).send(("SET", "a", 1))
    line = Line(redis)
    line.ask(("PING",))
    redis.client_kill_filter(_type="normal", skipme=True)
    line.send(("SET", "a", 1))
    assert line.ask(("PING",)) == [b"PONG"]


def test_an_error_of_what_was_posted_is_its_own_and_asked_again(redis):
    line = Line(redis)
    redis.set("a", "no number")
    posted = line.post(("INCR", "a"))
    assert line.ask(("GET", "a")) == [b"no number"]
    with pytest.raises(ResponseError):
        line.answer(posted)
    redis.set("a", 4)
    assert line.answer(posted) == 5


def test_an_alarm_loses_what_was_posted_and_no_other_answer(redis):
    def go_off(*_):
        raise AlarmError

    line = Line(redis)
    posted = line.post(("BLPOP", "empty", 1))
    before = signal.signal(signal.SIGALRM, go_off)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(AlarmError):
            line.has_answer(posted)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert line.ask(("SET", "a", 1)) == [b"OK"]
    assert line.answer(posted) is None
