"""The ledger and its totals: each job once, whatever is repeated or mixed."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from deploy.cli.main import main
from shared.clock import now
from shared.db.tables import usage_ledger
from shared.jobs.records import Allowance
from shared.queue.usage import UsageStream
from shared.telemetry.observer import NULL_OBSERVER
from shared.usage.metering import Totals, Usage
from shared.usage.repository import find_totals, record_events
from workers.counter.stream import UsageCounter


@pytest.fixture
def counter(redis, database):
    return UsageCounter(UsageStream(redis, reader="one"), database, NULL_OBSERVER)


def test_events_become_rows_and_totals(counter, send, make_event, totals, redis):
    send(make_event(1, pages=3), make_event(2, pages=4))
    send(make_event(3, pages=5, allowance=Allowance.DRAFT))
    assert counter.count_once() == 3
    assert totals() == Totals(Usage(7, 2), Usage(5, 1))
    assert redis.xlen("usage") == 0


def test_a_repeated_event_counts_once(counter, send, make_event, totals):
    send(make_event(1), make_event(1))
    counter.count_once()
    send(make_event(1))
    counter.count_once()
    assert totals().production == Usage(2, 1)


def test_an_operator_reads_repeats_and_deletes_unreadable_events(
    redis, redis_url, sqlite_url, monkeypatch, capsys
):
    monkeypatch.setenv("PRESSROOM_DATABASE_URL", sqlite_url)
    monkeypatch.setenv("PRESSROOM_REDIS_URL", redis_url)
    for event in ("one", "two"):
        redis.xadd("usage:dead", {"event": event, "reason": "not JSON", "id": "1-0"})
    assert main(["ledger", "dead", "--retry"]) == 0
    shown = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["event"] for each in shown] == ["one", "two"]
    assert shown[0]["reason"] == "not JSON"
    assert [fields for _, fields in redis.xrange("usage")] == [
        {b"event": b"one"},
        {b"event": b"two"},
    ]
    assert redis.xlen("usage:dead") == 0
    redis.xadd("usage:dead", {"event": "three", "reason": "not JSON", "id": "1-0"})
    assert main(["ledger", "dead"]) == main(["ledger", "dead", "--delete"]) == 0
    assert main(["ledger", "dead"]) == 0
    assert capsys.readouterr().out.count("three") == 2


def test_an_invalid_event_is_dead_lettered_and_blocks_no_other(
    counter, send, make_event, totals, redis
):
    redis.xadd("usage", {"event": "not json"})
    redis.xadd("usage", {"other": "field"})
    redis.xadd("usage", {"event": make_event(7).encode().replace('"pages":2', '"pages":-2')})
    redis.xadd("usage", {"event": make_event(7).encode().replace("2026-11-01", "November")})
    redis.xadd("usage", {"event": make_event(7).encode().replace("job_7", "j" * 99)})
    send(make_event(1))
    assert counter.count_once() == 1
    assert totals().production == Usage(2, 1)
    assert redis.xlen("usage") == 0
    buried = [fields for _, fields in redis.xrange("usage:dead")]
    assert buried[0][b"event"] == b"not json"
    assert len(buried) == 5
    assert all(fields[b"reason"] for fields in buried)


@pytest.mark.long
def test_events_of_a_dead_counter_are_claimed_by_another(redis, database, send, make_event, totals):
    send(make_event(1))
    dead = UsageStream(redis, reader="dead")
    dead.open()
    assert len(dead.read(count=10)) == 1
    pending = redis.xpending_range("usage", "counter", "-", "+", 1)[0]["message_id"]
    redis.xclaim("usage", "counter", "dead", 0, [pending], idle=60_000)
    assert UsageCounter(UsageStream(redis, reader="new"), database, NULL_OBSERVER).count_once() == 1
    assert totals().production == Usage(2, 1)


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    batches=st.lists(
        st.lists(st.tuples(st.integers(0, 9), st.sampled_from(list(Allowance))), max_size=6),
        max_size=5,
    )
)
def test_totals_are_the_sums_of_the_ledger_under_any_repeats(database, make_event, batches):
    run = f"run_{id(batches)}_{now().timestamp()}"
    with database.session() as session:
        for batch in batches:
            events = [
                make_event(f"{run}_{n}"[-60:], pages=n, account=run[-60:], allowance=allowance)
                for n, allowance in batch
            ]
            record_events(session, events, at=now())
        columns = usage_ledger.c
        rows = session.execute(
            select(columns.allowance, func.sum(columns.pages), func.count())
            .where(columns.account_id == run[-60:])
            .group_by(columns.allowance)
        )
        sums = {allowance: Usage(int(pages), calls) for allowance, pages, calls in rows}
        found = find_totals(session, run[-60:], "2026-11-01")
    assert found.production == sums.get("production", Usage())
    assert found.draft == sums.get("draft", Usage())


def test_an_unknown_account_has_used_nothing(database):
    with database.snapshot() as session:
        assert find_totals(session, "acc_none", "2026-11-01") == Totals()
