"""The farm's statistics match the rows of the database, on SQLite and PostgreSQL."""

from datetime import UTC, date, datetime

import pytest

from shared.auth.accounts import create_account
from shared.jobs.records import Allowance
from shared.limits import MAX_WORKSPACE_BYTES
from shared.usage.metering import UsageEvent
from shared.usage.repository import (
    count_nearly_full,
    list_heaviest_accounts,
    record_events,
    sum_image_bytes,
)
from tests.images import record_image

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
TODAY = date(2026, 11, 21)


@pytest.fixture
def make_account(database):
    def make(**options):
        with database.session() as session:
            return create_account(session, email="a@example.org", **options)

    return make


@pytest.fixture
def use(database):
    def record(account, pages, *, period="2026-11-01", cpu_us=0):
        job = f"job_{account.account_id}_{pages}_{period}"[:64]
        event = UsageEvent(
            job, account.account_id, period, Allowance.PRODUCTION, pages, NOON, cpu_us=cpu_us
        )
        with database.session() as session:
            record_events(session, [event], at=NOON)

    return record


def test_the_accounts_with_the_most_pages_of_their_own_periods_are_found(
    database, make_account, use
):
    light, heavy = make_account(max_pages=50), make_account(plan="paid")
    late = make_account(renewal_day=20)
    use(light, 10)
    use(heavy, 30)
    use(heavy, 900, period="2026-10-01")  # a period that is over
    use(late, 20, period="2026-11-20")
    use(late, 800, period="2026-11-01")  # not a period of one that renews on the 20th
    with database.snapshot() as session:
        found = list_heaviest_accounts(session, today=TODAY, limit=2)
        everyone = list_heaviest_accounts(session, today=TODAY, limit=10)
    assert [(one.account_id, one.pages, one.calls) for one in found] == [
        (heavy.account_id, 30, 1),
        (late.account_id, 20, 1),
    ]
    assert [one.cap for one in everyone] == [None, 1000, 50]


def test_the_accounts_with_the_most_processor_time_are_found_too_and_each_once(
    database, make_account, use
):
    wide, slow, light = make_account(), make_account(), make_account()
    use(wide, 30, cpu_us=2_000_000)
    use(slow, 1, cpu_us=9_000_000)
    use(light, 2, cpu_us=1_000)
    with database.snapshot() as session:
        heaviest = list_heaviest_accounts(session, today=TODAY, limit=1)
        everyone = list_heaviest_accounts(session, today=TODAY, limit=3)
    assert [(one.account_id, one.cpu_us) for one in heaviest] == [
        (wide.account_id, 2_000_000),
        (slow.account_id, 9_000_000),
    ]
    assert {one.account_id for one in everyone} == {each.account_id for each in (wide, slow, light)}
    assert len(everyone) == 3


def test_image_bytes_are_summed_and_nearly_full_workspaces_counted(database, make_account):
    owner, other = make_account(), make_account()
    record_image(
        database, owner, "big", bytes=int(MAX_WORKSPACE_BYTES * 0.91), sha256="0" * 64, at=NOON
    )
    record_image(database, other, "small", bytes=1000, sha256="0" * 64, at=NOON)
    with database.snapshot() as session:
        assert sum_image_bytes(session) == int(MAX_WORKSPACE_BYTES * 0.91) + 1000
        assert count_nearly_full(session) == 1
