"""Jobs: renders that are accepted, their records, their ends and their PDFs."""

from __future__ import annotations

import re
import threading
import time
from datetime import timedelta

import pytest
from flask import Request
from msgspec.structs import replace
from sqlalchemy import select, update

from api.jobs.accepting import read_async_preference
from shared.clock import now
from shared.db.tables import jobs, webhook_deliveries
from shared.errors import ErrorBody, ErrorKind
from shared.jobs.records import JobOutcome, Lane, OutcomeStatus
from shared.jobs.repository import JobStatus, find_job
from shared.queue.names import BATCH
from shared.queue.states import OVERDUE
from shared.webhooks.repository import WebhookEvent, create_webhook

XML = "text/xml"
ASYNC = {"Prefer": "respond-async"}
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")


@pytest.fixture
def worker(worker):
    worker.queues = [BATCH]
    return worker


def send(caller, body=b"<d/>", query="", **headers):
    return caller.post(f"/v2/pdf{query}", data=body, content_type=XML, headers=ASYNC | headers)


def end_of(caller, job_id):
    return caller.get(f"/v2/jobs/{job_id}?wait=5").json


def failure(job):
    error = ErrorBody(400, "No field x.", ErrorKind.AUTHORING, stack_trace=({"message": "x"},))
    return JobOutcome(job.id, OutcomeStatus.FAILED, error=error)


def test_an_async_render_is_accepted_and_recorded(caller, template, save):
    save("<document/>")
    answer = send(caller, query=f"?template={template}&draft=true")
    assert answer.status_code == 202
    assert answer.headers["Preference-Applied"] == "respond-async"
    assert answer.headers["Location"] == f"/v2/jobs/{answer.json['id']}"
    assert answer.json == caller.get(answer.headers["Location"]).json
    assert answer.json["status"] == "queued"
    assert answer.json["draft"] is True
    assert answer.json["template"] == template
    assert INSTANT.match(answer.json["created_at"])
    assert set(answer.json) == {"id", "status", "draft", "template", "created_at"}


@pytest.mark.parametrize(
    "header",
    [
        "respond-async",
        "Respond-Async",
        "handling=lenient, respond-async",
        'foo="a, b"; x=1, respond-async;y',
    ],
)
def test_prefer_is_parsed_as_in_rfc_7240(caller, header):
    assert send(caller, Prefer=header).status_code == 202


@pytest.mark.parametrize("header", ["respond-asynchronously", 'foo="respond-async"', "wait=5", ""])
def test_other_preferences_are_ignored(caller, header):
    answer = caller.post("/v2/pdf", data=b"", content_type=XML, headers={"Prefer": header})
    assert answer.status_code == 400


@pytest.mark.long
def test_several_headers_are_one_list(caller):
    headers = [("Prefer", "wait=1"), ("Prefer", "respond-async")]
    assert (
        caller.post("/v2/pdf", data=b"<d/>", content_type=XML, headers=headers).status_code == 202
    )


def test_an_async_render_has_the_errors_of_a_render_at_once(caller):
    assert send(caller, b"").status_code == 400
    assert send(caller, query="?template=none").status_code == 404
    assert caller.post("/v2/pdf", data=b"x", content_type="a/b", headers=ASYNC).status_code == 415


def test_the_pdf_of_a_job_is_that_of_a_synchronous_render(caller, worker):
    worker.answer = lambda job: worker.succeed(job, pages=3, filename="Rechnung 7")
    job_id = send(caller).json["id"]
    record = end_of(caller, job_id)
    assert (record["status"], record["pages"]) == ("succeeded", 3)
    assert all(INSTANT.match(record[name]) for name in ("finished_at", "expires_at"))
    answer = caller.get(f"/v2/jobs/{job_id}/pdf")
    assert answer.data == worker.pdf
    assert answer.headers["X-Page-Count"] == "3"
    assert answer.headers["X-Job-Id"] == job_id
    assert answer.headers["Content-Disposition"] == 'inline; filename="Rechnung 7.pdf"'
    assert "merge;dur=2.0, layout;dur=3.2" in answer.headers["Server-Timing"]
    assert caller.get(f"/v2/jobs/{job_id}/pdf").data == worker.pdf  # as often as wanted


def test_a_job_has_the_warnings_of_its_render(caller, worker):
    job_id = send(caller).json["id"]
    assert "warnings" not in end_of(caller, job_id)
    assert caller.get(f"/v2/jobs/{job_id}/pdf").headers["X-Warning-Count"] == "0"
    source = {"tagName": "p", "lineStart": 1, "lineEnd": 1, "columnStart": 1, "columnEnd": 9}
    warnings = [
        {"code": "unknown-member", "message": "/a is unknown", "count": 2},
        {"code": "missing-glyph", "message": "x", "count": 1, "source": source},
    ]
    worker.answer = lambda job: replace(worker.succeed(job), warnings=warnings)
    job_id = send(caller).json["id"]
    assert end_of(caller, job_id)["warnings"] == warnings
    headers = caller.get(f"/v2/jobs/{job_id}/pdf").headers
    assert headers["X-Warning-Count"] == "3"
    assert headers["X-Warning-Codes"] == "unknown-member, missing-glyph"


