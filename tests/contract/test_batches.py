"""Batches: each promise of their calls, and what is refused."""

from __future__ import annotations

import io
import json
import threading
import zipfile
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from api.app import create_app
from api.openapi.jobs import JOB_SCHEMAS
from shared.auth.accounts import create_account
from shared.clock import now, timestamp
from shared.db.tables import batches, webhook_deliveries
from shared.webhooks.repository import WebhookEvent, create_webhook
from tests.batches import accept, archive_of, items_of, ndjson, numbers, send, store_template

CSV = "text/csv"


# --- POST /v2/batches -----------------------------------------------------------------------------


def test_a_batch_is_202_with_its_record_and_location(caller, numbered):
    answer = send(caller, numbered, numbers(3))
    assert answer.status_code == 202
    record = answer.json
    assert answer.headers["Location"] == f"/v2/batches/{record['id']}"
    assert set(record) == {*JOB_SCHEMAS["Batch"]["required"], "priority"}
    assert record["priority"] == "normal"
    assert (record["status"], record["total"], record["queued"]) == ("queued", 3, 3)
    assert caller.get(answer.headers["Location"]).json == record


def test_the_priority_is_that_of_the_request_else_of_the_plan(caller, numbered):
    assert caller.put("/v2/plans/late", json={"priority": "night"}).status_code == 201
    path = f"/v2/batches?template={numbered}&plan=late"
    for query, priority in (("", "night"), ("&priority=express", "express")):
        answer = caller.post(path + query, data=b"{}", content_type="application/x-ndjson")
        assert answer.json["priority"] == priority
        assert caller.get(answer.headers["Location"]).json["priority"] == priority
    refused = caller.put("/v2/plans/late", json={"priority": "urgent"})
    assert refused.status_code == 400
    accepted = "Invalid enum value 'urgent' - at `$.priority`: accepted are express, normal, night."
    assert accepted in refused.json["message"]


def test_a_batch_tells_whether_it_is_late(caller, numbered):
    path = f"/v2/batches?template={numbered}&deadline="
    soon = timestamp(now() + timedelta(minutes=5))
    answer = caller.post(path + soon, data=b"{}", content_type="application/x-ndjson")
    assert (answer.json["deadline"], answer.json["late"]) == (soon, False)
    for wrong in ("tomorrow", "2026-01-01T00:00:00Z", timestamp(now() + timedelta(days=32))):
        refused = caller.post(path + wrong, data=b"{}", content_type="application/x-ndjson")
        assert refused.status_code == 400
        assert "Invalid deadline" in refused.json["message"]


# Each query with a type of content and a body, the status, and what is told, in the order of the checks.
REFUSED = [
    ("", "application/x-ndjson", b"{}", 400, "query parameter template is required"),
    ("?template=@", "application/x-ndjson", b"{}", 400, "template"),
    ("?template={t}&output=pdf", "application/x-ndjson", b"{}", 400, "files, zip, merged"),
    ("?template={t}&priority=urgent", CSV, b"a\n1", 400, "express, normal, night"),
    ("?template={t}&flow=a", "application/x-ndjson", b"{}", 400, "Unknown query parameter"),
    ("?template={t}&draft=true&draft=true", CSV, b"a\n1", 400, "sent twice"),
    ("?template={t}&group=a..b", CSV, b"a\n1", 400, "accepted is the path of a field"),
    ("?template={t}&group=a", CSV, b"a,b\n1,1\n2,1\n1,2", 400, "Row 3: a '1' has returned"),
    ("?template={t}&group=c", CSV, b"a\n1", 400, "Row 1 cannot be grouped by c: it is missing"),
    ("?template={t}&group=a", CSV, b"a\n", 400, "no document"),
    ("?template={t}", "text/xml", b"<d/>", 415, "application/x-ndjson, application/json, text/csv"),
    ("?template={t}", "application/json", b"{}", 400, "must be an array"),
    ("?template={t}", "application/json", b"[]", 400, "no document"),
    ("?template={t}", "application/json", b" \n", 400, "no document"),
    ("?template={t}", "application/json", b"[{}", 400, "not closed"),
    ("?template={t}", "application/json", b"[{},]", 400, "found ']', expected a document"),
    ("?template={t}", "application/json", b"[{}]x", 400, "the end of the body"),
    ("?template={t}", "application/json; charset=utf-16", b"[]", 415, "UTF-8"),
    ("?template={t}", "application/json", b"[" + b"1," * 100_001, 413, "100,000 documents"),
    ("?template={t}", "", b"{}", 415, "Content-Type is required"),
    ("?template={t}", "application/x-ndjson; charset=utf-16", b"{}", 415, "UTF-8"),
    ("?template={t}", "application/x-ndjson", b"", 400, "no document"),
    ("?template={t}", "application/x-ndjson", b"\n \r\n", 400, "no document"),
    ("?template={t}", CSV, b"", 400, "first row"),
    ("?template={t}", CSV, b"a,b\n", 400, "no document"),
    ("?template={t}", CSV, b'a\n"open', 400, "line 2: the quote that opens here"),
    ("?template={t}", CSV, b"a,a\n1,2", 400, "two columns named"),
    ("?template=missing", "application/x-ndjson", b"{}", 404, "missing"),
    ("?template={t}@7", "application/x-ndjson", b"{}", 404, "published version 7"),
    ("?template=missing", "application/x-ndjson", b"", 400, "no document"),
    ("?template=missing", "application/x-ndjson", b"{}\n" * 100_001, 413, "100,000 documents"),
    ("?template={t}", CSV, b"a\n" + b"1\n" * 100_001, 413, "100,000 documents"),
]  # fmt: skip


