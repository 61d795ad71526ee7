"""The ledger is read some rows at a time, and pruned when asked, with the sums of periods as they were."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
from sqlalchemy import func, select, text

from shared.db.tables import usage_ledger
from shared.jobs.records import Allowance
from shared.usage.metering import UsageEvent
from shared.usage.repository import find_totals, list_days, prune_ledger, read_ledger, record_events
from workers.maintenance import ledger
from workers.maintenance.ledger import find_cutoff, prune_usage_ledger

MONTHS = [datetime(2026, month, 15, tzinfo=UTC) for month in range(1, 12)]


@pytest.fixture
def record(database):
    def record(*instants, account="acc_1"):
        events = [
            UsageEvent(
                f"job_{account}_{number}", account, f"{at:%Y-%m}-01", Allowance.PRODUCTION, 2, at
            )
            for number, at in enumerate(instants)
        ]
        with database.session() as session:
            for event in events:
                record_events(session, [event], at=event.occurred_at)

    return record


def rows_left(database):
    with database.snapshot() as session:
        return session.scalar(select(func.count()).select_from(usage_ledger))


def test_rows_of_one_instant_are_read_once_whatever_is_read_at_a_time(database, record):
    record(*[MONTHS[0]] * 7, MONTHS[1])
    record(*[MONTHS[0]] * 5, account="acc_2")
    for at_once in (1, 3, 100):
        found = [row.job_id for row in read_ledger(database, at_once=at_once)]
        assert len(found) == len(set(found)) == 13
        assert found[-1] == "job_acc_1_7"
    mine = read_ledger(database, account_id="acc_2", since=MONTHS[0], until=MONTHS[1], at_once=2)
    assert [row.pages for row in mine] == [2] * 5
    assert list(read_ledger(database, until=MONTHS[0])) == []


def test_old_rows_are_removed_in_portions_and_the_sums_of_their_periods_stay(database, record):
    record(*MONTHS)
    removed = []
    while not removed or removed[-1]:
        with database.session() as session:
            removed.append(prune_ledger(session, before=MONTHS[7], limit=3))
    assert removed == [3, 3, 1, 0]
    assert [row.occurred_at for row in read_ledger(database)] == MONTHS[7:]
    with database.snapshot() as session:
        for at in MONTHS:
            used = find_totals(session, "acc_1", f"{at:%Y-%m}-01").of(Allowance.PRODUCTION)
            assert (used.pages, used.calls) == (2, 1)


def test_maintenance_removes_nothing_by_default(database, record):
    record(*MONTHS)
    assert prune_usage_ledger(database, 0) == 0
    assert rows_left(database) == len(MONTHS)


@pytest.mark.parametrize(
    ("today", "months", "kept_days", "before"),
    [
        (date(2026, 11, 23), 1, 7, date(2026, 10, 1)),
        (date(2026, 11, 23), 12, 7, date(2025, 11, 1)),
        (date(2026, 1, 1), 1, 7, date(2025, 12, 1)),
        (date(2026, 3, 31), 1200, 7, date(1926, 3, 1)),
        # As long as the records of the jobs, which would be recorded in the ledger again.
        (date(2026, 11, 23), 1, 60, date(2026, 9, 24)),
    ],
)
def test_whole_months_and_recorded_entries_are_retained(
    database, set_limits, today, months, kept_days, before
):
    set_limits(record_days=kept_days)
    at = datetime(today.year, today.month, today.day, tzinfo=UTC)
    assert find_cutoff(at, months).date() == before


def test_maintenance_removes_entries_past_the_retained_months(database, record, monkeypatch):
    monkeypatch.setattr(ledger, "ROWS_PER_TRANSACTION", 2)
    record(*MONTHS)
    monkeypatch.setattr(ledger, "now", lambda: datetime(2026, 11, 23, tzinfo=UTC))
    assert [prune_usage_ledger(database, 3) for _ in range(2)] == [7, 0]
    assert [row.occurred_at for row in read_ledger(database)] == MONTHS[7:]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT job_id FROM usage_ledger WHERE occurred_at < '2026' ORDER BY occurred_at, job_id LIMIT 9",
        """SELECT * FROM usage_ledger WHERE occurred_at < '2027'
        AND (occurred_at, job_id) > ('2026', 'x') ORDER BY occurred_at, job_id LIMIT 9""",
    ],
)
def test_rows_are_found_by_an_index(database, statement):
    with database.snapshot() as session:
        plan = [row[-1] for row in session.execute(text(f"EXPLAIN QUERY PLAN {statement}"))]
    assert len(plan) == 1
    assert "ix_usage_ledger_occurred_at_job_id" in plan[0]


def test_a_job_deleted_before_its_event_is_read_has_its_time(database):
    of_record = UsageEvent("job_1", "acc_1", "2026-01-01", Allowance.PRODUCTION, 2, MONTHS[0])
    reported = replace(of_record, cpu_us=700)
    for event, news in ((of_record, 1), (reported, 0), (reported, 0), (of_record, 0)):
        with database.session() as session:
            assert record_events(session, [event], at=MONTHS[0]) == news
    with database.snapshot() as session:
        used = find_totals(session, "acc_1", "2026-01-01").of(Allowance.PRODUCTION)
        [day] = list_days(session, "acc_1", first=date(2026, 1, 1), end=date(2026, 2, 1))
    assert (used.pages, used.calls, used.cpu_us) == (2, 1, 700)
    assert day.cpu_seconds == 0.001
    assert [row.cpu_us for row in read_ledger(database)] == [700]
