"""GET /v2/jobs and GET /v2/batches, and the removal of batches that have ended."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import func, insert, select, text

from api.batches import routes
from api.jobs import reading as listing
from shared.batches.records import BatchStatus
from shared.clock import now
from shared.db.queries import select_newest
from shared.db.tables import batch_items, batches, idempotency_keys, jobs, usage_ledger
from shared.identifiers import new_id
from shared.jobs.repository import JobStatus
from shared.queue.connection import connect
from shared.queue.names import BATCH, job_key
from tests.batches import accept, items_of, numbers, send

ASYNC = {"Prefer": "respond-async"}


def add_job(caller) -> str:
    answer = caller.post("/v2/pdf", data=b"<d/>", content_type="text/xml", headers=ASYNC)
    return str(answer.json["id"])


def ids_of(caller, query="", kind="jobs") -> list[str]:
    answer = caller.get(f"/v2/{kind}{query}")
    assert answer.status_code == 200, answer.json
    return [each["id"] for each in answer.json[kind]]


# --- GET /v2/jobs ---------------------------------------------------------------------------------


def test_jobs_are_listed_newest_first_as_they_are_read(caller):
    added = [add_job(caller) for _ in range(3)]
    listed = caller.get("/v2/jobs").json
    assert [job["id"] for job in listed["jobs"]] == sorted(added, reverse=True)
    assert listed["jobs"][0] == caller.get(f"/v2/jobs/{listed['jobs'][0]['id']}").json
    assert "next_cursor" not in listed


def test_a_list_of_jobs_continues_at_its_cursor(caller):
    added = sorted((add_job(caller) for _ in range(5)), reverse=True)
    walked = []
    for page in walk(caller, "/v2/jobs?limit=2"):
        assert len(page["jobs"]) <= 2
        walked += [job["id"] for job in page["jobs"]]
    assert walked == added


def walk(caller, path) -> Iterator[dict]:
    cursor = ""
    while True:
        page = caller.get(f"{path}{cursor}").json
        yield page
        if "next_cursor" not in page:
            return
        cursor = f"&start_after={page['next_cursor']}"


def test_jobs_are_filtered_by_status(caller, worker):
    worker.queues = [BATCH]
    done = add_job(caller)
    caller.get(f"/v2/jobs/{done}?wait=5")
    cancelled = add_waiting(caller, worker)
    caller.delete(f"/v2/jobs/{cancelled}")
    waiting = add_job(caller)
    assert ids_of(caller, "?status=succeeded") == [done]
    assert ids_of(caller, "?status=cancelled") == [cancelled]
    assert ids_of(caller, "?status=queued") == [waiting]
    assert ids_of(caller, "?status=failed") == []
    assert set(ids_of(caller)) == {done, cancelled, waiting}


def add_waiting(caller, worker) -> str:
    worker.consume("nothing")
    return add_job(caller)


def test_running_and_queued_jobs_are_distinguished(caller, settings, monkeypatch):
    monkeypatch.setattr(listing, "RECORDS_PER_READ", 2)
    added = sorted((add_job(caller) for _ in range(7)), reverse=True)
    running = [added[1], added[6]]
    for job_id in running:
        start(settings, job_id)
    assert ids_of(caller, "?status=running") == running
    assert ids_of(caller, "?status=queued") == [each for each in added if each not in running]
    listed = caller.get("/v2/jobs").json["jobs"]
    assert {job["id"] for job in listed if job["status"] == "running"} == set(running)
    assert all("started_at" in job for job in listed if job["status"] == "running")


def start(settings, job_id) -> None:
    with connect(settings.redis_url) as redis:
        redis.hset(job_key(job_id), "started_at", "1790000000.0")


def test_a_page_of_running_jobs_reads_a_bounded_number_and_continues(caller, settings, monkeypatch):
    monkeypatch.setattr(listing, "RECORDS_PER_READ", 2)
    monkeypatch.setattr(listing, "MAX_RECORDS_READ", 4)
    added = sorted((add_job(caller) for _ in range(7)), reverse=True)
    start(settings, added[6])
    pages = list(walk(caller, "/v2/jobs?status=running&limit=3"))
    assert [len(page["jobs"]) for page in pages] == [0, 1]


@pytest.mark.parametrize("kind", ["jobs", "batches"])
@pytest.mark.parametrize(
    "query",
    ["status=done", "limit=0", "limit=1001", "start_after=x", "start_after=", "page=2", "status="],
)
def test_an_invalid_query_of_a_list_is_rejected(caller, kind, query):
    answer = caller.get(f"/v2/{kind}?{query}")
    assert answer.status_code == 400
    assert "accepted" in answer.json["message"]


# --- GET /v2/batches ------------------------------------------------------------------------------


def test_batches_are_listed_newest_first_with_how_far_they_are(caller, numbered, slices):
    done = accept(caller, numbered, numbers(3))
    slices.work_off()
    waiting = [accept(caller, numbered, numbers(2)) for _ in range(2)]
    listed = caller.get("/v2/batches").json
    assert [batch["id"] for batch in listed["batches"]] == [*reversed(waiting), done]
    for batch in listed["batches"]:
        assert batch == caller.get(f"/v2/batches/{batch['id']}").json
    assert ids_of(caller, "?status=finished", "batches") == [done]
    assert ids_of(caller, "?status=queued", "batches") == [*reversed(waiting)]
    page = caller.get("/v2/batches?limit=1").json
    assert ids_of(caller, f"?start_after={page['next_cursor']}", "batches") == [waiting[0], done]


# --- DELETE /v2/batches/{id} ----------------------------------------------------------------------


def test_a_finished_batch_is_removed_with_its_documents_and_bytes(
    caller, numbered, slices, database, tmp_path
):
    batch_id = accept(caller, numbered, numbers(3))
    slices.work_off()
    [job_id, *_] = [item["job_id"] for item in items_of(caller, batch_id)]
    assert caller.delete(f"/v2/batches/{batch_id}").status_code == 204
    for path in (f"/v2/batches/{batch_id}", f"/v2/jobs/{job_id}"):
        assert caller.get(path).status_code == 404
    for path in ("items", "result"):
        assert caller.get(f"/v2/batches/{batch_id}/{path}").status_code == 404
    assert caller.get(f"/v2/jobs/{job_id}/pdf").status_code == 404
    assert ids_of(caller, kind="batches") == []
    assert caller.delete(f"/v2/batches/{batch_id}").status_code == 404
    slices.keep()
    with database.snapshot() as session:
        for table in (batches, batch_items):
            assert session.scalar(select(func.count()).select_from(table)) == 0
    assert [each for each in (tmp_path / "blobs").rglob("*") if each.is_file()] == []


def test_a_batch_that_ends_while_it_is_cancelled_is_removed(caller, numbered, slices, monkeypatch):
    batch_id = accept(caller, numbered, numbers(2))
    slices.work_off()
    read = routes.find_own_batch
    with monkeypatch.context() as patch:
        is_running = {"status": BatchStatus.RUNNING}
        patch.setattr(routes, "find_own_batch", lambda *of: read(*of).replace(**is_running))
        assert caller.delete(f"/v2/batches/{batch_id}").status_code == 204
    assert caller.get(f"/v2/batches/{batch_id}").status_code == 404


def test_the_usage_of_a_removed_batch_stays_in_the_ledger(caller, numbered, slices, database):
    batch_id = accept(caller, numbered, numbers(3))
    slices.work_off()
    slices.redis.delete("usage")  # its events are lost
    caller.delete(f"/v2/batches/{batch_id}")
    slices.keep()
    with database.snapshot() as session:
        assert session.scalar(select(func.sum(usage_ledger.c.pages))) == 3


def test_a_cancelled_batch_is_removed_once_no_worker_is_at_it(caller, numbered, slices, database):
    batch_id = accept(caller, numbered, numbers(2))
    assert caller.delete(f"/v2/batches/{batch_id}").status_code == 204
    assert caller.get(f"/v2/batches/{batch_id}").json["status"] == "cancelled"
    assert caller.delete(f"/v2/batches/{batch_id}").status_code == 204
    assert caller.get(f"/v2/batches/{batch_id}").status_code == 404
    slices.work_off()
    slices.keep()
    with database.snapshot() as session:
        assert session.scalar(select(func.count()).select_from(batches)) == 0


def test_the_key_of_a_removed_batch_is_not_rendered_again(caller, numbered, slices, database):
    key = {"Idempotency-Key": "one"}
    batch_id = send(caller, numbered, numbers(1), headers=key).json["id"]
    slices.work_off()
    caller.delete(f"/v2/batches/{batch_id}")
    answer = send(caller, numbered, numbers(1), headers=key)
    assert (answer.status_code, "removed" in answer.json["message"]) == (410, True)
    with database.snapshot() as session:
        assert session.scalar(select(func.count()).select_from(idempotency_keys)) == 1


# --- however many rows there are ------------------------------------------------------------------


@pytest.mark.parametrize(
    "statuses", [("failed",), ("queued", "succeeded", "failed", "cancelled")], ids=["one", "all"]
)
def test_a_page_of_jobs_reads_a_few_entries_of_one_index(database, account, statuses):
    fill(database, account.account_id, rows=20_000)
    query = select_newest(
        jobs, account.account_id, statuses=statuses, limit=101, start_after="job_z"
    )
    with database.session() as session:
        kind = session.dialect.name
        if kind == "postgresql":
            session.execute(text("ANALYZE jobs"))
        compiled = query.compile(session, compile_kwargs={"literal_binds": True})
        word = "EXPLAIN QUERY PLAN" if kind == "sqlite" else "EXPLAIN"
        plan = "\n".join(str(tuple(row)) for row in session.execute(text(f"{word} {compiled}")))
        assert len(session.scalars(query).all()) == 101
    assert plan.count("ix_jobs_account_id_status_id") == len(statuses), plan
    assert "SCAN jobs" not in plan
    assert "Seq Scan" not in plan


def fill(database, account_id, *, rows) -> None:
    at = now()
    common = {
        "user_id": "u", "lane": "batch", "message": "{}", "is_draft": False,
        "created_at": at, "queued_at": at, "sweep_at": at + timedelta(days=1),
    }  # fmt: skip
    statuses = [status.value for status in JobStatus if status is not JobStatus.RUNNING]
    accounts = [account_id, *(f"acc_{number}" for number in range(9))]
    with database.session() as session:
        session.execute(
            insert(jobs),
            [
                {
                    "id": new_id("job"),
                    "account_id": accounts[0 if number % 2 else number % 10],
                    "status": statuses[number // 2 % 4],
                    **common,
                }
                for number in range(rows)
            ],
        )
