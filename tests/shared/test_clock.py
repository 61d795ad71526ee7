"""Instants are written one way, whatever the year."""

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest

from shared.clock import epoch, follow_clock, machine_epoch, now, ticks, timestamp


@pytest.mark.parametrize(
    ("instant", "written"),
    [
        (datetime(2026, 3, 1, tzinfo=UTC), "2026-03-01T00:00:00.000Z"),
        (datetime(977, 6, 1, 23, 59, 59, 999_999, UTC), "0977-06-01T23:59:59.999Z"),
        (datetime(2026, 3, 1, 1, tzinfo=timezone(timedelta(hours=2))), "2026-02-28T23:00:00.000Z"),
    ],
)
def test_an_instant_is_written_in_utc_with_milliseconds(instant, written):
    assert timestamp(instant) == written


@pytest.fixture
def machine_clock():
    read = time.time
    yield
    follow_clock(read(), at=ticks())


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_clock_that_is_followed_is_read_whatever_the_machines_shows(
    machine_clock, monkeypatch, hours
):
    shown = time.time() + hours * 3600
    follow_clock(shown, at=ticks())
    monkeypatch.setattr("time.time", lambda: 0.0)
    assert epoch() == pytest.approx(shown, abs=0.5)
    assert now().timestamp() == pytest.approx(shown, abs=0.5)
    assert machine_epoch() == 0.0


def test_answers_that_differ_by_their_delay_change_nothing(machine_clock):
    follow_clock(1000.0, at=ticks())
    before = epoch() - ticks()
    follow_clock(epoch() + 0.1, at=ticks())
    assert epoch() - ticks() == pytest.approx(before, abs=1e-3)
    follow_clock(epoch() + 1, at=ticks())
    assert epoch() - ticks() == pytest.approx(before + 1, abs=1e-3)
