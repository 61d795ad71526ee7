"""Slices of batches: each document once, whatever dies, and every account in its turn."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from io import BytesIO

import pikepdf
import pytest
from sqlalchemy import func, select, update

from shared.auth.accounts import create_account
from shared.clock import now
from shared.db.tables import batch_chunks, batch_items, batch_parts, batches
from shared.errors import Unavailable
from shared.jobs.records import Allowance
from shared.queue.names import BATCH, SENT_SLICES
from shared.queue.worker_presence import WorkerReport, report_worker
from shared.usage.metering import UsageEvent
from shared.usage.repository import record_events
from tests.batches import (
    SliceWorker,
    accept,
    archive_of,
    items_of,
    ndjson,
    numbers,
    send,
    store_template,
)
from tests.farm.runs import KilledError, die, killed_in
from workers.batches import slices as batch_slices
from workers.engine.pipeline import render
from workers.maintenance.recorded_work import expire_batches


def killing(nth: int):
    """Return a render that kills its process at its nth call."""
    calls = Counter()

    def render_or_die(*args, **options):
        calls["made"] += 1
        if calls["made"] == nth:
            raise KilledError
        return render(*args, **options)

    return render_or_die


def jobs_metered(slices) -> list[str]:
    return [event["id"] for event in slices.events()]


def test_the_end_of_a_running_batch_is_forecast_from_its_rate(caller, numbered, slices, database):
    batch_id = accept(caller, numbered, numbers(200))
    assert "forecast_at" not in caller.get(f"/v2/batches/{batch_id}").json
    while slices.work_once():
        record = caller.get(f"/v2/batches/{batch_id}").json
        ended = record["succeeded"] + record["failed"]
        assert ("forecast_at" in record) == (10 <= ended < 200)
        if "forecast_at" not in record:
            continue
        of_batch = batch_parts.c.batch_id == batch_id
        start, last = now() + timedelta(hours=1), now() + timedelta(hours=2)
        with database.session() as session:
            session.execute(update(batches).values(started_at=start))
            session.execute(update(batch_parts).where(of_batch).values(created_at=last))
        forecast = caller.get(f"/v2/batches/{batch_id}").json["forecast_at"]
        hours = (datetime.fromisoformat(forecast) - start) / timedelta(hours=1)
        assert hours == pytest.approx(200 / ended, abs=0.001)


def test_csv_rows_fill_the_paths_of_their_columns(caller, slices):
    template = store_template(
        caller, '<document title="{{ a.b }}-{{ a.c }}"><data><json>{"a":{"b":"?","c":"kept"}}</json>'
        "</data><flow><p>{{ a.b }}</p></flow></document>",
    )  # fmt: skip
    batch_id = accept(caller, template, b"a.b;a.c\nx;y\nz;\n1;2;3\n", content_type="text/csv")
    slices.work_off()
    archive = archive_of(caller, batch_id)
    titles = []
    for name in archive.namelist()[:-1]:
        with pikepdf.open(BytesIO(archive.read(name))) as pdf:
            titles.append(str(pdf.docinfo["/Title"]))
    assert titles == ["x-y", "z-kept"]
    assert "3 cells" in items_of(caller, batch_id)[2]["error"]["message"]


# --- each document for itself ---------------------------------------------------------------------


def test_rows_of_one_key_are_one_document_with_their_list(caller, slices):
    template = store_template(
        caller, '<document filename="{{ no }}.pdf"><data><json>{"no": "", "rows": []}</json></data>'
        '<flow><p for="row in rows" height="200mm">{{ row.item }}</p></flow></document>',
    )  # fmt: skip
    body = b"no;item\nA;Pen\nA;Ink\nB;Cap\n"
    batch_id = accept(caller, template, body, content_type="text/csv", query="&group=no")
    slices.work_off()
    assert [item["pages"] for item in items_of(caller, batch_id)] == [2, 1]
    names = ["000000-A.pdf", "000001-B.pdf", "manifest.ndjson"]
    assert archive_of(caller, batch_id).namelist() == names


def test_a_merged_batch_is_one_pdf_in_input_order(caller, numbered, slices):
    body = ndjson([{"n": 3}, {"n": "x"}, {"n": 1, "extra": ["a", "b"]}, {"n": 2}])
    batch_id = accept(caller, numbered, body, output="merged")
    slices.work_off()
    record = caller.get(f"/v2/batches/{batch_id}").json
    assert (record["status"], record["pages"]) == ("finished", 4)
    answer = caller.get(f"/v2/batches/{batch_id}/result")
    with pikepdf.open(BytesIO(answer.data)) as pdf, pdf.open_outline() as outline:
        assert [entry.title for entry in outline.root] == ["Number 3", "Number 1", "Number 2"]
        assert len(pdf.pages) == 4
    item = items_of(caller, batch_id)[0]
    assert caller.get(f"/v2/jobs/{item['job_id']}/pdf").status_code == 409


@pytest.mark.parametrize("output", ["files", "merged"])
def test_a_document_has_the_warnings_of_its_render(caller, numbered, slices, output):
    batch_id = accept(caller, numbered, ndjson([{"n": 1}, {"n": 2, "nn": 3}]), output=output)
    slices.work_off()
    quiet, warned = items_of(caller, batch_id)
    assert "warnings" not in quiet
    [warning] = warned["warnings"]
    assert (warning["code"], warning["count"]) == ("unknown-member", 1)
    assert '"n"' in warning["message"]
    assert caller.get(f"/v2/jobs/{warned['job_id']}").json["warnings"] == [warning]
    if output == "files":
        headers = [caller.get(f"/v2/jobs/{item['job_id']}/pdf").headers for item in (quiet, warned)]
        assert [each["X-Warning-Count"] for each in headers] == ["0", "1"]
        assert headers[1]["X-Warning-Codes"] == "unknown-member"


def test_a_merged_batch_of_failures_has_no_result(caller, numbered, slices):
    batch_id = accept(caller, numbered, ndjson(["x", "y"]), output="merged")
    slices.work_off()
    assert caller.get(f"/v2/batches/{batch_id}").json["status"] == "finished"
    answer = caller.get(f"/v2/batches/{batch_id}/result")
    assert answer.status_code == 409
    assert "no document of the batch succeeded" in answer.json["message"]


# --- once, whatever dies --------------------------------------------------------------------------


def test_a_run_killed_in_the_middle_is_repeated_and_metered_once(
    caller, numbered, slices, settings
):
    batch_id = accept(caller, numbered, numbers(10))
    argument = slices.take()
    with pytest.raises(KilledError):
        SliceWorker(settings, render=killing(6)).run(argument)
    slices.run(argument)
    slices.work_off()
    record = caller.get(f"/v2/batches/{batch_id}").json
    assert (record["status"], record["succeeded"]) == ("finished", 10)
    assert len(jobs_metered(slices)) == len(set(jobs_metered(slices))) == 10


@pytest.mark.parametrize("output", ["zip", "merged"])
def test_a_run_killed_between_charge_and_record_is_completed_not_charged_again(
    caller, numbered, slices, settings, output
):
    batch_id = accept(caller, numbered, numbers(10), output=output)
    argument = slices.take()
    with killed_in(batch_slices, "commit_slice"):
        slices.run(argument)
    assert len(slices.events()) == 10
    second = SliceWorker(settings, render=die)  # nothing is rendered again
    second.run(argument)
    second.work_off()
    assert caller.get(f"/v2/batches/{batch_id}").json["succeeded"] == 10
    assert len(slices.events()) == 10
    if output == "zip":
        archive_of(caller, batch_id)


def test_a_run_that_comes_late_changes_nothing(caller, numbered, slices, settings, monkeypatch):
    batch_id = accept(caller, numbered, numbers(10))
    argument = slices.take()
    late = SliceWorker(settings)
    held = []
    charge = late.batch_context.commits.commit

    def overtaken(*args):
        slices.run(argument)  # frozen here, while another run does all of it
        held.append(True)
        return charge(*args)

    monkeypatch.setattr(type(late.batch_context.commits), "commit", _first(overtaken, charge))
    late.run(argument)
    slices.work_off()
    assert held
    record = caller.get(f"/v2/batches/{batch_id}").json
    assert (record["status"], record["succeeded"], record["pages"]) == ("finished", 10, 10)
    assert len(slices.events()) == 10
    assert slices.redis.hget(_usage_key(slices), "production:calls") == b"10"
    archive_of(caller, batch_id)


def test_a_repeated_message_does_nothing(caller, numbered, slices):
    accept(caller, numbered, numbers(3))
    argument = slices.take()
    slices.run(argument)
    slices.run(argument)
    assert len(slices.events()) == 3


def test_a_document_that_ends_its_process_is_given_up_and_the_others_go_on(
    caller, numbered, slices, settings
):
    batch_id = accept(caller, numbered, ndjson({"n": n} for n in (0, 1, 666, 3, 4)))
    deaths = Counter()

    def deadly(numbered, payload, **options):
        if b"666" in payload.body:
            deaths["of 666"] += 1
            raise KilledError
        return render(numbered, payload, **options)

    dying = SliceWorker(settings, render=deadly)
    argument = dying.take()
    while argument is not None:
        try:
            dying.run(argument)
        except KilledError:
            continue  # delivered again, as after the end of a process
        argument = dying.take()
    assert deaths["of 666"] <= 3
    items = items_of(caller, batch_id)
    assert [item["status"] for item in items] == [
        "succeeded", "succeeded", "failed", "succeeded", "succeeded",
    ]  # fmt: skip
    assert items[2]["error"]["statusCode"] == 500
    assert len(slices.events()) == 4


def test_an_outage_fails_no_document(caller, numbered, slices, settings):
    batch_id = accept(caller, numbered, numbers(5))
    calls = Counter()

    def away(*args, **options):
        calls["made"] += 1
        if calls["made"] == 3:
            raise Unavailable("object store")
        return render(*args, **options)

    SliceWorker(settings, render=away).work_off()
    slices.work_off()
    record = caller.get(f"/v2/batches/{batch_id}").json
    assert (record["status"], record["succeeded"]) == ("finished", 5)
    assert len(slices.events()) == 5


@pytest.mark.long
def test_a_slow_document_times_out_alone(caller, numbered, settings, slices):
    def slow(numbered, payload, **options):
        if b'"n": 1}' in payload.body:
            time.sleep(60)  # an alarm ends it
        return render(numbered, payload, **options)

    quick = replace(settings, render_budget=3)
    batch_id = accept(caller, numbered, numbers(3))
    SliceWorker(quick, render=slow).work_off()
    statuses = [item.get("error", {}).get("statusCode") for item in items_of(caller, batch_id)]
    assert statuses == [None, 504, None]


# --- allowances -----------------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["zip", "merged"])
def test_documents_beyond_the_allowance_fail(caller, slices, database, output):
    with database.session() as session:
        made = create_account(session, email="bo@example.org", max_pages=7)
    caller.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {made.api_key}"
    template = store_template(caller)
    batch_id = accept(caller, template, numbers(25), output=output)
    slices.work_off()
    items = items_of(caller, batch_id)
    assert [item["status"] for item in items] == ["succeeded"] * 7 + ["failed"] * 18
    assert {item["error"]["statusCode"] for item in items[7:]} == {402}
    assert items[7]["error"]["data"] == {"code": "ERR_QUOTA_EXCEEDED", "cap": 7, "usage": 7}
    assert len(slices.events()) == 7
    if output == "merged":
        result = caller.get(f"/v2/batches/{batch_id}/result").data
        with pikepdf.open(BytesIO(result)) as pdf:
            assert len(pdf.pages) == 7
    else:
        assert len(archive_of(caller, batch_id).namelist()) == 8
    assert send(caller, template, numbers(1)).status_code == 402


def spend(database, account, *, pages=1, cpu_us=0):
    """Write a render into the ledger that the counters in Redis do not have."""
    event = UsageEvent(
        *("job_before", account.account_id, _period(database), Allowance.PRODUCTION, pages, now()),
        cpu_us=cpu_us,
    )
    with database.session() as session:
        record_events(session, [event], at=now())


def test_documents_beyond_the_processor_time_fail(caller, slices, database):
    with database.session() as session:
        made = create_account(session, email="bo@example.org", max_cpu_seconds=1)
    caller.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {made.api_key}"
    numbered = store_template(caller)
    spend(database, made, cpu_us=999_999)
    batch_id = accept(caller, numbered, numbers(8))
    slices.work_off()
    items = items_of(caller, batch_id)
    assert [item["status"] for item in items] == ["succeeded"] + ["failed"] * 7
    answer = send(caller, numbered, numbers(1))
    for error in (*(item["error"] for item in items[1:]), answer.json):
        assert (error["statusCode"], error["data"]["cap"]) == (402, 1)
        assert error["data"]["code"] == "ERR_CPU_QUOTA_EXCEEDED"
    assert len(slices.events()) == 1


def test_lost_counters_are_rebuilt_before_a_capped_charge(
    caller, numbered, slices, database, account
):
    accept(caller, numbered, numbers(3))
    argument = slices.take()
    spend(database, account, pages=99)
    slices.redis.flushall()
    slices.run(argument)
    assert len(slices.events()) == 1  # 99 of 100 pages were used


# --- stopping -------------------------------------------------------------------------------------


def test_a_cancelled_batch_starts_nothing_more_and_keeps_its_results(caller, numbered, slices):
    batch_id = accept(caller, numbered, numbers(50))
    slices.work_once()
    assert caller.delete(f"/v2/batches/{batch_id}").status_code == 204
    slices.work_off()
    record = caller.get(f"/v2/batches/{batch_id}").json
    assert (record["status"], record["succeeded"], record["queued"]) == ("cancelled", 10, 0)
    statuses = Counter(item["status"] for item in items_of(caller, batch_id))
    assert statuses == {"succeeded": 10, "cancelled": 40}
    assert len(archive_of(caller, batch_id).namelist()) == 11
    assert len(slices.events()) == 10


def test_a_slice_at_work_stops_before_its_next_document(caller, numbered, slices, settings):
    batch_id = accept(caller, numbered, numbers(10))
    calls = Counter()

    def cancelling(*args, **options):
        calls["made"] += 1
        if calls["made"] == 3:
            caller.delete(f"/v2/batches/{batch_id}")
            time.sleep(0.15)  # a worker asks ten times a second
        return render(*args, **options)

    SliceWorker(settings, render=cancelling).work_off()
    assert calls["made"] == 3
    statuses = [item["status"] for item in items_of(caller, batch_id)]
    assert statuses == ["succeeded"] * 3 + ["cancelled"] * 7


# --- what is lost and what is left ----------------------------------------------------------------


def test_a_slice_in_the_queue_or_in_hand_is_not_sent_again(caller, numbered, slices):
    accept(caller, numbered, numbers(10))
    for _ in range(3):
        slices.keep()
    assert slices.redis.llen("batch") == 1
    slices.redis.rpop("batch")
    held = [name.decode() for name in slices.redis.hkeys(SENT_SLICES)]
    report_worker(slices.redis, WorkerReport("here:1", (BATCH,), 1, 1), held)
    for _ in range(3):
        slices.keep()
    assert slices.redis.llen("batch") == 0


def test_a_slice_taken_and_lost_is_sent_again(caller, numbered, slices):
    batch_id = accept(caller, numbered, numbers(10))
    slices.take()
    slices.keep()
    slices.keep()
    slices.work_off()
    assert caller.get(f"/v2/batches/{batch_id}").json["status"] == "finished"


@pytest.mark.parametrize("output", ["zip", "merged"])
def test_maintenance_finishes_the_work_of_a_dead_worker(caller, numbered, slices, output):
    batch_id = accept(caller, numbered, numbers(5), output=output)
    with killed_in(type(slices.batch_context.flow), "finish"):
        slices.work_once()
    slices.keep()
    slices.keep()
    slices.work_off()
    assert caller.get(f"/v2/batches/{batch_id}").json["status"] == "finished"


@pytest.mark.parametrize("output", ["files", "merged"])
def test_an_expired_batch_leaves_nothing_behind(
    caller, numbered, slices, database, settings, tmp_path, output
):
    batch_id = accept(caller, numbered, numbers(12), output=output)
    argument = slices.take()
    with killed_in(
        type(slices.batch_context.commits), "commit"
    ):  # an unreferenced part: stored by a run that was killed
        slices.run(argument)
    slices.run(argument)
    slices.work_off()
    job_id = items_of(caller, batch_id)[0]["job_id"]
    _age(database, timedelta(hours=25))
    no_pdf = 409 if output == "merged" else 410
    assert caller.get(f"/v2/jobs/{job_id}/pdf").status_code == no_pdf
    slices.keep()
    folder = tmp_path / "blobs" / "batches"
    assert [path for path in folder.rglob("*") if path.is_file()] == []
    assert caller.get(f"/v2/batches/{batch_id}").json["succeeded"] == 12
    assert caller.get(f"/v2/jobs/{job_id}").json["status"] == "succeeded"
    assert caller.get(f"/v2/jobs/{job_id}/pdf").status_code == no_pdf
    _age(database, timedelta(days=7))
    slices.keep()
    assert caller.get(f"/v2/batches/{batch_id}").status_code == 404
    with database.snapshot() as session:
        for table in (batches, batch_chunks, batch_parts, batch_items):
            assert session.scalar(select(func.count()).select_from(table)) == 0


def test_all_batches_that_are_due_are_forgotten_in_one_round(caller, numbered, slices, database):
    made = [accept(caller, numbered, numbers(1)) for _ in range(45)]
    for batch_id in made:
        assert caller.delete(f"/v2/batches/{batch_id}").status_code in (200, 204)
    _age_all(database, timedelta(days=8))
    assert expire_batches(slices.batch_context.flow) >= len(made)
    with database.snapshot() as session:
        assert session.scalar(select(func.count()).select_from(batches)) == 0


def test_documents_of_a_batch_stay_on_record_for_as_many_days_as_are_set(
    caller, numbered, slices, database, set_limits
):
    set_limits(record_days=30)
    accept(caller, numbered, numbers(12))
    slices.work_off()

    def left():
        expire_batches(slices.batch_context.flow)
        with database.snapshot() as session:
            return session.scalar(select(func.count()).select_from(batch_items))

    _age(database, timedelta(days=29))
    assert left() == 12
    _age(database, timedelta(days=1))
    assert left() == 0


# --- helpers --------------------------------------------------------------------------------------


def _first(instead, then):
    """Return a method that calls `instead` once and `then` afterwards."""
    calls = Counter()

    def method(_self, *args):
        calls["made"] += 1
        return instead(*args) if calls["made"] == 1 else then(*args)

    return method


def _usage_key(slices) -> bytes:
    [key] = slices.redis.keys("usage:acc_*")
    return key


def _period(database) -> str:
    from shared.usage.periods import find_period

    return find_period(now().date(), renewal_day=1).key


def _age_all(database, by: timedelta) -> None:
    at = now() - by
    with database.session() as session:
        session.execute(update(batches).values(finished_at=at, expires_at=at, sweep_at=at))


def _age(database, by: timedelta) -> None:
    columns = batches.c
    with database.session() as session:
        [row] = session.execute(select(columns.finished_at, columns.expires_at, columns.sweep_at))
        finished_at, expires_at, sweep_at = (instant - by for instant in row)
        session.execute(
            update(batches).values(
                finished_at=finished_at, expires_at=expires_at, sweep_at=sweep_at
            )
        )
