"""Deliveries reach their targets signed, and come back when they did not."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest
from standardwebhooks import Webhook as Verifier
from standardwebhooks import WebhookVerificationError

from shared.clock import now
from shared.outbound import Outbound
from shared.webhooks import repository as webhooks
from shared.webhooks.repository import DeliveryStatus
from tests.waiting import wait_until
from tests.webhooks.conftest import CIPHER, SECRET
from workers.webhooks import deliverer

ROOT = Path(__file__).parents[2]
FAILURE = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"
OK = b"HTTP/1.1 204 No Content\r\n\r\n"


def _split(request: bytes) -> tuple[dict[str, str], bytes]:
    head, _, body = request.partition(b"\r\n\r\n")
    lines = (line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
    return {name.lower(): value for name, value in lines}, body


def test_a_delivery_is_one_that_receivers_verify(outbox, deliver, serve) -> None:
    server = serve(OK)
    account = outbox.add_account()
    webhook = outbox.add_webhook(account, server.url("/hook?tenant=7"))
    outbox.tell(account)
    outcomes = deliver()
    wait_until(lambda: outcomes)
    headers, body = _split(server.requests[0])
    assert server.requests[0].startswith(b"POST /hook?tenant=7 HTTP/1.1\r\n")
    assert headers["content-type"] == "application/json"
    told = Verifier(SECRET).verify(body, headers)
    assert told == json.loads(body)
    assert told["type"] == "job.succeeded"
    assert told["data"]["title"] == "Rechnung für Übersee"
    with pytest.raises(WebhookVerificationError):
        Verifier(SECRET).verify(body.replace(b"job_0", b"job_9"), headers)
    (entry,) = outbox.read(webhook)
    assert entry.status is DeliveryStatus.DELIVERED
    assert entry.id == headers["webhook-id"]
    assert [attempt.status for attempt in entry.attempts] == [204]


def test_after_a_rotation_receivers_with_either_secret_verify(outbox, deliver, serve) -> None:
    server = serve(OK)
    account = outbox.add_account()
    webhook = outbox.add_webhook(account, server.url())
    new = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
    with outbox.database.session() as session:
        webhooks.rotate_secret(session, account, webhook, secret=CIPHER.encrypt(new), at=now())
    outbox.tell(account)
    outcomes = deliver()
    wait_until(lambda: outcomes)
    headers, body = _split(server.requests[0])
    for secret in (new, SECRET):
        assert Verifier(secret).verify(body, headers)["type"] == "job.succeeded"


@pytest.mark.parametrize(
    ("answer", "status"), [(OK, DeliveryStatus.DELIVERED), (FAILURE, DeliveryStatus.FAILED)]
)
def test_a_test_is_signed_and_attempted_once(outbox, deliver, serve, answer, status) -> None:
    server = serve(answer)
    account = outbox.add_account()
    webhook = outbox.add_webhook(account, server.url())
    with outbox.database.session() as session:
        webhooks.enqueue_test(session, webhooks.Webhook, account, webhook, at=now())
    outcomes = deliver()
    wait_until(lambda: outcomes)
    headers, body = _split(server.requests[0])
    told = Verifier(SECRET).verify(body, headers)
    assert (told["type"], told["data"]) == ("webhook.test", {"webhook_id": webhook})
    (entry,) = outbox.read(webhook)
    assert (entry.status, entry.next_attempt_at, len(entry.attempts)) == (status, None, 1)


@pytest.mark.long
@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n",
    ],
    ids=["500", "404", "302"],
)
def test_a_failed_delivery_is_retried_with_the_same_id(outbox, deliver, serve, answer) -> None:
    answers = iter([answer, OK])
    server = serve(lambda connection, _: connection.sendall(next(answers)))
    account = outbox.add_account()
    webhook = outbox.add_webhook(account, server.url())
    outbox.tell(account)
    outcomes = deliver()
    wait_until(lambda: len(outcomes) == 2)
    assert outcomes == ["retried", "delivered"]
    first, second = (_split(request) for request in server.requests)
    assert first[0]["webhook-id"] == second[0]["webhook-id"]
    assert first[1] == second[1]
    (entry,) = outbox.read(webhook)
    assert [attempt.number for attempt in entry.attempts] == [1, 2]
    waited = entry.attempts[1].at - entry.attempts[0].at
    assert waited.total_seconds() >= 4


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_postpones_all_deliveries_to_that_target(
    outbox, deliver, serve, status
) -> None:
    server = serve(f"HTTP/1.1 {status} X\r\nRetry-After: 90\r\n\r\n".encode())
    account = outbox.add_account()
    webhook = outbox.add_webhook(account, server.url())
    other = outbox.add_webhook(account, serve(OK).url())
    for _ in range(9):
        outbox.tell(account)
    outcomes = deliver()
    wait_until(lambda: outcomes.count("delivered") == 9)
    wait_until(lambda: not any(entry.next_attempt_at < now() for entry in outbox.read(webhook)))
    assert len(server.requests) < 9
    for entry in outbox.read(webhook):
        assert (entry.next_attempt_at - now()).total_seconds() <= 90
    assert {entry.status for entry in outbox.read(other)} == {DeliveryStatus.DELIVERED}


def test_a_target_that_answers_410_gets_no_more_deliveries(outbox, deliver, serve) -> None:
    server = serve(b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n")
    account = outbox.add_account()
    webhook = outbox.add_webhook(account, server.url())
    outbox.tell(account)
    outcomes = deliver()
    wait_until(lambda: outcomes)
    assert outcomes == ["disabled"]
    outbox.tell(account)
    (entry,) = outbox.read(webhook)
    assert entry.status is DeliveryStatus.FAILED


def test_a_private_target_is_never_connected_to(outbox, deliver, serve) -> None:
    server = serve(OK)
    account = outbox.add_account()
    webhook = outbox.add_webhook(account, server.url())
    outbox.tell(account)
    outcomes = deliver(Outbound())
    wait_until(lambda: outcomes)
    assert outcomes == ["retried"]
    assert not server.requests
    (entry,) = outbox.read(webhook)
    assert "public" in (entry.attempts[0].error or "")
    assert "127.0.0.1" not in (entry.attempts[0].error or "")


def test_an_account_with_slow_targets_delays_no_other(outbox, deliver, serve) -> None:
    slow, quick = serve(lambda *_: time.sleep(1)), serve(OK)
    hasty, patient = outbox.add_account("a@example.org"), outbox.add_account("b@example.org")
    for _ in range(10):
        outbox.add_webhook(hasty, slow.url())
    outbox.tell(hasty, 20)
    outbox.add_webhook(patient, quick.url())
    outbox.tell(patient)
    outcomes = deliver()
    wait_until(lambda: "delivered" in outcomes)
    assert len(slow.requests) < 100


@pytest.mark.long
def test_a_hundred_deliveries_are_each_made_once_by_two_deliverers(outbox, deliver, serve) -> None:
    server = serve(OK)
    account = outbox.add_account()
    webhook = outbox.add_webhook(account, server.url())
    outbox.tell(account, 100)
    counts = [deliver(), deliver()]
    wait_until(lambda: sum(map(len, counts)) >= 100)
    ids = [_split(request)[0]["webhook-id"] for request in server.requests]
    assert len(ids) == len(set(ids)) == 100
    assert {entry.status for entry in outbox.read(webhook)} == {DeliveryStatus.DELIVERED}


@pytest.mark.long
@pytest.mark.long
def test_the_deliveries_of_an_account_go_on_as_soon_as_one_has_ended(
    outbox, deliver, serve, monkeypatch
) -> None:
    monkeypatch.setattr(deliverer, "POLL_SECONDS", 5.0)
    server = serve(OK)
    account = outbox.add_account()
    outbox.add_webhook(account, server.url())
    number = 40 * deliverer.MAX_PER_ACCOUNT
    outbox.tell(account, number)
    outcomes = deliver()
    wait_until(lambda: len(outcomes) == number)  # 200 s with a pause after each four


def test_the_process_delivers_and_stops_on_a_signal(outbox, serve, start_process) -> None:
    server = serve(OK)
    account = outbox.add_account()
    outbox.add_webhook(account, server.url())
    outbox.tell(account)
    process = start_process(stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    wait_until(lambda: server.requests)
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"webhook called" in said
    assert SECRET.encode() not in said
    assert "Übersee".encode() not in said