def test_errors_are_checked_in_order(caller, numbered, database, tmp_path):
    for query, content_type, body, status, told in REFUSED:
        path = f"/v2/batches{query.format(t=numbered)}"
        answer = caller.post(path, data=body, content_type=content_type)
        assert (answer.status_code, answer.json["statusCode"]) == (status, status), (query, told)
        assert told in answer.json["message"]
        with database.snapshot() as session:
            assert session.scalar(select(func.count()).select_from(batches)) == 0
        assert [each for each in (tmp_path / "blobs").rglob("*") if each.is_file()] == []


def test_a_content_length_over_the_limit_is_rejected_before_the_body_is_read(caller, numbered):
    answer = caller.post(
        f"/v2/batches?template={numbered}",
        data=b"{}",
        content_type="application/x-ndjson",
        environ_overrides={"CONTENT_LENGTH": str(512 * 1024 * 1024 + 1)},
    )
    assert answer.status_code == 413
    assert "512 MB" in answer.json["message"]


def test_an_empty_template_is_rejected(caller):
    made = caller.post("/v2/templates?name=T", data=b"", content_type="text/xml")
    answer = send(caller, made.json["id"], numbers(1))
    assert (answer.status_code, answer.json["data"]["code"]) == (400, "ERR_TEMPLATE_EMPTY")


def test_a_used_up_allowance_rejects_the_batch(caller, ports, database):
    with database.session() as session:
        made = create_account(session, email="bo@example.org", max_pages=0)
    client = create_app(ports).test_client()
    client.environ_base["HTTP_X_API_KEY"] = made.api_key
    answer = send(client, store_template(client), numbers(1))
    assert (answer.status_code, answer.json["data"]["code"]) == (402, "ERR_QUOTA_EXCEEDED")


def test_drafts_count_against_the_draft_allowance(caller, numbered, slices):
    accept(caller, numbered, numbers(3), query="&draft=true")
    slices.work_off()
    assert {event["data"]["allowance"] for event in slices.events()} == {"draft"}


def test_a_batch_renders_the_text_its_reference_named_when_it_was_accepted(
    caller, numbered, slices
):
    batch_id = accept(caller, numbered, numbers(1))
    caller.put(f"/v2/templates/{numbered}", data=b"<document", content_type="text/xml")
    caller.put(f"/v2/templates/{numbered}", data=b"<wrong/>", content_type="text/xml")
    slices.work_off()
    assert caller.get(f"/v2/batches/{batch_id}").json["succeeded"] == 1


# --- GET /v2/batches/{id} -------------------------------------------------------------------------


