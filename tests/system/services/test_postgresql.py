"""The repositories behave on PostgreSQL as on SQLite, with concurrent writers."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from shared.auth.accounts import create_account
from shared.batches.plans import Plan
from shared.batches.stored_plans import put_plan
from shared.db.migrate import upgrade
from shared.db.session import open_database
from shared.db.tables import metadata
from shared.errors import Unavailable
from shared.jobs.records import Allowance
from shared.usage.metering import UsageEvent
from shared.usage.repository import find_totals, record_events

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def database(postgresql_url):
    upgrade(postgresql_url)
    database = open_database(postgresql_url)
    yield database
    database.close()


def test_processes_that_migrate_at_once_end_with_one_set_of_tables(postgresql_url):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(upgrade, [postgresql_url] * 4))
    database = open_database(postgresql_url)
    with database.session() as session:
        assert compare_metadata(MigrationContext.configure(session), metadata) == []
    database.close()


def test_counters_that_meet_count_every_job_once(database):
    events = [
        UsageEvent(
            f"job_{number}", f"acc_{number % 7}", "2026-11-01", Allowance.PRODUCTION, 3, NOON
        )
        for number in range(200)
    ]

    def count(turn):
        batch = events if turn % 2 else events[::-1]
        with database.session() as session:
            return record_events(session, batch[turn * 10 :] + batch[: turn * 10], at=NOON)

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(count, range(8))) == 200
    with database.snapshot() as session:
        totals = [find_totals(session, f"acc_{number}", "2026-11-01") for number in range(7)]
    assert sum(total.production.pages for total in totals) == 600
    assert sum(total.production.calls for total in totals) == 200


def test_plans_stored_at_once_are_versions_one_after_the_other(database):
    with database.session() as session:
        account_id = create_account(session, email="a@example.org").account_id

    def store(number):
        with database.session() as session:
            plan = Plan(sort=(f"path{number}",))
            return put_plan(session, account_id, "letters", plan, at=NOON)[0].version

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(store, range(12))) == list(range(1, 13))


def test_a_server_that_stops_in_a_statement_is_unavailable(postgresql_url):
    database = open_database(postgresql_url, statement_seconds=1)
    begun = time.monotonic()
    with pytest.raises(Unavailable), database.session() as session:
        session.execute(text("SELECT pg_sleep(20)"))
    assert time.monotonic() - begun < 15
    database.check()
    database.close()
