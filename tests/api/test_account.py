"""The usage report: periods, allowances, and counters rebuilt from the ledger."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shared.auth.accounts import create_account
from shared.clock import now, timestamp
from shared.jobs.records import Allowance
from shared.usage import repository as usage
from shared.usage.metering import UsageEvent
from shared.usage.periods import find_period

PATH = "/v2/account/usage"
XML = {"Content-Type": "application/xml"}


def record(database, account, pages, *, day, allowance=Allowance.PRODUCTION, job="job_1"):
    period = find_period(day, renewal_day=1).key
    event = UsageEvent(job, account.account_id, period, allowance, pages, datetime.now(UTC))
    with database.session() as session:
        usage.record_events(session, [event], at=datetime.now(UTC))


def test_a_new_account_has_no_usage(caller):
    period = find_period(now().date(), renewal_day=1)
    assert caller.get(PATH).json == {
        "pagesGenerated": 0,
        "apiCalls": 0,
        "maxPagesGenerated": 100,
        "startDate": timestamp(period.start_instant),
        "endDate": timestamp(period.end_instant),
        "maxDraftPagesGenerated": 10,
        "cpuSeconds": 0.0,
    }


def test_usage_is_current_and_separates_drafts(caller, worker):
    worker.answer = lambda job: worker.succeed(job, pages=3)
    caller.post("/v2/pdf", data=b"<d/>", headers=XML)
    caller.post("/v2/pdf?draft=true", data=b"<d/>", headers=XML)
    caller.post("/v2/pdf?draft=true", data=b"<d/>", headers=XML)
    report = caller.get(PATH).json
    assert (report["pagesGenerated"], report["apiCalls"]) == (3, 1)
    assert report["draft"] == {"pagesGenerated": 6, "apiCalls": 2}


def test_a_day_of_an_earlier_period_reports_that_period(caller, database, account):
    record(database, account, 7, day=datetime(2026, 2, 10, tzinfo=UTC).date())
    for date in ("2026-02-01", "2026-02-28T23:59:59.999Z", "2026-03-01T00:30:00+01:00"):
        report = caller.get(PATH, query_string={"date": date}).json
        assert report["pagesGenerated"] == 7
        assert report["startDate"] == "2026-02-01T00:00:00.000Z"
        assert report["endDate"] == "2026-03-01T00:00:00.000Z"
    assert caller.get(PATH, query_string={"date": "2026-03-01"}).json["pagesGenerated"] == 0


@pytest.mark.parametrize(
    "date",
    ["", "yesterday", "2026-02-30", "2026-2-1", "20260201", "2026-W06", "2026-02-01T25:00", "1769900400",
     "0001-01-01", "9999-12-31", "２０２６-02-01", "2026-02-01 10:00"],
)  # fmt: skip
def test_an_invalid_date_is_a_400(stranger, database, date):
    with database.session() as session:
        key = create_account(session, email="bo@example.org", renewal_day=31).api_key
    answer = stranger.get(PATH, query_string={"date": date}, headers={"x-api-key": key})
    assert answer.status_code == 400
    assert "YYYY-MM-DD" in answer.json["message"]


def test_lost_counters_are_rebuilt_from_the_ledger(caller, database, account, worker):
    record(database, account, 100, day=now().date())
    answer = caller.post("/v2/pdf", data=b"<d/>", headers=XML)
    assert answer.status_code == 402
    assert answer.json["data"] == {"code": "ERR_QUOTA_EXCEEDED", "cap": 100, "usage": 100}
    assert worker.jobs == []
    assert caller.get(PATH).json["pagesGenerated"] == 100


def test_a_paid_account_continues_and_reports_overage(stranger, database, worker):
    with database.session() as session:
        paid = create_account(
            session, email="bo@example.org", plan="paid", max_pages=2, max_draft_pages=0
        )
    headers = {"x-api-key": paid.api_key}
    worker.answer = lambda job: worker.succeed(job, pages=2)
    for query in ("", "", "?draft=true"):
        answer = stranger.post(f"/v2/pdf{query}", data=b"<d/>", headers=headers | XML)
        assert answer.status_code == 200
    report = stranger.get(PATH, headers=headers).json
    assert report["overagePages"] == 2
    assert report["maxDraftPagesGenerated"] == 0


def test_a_draft_allowance_used_up_has_its_own_code(caller, worker):
    worker.answer = lambda job: worker.succeed(job, pages=10)
    assert caller.post("/v2/pdf?draft=true", data=b"<d/>", headers=XML).status_code == 200
    answer = caller.post("/v2/pdf?draft=true", data=b"<d/>", headers=XML)
    assert answer.status_code == 402
    assert answer.json["data"] == {"code": "ERR_DRAFT_QUOTA_EXCEEDED", "cap": 10, "usage": 10}


def test_the_processor_time_that_an_operator_limits_is_of_production_and_drafts_of_any_plan(
    stranger, database, worker
):
    with database.session() as session:
        made = create_account(session, email="bo@example.org", plan="paid", max_cpu_seconds=3)
    headers = {"x-api-key": made.api_key}
    worker.answer = lambda job: worker.succeed(job, cpu_us=1_600_000)
    sent = [
        stranger.post(f"/v2/pdf{query}", data=b"<d/>", headers=headers | XML)
        for query in ("", "?draft=true", "", "?draft=true")
    ]
    assert [each.status_code for each in sent] == [200, 200, 402, 402]
    assert len(worker.jobs) == 2
    for refused in sent[2:]:
        assert refused.json["data"] == {"code": "ERR_CPU_QUOTA_EXCEEDED", "cap": 3, "usage": 3}
        assert "3 of 3 seconds" in refused.json["message"]
    report = stranger.get(PATH, headers=headers).json
    assert (report["cpuSeconds"], report["maxCpuSeconds"]) == (3.2, 3)
    assert stranger.get("/v2/account", headers=headers).json["max_cpu_seconds"] == 3


def test_an_unknown_parameter_is_named(caller):
    assert "dte" in caller.get(f"{PATH}?dte=2026-01-01").json["message"]


def test_usage_is_reported_by_template(caller, database, account, worker, redis):
    made = caller.post("/v2/templates?name=Letter", data=b"<document/>", headers=XML).json["id"]
    worker.answer = lambda job: worker.succeed(job, pages=3)
    for query in (f"?template={made}", f"?template={made}&draft=true", "?template=service-letter"):
        data, headers = b"{}", {"Content-Type": "application/json"}
        assert caller.post(f"/v2/pdf{query}", data=data, headers=headers).status_code == 200
    assert caller.post("/v2/pdf", data=b"<d/>", headers=XML).status_code == 200
    asynchronous = {**XML, "Prefer": "respond-async"}
    assert caller.post("/v2/pdf", data=b"<d/>", headers=asynchronous).status_code == 202
    events = [UsageEvent.decode(fields[b"event"]) for _, fields in redis.xrange("usage")]
    for _ in range(2):  # repeated events count once
        with database.session() as session:
            usage.record_events(session, events, at=now())
    path = f"{PATH}/templates"
    report = caller.get(path).json
    assert not report["has_more"]
    assert [
        (each.get("template"), each.get("name"), each["pagesGenerated"], each["draft"])
        for each in report["templates"]
    ] == [
        (made, "Letter", 3, {"pagesGenerated": 3, "apiCalls": 1}),
        (None, None, 3, {"pagesGenerated": 0, "apiCalls": 0}),
        ("service-letter", "Letter", 3, {"pagesGenerated": 0, "apiCalls": 0}),
    ]
    first = caller.get(f"{path}?limit=1").json
    assert (len(first["templates"]), first["has_more"]) == (1, True)
    caller.delete(f"/v2/templates/{made}")
    assert caller.get(path).json["templates"][0]["template"] == made
    assert caller.get(f"{path}?date=2020-01-01").json["templates"] == []
    assert caller.get(f"{path}?limit=0").status_code == 400