def test_the_record_has_the_current_progress(caller, numbered, slices):
    batch_id = accept(caller, numbered, numbers(25))
    slices.work_once()
    record = caller.get(f"/v2/batches/{batch_id}").json
    told = [record[name] for name in ("status", "queued", "running", "succeeded", "pages")]
    assert told == ["running", 15, 0, 10, 10]
    slices.work_off()
    record = caller.get(f"/v2/batches/{batch_id}").json
    absent = {"error", "plan", "forecast_at", "send_at", "deadline", "late"}
    assert set(record) == set(JOB_SCHEMAS["Batch"]["properties"]) - absent
    assert (record["status"], record["queued"], record["succeeded"]) == ("finished", 0, 25)


def test_waiting_ends_with_the_batch(caller, numbered, slices, ports, account):
    batch_id = accept(caller, numbered, numbers(10))
    told = []
    client = create_app(ports).test_client()
    client.environ_base["HTTP_X_API_KEY"] = account.api_key

    def wait():
        told.append(client.get(f"/v2/batches/{batch_id}?wait=60").json["status"])

    waiting = threading.Thread(target=wait)
    waiting.start()
    slices.work_off()
    waiting.join()
    assert told == ["finished"]


@pytest.mark.parametrize("wait", ["61", "-1", "x", ""])
def test_a_wait_out_of_bounds_is_rejected(caller, numbered, wait):
    batch_id = accept(caller, numbered, numbers(1))
    assert caller.get(f"/v2/batches/{batch_id}?wait={wait}").status_code == 400
    assert caller.get(f"/v2/batches/{batch_id}?wait=0").json["status"] == "queued"


# --- GET /v2/batches/{id}/items -------------------------------------------------------------------


def test_items_come_in_input_order_with_their_errors(caller, numbered, slices):
    batch_id = accept(caller, numbered, ndjson([{"n": 0}, "x", {"n": 2}]))
    before = items_of(caller, batch_id)
    assert [(item["index"], item["status"]) for item in before] == [
        (0, "queued"), (1, "queued"), (2, "queued"),
    ]  # fmt: skip
    slices.work_off()
    first, second, third = items_of(caller, batch_id)
    assert first == {
        "index": 0, "job_id": before[0]["job_id"], "status": "succeeded", "pages": 1,
        "filename": "doc-0.pdf",
    }  # fmt: skip
    assert (second["status"], second["error"]["statusCode"]) == ("failed", 400)
    assert set(second["error"]) >= {"statusCode", "message", "timestamp"}
    assert third["index"] == 2


def test_items_are_paged_by_a_thousand_and_filtered(caller, numbered, slices):
    batch_id = accept(caller, numbered, numbers(2500))
    page = caller.get(f"/v2/batches/{batch_id}/items").json
    assert (len(page["items"]), page["has_more"]) == (1000, True)
    slices.work_once()  # one chunk: 40 documents
    page = caller.get(f"/v2/batches/{batch_id}/items?start_after=1999").json
    assert (len(page["items"]), page["has_more"]) == (500, False)
    assert page["items"][0]["index"] == 2000
    for status, first, count in (("succeeded", 0, 40), ("queued", 40, 1000), ("failed", None, 0)):
        page = caller.get(f"/v2/batches/{batch_id}/items?status={status}").json
        assert len(page["items"]) == count
        assert not count or page["items"][0]["index"] == first
    last = caller.get(f"/v2/batches/{batch_id}/items?start_after=2499").json
    assert last == {"items": [], "has_more": False}


@pytest.mark.parametrize("query", ["status=done", "start_after=-1", "start_after=x", "limit=3"])
def test_an_invalid_query_of_items_is_rejected(caller, numbered, query):
    batch_id = accept(caller, numbered, numbers(1))
    assert caller.get(f"/v2/batches/{batch_id}/items?{query}").status_code == 400


# --- the documents as jobs ------------------------------------------------------------------------


