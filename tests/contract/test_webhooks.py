"""Webhooks: management; how they are delivered is tested in tests/webhooks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import select

from api.app import create_app
from api.wiring import wire
from shared.clock import now
from shared.db.tables import webhooks as webhook_table
from shared.webhooks import repository as webhooks
from shared.webhooks.repository import Attempt, DeliveryStatus, WebhookEvent

# Addresses by number need no resolver; nothing is connected to when a webhook is added.
URL = "https://93.184.216.34/hook"


def add(client, **fields):
    return client.post("/v2/webhooks", json={"url": URL, **fields})


def test_a_new_webhook_is_201_with_its_secret(caller):
    answer = add(caller, events=["batch.finished", "job.failed"])
    assert answer.status_code == 201
    assert answer.json.keys() == {"id", "url", "events", "secret", "created_at"}
    assert answer.json["url"] == URL
    assert answer.json["events"] == ["job.failed", "batch.finished"]
    assert answer.json["secret"].startswith("whsec_")


def test_without_events_a_webhook_subscribes_to_all(caller):
    assert add(caller).json["events"] == ["job.succeeded", "job.failed", "batch.finished"]


def test_the_secret_is_shown_once(caller):
    secret = add(caller).json["secret"]
    webhook_id = caller.get("/v2/webhooks").json["webhooks"][0]["id"]
    for path in ("", f"/{webhook_id}", f"/{webhook_id}/deliveries"):
        assert secret not in caller.get(f"/v2/webhooks{path}").text


def test_a_deleted_webhook_is_204_and_then_404(caller):
    webhook_id = add(caller).json["id"]
    answer = caller.delete(f"/v2/webhooks/{webhook_id}")
    assert (answer.status_code, answer.data) == (204, b"")
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/rotate"), ("GET", "/deliveries")):
        answer = caller.open(f"/v2/webhooks/{webhook_id}{path}", method=method)
        assert answer.status_code == 404
        assert webhook_id in answer.json["message"]


def test_a_secret_is_not_readable_in_the_database(caller, database):
    made = add(caller).json
    caller.post(f"/v2/webhooks/{made['id']}/rotate")
    with database.snapshot() as session:
        row = session.execute(select(webhook_table)).one()
    assert not [value for value in row if "whsec_" in str(value)]


def test_a_rotation_returns_a_new_secret(caller):
    made = add(caller).json
    answer = caller.post(f"/v2/webhooks/{made['id']}/rotate")
    assert answer.status_code == 200
    assert answer.json["secret"] != made["secret"]
    assert {**answer.json, "secret": ""} == {**made, "secret": ""}


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("ftp://93.184.216.34/", "scheme must be http or https"),
        ("https://u:p@93.184.216.34/", "must not contain a user name"),
        ("https://93.184.216.34:0/", "port must be a number from 1"),
        ("https://nowhere.invalid/", "host is unknown"),
        ("http://10.1.2.3/", "on the public internet only"),
        ("http://127.0.0.1:5432/", "on the public internet only"),
        ("http://a b/", "not a well-formed address"),
    ],
)
def test_a_rejected_address_has_a_reason(caller, url, told):
    webhook, image = add(caller, url=url), fetch_image(caller, url)
    for answer in (webhook, image):
        assert answer.status_code == 400
        assert told in answer.json["message"]
    # The same words, whichever field the address came in.
    assert (
        webhook.json["message"].partition("refused")[2]
        == image.json["message"].partition("refused")[2]
    )


def fetch_image(client, url):
    return client.post("/v2/images", json={"name": "logo", "source_url": url})


def test_a_rejection_reveals_nothing_about_a_private_network(caller, serve):
    open_port = serve(b"HTTP/1.1 200 OK\r\n\r\n").url("/")
    messages = {
        add(caller, url=url).json["message"]
        for url in (open_port, "http://127.0.0.1:1/", "http://10.9.8.7/", "http://[::1]:80/")
    }
    assert len(messages) == 1


def test_a_wrong_field_of_a_webhook_is_named(caller):
    for fields, told in (({"url": 7}, "$.url"), ({"events": []}, "$.events"), ({"a": 1}, "'a'")):
        answer = add(caller, **fields)
        assert answer.status_code == 400
        assert told in answer.json["message"]


def test_a_closed_network_may_admit_its_own_addresses(settings, open_fetcher_url, account):
    ports = wire(replace(settings, fetcher_url=open_fetcher_url))
    client = create_app(ports).test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {account.api_key}"
    try:
        assert add(client, url="http://127.0.0.1:9/hook").status_code == 201
        assert add(client, url="http://169.254.169.254/").status_code == 400
    finally:
        ports.database.close()


@pytest.mark.parametrize(
    "events",
    [[], ["job.started"], "job.failed", [None], ["job.failed"] * 9, {}],
    ids=["none", "unknown", "text", "null", "many", "object"],
)
def test_unknown_events_are_400(caller, events):
    answer = add(caller, events=events)
    assert answer.status_code == 400
    assert "$.events" in answer.json["message"]
    if events == ["job.started"]:
        assert "job.succeeded" in answer.json["message"]


def test_an_account_has_at_most_twenty(caller):
    assert {add(caller).status_code for _ in range(webhooks.MAX_WEBHOOKS)} == {201}
    answer = add(caller)
    assert answer.status_code == 409
    assert "20" in answer.json["message"]


def test_the_log_has_each_delivery_with_its_attempts(caller, database, account):
    webhook_id = add(caller).json["id"]
    at = now()
    with database.session() as session:
        told = webhooks.WebhookNotification(
            account.account_id, WebhookEvent.JOB_FAILED, lambda: {"id": "job_1"}
        )
        webhooks.enqueue(session, [told], at=at)
        (due,) = webhooks.lease_due(session, at=at, until=at, limit=1)
        webhooks.record_attempt(
            session,
            due.id,
            Attempt(1, at, 3000, None, "its server cannot be connected to"),
            status=DeliveryStatus.PENDING,
            next_attempt_at=at,
        )
    answer = caller.get(f"/v2/webhooks/{webhook_id}/deliveries")
    assert answer.status_code == 200
    (delivery,) = answer.json["deliveries"]
    assert answer.json["has_more"] is False
    assert delivery["event"] == "job.failed"
    assert delivery["status"] == "pending"
    assert delivery["next_attempt_at"] == delivery["created_at"]
    (attempt,) = delivery["attempts"]
    assert attempt["milliseconds"] == 3000
    assert attempt["error"] == "its server cannot be connected to"
    assert "status" not in attempt


def test_the_log_is_paged(caller, database, account):
    webhook_id = add(caller).json["id"]
    for _ in range(3):
        with database.session() as session:
            told = webhooks.WebhookNotification(account.account_id, WebhookEvent.JOB_FAILED, dict)
            webhooks.enqueue(session, [told], at=now())
    path = f"/v2/webhooks/{webhook_id}/deliveries"
    first = caller.get(f"{path}?limit=2").json
    rest = caller.get(f"{path}?limit=2&start_after={first['deliveries'][-1]['id']}").json
    ids = [delivery["id"] for page in (first, rest) for delivery in page["deliveries"]]
    assert (len(ids), len(set(ids))) == (3, 3)
    assert (first["has_more"], rest["has_more"]) == (True, False)
    assert caller.get(f"{path}?limit=0").status_code == 400


def test_a_test_is_one_pending_delivery_of_that_webhook(caller):
    webhook_id = add(caller, events=["batch.finished"]).json["id"]
    other = add(caller).json["id"]
    answer = caller.post(f"/v2/webhooks/{webhook_id}/test")
    assert answer.status_code == 202
    assert (answer.json["event"], answer.json["status"]) == ("webhook.test", "pending")
    (listed,) = caller.get(f"/v2/webhooks/{webhook_id}/deliveries").json["deliveries"]
    assert listed == answer.json
    assert caller.get(f"/v2/webhooks/{other}/deliveries").json["deliveries"] == []
    again = caller.post(f"/v2/webhooks/{webhook_id}/test")
    assert again.status_code == 409
    assert "still pending" in again.json["message"]


def test_a_disabled_webhook_is_not_called_until_it_is_enabled(caller, database):
    webhook_id = add(caller).json["id"]
    sent = caller.post(f"/v2/webhooks/{webhook_id}/test").json["id"]
    with database.session() as session:
        webhooks.disable_webhook(session, webhook_id, at=now())
    calls = (f"/v2/webhooks/{webhook_id}/test", f"/v2/deliveries/{sent}/redeliver")
    for path in calls:
        answer = caller.post(path)
        assert (path, answer.status_code) == (path, 409)
        assert "Rotate its secret" in answer.json["message"]
    caller.post(f"/v2/webhooks/{webhook_id}/rotate")
    assert caller.post(calls[0]).status_code == 202
    assert caller.post(calls[1]).status_code == 202