def test_a_job_that_fails_has_the_error_body(caller, worker):
    worker.answer = failure
    job_id = send(caller).json["id"]
    record = end_of(caller, job_id)
    assert record["status"] == "failed"
    assert record["error"]["statusCode"] == 400
    assert record["error"]["stackTrace"] == [{"message": "x"}]
    assert INSTANT.match(record["error"]["timestamp"])
    answer = caller.get(f"/v2/jobs/{job_id}/pdf")
    assert answer.status_code == 409
    assert "No field x." in answer.json["message"]


def test_the_pdf_of_an_unfinished_job_is_a_conflict(caller):
    answer = caller.get(f"/v2/jobs/{send(caller).json['id']}/pdf")
    assert answer.status_code == 409
    assert "queued" in answer.json["message"]


def test_a_body_too_large_for_the_message_is_stored_until_the_job_has_ended(caller, worker, ports):
    body = b"<d>" + b"x" * 200_000 + b"</d>"
    job_id = send(caller, body).json["id"]
    assert end_of(caller, job_id)["status"] == "succeeded"
    assert worker.bodies == [body]


def test_waiting_ends_with_the_job(caller, worker):
    begin = threading.Event()
    worker.answer = lambda job: begin.wait(30) and worker.succeed(job)
    job_id = send(caller).json["id"]
    threading.Timer(0.4, begin.set).start()
    assert end_of(caller, job_id)["status"] == "succeeded"


@pytest.mark.long
def test_waiting_ends_with_its_time(caller):
    before = time.monotonic()
    assert caller.get(f"/v2/jobs/{send(caller).json['id']}?wait=0.5").json["status"] == "queued"
    assert time.monotonic() - before > 0.4


@pytest.mark.parametrize("text", ["-1", "61", "x", "", "1e1", "060.0.0", "100"])
def test_an_invalid_wait_is_rejected(caller, text):
    answer = caller.get(f"/v2/jobs/{send(caller).json['id']}?wait={text}")
    assert answer.status_code == 400
    assert "from 0 to 60" in answer.json["message"]


def test_the_pdf_expires_and_the_record_stays(caller, worker, database):
    job_id = send(caller).json["id"]
    end_of(caller, job_id)
    with database.session() as session:
        past = now() - timedelta(seconds=1)
        session.execute(update(jobs).where(jobs.c.id == job_id).values(expires_at=past))
    assert caller.get(f"/v2/jobs/{job_id}/pdf").status_code == 410
    assert caller.get(f"/v2/jobs/{job_id}").json["status"] == "succeeded"


@pytest.mark.long
def test_a_waiting_job_is_cancelled(caller, worker, database, redis):
    worker.consume("nothing")
    job_id = send(caller).json["id"]
    assert caller.delete(f"/v2/jobs/{job_id}").status_code == 204
    record = caller.get(f"/v2/jobs/{job_id}").json
    assert record["status"] == "cancelled"
    assert "finished_at" in record
    assert caller.get(f"/v2/jobs/{job_id}/pdf").status_code == 409
    worker.queues = [BATCH]
    time.sleep(0.5)
    assert caller.get(f"/v2/jobs/{job_id}").json["status"] == "cancelled"
    assert redis.xlen("usage") == 0


def test_a_finished_job_is_removed_with_its_pdf(caller, worker, database, ports):
    job_id = send(caller).json["id"]
    end_of(caller, job_id)
    with database.snapshot() as session:
        key = find_job(session, job_id).pdf_key
    assert caller.delete(f"/v2/jobs/{job_id}").status_code == 204
    assert caller.get(f"/v2/jobs/{job_id}").status_code == 404
    assert caller.delete(f"/v2/jobs/{job_id}").status_code == 404
    with pytest.raises(KeyError):
        ports.blobs.read(key)


def test_a_cancelled_job_is_removed_by_the_next_delete(caller):
    job_id = send(caller).json["id"]
    assert [caller.delete(f"/v2/jobs/{job_id}").status_code for _ in range(3)] == [204, 204, 404]


def test_a_job_cancelled_at_the_moment_of_its_end_is_removed(caller, worker, ports):
    job_id = send(caller).json["id"]
    end_of(caller, job_id)
    ports.cells.only.jobs.end_early(job_id, OVERDUE)
    assert caller.get(f"/v2/jobs/{job_id}").json["status"] == "succeeded"


