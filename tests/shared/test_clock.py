"""Instants are written one way, whatever the year."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from shared.clock import timestamp


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