def test_a_document_is_a_job_with_a_pdf_of_its_own(caller, numbered, slices):
    batch_id = accept(caller, numbered, ndjson([{"n": 7}, "x"]), output="files")
    jobs = [item["job_id"] for item in items_of(caller, batch_id)]
    assert caller.get(f"/v2/jobs/{jobs[0]}").json["status"] == "queued"
    assert caller.get(f"/v2/jobs/{jobs[0]}/pdf").status_code == 409
    slices.work_off()
    record = caller.get(f"/v2/jobs/{jobs[0]}?wait=5").json
    assert (record["id"], record["status"], record["pages"]) == (jobs[0], "succeeded", 1)
    answer = caller.get(f"/v2/jobs/{jobs[0]}/pdf")
    assert answer.data.startswith(b"%PDF")
    assert answer.headers["Content-Disposition"] == 'inline; filename="doc-7.pdf"'
    assert (answer.headers["X-Page-Count"], answer.headers["X-Job-Id"]) == ("1", jobs[0])
    failed = caller.get(f"/v2/jobs/{jobs[1]}").json
    assert (failed["status"], failed["error"]["statusCode"]) == ("failed", 400)
    assert caller.get(f"/v2/jobs/{jobs[1]}/pdf").status_code == 409
    assert caller.get(f"/v2/jobs/{jobs[1][:-1]}2").status_code == 404
    refused = caller.delete(f"/v2/jobs/{jobs[0]}")
    assert (refused.status_code, batch_id in refused.json["message"]) == (409, True)


# --- GET /v2/batches/{id}/result ------------------------------------------------------------------


def test_the_zip_has_each_pdf_and_the_record_of_every_document(caller, numbered, slices):
    batch_id = accept(caller, numbered, ndjson([{"n": 0}, "x", {"n": 2}]))
    assert caller.get(f"/v2/batches/{batch_id}/result").status_code == 409
    slices.work_off()
    archive = archive_of(caller, batch_id)
    assert archive.namelist() == ["000000-doc-0.pdf", "000002-doc-2.pdf", "manifest.ndjson"]
    manifest = [json.loads(line) for line in archive.read("manifest.ndjson").splitlines()]
    assert [item.pop("file", None) for item in manifest] == [
        "000000-doc-0.pdf", None, "000002-doc-2.pdf",
    ]  # fmt: skip
    assert manifest == items_of(caller, batch_id)


def test_names_in_the_zip_stay_in_their_folder(caller, slices):
    source = '<document filename="{{ name }}"><data><json>{"name":""}</json></data>'
    template = store_template(caller, f"{source}<flow><p>x</p></flow></document>")
    names = ["../../etc/passwd", "/abs", "a\\b", "Ärger 🎉", "." * 20, "x" * 500, "con\n"]
    batch_id = accept(caller, template, ndjson({"name": name} for name in names))
    slices.work_off()
    for name in archive_of(caller, batch_id).namelist():
        assert not set(name) & set('/\\:*?"<>|\n')
        assert len(name) < 220


def test_files_have_no_result_in_one(caller, numbered, slices):
    batch_id = accept(caller, numbered, numbers(1), output="files")
    slices.work_off()
    answer = caller.get(f"/v2/batches/{batch_id}/result")
    assert answer.status_code == 409
    assert "/v2/jobs/" in answer.json["message"]


def test_the_default_output_is_files(caller, numbered):
    answer = caller.post(
        f"/v2/batches?template={numbered}", data=numbers(1), content_type="application/x-ndjson"
    )
    assert "/pdf" in caller.get(f"{answer.headers['Location']}/result").json["message"]


# --- a JSON array ---------------------------------------------------------------------------------


def test_a_json_array_is_a_batch_of_its_elements(caller, numbered, slices):
    body = b'\xef\xbb\xbf [\n  {"n":\n 1},\r\n{"n": 2} ,{"n": x}, 7,\n{"n": 4}\n] '
    batch_id = accept(caller, numbered, body, content_type="application/json")
    slices.work_off()
    items = items_of(caller, batch_id)
    assert [item["status"] for item in items] == [
        "succeeded", "succeeded", "failed", "failed", "succeeded",
    ]  # fmt: skip
    assert archive_of(caller, batch_id).namelist()[:3] == [
        "000000-doc-1.pdf", "000001-doc-2.pdf", "000004-doc-4.pdf",
    ]  # fmt: skip


# --- DELETE /v2/batches/{id} ----------------------------------------------------------------------


