"""Destinations and deliveries: management and orders; uploads are tested in tests/webhooks."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select

from shared.clock import now
from shared.db.tables import batches, destinations
from shared.jobs.repository import list_due_jobs
from shared.queue.names import BATCH
from shared.webhooks.repository import list_deliveries

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


def test_only_a_render_on_record_is_delivered(caller):
    answer = caller.post(f"/v2/pdf?deliver={add(caller)}", **XML)
    assert answer.status_code == 400
    assert "Prefer: respond-async" in answer.json["message"]


def test_one_test_is_pending_at_a_time(caller):
    made = add(caller)
    answer = caller.post(f"/v2/destinations/{made}/test")
    assert (answer.status_code, answer.json["event"]) == (202, "file.test")
    assert caller.post(f"/v2/destinations/{made}/test").status_code == 409
