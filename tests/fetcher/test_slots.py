"""Turns: none waits for ever behind one account or one server."""

import math
import threading
from contextlib import ExitStack

import pytest

from shared.slots import NoSlotError, Slots
from tests.waiting import wait_until
from workers.fetcher.fetching import (
    MAX_PER_ACCOUNT,
    MAX_PER_ACCOUNT_AND_HOST,
    MAX_PER_HOST,
    find_limits,
)


def take(slots, account="a", host="h", patience=0.0):
    return slots.acquire(account, find_limits(account, host), patience_seconds=patience)


@pytest.fixture
def slots():
    return Slots(at_once=20)


def test_an_account_has_so_many_turns_over_all_servers(slots):
    with ExitStack() as held:
        for number in range(MAX_PER_ACCOUNT):
            held.enter_context(take(slots, "a", f"h{number}"))
        with pytest.raises(NoSlotError), take(slots, "a", "another"):
            pass
        held.enter_context(take(slots, "b", "another"))


def test_concurrency_is_limited_per_server_and_account(slots):
    with ExitStack() as held:
        for account in ("a", "b"):
            for _ in range(MAX_PER_ACCOUNT_AND_HOST):
                held.enter_context(take(slots, account))
            with pytest.raises(NoSlotError), take(slots, account):
                pass
        assert slots.count_under_way() == MAX_PER_HOST
        with pytest.raises(NoSlotError), take(slots, "c"):
            pass


def test_all_together_have_so_many():
    slots = Slots(at_once=2)
    with take(slots, "a", "1"), take(slots, "b", "2"):
        with pytest.raises(NoSlotError), take(slots, "c", "3"):
            pass
        assert (slots.count_under_way(), slots.count_waiting()) == (2, 0)
    with take(slots, "c", "3"):
        pass
    assert slots.count_under_way() == 0


def test_a_turn_that_is_given_back_goes_to_the_account_that_has_the_fewest():
    slots = Slots(at_once=2)
    order: list[str] = []

    def wait(account):
        with take(slots, account, account, patience=60):
            order.append(account)

    with take(slots, "greedy", "x"):
        with take(slots, "greedy", "y"):
            waiting = []
            for account in ("greedy", "modest"):
                waiting.append(threading.Thread(target=wait, args=[account]))
                waiting[-1].start()
                wait_until(lambda: slots.count_waiting() == len(waiting))
        for thread in waiting:
            thread.join()
    assert order == ["modest", "greedy"]


def test_only_so_many_of_one_account_wait(slots, monkeypatch):
    monkeypatch.setattr("shared.slots.MAX_WAITING_PER_ACCOUNT", 1)
    with ExitStack() as held:
        for _ in range(MAX_PER_ACCOUNT_AND_HOST):
            held.enter_context(take(slots))
        waiting = threading.Thread(target=lambda: take(slots, patience=30).__enter__())
        waiting.start()
        wait_until(lambda: slots.count_waiting() == 1)
        with pytest.raises(NoSlotError), take(slots, patience=math.inf):  # a wait would fail
            pass
        assert slots.count_waiting() == 1
    waiting.join()