def test_the_counts_of_a_record_add_up_at_any_time(caller, numbered, slices):
    batch_id = accept(caller, numbered, ndjson([{"n": 0}, "x", *[{"n": n} for n in range(30)]]))
    assert counts_of(caller, batch_id) == (32, 0, 0, 0, 0)
    slices.work_once()
    assert counts_of(caller, batch_id) == (22, 0, 9, 1, 0)
    caller.delete(f"/v2/batches/{batch_id}")
    assert counts_of(caller, batch_id) == (0, 0, 9, 1, 22)
    assert len(items_of(caller, batch_id, "?status=cancelled")) == 22


def counts_of(caller, batch_id):
    record = caller.get(f"/v2/batches/{batch_id}").json
    listed = caller.get("/v2/batches").json["batches"][0]
    states = ("queued", "running", "succeeded", "failed", "cancelled")
    record.pop("forecast_at", None)  # of a single batch alone
    assert record == listed
    assert sum(record[state] for state in states) == record["total"]
    return tuple(record[state] for state in states)


# --- Idempotency-Key ------------------------------------------------------------------------------


def keyed(caller, numbered, body, key="one"):
    return send(caller, numbered, body, headers={"Idempotency-Key": key})


def test_the_same_key_and_body_return_the_first_response(caller, numbered, slices, database):
    first = keyed(caller, numbered, numbers(3))
    slices.work_off()
    again = keyed(caller, numbered, numbers(3))
    assert (again.status_code, again.json) == (202, first.json)
    assert again.headers["Location"] == first.headers["Location"]
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    assert len(slices.events()) == 3
    with database.snapshot() as session:
        assert session.scalar(select(func.count()).select_from(batches)) == 1


def test_the_same_key_with_another_body_is_422(caller, numbered):
    keyed(caller, numbered, numbers(3))
    assert keyed(caller, numbered, numbers(4)).status_code == 422
    assert keyed(caller, numbered, numbers(4), key="other").status_code == 202


def test_a_rejected_call_releases_its_key(caller, numbered):
    assert keyed(caller, numbered, b"").status_code == 400
    assert keyed(caller, numbered, numbers(1)).status_code == 202


def test_of_concurrent_calls_with_one_key_one_is_accepted(
    caller, numbered, ports, account, database
):
    answers = []
    begin = threading.Barrier(6)

    def call(client):
        begin.wait()
        answer = keyed(client, numbered, numbers(2000))
        answers.append((answer.status_code, answer.headers.get("Retry-After")))

    clients = [create_app(ports).test_client() for _ in range(6)]
    for client in clients:
        client.environ_base["HTTP_X_API_KEY"] = account.api_key
    threads = [threading.Thread(target=call, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {status for status, _ in answers} <= {202, 409}
    assert (202, None) in answers
    assert all(retry for status, retry in answers if status == 409)
    with database.snapshot() as session:
        assert session.scalar(select(func.count()).select_from(batches)) == 1


# --- webhooks -------------------------------------------------------------------------------------


def test_the_event_of_a_batch_is_recorded_in_its_transaction(
    caller, numbered, slices, database, account
):
    with database.session() as session:
        create_webhook(
            session,
            account.account_id,
            url="https://example.org/",
            events=[WebhookEvent.BATCH_FINISHED],
            secret="whsec_x",
            at=now(),
        )
    batch_id = accept(caller, numbered, numbers(2))
    slices.work_off()
    with database.snapshot() as session:
        [payload] = session.scalars(select(webhook_deliveries.c.payload))
    told = json.loads(payload)
    assert told["type"] == "batch.finished"
    assert told["data"] == caller.get(f"/v2/batches/{batch_id}").json


def test_a_zip_of_more_entries_than_a_plain_one_can_hold_is_read():
    from shared.zip_files import ZipWriter

    writer = ZipWriter()
    out = bytearray()
    for number in range(70_000):
        for piece in writer.write(f"{number}", [b"x"], size=1, crc32=0x8CDC1683):
            out += piece
    out += writer.close()
    archive = zipfile.ZipFile(io.BytesIO(out))
    assert len(archive.namelist()) == 70_000
    assert archive.read("69999") == b"x"
