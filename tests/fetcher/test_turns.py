"""Turns: none waits for ever behind one account or one server."""

import threading
import time
from contextlib import ExitStack

import pytest

from workers.fetcher.turns import OF_ACCOUNT, OF_ACCOUNT_AT_HOST, OF_HOST, NoTurnError, Turns


def take(turns, account="a", host="h", patience=0.0):
    return turns.take(account, host, patience_seconds=patience)


@pytest.fixture
def turns():
    return Turns(at_once=20)


def test_an_account_has_so_many_turns_over_all_servers(turns):
    with ExitStack() as held:
        for number in range(OF_ACCOUNT):
            held.enter_context(take(turns, "a", f"h{number}"))
        with pytest.raises(NoTurnError), take(turns, "a", "another"):
            pass
        held.enter_context(take(turns, "b", "another"))


def test_a_server_is_asked_so_often_at_once_and_less_often_for_one_account(turns):
    with ExitStack() as held:
        for account in ("a", "b"):
            for _ in range(OF_ACCOUNT_AT_HOST):
                held.enter_context(take(turns, account))
            with pytest.raises(NoTurnError), take(turns, account):
                pass
        assert turns.count_under_way() == OF_HOST
        with pytest.raises(NoTurnError), take(turns, "c"):
            pass


def test_all_together_have_so_many():
    turns = Turns(at_once=2)
    with take(turns, "a", "1"), take(turns, "b", "2"):
        with pytest.raises(NoTurnError), take(turns, "c", "3"):
            pass
        assert (turns.count_under_way(), turns.count_waiting()) == (2, 0)
    with take(turns, "c", "3"):
        pass
    assert turns.count_under_way() == 0


def test_a_turn_that_is_given_back_goes_to_the_account_that_has_the_fewest():
    turns = Turns(at_once=2)
    order: list[str] = []

    def wait(account):
        with take(turns, account, account, patience=10):
            order.append(account)

    with take(turns, "greedy", "x"):
        with take(turns, "greedy", "y"):
            waiting = []
            for account in ("greedy", "modest"):
                waiting.append(threading.Thread(target=wait, args=[account]))
                waiting[-1].start()
                wait_until(lambda: turns.count_waiting() == len(waiting))
        for thread in waiting:
            thread.join()
    assert order == ["modest", "greedy"]


def test_only_so_many_of_one_account_wait(turns, monkeypatch):
    monkeypatch.setattr("workers.fetcher.turns._WAITING_OF_ACCOUNT", 1)
    with ExitStack() as held:
        for _ in range(OF_ACCOUNT_AT_HOST):
            held.enter_context(take(turns))
        waiting = threading.Thread(target=lambda: take(turns, patience=10).__enter__())
        waiting.start()
        wait_until(lambda: turns.count_waiting() == 1)
        begun = time.monotonic()
        with pytest.raises(NoTurnError), take(turns, patience=10):
            pass
        assert time.monotonic() - begun < 5
        assert turns.count_waiting() == 1
    waiting.join()


def wait_until(holds, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)
