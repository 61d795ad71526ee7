"""Requests that share a thread: their jobs are written together, and whoever may take long gives way."""

from __future__ import annotations

from contextvars import ContextVar
from functools import partial

import pytest
from greenlet import getcurrent

from api.lane import Lane, accept, give_way
from shared.errors import Unavailable

WHO = ContextVar("who")


class Book:
    """An intake that notes what is written together, and fails when it is to."""

    def __init__(self, failure=None):
        self.written, self.failure = [], failure

    def write(self, entries):
        self.written.append([entry.job for entry in entries])
        for entry in entries:
            entry.first, entry.failure = f"call of {entry.job}", self.failure

    def accept(self, job, record, call):
        self.written.append(job)
        return f"call of {job}"


def test_jobs_of_requests_side_by_side_are_written_together():
    lane, book, ended = Lane(), Book(), []

    def answer(name):
        WHO.set(name)
        ended.append((accept(book, name, None, None), WHO.get()))

    for name in ("a", "b", "c"):
        lane.begin(partial(answer, name))
    assert (len(lane), ended) == (3, [])
    lane.settle()
    assert book.written == [["a", "b", "c"]]
    assert ended == [(f"call of {name}", name) for name in ("a", "b", "c")]
    assert len(lane) == 0


def test_jobs_for_different_places_are_written_each_to_its_own():
    lane, books = Lane(), [Book(), Book()]
    for name, book in zip("abc", (books[0], books[1], books[0]), strict=True):
        lane.begin(partial(accept, book, name, None, None))
    lane.settle()
    assert [book.written for book in books] == [[["a", "c"]], [["b"]]]


def test_each_request_is_told_of_a_failure():
    lane, book, told = Lane(), Book(Unavailable("database")), []

    def answer(name):
        try:
            accept(book, name, None, None)
        except Unavailable as error:
            told.append((name, error.part))

    for name in "ab":
        lane.begin(partial(answer, name))
    lane.end()
    assert told == [("a", "database"), ("b", "database")]


def test_a_request_that_gives_way_goes_on_when_the_others_have_ended():
    lane, book, said = Lane(), Book(), []

    def short(name):
        accept(book, name, None, None)
        said.append(name)

    def long():
        said.append("long begins")
        give_way()
        give_way()  # once more is no more
        said.append(accept(book, "long", None, None))

    lane.begin(partial(short, "a"))
    lane.begin(long)
    assert len(lane.leaving) == 1
    lane.end()
    assert said == ["long begins", "a", "call of long"]
    assert book.written == [["a"], "long"]


def test_a_request_on_a_thread_of_its_own_waits_for_nobody():
    give_way()
    assert accept(Book(), "a", None, None) == "call of a"


def test_a_request_sees_nothing_of_the_one_before_it_in_its_place():
    lane, book, seen = Lane(), Book(), []

    def answer(name):
        seen.append((name, getcurrent(), WHO.get(None)))
        WHO.set(name)
        accept(book, name, None, None)
        assert WHO.get() == name

    for names in ("ab", "cd"):
        for name in names:
            lane.begin(partial(answer, name))
        lane.settle()
    assert [who for _, _, who in seen] == [None] * 4
    turns = {turn for _, turn, _ in seen}
    assert len(turns) == 2
    assert not any(turn.dead for turn in turns)
    lane.end()
    assert all(turn.dead for turn in turns)


def test_what_leaves_while_its_lane_ends_has_ended_with_it():
    lane, book, turns = Lane(), Book(), []

    def answer():
        accept(book, "a", None, None)
        give_way()
        turns.append(getcurrent())

    lane.begin(answer)
    lane.begin(give_way)
    lane.end()
    assert [turn.dead for turn in turns] == [True]
    assert (len(lane), lane.leaving, lane.spare) == (0, [], [])


def test_what_a_request_raises_is_its_threads():
    lane = Lane()
    with pytest.raises(ZeroDivisionError):
        lane.begin(lambda: 1 / 0)
    said = []
    lane.begin(lambda: said.append("next"))
    assert said == ["next"]
