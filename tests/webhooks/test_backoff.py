"""Attempts come soon at first and further apart later, for 24 hours in all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from workers.webhooks.deliverer import GIVE_UP_AFTER, next_attempt, read_retry_after

CREATED = datetime(2026, 3, 1, tzinfo=UTC)


def test_an_unavailable_target_is_retried_for_a_day() -> None:
    at: datetime | None = CREATED
    times: list[datetime] = []
    while at is not None:
        times.append(at)
        at = next_attempt(CREATED, failed=len(times), now=at)
    assert CREATED + timedelta(hours=19) < times[-1] <= CREATED + GIVE_UP_AFTER
    assert times[1] - times[0] < timedelta(seconds=10)
    assert 10 <= len(times) <= 20


def test_delays_grow_and_vary() -> None:
    delays = {
        failed: {next_attempt(CREATED, failed=failed, now=CREATED) or CREATED for _ in range(20)}
        for failed in range(1, 8)
    }
    for failed in range(1, 7):
        assert max(delays[failed]) < min(delays[failed + 1])
        assert len(delays[failed]) > 1


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120), (" 0120 ", 120), ("Sun, 01 Mar 2026 00:02:00 GMT", 120),
        ("999999999", 3600), ("Sun, 01 Mar 2099 00:02:00 GMT", 3600), ("0", None), ("-5", None),
        ("1.5", None), ("Sun, 01 Mar 2020 00:02:00 GMT", None), ("soon", None), ("9" * 400, None),
        (None, None),
    ],
)  # fmt: skip
def test_retry_after_is_seconds_or_a_date_and_an_hour_at_most(text, seconds) -> None:
    wanted = None if seconds is None else CREATED + timedelta(seconds=seconds)
    assert read_retry_after(text, now=CREATED) == wanted
