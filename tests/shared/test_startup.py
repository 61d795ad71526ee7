"""A process starts with its settings and log, or ends with one line and status 1."""

from __future__ import annotations

import os
import signal
from threading import Event

import pytest

from shared.errors import Unavailable
from shared.queue.connection import UnfitRedisError
from shared.settings import WrongSetting
from shared.startup import run_threads, start, stop_on_signals


@pytest.fixture(autouse=True)
def _log_of_the_tests(monkeypatch):
    """Keep the log of this process as pytest has it; tests of processes read theirs."""
    monkeypatch.setattr("shared.startup.set_up_logging", lambda **_: None)


class StrangeError(Exception):
    """The error that one kind of process fails to start with."""


def test_the_object_made_from_the_settings_is_returned(settings):
    assert start("counter", lambda: settings, lambda given: given.log_level) == settings.log_level


@pytest.mark.parametrize(
    "error",
    [
        WrongSetting("PRESSROOM_X is missing"),
        UnfitRedisError("set appendonly"),
        Unavailable("queue"),
        OSError("address in use"),
        ValueError("no such store"),
        StrangeError("an unsafe library"),
    ],
)
def test_whatever_forbids_a_start_is_one_line_and_status_1(settings, error):
    def refuse(_):
        raise error

    with pytest.raises(SystemExit) as ended:
        start("counter", lambda: settings, refuse, startup_errors=(StrangeError,))
    assert ended.value.code == f"pressroom counter: {error}"  # which Python writes, with status 1


def test_a_wrong_setting_is_reported_before_anything_is_made():
    def read():
        raise WrongSetting("PRESSROOM_X is missing")

    with pytest.raises(SystemExit, match="pressroom maintenance: PRESSROOM_X is missing"):
        start("maintenance", read, lambda _: pytest.fail("it was made"))


def test_a_fault_of_the_program_is_not_hidden(settings):
    with pytest.raises(ZeroDivisionError):
        start("counter", lambda: settings, lambda _: 1 // 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_everything_is_stopped_by_a_signal(number):
    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)}
    stopped = []
    try:
        stop_on_signals(lambda: stopped.append("a"), lambda: stopped.append("b"))
        os.kill(os.getpid(), number)
        assert stopped == ["a", "b"]
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def test_a_loop_that_fails_ends_the_others():
    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)}
    stop = Event()
    try:
        stop_on_signals(stop.set)
        run_threads([lambda: stop.wait(60), lambda: stop.wait(60), lambda: 1 // 0])
        assert stop.is_set()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
