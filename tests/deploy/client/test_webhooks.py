"""A delivery is accepted only with a valid signature, unchanged and in time."""

from __future__ import annotations

import json

import pytest

from pressroom_client import SignatureError, verify
from workers.webhooks.deliverer import sign

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
BODY = json.dumps(
    {"type": "job.succeeded", "timestamp": "2026-11-23T00:00:00.000Z", "data": {"id": "job_1"}}
).encode()
AT = 1_790_000_000


def check(headers, *, secret=SECRET, body=BODY, now=AT, **options):
    return verify(secret, headers, body, now=now, **options)


def test_a_delivery_signed_by_the_farm_is_accepted():
    headers = sign("evt_1", AT, BODY, [SECRET])
    event = check(headers)
    assert (event.id, event.type, event.data) == ("evt_1", "job.succeeded", {"id": "job_1"})
    assert check({name.title(): value for name, value in headers.items()}) == event
    assert check(headers, now=AT + 299) == check(headers, now=AT - 299) == event


def test_during_a_rotation_either_secret_is_enough():
    headers = sign("evt_1", AT, BODY, [OTHER, SECRET])
    assert check(headers).id == check(headers, secret=OTHER).id == "evt_1"
    assert check(sign("evt_1", AT, BODY, [OTHER]), secret=[SECRET, OTHER]).id == "evt_1"


@pytest.mark.parametrize(
    "change",
    [
        {"body": BODY + b" "},
        {"secret": OTHER},
        {"now": AT + 301},
        {"now": AT - 301},
        {"secret": []},
    ],
    ids=["changed", "other secret", "old", "early", "no secret"],
)
def test_any_other_delivery_is_rejected(change):
    with pytest.raises(SignatureError):
        check(sign("evt_1", AT, BODY, [SECRET]), **change)


@pytest.mark.parametrize(
    "headers",
    [
        {}, {"webhook-id": "evt_1"}, {"webhook-timestamp": "²"}, {"webhook-timestamp": "-1"},
        {"webhook-signature": ""}, {"webhook-signature": "v1,"},
        {"webhook-signature": "v1a,ä v2,x"},
    ],
)  # fmt: skip
def test_missing_and_odd_headers_are_rejected(headers):
    whole = sign("evt_1", AT, BODY, [SECRET])
    with pytest.raises(SignatureError):
        check(whole | headers if headers.get("webhook-id") is None and headers else headers)


def test_a_secret_that_is_none_is_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="whsec_"):
        check(sign("evt_1", AT, BODY, [SECRET]), secret="whsec_ä")
