"""Destinations and deliveries: management and orders; uploads are tested in tests/webhooks."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select

from shared.clock import now, timestamp
from shared.db.tables import batch_items, batches, destinations, webhook_deliveries
from shared.jobs.repository import list_due_jobs
from shared.queue.names import BATCH
from shared.webhooks.destinations import FileSource
from shared.webhooks.repository import count_pending, has_due, list_deliveries
from workers.render.run import execute

URL = "https://93.184.216.34/in"
XML = {"data": b"<d/>", "content_type": "text/xml"}
ASYNC = {"Prefer": "respond-async"}


def add(client, **fields) -> str:
    answer = client.post("/v2/destinations", json={"url": URL, "secret": "Bearer x", **fields})
    assert answer.status_code == 201, answer.text
    return answer.json["id"]


def test_a_destination_is_201_without_its_secret(caller, database):
    answer = caller.post("/v2/destinations", json={"url": URL, "secret": "Bearer x"})
    assert answer.status_code == 201
    assert answer.json.keys() == {"id", "kind", "url", "name", "created_at"}
    assert (answer.json["kind"], answer.json["name"]) == ("https", "{job}")
    made = answer.json["id"]
    for path in ("", f"/{made}"):
        assert "Bearer" not in caller.get(f"/v2/destinations{path}").text
    with database.snapshot() as session:
        [row] = session.execute(select(destinations)).mappings()
    assert "Bearer" not in str(dict(row))
    assert caller.get("/v2/audit").json["entries"][0]["action"] == "destination.created"


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"url": "https://10.0.0.1/"}, "public internet"),
        ({"url": "smb://host/"}, "begin with"),
        ({"url": "https://"}, "well-formed"),
        ({"url": 3}, "url"),
        ({"url": URL, "retries": 3}, "retries"),
        ({"url": URL, "name": "../{job}"}, "name"),
        ({"url": URL, "name": "{job}\n"}, "name"),
        ({"url": "s3://ada@8.8.8.8/b/in", "secret": "s"}, "invalid bucket name b"),
        ({"url": "s3://ada@8.8.8.8/letters?region=a%20b", "secret": "s"}, "region"),
    ],
)
def test_a_destination_that_is_not_allowed_is_400(caller, fields, told):
    answer = caller.post("/v2/destinations", json=fields)
    assert answer.status_code == 400
    assert told in answer.json["message"]


def test_a_deleted_destination_is_404(caller):
    made = add(caller)
    assert caller.delete(f"/v2/destinations/{made}").status_code == 204
    assert caller.get(f"/v2/destinations/{made}").status_code == 404
    answer = caller.post(f"/v2/pdf?deliver={made}", headers=ASYNC, **XML)
    assert answer.status_code == 404


def test_a_render_that_succeeds_is_delivered(caller, worker, database, account):
    worker.queues = [BATCH]
    made = add(caller, name="{date}/{job}")
    job = caller.post(f"/v2/pdf?deliver={made}", headers=ASYNC, **XML).json["id"]
    assert caller.get(f"/v2/jobs/{job}?wait=60").json["status"] == "succeeded"
    [delivery] = caller.get("/v2/deliveries?status=pending").json["deliveries"]
    assert delivery["name"].endswith(f"/{job}.pdf")
    assert (delivery["kind"], delivery["source_id"]) == ("https", job)
    assert caller.get("/v2/deliveries?status=failed").json["deliveries"] == []
    assert caller.post(f"/v2/deliveries/{delivery['id']}/redeliver").status_code == 409
    later = now() + timedelta(days=2)
    with database.snapshot() as session:
        assert list_due_jobs(session, at=later, limit=9) == []  # it is kept until it is delivered
    caller.delete(f"/v2/destinations/{made}")
    with database.snapshot() as session:
        assert [each.id for each in list_due_jobs(session, at=later, limit=9)] == [job]
        assert list_deliveries(session, account_id=account.account_id, limit=1) == ([], False)


def test_a_batch_that_ends_is_delivered_with_its_index(caller, template, slices, database):
    made = add(caller)
    path = f"/v2/batches?template={template}&deliver={made}&subject=customer-47"
    batch = caller.post(path, data=b"{}\n", content_type="application/x-ndjson").json["id"]
    slices.work_off()
    [delivery] = caller.get("/v2/deliveries").json["deliveries"]
    assert (delivery["source_id"], delivery["name"]) == (batch, f"{batch}.ndjson")
    with database.snapshot() as session:
        row = session.execute(select(batches.c.deliver_to, batches.c.subject)).one()
    assert tuple(row) == (made, "customer-47")


def test_a_result_is_kept_and_not_delivered_before_its_moment(caller, worker, database):
    worker.queues = [BATCH]
    at = now() + timedelta(hours=1)
    order = f"deliver={add(caller)}&send_at={timestamp(at)}"
    job = caller.post(f"/v2/pdf?{order}", headers=ASYNC, **XML).json["id"]
    ended = caller.get(f"/v2/jobs/{job}?wait=60").json
    assert (ended["status"], ended["send_at"]) == ("succeeded", timestamp(at))
    [delivery] = caller.get("/v2/deliveries?status=pending").json["deliveries"]
    assert delivery["next_attempt_at"] == delivery["created_at"] == timestamp(at)
    with database.snapshot() as session:
        assert not has_due(session, at=at - timedelta(seconds=1))
        assert has_due(session, at=at + timedelta(seconds=1))
        assert count_pending(session, at=now()) == {}  # it is not late, which the alert tells
        assert count_pending(session, at=at + timedelta(seconds=1)).keys() == {"https"}
        assert list_due_jobs(session, at=now() + timedelta(days=30), limit=9) == []
    caller.delete(f"/v2/jobs/{job}")
    [delivery] = caller.get("/v2/deliveries").json["deliveries"]
    assert (delivery["status"], delivery["error"]) == ("failed", "the file was deleted")


def test_a_batch_is_not_delivered_before_its_moment(caller, template, slices, database):
    at = timestamp(now() + timedelta(hours=1))
    path = f"/v2/batches?template={template}&deliver={add(caller)}&send_at={at}"
    ended, cancelled = (
        caller.post(path, data=b"{}\n", content_type="application/x-ndjson").json["id"]
        for _ in range(2)
    )
    caller.delete(f"/v2/batches/{cancelled}")
    slices.work_off()
    assert caller.get(f"/v2/batches/{ended}").json["send_at"] == at
    [delivery] = caller.get("/v2/deliveries").json["deliveries"]
    assert (delivery["source_id"], delivery["next_attempt_at"]) == (ended, at)
    caller.delete(f"/v2/batches/{ended}")
    [delivery] = caller.get("/v2/deliveries").json["deliveries"]
    assert (delivery["status"], delivery["error"]) == ("failed", "the file was deleted")


@pytest.mark.parametrize(
    ("send_at", "told"),
    [
        ("tomorrow", "2027-01-31T08:00:00Z"),
        ("2027-01-31", "2027-01-31T08:00:00Z"),
        ("2027-01-31T08:00:00+01:00", "%2B"),
        ("2027-01-31T08:00:00", "with its offset"),
        ("2020-01-31T08:00:00Z", "from now to"),
        ("9999-01-31T08:00:00Z", "as long as results"),
    ],
)
def test_a_moment_that_is_not_ahead_or_too_far_is_400(caller, template, send_at, told):
    query = f"deliver={add(caller)}&send_at={send_at}"
    lines = {"data": b"{}\n", "content_type": "application/x-ndjson"}
    for answer in (
        caller.post(f"/v2/pdf?{query}", headers=ASYNC, **XML),
        caller.post(f"/v2/batches?template={template}&{query}", **lines),
    ):
        assert answer.status_code == 400
        assert told in answer.json["message"]


@pytest.mark.parametrize("headers", [{}, ASYNC])
def test_a_moment_needs_a_destination(caller, headers):
    answer = caller.post("/v2/pdf?send_at=2027-01-31T08:00:00Z", headers=headers, **XML)
    assert answer.status_code == 400


def add_mail(client) -> str:
    mail = {
        "sender": "Billing <billing@example.org>",
        "recipient": "{record.customer.email}",
        "subject": "Invoice {record.number}",
        "text": "It is attached.",
    }
    return add(client, url="smtp://ada@93.184.216.34", mail=mail)


def test_a_render_is_mailed_with_the_values_of_its_payload(
    caller, numbered, worker, slices, database
):
    worker.queues = [BATCH]
    farm = slices.batch_context.render  # with the real engine
    worker.answer = lambda job: execute(job, farm, farm.images.of_job(job, farm.claims))
    made = add_mail(caller)
    body = {"customer": {"email": "bo@example.com", "name": "Bo"}, "number": 7}
    path = f"/v2/pdf?template={numbered}&deliver={made}"
    job = caller.post(path, headers=ASYNC, json=body).json["id"]
    assert caller.get(f"/v2/jobs/{job}?wait=60").json["status"] == "succeeded"
    with database.snapshot() as session:
        source = FileSource.decode(session.scalar(select(webhook_deliveries.c.payload)))
    fixed = {"job": job, "batch": job, "index": "000000", "key": job}
    found = {"record.customer.email": "bo@example.com", "record.number": 7}
    assert source.values == fixed | found | {"date": source.values["date"]}


def test_documents_of_a_batch_keep_the_values_that_their_mails_need(
    caller, numbered, slices, database
):
    path = f"/v2/batches?template={numbered}&deliver={add_mail(caller)}"
    body = b'{"number": 1, "customer": {"email": "a@example.com"}}\n{"number": 2}\n'
    caller.post(path, data=body, content_type="application/x-ndjson")
    slices.work_off()
    with database.snapshot() as session:
        rows = session.scalars(select(batch_items.c["values"]).order_by(batch_items.c.index)).all()
    assert rows == [{"customer.email": "a@example.com", "number": 1}, {"number": 2}]


def test_mails_that_need_a_payload_are_not_ordered_without(caller, template):
    made = add_mail(caller)
    merged = f"/v2/batches?template={template}&output=merged&deliver={made}"
    for answer in (
        caller.post(merged, data=b"{}\n", content_type="application/x-ndjson"),
        caller.post(f"/v2/pdf?deliver={made}", headers=ASYNC, **XML),
    ):
        assert answer.status_code == 400
        assert "need values of the payload" in answer.json["message"]


@pytest.mark.parametrize("query", ["output=merged", "plan=letters"])
def test_merged_files_are_not_ordered_for_peppol(caller, template, query):
    caller.put("/v2/plans/letters", json={"duplex": True})
    path = f"/v2/batches?template={template}&deliver={add(caller, file='peppol')}&{query}"
    answer = caller.post(path, data=b"{}\n", content_type="application/x-ndjson")
    assert answer.status_code == 400
    assert "invoice of each document" in answer.json["message"]


def test_a_batch_is_not_delivered_to_one_name(caller, template):
    path = f"/v2/batches?template={template}&subject=c-1&deliver="
    for name, status in (("{date}/{key}", 400), ("{key}/{index}", 202)):
        made = add(caller, name=name)
        answer = caller.post(path + made, data=b"{}\n", content_type="application/x-ndjson")
        assert (name, answer.status_code) == (name, status)


def test_only_a_render_on_record_is_delivered(caller):
    answer = caller.post(f"/v2/pdf?deliver={add(caller)}", **XML)
    assert answer.status_code == 400
    assert "Prefer: respond-async" in answer.json["message"]


def test_one_test_is_pending_at_a_time(caller):
    made = add(caller)
    answer = caller.post(f"/v2/destinations/{made}/test")
    assert (answer.status_code, answer.json["event"]) == (202, "file.test")
    assert caller.post(f"/v2/destinations/{made}/test").status_code == 409