def test_unknown_parameters_are_rejected(caller):
    job_id = send(caller).json["id"]
    assert caller.get(f"/v2/jobs/{job_id}?x=1").status_code == 400
    assert caller.get(f"/v2/jobs/{job_id}/pdf?wait=1").status_code == 400


def test_the_end_and_its_webhooks_are_written_together(caller, worker, database, account):
    with database.session() as session:
        create_webhook(
            session,
            account.account_id,
            url="https://example.org/hook",
            events=(WebhookEvent.JOB_SUCCEEDED,),
            secret="whsec_x",
            at=now(),
        )
    warnings = [{"code": "missing-glyph", "message": "x", "count": 1}]
    worker.answer = lambda job: replace(worker.succeed(job), warnings=warnings)
    job_id = send(caller).json["id"]
    end_of(caller, job_id)
    with database.snapshot() as session:
        [delivery] = session.execute(select(webhook_deliveries)).all()
    assert delivery.event == "job.succeeded"
    assert job_id in delivery.payload
    assert "missing-glyph" in delivery.payload


def test_a_job_is_accepted_while_redis_rejects_it(caller, ports, monkeypatch, database):
    from shared.errors import Unavailable

    def refuse(_self, _slices):
        raise Unavailable("queue")

    monkeypatch.setattr(type(ports.cells.only.batches.queue), "send", refuse)
    answer = send(caller)
    assert answer.status_code == 202
    with database.snapshot() as session:
        record = find_job(session, answer.json["id"])
    assert (record.status, record.lane) == (JobStatus.QUEUED, Lane.BATCH)


def test_two_ends_of_one_job_leave_the_first(caller, worker, ports, database):
    job_id = send(caller).json["id"]
    end_of(caller, job_id)
    with database.snapshot() as session:
        record = find_job(session, job_id)
    late = worker.succeed(worker.jobs[0])
    ports.cells.only.jobs.record_ends({job_id: replace(late, pages=9)})
    with database.snapshot() as session:
        assert find_job(session, job_id) == record
    with pytest.raises(KeyError):
        ports.blobs.read(late.pdf.key)
    assert ports.blobs.read(record.pdf_key) == worker.pdf


# --- Prefer: respond-async, wait ------------------------------------------------------------------


def test_a_render_that_ends_within_the_wait_is_the_response(caller, worker):
    answer = send(caller, Prefer="respond-async, wait=5")
    assert (answer.status_code, answer.data) == (200, worker.pdf)
    assert answer.headers["Preference-Applied"] == "respond-async, wait=5"
    assert caller.get(f"/v2/jobs/{answer.headers['X-Job-Id']}").json["status"] == "succeeded"


@pytest.mark.long
def test_a_render_that_takes_longer_returns_its_job(caller):
    begun = time.monotonic()
    answer = send(caller, Prefer="wait=1, respond-async")
    assert time.monotonic() - begun >= 1
    assert (answer.status_code, answer.json["status"]) == (202, "queued")
    assert answer.headers["Preference-Applied"] == "respond-async, wait=1"
    assert answer.headers["Location"] == f"/v2/jobs/{answer.json['id']}"


def test_a_render_that_fails_within_the_wait_returns_its_error(caller, worker):
    worker.answer = failure
    answer = send(caller, Prefer="respond-async, wait=5")
    assert (answer.status_code, answer.json["message"]) == (400, "No field x.")


def test_a_repeated_call_waits_for_the_job_of_the_first(caller, worker):
    key = {"Idempotency-Key": "one"}
    first = send(caller, **key)
    again = send(caller, Prefer="respond-async, wait=5", **key)
    assert (first.status_code, again.status_code) == (202, 200)
    assert again.headers["X-Job-Id"] == first.json["id"]
    assert send(caller, **key).json == first.json
    assert len(worker.jobs) == 1


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("respond-async", 0), ("respond-async, wait=5", 5), ('RESPOND-ASYNC, Wait="7"', 7),
        ("wait = 3 ; x=y, respond-async", 3), ("respond-async, wait=5, wait=9", 5),
        ("respond-async, wait=600", 60), ("respond-async, wait=999999999", 60),
        ("respond-async, wait=99999999999999", 0), ("respond-async, wait=-1", 0),
        ("respond-async, wait=1.5", 0), ("respond-async, wait=", 0), ("respond-async, wait", 0),
        ("respond-async; wait=5", 0), ("wait=5", None), ('note="respond-async, wait=5"', None),
        ("", None),
    ],
)  # fmt: skip
def test_the_wait_of_prefer_is_parsed_as_in_rfc_7240(header, seconds):
    read = read_async_preference(Request.from_values(headers={"Prefer": header}))
    assert (None if read is None else read.wait_seconds) == seconds
